# SPDX-License-Identifier: Apache-2.0
"""Frames that must be collected, batches, empty ones, unusable columns; results with the caller's index and ids."""

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import dfcl

PREDICTIONS = {
    "id": ["a", "b", "c", "d"],
    "revenue_0": [1.0, 1.0, 1.0, 1.0],
    "cost_0": [0.0, 0.0, 0.0, 0.0],
    "revenue_5": [2.0, 3.0, 4.0, 5.0],
    "cost_5": [1.0, 1.0, 1.0, 1.0],
}


class OnlyArray:
    """A batch of a library that knows arrays and no streams."""

    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


def dataset(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table(PREDICTIONS), tmp_path / "part.parquet")
    return pyarrow.dataset.dataset(tmp_path)


FORMS = {
    "lazy": lambda _: polars.LazyFrame(PREDICTIONS),
    "lazy with a step": lambda _: polars.LazyFrame(PREDICTIONS | {"more": [1, 2, 3, 4]}).drop("more"),
    "batch": lambda _: pyarrow.record_batch(PREDICTIONS),
    "array": lambda _: OnlyArray(pyarrow.record_batch(PREDICTIONS)),
    "dataset": dataset,
    "reader": lambda _: pyarrow.table(PREDICTIONS).to_reader(max_chunksize=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_plan(form, tmp_path):
    plan = dfcl.allocate(FORMS[form](tmp_path), budget=2)
    assert plan.arm.tolist() == ["0", "0", "5", "5"] and plan.ids.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("frame_of", [
    lambda table: table, lambda table: table.to_batches()[0] if table.num_rows else pyarrow.RecordBatch.from_pylist([], table.schema),
    lambda table: table.to_reader(), polars.from_arrow, lambda table: table.to_pandas(), lambda table: polars.from_arrow(table).lazy(),
])  # fmt: skip
def test_predictions_for_nobody_are_empty(frame_of, model, made):
    none = frame_of(made.trial.to_arrow().slice(0, 0))
    prediction = dfcl.predict(model, none)
    assert len(prediction) == 0 and prediction.revenue.shape == (0, 5)
    assert prediction.to_arrow().num_rows == 0


def test_results_carry_the_index_and_the_ids_of_the_frame(small_study, small_trial):
    frame = pandas.DataFrame(small_trial).sample(frac=0.5, random_state=1).set_index("city", drop=False)
    frame.index.name = "town"
    model = small_study.train(frame, method="tsm", epochs=1, force=True)
    prediction = model.predict(frame)
    assert prediction.to_pandas().index.equals(frame.index) and "town" not in model.features
    plan = model.allocate(frame, per_unit=0.1)
    for made in (plan, prediction.allocate(per_unit=0.1), dfcl.allocate(prediction.to_pandas(), per_unit=0.1)):
        table = made.to_pandas()
        assert table.index.equals(frame.index) and table.index.name == "town"
        np.testing.assert_array_equal(table["id"], frame["id"])
    joined = frame.reset_index(drop=True).assign(arm_of_plan=plan.to_pandas()["arm"].to_numpy())
    assert (joined["arm_of_plan"] == plan.arm).all()


def test_plain_row_numbers_are_no_index():
    assert list(dfcl.allocate(pandas.DataFrame(PREDICTIONS), budget=2).to_pandas().index) == [0, 1, 2, 3]


def test_a_column_that_cannot_be_used_is_named_with_its_type():
    frame = pandas.DataFrame(PREDICTIONS).assign(shape=[{"a": 1}, [2], 3, "x"])
    with pytest.raises(dfcl.DataError, match=r"<predictions>, column 'shape': .*object holding dict"):
        dfcl.allocate(frame, budget=1)
    with pytest.raises(dfcl.DataError, match=r"column 'cost_5': .*complex128"):
        dfcl.allocate(PREDICTIONS | {"cost_5": np.ones(4, complex)}, budget=1)
    with pytest.raises(dfcl.DataError, match=r"column 'cost_5'.*list"):
        dfcl.allocate(pyarrow.table(PREDICTIONS | {"cost_5": [[1.0]] * 4}), budget=1)
    with pytest.raises(dfcl.DataError, match="column 'id' stands 2 times"):
        dfcl.allocate(pandas.concat([pandas.DataFrame(PREDICTIONS)[["id"]], pandas.DataFrame(PREDICTIONS)], axis=1), budget=1)


def test_an_array_with_named_fields_trains(small_study, small_trial):
    types = [(name, values.dtype if values.dtype.kind != "U" else "U8") for name, values in small_trial.items()]
    array = np.empty(len(small_trial["x"]), dtype=types)
    for name, values in small_trial.items():
        array[name] = values
    named = dict(zip(["x", "whole"], np.column_stack([small_trial["x"], small_trial["whole"]]).T))
    expected = dfcl.train(small_study, small_trial, method="tsm", epochs=1)
    assert dfcl.train(small_study, array, method="tsm", epochs=1) == expected
    assert dfcl.train(small_study, small_trial | named | {"whole": small_trial["whole"]}, method="tsm", epochs=1) == expected


def test_results_go_out_to_every_library(made):
    result = dfcl.evaluate(made.study, {"truth": made.truth}, made.trial, resamples=40)
    frame = result.to_frame()
    assert {"model", "budget_per_unit", "incremental_revenue", "incremental_revenue_low",
            "incremental_revenue_high", "share_20"} <= set(frame.columns)  # fmt: skip
    assert (frame["incremental_revenue_low"] <= frame["incremental_revenue_high"]).all() and len(frame) == 6
    first = result["models"][0]["deployed"][0]["incremental_revenue"]
    assert frame["incremental_revenue"][0] == first and frame["incremental_revenue_low"][0] == first.low
    assert result.to_polars("curve").height == result.to_arrow("curve").num_rows == result.parts["curve"]
    assert set(result.to_frame("calibration")["outcome"]) == {"revenue", "cost"}
    with pytest.raises(dfcl.UsageError, match="part=: no table of this name"):
        result.to_frame("curves")
    check = made.study.check(made.trial)
    assert list(check.to_frame()["arm"]) == ["0", "5", "10", "15", "20"] and "revenue_low" in check.to_frame()
    assert {"revenue_difference", "revenue_difference_low", "revenue_difference_p"} <= set(check.to_frame().columns)
