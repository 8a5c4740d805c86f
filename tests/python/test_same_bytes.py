# SPDX-License-Identifier: Apache-2.0
"""The package and the command line give the same bytes for the same study, data and seed."""

import json

import pytest

import dfcl


@pytest.fixture(scope="module")
def files(tmp_path_factory, program):
    folder = tmp_path_factory.mktemp("program")
    program("simulate", "--preset", "marketing", "--rows", 6000, "--seed", 1, "-o", "trial.parquet", "--truth",
            "truth.parquet", "--study", "study.toml", folder=folder)  # fmt: skip
    program("train", "study.toml", "--method", "dfcl-mer", "--epochs", 2, "--seed", 3, "-o", "model.safetensors",
            folder=folder)  # fmt: skip
    program("predict", "model.safetensors", "trial.parquet", "-o", "predictions.parquet", folder=folder)
    program("allocate", "predictions.parquet", "--share-of-max", 0.2, "-o", "plan.parquet", folder=folder)
    program("allocate", "predictions.parquet", "--share-of-max", 0.2, "--holdout", 0.1, "--explore", 0.05, "--seed", 5,
            "-o", "launch.parquet", folder=folder)  # fmt: skip
    program("simulate", "--preset", "marketing", "--rows", 6000, "--seed", 1, "--outcomes-of", "launch.parquet", "-o",
            "outcomes.parquet", folder=folder)  # fmt: skip
    program("evaluate", "study.toml", "model.safetensors", "truth.parquet", "--resamples", 50, "-o", "results.json",
            folder=folder)  # fmt: skip
    program("readout", "launch.parquet", "outcomes.parquet", "-o", "readout.json", folder=folder)
    return folder


@pytest.fixture(scope="module")
def trained(files):
    study = dfcl.Study.read(files / "study.toml")
    return dfcl.train(study, dfcl_frame(files / "trial.parquet"), method="dfcl-mer", epochs=2, seed=3)


def dfcl_frame(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)


def same(made, kept):
    return made.read_bytes() == kept.read_bytes()


def test_a_simulated_trial(files, tmp_path):
    made = dfcl.simulate("marketing", rows=6000, seed=1)
    made.trial.write(tmp_path / "trial.parquet")
    made.truth.write(tmp_path / "truth.parquet")
    assert same(tmp_path / "trial.parquet", files / "trial.parquet")
    assert same(tmp_path / "truth.parquet", files / "truth.parquet")


def test_a_model_trained_on_a_frame(files, trained, tmp_path):
    trained.write(tmp_path / "model.safetensors")
    assert same(tmp_path / "model.safetensors", files / "model.safetensors")


def test_a_model_trained_through_a_cache(files, tmp_path):
    arguments = {"method": "dfcl-mer", "epochs": 2, "seed": 3, "cache": tmp_path / "cache"}
    dfcl.train(files / "study.toml", **arguments, output=tmp_path / "m.safetensors")
    assert same(tmp_path / "m.safetensors", files / "model.safetensors")
    with pytest.raises(dfcl.UsageError, match="trials in files"):
        dfcl.train(files / "study.toml", dfcl_frame(files / "trial.parquet"), **arguments)


def test_a_model_trained_on_a_file_with_other_threads(files, tmp_path):
    dfcl.train(files / "study.toml", method="dfcl-mer", epochs=2, seed=3, threads=1, output=tmp_path / "m.safetensors")
    assert same(tmp_path / "m.safetensors", files / "model.safetensors")


def test_a_model_trained_within_a_limit_on_memory(files, tmp_path):
    # At a limit that eight threads would exceed; tests/cli/test_memory.py looks at the memory.
    arguments = {"method": "dfcl-mer", "epochs": 2, "seed": 3, "threads": 8}
    model = dfcl.train(files / "study.toml", dfcl_frame(files / "trial.parquet"), memory="150MB", **arguments)
    model.write(tmp_path / "m.safetensors")
    assert same(tmp_path / "m.safetensors", files / "model.safetensors")
    for refused in (dfcl.train, dfcl.evaluate):
        models = [] if refused is dfcl.train else [model]
        with pytest.raises(dfcl.UsageError, match="too little: this run takes about"):
            refused(files / "study.toml", *models, memory="10MB")
    with pytest.raises(dfcl.UsageError, match="too little: this run takes about"):
        dfcl.allocate(model, files / "trial.parquet", budget=100, memory="10MB")


