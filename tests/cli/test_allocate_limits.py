# SPDX-License-Identifier: Apache-2.0
"""Limits beside the budget, and profit: every plan checked by independent code, every bound against HiGHS."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from allocate_oracle import (
    Problem,
    allocate,
    anything,
    arms_of_plan,
    budgets_of,
    check_summary,
    dual_bound,
    graded,
    increments_of,
    solve_lp,
    tied,
    write_problem,
    write_table,
)

CANNOT_BE_MET = 6
NO_PLAN = ("cannot be met", "no feasible plan found")


def largest_increment(problem):
    return increments_of(problem)[:, 1].max()


# --- eligibility -------------------------------------------------------------------------------------------------------


def masked(shape, seed, units=800):
    """Each unit may get some of the arms, never none; sometimes not even control."""
    problem = shape(seed, units).changed(ids=[f"unit-{unit}" for unit in range(units)])
    random = np.random.default_rng(seed + 1)
    eligible = random.integers(0, 2, problem.cost.shape).astype(np.int8)
    eligible[np.arange(units), random.integers(0, problem.cost.shape[1], units)] = 1
    return problem.changed(eligible=eligible)


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
def test_only_eligible_arms_are_given(dfcl, tmp_path, shape):
    problem = masked(shape, 20)
    write_problem(problem, tmp_path / "columns.parquet")
    write_problem(problem.changed(eligible=None), tmp_path / "p.parquet")
    order = np.random.default_rng(21).permutation(problem.num_units)  # rows are found by id, in any order
    mask = {"id": [problem.ids[unit] for unit in order]}
    mask |= {f"eligible_{arm}": problem.eligible[order, index] for index, arm in enumerate(problem.arms)}
    write_table(pa.table(mask), tmp_path / "mask.csv")
    for budget in budgets_of(problem, (0.05, 0.5)):
        summary = allocate(dfcl, "columns.parquet", f"--budget={budget!r}", output="columns-plan.parquet")
        chosen = arms_of_plan(tmp_path / "columns-plan.parquet", problem)
        check_summary(summary, problem, chosen)
        assert summary["bound"] == pytest.approx(solve_lp(problem, budget), rel=1e-7)
        assert summary["gap"] <= largest_increment(problem) * (1 + 1e-12)
        by_file = allocate(dfcl, "p.parquet", f"--budget={budget!r}", "--eligible", "mask.csv")
        assert {**by_file, "seconds": 0} == {**summary, "seconds": 0}
        assert np.array_equal(arms_of_plan(tmp_path / "plan.parquet", problem), chosen)


def test_arms_that_the_mask_leaves_out_are_free_for_all(dfcl, tmp_path):
    problem = graded(22, 200).changed(ids=list(range(200)))
    write_problem(problem, tmp_path / "p.parquet")
    words = ["yes" if unit % 2 else "no" for unit in range(200)]
    write_table(pa.table({"id": problem.ids, "eligible_20": words}), tmp_path / "mask.parquet")
    summary = allocate(dfcl, "p.parquet", "--budget", "1e6", "--eligible", "mask.parquet")
    eligible = np.ones(problem.cost.shape, dtype=bool)
    eligible[::2, 4] = False
    allowed = problem.changed(eligible=eligible)
    check_summary(summary, allowed, arms_of_plan(tmp_path / "plan.parquet", allowed))
    assert summary["value"] == pytest.approx(np.where(eligible, problem.r, -math.inf).max(axis=1).sum(), rel=1e-12)


# --- returns and profit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("least_roi", [0.5, 1.0, 3.0])
def test_no_increment_earns_less_than_the_least_return(dfcl, tmp_path, shape, least_roi):
    problem = shape(23, 900)
    write_problem(problem, tmp_path / "p.parquet")
    free = allocate(dfcl, "p.parquet", f"--min-roi={least_roi}")
    chosen = arms_of_plan(tmp_path / "plan.parquet", problem)
    check_summary(free, problem, chosen)
    # Without a budget every unit takes what is best at that price, and the dearer arm where two are equally good.
    score = problem.r - least_roi * problem.c
    best = score.max(axis=1)
    assert np.allclose(score[np.arange(900), chosen], best, rtol=0, atol=1e-12)
    steps = increments_of(problem, least_roi)
    spend = math.fsum(problem.c.min(axis=1)) + math.fsum(steps[:, 0])
    assert free["spend"] == pytest.approx(spend, rel=1e-9)
    assert free["budget"] is None
    for share in (0.2, 0.7, 1.0, 1.3):
        budget = float(problem.c.min(axis=1).sum() + share * steps[:, 0].sum() + 1e-6)
        summary = allocate(dfcl, "p.parquet", f"--budget={budget!r}", f"--min-roi={least_roi}")
        check_summary(summary, problem, arms_of_plan(tmp_path / "plan.parquet", problem))
        if share < 1.0:
            assert summary["bound"] == pytest.approx(solve_lp(problem, budget), rel=1e-7)
            assert summary["multiplier"] >= least_roi
        else:
            assert summary["value"] == free["value"]
            assert summary["binding"] == "least return per cost"


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("margin", [0.3, 1.0, 2.5])
def test_profit(dfcl, tmp_path, shape, margin):
    problem = shape(24, 900)
    profit = margin * problem.r - problem.c
    write_problem(problem, tmp_path / "p.parquet")
    flags = ["--objective", "profit", "--margin" if margin <= 1 else "--per-revenue", margin]
    free = allocate(dfcl, "p.parquet", *flags)
    check_summary(free, problem, arms_of_plan(tmp_path / "plan.parquet", problem), profit)
    assert free["value"] == pytest.approx(profit.max(axis=1).sum(), rel=1e-12)
    for budget in budgets_of(problem, (0.02, 0.1, 0.9)):
        summary = allocate(dfcl, "p.parquet", f"--budget={budget!r}", *flags)
        check_summary(summary, problem, arms_of_plan(tmp_path / "plan.parquet", problem), profit)
        assert summary["bound"] == pytest.approx(solve_lp(problem, budget, profit), rel=1e-7)
        assert summary["bound"] == pytest.approx(dual_bound(problem, budget, summary["multiplier"], profit), rel=1e-11)
        assert summary["gap"] <= margin * largest_increment(problem)


# --- coupled limits ----------------------------------------------------------------------------------------------------


def check_limits(problem, chosen, budget, second=None, min_units=None, max_units=None, segment_budgets=None):
    units = np.arange(problem.num_units)
    assert math.fsum(problem.c[units, chosen]) <= budget
    if second is not None:
        assert math.fsum(np.asarray(second[0], dtype=np.float64)[units, chosen]) <= second[1]
    for arm, most in (max_units or {}).items():
        assert (chosen == arm).sum() <= most
    for arm, least in (min_units or {}).items():
        assert (chosen == arm).sum() >= least
    for segment, most in (segment_budgets or {}).items():
        inside = np.array([name == segment for name in problem.segment])
        assert math.fsum(problem.c[inside][np.arange(inside.sum()), chosen[inside]]) <= most


def flags_of(tmp_path, problem, budget, second=None, min_units=None, max_units=None, segment_budgets=None):
    """Writes the files of the limits; returns the flags."""
    flags = [f"--budget={budget!r}"] if math.isfinite(budget) else []
    if second is not None:
        ids = range(1, problem.num_units + 1) if problem.ids is None else problem.ids
        columns = {"id": list(ids)} | {f"cost_{arm}": second[0][:, index] for index, arm in enumerate(problem.arms)}
        write_table(pa.table(columns), tmp_path / "second.parquet")
        flags += ["--second-cost", "second.parquet", f"--second-budget={second[1]!r}"]
    flags += [f"--max-units={problem.arms[arm]}={most}" for arm, most in (max_units or {}).items()]
    flags += [f"--min-units={problem.arms[arm]}={least}" for arm, least in (min_units or {}).items()]
    if segment_budgets is not None:
        columns = {"segment": list(segment_budgets), "budget": list(segment_budgets.values())}
        write_table(pa.table(columns), tmp_path / "segments.csv")
        flags += ["--segment", "segment", "--segment-budgets", "segments.csv"]
    return flags


def solve_with_limits(dfcl, tmp_path, problem, budget, **limits):
    """The summary and the LP's optimum, after checking the plan. Without a plan: None and the optimum."""
    write_problem(problem, tmp_path / "p.parquet")
    (tmp_path / "plan.parquet").unlink(missing_ok=True)
    flags = flags_of(tmp_path, problem, budget, **limits)
    optimum = solve_lp(problem, budget, **limits)
    result = dfcl("allocate", "p.parquet", *flags, "--include-control", "--json", "-o", "plan.parquet")
    assert result.code in (0, CANNOT_BE_MET), result.stderr
    summary = json.loads(result.stdout)
    if result.code == CANNOT_BE_MET:
        assert summary["status"] in NO_PLAN
        assert not (tmp_path / "plan.parquet").exists()
        return None, optimum
    chosen = arms_of_plan(tmp_path / "plan.parquet", problem)
    check_summary(summary, problem, chosen)
    check_limits(problem, chosen, budget, **limits)
    assert optimum is not None, "a plan within limits that no fractional plan keeps"
    assert summary["bound"] >= optimum - 1e-7 * abs(optimum)
    return summary, optimum


