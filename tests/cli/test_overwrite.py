# SPDX-License-Identifier: Apache-2.0
"""Nothing that is there is overwritten unless --overwrite says so, by any verb, and it is said before any work."""

import json
import shutil

import pytest
from conftest import good

SENTINEL = "somebody's work\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_in):
    folder = tmp_path_factory.mktemp("overwrite")
    dfcl = run_in(folder)
    good(dfcl("simulate", "--preset", "marketing", "--rows", "2000", "--seed", "1", "-o", "t.parquet", "--study", "s.toml", "--truth", "truth.parquet"))
    good(dfcl("train", "s.toml", "--method", "tsm", "--epochs", "1", "-o", "m.safetensors"))
    good(dfcl("allocate", "truth.parquet", "--share-of-max", "0.2", "--holdout", "0.3", "-o", "plan.parquet"))
    good(dfcl("simulate", "--preset", "marketing", "--rows", "2000", "--seed", "1", "--outcomes-of", "plan.parquet", "-o", "outcomes.parquet"))
    good(dfcl("evaluate", "s.toml", "m.safetensors", "--resamples", "0", "-o", "results.json"))
    return folder


# The verb, and each option that names a file which it writes.
OUTPUTS = {
    "init": (["init", "t.parquet"], ["-o new.toml"]),
    "simulate": (
        ["simulate", "--preset", "criteo", "--rows", "500", "-o", "free.parquet"],
        ["-o new.parquet", "--truth new.parquet", "--study new.toml"],
    ),
    "check": (["check", "s.toml"], ["--split-out new.csv"]),
    "train": (["train", "s.toml", "--method", "tsm", "--epochs", "1"], ["-o new.safetensors"]),
    "predict": (["predict", "m.safetensors", "t.parquet", "-o", "free.parquet"], ["-o new.parquet", "--drift new.csv"]),
    "allocate": (["allocate", "truth.parquet", "--share-of-max", "0.2"], ["-o new.parquet"]),
    "allocate curve": (["allocate", "truth.parquet", "--curve", "5"], ["-o new.csv"]),
    "evaluate": (["evaluate", "s.toml", "m.safetensors", "--resamples", "0"], ["-o new.json", "--split-out new.csv"]),
    "report": (["report", "results.json"], ["-o new.html"]),
    "readout": (["readout", "plan.parquet", "outcomes.parquet"], ["-o new.json"]),
    "power": (["power", "s.toml"], ["-o new.json"]),
    "export": (["export", "m.safetensors"], ["-o new.onnx"]),
}
CASES = [(verb, output) for verb, (_, outputs) in OUTPUTS.items() for output in outputs]


@pytest.mark.parametrize(("verb", "output"), CASES)
def test_a_file_that_is_there_stays(made, tmp_path, run_in, verb, output):
    for file in made.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    dfcl = run_in(tmp_path)
    arguments, _ = OUTPUTS[verb]
    option, name = output.split()
    if option in arguments:
        arguments = arguments[: arguments.index(option)] + arguments[arguments.index(option) + 2 :]
    (tmp_path / name).write_text(SENTINEL)
    refused = dfcl.plain(*arguments, option, name)
    assert refused.code == 4, refused.stderr
    assert name in refused.stderr and "--overwrite" in refused.stderr
    assert (tmp_path / name).read_text() == SENTINEL
    assert not (tmp_path / "free.parquet").exists()
    good(dfcl.plain(*arguments, option, name, "--overwrite"))
    assert (tmp_path / name).read_bytes() != SENTINEL.encode()


def test_several_plans_are_refused_where_one_is_there(made, tmp_path, run_in):
    shutil.copy(made / "truth.parquet", tmp_path)
    dfcl = run_in(tmp_path)
    (tmp_path / "plan-2.csv").write_text(SENTINEL)
    refused = dfcl.plain("allocate", "truth.parquet", "--share-of-max", "0.1,0.2", "-o", "plan.csv")
    assert refused.code == 4 and "plan-2.csv" in refused.stderr
    assert not (tmp_path / "plan-1.csv").exists()


