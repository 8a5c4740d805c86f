# SPDX-License-Identifier: Apache-2.0
"""Every option that names a file beside every odd thing that can stand there; every verb under every limit.

A run ends with a code of ours and one error, the odd thing stays what it was, nothing is left behind. By default a
tenth of the cells, chosen by a hash of their names; with DFCL_FULL=1 (make test-full) all.
"""

import hashlib
import os
import resource
import stat
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from conftest import copy_files, good, make_one_of_each

CODES = {0, 2, 3, 4, 5, 6, 7}
MEMORY = 1  # out of memory is no fault of the file
ONE_IN = 1 if os.environ.get("DFCL_FULL") == "1" else 10


def chosen(*names):
    """Whether this cell is among those that run."""
    return int(hashlib.sha256("/".join(names).encode()).hexdigest(), 16) % ONE_IN == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_in):
    folder = tmp_path_factory.mktemp("matrices")
    make_one_of_each(run_in(folder), 1500)
    return folder


@pytest.fixture
def here(made, tmp_path, run_in):
    copy_files(made, tmp_path)
    return run_in(tmp_path)


TRAIN = "train s.toml --method tsm --epochs 1"
EVALUATE = "evaluate s.toml m.safetensors --resamples 0 --estimator hajek"
ALLOCATE = "allocate truth.parquet --share-of-max 0.2"
# The option, the rest of the line, how the name must end.
OUTPUTS = {
    "init -o": ("init t.parquet", "-o", ".toml"),
    "simulate -o": ("simulate --preset criteo --rows 300", "-o", ".csv"),
    "simulate --truth": ("simulate --preset criteo --rows 300 -o new.csv", "--truth", ".parquet"),
    "simulate --study": ("simulate --preset criteo --rows 300 -o new.csv", "--study", ".toml"),
    "check --split-out": ("check s.toml", "--split-out", ".csv"),
    "train -o": (TRAIN, "-o", ".safetensors"),
    "train --log": (f"{TRAIN} -o new.safetensors", "--log", ".txt"),
    "train --out-of-bag": ("train s.toml --method tsm-forest --trees 4 -o new.safetensors", "--out-of-bag", ".parquet"),
    "predict -o": ("predict m.safetensors t.parquet", "-o", ".arrow"),
    "allocate -o": (ALLOCATE, "-o", ".csv"),
    "evaluate -o": (EVALUATE, "-o", ".json"),
    "evaluate --split-out": (EVALUATE, "--split-out", ".csv"),
    "report -o": ("report results.json", "-o", ".html"),
    "readout -o": ("readout plan.parquet outcomes.parquet", "-o", ".json"),
    "power -o": ("power s.toml", "-o", ".json"),
    "export -o": ("export m.safetensors", "-o", ".onnx"),
}
INPUTS = {
    "init TRIAL": ("init {} -o new.toml", ".parquet"),
    "check STUDY": ("check {}", ".toml"),
    "predict MODEL": ("predict {} t.parquet -o new.parquet", ".safetensors"),
    "predict UNITS": ("predict m.safetensors {} -o new.parquet", ".parquet"),
    "allocate PREDICTIONS": ("allocate {} --share-of-max 0.2", ".parquet"),
    "allocate --stream": ("allocate {} --share-of-max 0.2 --stream", ".parquet"),
    "allocate --eligible": (ALLOCATE + " --eligible {}", ".csv"),
    "allocate --previous": (ALLOCATE + " --previous {}", ".parquet"),
    "allocate --second-cost": (ALLOCATE + " --second-budget 1 --second-cost {}", ".csv"),
    "allocate --segment-budgets": ("allocate truth.parquet --segment id --segment-budgets {}", ".csv"),
    "evaluate MODEL": ("evaluate s.toml {} --resamples 0", ".safetensors"),
    "evaluate --truth": (EVALUATE + " --truth {}", ".parquet"),
    "evaluate --nuisance": (EVALUATE + " --nuisance {}", ".parquet"),
    "train --start-from": (TRAIN + " -o new.safetensors --start-from {}", ".safetensors"),
    "report RESULTS": ("report {} -o new.html", ".json"),
    "readout PLAN": ("readout {} outcomes.parquet", ".parquet"),
    "readout OUTCOMES": ("readout plan.parquet {}", ".parquet"),
    "info FILE": ("info {}", ".csv"),
    "export MODEL": ("export {} -o new.onnx", ".safetensors"),
}
FOLDERS = {"train --checkpoint": (f"{TRAIN} -o new.safetensors", "--checkpoint"), "train --cache": (f"{TRAIN} -o new.safetensors", "--cache"), "compare -o": ("compare s.toml --methods tsm --set method.epochs=1 --resamples 0 --estimator hajek", "-o")}


