# SPDX-License-Identifier: Apache-2.0
"""train --method tsm-boost and what comes after it, end to end, and its refusals."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import answer, good, matrix

FILE = 4
SMALL = ["--method", "tsm-boost", "--set", "boost.trees=40", "--set", "boost.learning_rate=0.2", "--seed", 1]


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """A trial, its study and boosted trees. Read only."""
    dfcl = run_in(tmp_path_factory.mktemp("made"))
    simulate = ["simulate", "--preset", "marketing", "--rows", 5000, "--seed", 1]
    good(dfcl(*simulate, "-o", "trial.parquet", "--study", "study.toml"))
    good(dfcl("train", "study.toml", *SMALL, "--threads", 1, "--log", "log.jsonl", "-o", "boost.safetensors"))
    return dfcl.folder


def test_boosted_trees_predict_every_arm_and_keep_what_is_known_about_costs(dfcl, made, tmp_path):
    good(dfcl("predict", made / "boost.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    revenue, cost = matrix(tmp_path / "p.parquet", "revenue"), matrix(tmp_path / "p.parquet", "cost")
    assert np.isfinite(revenue).all() and (revenue >= 0).all()
    assert (cost[:, 0] == 0).all() and (np.diff(cost, axis=1) >= 0).all()
    seen = pq.read_table(made / "trial.parquet")["orders"].to_numpy()
    assert np.corrcoef(revenue.mean(axis=1), seen)[0, 1] > 0.5
    good(dfcl("allocate", "p.parquet", "--per-unit", 0.3, "-o", "plan.parquet"))
    good(dfcl("allocate", made / "boost.safetensors", made / "trial.parquet", "--per-unit", 0.3, "-o", "plan2.parquet"))
    assert pq.read_table(tmp_path / "plan.parquet")["arm"] == pq.read_table(tmp_path / "plan2.parquet")["arm"]


@pytest.mark.parametrize("threads", [2, 8])
def test_the_same_bytes_on_any_number_of_threads(dfcl, made, tmp_path, threads):
    good(dfcl("train", made / "study.toml", *SMALL, "--threads", threads, "-o", "again.safetensors"))
    assert (tmp_path / "again.safetensors").read_bytes() == (made / "boost.safetensors").read_bytes()


def test_monotone_revenue_rises_with_the_arm(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", *SMALL, "--monotone", "revenue", "-o", "rising.safetensors"))
    good(dfcl("predict", "rising.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    assert (np.diff(matrix(tmp_path / "p.parquet", "revenue"), axis=1) >= 0).all()


def test_info_says_how_many_trees_there_are_and_which_features_matter(dfcl, made):
    told = " ".join(good(dfcl("info", made / "boost.safetensors")).stdout.split())
    assert "trees, Poisson deviance, log link" in told
    facts = answer(dfcl("info", made / "boost.safetensors", "--json"))["boost"]
    assert facts["trees"] == sum(facts["revenue_trees"]) + sum(facts["cost_trees"]) > 0
    assert abs(sum(facts["importance"].values()) - 1) < 1e-4
    record = [json.loads(line) for line in (made / "log.jsonl").read_text().splitlines()]
    assert record and all(line["validation_loss"] is not None for line in record)


def test_keys_of_boost_change_the_model_and_are_remarked_on_elsewhere(dfcl, made, tmp_path):
    good(dfcl("train", made / "study.toml", *SMALL, "--set", "boost.leaves=5", "-o", "small.safetensors"))
    assert (tmp_path / "small.safetensors").stat().st_size < (made / "boost.safetensors").stat().st_size
    arguments = ["--method", "tsm", "--epochs", 1, "--set", "boost.leaves=5"]
    result = good(dfcl("train", made / "study.toml", *arguments, "-o", "other.safetensors"))
    assert "boost.leaves changes nothing with --method tsm" in result.stderr


def test_what_boosted_trees_cannot_do_is_said(dfcl, made):
    arguments = [made / "boost.safetensors", made / "trial.parquet", "-o", "p.parquet", "--uncertainty", "u.parquet"]
    assert "does not know how uncertain" in dfcl("predict", *arguments).stderr


def test_a_cut_or_changed_file_is_refused(dfcl, made, tmp_path):
    content = (made / "boost.safetensors").read_bytes()
    for spoiled in (content[: len(content) // 2], content[:-1] + bytes([content[-1] ^ 1])):
        (tmp_path / "bad.safetensors").write_bytes(spoiled)
        assert dfcl("info", "bad.safetensors").code == FILE
