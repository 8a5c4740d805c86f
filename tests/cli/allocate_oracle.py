# SPDX-License-Identifier: Apache-2.0
"""Budget problems, their files, and judges of plans that share no code with the solver: HiGHS and NumPy.

Predictions are stored as float32, so every judge is given the rounded numbers as float64.
"""

import math
from dataclasses import dataclass, field, replace

import highspy
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from conftest import answer


@dataclass
class Problem:
    """Units x arms of revenue and cost. ids is None (row numbers), numbers or texts."""

    revenue: np.ndarray
    cost: np.ndarray
    arms: list = field(default_factory=list)
    ids: list | None = None
    eligible: np.ndarray | None = None
    segment: list | None = None

    def __post_init__(self):
        self.revenue = np.asarray(self.revenue, dtype=np.float32)
        self.cost = np.asarray(self.cost, dtype=np.float32)
        if not self.arms:
            self.arms = [str(5 * arm) for arm in range(self.revenue.shape[1])]

    @property
    def num_units(self):
        return len(self.revenue)

    @property
    def r(self):
        return self.revenue.astype(np.float64)

    @property
    def c(self):
        return self.cost.astype(np.float64)

    def changed(self, **changes):
        return replace(self, **changes)


def table_of(problem):
    columns = {}
    if problem.ids is not None:
        columns["id"] = pa.array(problem.ids)
    for name, values in (("revenue", problem.revenue), ("cost", problem.cost), ("eligible", problem.eligible)):
        if values is not None:
            columns |= {f"{name}_{arm}": pa.array(values[:, index]) for index, arm in enumerate(problem.arms)}
    if problem.segment is not None:
        columns["segment"] = pa.array(problem.segment)
    return pa.table(columns)


def write_table(table, path, **options):
    if str(path).endswith(".csv"):
        pa.csv.write_csv(table, path)
    else:
        pa.parquet.write_table(table, path, **options)


def write_problem(problem, path, **options):
    write_table(table_of(problem), path, **options)


def read_plan(path):
    if str(path).endswith(".csv"):
        return pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types={"arm": pa.string()}))
    return pa.parquet.read_table(path)


def arms_of_plan(path, problem):
    """The arm index of every unit, after checking that the file repeats the ids and the predictions."""
    plan = read_plan(path)
    index = {label: arm for arm, label in enumerate(problem.arms)}
    chosen = np.array([index[label] for label in plan["arm"].to_pylist()])
    expected = list(range(1, problem.num_units + 1)) if problem.ids is None else list(problem.ids)
    assert plan["id"].to_pylist() == expected
    units = np.arange(problem.num_units)
    assert np.array_equal(plan["revenue"].to_numpy().astype(np.float32), problem.revenue[units, chosen])
    assert np.array_equal(plan["cost"].to_numpy().astype(np.float32), problem.cost[units, chosen])
    return chosen


