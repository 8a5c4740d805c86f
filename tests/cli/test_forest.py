# SPDX-License-Identifier: Apache-2.0
"""train --method tsm-forest and what comes after it, end to end, and its refusals."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import answer, good, matrix

USAGE, FILE = 2, 4


def small(trees=24, leaf=150):
    return ["--method", "tsm-forest", "--trees", trees, "--leaf", leaf, "--seed", 1]


SMALL = small()


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """A trial, its study and a forest. Read only."""
    dfcl = run_in(tmp_path_factory.mktemp("made"))
    simulate = ["simulate", "--preset", "marketing", "--rows", 5000, "--seed", 1]
    good(dfcl(*simulate, "-o", "trial.parquet", "--study", "study.toml"))
    good(dfcl("train", "study.toml", *SMALL, "--threads", 1, "-o", "forest.safetensors"))
    return dfcl.folder


def test_a_forest_predicts_every_arm_and_keeps_what_is_known_about_costs(dfcl, made, tmp_path):
    good(dfcl("predict", made / "forest.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    revenue, cost = matrix(tmp_path / "p.parquet", "revenue"), matrix(tmp_path / "p.parquet", "cost")
    assert np.isfinite(revenue).all() and (revenue >= 0).all()
    assert (cost[:, 0] == 0).all()
    assert (np.diff(cost, axis=1) >= 0).all()
    good(dfcl("allocate", "p.parquet", "--per-unit", 0.3, "-o", "plan.parquet"))
    good(dfcl("allocate", made / "forest.safetensors", made / "trial.parquet", "--per-unit", 0.3, "-o", "plan2.parquet"))
    assert pq.read_table(tmp_path / "plan.parquet")["arm"] == pq.read_table(tmp_path / "plan2.parquet")["arm"]


def test_the_same_bytes_on_two_threads(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", *SMALL, "--threads", 2, "-o", "again.safetensors"))
    assert (tmp_path / "again.safetensors").read_bytes() == (made / "forest.safetensors").read_bytes()


def test_honesty_is_a_switch_that_info_shows(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", *SMALL, "--set", "forest.honest=false", "-o", "all.safetensors"))
    options = answer(dfcl("info", "all.safetensors", "--json"))["options"]
    assert options["honest"] == "false"
    usual = answer(dfcl("info", made / "forest.safetensors", "--json"))
    assert usual["options"]["honest"] == "true"
    assert (tmp_path / "all.safetensors").read_bytes() != (made / "forest.safetensors").read_bytes()


def test_the_base_of_a_forest_is_boosted_and_networks_are_none_of_its_business(dfcl, made):
    assert "boost" in good(dfcl("info", made / "forest.safetensors")).stdout
    warned = dfcl("train", made / "study.toml", *SMALL, "--set", "boost.trees=20", "-o", "other.safetensors")
    assert "changes nothing" not in good(warned).stderr
    assert (dfcl.folder / "other.safetensors").read_bytes() != (made / "forest.safetensors").read_bytes()


def test_monotone_revenue_rises_with_the_arm(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", *SMALL, "--monotone", "revenue", "-o", "rising.safetensors"))
    good(dfcl("predict", "rising.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    assert (np.diff(matrix(tmp_path / "p.parquet", "revenue"), axis=1) >= 0).all()


def test_uncertainty_is_written_beside_the_predictions(dfcl, made, tmp_path):
    arguments = [made / "forest.safetensors", made / "trial.parquet", "-o", "p.parquet"]
    good(dfcl("predict", *arguments, "--uncertainty", "e.parquet"))
    for outcome in ["revenue", "cost"]:
        errors = matrix(tmp_path / "e.parquet", outcome)
        assert (errors[:, 0] == 0).all()
        assert (errors[:, 1:] > 0).all() and np.isfinite(errors).all()
    refused = dfcl("predict", *arguments, "--uncertainty", "p.parquet")
    assert refused.code == USAGE and "--uncertainty" in refused.stderr


def test_out_of_bag_predictions_of_the_training_units(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", *SMALL, "-o", "m.safetensors", "--out-of-bag", "oob.parquet"))
    assert (tmp_path / "m.safetensors").read_bytes() == (made / "forest.safetensors").read_bytes()
    found = pq.read_table(tmp_path / "oob.parquet")
    units = answer(dfcl("info", "m.safetensors", "--json"))["trained_on"]["units"]
    assert found.num_rows == units
    good(dfcl("predict", "m.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    place = {unit: i for i, unit in enumerate(pq.read_table(tmp_path / "p.parquet")["id"].to_pylist())}
    rows = [place[unit] for unit in found["id"].to_pylist()]
    own, other = matrix(tmp_path / "p.parquet", "revenue")[rows], matrix(tmp_path / "oob.parquet", "revenue")
    assert not np.array_equal(own, other)
    assert np.corrcoef(own.ravel(), other.ravel())[0, 1] > 0.8
    refused = dfcl("train", made / "study.toml", "--method", "tsm", "-o", "t.safetensors", "--out-of-bag", "o.parquet")
    assert refused.code == USAGE and "--out-of-bag" in refused.stderr


def test_only_a_forest_of_enough_trees_knows_its_uncertainty(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", "--method", "tsm", "--epochs", 1, "-o", "tsm.safetensors"))
    good(dfcl("train", made / "study.toml", *small(trees=4), "-o", "few.safetensors"))
    for model, word in [("tsm.safetensors", "forest"), ("few.safetensors", "4 trees")]:
        refused = dfcl("predict", model, made / "trial.parquet", "-o", "p.parquet", "--uncertainty", "e.parquet")
        assert refused.code == USAGE and word in refused.stderr
        assert not (tmp_path / "p.parquet").exists()


def test_info_shows_by_which_features_effects_differ(dfcl, made):
    text = good(dfcl("info", made / "forest.safetensors")).stdout
    assert "24 trees" in text and "Features that decide" in text
    forest = answer(dfcl("info", made / "forest.safetensors", "--json"))["forest"]
    assert forest["trees"] == 24 and forest["revenue_link"] == "ratio"
    assert abs(sum(forest["importance"].values()) - 1.0) < 1e-3


def test_the_report_shows_them_too(dfcl, made, tmp_path):
    evaluate = ["evaluate", made / "study.toml", made / "forest.safetensors", "--resamples", 20, "-o", "results.json"]
    good(dfcl(*evaluate))
    importance = json.loads((tmp_path / "results.json").read_text())["models"][0]["importance"]
    shown = answer(dfcl("info", made / "forest.safetensors", "--json"))["feature_importance"]
    assert importance[0] == {"feature": next(iter(shown)), "share": pytest.approx(next(iter(shown.values())), abs=1e-6)}
    assert [one["share"] for one in importance] == sorted((one["share"] for one in importance), reverse=True)
    good(dfcl("report", "results.json", "-o", "report.html"))
    assert importance[0]["feature"] in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (small(trees=0), ["trees", "found 0"]),
        (small(leaf=100000), ["leaf", "100000", "units that a tree sees"]),
        ([*SMALL, "--depth", 0], ["depth"]),
        ([*SMALL, "--set", "forest.subsample=0.8"], ["subsample", "0.8"]),
        ([*SMALL, "--set", "forest.min_leaf_per_arm=0"], ["min_leaf_per_arm"]),
        ([*SMALL, "--set", "forest.tree=9"], ["did you mean 'trees'"]),
    ],
)
def test_wrong_options_are_named(dfcl, made, tmp_path, arguments, words):
    refused = dfcl("train", made / "study.toml", *arguments, "-o", "m.safetensors")
    assert refused.code == USAGE
    for word in words:
        assert word in refused.stderr
    assert not (tmp_path / "m.safetensors").exists()


def test_a_forest_does_not_start_from_a_model(dfcl, made):
    refused = dfcl(
        "train", made / "study.toml", *SMALL, "--start-from", made / "forest.safetensors", "-o", "m.safetensors"
    )
    assert refused.code == USAGE


def test_a_cut_file_is_refused(dfcl, made, tmp_path):
    data = (made / "forest.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(data[: len(data) // 2])
    assert dfcl("predict", "cut.safetensors", made / "trial.parquet", "-o", "p.parquet").code == FILE
