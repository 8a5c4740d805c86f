# SPDX-License-Identifier: Apache-2.0
"""Plans of Spark are those of one machine: any partitioning, ties, empty and skewed partitions, killed tasks."""

import json
import os
import time

import numpy as np
import pyarrow as pa
import pytest
from conftest import FULL, rows_of
from test_parts import SEGMENT, figures_of, random_problem, with_segments

import dfcl
from dfcl import spark as dfcl_spark

SEED = 2026
pytestmark = pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")


def here_and_there(table, options, budget, frame):
    here = dfcl.allocate(table, **options, **budget)
    there = dfcl_spark.allocate(frame, progress=False, **options, **budget)
    assert figures_of(there) == figures_of(here)
    assert there.has_plan == here.has_plan
    if here.has_plan:
        names = here.to_arrow().column_names
        assert there.frame.columns == names
        assert rows_of(there.frame, names) == sorted(zip(*here.to_arrow().to_pydict().values()))
    return there


def test_random_problems_in_any_number_of_partitions(frame_of):
    random = np.random.default_rng(SEED)
    for problem in range(200 if FULL else 4):
        table, options, budget = random_problem(random)
        partitions = int(2 ** random.uniform(0, 6 if FULL else 3))
        try:
            here_and_there(table, options, budget, frame_of(table, partitions, random))
        except AssertionError as wrong:
            raise AssertionError(f"seed {SEED}, problem {problem}, {partitions} partitions") from wrong


def smooth(rows, arms=4):
    random = np.random.default_rng(SEED)
    cost = np.cumsum(random.random((rows, arms)), axis=1).astype(np.float32)
    cost[:, 0] = 0
    revenue = (np.sqrt(cost) * random.uniform(0.5, 2, (rows, 1))).astype(np.float32)
    columns = {"id": np.arange(rows), "city": ["Ulm" if i % 3 else "Bonn" for i in range(rows)]}
    for arm in range(arms):
        columns |= {f"revenue_{arm}": revenue[:, arm], f"cost_{arm}": cost[:, arm]}
    return pa.table(columns)


def test_two_passes_find_the_plan_and_columns_travel(frame_of):
    table = smooth(3000)
    plan = here_and_there(table.drop(["city"]), {"control": "0"}, {"per_unit": 0.4}, frame_of(table, 4))
    assert [one["pass"] for one in plan.passes] == ["sample", "build", "collect"]
    carried = dfcl_spark.allocate(frame_of(table, 4), per_unit=0.4, control="0", carry=["city"], check_ids=False, progress=False)
    assert rows_of(carried.frame, ("id", "city")) == list(zip(table["id"].to_pylist(), table["city"].to_pylist()))
    assert carried.frame.columns == ["id", "arm", "revenue", "cost", "city"]


def test_hold_outs_and_exploration_are_those_of_one_machine(frame_of):
    table = smooth(2000).drop(["city"])
    plan = here_and_there(table, {"control": "0", "holdout": 0.1, "explore": 0.1}, {"per_unit": 0.4}, frame_of(table, 3))
    assert plan.frame.columns[4:] == ["role", "propensity", "control_revenue", "control_cost"]
    assert plan.figures["roles"]["holdout"]["units"] > 100


def test_a_launch_is_read_out_as_on_one_machine(frame_of):
    table = smooth(1500).drop(["city"])
    options = {"holdout_share": 0.2, "control": "0"}
    plan = dfcl.allocate(table, per_unit=0.4, control="0", holdout=0.2).to_arrow().replace_schema_metadata(None)
    random = np.random.default_rng(SEED)
    earned = pa.array(random.poisson(plan["revenue"].to_numpy() + 1).astype(float))
    outcomes = pa.table({"id": plan["id"], "arm": plan["arm"], "revenue": earned, "cost": pa.array(plan["cost"].to_numpy().astype(float))})
    here = dfcl.readout(plan.sort_by("id"), outcomes.sort_by("id"), **options)
    there = dfcl_spark.readout(frame_of(plan, 3), frame_of(outcomes, 2), progress=False, **options)
    assert json.dumps(there.figures) == json.dumps(here.figures)
    for partitions in (1, 3, 17) if FULL else (3,):
        summed = dfcl_spark.readout(frame_of(plan, partitions), frame_of(outcomes, 2), on="executors", progress=False, **options)
        assert json.dumps(summed.figures) == json.dumps(here.figures), f"{partitions} partitions"
    with pytest.raises(dfcl.UsageError, match="no matter of a sample"):
        dfcl_spark.readout(frame_of(plan, 1), frame_of(outcomes, 1), max_rows=1000, **options)


