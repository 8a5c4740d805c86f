# SPDX-License-Identifier: Apache-2.0
"""Tables in: paths, frames of any library that speaks the Arrow PyCapsule interface, mappings of columns, NumPy arrays."""

from __future__ import annotations

import datetime
import decimal
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _dfcl
from .errors import DataError, FileError, data_error, usage_error
from .types import TableLike

__all__ = ["Sources", "TableLike", "index_of"]


class Sources:
    """The tables of one call, under paths. Those in memory are let go when the call ends, however it ends."""

    def __init__(self) -> None:
        self._tables: list[_dfcl.MemoryTable] = []

    def __enter__(self) -> Sources:
        return self

    def __exit__(self, *failure: object) -> None:
        self._tables.clear()

    def path(self, table: TableLike | None, label: str, names: Sequence[str] | None = None) -> str:
        """"" for None. ``names`` are the columns of an array that has no names itself."""
        if table is None:
            return ""
        if isinstance(table, (str, os.PathLike)):
            return os.fspath(table)
        self._tables.append(_in_memory(table, label, names))
        return self._tables[-1].path

    def most_rows(self) -> int:
        """Rows of the largest table in memory."""
        return max((table.num_rows for table in self._tables), default=0)


_HINT = "make it numbers or texts, or drop it"


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, which are not themselves, and pandas.NA, which is neither itself nor another."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64, decimal.Decimal)) and bool(value != value)


def _texts(values: Sequence[Any]) -> list[str | None]:
    def text(value: Any) -> str | None:
        if _is_missing(value):
            return None
        return value if isinstance(value, str) else str(value)

    return [text(value) for value in values]


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def _array(values: Any) -> np.ndarray[Any, Any]:
    """An array of the values, exactly: NumPy makes floats of whole numbers that no type of its own can hold."""
    if isinstance(values, np.ndarray):
        return values
    array = np.asarray(values)
    if array.dtype.kind == "f" and isinstance(values, (list, tuple)) and all(_is_whole(value) for value in values):
        return np.array(values, dtype=object)
    return array


def _object_numbers(array: np.ndarray[Any, Any]) -> Any:
    """Python's numbers: whole ones exactly, as text where neither int64 nor uint64 holds them; else floats."""
    whole = [int(value) for value in array if _is_whole(value)]
    low, high = min(whole, default=0), max(whole, default=0)
    if whole and len(whole) == len(array):
        if -(2**63) <= low and high < 2**63:
            return np.array(whole, dtype=np.int64)
        if low >= 0 and high < 2**64:
            return np.array(whole, dtype=np.uint64)
    if max(-low, high) > 2**53:
        return _texts(array.tolist())
    return np.array([np.nan if _is_missing(value) else float(value) for value in array])


def _times(array: np.ndarray[Any, Any], name: str) -> tuple[Any, str]:
    """Instants or spans as whole numbers, in a part of a second that the extension module knows."""
    kind, unit = array.dtype.kind, np.datetime_data(array.dtype)[0]
    if unit in ("generic", "Y", "M") and kind == "m":
        raise data_error(f"column '{name}': a type that cannot be used: {array.dtype}", _HINT)
    known = unit if unit in ("s", "ms", "us", "ns") else "ns" if unit in ("ps", "fs", "as") else "s"
    code = f"{kind}8[{known}]"
    return np.ascontiguousarray(array.astype(code)).view(np.int64), code


def _object_times(values: list[Any]) -> np.ndarray[Any, Any] | None:
    """Python's dates, instants (in UTC) and spans as an array; None where there are others among them."""
    held = [value for value in values if not _is_missing(value)]
    if not held:
        return None
    for kind, code in ((datetime.date, "M8[us]"), (datetime.timedelta, "m8[us]")):
        if all(isinstance(value, kind) for value in held):
            return np.array([None if _is_missing(value) else _in_utc(value) for value in values], dtype=code)
    return None


