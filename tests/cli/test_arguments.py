# SPDX-License-Identifier: Apache-2.0
"""Every verb with one wrong value for each argument: refused, with the argument named (tests/wrong_values.py)."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from wrong_values import NONE, ROWS  # noqa: E402

# Arguments by position, in their order, and the flags of a command that works.
COMMANDS = {
    "init": (["trial"], {"trial": "trial.parquet", "output": "first.toml"}),
    "simulate": ([], {"preset": "marketing", "rows": 100, "output": "again.parquet"}),
    "check": (["study"], {"study": "study.toml"}),
    "train": (["study"], {"study": "study.toml", "output": "trained.safetensors", "method": "tsm", "epochs": 1}),
    "predict": (
        ["model", "units"],
        {"model": "model.safetensors", "units": "trial.parquet", "output": "predictions.parquet"},
    ),
    "allocate": (["predictions", "units"], {"predictions": "truth.parquet", "budget": 100}),
    "evaluate": (["study", "models"], {"study": "study.toml", "models": "truth.parquet", "resamples": 0}),
    "report": (["results"], {"results": "results.json", "output": "report.html"}),
    "compare": (["study"], {"study": "study.toml", "methods": "tsm,dfcl-mer", "output": "compared"}),
    "deploy": (["study"], {"study": "study.toml", "units": 200, "days": 1, "methods": "tsm"}),
    "readout": (["plan", "outcomes"], {"plan": "plan.parquet", "outcomes": "outcomes.parquet"}),
    "power": (["study", "models"], {"study": "study.toml"}),
    "info": (["file"], {"file": "trial.parquet"}),
    "serve": (["input", "units"], {"input": "truth.parquet", "seconds": 0}),
    "export": (["model"], {"model": "model.safetensors", "output": "model.onnx"}),
}
FOR_ALL = {"json", "quiet", "help", "full", "overwrite"}
POSITION = {"models": "MODEL|PREDICTIONS"}


def flag_of(argument):
    return "--" + argument.replace("_", "-")


def command(verb, argument, wrong):
    positions, working = COMMANDS[verb]
    given = {**working, **(wrong.with_arguments or {}), argument: wrong.program}
    if argument == "from_trial":
        del given["study"]
    line = [given.pop(name) for name in positions if name in given]
    for name, value in given.items():
        text = str(value)
        line += [flag_of(name) + text] if text.startswith("=") else [flag_of(name), text]
    return [verb, *line]


@pytest.fixture(scope="module")
def folder(run_in, tmp_path_factory):
    """A folder with what the verbs read."""
    dfcl = run_in(tmp_path_factory.mktemp("arguments"))
    world = ["simulate", "--preset", "marketing", "--rows", 2000, "--seed", 1]
    for line in (
        [*world, "-o", "trial.parquet", "--truth", "truth.parquet", "--study", "study.toml"],
        ["train", "study.toml", "--method", "tsm", "--epochs", 1, "-o", "model.safetensors"],
        ["allocate", "truth.parquet", "--share-of-max", 0.2, "--holdout", 0.2, "-o", "plan.parquet"],
        [*world, "--outcomes-of", "plan.parquet", "-o", "outcomes.parquet"],
        ["evaluate", "study.toml", "truth.parquet", "--resamples", 0, "-o", "results.json"],
    ):
        done = dfcl(*line)
        assert done.code == 0, (line, done.stderr)
    return dfcl


CASES = [(verb, argument) for verb, rows in ROWS.items() for argument, wrong in rows.items() if wrong.program is not NONE]


@pytest.mark.parametrize(("verb", "argument"), CASES)
def test_a_wrong_value_is_refused_by_name(folder, verb, argument):
    wrong = ROWS[verb][argument]
    before = {file.name for file in folder.folder.iterdir()}
    done = folder(*command(verb, argument, wrong), "--json", timeout=60)
    assert done.code in (2, 3, 4), (done.code, done.stderr)
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    said = " ".join(str(error.get(part, "")) for part in ("field", "what", "where", "found"))
    value = str(wrong.program).split("=")[0]
    assert error.get("field", "").split(".")[-1] in (argument, "learning_rate", "name") or (value and value in said), error
    assert {file.name for file in folder.folder.iterdir()} == before, "a refused run leaves nothing"


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_refusal_is_written_as_the_argument_is(folder, verb):
    """As text, an argument with a flag is named by the flag."""
    argument = "threads"
    done = folder(*command(verb, argument, ROWS[verb][argument]))
    assert done.code == 2 and "--threads: out of range: found -1" in done.stderr


def test_every_verb_and_flag_has_a_row(dfcl):
    listed = dfcl("-h").stdout.split("\nverbs:\n")[1].split("\n\n")[0]
    assert {line.split()[0] for line in listed.splitlines()} == set(ROWS)
    for verb in ROWS:
        text = dfcl(verb, "--help").stdout.split("\nexample:")[0]
        flags = {name.replace("-", "_") for name in re.findall(r"^  (?:-\w, )?--([a-z-]+)", text, re.MULTILINE)}
        rows = {name for name, wrong in ROWS[verb].items() if wrong.program is not NONE}
        assert flags - FOR_ALL == rows - set(COMMANDS[verb][0]), verb
