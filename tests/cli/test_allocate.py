# SPDX-License-Identifier: Apache-2.0
"""One budget: plans against HiGHS, checked by independent code, and what must not change them."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from allocate_oracle import (
    SHAPES,
    Problem,
    allocate,
    anything,
    arms_of_plan,
    budgets_of,
    check_summary,
    dual_bound,
    equal_units,
    far_apart,
    graded,
    increments_of,
    solve_lp,
    tied,
    write_problem,
    write_table,
)

CANNOT_BE_MET = 6


def check_plan(summary, problem, plan_path, objective=None):
    """Feasible, as stated, and within one increment of a bound that the multiplier proves."""
    chosen = arms_of_plan(plan_path, problem)
    check_summary(summary, problem, chosen, objective)
    steps = increments_of(problem)
    largest = steps[:, 1].max() if len(steps) else 0.0
    assert summary["gap"] <= largest * (1 + 1e-12)
    proven = dual_bound(problem, summary["budget"], summary["multiplier"], objective)
    assert summary["bound"] == pytest.approx(proven, rel=1e-11, abs=1e-9)
    return chosen


# --- against HiGHS -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("seed,units,arms", [(1, 1, 1), (2, 3, 2), (3, 40, 3), (4, 300, 12), (5, 5000, 5)])
def test_the_bound_is_the_lp_optimum(dfcl, tmp_path, shape, seed, units, arms):
    problem = shape(seed, units, arms)
    write_problem(problem, tmp_path / "p.parquet")
    for budget in budgets_of(problem, (0.3,) if units == 5000 else (0.0, 0.1, 0.5, 0.97)):
        summary = allocate(dfcl, "p.parquet", f"--budget={budget!r}")
        optimum = solve_lp(problem, budget)
        assert summary["bound"] == pytest.approx(optimum, rel=1e-7, abs=1e-9)
        assert summary["budget"] == budget
        check_plan(summary, problem, tmp_path / "plan.parquet")


def test_many_small_problems(dfcl, tmp_path):
    """Forty problems of one to seven units, each with three odd budgets: the least that can be met, zero, negative."""
    for seed in range(40):
        shape = (anything, tied, far_apart)[seed % 3]
        problem = shape(1000 + seed, units=1 + seed % 7, arms=1 + seed % 5)
        least = math.fsum(problem.c.min(axis=1))
        write_problem(problem, tmp_path / "p.parquet")
        for budget in (least, 0.0, -1.5):
            optimum = solve_lp(problem, budget)
            code = 0 if budget >= least else CANNOT_BE_MET
            summary = allocate(dfcl, "p.parquet", f"--budget={budget!r}", code=code)
            if code == 0:
                assert optimum is not None and summary["bound"] == pytest.approx(optimum, rel=1e-7, abs=1e-7), f"seed {seed}"
                check_plan(summary, problem, tmp_path / "plan.parquet")
            else:
                assert summary["status"] == "cannot be met", f"seed {seed}"
                assert summary["least_spend"] == pytest.approx(least, abs=1e-12)


def test_the_summary_has_the_settled_keys(dfcl, tmp_path):
    problem = graded(1)
    write_problem(problem, tmp_path / "p.parquet")
    summary = allocate(dfcl, "p.parquet", "--per-unit", "0.5")
    for key in ("budget", "spend", "value", "bound", "gap", "multiplier"):
        assert isinstance(summary[key], float), key
    assert summary["status"] == "optimal within gap"
    assert list(summary["units_per_arm"]) == problem.arms
    assert all(summary["seconds"][part] >= 0 for part in ("read", "solve", "write"))
    assert summary["budget"] == pytest.approx(0.5 * problem.num_units)


def test_statuses(dfcl, tmp_path):
    problem = graded(2)
    write_problem(problem, tmp_path / "p.parquet")
    ample = allocate(dfcl, "p.parquet", "--budget", "1e9")
    assert (ample["status"], ample["multiplier"], ample["gap"]) == ("budget not binding", 0.0, 0.0)
    assert ample["value"] == math.fsum(problem.r.max(axis=1))
    assert ample["binding"] == "best arms reached"
    check_plan(ample, problem, tmp_path / "plan.parquet")
    assert allocate(dfcl, "p.parquet", "--budget", "100")["binding"] == "budget"

    write_problem(Problem([[5, 4, 5], [3, 3, 2]], [[0, 1, 2], [0, 1, 1]]), tmp_path / "useless.parquet")
    no_gain = allocate(dfcl, "useless.parquet", "--budget", "10")
    assert (no_gain["status"], no_gain["spend"], no_gain["units_per_arm"]) == ("no gain", 0.0, {"0": 2, "5": 0, "10": 0})

    write_problem(Problem([[1.0], [2.0]], [[0.5], [0.25]]), tmp_path / "one.parquet")
    assert allocate(dfcl, "one.parquet", "--budget", "0.75")["spend"] == 0.75
    assert allocate(dfcl, "one.parquet", "--budget", "0.7", code=CANNOT_BE_MET)["least_spend"] == 0.75


def test_equal_units_are_cut_where_the_budget_ends(dfcl, tmp_path):
    """The arg-max at one price would treat all units or none; the budget pays for exactly 333, by their ids."""
    problem = Problem(np.tile([1.0, 3.0], (1000, 1)), np.tile([0.0, 2.0], (1000, 1)))
    write_problem(problem, tmp_path / "p.parquet")
    summary = allocate(dfcl, "p.parquet", "--budget", "667")
    chosen = check_plan(summary, problem, tmp_path / "plan.parquet")
    assert chosen.sum() == 333


def test_the_least_spend_is_in_the_basis_of_the_budget(dfcl, tmp_path):
    """Control costs 1,000 and at least 15 of 100 units get the arm, at 10 more each: 1,150, or 150 above control."""
    write_problem(Problem(np.tile([1.0, 3.0], (100, 1)), np.tile([10.0, 20.0], (100, 1))), tmp_path / "p.parquet")
    least = ("allocate", "p.parquet", "--budget", "100", "--min-units", "5=15")
    result = dfcl(*least)
    assert result.code == CANNOT_BE_MET
    assert "the least that any plan spends is 150.00 above control" in result.stdout + result.stderr
    assert json.loads(dfcl(*least, "--json").stdout)["least_spend"] == 150
    total = dfcl("allocate", "p.parquet", "--budget", "1100", "--include-control", "--min-units", "5=15", "--json")
    assert json.loads(total.stdout)["least_spend"] == 1150
    assert dfcl("allocate", "p.parquet", "--budget", "150", "--min-units", "5=15").code == 0


def test_a_budget_that_cannot_be_met_writes_nothing(dfcl, tmp_path):
    problem = anything(3, 50)
    write_problem(problem, tmp_path / "p.parquet")
    least = math.fsum(problem.c.min(axis=1))
    result = dfcl("allocate", "p.parquet", f"--budget={math.nextafter(least, -math.inf) - 1e-9!r}", "--include-control", "-o", "plan.parquet")
    assert result.code == CANNOT_BE_MET
    assert f"the least that any plan spends is {least:,.2f}" in result.stdout + result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["p.parquet"]
    assert allocate(dfcl, "p.parquet", f"--budget={least!r}")["spend"] == least


# --- ways to say how much may be spent ---------------------------------------------------------------------------------


def test_budgets_per_unit_and_as_shares(dfcl, tmp_path):
    problem = graded(4)
    write_problem(problem, tmp_path / "p.parquet")
    assert allocate(dfcl, "p.parquet", "--per-unit", "0.25")["budget"] == 0.25 * problem.num_units
    costliest = problem.c.sum(axis=0).max()
    assert allocate(dfcl, "p.parquet", "--share-of-max", "0.1")["budget"] == pytest.approx(0.1 * costliest, rel=1e-12)


def test_budgets_are_above_what_control_costs(dfcl, tmp_path):
    """The same plan for a budget above control and for the total of both; a share is one of the way up from control."""
    problem = graded(4)
    problem = Problem(problem.r, problem.c + 0.25)
    write_problem(problem, tmp_path / "p.parquet")
    control = math.fsum(problem.c[:, 0])
    total = allocate(dfcl, "p.parquet", f"--budget={100 + control!r}")
    result = dfcl("allocate", "p.parquet", "--budget", "100", "--json")
    above = json.loads(result.stdout)
    assert (above["budget"], above["budget_basis"], total["budget_basis"]) == (100.0, "incremental", "total")
    assert above["units_per_arm"] == total["units_per_arm"] and above["spend"] == total["spend"] <= 100 + control
    share = json.loads(dfcl("allocate", "p.parquet", "--share-of-max", "0.1", "--json").stdout)
    assert share["budget"] == pytest.approx(0.1 * (problem.c.sum(axis=0).max() - control), rel=1e-9)


def test_several_budgets_give_the_plans_of_single_runs(dfcl, tmp_path):
    write_problem(graded(5), tmp_path / "p.parquet")
    several = allocate(dfcl, "p.parquet", "--budget", "50,100,400", output="plan.parquet")["plans"]
    for index, budget in enumerate((50, 100, 400)):
        single = allocate(dfcl, "p.parquet", f"--budget={budget}", output="single.parquet")
        assert {**several[index], "seconds": 0} == {**single, "seconds": 0}
        assert (tmp_path / f"plan-{index + 1}.parquet").read_bytes() == (tmp_path / "single.parquet").read_bytes()


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
def test_value_never_falls_and_the_multiplier_never_rises(dfcl, tmp_path, shape):
    problem = shape(6, 800)
    write_problem(problem, tmp_path / "p.parquet")
    budgets = budgets_of(problem, np.linspace(0.0, 1.1, 45))
    plans = allocate(dfcl, "p.parquet", "--budget=" + ",".join(map(repr, budgets)), output=None)["plans"]
    for before, after in zip(plans, plans[1:]):
        assert after["bound"] >= before["bound"]
        assert after["multiplier"] <= before["multiplier"]
        assert after["value"] >= before["value"]


def test_a_known_price_is_applied(dfcl, tmp_path):
    problem = graded(7, 2000)
    write_problem(problem, tmp_path / "p.parquet")
    at_budget = allocate(dfcl, "p.parquet", "--budget", "700")
    summary = allocate(dfcl, "p.parquet", f"--multiplier={at_budget['multiplier']!r}")
    chosen = arms_of_plan(tmp_path / "plan.parquet", problem)
    check_summary(summary, problem, chosen)
    assert summary["spend"] <= 700
    score = problem.r - at_budget["multiplier"] * problem.c
    assert np.allclose(score[np.arange(2000), chosen], score.max(axis=1), rtol=0, atol=1e-12)
    assert summary["multiplier"] == at_budget["multiplier"]


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
def test_the_curve_agrees_with_single_budgets(dfcl, tmp_path, shape):
    problem = shape(8, 700)
    write_problem(problem, tmp_path / "p.parquet")
    curve = allocate(dfcl, "p.parquet", "--curve", "9", output="curve.csv")
    points = curve["points"]
    assert len(points) == 9
    assert points[0]["spend"] == pytest.approx(math.fsum(problem.c.min(axis=1)), rel=1e-12, abs=1e-9)
    assert points[-1]["value"] == pytest.approx(math.fsum(problem.r.max(axis=1)), rel=1e-12)
    budgets = ",".join(repr(point["spend"]) for point in points)
    for point, plan in zip(points, allocate(dfcl, "p.parquet", f"--budget={budgets}", output=None)["plans"]):
        for key in ("spend", "value", "multiplier", "units_per_arm"):
            assert plan[key] == point[key], key
    table = pa.csv.read_csv(tmp_path / "curve.csv")
    assert table["spend"].to_pylist() == [point["spend"] for point in points]
    assert table["units_5"].to_pylist() == [point["units_per_arm"]["5"] for point in points]
    assert allocate(dfcl, "p.parquet", "--curve", "9", output="curve.json") == json.loads((tmp_path / "curve.json").read_text())


# --- what must not change the plan -------------------------------------------------------------------------------------


def on_a_grid(seed, units=600, arms=4):
    """Multiples of 1/64, so that sums and products with powers of two are exact in float32."""
    random = np.random.default_rng(seed)
    return Problem(random.integers(-200, 4000, (units, arms)) / 64, random.integers(-50, 1000, (units, arms)) / 64)


def plan_of(dfcl, tmp_path, problem, budget):
    write_problem(problem, tmp_path / "p.parquet")
    allocate(dfcl, "p.parquet", f"--budget={budget!r}")
    return arms_of_plan(tmp_path / "plan.parquet", problem)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_scales_and_constants_change_no_choice(dfcl, tmp_path, share):
    problem = on_a_grid(9)
    (budget,) = budgets_of(problem, (share,))
    budget = math.floor(budget * 64) / 64
    plan = plan_of(dfcl, tmp_path, problem, budget)
    for factor in (2.0**-9, 4.0, 2.0**20):
        assert np.array_equal(plan, plan_of(dfcl, tmp_path, problem.changed(cost=problem.cost * factor), budget * factor))
        assert np.array_equal(plan, plan_of(dfcl, tmp_path, problem.changed(revenue=problem.revenue * factor), budget))
    random = np.random.default_rng(10)
    constant = random.integers(-500, 500, (problem.num_units, 1)) / 64
    assert np.array_equal(plan, plan_of(dfcl, tmp_path, problem.changed(revenue=problem.revenue + constant), budget))
    assert np.array_equal(plan, plan_of(dfcl, tmp_path, problem.changed(cost=problem.cost + constant), budget + float(constant.sum())))


@pytest.mark.parametrize("shape", [graded, anything], ids=lambda shape: shape.__name__)
def test_permuting_units_permutes_the_plan(dfcl, tmp_path, shape):
    problem = shape(11, 1500)
    (budget,) = budgets_of(problem, (0.3,))
    order = np.random.default_rng(12).permutation(problem.num_units)
    plan = plan_of(dfcl, tmp_path, problem, budget)
    permuted = problem.changed(revenue=problem.revenue[order], cost=problem.cost[order], ids=[f"u{unit}" for unit in order])
    assert np.array_equal(plan[order], plan_of(dfcl, tmp_path, permuted, budget))


def with_ids(problem, kind):
    ids = {
        "none": None,
        "numbers": [7 * unit - 5 for unit in range(problem.num_units)],
        "texts": [f"unit {unit}, \N{LATIN SMALL LETTER E WITH ACUTE}" for unit in range(problem.num_units)],
    }
    return problem.changed(ids=ids[kind])


@pytest.mark.parametrize("ids", ["none", "numbers", "texts"])
@pytest.mark.parametrize("masked", [False, True], ids=["all arms", "eligible columns"])
@pytest.mark.parametrize("name", ["p.parquet", "p.csv"])
def test_the_streamed_plan_is_the_plan_in_memory(dfcl, tmp_path, ids, masked, name):
    problem = with_ids(tied(13, 20_000) if masked else anything(13, 20_000), ids)
    if masked:
        eligible = np.random.default_rng(14).integers(0, 2, problem.cost.shape).astype(np.int8)
        eligible[:, 2] = 1
        problem = problem.changed(eligible=eligible)
    write_problem(problem, tmp_path / name, **({"row_group_size": 3000} if name.endswith("parquet") else {}))
    for budget in budgets_of(problem, (0.02, 0.6, 1.5)):
        for ending in (".parquet", ".csv"):
            memory = allocate(dfcl, name, f"--budget={budget!r}", output="memory" + ending)
            stream = allocate(dfcl, name, f"--budget={budget!r}", "--stream", output="stream" + ending)
            assert {**memory, "seconds": 0} == {**stream, "seconds": 0}
            assert (tmp_path / ("memory" + ending)).read_bytes() == (tmp_path / ("stream" + ending)).read_bytes()
    chosen = arms_of_plan(tmp_path / "stream.parquet", problem)
    check_summary(stream, problem, chosen)


def test_the_streamed_plan_at_a_price(dfcl, tmp_path):
    write_problem(graded(15, 20_000), tmp_path / "p.parquet")
    for flags in (["--multiplier", "1.5"], ["--min-roi", "2"], ["--share-of-max", "0.1,0.2"], ["--objective", "profit", "--margin", "0.6"]):
        memory = dfcl("allocate", "p.parquet", *flags, "-o", "memory.parquet")
        stream = dfcl("allocate", "p.parquet", *flags, "--stream", "-o", "stream.parquet")
        assert (memory.code, stream.code) == (0, 0), stream.stderr
        assert memory.stdout.replace("memory", "") == stream.stdout.replace("stream", "")
        for path in tmp_path.glob("memory*"):
            assert path.read_bytes() == (tmp_path / path.name.replace("memory", "stream")).read_bytes()
            path.unlink()


@pytest.mark.parametrize("shape", [graded, anything, equal_units], ids=lambda shape: shape.__name__)
def test_threads_and_streaming_change_nothing_in_a_large_problem(dfcl, tmp_path, shape):
    """Large enough for the way that brackets the multiplier on a sample."""
    problem = shape(16, 200_000)
    write_problem(problem, tmp_path / "p.parquet", row_group_size=70_000)
    for budget in budgets_of(problem, (0.15, 0.7)):
        summaries, plans = [], []
        for threads, *flags in ((1,), (2,), (8,), (2, "--stream"), (8, "--stream")):
            summary = allocate(dfcl, "p.parquet", f"--budget={budget!r}", f"--threads={threads}", *flags)
            summaries.append({**summary, "seconds": 0})
            plans.append((tmp_path / "plan.parquet").read_bytes())
        assert all(summary == summaries[0] for summary in summaries)
        assert all(plan == plans[0] for plan in plans)
        check_plan(summaries[0], problem, tmp_path / "plan.parquet")


def test_predictions_may_lie_in_several_files(dfcl, tmp_path):
    problem = with_ids(graded(17, 3000), "numbers")
    write_problem(problem, tmp_path / "p.parquet")
    (tmp_path / "parts").mkdir()
    for part in range(3):
        rows = slice(1000 * part, 1000 * (part + 1))
        piece = problem.changed(revenue=problem.revenue[rows], cost=problem.cost[rows], ids=problem.ids[rows])
        write_problem(piece, tmp_path / "parts" / f"{part}.parquet")
    allocate(dfcl, "p.parquet", "--budget", "500", output="one.parquet")
    allocate(dfcl, "parts", "--budget", "500", output="many.parquet")
    allocate(dfcl, "parts", "--budget", "500", "--stream", output="stream.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "many.parquet").read_bytes()
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "stream.parquet").read_bytes()


def test_columns_of_any_number_type_and_order(dfcl, tmp_path):
    """Whole numbers and float64 are predictions too; columns that mean nothing here are passed over."""
    table = pa.table(
        {
            "cost_b": pa.array([1, 2, 3], pa.int64()),
            "note": ["x", "y", "z"],
            "revenue_b": pa.array([4.0, 4.0, 4.0], pa.float64()),
            "revenue_a": pa.array([1, 1, 1], pa.int32()),
            "id": ["i", "j", "k"],
            "cost_a": pa.array([0.0, 0.0, 0.0], pa.float32()),
        }
    )
    write_table(table, tmp_path / "p.parquet")
    summary = allocate(dfcl, "p.parquet", "--budget", "3", "--control", "a")
    assert (summary["units_per_arm"], summary["spend"], summary["control_revenue"]) == ({"b": 2, "a": 1}, 3.0, 3.0)
    assert allocate(dfcl, "p.parquet", "--budget", "3", output=None)["control_revenue"] == 12.0, "else the first arm"
