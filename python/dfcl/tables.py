# SPDX-License-Identifier: Apache-2.0
"""Tables in: paths, frames of any library that speaks the Arrow PyCapsule interface, mappings of columns, NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _dfcl
from .errors import DataError, data_error, usage_error
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


def _texts(values: Sequence[Any]) -> list[str | None]:
    def text(value: Any) -> str | None:
        if value is None or value != value:  # NaN and NaT are not themselves
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
    return np.array([np.nan if value is None else float(value) for value in array])


def column(values: Any, name: str) -> Any:
    """A column as what the extension module takes: a contiguous array of numbers, or a list of texts."""
    array = _array(values)
    if array.ndim != 1:
        raise data_error(f"column '{name}' has {array.ndim} dimensions, expected 1")
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array).view(np.uint8)
    if array.dtype.kind in "iu" or array.dtype in (np.float32, np.float64):
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return np.ascontiguousarray(native)
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype=np.float32 if array.dtype.itemsize < 4 else np.float64)
    if array.dtype.kind in "mM":
        array = np.array([None if value != value else str(value) for value in array], dtype=object)
    if array.dtype.kind in "OUSTmM":
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        if array.dtype.kind == "O" and all(
            value is None or isinstance(value, (int, float, np.number)) for value in array
        ):
            return _object_numbers(array)
        held = next((value for value in array.tolist() if value is not None), "")
        if isinstance(held, (list, tuple, dict, set, np.ndarray)):
            shown = f"{array.dtype} holding {type(held).__name__}"
            raise data_error(f"column '{name}': a type that cannot be used: {shown}", "make it numbers or texts, or drop it")
        return _texts(array.tolist())
    raise data_error(f"column '{name}': a type that cannot be used: {array.dtype}", "make it numbers or texts, or drop it")


def _from_columns(columns: Mapping[str, Any], label: str) -> _dfcl.MemoryTable:
    if not columns:
        raise data_error(f"<{label}>: a table without columns")
    return _dfcl.MemoryTable.from_columns([(str(name), column(v, str(name))) for name, v in columns.items()], label)


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


def _without_index(frame: Any) -> Any:
    """A pandas frame whose index is plain row numbers: exported frames carry any other index as a column."""
    plain = frame.copy(deep=False)
    plain.index = range(len(plain))
    return plain


def _require_single_names(frame: Any, label: str) -> None:
    names = [str(name) for name in frame.columns]
    for name in names:
        if names.count(name) > 1:
            raise data_error(f"<{label}>: column '{name}' stands {names.count(name)} times", "rename or drop one of them")


def _stream(frame: Any, label: str) -> _dfcl.MemoryTable:
    """By the Arrow stream of the frame. A column that the frame's library cannot export is named with its dtype."""
    try:
        capsule = frame.__arrow_c_stream__()
    except ImportError:  # pandas without pyarrow
        if not hasattr(frame, "columns"):
            raise
        return _from_columns({str(name): frame[name].to_numpy() for name in frame.columns}, label)
    except Exception as failure:
        raise _unusable(frame, label, failure) from failure
    return _dfcl.MemoryTable.from_stream(capsule, label)


def _unusable(frame: Any, label: str, failure: Exception) -> DataError:
    hint = "make it numbers or texts, or drop it"
    if _is_pandas(frame):
        for name in frame.columns:
            try:
                frame[[name]].__arrow_c_stream__()
            except Exception:
                values = frame[name].dropna()
                held = f" holding {type(values.iloc[0]).__name__}" if len(values) and frame[name].dtype == object else ""
                return data_error(f"<{label}>, column '{name}': a type that cannot be used: {frame[name].dtype}{held}", hint)
    return data_error(f"<{label}>: the frame cannot be exported: {failure}", hint)


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
        _require_single_names(frame, label)
        frame = _without_index(frame)
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
