# SPDX-License-Identifier: Apache-2.0
"""Every verb with one wrong value for each argument: refused, with the argument named (tests/wrong_values.py)."""

import inspect
import sys
from pathlib import Path

import pytest

import dfcl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from wrong_values import NONE, ROWS  # noqa: E402

# A page that is served is the program's alone: it does not return.
VERBS = {name: getattr(dfcl, "export_onnx" if name == "export" else name) for name in ROWS if name != "serve"}


@pytest.fixture(scope="module")
def working(made, model, tmp_path_factory):
    """Arguments with which each verb works, in a folder of files."""
    folder = tmp_path_factory.mktemp("arguments")
    plan = dfcl.allocate(made.truth, share_of_max=0.2, holdout=0.2)
    evaluated = dfcl.evaluate(made.study, made.truth, made.trial, resamples=0)
    evaluated.write(folder / "results.json")
    made.trial.write(folder / "trial.parquet")
    outcomes = dfcl.simulate_outcomes(plan, "marketing", rows=6000, seed=1)
    study = {"study": made.study, "trial": made.trial}
    return folder, {
        "init": {"trial": made.trial},
        "simulate": {"preset": "marketing", "rows": 100},
        "check": study,
        "train": {**study, "method": "tsm", "epochs": 1},
        "predict": {"model": model, "units": made.trial},
        "allocate": {"predictions": made.truth, "budget": 100},
        "evaluate": {**study, "models": made.truth, "resamples": 0},
        "report": {"results": folder / "results.json"},
        "compare": {**study, "methods": ["tsm", "dfcl-mer"]},
        "deploy": {"study": made.study, "units": 200, "days": 1, "methods": ["tsm"]},
        "readout": {"plan": plan, "outcomes": outcomes},
        "power": study,
        "info": {"file": made.trial},
        "export": {"model": model},
    }


CASES = [(verb, argument) for verb, rows in ROWS.items() for argument, wrong in rows.items() if wrong.python is not NONE]


@pytest.mark.parametrize(("verb", "argument"), CASES)
def test_a_wrong_value_is_refused_by_name(working, monkeypatch, verb, argument):
    folder, arguments = working
    monkeypatch.chdir(folder)
    wrong = ROWS[verb][argument]
    before = set(folder.iterdir())
    with pytest.raises(dfcl.Error) as refused:
        VERBS[verb](**{**arguments[verb], **(wrong.with_arguments or {}), argument: wrong.python})
    error = refused.value
    assert error.exit_code in (2, 3, 4)
    message = str(error)
    value = next(iter(wrong.python)) if isinstance(wrong.python, dict) else str(wrong.python)
    assert f"{argument}=" in message or f"<{argument}>" in message or value in message, message
    assert set(folder.iterdir()) == before


def test_every_argument_has_a_row():
    for verb, function in VERBS.items():
        parameters = {
            name for name, one in inspect.signature(function).parameters.items() if one.kind is not one.VAR_KEYWORD
        }
        assert parameters == {name for name, wrong in ROWS[verb].items() if wrong.python is not NONE}, verb


def test_every_verb_of_the_package_is_looked_at():
    others = {"adapt", "allocate_curve", "allocate_many", "simulate_outcomes", "methods", "export_onnx"}
    functions = {name for name in dfcl.__all__ if inspect.isfunction(getattr(dfcl, name))}
    assert functions - others == set(ROWS) - {"export", "serve"}  # a page is served by the program


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda made: dfcl.allocate(made.truth, budget=100, objective="Profit"), "objective"),
        (lambda made: dfcl.allocate(made.truth, budget="100"), "budget"),
        (lambda made: dfcl.allocate(made.truth, budget=["100"]), "budget"),
        (lambda made: dfcl.allocate(made.truth, budget=[]), "budget"),
        (lambda made: dfcl.allocate(made.truth, budget=True), "budget"),
        (lambda made: dfcl.evaluate(made.study, made.truth, made.trial, split="tests"), "split"),
        (lambda made: dfcl.evaluate(made.study, made.truth, made.trial, ranking="publishd"), "ranking"),
        (lambda made: dfcl.evaluate(made.study, made.truth, made.trial, estimator="dr"), "estimator"),
        (lambda made: dfcl.evaluate(made.study, made.truth, made.trial, resamples=2.5), "resamples"),
        (lambda made: dfcl.allocate_curve(made.truth, points=1), "curve"),
        (lambda made: dfcl.simulate_outcomes(made.trial, preset="criteoo"), "preset"),
    ],
)
def test_words_and_types_of_0_1_are_no_longer_taken_for_something_else(made, call, argument):
    with pytest.raises(dfcl.UsageError) as refused:
        call(made)
    assert refused.value.field == argument and argument in str(refused.value)


def test_a_report_of_an_unknown_format_is_refused(made):
    result = dfcl.evaluate(made.study, made.truth, made.trial, resamples=0)
    with pytest.raises(dfcl.UsageError, match="format=.*'pdf'.*html, md, text"):
        result.report(format="pdf")


def test_segment_budgets_beside_a_model_or_a_prediction_are_not_dropped(made, model):
    units = made.trial.to_pandas()
    units["region"] = ["north" if unit % 2 else "south" for unit in range(len(units))]
    prediction = dfcl.predict(model, units)
    budgets = {"north": 300.0, "south": 300.0}
    for predictions, table in ((model, units), (prediction, units.rename(columns={"shop_id": "id"}))):
        plan = dfcl.allocate(predictions, table, segment="region", segment_budgets=budgets)
        assert set(plan["segments"]) == {"north", "south"}
        assert all(segment["spend"] <= 300.0 + 1e-6 for segment in plan["segments"].values())
    with pytest.raises(dfcl.UsageError, match="segment="):
        dfcl.allocate(prediction, segment="region", segment_budgets=budgets)
