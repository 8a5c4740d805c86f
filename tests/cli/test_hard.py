# SPDX-License-Identifier: Apache-2.0
"""What broke once and must not break again: outputs that are no files, odd descriptors, limits of the system, kills."""

import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import copy_files, good, make_one_of_each

USAGE, DATA, FILE = 2, 3, 4


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_in):
    folder = tmp_path_factory.mktemp("hard")
    make_one_of_each(run_in(folder), 2000)
    return folder


@pytest.fixture
def here(made, tmp_path, run_in):
    """A program in a folder of its own, with the inputs."""
    copy_files(made, tmp_path)
    return run_in(tmp_path)


def litter(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith((".partial", ".part")) or "scratch-" in path.name)


# The verb, the option that names its output, and how that name must end.
WRITERS = {
    "init": (["init", "t.parquet"], "-o", ".toml"),
    "simulate": (["simulate", "--preset", "criteo", "--rows", "300"], "-o", ".csv"),
    "truth": (["simulate", "--preset", "criteo", "--rows", "300", "-o", "new.csv"], "--truth", ".parquet"),
    "study": (["simulate", "--preset", "criteo", "--rows", "300", "-o", "new.csv"], "--study", ".toml"),
    "check": (["check", "s.toml"], "--split-out", ".csv"),
    "train": (["train", "s.toml", "--method", "tsm", "--epochs", "1"], "-o", ".safetensors"),
    "log": (["train", "s.toml", "--method", "tsm", "--epochs", "1", "-o", "new.safetensors"], "--log", ".txt"),
    "predict": (["predict", "m.safetensors", "t.parquet"], "-o", ".arrow"),
    "allocate": (["allocate", "truth.parquet", "--share-of-max", "0.2"], "-o", ".csv"),
    "evaluate": (["evaluate", "s.toml", "m.safetensors", "--resamples", "0", "--estimator", "hajek"], "-o", ".json"),
    "report": (["report", "results.json"], "-o", ".html"),
    "readout": (["readout", "plan.parquet", "outcomes.parquet"], "-o", ".json"),
    "power": (["power", "s.toml"], "-o", ".json"),
    "export": (["export", "m.safetensors"], "-o", ".onnx"),
}


@pytest.mark.parametrize("verb", WRITERS)
def test_what_is_no_file_is_written_to_and_stays(here, tmp_path, verb):
    """A device of our own making, a pipe and a link; each stays what it is, and the link's target keeps its permissions."""
    arguments, option, ending = WRITERS[verb]
    device = tmp_path / f"null{ending}"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        device = None  # only root makes devices
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    target = tmp_path / f"target{ending}"
    link = tmp_path / f"link{ending}"
    target.touch(mode=0o600)
    link.symlink_to(target.name)
    if device:
        good(here.plain(*arguments, option, device.name))
        assert stat.S_ISCHR(device.stat().st_mode)
    for name in ("new.csv", "new.csv.meta.json", "new.safetensors"):
        (tmp_path / name).unlink(missing_ok=True)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    good(here.plain(*arguments, option, pipe.name))
    reader.join(timeout=20)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and got and len(got[0]) > 100
    good(here.plain(*arguments, option, link.name, "--overwrite"))
    assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o600
    if verb not in ("log",):  # a log says how long it took
        assert target.read_bytes() == got[0]
    assert litter(tmp_path) == []
    assert not any((tmp_path / f"{name}{ending}.meta.json").exists() for name in ("null", "pipe"))


def test_standard_output_is_written_where_it_stands(here, tmp_path):
    """/dev/fd/1 is the descriptor, not a file to be replaced: what else is printed comes after it."""
    with open(tmp_path / "all.txt", "w") as out:
        done = here.plain("report", "results.json", "--format", "text", "-o", "/proc/self/fd/1", stdout=out)
    assert done.code == 0, done.stderr
    assert (tmp_path / "all.txt").stat().st_size > 300
    assert litter(tmp_path) == []


def test_a_planted_name_is_not_followed(here, tmp_path):
    """Temporaries have names that nobody can guess: two runs of equal process ids do not meet."""
    good(here.plain("simulate", "--preset", "criteo", "--rows", "300", "-o", "a.csv"))
    traced = subprocess.run(["bash", "-c", "exec env DFCL_FAULT=rename:1:die $0 init t.parquet -o x.toml", here.binary], cwd=tmp_path, capture_output=True)
    assert traced.returncode == -signal.SIGKILL
    left = litter(tmp_path)
    assert len(left) == 1 and len(left[0].split(".")[-2]) == 16
    good(here.plain("init", "t.parquet", "-o", "x.toml"))
    assert litter(tmp_path) == []


