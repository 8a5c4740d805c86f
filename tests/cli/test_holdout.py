# SPDX-License-Identifier: Apache-2.0
"""Plans with a hold-out, exploration and an earlier plan to compare with."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

ARMS = ["0", "5", "10"]


def write_predictions(path, seed=1, units=6000, text_ids=False, eligible=False):
    rng = np.random.default_rng(seed)
    base = rng.gamma(2.0, 5.0, units)
    columns = {"id": [f"u{i}" for i in range(units)] if text_ids else np.arange(units)}
    for j, arm in enumerate(ARMS):
        columns[f"revenue_{arm}"] = (base * (1 + 0.1 * j * rng.random(units))).astype(np.float32)
    for j, arm in enumerate(ARMS):
        columns[f"cost_{arm}"] = (0.05 * j * base + (0.1 if j == 0 else 0.0)).astype(np.float32)
    if eligible:
        columns["eligible_10"] = rng.integers(0, 2, units).astype(np.float32)
    pq.write_table(pa.table(columns), path, row_group_size=1700)
    return columns


def plan(dfcl, *flags, source="p.parquet", output="plan.parquet", code=0):
    result = dfcl("allocate", source, *flags, "--include-control", "-o", output, "--json")
    assert result.code == code, result.stderr
    return json.loads(result.stdout or result.stderr)


def read(path):
    return pq.read_table(path).to_pydict()


def test_the_plan_gains_roles_and_propensities_and_keeps_to_the_budget(dfcl, tmp_path):
    predictions = write_predictions(tmp_path / "p.parquet")
    summary = plan(dfcl, "--budget", "1500", "--holdout", "0.1", "--explore", "0.05", "--seed", "3")
    rows = read(tmp_path / "plan.parquet")
    assert list(rows) == ["id", "arm", "revenue", "cost", "role", "propensity", "control_revenue", "control_cost"]
    role, arm = np.array(rows["role"]), np.array(rows["arm"])
    assert set(role) == {"plan", "holdout", "explore"}
    assert (arm[role == "holdout"] == "0").all()
    assert abs((role == "holdout").mean() - 0.1) < 0.015 and abs((role == "explore").mean() - 0.05) < 0.012
    shares = [np.mean(arm[role == "explore"] == label) for label in ARMS]
    assert min(shares) > 0.22, "each arm is drawn with equal chance"
    # The whole, hold-out and explored units included, stays within the budget and uses it up.
    assert math.fsum(rows["cost"]) == summary["spend"] <= 1500
    assert summary["spend"] > 1490
    total = sum(part["spend"] for part in summary["roles"].values())
    assert total == pytest.approx(summary["spend"], rel=1e-9)
    assert summary["roles"]["holdout"]["units"] == int((role == "holdout").sum())
    assert summary["roles"]["holdout"]["spend"] == pytest.approx(0.1 * (role == "holdout").sum(), rel=1e-6), "control's cost"
    assert (summary["holdout"], summary["explore"]) == (0.1, 0.05)
    # Propensities: control may come from all three roles, the planned arm from two, any other from one.
    propensity = np.array(rows["propensity"])
    planned_control = (role == "plan") & (arm == "0")
    assert np.allclose(propensity[planned_control], 0.85 + 0.1 + 0.05 / 3)
    assert np.allclose(propensity[(role == "plan") & (arm != "0")], 0.85 + 0.05 / 3)
    assert set(np.round(propensity[role == "holdout"], 5)) <= {round(0.1 + 0.05 / 3, 5), round(0.95 + 0.05 / 3, 5)}
    assert np.allclose(rows["control_revenue"], predictions["revenue_0"])
    # Seen as a trial, the propensities sum to about one a unit: the mean of 1 / propensity is the number of arms met.
    assert np.mean(1.0 / propensity) == pytest.approx(len(ARMS), rel=0.15)


@pytest.mark.parametrize("text_ids", [False, True])
@pytest.mark.parametrize("eligible", [False, True])
def test_streamed_and_in_memory_are_the_same_bytes_on_any_threads(dfcl, tmp_path, text_ids, eligible):
    write_predictions(tmp_path / "p.parquet", text_ids=text_ids, eligible=eligible)
    write_predictions(tmp_path / "old.parquet", seed=2, text_ids=text_ids)
    plan(dfcl, "--budget", "900", "--holdout", "0.05", source="old.parquet", output="old_plan.parquet")
    flags = ["--budget", "1200", "--holdout", "0.05", "--explore", "0.03", "--previous", "old_plan.parquet"]
    summaries, plans = [], []
    for more in (["--threads", "1"], ["--threads", "8"], ["--stream"], ["--stream", "--threads", "8"]):
        summaries.append({**plan(dfcl, *flags, *more), "seconds": 0})
        plans.append((tmp_path / "plan.parquet").read_bytes())
    assert all(summary == summaries[0] for summary in summaries)
    assert all(bytes_ == plans[0] for bytes_ in plans)
    if eligible:
        rows = read(tmp_path / "plan.parquet")
        closed = {i for i, e in zip(rows["id"], read(tmp_path / "p.parquet")["eligible_10"]) if e == 0}
        assert not any(arm == "10" for i, arm in zip(rows["id"], rows["arm"]) if i in closed)


def test_the_hold_out_is_the_same_from_day_to_day(dfcl, tmp_path):
    write_predictions(tmp_path / "p.parquet", seed=1)
    write_predictions(tmp_path / "q.parquet", seed=9)
    flags = ["--budget", "1000", "--holdout", "0.05", "--explore", "0.05"]
    plan(dfcl, *flags, "--seed", "1", output="monday.parquet")
    today = plan(dfcl, *flags, "--seed", "2", "--previous", "monday.parquet", source="q.parquet", output="tuesday.parquet")
    monday, tuesday = read(tmp_path / "monday.parquet"), read(tmp_path / "tuesday.parquet")
    held = [[i for i, role in zip(day["id"], day["role"]) if role == "holdout"] for day in (monday, tuesday)]
    assert held[0] == held[1] and len(held[0]) > 200
    explored = [{i for i, role in zip(day["id"], day["role"]) if role == "explore"} for day in (monday, tuesday)]
    assert len(explored[0] & explored[1]) < 0.2 * len(explored[0])
    assert today["previous"]["holdout_changed"] == 0
    salted = plan(dfcl, *flags, "--holdout-salt", "spring", "--previous", "monday.parquet", output="salted.parquet")
    assert salted["previous"]["holdout_changed"] > 300


def test_previous_tells_what_changed(dfcl, tmp_path):
    write_predictions(tmp_path / "p.parquet")
    plan(dfcl, "--budget", "800", output="before.csv")
    summary = plan(dfcl, "--budget", "1600", "--include-control", "--previous", "before.csv")
    change = summary["previous"]
    before = pa.csv.read_csv(tmp_path / "before.csv").to_pydict()
    now = read(tmp_path / "plan.parquet")
    moved = sum(str(a) != b for a, b in zip(before["arm"], now["arm"]))
    assert change["units_moved"] == moved > 0
    assert sum(move["units"] for move in change["moves"]) == moved
    assert (change["units_in_both"], change["units_new"], change["units_gone"]) == (6000, 0, 0)
    assert change["holdout_changed"] is None
    assert change["spend_now"] == pytest.approx(summary["spend"]) and change["spend_before"] == pytest.approx(math.fsum(before["cost"]), rel=1e-6)
    for arm in ARMS:
        assert change["arms"][arm]["now"]["units"] == summary["units_per_arm"][arm]
    text = dfcl("allocate", "p.parquet", "--budget", "1600", "--include-control", "--previous", "before.csv").stdout
    assert "moved to another arm" in text


def test_limits_and_segments_work_with_roles(dfcl, tmp_path):
    write_predictions(tmp_path / "p.parquet")
    summary = plan(dfcl, "--budget", "1500", "--holdout", "0.1", "--explore", "0.05", "--max-units", "10=1000")
    assert summary["units_per_arm"]["10"] <= 1000 and summary["spend"] <= 1500
    assert summary["spend_elasticity"] is None
    propensity = read(tmp_path / "plan.parquet")["propensity"]
    assert 0 < min(propensity) and max(propensity) <= 1


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--holdout", "1.5"], ["--holdout", "1.5", "0 to below 1"]),
        (["--holdout", "-0.1"], ["--holdout"]),
        (["--holdout", "0.7", "--explore", "0.5"], ["nobody is left for the plan"]),
        (["--holdout-salt", "x"], ["--holdout-salt"]),
        (["--previous", "none.parquet"], ["none.parquet"]),
        (["--previous", "p.parquet"], ["p.parquet", "no column 'arm'"]),
        (["--holdout", "0.1", "--curve", "5"], []),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(dfcl, tmp_path, flags, words):
    write_predictions(tmp_path / "p.parquet", units=50)
    result = dfcl("allocate", "p.parquet", "--budget", "10", *flags, "-o", "plan.parquet")
    assert result.code in (2, 3, 4)
    assert all(word in result.stderr for word in words), result.stderr
    assert not (tmp_path / "plan.parquet").exists()


def test_a_budget_that_the_explored_units_exceed_cannot_be_met(dfcl, tmp_path):
    write_predictions(tmp_path / "p.parquet")
    result = dfcl("allocate", "p.parquet", "--budget", "601", "--include-control", "--explore", "0.5", "-o", "plan.parquet")
    assert result.code == 6
    assert not (tmp_path / "plan.parquet").exists()


def test_a_unit_that_may_not_get_control_is_not_held_out(dfcl, tmp_path):
    table = pa.table({"id": ["a", "b"], "revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0], "revenue_1": [2.0, 2.0], "cost_1": [1.0, 1.0], "eligible_0": [0, 0]})
    pq.write_table(table, tmp_path / "p.parquet")
    result = dfcl("allocate", "p.parquet", "--budget", "10", "--holdout", "0.99", "-o", "plan.parquet")
    assert result.code == 3 and "may not get control" in result.stderr