def in_segments(problem, seed, names=("north", "south", "a, b", "4")):
    random = np.random.default_rng(seed)
    return problem.changed(segment=[names[index] for index in random.integers(0, len(names), problem.num_units)])


def spend_by_segment(problem, share):
    least = problem.c.min(axis=1)
    most = least + (problem.c.max(axis=1) - least)
    segment = np.array(problem.segment)
    return {name: float((least + share * (most - least))[segment == name].sum()) for name in sorted(set(problem.segment))}


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("total", [math.inf, 0.9, 0.5], ids=["segments alone", "loose total", "tight total"])
def test_segments_are_solved_exactly(dfcl, tmp_path, shape, total):
    problem = in_segments(shape(25, 1200), 26)
    budgets = spend_by_segment(problem, 0.15)
    budgets["south"] = spend_by_segment(problem, 0.02)["south"]
    if not math.isinf(total):
        del budgets["4"]  # no budget of its own
    least = float(problem.c.min(axis=1).sum())
    whole = sum(spend_by_segment(problem, 0.15).values())
    budget = total if math.isinf(total) else least + total * (whole - least)
    summary, optimum = solve_with_limits(dfcl, tmp_path, problem, budget, segment_budgets=budgets)
    assert summary["bound"] == pytest.approx(optimum, rel=1e-7)
    assert summary["gap"] <= 5 * largest_increment(problem), "one increment a budget"
    chosen = arms_of_plan(tmp_path / "plan.parquet", problem)
    for name, figures in summary["segments"].items():
        inside = np.array(problem.segment) == name
        assert figures["spend"] == math.fsum(problem.c[np.arange(problem.num_units), chosen][inside])


