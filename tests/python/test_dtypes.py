# SPDX-License-Identifier: Apache-2.0
"""Columns of every type: each is a number, a category, or refused with its name and its type."""

import datetime
import decimal
import uuid

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.compute
import pytest

import dfcl

ROWS = 300
random = np.random.default_rng(1)
ARM = random.integers(0, 2, ROWS)
BASE = {"arm": ARM, "revenue": 1 + ARM * random.random(ROWS), "cost": 0.3 * ARM}
NUMBERS = random.normal(size=ROWS)
DAYS = np.datetime64("2024-01-01") + random.integers(0, 300, ROWS)
BASE["revenue"] = BASE["revenue"] + 5.0 * (DAYS > np.datetime64("2024-06-01"))  # so that two trees show dates
MONTHS = pandas.DatetimeIndex(DAYS).to_period("M")
ODD = [bool(row % 2) for row in range(ROWS)]
STUDY = dfcl.Study(arm="arm", revenue="revenue", cost="cost", control="0", per_unit=[0.1], settings={"split.train": 1.0, "split.validation": 0.0, "split.test": 0.0})  # fmt: skip


def in_pandas(values):
    return pandas.DataFrame(BASE).assign(odd=values)


def in_arrow(values):
    return pyarrow.table(BASE | {"odd": values})


def in_polars(values, dtype=None):
    return polars.DataFrame(BASE).with_columns(polars.Series("odd", values, dtype=dtype))


def in_columns(values):
    return BASE | {"odd": values}


def trained(frame, study=STUDY):
    return study.train(frame, method="tsm-boost", trees=2, force=True)


def with_some(missing, value):
    return [missing if odd else value for odd in ODD]


class Nothing:
    """Without a text of its own."""