def _in_utc(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value


def _types_of(values: list[Any]) -> str:
    names = sorted({type(value).__name__ for value in values if not _is_missing(value)})
    return " and ".join(names[:3]) + (" and more" if len(names) > 3 else "")


def _objects(array: np.ndarray[Any, Any], name: str) -> tuple[Any, str]:
    """A column of Python objects: numbers, times, or whatever has a text of its own."""
    values = array.tolist()
    held = [value for value in values if not _is_missing(value)]
    if all(isinstance(value, (numbers.Real, decimal.Decimal, np.number)) for value in held):
        return _object_numbers(array), ""
    times = _object_times(values)
    if times is not None:
        return _times(times, name)
    for value in held:
        has_text = any("__str__" in vars(kind) or "__repr__" in vars(kind) for kind in type(value).__mro__[:-1])
        if not has_text or isinstance(value, (list, tuple, dict, set, np.ndarray, complex)):
            raise data_error(f"column '{name}': a type that cannot be used: {array.dtype} holding {_types_of(values)}", _HINT)
    return _texts([value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]), ""


def column(values: Any, name: str) -> tuple[Any, str]:
    """A column as what the extension module takes: a contiguous array of numbers, or a list of texts; and, of times, what
    they count."""
    array = _array(values)
    if array.ndim != 1:
        raise data_error(f"column '{name}': {array.ndim} dimensions ({array.dtype}), expected 1", "make a column of each")
    if array.dtype.kind in "mM":
        return _times(array, name)
    if array.dtype.kind == "O":
        return _objects(array, name)
    return _plain_column(array, name), ""


def _plain_column(array: np.ndarray[Any, Any], name: str) -> Any:
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array).view(np.uint8)
    if array.dtype.kind in "iu" or array.dtype in (np.float32, np.float64):
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return np.ascontiguousarray(native)
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype=np.float32 if array.dtype.itemsize < 4 else np.float64)
    if array.dtype.kind in "UST":
        return _texts((np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array).tolist())
    raise data_error(f"column '{name}': a type that cannot be used: {array.dtype}", _HINT)


def _from_columns(columns: Mapping[str, Any], label: str) -> _dfcl.MemoryTable:
    if not columns:
        raise data_error(f"<{label}>: a table without columns")
    made = [(str(name), *column(values, str(name))) for name, values in columns.items()]
    return _dfcl.MemoryTable.from_columns(made, label)