def test_a_segment_budget_that_cannot_be_met(dfcl, tmp_path):
    problem = in_segments(anything(27, 300), 28)
    budgets = spend_by_segment(problem, 0.5)
    budgets["north"] = spend_by_segment(problem, 0.0)["north"] - 0.5
    summary, optimum = solve_with_limits(dfcl, tmp_path, problem, 1e6, segment_budgets=budgets)
    assert summary is None and optimum is None


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
def test_limits_on_units(dfcl, tmp_path, shape):
    problem = shape(29, 1000)
    (budget,) = budgets_of(problem, (0.5,))
    for limits in (
        {"max_units": {4: 20}},
        {"max_units": {1: 0, 3: 55}},
        {"min_units": {2: 600}},
        {"min_units": {1: 300, 2: 300}, "max_units": {0: 200}},
    ):
        summary, optimum = solve_with_limits(dfcl, tmp_path, problem, budget, **limits)
        if optimum is None:
            assert summary is None
        else:
            assert summary["value"] >= optimum - 0.005 * abs(optimum), limits
            assert summary["bound"] == pytest.approx(optimum, rel=5e-3), limits


def test_limits_on_units_that_cannot_be_met(dfcl, tmp_path):
    problem = graded(30, 100)
    for limits in (
        {"min_units": {1: 60, 2: 41}},
        {"max_units": {0: 10, 1: 10, 2: 10, 3: 10, 4: 59}},
        {"min_units": {4: 50}, "max_units": {4: 49}},
    ):
        summary, optimum = solve_with_limits(dfcl, tmp_path, problem, 1e6, **limits)
        assert summary is None and optimum is None, limits
    # Fifty of the costliest arm cost more than there is.
    summary, optimum = solve_with_limits(dfcl, tmp_path, problem, 1.0, min_units={4: 50})
    assert summary is None and optimum is None


