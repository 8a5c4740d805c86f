# SPDX-License-Identifier: Apache-2.0
"""Budgets are what is spent above everyone in control, from the study to plans and results."""

import json
import re

import pyarrow.parquet as pq
import pytest
from conftest import answer


@pytest.fixture(scope="module")
def costly(run_in, tmp_path_factory):
    """A trial whose control costs something, and its model."""
    program = run_in(tmp_path_factory.mktemp("costly"))
    made = program(
        "simulate", "--preset", "criteo", "--rows", "40000", "--seed", "3", "-o", "trial.parquet", "--study", "study.toml",
        "--truth", "truth.parquet",
    )
    assert made.code == 0, made.stderr
    train = program("train", "study.toml", "--method", "tsm", "--epochs", "2", "-o", "model.safetensors")
    assert train.code == 0, train.stderr
    return program


def old_study(program, budgets):
    text = (program.folder / "study.toml").read_text().replace("format = 2\n", "")
    text = re.sub(r"share_of_max = \[.*?\]", budgets, text)
    path = program.folder / "old.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "verb",
    [
        ("train", "old.toml", "--method", "tsm", "--epochs", "1", "-o", "old.safetensors"),
        ("evaluate", "old.toml", "truth.parquet", "--resamples", "0"),
        ("compare", "old.toml", "--methods", "tsm,dfcl-mer", "-o", "compared"),
    ],
)
def test_a_study_of_version_01_with_a_costly_control_is_refused_with_both_ways_to_mend_it(costly, verb):
    old_study(costly, "share_of_max = [0.9]")
    result = costly(*verb)
    assert result.code == 2, result.stderr
    assert "format = 2" in result.stderr and "include_control = true" in result.stderr
    assert re.search(r"share_of_max = \[0\.\d+\]", result.stderr), "what the same budget is called now"


def test_both_ways_work(costly):
    old_study(costly, "per_unit = [0.045]")
    flags = ("--method", "tsm", "--epochs", "1", "--json", "-o", "old.safetensors")
    mended = costly("train", "old.toml", "--include-control", *flags)
    assert mended.code == 0, mended.stderr
    (price,) = json.loads(mended.stdout)["multipliers"]
    assert price["budget_per_unit"] == 0.045 and price["budget_basis"] == "total"
    mended = costly("train", "old.toml", "--set", "format=2", "--set", "budgets.per_unit=[0.005]", *flags)
    assert mended.code == 0, mended.stderr
    (price,) = json.loads(mended.stdout)["multipliers"]
    assert price["budget_per_unit"] == 0.005 and price["budget_basis"] == "incremental"


def evaluated(program, *flags):
    return answer(program("evaluate", "study.toml", "model.safetensors", "--truth", "truth.parquet", "--resamples", "0", "--json", *flags))


def test_evaluate_compares_budgets_with_the_cost_above_control(costly):
    results = evaluated(costly, "--per-unit", "0.004")
    assert results["budget_basis"] == "incremental"
    (plan,) = results["models"][0]["deployed"]
    control = results["control"]["cost"]["value"]
    assert plan["budget_per_unit"] == 0.004
    assert plan["feasible"] and plan["predicted_cost"] > 0.03, "the whole cost, control's included"
    whole = evaluated(costly, "--per-unit", str(0.004 + control), "--include-control")
    assert whole["budget_basis"] == "total"
    (same,) = whole["models"][0]["matched"]
    (matched,) = results["models"][0]["matched"]
    assert matched["cost"]["value"] == pytest.approx(same["cost"]["value"], rel=1e-3)
    assert matched["cost"]["value"] - control <= 0.004 + 1e-9


