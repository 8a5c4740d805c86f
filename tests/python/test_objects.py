# SPDX-License-Identifier: Apache-2.0
"""Studies, models, plans and results as objects: methods are the functions; everything shows, pickles and copies."""

import copy
import inspect
import pickle
import re
import typing

import joblib
import numpy as np
import pytest

import dfcl
from dfcl import html, types


@pytest.fixture(scope="module")
def plan(made, model):
    return model.allocate(made.trial, share_of_max=0.2)


@pytest.fixture(scope="module")
def launched(made):
    return dfcl.allocate(made.truth, share_of_max=0.2, holdout=0.2, explore=0.1, seed=3)


@pytest.fixture(scope="module")
def evaluation(made, model):
    return model.evaluate(made.trial, truth=made.truth, resamples=40)


def test_methods_are_the_functions(made, model, plan, evaluation, tmp_path):
    assert made.study.train(made.trial, method="tsm", epochs=2, seed=1) == model
    assert model.predict(made.trial).to_arrow() == dfcl.predict(model, made.trial).to_arrow()
    assert plan == dfcl.allocate(model, made.trial, share_of_max=0.2) == model.predict(made.trial).allocate(share_of_max=0.2)
    assert evaluation == dfcl.evaluate(dfcl.Study.parse(model.study), model, made.trial, truth=made.truth, resamples=40)
    assert made.study.check(made.trial) == dfcl.check(made.study, made.trial)
    assert dfcl.Study.infer(made.trial).text == dfcl.init(made.trial).text
    model.save(tmp_path / "model.safetensors")
    assert dfcl.Model.read(tmp_path / "model.safetensors") == model
    assert model.to_onnx() == dfcl.export_onnx(model)


def test_a_plan_says_who_gets_what(plan, made):
    table = plan.to_arrow()
    assert plan.ids.tolist() == table["id"].to_pylist()
    assert plan.arm.tolist() == table["arm"].to_pylist()
    np.testing.assert_array_equal(plan.revenue, table["revenue"].to_numpy())
    assert plan.arms == ["0", "5", "10", "15", "20"]
    assert sum(plan.units_per_arm.values()) == len(plan)


def test_a_plan_says_why(made, model):
    explained = model.explain(made.trial, share_of_max=0.2)
    table = explained.to_arrow()
    assert {"uplift", "second_arm", "cut_distance", "reason_1"} <= set(table.column_names)
    assert explained.arm.tolist() == model.allocate(made.trial, share_of_max=0.2).arm.tolist()
    assert set(model.importance) <= set(model.features)


def test_plans_differ_by_unit(made):
    before, after = dfcl.allocate_many(made.truth, share_of_max=[0.1, 0.2])
    change = after.diff(before)
    expected = before.arm != after.arm
    np.testing.assert_array_equal(change.ids, after.ids[expected])
    assert sum(change.moves.values()) == expected.sum() > 0 and len(change.only_before) == len(change.only_after) == 0
    assert all(before != after for before, after in change.moves)
    assert len(after.diff(after).ids) == 0
    half = dfcl.allocate(made.truth.to_arrow().slice(0, 3000), share_of_max=0.2)
    assert len(half.diff(after).only_before) == 3000


def test_one_budget_is_a_plan_and_several_are_a_list(made):
    with pytest.raises(dfcl.UsageError, match="allocate_many takes several") as refused:
        dfcl.allocate(made.truth, budget=[100, 200])
    assert refused.value.field == "budget"
    assert [plan.budget for plan in dfcl.allocate_many(made.truth, budget=[100, 200])] == [100, 200]


def everything(made, model, plan, launched, evaluation):
    return {
        "study": made.study,
        "table": made.truth,
        "model": model,
        "prediction": model.predict(made.trial),
        "plan": plan,
        "plan with roles": launched,
        "plan with reasons": model.explain(made.trial, share_of_max=0.2),
        "no plan": dfcl.allocate({"revenue_0": [1.0], "cost_0": [5.0]}, budget=1, include_control=True),
        "check": made.study.check(made.trial),
        "evaluation": evaluation,
        "curve": dfcl.allocate_curve(made.truth, points=4),
        "power": dfcl.power(sd=12, gain=0.2),
        "interval": dfcl.Interval(1.0, 0.5, 1.5),
        "error": dfcl.UsageError("no"),
    }


def same(one, other):
    if isinstance(one, (dfcl.Prediction, dfcl.Table)) or (isinstance(one, dfcl.Plan) and one.has_plan):
        return one.to_arrow().equals(other.to_arrow(), check_metadata=True)
    if isinstance(one, dfcl.Error):
        return str(one) == str(other)
    return one == other


def test_everything_pickles_copies_and_can_be_cached(made, model, plan, launched, evaluation, tmp_path):
    for name, value in everything(made, model, plan, launched, evaluation).items():
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert type(again) is type(value) and same(value, again), name
        joblib.dump(value, tmp_path / "value")
        assert same(value, joblib.load(tmp_path / "value")), name