def solve_lp(problem, budget=math.inf, objective=None, second=None, min_units=None, max_units=None, segment_budgets=None):
    """The optimum of the linear relaxation by HiGHS, or None where no fractional plan keeps to the limits.

    second is (cost, budget); min_units and max_units map arm indices to numbers; segment_budgets maps segments.
    """
    units, arms = problem.revenue.shape
    columns = np.arange(units * arms).reshape(units, arms)
    lower, upper = [np.ones(units)], [np.ones(units)]
    index, value, start = [columns.ravel()], [np.ones(units * arms)], [arms * np.arange(units)]
    entries = units * arms

    def add_row(row_columns, row_values, row_lower, row_upper):
        nonlocal entries
        lower.append([row_lower])
        upper.append([row_upper])
        start.append([entries])
        index.append(row_columns.ravel())
        value.append(row_values.ravel())
        entries += row_columns.size

    if math.isfinite(budget):
        add_row(columns, problem.c, -math.inf, budget)
    if second is not None:
        add_row(columns, np.asarray(second[0], dtype=np.float64), -math.inf, second[1])
    for segment, most in (segment_budgets or {}).items():
        inside = np.array([name == segment for name in problem.segment])
        add_row(columns[inside], problem.c[inside], -math.inf, most)
    for arm in range(arms):
        least, most = (min_units or {}).get(arm, 0), (max_units or {}).get(arm, math.inf)
        if least > 0 or math.isfinite(most):
            add_row(columns[:, arm], np.ones(units), least, most)

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = units * arms, sum(map(len, lower))
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = (problem.r if objective is None else objective).ravel()
    lp.col_lower_ = np.zeros(units * arms)
    allowed = np.ones((units, arms)) if problem.eligible is None else np.asarray(problem.eligible, dtype=np.float64)
    lp.col_upper_ = allowed.ravel()
    lp.row_lower_, lp.row_upper_ = np.concatenate(lower), np.concatenate(upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate([*start, [entries]]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate(index).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(value)
    highs = highspy.Highs()
    for name, setting in (("output_flag", False), ("threads", 1), ("primal_feasibility_tolerance", 1e-9), ("dual_feasibility_tolerance", 1e-9)):
        highs.setOptionValue(name, setting)
    highs.passModel(lp)
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert status == highspy.HighsModelStatus.kOptimal, status
    return highs.getInfo().objective_function_value


def dual_bound(problem, budget, multiplier, objective=None):
    """G(L) = L*B + sum_i max_j (r_ij - L*c_ij): no plan within the budget earns more, whatever L >= 0 (eq. 2)."""
    score = (problem.r if objective is None else objective) - multiplier * problem.c
    if problem.eligible is not None:
        score = np.where(np.asarray(problem.eligible) != 0, score, -math.inf)
    price = multiplier * budget if multiplier > 0 else 0.0
    return math.fsum(score.max(axis=1)) + price


def increments_of(problem, least_roi=0.0):
    """(extra cost, extra revenue) of every step along every unit's hull, walked from the cheapest arm by best return."""
    r, c = problem.r, problem.c
    allowed = np.ones(r.shape, dtype=bool) if problem.eligible is None else np.asarray(problem.eligible) != 0
    units = np.arange(len(r))
    cheapest = np.where(allowed, c, math.inf).min(axis=1, keepdims=True)
    at = np.where(allowed & (c == cheapest), r, -math.inf).argmax(axis=1)
    steps = []
    while True:
        extra_cost = c - c[units, at][:, None]
        extra_revenue = r - r[units, at][:, None]
        useful = allowed & (extra_cost > 0) & (extra_revenue > 0)
        returns = np.where(useful, extra_revenue / np.where(useful, extra_cost, 1.0), -math.inf)
        best = returns.max(axis=1)
        moved = best >= max(least_roi, np.finfo(float).tiny)
        if not moved.any():
            return np.concatenate(steps) if steps else np.zeros((0, 2))
        longest = np.where(returns == best[:, None], extra_cost, -math.inf).argmax(axis=1)
        steps.append(np.stack([extra_cost[units, longest], extra_revenue[units, longest]], axis=1)[moved])
        at = np.where(moved, longest, at)


def check_summary(summary, problem, chosen, objective=None):
    """The figures of a summary, recomputed from the plan and the predictions."""
    units = np.arange(problem.num_units)
    value = math.fsum((problem.r if objective is None else objective)[units, chosen])
    spend = math.fsum(problem.c[units, chosen])
    scale = max(1.0, math.fsum(np.abs(problem.r[units, chosen])))
    assert summary["spend"] == spend
    assert abs(summary["value"] - value) <= 1e-12 * scale
    assert summary["budget"] is None or spend <= summary["budget"]
    assert summary["gap"] >= 0
    assert abs(summary["bound"] - summary["value"] - summary["gap"]) <= 1e-12 * scale
    assert summary["units_per_arm"] == {label: int((chosen == arm).sum()) for arm, label in enumerate(problem.arms)}
    control = problem.arms.index("0") if "0" in problem.arms else 0
    increments = problem.r[units, chosen] - problem.r[:, control]
    assert abs(summary["control_revenue"] + math.fsum(increments) - summary["revenue"]) <= 1e-12 * scale
    if problem.eligible is not None:
        assert np.asarray(problem.eligible)[units, chosen].all()


def allocate(dfcl, predictions, *flags, output="plan.parquet", code=0):
    """Runs dfcl allocate --json with budgets that include control's cost; returns the summary."""
    where = ["-o", output] if output else []
    return answer(dfcl("allocate", predictions, *flags, "--include-control", *where, "--json"), code)


# --- random problems of several shapes ---------------------------------------------------------------------------------


def graded(seed, units=500, arms=5):
    """Discounts: revenue and cost rise with the arm, control is free."""
    random = np.random.default_rng(seed)
    cost = np.cumsum(random.exponential(1.0, (units, arms)), axis=1) - random.exponential(0.2, (units, 1))
    cost = np.maximum(cost, 0.0)
    cost[:, 0] = 0.0
    gain = random.lognormal(0.0, 1.0, (units, 1)) * (1.0 - np.exp(-cost * random.lognormal(-1.0, 0.7, (units, 1))))
    return Problem(5.0 + 3.0 * gain, cost)


def anything(seed, units=500, arms=5):
    """Costs and revenues of either sign; any arm may be the cheapest."""
    random = np.random.default_rng(seed)
    return Problem(random.normal(1.0, 4.0, (units, arms)), random.normal(1.0, 2.0, (units, arms)))


def tied(seed, units=500, arms=5):
    """Small whole numbers: equal arms, equal efficiencies, zero costs, everywhere."""
    random = np.random.default_rng(seed)
    return Problem(random.integers(-2, 6, (units, arms)), random.integers(-1, 5, (units, arms)))


def equal_units(seed, units=500, arms=5):
    """All units alike."""
    random = np.random.default_rng(seed)
    cost = np.sort(random.integers(0, 9, arms))
    return Problem(np.tile(random.integers(1, 20, arms), (units, 1)), np.tile(cost, (units, 1)))


def far_apart(seed, units=500, arms=5):
    """Numbers over ten orders of magnitude; many units earn nothing from any arm."""
    random = np.random.default_rng(seed)
    revenue = random.lognormal(0.0, 3.0, (units, arms)) * random.integers(0, 2, (units, 1))
    return Problem(revenue, random.lognormal(0.0, 3.0, (units, arms)) * random.integers(0, 2, (units, arms)))


SHAPES = [graded, anything, tied, equal_units, far_apart]


def budgets_of(problem, shares=(0.03, 0.3, 0.8)):
    """Budgets between the least that any plan spends and the spend beyond which money earns nothing."""
    allowed = True if problem.eligible is None else np.asarray(problem.eligible) != 0
    least = np.where(allowed, problem.c, math.inf).min(axis=1).sum()
    most = least + increments_of(problem)[:, 0].sum()
    return [float(least + share * (most - least)) for share in shares]