def test_predictions(files, trained, tmp_path):
    dfcl.predict(trained, dfcl_frame(files / "trial.parquet"), output=tmp_path / "predictions.parquet")
    assert same(tmp_path / "predictions.parquet", files / "predictions.parquet")


@pytest.mark.parametrize("many_units", [1, 200_000])
def test_a_plan_whether_the_frame_is_read_in_place_or_not(files, tmp_path, monkeypatch, many_units):
    monkeypatch.setattr("dfcl.verbs.plans._MANY_UNITS", many_units)
    dfcl.allocate(dfcl_frame(files / "predictions.parquet"), share_of_max=0.2, output=tmp_path / "plan.parquet")
    assert same(tmp_path / "plan.parquet", files / "plan.parquet")


@pytest.mark.parametrize("many_units", [1, 200_000])
def test_a_plan_that_is_written_later(files, tmp_path, monkeypatch, many_units):
    monkeypatch.setattr("dfcl.verbs.plans._MANY_UNITS", many_units)
    plan = dfcl.allocate(
        dfcl_frame(files / "predictions.parquet"), share_of_max=0.2, holdout=0.1, explore=0.05, seed=5
    )
    plan.write(tmp_path / "launch.parquet")
    assert same(tmp_path / "launch.parquet", files / "launch.parquet")


def test_a_plan_from_a_prediction_and_from_a_model(files, trained, tmp_path):
    units = dfcl_frame(files / "trial.parquet")
    dfcl.allocate(dfcl.predict(trained, units), share_of_max=0.2, output=tmp_path / "one.parquet")
    dfcl.allocate(trained, units, share_of_max=0.2, output=tmp_path / "two.parquet")
    assert same(tmp_path / "one.parquet", files / "plan.parquet")
    assert same(tmp_path / "two.parquet", files / "plan.parquet")


def test_an_evaluation(files, trained, tmp_path):
    study = dfcl.Study.read(files / "study.toml")
    dfcl.evaluate(
        study,
        {"model": trained, "truth": dfcl_frame(files / "truth.parquet")},
        dfcl_frame(files / "trial.parquet"),
        resamples=50,
        output=tmp_path / "results.json",
    )
    assert same(tmp_path / "results.json", files / "results.json")


def test_a_comparison(files, program, tmp_path):
    program("compare", "study.toml", "--methods", "tsm,dfcl-mer", "--set", "method.epochs=2", "--resamples", 30, "-o",
            tmp_path / "theirs", folder=files)  # fmt: skip
    dfcl.compare(
        files / "study.toml", dfcl_frame(files / "trial.parquet"), methods=["tsm", "dfcl-mer"], resamples=30,
        settings={"method.epochs": 2}, output=tmp_path / "ours",
    )  # fmt: skip
    assert same(tmp_path / "ours/results.json", tmp_path / "theirs/results.json")


def test_a_readout(files, tmp_path):
    dfcl.readout(
        dfcl_frame(files / "launch.parquet"), dfcl_frame(files / "outcomes.parquet"), holdout_share=0.1,
        output=tmp_path / "readout.json",
    )  # fmt: skip
    ours = json.loads((tmp_path / "readout.json").read_text())
    theirs = json.loads((files / "readout.json").read_text())
    assert ours["readout"].keys() == theirs["readout"].keys()


def test_a_readout_of_the_plan_itself(files, tmp_path):
    predictions = dfcl_frame(files / "predictions.parquet")
    plan = dfcl.allocate(predictions, share_of_max=0.2, holdout=0.1, explore=0.05, seed=5)
    dfcl.readout(plan, files / "outcomes.parquet", output=tmp_path / "readout.json")
    assert same(tmp_path / "readout.json", files / "readout.json")


def test_a_report(files, program, tmp_path):
    program("report", "results.json", "-o", tmp_path / "theirs.html", folder=files)
    text = (files / "results.json").read_text()
    dfcl.Evaluation(text, "").report(tmp_path / "ours.html")
    assert same(tmp_path / "ours.html", tmp_path / "theirs.html")