def test_a_pickled_plan_writes_the_same_file(launched, tmp_path):
    launched.write(tmp_path / "one.parquet")
    pickle.loads(pickle.dumps(launched)).write(tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_cached_function_of_results_runs_once(made, model, tmp_path):
    calls = []

    def spend(model, share):
        calls.append(share)
        return model.allocate(made.trial, share_of_max=share).spend

    cached = joblib.Memory(tmp_path, verbose=0).cache(spend)
    assert cached(model, 0.2) == cached(pickle.loads(pickle.dumps(model)), 0.2)
    assert calls == [0.2]


def test_an_interval_pickles_with_its_ends():
    again = pickle.loads(pickle.dumps(dfcl.Interval(1.0, 0.5, 1.5)))
    assert (float(again), again.low, again.high) == (1.0, 0.5, 1.5)


def test_results_show_as_tables_in_notebooks(made, model, plan, launched, evaluation):
    for name, value in everything(made, model, plan, launched, evaluation).items():
        if name in ("interval", "error"):
            continue
        page = value._repr_html_()
        assert "<pre" not in page and "<iframe" not in page and "{&#x27;" not in page and len(page) < 60_000, name
        assert page.count("<table") == page.count("</table>") and page.count("<td") == page.count("</td>"), name
        if name not in ("table", "no plan"):
            assert "<table" in page, name
    page = evaluation._repr_html_()
    assert re.search(r"[\d.,]+ \(-?[\d.,]+ to -?[\d.,]+\)", page) and "text-align: right" in page
    assert "overflow-x: auto" in page and ">cost<" in page and "incremental cost" not in page, "control is free"
    assert html.number(dfcl.Interval(1234.5678, 1200.123, 1270.9)) == "1,234.6 (1,200.1 to 1,270.9)"
    assert "&lt;script" in dfcl.Study(arm="<script>", revenue="r", cost="c")._repr_html_()


def test_charts(made, model, evaluation):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for axes in (
        evaluation.plot(),
        evaluation.plot("calibration"),
        evaluation.plot("deciles"),
        evaluation.plot("deciles", arm="5"),
        dfcl.evaluate(made.study, {"a": model, "t": made.truth}, made.trial, resamples=40).plot("differences"),
        dfcl.allocate_curve(made.truth, points=9).plot(),
        dfcl.allocate(made.truth, share_of_max=0.2).plot(),
    ):
        axes.figure.canvas.draw()
        assert axes.get_xlabel() and axes.get_ylabel()
    if "policy_leaves" in evaluation.parts:
        assert "per unit" in evaluation.plot("policy").get_title()
    with pytest.raises(dfcl.UsageError, match="kind=: unknown word"):
        evaluation.plot("pie")
    with pytest.raises(dfcl.UsageError, match="model=: no such model"):
        evaluation.plot(model="nobody")


@pytest.mark.parametrize(
    ("function", "options", "others"),
    [
        (dfcl.allocate, types.AllocateOptions, {"predictions", "units", "budget", "per_unit", "share_of_max"}),
        (dfcl.evaluate, types.EvaluateOptions, {"study", "models", "trial", "keywords"}),
    ],
)
def test_options_of_methods_are_those_of_the_functions(function, options, others):
    assert set(options.__annotations__) == set(inspect.signature(function).parameters) - others


def test_the_keywords_of_studies_are_those_of_study():
    expected = set(inspect.signature(dfcl.Study.__init__).parameters) - {"self"}
    assert set(typing.get_type_hints(types.StudyKeywords)) == expected
    for function, keywords in (
        (dfcl.check, types.CheckKeywords),
        (dfcl.train, types.TrainKeywords),
        (dfcl.evaluate, types.EvaluateKeywords),
        (dfcl.compare, types.CompareKeywords),
    ):
        own = {name for name in inspect.signature(function).parameters if name != "keywords"}
        assert set(typing.get_type_hints(keywords)) == expected - own, function


@pytest.mark.parametrize(
    ("choice", "call"),
    [
        ("Rows", lambda made, word: dfcl.evaluate(made.study, made.truth, made.trial, split=word)),
        ("Estimator", lambda made, word: dfcl.evaluate(made.study, made.truth, made.trial, estimator=word)),
        ("Ranking", lambda made, word: dfcl.evaluate(made.study, made.truth, made.trial, ranking=word)),
        ("Intervals", lambda made, word: dfcl.evaluate(made.study, made.truth, made.trial, intervals=word)),
        ("Weights", lambda made, word: dfcl.evaluate(made.study, made.truth, made.trial, weights=word)),
        ("Objective", lambda made, word: dfcl.allocate(made.truth, budget=1, objective=word)),
        ("Rule", lambda made, word: dfcl.allocate(made.truth, budget=1, rule=word)),
        ("Preset", lambda made, word: dfcl.simulate(word)),
        ("Response", lambda made, word: dfcl.simulate(response=word)),
        ("Switch", lambda made, word: dfcl.deploy(made.study, controller=word)),
        ("ReportFormat", lambda made, word: dfcl.power(sd=12, gain=0.2).report(format=word)),
    ],
)
def test_the_words_of_a_type_are_those_of_the_library(made, choice, call):
    with pytest.raises(dfcl.UsageError) as refused:
        call(made, "zzz")
    told = set(re.findall(r"[a-z][a-z-]*", refused.value.expected))
    assert set(typing.get_args(getattr(types, choice))) <= told, refused.value.expected


def test_every_parameter_is_documented():
    methods = [dfcl.Study, dfcl.Study.read, dfcl.Evaluation.plot, dfcl.Prediction.read, dfcl.Plan.diff, dfcl.Model.evaluate]
    functions = [value for value in vars(dfcl).values() if inspect.isfunction(value)]
    for function in functions + methods:
        parameters = set(inspect.signature(function).parameters) - {"self"}
        told = set()
        for line in inspect.cleandoc(function.__doc__ or "").splitlines():  # Python 3.13 takes the indent off
            found = re.match(r"(\*{0,2}[a-z_][a-z_, ]*?)(?: : .*)?$", line)
            told |= {name.strip().lstrip("*") for name in found.group(1).split(",")} if found else set()
        assert parameters <= told, (function.__qualname__, parameters - told)
