# SPDX-License-Identifier: Apache-2.0
"""Predictions of Spark are those of one machine, and say what they are."""

import pyarrow as pa
import pytest
from conftest import rows_of

import dfcl
from dfcl import spark as dfcl_spark


@pytest.fixture(scope="module")
def made():
    return dfcl.simulate("marketing", rows=3000, seed=1)


@pytest.fixture(scope="module")
def model(made):
    return dfcl.train(made.study, made.trial, method="tsm", epochs=1, seed=1, progress=False)


@pytest.fixture(scope="module")
def units(made, frame_of):
    table = pa.table(made.trial)
    kept = [field.name for field in table.schema if field.type in (pa.int64(), pa.string(), pa.float32(), pa.float64())]
    return frame_of(table.select(kept).replace_schema_metadata(None), 5)


def test_predictions_are_the_same_numbers(made, model, units):
    here = pa.table(model.predict(made.trial, progress=False))
    there = dfcl_spark.predict(model, units)
    names = here.column_names
    assert there.columns == names
    assert rows_of(there, names) == sorted(zip(*here.to_pydict().values()))


def test_columns_travel_and_empty_partitions_are_none(model, units):
    feature = model.features[0]
    there = dfcl_spark.predict(model, units.where("1 = 0"), carry=[feature])
    assert there.columns[-1] == feature
    assert there.collect() == []


@pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
def test_a_plan_knows_what_the_predictions_are(made, model, units):
    here = dfcl.allocate(model.predict(made.trial, progress=False), per_unit=0.05)
    there = dfcl_spark.allocate(dfcl_spark.predict(model, units), per_unit=0.05, check_ids=False, progress=False)
    drop = {"seconds", "file"}
    assert {k: v for k, v in there.figures.items() if k not in drop} == {k: v for k, v in here.figures.items() if k not in drop}
    assert rows_of(there.frame) == sorted(zip(*here.to_arrow().select(["id", "arm", "revenue", "cost"]).to_pydict().values()))


def test_a_stage_of_a_pipeline_saves_and_loads_its_model(model, units, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel

    stage = dfcl_spark.PredictTransformer(model, carry=[model.features[0]])
    fitted = Pipeline(stages=[stage]).fit(units)
    fitted.write().overwrite().save(str(tmp_path / "pipeline"))
    loaded = PipelineModel.load(str(tmp_path / "pipeline"))
    names = dfcl_spark.predict(model, units).columns
    assert rows_of(loaded.transform(units), names) == rows_of(dfcl_spark.predict(model, units), names)


def test_columns_that_are_missing_are_named(model, units):
    with pytest.raises(dfcl.UsageError, match=f"no column '{model.features[0]}'"):
        dfcl_spark.predict(model, units.drop(model.features[0]))