def test_the_curve_is_that_of_one_machine(frame_of):
    table = smooth(2000).drop(["city"])
    there = dfcl_spark.allocate_curve(frame_of(table, 3), points=7, control="0", progress=False)
    assert there.figures == dfcl.allocate_curve(table, points=7, control="0").figures


def test_a_task_that_is_killed_in_each_pass_changes_nothing(frame_of):
    def killed_once(batches):  # inside: executors cannot import this file
        """The first try of partition 1 dies, in each pass over the frame."""
        from pyspark import TaskContext

        task = TaskContext.get()
        yield from batches
        if task.partitionId() == 1 and task.attemptNumber() == 0:
            os._exit(1)

    table = smooth(600).drop(["city"])
    frame = frame_of(table, 2)
    dying = frame.mapInArrow(killed_once, frame.schema)
    here = dfcl.allocate(table, per_unit=0.4, control="0")
    there = dfcl_spark.allocate(dying, per_unit=0.4, control="0", check_ids=False, progress=False)
    assert [one["rows"] for one in there.passes] == [600, 600, 600]  # a second try counts once
    assert figures_of(there) == figures_of(here)
    assert rows_of(there.frame) == sorted(zip(*here.to_arrow().select(["id", "arm", "revenue", "cost"]).to_pydict().values()))


def test_a_poisoned_row_is_one_clear_error(frame_of):
    table = smooth(300).drop(["city"])
    cost = table["cost_2"].to_numpy().copy()
    cost[77] = np.inf
    frame = frame_of(table.set_column(table.schema.get_field_index("cost_2"), "cost_2", pa.array(cost)), 3)
    with pytest.raises(dfcl.DataError) as caught:
        dfcl_spark.allocate(frame, per_unit=0.4, control="0", check_ids=False, progress=False)
    message = str(caught.value)
    assert "partition" in caught.value.where and "77" in message and "cost_2" in message
    assert len(message.splitlines()) <= 2


def test_an_id_that_stands_twice_is_refused(frame_of):
    table = smooth(50).drop(["city"])
    with pytest.raises(dfcl.DataError, match="the id '7' stands 2 times"):
        dfcl_spark.allocate(frame_of(pa.concat_tables([table, table.slice(7, 1)]), 2), per_unit=0.4, control="0")


def test_arguments_are_checked_before_anything_runs(frame_of):
    frame = frame_of(smooth(20), 1)
    for wrong, field in (({"carry": ["town"]}, "carry"), ({"carry": "city"}, "carry"), ({"per_unit": float("nan")}, "per_unit"),
                         ({"per_unit": 1, "budget": 1}, "per_unit"), ({"control": "9", "per_unit": 1}, "control")):  # fmt: skip
        with pytest.raises(dfcl.UsageError, match=field):
            dfcl_spark.allocate(frame, check_ids=False, **{"control": "0", **wrong})
    with pytest.raises(dfcl.UsageError, match="no column 'id'"):
        dfcl_spark.allocate(frame.drop("id"), per_unit=1)


