# SPDX-License-Identifier: Apache-2.0
"""Drives the built program as a user does.

The program is the one that DFCL_BINARY names, else build/release/bin/dfcl.
"""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("DFCL_BINARY", ROOT / "build" / "release" / "bin" / "dfcl")).resolve()


DISCOUNTS = ["0", "5", "10", "15", "20"]  # the arms of simulated marketing trials


@dataclass
class Result:
    code: int
    stdout: str
    stderr: str


class Program:
    """Calls dfcl in a folder of its own: dfcl("check", "study.toml").code."""

    def __init__(self, folder):
        self.folder = folder
        self.binary = BINARY
        self.brief = False  # as users call it: what does not fit on one screen is left out

    def __call__(self, *arguments, timeout=300, **options):
        """Prints everything and replaces outputs of an earlier call; `plain` does neither."""
        words = set(map(str, arguments))
        more = ["--overwrite"] if {"-o", "--output", "--split-out"} & words and "--overwrite" not in words else []
        is_verb = arguments and not str(arguments[0]).startswith("-") and not {"-h", "--help"} & words
        if is_verb and not self.brief and "--full" not in words:
            more.append("--full")
        return self.plain(*arguments, *more, timeout=timeout, **options)

    def plain(self, *arguments, timeout=300, **options):
        """The arguments and nothing else."""
        return self._run([self.binary, *map(str, arguments)], timeout, options)

    def shell(self, line, timeout=300, **options):
        """A command line as typed, with dfcl on the PATH."""
        path = f"{self.binary.parent}{os.pathsep}{os.environ['PATH']}"
        options.setdefault("env", {**os.environ, "PATH": path})
        return self._run(["bash", "-c", line], timeout, options)

    def start(self, *arguments, **options):
        """The running process, for tests that interrupt it."""
        return subprocess.Popen([self.binary, *map(str, arguments)], cwd=self.folder, text=True, **options)

    def _run(self, command, timeout, options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        done = subprocess.run(command, cwd=self.folder, text=True, timeout=timeout, check=False, **options)
        return Result(done.returncode, done.stdout, done.stderr)


def good(result, code=0):
    """The result, of a run that ended as it should."""
    assert result.code == code, result.stderr
    return result


def answer(result, code=0):
    """What such a run says in JSON."""
    return json.loads(good(result, code).stdout)


def matrix(table, outcome, arms=DISCOUNTS):
    """units x arms of a prediction or truth, a table or its Parquet file; outcome: revenue or cost."""
    if isinstance(table, (str, Path)):
        table = pq.read_table(table)
    return np.column_stack([table[f"{outcome}_{arm}"].to_numpy() for arm in arms])


@pytest.fixture(scope="session", autouse=True)
def built_program():
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is not built: run `make build`", returncode=1)


@pytest.fixture
def dfcl(tmp_path):
    return Program(tmp_path)


@pytest.fixture(scope="session")
def run_in():
    """For fixtures that outlive a test: run_in(folder) is a Program there."""
    return Program


def make_one_of_each(dfcl, rows):
    """In the program's folder: a trial, its study and truth, a model, results, a plan and what came of it."""
    simulate = ("simulate", "--preset", "marketing", "--rows", rows, "--seed", 1)
    good(dfcl(*simulate, "-o", "t.parquet", "--study", "s.toml", "--truth", "truth.parquet"))
    good(dfcl("train", "s.toml", "--method", "tsm", "--epochs", 1, "-o", "m.safetensors"))
    good(dfcl("evaluate", "s.toml", "m.safetensors", "--resamples", 0, "-o", "results.json"))
    good(dfcl("allocate", "truth.parquet", "--share-of-max", 0.2, "--holdout", 0.3, "-o", "plan.parquet"))
    good(dfcl(*simulate, "--outcomes-of", "plan.parquet", "-o", "outcomes.parquet"))


def copy_files(folder, to):
    """All but hidden ones."""
    for file in folder.iterdir():
        if file.is_file() and not file.name.startswith("."):
            shutil.copy(file, to)
