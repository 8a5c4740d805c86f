# SPDX-License-Identifier: Apache-2.0
"""Models, checks and evaluations of Spark are those of one machine; shards give one model, whatever the partitions."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest

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
    options = {"resamples": 20, "estimator": "hajek"}
    judged = dfcl_spark.evaluate(frame, study, there, progress=False, **options)
    assert json.dumps(judged.figures) == json.dumps(dfcl.evaluate(study, here, table, **options).figures)


def test_shards_give_one_model_whatever_the_partitions(study, table, frame_of):
    options = {"shards": 3, "judging_rows": 300, "settings": {"boost.trees": 10}, "progress": False}
    model = dfcl_spark.train(frame_of(table, 2), study, **options)
    assert model.to_bytes() == dfcl_spark.train(frame_of(table, 7), study, **options).to_bytes()
    members = model.figures["stack"]["members"]
    assert [one["method"] for one in members] == ["tsm-boost in 3 shards", "mean-effect"]
    assert sum(one["weight"] for one in members) == pytest.approx(1)
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


def test_arguments_of_training_are_checked(study, table, frame_of):
    frame = frame_of(table.slice(0, 50), 1)
    for wrong, field in (({"shards": 0}, "shards"), ({"shards": 257}, "shards"), ({"max_rows": 0}, "max_rows")):
        with pytest.raises(dfcl.UsageError, match=field):
            dfcl_spark.train(frame, study, **wrong)
    with pytest.raises(dfcl.UsageError, match="no column"):
        dfcl_spark.train(frame.drop("id"), study)