def test_budgets_of_segments_are_those_of_one_machine(frame_of):
    random = np.random.default_rng(SEED)
    for problem in range(30 if FULL else 2):
        table, options, _ = random_problem(random)
        table, budgets, total = with_segments(table, random)
        partitions = int(2 ** random.uniform(0, 4))
        here = dfcl.allocate(table, **options, **total, segment=SEGMENT, segment_budgets=budgets)
        frame = frame_of(table, partitions, random)
        there = dfcl_spark.allocate(frame, **options, **total, segment=SEGMENT, segment_budgets=budgets, check_ids=False, progress=False)
        assert figures_of(there) == figures_of(here), f"seed {SEED}, problem {problem}, {partitions} partitions"
        if here.has_plan:
            names = [name for name in here.to_arrow().column_names if name != SEGMENT]
            assert rows_of(there.frame, names) == sorted(zip(*here.to_arrow().select(names).to_pydict().values()))


def test_segments_are_checked(frame_of):
    table = smooth(60)
    frame = frame_of(table, 2)
    given = {"control": "0", "segment": "city", "segment_budgets": {"Ulm": 3.0}, "check_ids": False, "progress": False}
    with pytest.raises(dfcl.DataError, match="'Bonn' has no budget"):
        dfcl_spark.allocate(frame, **given)
    with pytest.raises(dfcl.UsageError, match="no column 'town'"):
        dfcl_spark.allocate(frame, **{**given, "segment": "town"})
    with pytest.raises(dfcl.UsageError, match="whole numbers or texts"):
        dfcl_spark.allocate(frame, **{**given, "segment": "cost_1"})
    carried = dfcl_spark.allocate(frame, **{**given, "segment_budgets": {"Ulm": 3.0, "Bonn": 1.0}}, carry=["city"])
    assert rows_of(carried.frame, ("id", "city")) == list(zip(table["id"].to_pylist(), table["city"].to_pylist()))


def test_progress_tells_stages_and_rows(frame_of):
    frame = frame_of(smooth(200).drop(["city"]), 2)
    steps = []
    dfcl_spark.allocate(frame, per_unit=0.4, control="0", check_ids=False, progress=steps.append)
    stages = ["looking at a sample", "building the path", "finding the cut"]
    assert list(dict.fromkeys(step.task for step in steps)) == stages
    for stage in stages:
        told = [step for step in steps if step.task == stage]
        assert told[0].done == 0 and told[-1].done == 200 and told[-1].unit == "rows"
    assert [step.total for step in steps if step.task == "finding the cut"][0] == 200  # known by then


def test_a_call_can_be_stopped_between_passes_and_in_one(spark, frame_of):
    frame = frame_of(smooth(200).drop(["city"]), 2)
    with pytest.raises(dfcl.Stopped):
        dfcl_spark.allocate(frame, per_unit=0.4, control="0", check_ids=False, progress=lambda step: step.task.startswith("building"))

    def slow(batches):
        """A partition that takes very long."""
        import time

        for batch in batches:
            time.sleep(30)
            yield batch

    looks = []

    def stop(step):
        looks.append(step.task)
        return len(looks) > 3  # while the first job runs

    begin = time.monotonic()
    with pytest.raises(dfcl.Stopped):
        dfcl_spark.allocate(frame.mapInArrow(slow, frame.schema), per_unit=0.4, control="0", check_ids=False, progress=stop)
    assert time.monotonic() - begin < 20
    assert set(looks) == {"looking at a sample"}
    assert dfcl_spark.allocate(frame, per_unit=0.4, control="0", check_ids=False, progress=False).has_plan  # Spark goes on


def test_a_budget_that_cannot_be_met_is_a_status(frame_of):
    table = pa.table({"id": [1, 2], "revenue_0": [1.0, 1.0], "cost_0": [3.0, 3.0], "revenue_1": [2.0, 2.0], "cost_1": [4.0, 4.0]})
    plan = dfcl_spark.allocate(frame_of(table, 1), budget=1, include_control=True, control="0", progress=False)
    assert not plan.has_plan
    with pytest.raises(dfcl.InfeasibleError):
        plan.frame