def _from_array(array: np.ndarray[Any, Any], label: str, names: Sequence[str] | None) -> _dfcl.MemoryTable:
    if array.dtype.names is not None:
        return _from_columns({name: array[name] for name in array.dtype.names}, label)
    if array.ndim != 2:
        raise data_error(
            f"<{label}>: an array of {array.ndim} dimensions, expected 2: units x columns",
            "a mapping from names to arrays will do as well",
        )
    names = names if names is not None else [f"x{place}" for place in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise data_error(f"<{label}>: {array.shape[1]} columns, expected {len(names)}")
    return _from_columns({name: array[:, place] for place, name in enumerate(names)}, label)


def _is_pandas(table: object) -> bool:
    return all(hasattr(table, name) for name in ("index", "columns", "reset_index", "dtypes"))


def index_of(table: object) -> Any:
    """The index of a pandas frame, for results to carry; None where it is plain row numbers or there is none."""
    if not _is_pandas(table):
        return None
    index = table.index  # type: ignore[attr-defined]
    is_plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None
    return None if is_plain else index


def _plain_pandas(frame: Any, label: str) -> Any:
    """A pandas frame as other libraries know them: no index, which would be exported as a column, and no types that pandas
    alone has."""
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise data_error(
            f"<{label}>: the columns have {frame.columns.nlevels} levels (a MultiIndex), expected one name each",
            "frame.columns = ['_'.join(map(str, name)) for name in frame.columns]",
        )
    _require_single_names(frame, label)
    plain = frame.copy(deep=False)
    plain.index = range(len(plain))
    plain.columns = [str(name) for name in plain.columns]
    for name in plain.columns:
        values = plain[name]
        kind = type(values.dtype).__name__
        if kind == "IntervalDtype":
            plain[name] = _as_texts(values)
        elif kind == "PeriodDtype":
            plain[name] = values.dt.to_timestamp()
        elif kind == "SparseDtype":
            plain[name] = values.sparse.to_dense()
        elif kind == "CategoricalDtype" and not _is_plain(values.cat.categories.dtype):
            plain[name] = _as_texts(values)
    return plain


def _is_plain(dtype: Any) -> bool:
    """Whether categories of this type are numbers, texts or dates."""
    return getattr(dtype, "kind", "") in "biufM" or "str" in str(dtype)


def _as_texts(values: Any) -> Any:
    """Categories by their texts: (0, 1] of pandas.cut, periods, tuples."""
    return values.astype(object).map(str, na_action="ignore").astype("category")


def _require_single_names(frame: Any, label: str) -> None:
    names = [str(name) for name in frame.columns]
    for name in names:
        if names.count(name) > 1:
            raise data_error(f"<{label}>: column '{name}' stands {names.count(name)} times", "rename or drop one of them")


def _stream(frame: Any, label: str) -> _dfcl.MemoryTable:
    """By the Arrow stream of the frame. A column that the frame's library cannot export is named with its dtype."""
    for name, dtype in _opaque_columns(frame):
        raise data_error(f"<{label}>, column '{name}': a type that cannot be used: {dtype}", _HINT)
    try:
        capsule = frame.__arrow_c_stream__()
    except ImportError:  # pandas without pyarrow
        if not hasattr(frame, "columns"):
            raise
        return _from_columns({str(name): frame[name].to_numpy() for name in frame.columns}, label)
    except Exception as failure:
        raise _unusable(frame, label) or data_error(f"<{label}>: the frame cannot be exported: {failure}", _HINT) from failure
    try:
        return _dfcl.MemoryTable.from_stream(capsule, label)
    except FileError as failure:  # a type that Arrow does not know
        raise _unusable(frame, label) or failure from failure


def _opaque_columns(frame: Any) -> list[tuple[str, Any]]:
    """Columns of Python objects in a Polars frame, which are exported as their addresses."""
    schema = getattr(frame, "schema", None)
    if not isinstance(schema, Mapping):
        return []
    return [(name, dtype) for name, dtype in schema.items() if str(dtype) == "Object"]


def _unusable(frame: Any, label: str) -> DataError | None:
    """Names the first column that cannot come by a stream of its own."""
    names = getattr(frame, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    for name in names:
        one = frame[[name]] if _is_pandas(frame) else frame.select([name])
        try:
            _dfcl.MemoryTable.from_stream(one.__arrow_c_stream__(), label)
        except Exception:
            dtype = frame[name].dtype
            held = f" holding {_types_of(frame[name].to_numpy().tolist())}" if str(dtype) == "object" else ""
            return data_error(f"<{label}>, column '{name}': a type that cannot be used: {dtype}{held}", _HINT)
    return None


def collected(table: object) -> object:
    """A frame that lies in memory: lazy frames and data sets are read."""
    if hasattr(table, "collect") and not hasattr(table, "__arrow_c_stream__"):  # polars.LazyFrame and its like
        return table.collect()
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):  # a lazy frame that would be streamed
        return table.collect()
    if hasattr(table, "scanner") and not hasattr(table, "__arrow_c_stream__"):  # pyarrow.dataset.Dataset
        return table.scanner().to_reader()
    if hasattr(table, "to_native") and not hasattr(table, "__arrow_c_stream__"):  # narwhals
        return collected(table.to_native())
    return table


def _in_memory(table: object, label: str, names: Sequence[str] | None) -> _dfcl.MemoryTable:
    frame: Any = collected(table)
    if _is_pandas(frame):
        frame = _plain_pandas(frame, label)
    if hasattr(frame, "__arrow_c_stream__"):
        return _stream(frame, label)
    if hasattr(frame, "__arrow_c_array__"):
        schema, array = frame.__arrow_c_array__()
        return _dfcl.MemoryTable.from_array(schema, array, label)
    if isinstance(frame, Mapping):
        return _from_columns(frame, label)
    if isinstance(frame, np.ndarray):
        return _from_array(frame, label, names)
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):  # a frame of an older library
        return _from_columns({str(name): np.asarray(frame[name]) for name in frame.columns}, label)
    hint = "a path, a frame (pandas, Polars, PyArrow, DuckDB), a mapping of columns or a NumPy array"
    raise usage_error(label, f"cannot make a table of {type(table).__name__}", hint)
