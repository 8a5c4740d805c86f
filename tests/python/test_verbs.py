# SPDX-License-Identifier: Apache-2.0
"""What the functions promise beyond the bytes: studies, results, errors, progress, logging, pickling."""

import inspect
import logging
import pickle
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import dfcl


def test_a_study_of_keywords_is_the_study_of_a_file(tmp_path):
    study = dfcl.Study(
        trial="trial.csv", id="shop", arm="discount", revenue="orders", cost="subsidy", exclude=["out_*"],
        control=0, order=[0, 5], share={"0": 0.5, "5": 0.5}, per_unit=[0.1, 0.2], method="tsm",
        settings={"split.seed": 3, "cost.control_is_free": True, "columns.winsorize": {"revenue": 0.999}},
    )  # fmt: skip
    (tmp_path / "study.toml").write_text(study.text)
    read = dfcl.Study.read(tmp_path / "study.toml")
    assert read == study
    assert "control_is_free = true" in study.text
    assert pickle.loads(pickle.dumps(study)) == study
    assert study.set({"method.name": "slearner-x"}).method == "slearner-x"


@pytest.mark.parametrize(
    ("keywords", "text", "hint"),
    [
        ({"arm": "a", "revenue": "r"}, "the cost must be said in one way", ""),
        ({"arm": "a", "revenue": "r", "cost": "c", "settings": {"split.trian": 1}}, "unknown key 'trian'", "train"),
        ({"revenue": "r", "cost": "c"}, "arm=: is not set", "docs/study.md"),
    ],
)
def test_a_wrong_study_is_a_usage_error_with_its_hint(keywords, text, hint):
    with pytest.raises(dfcl.UsageError, match=text) as caught:
        dfcl.Study(**keywords)
    assert hint in caught.value.hint
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, ValueError)


def test_keywords_and_a_study_mean_the_same(small_study, small_trial):
    one = dfcl.train(small_study, small_trial, method="tsm", epochs=1)
    other = dfcl.train(
        trial=small_trial, id="id", arm="arm", revenue="revenue", cost="cost", control="0", per_unit=[0.1],
        method="tsm", epochs=1,
    )  # fmt: skip
    assert one == other
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        dfcl.train(small_study, small_trial, epoch=1)


def test_errors_have_the_text_of_the_command_line_with_keywords_for_keys(tmp_path, small_study, small_trial):
    with pytest.raises(dfcl.FileError) as caught:
        dfcl.check(tmp_path / "absent.toml")
    assert isinstance(caught.value, OSError)
    with pytest.raises(dfcl.UsageError, match="hint: did you mean 'dfcl-mer'"):
        dfcl.train(small_study, small_trial, method="dfcl-mr")
    with pytest.raises(dfcl.DataError, match="<trial>.*no column 'revenu', named by revenue="):
        dfcl.check(small_study.set({"columns.revenue": "revenu"}), small_trial)
    with pytest.raises(dfcl.UsageError, match="how much may be spent"):
        dfcl.allocate({"revenue_0": [1.0], "cost_0": [0.0]})
    with pytest.raises(dfcl.UsageError, match="no trial"):
        dfcl.check(small_study)


def test_an_unfit_trial_is_a_result_of_check_and_an_error_of_train():
    broken = dfcl.simulate("marketing", rows=20000, seed=1, imbalance=True)
    result = dfcl.check(broken.study, broken.trial)
    assert not result and result["problems"]
    with pytest.raises(dfcl.UnfitError, match="unfit to learn from"):
        dfcl.train(broken.study, broken.trial, method="tsm", epochs=1)


def test_a_budget_that_cannot_be_met_is_a_status():
    plan = dfcl.allocate({"revenue_0": [1.0], "cost_0": [5.0]}, budget=1, include_control=True)
    assert not plan.has_plan
    assert "cannot" in plan.status
    assert plan.value != plan.value
    with pytest.raises(dfcl.InfeasibleError, match="no plan"):
        plan.to_arrow()


def test_several_budgets_and_a_curve(made, model):
    prediction = dfcl.predict(model, made.trial)
    plans = dfcl.allocate_many(prediction, per_unit=[0.1, 0.2])
    assert [plan.budget for plan in plans] == pytest.approx([600, 1200])
    curve = dfcl.allocate_curve(prediction, points=5)
    assert len(curve["points"]) == 5


