# SPDX-License-Identifier: Apache-2.0
"""Tables in: paths, frames of any library that speaks the Arrow PyCapsule interface, mappings of columns, NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Union, runtime_checkable

import numpy as np

from . import _dfcl
from .errors import DataError, UsageError

__all__ = ["TableLike", "Sources"]


@runtime_checkable
class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: A path; a frame (pandas, Polars, PyArrow, DuckDB, anything with ``__arrow_c_stream__``); a mapping from names to
#: columns; a NumPy array of units x columns, or one with named fields.
TableLike = Union[str, "os.PathLike[str]", ArrowStream, Mapping[str, Any], "np.ndarray[Any, Any]"]


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


def _data_error(message: str, hint: str = "") -> DataError:
    error = DataError(message + (f"\nhint: {hint}" if hint else ""))
    error.what, error.hint = message, hint
    return error


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
        raise _data_error(f"column '{name}' has {array.ndim} dimensions, expected 1")
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
        return _texts(array.tolist())
    raise _data_error(f"column '{name}' is of a type that cannot be used: {array.dtype}")


def _from_columns(columns: Mapping[str, Any], label: str) -> _dfcl.MemoryTable:
    if not columns:
        raise _data_error(f"<{label}>: a table without columns")
    return _dfcl.MemoryTable.from_columns([(str(name), column(v, str(name))) for name, v in columns.items()], label)


def _from_array(array: np.ndarray[Any, Any], label: str, names: Sequence[str] | None) -> _dfcl.MemoryTable:
    if array.dtype.names is not None:
        return _from_columns({name: array[name] for name in array.dtype.names}, label)
    if array.ndim != 2:
        raise _data_error(
            f"<{label}>: an array of {array.ndim} dimensions, expected 2: units x columns",
            "a mapping from names to arrays will do as well",
        )
    names = names if names is not None else [f"x{place}" for place in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise _data_error(f"<{label}>: {array.shape[1]} columns, expected {len(names)}")
    return _from_columns({name: array[:, place] for place, name in enumerate(names)}, label)


def _without_index(frame: Any) -> Any:
    """A pandas frame whose index is plain row numbers: exported frames carry any other index as a column."""
    if not (hasattr(frame, "index") and hasattr(frame, "columns") and hasattr(frame, "reset_index")):
        return frame
    plain = frame.copy(deep=False)
    plain.index = range(len(plain))
    return plain


def _in_memory(table: object, label: str, names: Sequence[str] | None) -> _dfcl.MemoryTable:
    frame: Any = _without_index(table)
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            capsule = frame.__arrow_c_stream__()
        except ImportError:  # pandas without pyarrow
            if not hasattr(frame, "columns"):
                raise
            return _from_columns({str(name): frame[name].to_numpy() for name in frame.columns}, label)
        return _dfcl.MemoryTable.from_stream(capsule, label)
    if isinstance(table, Mapping):
        return _from_columns(table, label)
    if isinstance(table, np.ndarray):
        return _from_array(table, label, names)
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):  # a frame of an older library
        return _from_columns({str(name): np.asarray(frame[name]) for name in frame.columns}, label)
    message = f"<{label}>: cannot make a table of {type(table).__name__}"
    hint = "a path, a frame (pandas, Polars, PyArrow, DuckDB), a mapping of columns or a NumPy array"
    error = UsageError(f"{message}\nhint: {hint}")
    error.what, error.hint = message, hint
    raise error
