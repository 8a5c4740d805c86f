# SPDX-License-Identifier: Apache-2.0
"""Plans for units that are elsewhere, without a cluster: parts answer passes, and the plan is that of one machine."""

import os
import resource

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dfcl
from dfcl import _dfcl
from dfcl.spark.executor import Exported, memory_table, request_of

ONE_THREAD = _dfcl.Run(threads=1, seed=0)
SEED = 22


def random_problem(random, rows=None):
    """Predictions with ties, equal units, arms that lose, units that may not get every arm; ids of both kinds."""
    rows = int(random.integers(1, 400)) if rows is None else rows
    arms = int(random.integers(1, 6))
    if random.random() < 0.5:  # whole numbers: ties everywhere
        cost = random.integers(0, 4, (rows, arms)).astype(np.float32)
        revenue = random.integers(-2, 9, (rows, arms)).astype(np.float32)
    else:
        cost = np.cumsum(random.random((rows, arms)), axis=1).astype(np.float32)
        revenue = (np.sqrt(cost) * random.uniform(0.5, 2, (rows, 1))).astype(np.float32)
    if random.random() < 0.5:
        cost[:, 0] = 0
    ids = random.permutation(rows * 3)[:rows]
    columns = {"id": pa.array(ids) if random.random() < 0.5 else pa.array([f"unit {i}" for i in ids])}
    for arm in range(arms):
        columns[f"revenue_{arm}"] = pa.array(revenue[:, arm])
        columns[f"cost_{arm}"] = pa.array(cost[:, arm])
    if arms > 1 and random.random() < 0.3:
        columns["eligible_1"] = pa.array(random.integers(0, 2, rows))
    options = [{}, {"objective": "profit", "margin": 0.6}, {"min_roi": 0.5}][int(random.integers(3))]
    if "eligible_1" not in columns and random.random() < 0.3:
        options = {**options, "holdout": 0.1, "explore": 0.2}
    return pa.table(columns), {"control": "0", **options}, {"per_unit": float(np.round(random.uniform(0, 1.5), 2))}


def deal(table, parts, random):
    """The rows in parts: some empty, one with most of them, in any order."""
    weights = random.random(parts) ** 4
    part = random.choice(parts, len(table), p=weights / weights.sum())
    return [table.take(np.flatnonzero(part == one)[::-1]) for one in range(parts)]


def rows_of_segment(table, segment):
    return table if segment is None else table.filter(pc.equal(pc.cast(table.column(SEGMENT), pa.string()), segment)).drop([SEGMENT])


def runner(parts, options, sent=None, segment=None):
    """What a pass finds in all parts, or in the units of a segment there."""

    def run(wanted):
        found = []
        for table in parts:
            part = _dfcl.PlanPart(request_of(options), wanted)
            table = rows_of_segment(table, segment)
            half = len(table) // 2
            for piece in (table.slice(0, half), table.slice(half)):
                if len(piece):
                    held = memory_table(piece, "predictions")
                    part.add(held.path, ONE_THREAD)
            found.append(part.to_bytes())
        found = [one for one in found if one]
        if sent is not None:
            sent.append((_dfcl.pass_kind(wanted), max(map(len, found))))
        num_arms = sum(name.startswith("revenue_") for name in parts[0].column_names)
        merged = _dfcl.merge_parts(wanted, found, num_arms)
        assert _dfcl.merge_parts(wanted, found[::-1], num_arms) == merged
        return merged

    return run


def assigned(parts, options, cuts, labels):
    for table in parts:
        for segment, (cut, multiplier) in zip(labels, cuts):
            units = rows_of_segment(table, segment)
            if len(units):
                held = memory_table(units, "predictions")
                request = request_of(options)
                request.set("predictions", held.path)
                yield _dfcl.assign_part(request, cut, multiplier, ONE_THREAD)


SEGMENT = "region"


def plan_elsewhere(parts, options, budget, sent=None, segment_budgets=None):
    request = request_of({**options, **budget})
    names = [name for name in parts[0].column_names if name != SEGMENT]
    empty = memory_table(parts[0].schema.empty_table().select(names), "predictions")
    request.set("predictions", empty.path)
    labels, segments, bare = [None], (), [part.select(names) for part in parts]
    if segment_budgets is not None:
        labels = sorted({str(label) for part in parts for label in part.column(SEGMENT).to_pylist()})
        budgets = memory_table(pa.table({"segment": list(segment_budgets), "budget": list(segment_budgets.values())}), "budgets")
        request.set("segment", SEGMENT)
        request.set("segment_budgets", budgets.path)
        runners = [runner(parts, options, sent, label) for label in labels]
        segments = (labels, lambda passes: [run(one) if one else b"" for run, one in zip(runners, passes)])

    def roles(cuts):
        return _dfcl.merge_roles([_dfcl.sum_roles(plan) for plan in assigned(parts, options, cuts, labels)])

    figures, cuts = _dfcl.allocate_elsewhere(request, runner(bare, options, sent), roles, segments, _dfcl.Run(threads=2, seed=0))
    planned = [pa.table(Exported(one)) for one in assigned(parts, options, cuts[0], labels)]
    return dfcl.Plan(*figures[0], None), pa.concat_tables(planned) if planned else None


def figures_of(plan):
    return {name: value for name, value in plan.figures.items() if name not in ("seconds", "file")}