def test_constraints_take_frames_and_mappings(made, model):
    table = dfcl.predict(model, made.trial).to_pandas()
    table["region"] = np.where(np.arange(len(table)) % 2, "north", "south")
    plan = dfcl.allocate(
        table, per_unit=0.2, segment="region", segment_budgets={"north": 100.0}, max_units={"20": 10},
        eligible={"id": table["id"].to_numpy(), "eligible_15": np.zeros(len(table))},
    )  # fmt: skip
    assert plan.units_per_arm["15"] == 0
    assert plan.units_per_arm["20"] <= 10
    previous = dfcl.allocate(table, per_unit=0.1)
    assert "previous" in dfcl.allocate(table, per_unit=0.2, previous=previous).figures


def test_a_prediction_is_a_view_of_two_matrices(made, model):
    prediction = dfcl.predict(model, made.trial)
    revenue = prediction.revenue
    assert revenue.shape == (6000, 5) and revenue.dtype == np.float32 and not revenue.flags.writeable
    expected = prediction.to_arrow()["revenue_10"].to_numpy()
    del prediction
    np.testing.assert_array_equal(revenue[:, 2], expected)


def test_a_model_survives_pickling_and_its_bytes(model, tmp_path):
    model.write(tmp_path / "model.safetensors")
    assert (tmp_path / "model.safetensors").read_bytes() == model.to_bytes()
    assert pickle.loads(pickle.dumps(model)) == model == dfcl.Model.read(tmp_path / "model.safetensors")
    assert model.history and model.figures["method"] == "tsm"
    with pytest.raises(dfcl.FileError, match="<bytes>"):
        dfcl.Model.from_bytes(model.to_bytes()[:-5])


def test_figures_with_intervals_are_numbers(made, model):
    result = dfcl.evaluate(made.study, model, made.trial, resamples=30)
    assert result["models"][0]["name"] == "tsm"
    assert "test split" in result.full
    deployed = str(result.figures)
    assert "[" in deployed and result.verdict
    assert pickle.loads(pickle.dumps(result)).json == result.json


def test_models_are_not_scored_on_their_training_rows(made, model):
    with pytest.raises(dfcl.DataError, match="trained or chosen on"):
        dfcl.evaluate(made.study, model, made.trial, split="train", resamples=0)
    result = dfcl.evaluate(made.study, model, made.trial, split="train", resamples=0, allow_training_rows=True)
    assert result["models"]


def test_warnings_go_to_warnings_and_to_logging(caplog, made):
    broken = dfcl.simulate("marketing", rows=20000, seed=1, imbalance=True)
    with caplog.at_level(logging.WARNING, logger="dfcl"), pytest.warns(dfcl.DfclWarning, match="unfit") as seen:
        dfcl.train(broken.study, broken.trial, method="tsm", epochs=1, force=True)
    assert any("unfit" in record.message for record in caplog.records)
    assert all(warning.filename == __file__ for warning in seen), "they point at the caller's line"


def test_a_warning_may_be_made_an_error(made):
    broken = dfcl.simulate("marketing", rows=20000, seed=1, imbalance=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dfcl.DfclWarning)
        with pytest.raises(dfcl.DfclWarning, match="unfit"):
            dfcl.train(broken.study, broken.trial, method="tsm", epochs=1, force=True)


def test_progress_goes_to_a_function(made):
    seen = []
    dfcl.train(made.study, made.trial, method="tsm", epochs=3, progress=seen.append)
    assert seen and all(isinstance(step, dfcl.Step) for step in seen)
    losses = [step.loss for step in seen if step.loss is not None]
    assert len(set(losses)) == 3 and losses[-1] < losses[0], "the loss of every epoch"


def test_every_tree_and_fold_is_a_step(small_study, small_trial):
    seen = []
    dfcl.train(small_study, small_trial, method="tsm-forest", trees=12, progress=seen.append, force=True)
    assert {step.done for step in seen if step.unit == "trees" and step.total == 12} == set(range(1, 13))


def test_a_progress_function_that_returns_true_stops_the_run(made):
    with pytest.raises(dfcl.Stopped, match="stopped by the progress function"):
        dfcl.train(made.study, made.trial, method="tsm", epochs=4000, progress=lambda step: step.loss is not None)


@pytest.mark.parametrize("method", ["tsm", "tsm-boost"])
def test_a_progress_function_that_has_seen_enough_gets_the_model_so_far(made, method):
    steps = []

    def enough(step):
        steps.append(step)
        return "enough" if step.loss is not None or step.unit == "trees" else None

    long = made.study.set({"method.epochs": 4000} if method == "tsm" else {"boost.trees": 4000})
    model = dfcl.train(long, made.trial, method=method, progress=enough)
    assert model.method == method and 0 < len(steps) < 3000
    assert np.isfinite(model.predict(made.trial).revenue).all()


