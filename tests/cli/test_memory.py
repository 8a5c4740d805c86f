# SPDX-License-Identifier: Apache-2.0
"""--memory: runs stay within it, with the same results, or are refused before they begin."""

import threading
import time

import pytest
from conftest import good

ROWS = 250_000
TRAIN = ["train", "study.toml", "--method", "tsm-boost", "--set", "boost.trees=5", "--seed", "1", "--force"]
EVALUATE = ["evaluate", "study.toml", "model.safetensors", "--resamples", "20"]
ALLOCATE = ["allocate", "many.parquet", "--share-of-max", "0.1,0.2", "--holdout", "0.1"]
# Verb, the file that it writes, and a limit between what the run takes otherwise and what it is estimated to need then.
RUNS = {
    "train": (TRAIN, "out.safetensors", 145e6),
    "evaluate": (EVALUATE, "out.json", 150e6),
    "allocate": (ALLOCATE, "out-1.parquet", 125e6),
}


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """A trial, a model and predictions of a size at which the ways differ."""
    dfcl = run_in(tmp_path_factory.mktemp("memory"))
    world = ["--preset", "criteo", "--rows", ROWS, "--seed", "1", "--study", "study.toml", "--truth", "truth.parquet"]
    good(dfcl("simulate", *world, "-o", "trial.parquet"))
    many = ["--preset", "criteo", "--rows", 4 * ROWS, "--seed", "1", "--truth", "many.parquet"]
    good(dfcl("simulate", *many, "-o", "unused.parquet"))
    good(dfcl(*TRAIN, "-o", "model.safetensors"))
    return dfcl


def peak_of(dfcl, *arguments):
    """A run's exit code, errors, and the most anonymous memory that it held, in bytes."""
    run = dfcl.start(*map(str, arguments), "--overwrite", "--threads", "2", stdout=-1, stderr=-1)
    most = 0
    said = []
    listener = threading.Thread(target=lambda: said.extend(run.communicate()))
    listener.start()
    while listener.is_alive():
        try:
            with open(f"/proc/{run.pid}/status") as status:
                most = max([most, *(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))])
        except (OSError, ValueError):
            pass
        time.sleep(0.002)
    listener.join()
    return run.returncode, said[1], most


def output_of(verb):
    return ["-o", "out.parquet" if verb == "allocate" else RUNS[verb][1]]


@pytest.mark.parametrize("verb", RUNS)
def test_a_run_stays_within_its_limit_with_the_same_result(made, verb):
    arguments, file, limit = RUNS[verb]
    (made.folder / ".study.toml.nuisance.safetensors").unlink(missing_ok=True)
    good(made(*arguments, *output_of(verb)))
    free = (made.folder / file).read_bytes()
    (made.folder / ".study.toml.nuisance.safetensors").unlink(missing_ok=True)
    before = {path.name for path in made.folder.iterdir()}
    code, errors, most = peak_of(made, *arguments, *output_of(verb), "--memory", f"{limit:.0f}")
    assert code == 0, errors
    (said,) = [line for line in errors.splitlines() if "--memory" in line]
    assert ("streams the predictions" if verb == "allocate" else "keeps the trial in files") in said
    assert 0 < most <= limit
    assert (made.folder / file).read_bytes() == free
    assert {path.name for path in made.folder.iterdir()} - before <= {".study.toml.nuisance.safetensors"}


@pytest.mark.parametrize("verb", RUNS)
def test_a_limit_that_is_large_enough_changes_nothing(made, verb):
    done = made(*RUNS[verb][0], *output_of(verb), "--memory", "8GiB")
    assert "--memory" not in good(done).stderr


@pytest.mark.parametrize("verb", RUNS)
def test_a_limit_that_is_too_small_is_refused_in_one_line(made, verb):
    arguments, _, _ = RUNS[verb]
    output = ["-o", "refused" + {"train": ".safetensors", "evaluate": ".json", "allocate": ".parquet"}[verb]]
    done = made.plain(*arguments, *output, "--memory", "20MB")
    assert done.code == 2
    (line,) = done.stderr.splitlines()
    assert "--memory: too little: this run takes about" in line and "'20MB'" in line
    assert not list(made.folder.glob("refused*"))


def test_limits_on_units_cannot_be_streamed_and_the_refusal_says_so(made):
    done = made.plain(*ALLOCATE[:2], "--share-of-max", "0.2", "--max-units", "1=1000", "--memory", "60MB")
    assert done.code == 2
    (line,) = done.stderr.splitlines()
    assert "leave out segments, limits on units" in line


@pytest.mark.parametrize("limit", ["2 apples", "0", "-1GB", "GB", "1e9", "nan", "99999999999TB"])
def test_what_is_no_size_is_refused(made, limit):
    for verb, (arguments, _, _) in RUNS.items():
        done = made(*arguments, *output_of(verb), f"--memory={limit}")
        assert done.code == 2 and "--memory" in done.stderr and "2GB" in done.stderr
