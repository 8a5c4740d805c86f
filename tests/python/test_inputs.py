# SPDX-License-Identifier: Apache-2.0
"""Frames of every library give the same answers; wrong shapes and types give the right exception."""

import decimal
import subprocess
import sys

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dfcl


def as_pyarrow(columns):
    return pyarrow.table(columns)


def as_chunks(columns):
    table = pyarrow.table(columns)
    return pyarrow.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7, 1000), table.slice(1007)])


def as_dictionary(columns):
    table = pyarrow.table(columns)
    place = table.column_names.index("city")
    return table.set_column(place, "city", table["city"].dictionary_encode())


def as_duckdb(columns):
    frame = pyarrow.table(columns)  # noqa: F841, found by its name
    return duckdb.sql("select * from frame")


def as_pandas_category(columns):
    return pandas.DataFrame(columns).astype({"city": "category"})


def as_polars_category(columns):
    return polars.DataFrame(columns).with_columns(polars.col("city").cast(polars.Categorical))


def as_nulls(columns):
    """NaN as null."""
    table = pyarrow.table(columns)
    x = pyarrow.array(columns["x"], from_pandas=True)
    return table.set_column(table.column_names.index("x"), "x", x)


def as_record_array(columns):
    types = [(name, values.dtype if values.dtype.kind != "U" else "U8") for name, values in columns.items()]
    array = np.empty(len(columns["x"]), dtype=types)
    for name, values in columns.items():
        array[name] = values
    return array


def as_big_endian(columns):
    return columns | {"x": columns["x"].astype(">f8"), "whole": columns["whole"].astype(">i8")}


FORMS = {
    "columns": dict,
    "pyarrow": as_pyarrow,
    "pyarrow reader": lambda columns: as_pyarrow(columns).to_reader(max_chunksize=100),
    "chunks": as_chunks,
    "dictionary": as_dictionary,
    "pandas": pandas.DataFrame,
    "pandas category": as_pandas_category,
    "pandas arrow": lambda columns: as_pyarrow(columns).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": polars.DataFrame,
    "polars category": as_polars_category,
    "polars lazy": lambda columns: polars.DataFrame(columns).lazy().collect(),
    "duckdb": as_duckdb,
    "nulls": as_nulls,
    "record array": as_record_array,
    "big endian": as_big_endian,
}


@pytest.fixture(scope="module")
def expected(small_study, small_trial):
    return dfcl.train(small_study, small_trial, method="tsm", epochs=2)


@pytest.mark.parametrize("form", FORMS)
def test_every_frame_gives_the_same_model_and_predictions(form, expected, small_study, small_trial):
    model = dfcl.train(small_study, FORMS[form](small_trial), method="tsm", epochs=2)
    assert model == expected
    ours = dfcl.predict(model, FORMS[form](small_trial))
    np.testing.assert_array_equal(ours.revenue, dfcl.predict(expected, small_trial).revenue)
    np.testing.assert_array_equal(ours.ids, small_trial["id"])


PREDICTIONS = {
    "id": np.arange(4),
    "revenue_0": np.array([1, 1, 1, 1]),
    "cost_0": np.zeros(4),
    "revenue_5": np.array([2, 3, 4, 5]),
    "cost_5": np.ones(4),
}


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32"])
def test_numbers_of_every_type_make_the_same_plan(kind):
    columns = {name: values.astype(kind) for name, values in PREDICTIONS.items()}
    for frame in (columns, pyarrow.table(columns), polars.DataFrame(columns), pandas.DataFrame(columns)):
        plan = dfcl.allocate(frame, budget=2)
        assert (plan.spend, plan.value) == (2.0, 11.0)
        assert plan.to_arrow()["arm"].to_pylist() == ["0", "0", "5", "5"]


@pytest.mark.parametrize("type_of", [pyarrow.decimal128(12, 2), pyarrow.decimal256(12, 2), pyarrow.float16()])
def test_decimals_and_half_floats(type_of):
    columns = {name: values.astype(np.float64) for name, values in PREDICTIONS.items()}
    if pyarrow.types.is_decimal(type_of):
        arrays = {n: pyarrow.array([decimal.Decimal(str(v)) for v in vs], type_of) for n, vs in columns.items()}
    else:
        arrays = {n: pyarrow.array(vs.astype(np.float16)) for n, vs in columns.items()}
    assert dfcl.allocate(pyarrow.table(arrays), budget=2).value == 11.0