def test_an_exception_of_the_progress_function_ends_the_run(made):
    def fail(step):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        dfcl.train(made.study, made.trial, method="tsm", epochs=400, progress=fail)


def test_init_returns_the_study_that_it_writes(tmp_path, monkeypatch):
    made = dfcl.simulate("criteo", rows=3000, seed=1)
    pyarrow.parquet.write_table(pyarrow.table(made.trial), tmp_path / "trial.parquet")
    (tmp_path / "studies").mkdir()
    monkeypatch.chdir(tmp_path)
    study = dfcl.init("trial.parquet", output="studies/s.toml")
    assert dfcl.check(study).fit == dfcl.check("studies/s.toml").fit
    of_table = dfcl.init(made.trial, output="studies/t.toml")
    assert "trial =" not in (tmp_path / "studies" / "t.toml").read_text().split("[columns]")[0]
    assert of_table.method == study.method


def test_what_an_evaluation_rests_on_can_be_tables(small_trial, small_study, tmp_path):
    rows = len(small_trial["id"])
    first = {name: column[: rows // 2] for name, column in small_trial.items()}
    rest = {name: column[rows // 2 :] for name, column in small_trial.items()}
    ones = np.ones(rows)
    theirs = {"id": small_trial["id"], "revenue_0": ones, "revenue_1": 2 * ones, "cost_0": 0 * ones, "cost_1": ones}
    result = dfcl.evaluate(small_study, theirs, first, test=rest, resamples=0, split_out=tmp_path / "split.csv")
    assert result["trial"]["units"] == rows - rows // 2
    assert "not_pre_declared" not in result["verdict"]
    lines = (tmp_path / "split.csv").read_text().splitlines()
    assert lines[0] == '"id","split"' and len(lines) == rows + 1 and lines[-1].endswith('"test"')
    with pytest.raises(dfcl.DataError, match="these predictions were fitted on 100 % of these rows"):
        dfcl.evaluate(small_study, theirs, first, test=rest, resamples=0, fitted_on={"id": rest["id"]})
    marked = dfcl.evaluate(small_study, theirs, first, test=rest, resamples=0, estimator="hajek")
    assert "hajek was used" in marked["verdict"]["not_pre_declared"]


DOUBTFUL = {
    "group": ["a", "b"] * 200,
    "letter": ["x", "y", "y", "x"] * 100,
    "spent": [0.0, 1.0, 2.0, 0.5] * 100,
    "bought": [0.0, 2.0, 1.0, 3.0] * 100,
}


def test_what_is_uncertain_of_a_proposed_study_is_warned_of(tmp_path):
    with pytest.warns(dfcl.DfclWarning) as said:
        study = dfcl.Study.infer(DOUBTFUL)
    messages = sorted(str(one.message) for one in said)
    assert all(one.filename == __file__ for one in said), "at the caller's line"
    with pytest.warns(dfcl.DfclWarning):
        assert dfcl.init(DOUBTFUL, output=tmp_path / "study.toml") == study
    remarks = " ".join((tmp_path / "study.toml").read_text().replace("#", " ").split())
    assert len(messages) == remarks.count("unsure: ") >= 2
    for message in messages:
        keyword, reason = message.split("=: unsure, please check: ")
        assert keyword in inspect.signature(dfcl.Study).parameters and " ".join(reason.split()) in remarks


def test_what_is_certain_is_not_warned_of(made, recwarn):
    dfcl.Study.infer(made.trial, arm="discount", control="0", revenue="orders", cost="subsidy")
    assert [str(one.message) for one in recwarn if "unsure" in str(one.message)] == []


def test_a_study_file_without_a_trial_takes_a_frame(made, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(made.study.text.replace('trial = "trial.parquet"', ""))
    study = dfcl.Study.read(path)
    assert made.study.trial == "trial.parquet" and study.trial == ""
    for given in (path, study):
        assert dfcl.check(given, made.trial).fit
        with pytest.raises(dfcl.UsageError, match="trial=: no trial.*expected a table, or the path of one") as refused:
            dfcl.check(given)
        assert refused.value.field == "trial"
    revenue = dfcl.train(made.study, made.trial, method="tsm", epochs=1).predict(made.trial).revenue
    np.testing.assert_array_equal(dfcl.train(path, made.trial, method="tsm", epochs=1).predict(made.trial).revenue, revenue)
