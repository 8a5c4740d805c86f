# SPDX-License-Identifier: Apache-2.0
"""Evaluation on executors: the same bytes for any partitioning, and what one machine says."""

import json
import os

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import FULL
from test_judged_parts import COLUMNS, assert_near, evaluate_in_parts, said

import dfcl
from dfcl import spark as dfcl_spark

pytestmark = pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")


@pytest.fixture(scope="module")
def made():
    simulated = dfcl.simulate("marketing", rows=3000, seed=3)
    trial = pa.table(simulated.trial).replace_schema_metadata(None).select(COLUMNS)
    study = simulated.study.set({"budgets.share_of_max": [0.3]})
    model = dfcl.train(study, trial, method="tsm-boost", settings={"boost.trees": 10, "boost.bags": 1}, seed=1, progress=False)
    return trial, study, model


def test_any_partitioning_gives_the_bytes_of_one_part_and_what_one_machine_says(made, frame_of):
    trial, study, model = made
    models = {"boost": model}
    for estimator in ("hajek", "doubly-robust") if FULL else ("doubly-robust",):
        options = {"estimator": estimator, "resamples": 20}
        whole = json.dumps(evaluate_in_parts([trial], trial, study, models, **options).figures)
        for partitions in (1, 3, 17) if FULL else (3,):
            result = dfcl_spark.evaluate(frame_of(trial, partitions), study, models, on="executors", progress=False, **options)
            assert json.dumps(result.figures) == whole, f"{partitions} partitions"
        assert_near(said(result), said(dfcl.evaluate(study, models, trial, progress=False, **options)))


def test_a_poisoned_row_is_one_clear_error(made, frame_of):
    trial, study, model = made
    place = trial.schema.get_field_index("discount")
    arms = pc.if_else(pc.equal(trial["shop_id"], trial["shop_id"][77]), pa.scalar("nobody"), pc.cast(trial["discount"], pa.string()))
    with pytest.raises(dfcl.DataError, match="nobody"):
        dfcl_spark.evaluate(frame_of(trial.set_column(place, "discount", arms), 2), study, model, on="executors", max_rows=1000, progress=False)


@pytest.mark.skipif(not FULL, reason="takes half a minute: make test-spark without QUICK")
def test_a_task_that_is_killed_changes_nothing(made, frame_of):
    def killed_once(batches):  # inside: executors cannot import this file
        """The first try of partition 1 dies."""
        from pyspark import TaskContext

        task = TaskContext.get()
        yield from batches
        if task.partitionId() == 1 and task.attemptNumber() == 0:
            os._exit(1)

    trial, study, model = made
    options = {"estimator": "hajek", "resamples": 0}
    frame = frame_of(trial, 2)
    there = dfcl_spark.evaluate(frame.mapInArrow(killed_once, frame.schema), study, {"boost": model}, on="executors", progress=False, **options)
    assert json.dumps(there.figures) == json.dumps(evaluate_in_parts([trial], trial, study, {"boost": model}, **options).figures)


def test_arguments_are_checked(made, frame_of):
    trial, study, model = made
    frame = frame_of(trial, 1)
    with pytest.raises(dfcl.UsageError, match="on"):
        dfcl_spark.evaluate(frame, study, model, on="moon")
    with pytest.raises(dfcl.UsageError, match="segment"):
        dfcl_spark.evaluate(frame, study, model, on="executors", segment="city")
    with pytest.raises(dfcl.UsageError, match="need a model"):
        dfcl_spark.evaluate(frame, study, model.predict(trial, progress=False), on="executors", progress=False)