def require_clean(done, folder, allowed=CODES):
    assert done.code in allowed, done
    assert done.code == 0 or done.stderr.count("dfcl: error:") == 1, done
    assert [path for path in folder.rglob("*") if path.name.endswith((".partial", ".part")) or "scratch-" in path.name] == []


def device(folder, ending, minor):
    path = folder / f"device{ending}"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    except PermissionError:
        pytest.skip("only root makes devices")
    return path


class Full:
    """A folder on a disk of its own that is full; needs root."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp())
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", self.folder], capture_output=True).returncode != 0:
            self.folder.rmdir()
            pytest.skip("no disk can be made here")
        (self.folder / "all").write_bytes(b"x" * 4096)
        return self.folder

    def __exit__(self, *_):
        subprocess.run(["umount", self.folder], check=True)
        self.folder.rmdir()


def output_in_state(state, folder, ending):
    """The name to write to; what must hold after the run, whatever its code."""
    path = folder / f"odd{ending}"
    if state == "device":
        path = device(folder, ending, 3)
        return path, lambda code: stat.S_ISCHR(path.stat().st_mode)
    if state == "full device":
        path = device(folder, ending, 7)
        return path, lambda code: code == 4 and stat.S_ISCHR(path.stat().st_mode)
    if state == "pipe":
        os.mkfifo(path)
        threading.Thread(target=path.read_bytes, daemon=True).start()
        return path, lambda code: stat.S_ISFIFO(path.lstat().st_mode)
    if state == "link":
        path.symlink_to(f"target{ending}")
        return path, lambda code: path.is_symlink()
    if state == "link in a circle":
        path.symlink_to(path.name)
        return path, lambda code: code == 4 and path.is_symlink()
    if state == "folder":
        path.mkdir()
        return path, lambda code: code == 4 and path.is_dir()
    if state == "own input":
        before = (folder / "s.toml").read_bytes()
        path.symlink_to("s.toml")
        return path, lambda code: (folder / "s.toml").read_bytes() == before or code == 0
    if state == "private":
        path.touch(mode=0o600)
        return path, lambda code: stat.S_IMODE(path.stat().st_mode) == 0o600
    if state == "folder missing":
        return folder / "nowhere" / path.name, lambda code: code == 4 and not (folder / "nowhere").exists()
    raise AssertionError(state)


STATES = ["device", "full device", "pipe", "link", "link in a circle", "folder", "own input", "private", "folder missing"]


@pytest.mark.parametrize("option,state", [(option, state) for option in OUTPUTS for state in STATES if chosen("output", option, state)])
def test_an_output_on_something_odd(here, tmp_path, option, state):
    line, flag, ending = OUTPUTS[option]
    path, holds = output_in_state(state, tmp_path, ending)
    done = here.plain(*line.split(), flag, path, "--overwrite", timeout=60)
    require_clean(done, tmp_path)
    assert holds(done.code), done


@pytest.mark.parametrize("option", [option for option in OUTPUTS if chosen("output", option, "full disk")])
def test_an_output_on_a_full_disk(here, tmp_path, option):
    line, flag, ending = OUTPUTS[option]
    with Full() as folder:
        done = here.plain(*line.split(), flag, folder / f"odd{ending}", "--overwrite", timeout=60)
        left = sorted(path.name for path in folder.iterdir() if path.stat().st_size > 0)
    require_clean(done, tmp_path)
    assert done.code == 4 and left == ["all"]


@pytest.mark.parametrize("option", [option for option in OUTPUTS if chosen("output", option, "nothing")])
def test_an_output_without_a_name(here, tmp_path, option):
    line, flag, _ = OUTPUTS[option]
    assert here.plain(*line.split(), flag, "").code == 2


INPUT_STATES = ["device", "pipe", "link in a circle", "folder", "empty", "closed", "absent", "nothing"]


@pytest.mark.parametrize("option,state", [(option, state) for option in INPUTS for state in INPUT_STATES if chosen("input", option, state)])
def test_an_input_that_is_odd(here, tmp_path, option, state):
    line, ending = INPUTS[option]
    path = tmp_path / f"odd{ending}"
    if state == "device":
        path = device(tmp_path, ending, 3)
    elif state == "pipe":
        os.mkfifo(path)
        threading.Thread(target=lambda: path.write_bytes(b"x" * 100), daemon=True).start()
    elif state == "link in a circle":
        path.symlink_to(path.name)
    elif state == "folder":
        path.mkdir()
    elif state == "empty":
        path.touch()
    elif state == "closed":
        path.touch(mode=0o000)  # root reads it all the same: an empty file then
    words = [str(path) if word == "{}" else word for word in line.split()]
    done = here.plain(*(["" if word == str(path) else word for word in words] if state == "nothing" else words), timeout=60)
    require_clean(done, tmp_path)
    assert done.code != 0
    assert not list(tmp_path.glob("new.*"))


@pytest.mark.parametrize("option,state", [(option, state) for option in FOLDERS for state in ("file", "device", "link in a circle", "folder missing", "nothing") if chosen("folder", option, state)])
def test_a_folder_that_is_odd(here, tmp_path, option, state):
    line, flag = FOLDERS[option]
    path = tmp_path / "odd"
    if state == "file":
        path.write_text("mine")
    elif state == "device":
        path = device(tmp_path, "", 3)
    elif state == "link in a circle":
        path.symlink_to("odd")
    elif state == "folder missing":
        path = tmp_path / "a" / "b"
    done = here.plain(*line.split(), flag, "" if state == "nothing" else path, timeout=120)
    require_clean(done, tmp_path)
    assert (done.code == 0) == (state == "folder missing"), done
    assert state != "file" or path.read_text() == "mine"


VERBS = {option.split()[0]: [*line.split(), flag, f"odd{ending}"] for option, (line, flag, ending) in OUTPUTS.items() if flag == "-o"}
VERBS |= {"check": ["check", "s.toml"], "info": ["info", "t.parquet"], "compare": [*FOLDERS["compare -o"][0].split(), "-o", "odd"]}
LIMITS = {f"memory {size} MB": (resource.RLIMIT_AS, size << 20) for size in (150, 250, 400, 700, 1200)}
LIMITS |= {f"file size {size}": (resource.RLIMIT_FSIZE, size) for size in (0, 100, 5000)}
LIMITS |= {f"descriptors {count}": (resource.RLIMIT_NOFILE, count) for count in (4, 6, 9, 12)}
LIMITS |= {f"stack {size} kB": (resource.RLIMIT_STACK, size << 10) for size in (512, 2048)}


@pytest.mark.parametrize("verb,limit", [(verb, limit) for verb in VERBS for limit in LIMITS if chosen("limit", verb, limit)])
def test_a_verb_under_a_limit(here, tmp_path, verb, limit):
    kind, value = LIMITS[limit]
    (tmp_path / VERBS[verb][-1]).write_text("old") if verb not in ("check", "info", "compare") else None
    done = here.plain(*VERBS[verb], "--overwrite", "--threads", "2", preexec_fn=lambda: resource.setrlimit(kind, (value, value)), timeout=60)
    assert done.code in CODES | {MEMORY, 127}, done  # 127: not even the libraries fit
    if done.code not in (0, 127) and verb not in ("check", "info", "compare"):
        assert (tmp_path / VERBS[verb][-1]).read_text() == "old"
    if done.code != 127:
        require_clean(done, tmp_path, CODES | {MEMORY})


@pytest.mark.skipif(os.geteuid() != 0, reason="root's processes are not counted, and only root runs as somebody else")
@pytest.mark.parametrize("verb,count", [(verb, count) for verb in VERBS for count in (1, 2, 3) if chosen("processes", verb, str(count))])
def test_a_verb_that_may_start_few_threads(made, run_in, verb, count):
    nobody = 65534

    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))

    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        os.chmod(folder, 0o777)
        copy_files(made, folder)
        for file in folder.iterdir():
            os.chmod(file, 0o644)
        try:
            done = run_in(folder).plain(*VERBS[verb], "--threads", "4", user=nobody, group=nobody, extra_groups=[], preexec_fn=limit, timeout=60)
        except (PermissionError, subprocess.SubprocessError):
            pytest.skip("the program cannot be run as somebody else")
        require_clean(done, folder, CODES | {MEMORY})


REDIRECTIONS = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"]


@pytest.mark.parametrize("verb,line", [(verb, line) for verb in VERBS for line in REDIRECTIONS if chosen("descriptors", verb, line)])
def test_a_verb_with_odd_descriptors(here, tmp_path, verb, line):
    """What cannot be printed is an error; a file that was written is good either way."""
    words = " ".join(VERBS[verb])
    done = here.shell(f"dfcl {words} --overwrite {line}", timeout=60)
    loses_results = ">&-" in line.replace("2>&-", "") or line.startswith(">/dev/full")
    assert done.code == (4 if loses_results and prints(here, tmp_path, words) else 0), done
    assert done.stderr.count("dfcl: error:") <= 1


def prints(here, folder, words):
    return good(here.shell(f"dfcl {words} --overwrite", timeout=60)).stdout != ""