@pytest.mark.parametrize("name", ["t.parquet", "./t.parquet", "link.parquet", "hard.parquet"])
def test_no_verb_writes_over_its_input(here, tmp_path, name):
    (tmp_path / "link.parquet").symlink_to("t.parquet")
    os.link(tmp_path / "t.parquet", tmp_path / "hard.parquet")
    before = (tmp_path / "t.parquet").read_bytes()
    for arguments in (["init", "t.parquet", "-o"], ["train", "s.toml", "--method", "tsm", "-o"], ["predict", "m.safetensors", "t.parquet", "-o"], ["check", "s.toml", "--split-out"], ["train", "s.toml", "-o", "n.safetensors", "--log"], ["evaluate", "s.toml", "m.safetensors", "--split-out"]):
        assert here.plain(*arguments, name, "--overwrite").code == USAGE
    assert (tmp_path / "t.parquet").read_bytes() == before


@pytest.mark.parametrize("flag", ["--eligible", "--segment", "--second-cost", "--previous", "--launch", "--holdout-salt", "--control", "--segment-budgets"])
def test_an_empty_value_is_an_error(here, flag):
    refused = here.plain("allocate", "truth.parquet", "--share-of-max", "0.2", flag, "")
    assert refused.code == USAGE and "is empty" in refused.stderr


def test_numbers_are_read_as_they_stand(here):
    simulate = ("simulate", "--preset", "criteo", "--rows", "300", "-o", "n.csv")
    for seed in ("18446744073709551616", "9223372036854775808", "010", "0x10", "-1"):
        assert here.plain(*simulate, "--seed", seed).code == USAGE, seed
    assert here.plain("simulate", "--preset", "criteo", "--rows", "0300", "-o", "n.csv").code == USAGE
    for budget in ("1e400", "0x10", "inf", "nan"):
        assert here.plain("allocate", "truth.parquet", "--budget", budget).code == USAGE, budget
    good(here.plain("allocate", "truth.parquet", "--budget", "1e2"))


def test_a_file_that_changes_between_passes_is_noticed(here, tmp_path):
    """DFCL_FAULT cannot do this: the file is replaced whenever it was read once."""
    other = pq.read_table(tmp_path / "truth.parquet").slice(0, 1999)
    pq.write_table(other, tmp_path / "other.parquet")
    stop = threading.Event()

    def replace():
        turn = 0
        while not stop.is_set():
            turn += 1
            shutil.copy(tmp_path / ("other.parquet" if turn % 2 else "plain.parquet"), tmp_path / "next.parquet")
            os.replace(tmp_path / "next.parquet", tmp_path / "truth.parquet")
            time.sleep(0.002)

    shutil.copy(tmp_path / "truth.parquet", tmp_path / "plain.parquet")
    thread = threading.Thread(target=replace)
    thread.start()
    try:
        codes = [here.plain("allocate", "truth.parquet", "--share-of-max", "0.2", "--stream", "-o", "p.parquet", "--overwrite") for _ in range(6)]
    finally:
        stop.set()
        thread.join()
    refused = [run for run in codes if run.code != 0]
    assert refused and all(run.code == FILE and "was changed while it was read" in run.stderr for run in refused)


def deep_studies():
    yield "[" + ".".join(["a"] * 40_000) + "]\n"
    yield "a." * 40_000 + "b = 1\n"
    yield "x = {" + "a." * 40_000 + "b = 1}\n"
    yield 'x = ["""a"""", {' + "a." * 40_000 + "b = 1}]\n"
    yield "a = " + "[" * 40_000 + "\n"
    yield '"=".a.' * 20_000 + "b = 1\n"


@pytest.mark.parametrize("text", list(deep_studies()), ids=range(6))
def test_nested_studies_are_refused(here, tmp_path, text):
    (tmp_path / "deep.toml").write_text(text)
    assert here.plain("check", "deep.toml").code == USAGE


def test_a_study_may_come_through_a_pipe(here):
    good(here.shell("cat s.toml | dfcl check /dev/stdin --set data.trial=$PWD/t.parquet"))
    endless = here.shell("ulimit -v 2000000; yes | dfcl check /dev/stdin")
    assert endless.code == FILE and "too large" in endless.stderr