def test_share_of_max_is_the_same_share_of_the_way_everywhere(costly):
    share = 0.3
    results = evaluated(costly, "--share-of-max", str(share))
    of_evaluate = results["budgets"][0]["per_unit"]
    flags = ("--method", "tsm", "--epochs", "1", "--json", "-o", "shares.safetensors")
    trained = costly("train", "study.toml", "--set", f"budgets.share_of_max=[{share}]", *flags)
    assert trained.code == 0, trained.stderr
    assert json.loads(trained.stdout)["multipliers"][0]["budget_per_unit"] == pytest.approx(of_evaluate, rel=1e-12)
    plan = json.loads(costly("allocate", "truth.parquet", "--share-of-max", str(share), "--json").stdout)
    truth = pq.read_table(costly.folder / "truth.parquet")
    control = truth["cost_0"].to_numpy().astype(float).sum()
    above = truth["cost_1"].to_numpy().astype(float).sum() - control
    assert plan["budget"] == pytest.approx(share * above, rel=1e-4)
    assert plan["budget_basis"] == "incremental"
    assert plan["spend"] == pytest.approx(control + share * above, rel=1e-3)


def test_allocate_spends_the_budget_above_control_in_memory_and_streamed(costly):
    figures = {}
    for flags in ((), ("--stream",), ("--include-control",)):
        done = costly("allocate", "truth.parquet", "--budget", "100", "--json", *flags)
        figures[flags] = (done.code, json.loads(done.stdout))
    code, plan = figures[()]
    assert code == 0 and plan["status"] != "infeasible"
    assert plan["spend"] > 1000, "control's cost is spent too"
    assert figures[("--stream",)][1]["spend"] == pytest.approx(plan["spend"])
    code, whole = figures[("--include-control",)]
    assert code == 6, "100 in all is less than control costs"
    assert whole["budget_basis"] == "total"


def test_with_a_free_control_a_study_of_version_01_behaves_as_before(dfcl, tmp_path):
    assert dfcl("simulate", "--preset", "marketing", "--rows", "4000", "--seed", "1", "-o", "trial.parquet", "--study", "study.toml").code == 0
    models = []
    for name in ("new", "old"):
        if name == "old":
            text = (tmp_path / "study.toml").read_text()
            (tmp_path / "study.toml").write_text(text.replace("format = 2\n", ""))
        done = dfcl("train", "study.toml", "--method", "tsm", "--epochs", "1", "--json", "-o", f"{name}.safetensors")
        assert done.code == 0, done.stderr
        models.append([(price["budget_per_unit"], price["multiplier"]) for price in json.loads(done.stdout)["multipliers"]])
    assert models[0] == models[1]


def test_budgets_of_segments_are_above_control_too(dfcl, tmp_path):
    rows = "\n".join(f"{i},{'a' if i < 50 else 'b'},1,0.5,{2 + i / 100},1.5" for i in range(100))
    (tmp_path / "predictions.csv").write_text(f"id,part,revenue_0,cost_0,revenue_1,cost_1\n{rows}\n")
    (tmp_path / "parts.csv").write_text("segment,budget\na,10\nb,20\n")
    flags = ("--segment", "part", "--segment-budgets", "parts.csv", "--control", "0", "--json")
    done = dfcl("allocate", "predictions.csv", *flags)
    assert done.code == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["units_per_arm"]["1"] == 30 and plan["spend"] == pytest.approx(100 * 0.5 + 30)
    assert dfcl("allocate", "predictions.csv", *flags, "--include-control").code == 6


def test_readout_counts_what_control_costs_into_the_budget(dfcl, tmp_path):
    rows = "\n".join(f"{i},1,0.5,{2 + i / 1000},1.5" for i in range(1000))
    (tmp_path / "predictions.csv").write_text(f"id,revenue_0,cost_0,revenue_1,cost_1\n{rows}\n")
    made = dfcl("allocate", "predictions.csv", "--budget", "200", "--control", "0", "--holdout", "0.2", "-o", "plan.parquet")
    assert made.code == 0, made.stderr
    plan = pq.read_table(tmp_path / "plan.parquet", columns=["id", "role", "arm", "revenue", "cost"])
    pq.write_table(plan, tmp_path / "outcomes.parquet")
    done = dfcl("readout", "plan.parquet", "outcomes.parquet", "--json")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["readout"]["budget"] == pytest.approx(1000 * 0.5 + 200)
