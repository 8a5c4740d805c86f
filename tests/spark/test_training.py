# SPDX-License-Identifier: Apache-2.0
"""Models, checks and evaluations of Spark are those of one machine; shards give one model, whatever the partitions."""

import json
import os

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import FULL

import dfcl
from dfcl import spark as dfcl_spark

pytestmark = pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
SETTINGS = {"boost.trees": 20, "boost.bags": 1}


@pytest.fixture(scope="module")
def table():
    trial = pa.table(dfcl.simulate("criteo", rows=3000, seed=3).trial).replace_schema_metadata(None)
    units = pa.array(range(len(trial)))
    # Towns of which some are too few in a shard to be told apart there.
    town = pc.cast(pc.min_element_wise(pc.bit_wise_and(units, 63), 40), pa.string())
    return trial.append_column("id", units).append_column("town", town)


@pytest.fixture(scope="module")
def study():
    return dfcl.simulate("criteo", rows=10, seed=3).study.set({"columns.id": "id", "budgets.share_of_max": [0.3], "method.name": "tsm-boost", **SETTINGS})


def test_one_fit_check_and_evaluation_are_those_of_one_machine(study, table, frame_of):
    frame = frame_of(table, 5)
    here = dfcl.train(study, table, seed=1, progress=False)
    there = dfcl_spark.train(frame, study, seed=1, progress=False)
    assert there.to_bytes() == here.to_bytes()
    assert dfcl_spark.check(frame, study, progress=False).figures == dfcl.check(study, table).figures
    summed = dfcl_spark.check(frame, study, on="executors", progress=False)
    assert json.dumps(summed.figures) == json.dumps(dfcl_spark.check(frame_of(table, 2), study, on="executors", progress=False).figures)
    assert str(summed) == str(dfcl.check(study, table))
    options = {"resamples": 20, "estimator": "hajek"}
    judged = dfcl_spark.evaluate(frame, study, there, progress=False, **options)
    assert json.dumps(judged.figures) == json.dumps(dfcl.evaluate(study, here, table, **options).figures)


def test_shards_give_one_model_whatever_the_partitions(study, table, frame_of):
    options = {"shards": 3, "judging_rows": 300, "settings": {"boost.trees": 10}, "progress": False}
    model = dfcl_spark.train(frame_of(table, 2), study, **options)
    assert model.to_bytes() == dfcl_spark.train(frame_of(table, 7), study, **options).to_bytes()
    assert dfcl.Model.from_bytes(model.to_bytes()).predict(table, progress=False) is not None
    with pytest.raises(dfcl.DataError, match="was trained or chosen on 100 %"):  # units of every shard
        dfcl.evaluate(study, model, table, split="train")


def test_training_in_shards_says_its_stages_and_can_be_stopped(study, table, frame_of):
    stages = []

    def step(one):
        stages.append(one.task)
        return one.task == "fitting shards"

    with pytest.raises(dfcl.Stopped):
        dfcl_spark.train(frame_of(table, 2), study, shards=2, judging_rows=300, progress=step)
    assert stages[0] == "collecting units that judge" and stages[-1] == "fitting shards"


def test_a_trial_that_is_too_large_is_sampled_with_a_warning(study, table, frame_of):
    with pytest.warns(dfcl.DfclWarning, match="of 3,000 rows, drawn by a hash"):
        checked = dfcl_spark.check(frame_of(table, 2), study, max_rows=1500, progress=False)
    assert 1300 < checked.figures["units"] < 1700


def test_ids_that_come_again_are_counted_on_executors(study, table, frame_of):
    twice = pa.concat_tables([table, table.slice(5, 40)])
    here = dfcl.check(study, twice.sort_by("id")).figures["duplicates"]
    assert dfcl_spark.check(frame_of(twice, 3), study, on="executors", progress=False).figures["duplicates"] == here
    assert here["rows"] == 40


def test_a_row_that_makes_no_sense_is_named_with_its_partition(study, table, frame_of):
    place = table.schema.get_field_index("visit") if "visit" in table.column_names else table.schema.get_field_index(cost_of(study))
    wrong = table.column(place).to_numpy().astype("float32")
    wrong[77] = float("inf")
    frame = frame_of(table.set_column(place, table.column_names[place], pa.array(wrong)), 3)
    with pytest.raises(dfcl.DataError) as caught:
        dfcl_spark.check(frame, study, on="executors", max_rows=1000, progress=False)
    assert "partition" in caught.value.where or "row" in caught.value.where


def cost_of(study):
    import tomllib

    return tomllib.loads(study.text)["columns"]["cost"]


@pytest.mark.skipif(not FULL, reason="takes half a minute: make test-spark without QUICK")
def test_a_task_that_is_killed_changes_no_model_and_no_check(study, table, frame_of):
    def killed_once(batches):  # inside: executors cannot import this file
        """The first try of partition 1 dies."""
        from pyspark import TaskContext

        task = TaskContext.get()
        yield from batches
        if task.partitionId() == 1 and task.attemptNumber() == 0:
            os._exit(1)

    frame = frame_of(table, 2)
    dying = frame.mapInArrow(killed_once, frame.schema)
    options = {"shards": 2, "judging_rows": 300, "settings": {"boost.trees": 5}, "progress": False}
    assert dfcl_spark.train(dying, study, **options).to_bytes() == dfcl_spark.train(frame, study, **options).to_bytes()
    there = dfcl_spark.check(dying, study, on="executors", progress=False)
    assert json.dumps(there.figures) == json.dumps(dfcl_spark.check(frame, study, on="executors", progress=False).figures)


def test_arguments_of_training_are_checked(study, table, frame_of):
    frame = frame_of(table.slice(0, 50), 1)
    for wrong, field in (({"shards": 0}, "shards"), ({"shards": 257}, "shards"), ({"max_rows": 0}, "max_rows")):
        with pytest.raises(dfcl.UsageError, match=field):
            dfcl_spark.train(frame, study, **wrong)
    with pytest.raises(dfcl.UsageError, match="no column"):
        dfcl_spark.train(frame.drop("id"), study)