def test_resuming_is_not_overwriting(made, tmp_path, run_in):
    for name in ("t.parquet", "s.toml"):
        shutil.copy(made / name, tmp_path)
    dfcl = run_in(tmp_path)
    train = ("train", "s.toml", "--method", "tsm", "--epochs", "1", "--checkpoint", "kept", "-o", "m.safetensors")
    good(dfcl.plain(*train))
    before = (tmp_path / "m.safetensors").read_bytes()
    good(dfcl.plain(*train))
    assert (tmp_path / "m.safetensors").read_bytes() == before
    compare = ("compare", "s.toml", "--methods", "tsm,dfcl-mer", "--set", "method.epochs=2", "--resamples", "0", "-o", "compared")
    good(dfcl.plain(*compare))
    good(dfcl.plain(*compare))


def test_what_a_run_did_not_write_stays_though_it_is_resumed(made, tmp_path, run_in):
    for name in ("t.parquet", "s.toml"):
        shutil.copy(made / name, tmp_path)
    dfcl = run_in(tmp_path)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "notes.txt").write_text("a file, and no checkpoint")
    train = ("train", "s.toml", "--method", "tsm", "--epochs", "1", "--checkpoint", "kept", "-o", "m.safetensors")
    (tmp_path / "m.safetensors").write_text(SENTINEL)
    assert dfcl.plain(*train).code == 4
    (tmp_path / "m.safetensors").unlink()
    good(dfcl.plain(*train))
    (tmp_path / "m.safetensors").write_text(SENTINEL)
    assert dfcl.plain(*train).code == 4
    assert (tmp_path / "m.safetensors").read_text() == SENTINEL
    for damaged in ("", "[]", '{"a": 1}', "{"):
        (tmp_path / "kept" / "outputs.json").write_text(damaged)
        assert dfcl.plain(*train).code == 4
    (tmp_path / "kept" / "outputs.json").unlink()
    good(dfcl.plain(*train, "--overwrite"))
    # A run that was killed between its file and the list of its files.
    listed = json.loads((tmp_path / "kept" / "outputs.json").read_text())
    (tmp_path / "kept" / "outputs.json").write_text(json.dumps(dict.fromkeys(listed, "being written")))
    good(dfcl.plain(*train))
    assert json.loads((tmp_path / "kept" / "outputs.json").read_text()) == listed


def test_the_splits_of_a_comparison_do_not_stop_it_from_going_on(made, tmp_path, run_in):
    for name in ("t.parquet", "s.toml"):
        shutil.copy(made / name, tmp_path)
    dfcl = run_in(tmp_path)
    compare = ("compare", "s.toml", "--methods", "tsm", "--set", "method.epochs=1", "--resamples", "0", "--split-out", "splits.csv", "-o", "compared")
    good(dfcl.plain(*compare))
    before = (tmp_path / "splits.csv").read_bytes()
    good(dfcl.plain(*compare))
    assert (tmp_path / "splits.csv").read_bytes() == before
    (tmp_path / "splits.csv").write_text(SENTINEL)
    assert dfcl.plain(*compare).code == 4
    assert (tmp_path / "splits.csv").read_text() == SENTINEL


def test_force_does_not_overwrite(made, tmp_path, run_in):
    for name in ("t.parquet", "s.toml"):
        shutil.copy(made / name, tmp_path)
    (tmp_path / "m.safetensors").write_text(SENTINEL)
    refused = run_in(tmp_path).plain("train", "s.toml", "--method", "tsm", "--epochs", "1", "--force", "-o", "m.safetensors")
    assert refused.code == 4 and (tmp_path / "m.safetensors").read_text() == SENTINEL


def test_a_place_that_cannot_be_written_is_found_first(made, run_in):
    refused = run_in(made).plain("train", "s.toml", "-o", "nowhere/m.safetensors")
    assert refused.code == 4 and "nowhere" in refused.stderr