def test_a_study_that_cannot_be_read_is_an_error_of_the_file(here):
    for verb in (["check", "s.toml"], ["info", "m.safetensors"], ["report", "results.json", "-o", "r.html"]):
        failed = here.plain(*verb, env={**os.environ, "DFCL_FAULT": "read:1:fail"})
        assert failed.code == FILE and "cannot read" in failed.stderr, (verb, failed)


@pytest.mark.parametrize("line", ["2>/dev/full", "2>&-", "<&- 2>&-"])
def test_errors_that_nobody_can_read_keep_their_code(here, line):
    assert here.shell(f"dfcl check nothing.toml {line}").code == FILE


def test_closed_descriptors_stay_free_of_our_files(here, tmp_path):
    train = "dfcl train s.toml --method tsm --epochs 1 --log log.txt --overwrite -o n.safetensors"
    good(here.shell(f"{train} <&- >/dev/null 2>&-"))
    text = (tmp_path / "log.txt").read_text()
    assert text.startswith("{") and "warning" not in text
    assert here.shell("dfcl check s.toml >/dev/null 2>&-").code == 0
    for lost in ("> /dev/full", ">&-", "<&- >&- 2>&-"):
        assert here.shell(f"dfcl check s.toml {lost}").code == FILE, lost


def test_a_log_on_standard_output_stands_before_the_results(here, tmp_path):
    good(here.shell("dfcl train s.toml --method tsm --epochs 2 --log /dev/stdout -o n.safetensors > all.txt"))
    text = (tmp_path / "all.txt").read_text()
    assert text.startswith("{") and '"epoch"' in text and len(text.splitlines()) > text.count('"epoch"') >= 2


def test_a_list_of_outputs_that_is_somebody_elses_stays(here, tmp_path):
    train = ("train", "s.toml", "--method", "tsm", "--epochs", "1", "--checkpoint", "points", "-o", "n.safetensors")
    (tmp_path / "points").mkdir()
    (tmp_path / "points" / "outputs.json").write_text('{"mine": 1}')
    refused = here.plain(*train)
    assert refused.code == FILE and "outputs.json" in refused.stderr
    assert (tmp_path / "points" / "outputs.json").read_text() == '{"mine": 1}'


def test_what_a_table_says_of_itself_lies_beside_it_not_beside_its_link(here, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "p.csv").touch()
    (tmp_path / "link.csv").symlink_to("kept/p.csv")
    good(here.plain("predict", "m.safetensors", "t.parquet", "-o", "link.csv", "--overwrite"))
    assert (tmp_path / "kept" / "p.csv.meta.json").exists() and not (tmp_path / "link.csv.meta.json").exists()
    (tmp_path / "bare.csv").write_bytes((tmp_path / "kept" / "p.csv").read_bytes())
    link, kept, bare = (good(here.plain("info", name)).stdout.replace(name, "") for name in ("link.csv", "kept/p.csv", "bare.csv"))
    assert link == kept != bare


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes as somebody else")
def test_another_owners_file_never_opens_up(made, run_in):
    """Somebody who may write the folder replaces a file of root's group: that group's rights are not given to another."""
    nobody = 65534
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        os.chmod(folder, 0o777)
        shutil.copy(made / "results.json", folder)
        (folder / "r.html").write_text("old")
        os.chmod(folder / "r.html", 0o660)
        os.chmod(folder / "results.json", 0o644)
        try:
            done = run_in(folder).plain("report", "results.json", "-o", "r.html", "--overwrite", user=nobody, group=nobody, extra_groups=[])
        except PermissionError:
            pytest.skip("the program is closed to others")
        now = (folder / "r.html").stat()
    assert done.code == 0, done.stderr
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (nobody, nobody, 0o600)


def test_a_temporary_that_may_only_be_read_is_removed_too(here, tmp_path):
    (tmp_path / "r.html").write_text("old")
    os.chmod(tmp_path / "r.html", 0o444)
    report = ("report", "results.json", "-o", "r.html", "--overwrite")
    assert here.plain(*report, env={**os.environ, "DFCL_FAULT": "rename:1:die"}).code == -signal.SIGKILL
    assert len(litter(tmp_path)) == 1
    good(here.plain(*report))
    assert litter(tmp_path) == []


def test_text_that_is_not_utf8_is_refused(here):
    for flag in ("--launch", "--holdout-salt"):
        refused = here.plain("allocate", "truth.parquet", "--share-of-max", "0.2", "--holdout", "0.1", "-o", "n.parquet", flag, b"\xff\xfe".decode(errors="surrogateescape"))
        assert refused.code == USAGE and "UTF-8" in refused.stderr