def test_ids_may_be_texts():
    plan = dfcl.allocate(PREDICTIONS | {"id": np.array(["a", "b", "c", "d"])}, budget=2)
    assert plan.to_arrow()["id"].to_pylist() == ["a", "b", "c", "d"]


def test_an_array_has_the_features_of_the_model_as_columns(small_trial):
    names = ["x", "whole"]
    study = dfcl.Study(arm="arm", revenue="revenue", cost="cost", control="0", features=names)
    model = dfcl.train(study, small_trial, method="tsm", epochs=1)
    array = np.column_stack([small_trial[name] for name in names])
    for given in (array, np.asfortranarray(array), array.astype(np.float32)):
        np.testing.assert_array_equal(dfcl.predict(model, given).cost, dfcl.predict(model, small_trial).cost)
    with pytest.raises(dfcl.DataError, match="3 columns, expected 2"):
        dfcl.predict(model, np.zeros((5, 3)))


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (np.zeros(3), dfcl.DataError, "1 dimensions, expected 2"),
        (np.zeros((2, 2, 2)), dfcl.DataError, "3 dimensions"),
        ({}, dfcl.DataError, "without columns"),
        ({"revenue_0": [1.0], "cost_0": [1.0, 2.0]}, dfcl.DataError, "different lengths"),
        ({"revenue_0": [1.0]}, dfcl.DataError, "no column 'cost_0'"),
        ({"revenue_0": ["a"], "cost_0": [1.0]}, dfcl.DataError, "text in a numeric column"),
        ({"revenue_0": [np.inf], "cost_0": [1.0]}, dfcl.DataError, "not a finite number"),
        ({"revenue_0": [None], "cost_0": [1.0]}, dfcl.DataError, "not a finite number"),
        ({"revenue_0": np.zeros(2, complex), "cost_0": np.zeros(2)}, dfcl.DataError, "type that cannot be used"),
        (pyarrow.table({"revenue_0": [[1.0]], "cost_0": [1.0]}), dfcl.DataError, "list"),
        (pyarrow.table({"revenue_0": pyarrow.array([], pyarrow.float32()),
                        "cost_0": pyarrow.array([], pyarrow.float32())}), dfcl.DataError, "no rows"),
        (17, dfcl.UsageError, "cannot make a table of int"),
        ("absent.parquet", dfcl.FileError, "no such file"),
    ],
)  # fmt: skip
def test_wrong_shapes_and_types(given, error, text):
    with pytest.raises(error, match=text):
        dfcl.allocate(given, budget=1)


def test_a_failing_stream_is_an_error_of_its_own():
    def batches():
        yield pyarrow.record_batch({"revenue_0": [1.0], "cost_0": [0.0]})
        raise ValueError("the other side fell over")

    schema = pyarrow.schema({"revenue_0": pyarrow.float64(), "cost_0": pyarrow.float64()})
    with pytest.raises(dfcl.FileError, match="the other side fell over"):
        dfcl.allocate(pyarrow.RecordBatchReader.from_batches(schema, batches()), budget=1)


def test_pandas_without_pyarrow_works():
    script = """
import sys
sys.modules["pyarrow"] = None
import pandas, dfcl
frame = pandas.DataFrame({"id": ["a", "b"], "revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0],
                          "revenue_1": [2.0, 3.0], "cost_1": [1.0, 1.0]})
print(dfcl.allocate(frame, budget=1).value)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "4.0\n", done.stderr


def test_results_go_out_to_every_library():
    plan = dfcl.allocate(PREDICTIONS, budget=2)
    assert plan.to_arrow().num_rows == len(plan) == 4
    assert list(plan.to_pandas()["arm"]) == ["0", "0", "5", "5"]
    assert plan.to_polars()["arm"].to_list() == ["0", "0", "5", "5"]
    frame = plan.to_arrow()  # noqa: F841
    assert duckdb.sql("select count(*) from frame where arm = '5'").fetchall() == [(2,)]