def by_id(table):
    return table.sort_by("id").replace_schema_metadata(None).combine_chunks()


@pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
def test_any_cut_of_the_units_gives_the_plan_of_one_machine():
    random = np.random.default_rng(SEED)
    for problem in range(100):
        table, options, budget = random_problem(random)
        here = dfcl.allocate(table, **options, **budget)
        there, planned = plan_elsewhere(deal(table, int(random.integers(1, 65)), random), options, budget)
        assert figures_of(there) == figures_of(here), f"seed {SEED}, problem {problem}"
        assert (planned is not None) == here.has_plan
        if planned is not None:
            assert by_id(planned).equals(by_id(here.to_arrow())), f"seed {SEED}, problem {problem}"


def with_segments(table, random):
    """The same units in some segments, of which some have budgets; and a total, which may or may not bind."""
    count = int(random.integers(1, 9))
    labels = random.integers(0, count, len(table))
    table = table.append_column(SEGMENT, pa.array(labels) if random.random() < 0.5 else pa.array([f"r{i}" for i in labels]))
    found = sorted({str(label) for label in table.column(SEGMENT).to_pylist()})
    per_unit = random.uniform(0, 1.5)
    budgets = {label: float(np.round(per_unit * len(table) / count * random.uniform(0.3, 1.7), 1)) for label in found}
    total = {}
    if random.random() < 0.7:
        total = {"per_unit": float(np.round(per_unit * random.uniform(0.3, 1.3), 2))}
        budgets = {label: budget for label, budget in budgets.items() if random.random() < 0.7} or budgets
    return table, budgets, total


@pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
@pytest.mark.parametrize("rows", [None, 3000])
def test_budgets_of_segments_are_those_of_one_machine(rows):
    random = np.random.default_rng(SEED)
    for problem in range(200 if rows is None else 20):
        table, options, _ = random_problem(random, rows)
        table, budgets, total = with_segments(table, random)
        here = dfcl.allocate(table, **options, **total, segment=SEGMENT, segment_budgets=budgets)
        sent = []
        there, planned = plan_elsewhere(deal(table, int(random.integers(1, 65)), random), options, total, sent, budgets)
        assert figures_of(there) == figures_of(here), f"seed {SEED}, problem {problem}"
        assert (planned is not None) == here.has_plan
        if planned is not None:
            assert by_id(planned).equals(by_id(here.to_arrow().drop([SEGMENT]) if SEGMENT in here.to_arrow().column_names else here.to_arrow()))


@pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
@pytest.mark.parametrize("budget", [{"share_of_max": 0.3}, {"multiplier": 0.7}, {"budget": 30.0, "include_control": True}])
def test_every_way_to_say_a_budget(budget):
    random = np.random.default_rng(SEED)
    table, _, _ = random_problem(random, 300)
    here = dfcl.allocate(table, control="0", **budget)
    there, planned = plan_elsewhere(deal(table, 5, random), {"control": "0"}, budget)
    assert figures_of(there) == figures_of(here)
    assert by_id(planned).equals(by_id(here.to_arrow()))


def test_many_parts_send_little():
    """What each part sends, and what the side that merges needs, whatever the number of parts. `make test-spark` has 10,000."""
    random = np.random.default_rng(SEED)
    num_parts, arms = int(os.environ.get("DFCL_PARTS", "1000")), 5
    rows = 2 * num_parts
    cost = np.cumsum(random.random((rows, arms)), axis=1).astype(np.float32)
    revenue = (np.sqrt(cost) * random.uniform(0.5, 2, (rows, 1))).astype(np.float32)
    columns = {"id": np.arange(rows)}
    for arm in range(arms):
        columns |= {f"revenue_{arm}": revenue[:, arm], f"cost_{arm}": cost[:, arm]}
    table = pa.table(columns)
    parts = [table.slice(place, 2) for place in range(0, rows, 2)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sent = []
    options = {"control": "0"}
    there, _ = plan_elsewhere(parts, options, {"per_unit": 0.5}, sent)
    assert figures_of(there) == figures_of(dfcl.allocate(table, per_unit=0.5, **options))
    assert len(parts) == num_parts
    assert dict(sent)["build"] < 4_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kB


def test_a_unit_that_is_wrong_is_named():
    table = pa.table({"id": ["a", "b"], "revenue_0": [0.0, 1.0], "cost_0": [0.0, float("nan")]})
    with pytest.raises(dfcl.DataError, match="b"):
        plan_elsewhere([table], {"control": "0"}, {"budget": 1})


@pytest.mark.parametrize("field", ["min_units", "eligible"])
def test_what_ties_units_to_each_other_is_refused(field):
    table = pa.table({"id": [1, 2], "revenue_0": [0.0, 1.0], "cost_0": [0.0, 0.0]})
    value = {"min_units": ["0=1"], "eligible": "file.csv"}[field]
    with pytest.raises(dfcl.UsageError, match="needs all units on one machine"):
        plan_elsewhere([table], {"control": "0"}, {"budget": 1, field: value})


def test_units_without_ids_are_refused():
    table = pa.table({"revenue_0": [0.0, 1.0], "cost_0": [0.0, 0.0]})
    with pytest.raises(dfcl.DataError, match="no column 'id'"):
        plan_elsewhere([table], {"control": "0"}, {"budget": 1})