def test_a_sparse_model_is_refused_before_it_is_read(here, tmp_path):
    with open(tmp_path / "big.safetensors", "wb") as file:
        file.write((16).to_bytes(8, "little") + b'{"__metadata__":')
        file.truncate(20 << 30)
    refused = here.shell("ulimit -v 2000000; dfcl info big.safetensors")
    assert refused.code == FILE and "memory" not in refused.stderr


def test_a_nameless_column_is_no_crash(here, tmp_path):
    (tmp_path / "n.csv").write_text("y,\n1,nan\n2,nan\n")
    assert here.plain("init", "n.csv", "-o", "n.toml").code in (0, DATA)
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(200))
    (tmp_path / "index.csv").write_text(",revenue,arm\n" + rows)
    good(here.plain("init", "index.csv", "-o", "index.toml"))
    text = (tmp_path / "index.toml").read_text()
    assert 'arm = "arm"' in text and 'control = "0"' in text


def limited(kind, limit):
    return lambda: resource.setrlimit(kind, (limit, limit))


@pytest.mark.parametrize("megabytes", [200, 300, 350, 500])
@pytest.mark.parametrize("verb", [["train", "s.toml", "--method", "tsm", "--epochs", "1"], ["predict", "m.safetensors", "t.parquet"]], ids=["train", "predict"])
def test_too_little_memory_is_an_error_not_a_crash(here, tmp_path, verb, megabytes):
    done = here.plain(*verb, "-o", "n" + {"train": ".safetensors", "predict": ".parquet"}[verb[0]], preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20), timeout=60)
    assert done.code in (0, 1, 127), done  # 127: not even the libraries fit
    assert done.code != 1 or "memory" in done.stderr or "threads" in done.stderr
    assert litter(tmp_path) == []


def test_more_threads_than_the_system_starts(here):
    done = here.plain("check", "s.toml", "--threads", "1024", preexec_fn=limited(resource.RLIMIT_AS, 2000 << 20))
    assert done.code in (0, 1), done
    assert "threads" in done.stderr or "memory" in done.stderr


def test_a_cache_that_is_cut_while_it_is_used(here, tmp_path):
    run = here.start("train", "s.toml", "--method", "tsm", "--epochs", "100000", "--cache", "kept", "-o", "n.safetensors", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    deadline = time.time() + 20
    while not list(tmp_path.glob("kept/trial-????????????????/header")) and time.time() < deadline:
        time.sleep(0.01)
    time.sleep(0.5)
    os.truncate(next(tmp_path.glob("kept/trial-????????????????/features")), 100)
    try:
        _, said = run.communicate(timeout=20)
        assert run.returncode == FILE and "mapped into memory" in said
    except subprocess.TimeoutExpired:  # the learner has copied what it needs
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=20)


KILLS = ["open:5:die", "write:1:die", "write:3:die", "sync:1:die", "rename:1:die", "rename:2:die", "reserve:4:die", "map:2:die"]


@pytest.mark.parametrize("fault", KILLS)
def test_a_killed_run_is_mended_by_the_same_command(here, tmp_path, fault):
    train = ("train", "s.toml", "--method", "tsm", "--epochs", "1", "--cache", "kept", "--checkpoint", "points", "-o", "n.safetensors")
    assert here.plain(*train, env={**os.environ, "DFCL_FAULT": fault}).code == -signal.SIGKILL
    good(here.plain(*train))
    assert (tmp_path / "n.safetensors").read_bytes() == (tmp_path / "m.safetensors").read_bytes()
    assert litter(tmp_path) == []


def test_a_comparison_killed_at_its_first_write_goes_on(here, tmp_path):
    compare = ("compare", "s.toml", "--methods", "tsm,dfcl-mer", "--set", "method.epochs=2", "--resamples", "0", "--estimator", "hajek", "-o", "compared")
    for fault in ("write:1:die", "rename:1:die", "rename:3:die"):
        assert here.plain(*compare, env={**os.environ, "DFCL_FAULT": fault}).code == -signal.SIGKILL
    good(here.plain(*compare))
    assert litter(tmp_path) == []
    (tmp_path / "compared" / "training.json").write_text('{"tsm-0": {"seconds": "x", "resumed": 4}}')
    damaged = here.plain(*compare)
    assert damaged.code == FILE and "training.json" in damaged.stderr