@pytest.mark.parametrize("shape", [graded, anything, tied], ids=lambda shape: shape.__name__)
def test_a_second_budget(dfcl, tmp_path, shape):
    problem = shape(31, 1000).changed(ids=[f"u{unit}" for unit in range(1000)])
    second = np.random.default_rng(32).exponential(1.0, problem.cost.shape).astype(np.float32)
    second[:, 0] = 0
    for share, second_budget in ((0.3, 100.0), (0.8, 200.0), (0.8, 1e6)):
        (budget,) = budgets_of(problem, (share,))
        summary, optimum = solve_with_limits(dfcl, tmp_path, problem, budget, second=(second, second_budget))
        if optimum is None:
            assert summary is None
            continue
        chosen = arms_of_plan(tmp_path / "plan.parquet", problem)
        assert summary["second"]["spend"] == math.fsum(second.astype(np.float64)[np.arange(1000), chosen])
        assert summary["value"] >= optimum - 0.005 * abs(optimum)
        assert summary["bound"] == pytest.approx(optimum, rel=5e-3)


def two_budgets_and_two_caps(seed):
    """2,000 units x 5 arms. All revenue is gain: control earns nothing, so a share of the value is a share of the gain."""
    random = np.random.default_rng(seed)
    kind = seed % 3
    units, arms = 2000, 5
    cost = np.cumsum(random.exponential(1.0, (units, arms)), axis=1)
    second = random.exponential(1.0, (units, arms))
    revenue = 3.0 * random.lognormal(0.0, 1.0, (units, 1)) * (1.0 - np.exp(-cost * random.lognormal(-1.0, 0.7, (units, 1))))
    if kind == 1:
        revenue, cost = random.exponential(3.0, (units, arms)), random.exponential(2.0, (units, arms))
    if kind == 2:
        revenue = random.integers(0, 9, (units, arms))
        cost, second = random.integers(0, 5, (units, arms)), random.integers(0, 4, (units, arms))
    for matrix in (revenue, cost, second):
        matrix[:, 0] = 0
    problem = Problem(revenue, cost)
    unlimited = problem.r.argmax(axis=1)
    spend = problem.c[np.arange(units), unlimited].sum()
    second_spend = np.asarray(second)[np.arange(units), unlimited].sum()
    tightness = random.uniform(0.08, 0.8, 2)
    caps = random.choice(np.arange(1, arms), 2, replace=False)
    return problem, float(tightness[0] * spend), {
        "second": (np.asarray(second, dtype=np.float32), float(tightness[1] * second_spend)),
        "max_units": {int(arm): int(random.integers(20, 500)) for arm in caps},
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_two_budgets_and_two_caps_come_within_half_a_percent(dfcl, tmp_path, seed):
    problem, budget, limits = two_budgets_and_two_caps(100 + seed)
    summary, optimum = solve_with_limits(dfcl, tmp_path, problem, budget, **limits)
    assert summary is not None, "doing nothing is a plan here"
    assert summary["value"] >= 0.995 * optimum
    assert summary["bound"] <= 1.005 * optimum


@pytest.mark.parametrize("rule", ["--min-roi=1.5", "--objective=profit --margin=0.6"])
@pytest.mark.parametrize("kind", ["segments", "caps", "two budgets and two caps"])
def test_limits_with_a_least_return_or_profit(dfcl, tmp_path, rule, kind):
    """Where increments must earn R per cost, what is maximised is r - R*c: money that earns less is not spent."""
    for seed in range(400, 403):
        problem, budget, limits = two_budgets_and_two_caps(seed)
        if kind == "segments":
            problem = in_segments(problem, seed)
            limits = {"segment_budgets": {"north": 0.1 * budget, "south": 0.3 * budget, "4": 0.05 * budget}}
        elif kind == "caps":
            limits = {"max_units": limits["max_units"]}
        write_problem(problem, tmp_path / "p.parquet")
        profit = "profit" in rule
        net = 0.6 * problem.r - problem.c if profit else problem.r - 1.5 * problem.c
        summary = allocate(dfcl, "p.parquet", *rule.split(), *flags_of(tmp_path, problem, budget, **limits))
        chosen = arms_of_plan(tmp_path / "plan.parquet", problem)
        check_summary(summary, problem, chosen, net if profit else None)
        check_limits(problem, chosen, budget, **limits)
        value = net[np.arange(problem.num_units), chosen].sum()
        optimum = solve_lp(problem, budget, net, **limits)
        assert value >= 0.995 * optimum, f"seed {seed}"
        assert value + summary["gap"] >= optimum * (1 - 1e-7), f"seed {seed}"


def test_coupled_plans_do_not_depend_on_threads(dfcl, tmp_path):
    problem, budget, limits = two_budgets_and_two_caps(200)
    write_problem(problem, tmp_path / "p.parquet")
    flags = flags_of(tmp_path, problem, budget, **limits)
    plans = set()
    for threads in (1, 2, 8):
        allocate(dfcl, "p.parquet", *flags, "--threads", threads)
        plans.add((tmp_path / "plan.parquet").read_bytes())
    assert len(plans) == 1


@pytest.mark.parametrize("seed", range(8))
def test_all_limits_at_once(dfcl, tmp_path, seed):
    """Segments, a total, a second budget, lower and upper limits, and a mask: feasible, or proven not to be."""
    random = np.random.default_rng(300 + seed)
    problem, budget, limits = two_budgets_and_two_caps(300 + seed)
    rows = slice(0, 500)
    eligible = random.random((500, 5)) < 0.8
    eligible[:, 0] = True
    problem = in_segments(Problem(problem.revenue[rows], problem.cost[rows], eligible=eligible.astype(np.int8)), 301 + seed)
    budget /= 4
    limits["second"] = (limits["second"][0][rows], limits["second"][1] / 4)
    limits["max_units"] = {arm: most // 4 for arm, most in limits["max_units"].items()}
    floor = next(arm for arm in range(1, 5) if arm not in limits["max_units"])
    limits["min_units"] = {floor: int(random.integers(1, 60))}
    limits["segment_budgets"] = {name: budget * float(random.uniform(0.1, 0.5)) for name in ("north", "south", "4")}
    summary, optimum = solve_with_limits(dfcl, tmp_path, problem, budget, **limits)
    if optimum is None:
        assert summary is None
    else:
        assert summary is not None
        assert summary["value"] >= 0.98 * optimum