NUMERIC = {
    "pandas timedelta": lambda: in_pandas(pandas.to_timedelta(ARM, unit="h")),
    "pandas datetime": lambda: in_pandas(pandas.DatetimeIndex(DAYS)),
    "pandas datetime with a zone": lambda: in_pandas(pandas.DatetimeIndex(DAYS).tz_localize("Europe/Berlin")),
    "pandas period": lambda: in_pandas(MONTHS),
    "pandas dates": lambda: in_pandas([day.item() for day in DAYS]),
    "pandas decimals": lambda: in_pandas([decimal.Decimal(odd) for odd in ODD]),
    "pandas Int64": lambda: in_pandas(pandas.array(with_some(None, 3), dtype="Int64")),
    "pandas boolean": lambda: in_pandas(pandas.array(with_some(None, True), dtype="boolean")),
    "pandas sparse": lambda: in_pandas(pandas.arrays.SparseArray(ARM)),
    "pandas float16": lambda: in_pandas(NUMBERS.astype(np.float16)),
    "pandas None": lambda: in_pandas([None] * ROWS),
    "arrow null": lambda: in_arrow(pyarrow.nulls(ROWS)),
    "arrow date32": lambda: in_arrow(pyarrow.array(DAYS)),
    "arrow date64": lambda: in_arrow(pyarrow.array(DAYS, pyarrow.date64())),
    "arrow duration": lambda: in_arrow(pyarrow.array(ARM, pyarrow.duration("s"))),
    "arrow decimal32": lambda: in_arrow(pyarrow.array([decimal.Decimal(odd) for odd in ODD], pyarrow.decimal32(5, 1))),
    "arrow decimal64": lambda: in_arrow(pyarrow.array([decimal.Decimal(odd) for odd in ODD], pyarrow.decimal64(5, 1))),
    "polars datetime": lambda: in_polars(DAYS, polars.Datetime("us")),
    "polars duration": lambda: in_polars(ARM).with_columns(polars.col("odd").cast(polars.Duration("ms"))),
    "polars decimal": lambda: in_polars([decimal.Decimal(odd) for odd in ODD]),
    "polars null": lambda: in_polars([None] * ROWS),
    "columns datetime64": lambda: in_columns(DAYS),
    "columns timedelta64": lambda: in_columns(DAYS - DAYS[0]),
    "columns dates": lambda: in_columns([day.item() for day in DAYS]),
    "columns timedeltas": lambda: in_columns([datetime.timedelta(hours=odd) for odd in ODD]),
    "columns decimals": lambda: in_columns(with_some(None, decimal.Decimal("1.5"))),
    "columns pandas.NA": lambda: in_columns(np.array(with_some(pandas.NA, 3), object)),
    "columns longdouble": lambda: in_columns(NUMBERS.astype(np.longdouble)),
}
CATEGORIES = {
    "pandas.cut": (lambda: in_pandas(pandas.cut(NUMBERS, [-9, 0, 9])), ["(-9, 0]", "(0, 9]"]),
    "pandas interval": (lambda: in_pandas(pandas.arrays.IntervalArray(pandas.cut(NUMBERS, [-9, 0, 9]))), ["(-9, 0]", "(0, 9]"]),
    "pandas category of periods": (lambda: in_pandas(pandas.Categorical(pandas.PeriodIndex(with_some("2024-01", "2024-02"), freq="M"))), ["2024-01", "2024-02"]),
    "pandas category of tuples": (lambda: in_pandas(pandas.Categorical([(odd,) for odd in ODD])), ["(False,)", "(True,)"]),
    "pandas category of both": (lambda: in_pandas(pandas.Categorical(with_some(1, "a"))), ["1", "a"]),
    "pandas string": (lambda: in_pandas(pandas.array(with_some(None, "a"), dtype="string")), ["a"]),
    "arrow string_view": (lambda: in_arrow(pyarrow.array(with_some("b", "a"), pyarrow.string_view())), ["a", "b"]),
    "arrow dictionary of numbers": (lambda: in_arrow(pyarrow.array(ARM).dictionary_encode()), ["0", "1"]),
    "polars enum": (lambda: in_polars(with_some("b", "a"), polars.Enum(["a", "b"])), ["a", "b"]),
    "columns pandas.NA": (lambda: in_columns(np.array(with_some(pandas.NA, "a"), object)), ["a"]),
    "columns bytes": (lambda: in_columns(np.array(with_some(b"b", b"a"), object)), ["a", "b"]),
    "columns uuid": (lambda: in_columns(np.array(with_some(None, uuid.UUID(int=1)), object)), [str(uuid.UUID(int=1))]),
    "columns StringDType": (lambda: in_columns(np.array(with_some("b", "a"), dtype=np.dtypes.StringDType())), ["a", "b"]),
}  # fmt: skip
REFUSED = {
    "pandas complex": (lambda: in_pandas(NUMBERS + 1j), "complex128"),
    "pandas lists": (lambda: in_pandas([[1, 2]] * ROWS), "list"),
    "pandas sets": (lambda: in_pandas([{1, 2}] * ROWS), "list"),
    "pandas numbers and texts": (lambda: in_pandas(with_some(1, "a")), "object holding int and str"),
    "pandas times": (lambda: in_pandas([datetime.time(odd) for odd in ODD]), "time64"),
    "pandas bytes": (lambda: in_pandas([b"a"] * ROWS), "binary"),
    "pandas uuid": (lambda: in_pandas([uuid.UUID(int=odd) for odd in ODD]), "uuid"),
    "pandas lists of Arrow": (lambda: in_pandas(pandas.array([[1.0]] * ROWS, dtype=pandas.ArrowDtype(pyarrow.list_(pyarrow.float64())))), "list"),
    "arrow list": (lambda: in_arrow(pyarrow.array([[1.0]] * ROWS)), "list<item: double>"),
    "arrow large_list": (lambda: in_arrow(pyarrow.array([[1.0]] * ROWS, pyarrow.large_list(pyarrow.float64()))), "large_list"),
    "arrow fixed_size_list": (lambda: in_arrow(pyarrow.array([[1.0]] * ROWS, pyarrow.list_(pyarrow.float64(), 1))), "fixed_size_list"),
    "arrow struct": (lambda: in_arrow(pyarrow.array([{"a": {"b": 1}}] * ROWS)), "struct"),
    "arrow map": (lambda: in_arrow(pyarrow.array([[("a", 1)]] * ROWS, pyarrow.map_(pyarrow.string(), pyarrow.int64()))), "map"),
    "arrow binary": (lambda: in_arrow(pyarrow.array([b"a"] * ROWS)), "binary"),
    "arrow time32": (lambda: in_arrow(pyarrow.array([datetime.time(1)] * ROWS, pyarrow.time32("s"))), "time32"),
    "arrow months": (lambda: in_arrow(pyarrow.array([(1, 2, 3)] * ROWS, pyarrow.month_day_nano_interval())), "month_day_nano_interval"),
    "arrow runs": (lambda: in_arrow(pyarrow.compute.run_end_encode(pyarrow.array(ARM))), "run_end_encoded"),
    "arrow dictionary of lists": (lambda: in_arrow(pyarrow.DictionaryArray.from_arrays(pyarrow.array(ARM), pyarrow.array([[1], [2]]))), "list"),
    "polars Object": (lambda: in_polars([Nothing() for _ in ODD], polars.Object), "Object"),
    "polars List": (lambda: in_polars([[1, 2]] * ROWS), "large_list"),
    "polars Array": (lambda: in_polars([[1, 2]] * ROWS, polars.Array(polars.Int64, 2)), "fixed_size_list"),
    "polars Struct": (lambda: in_polars([{"a": 1}] * ROWS), "struct"),
    "polars Time": (lambda: in_polars([datetime.time(1)] * ROWS), "time64"),
    "polars Int128": (lambda: in_polars(ARM, polars.Int128), "Int128"),
    "columns complex": (lambda: in_columns(NUMBERS + 1j), "complex128"),
    "columns complex objects": (lambda: in_columns(np.array([1j] * ROWS, object)), "object holding complex"),
    "columns lists": (lambda: in_columns([[1, 2]] * ROWS), "2 dimensions"),
    "columns of lists": (lambda: in_columns(np.array([[1], [1, 2]] * (ROWS // 2), object)), "object holding list"),
    "columns records": (lambda: in_columns(np.zeros(ROWS, [("a", int)])), r"\[\('a'"),
    "columns without texts": (lambda: in_columns(np.array([Nothing() for _ in ODD], object)), "object holding Nothing"),
    "columns of months": (lambda: in_columns(np.array([1] * ROWS, "m8[M]")), r"timedelta64\[M\]"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMERIC)
def test_numbers(kind):
    (feature,) = trained(NUMERIC[kind]()).figures["features"]
    assert feature == {"name": "odd", "kind": "number"}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories(kind):
    make, levels = CATEGORIES[kind]
    (feature,) = trained(make()).figures["features"]
    assert feature["kind"] == "category" and sorted(feature["levels"][1:]) == levels


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_used_is_named_with_its_type(kind):
    make, dtype = REFUSED[kind]
    with pytest.raises(dfcl.DataError, match=rf"column 'odd'.*{dtype}"):
        trained(make())


def test_a_column_that_cannot_be_used_can_be_left_out():
    frame = in_arrow(pyarrow.array([[1.0]] * ROWS)).append_column("x", pyarrow.array(NUMBERS))
    expected = trained(frame.drop_columns(["odd"])).predict(frame).revenue
    model = STUDY.set({"columns.exclude": ["odd"]}).train(frame, method="tsm-boost", trees=2, force=True)
    np.testing.assert_array_equal(model.predict(frame).revenue, expected)


def test_dates_are_the_same_numbers_in_every_library_and_unit():
    """Pandas counts in seconds to nanoseconds, Polars in microseconds, NumPy in days; a model must not notice."""
    frames = [in_columns(DAYS), in_arrow(pyarrow.array(DAYS)), in_arrow(pyarrow.array(DAYS, pyarrow.date64())), in_polars(DAYS), in_columns([day.item() for day in DAYS])]
    for unit in ("s", "ms", "us", "ns"):
        frames += [in_pandas(pandas.DatetimeIndex(DAYS).as_unit(unit)), in_columns(DAYS.astype(f"M8[{unit}]")), in_arrow(pyarrow.array(DAYS.astype(f"M8[{unit}]")))]
    study = STUDY.set({"boost.min_leaf": 5, "boost.learning_rate": 0.5})
    models = {trained(frame, study).fingerprint for frame in frames}
    assert len(models) == 1
    model = trained(frames[0], study)
    expected = model.predict(frames[0]).revenue
    assert len(np.unique(expected[:, 1])) > 1
    for frame in frames:
        np.testing.assert_array_equal(model.predict(frame).revenue, expected)


def test_missing_times_are_missing_in_every_library():
    days = DAYS.astype("M8[ns]")
    days[::3] = np.datetime64("NaT")
    frames = [in_columns(days), in_pandas(days), in_arrow(pyarrow.array(days)), in_polars(days), in_columns(pandas.Series(days).astype(object).to_numpy())]
    assert len({trained(frame).fingerprint for frame in frames}) == 1


def test_columns_with_several_levels_are_named_as_such():
    frame = in_pandas(NUMBERS)
    frame.columns = pandas.MultiIndex.from_tuples([("a", name) for name in frame.columns])
    with pytest.raises(dfcl.DataError, match=r"<trial>: the columns have 2 levels \(a MultiIndex\)"):
        trained(frame)
