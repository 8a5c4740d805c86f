# SPDX-License-Identifier: Apache-2.0
"""Evaluation of rows that are elsewhere, without a cluster: any cut of the rows gives the same bytes, and what one machine says."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from test_parts import deal

import dfcl
from dfcl import _dfcl
from dfcl.spark.evaluate import _Judged, merge_found
from dfcl.spark.executor import memory_table

SEED = 22
pytestmark = pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
COLUMNS = ["shop_id", "city", "orders_30d", "sales_30d", "views_30d", "avg_basket", "discount", "orders", "subsidy"]
ONE_THREAD = _dfcl.Run(threads=1, seed=0)


@pytest.fixture(scope="module")
def made():
    """A trial, its study, and two models."""
    simulated = dfcl.simulate("marketing", rows=6000, seed=3)
    trial = pa.table(simulated.trial).replace_schema_metadata(None).select(COLUMNS)
    study = simulated.study.set({"budgets.share_of_max": [0.3, 0.1], "method.name": "tsm-boost", "boost.bags": 1})
    models = {f"{trees} trees": dfcl.train(study, trial, settings={"boost.trees": trees}, seed=1, progress=False) for trees in (3, 20)}
    return trial, study, models


def evaluate_in_parts(parts, trial, study, models, nuisance=None, **options):
    """As dfcl.spark does it, in this process."""
    blocks = []

    def judge(arms, own):
        bytes_of = [(model._native.fingerprint, model.to_bytes()) for model in models.values()]
        given = None if own is None else (own.fingerprint, own.to_bytes())
        asked = _Judged(study.__reduce__()[1], bytes_of, given, arms, 0)
        facts = []
        for part in parts:
            if len(part) == 0:
                continue
            held = memory_table(part, "trial")
            block, fact = _dfcl.judge_part(asked.request(held), arms, ONE_THREAD)
            facts.append(fact)
            if block:
                blocks.append(block)
        return facts

    def find(task):
        found = []
        for block in blocks:
            part = _dfcl.JudgePart(task)
            part.add(block, ONE_THREAD)
            found.append(part.to_bytes())
        merged = merge_found(task, found)
        assert merge_found(task, found[::-1]) == merged
        return merged

    request = _dfcl.EvaluateRequest()
    held = memory_table(trial, "trial")
    request.set("study", study._native)
    request.set("trial", held.path)
    request.set("models", [_dfcl.ModelInput.of_model(model._native, name) for name, model in models.items()])
    if nuisance is not None:
        request.set("nuisance", _dfcl.ModelInput.of_model(nuisance._native, "nuisance"))
    for name, value in options.items():
        request.set(name, value)
    return dfcl.Evaluation(*_dfcl.evaluate_elsewhere(request, judge, find, _dfcl.Run(threads=1, seed=0)))


def assert_near(a, b, where=""):
    """The same figures but for what rounding leaves, wherever both have one."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_near(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)):
            assert_near(x, y, f"{where}[{i}]")
    elif isinstance(a, float) or isinstance(b, float):
        assert (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-9), f"{where}: {a} and {b}"
    else:
        assert a == b, where


# What an evaluation from sums says, of what dfcl.evaluate says.
def said(evaluation):
    figures = json.loads(json.dumps(evaluation.figures))
    plans = [[{k: v for k, v in plan.items() if not k.startswith("hajek")} for plan in model["deployed"]] for model in figures["models"]]
    baselines = [{k: v for k, v in one.items() if k != "curve"} for one in figures["baselines"]]
    return {"plans": plans, "baselines": baselines, **{key: figures[key] for key in ("differences", "baseline_differences", "verdict")}}


@pytest.mark.parametrize("estimator", ["hajek", "doubly-robust", "horvitz-thompson"])
def test_any_cut_of_the_rows_gives_the_same_bytes_and_what_one_machine_says(made, estimator):
    trial, study, models = made
    random = np.random.default_rng(SEED)
    options = {"estimator": estimator, "resamples": 30}
    whole = evaluate_in_parts([trial], trial, study, models, **options)
    for parts in (3, 17):
        cut = evaluate_in_parts(deal(trial, parts, random), trial, study, models, **options)
        assert json.dumps(cut.figures) == json.dumps(whole.figures), f"seed {SEED}, {parts} parts"
    assert_near(said(whole), said(dfcl.evaluate(study, models, trial, progress=False, **options)))
    assert "is left out: matched plans" in " ".join(whole.figures["how"])
    assert "At the budgets of the study" in whole.full


def test_a_nuisance_that_is_given_is_used(made):
    trial, study, models = made
    options = {"estimator": "doubly-robust", "resamples": 20}
    own = models["3 trees"]
    there = evaluate_in_parts([trial], trial, study, models, nuisance=own, **options)
    here = dfcl.evaluate(study, models, trial, nuisance=own, progress=False, **options)
    assert_near(said(there)["plans"], said(here)["plans"])


def test_what_needs_all_rows_is_refused_with_a_sentence(made):
    trial, study, models = made
    for settings, word in (({"columns.cluster": "city"}, "cluster"), ({"columns.winsorize": {"revenue": 0.99}}, "winsorize"), ({"split.by": "time"}, "time")):
        with pytest.raises(dfcl.UsageError, match=word):
            evaluate_in_parts([trial], trial, study.set(settings), models)
    for name, value in (("split", "train"), ("intervals", "analytic"), ("weights", "multinomial"), ("estimator", "stratified")):
        with pytest.raises(dfcl.UsageError, match=name):
            evaluate_in_parts([trial], trial, study, models, **{name: value})
