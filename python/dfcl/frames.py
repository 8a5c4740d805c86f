# SPDX-License-Identifier: Apache-2.0
"""Tables out: results that go to any library as Arrow streams, with the index of the caller's frame."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from . import _dfcl, html
from .types import Path

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Frame", "Table"]


class Frame:
    """A table that goes out to any library."""

    _index: Any = None  # of the pandas frame that the rows come from

    def _table(self) -> _dfcl.Prediction | _dfcl.Plan | _dfcl.Table:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table().stream()

    def write(self, path: Path) -> None:
        """Writes the file of the command line.

        Parameters
        ----------
        path : path
            .parquet, .csv, .csv.gz or .arrow.
        """
        self._table().write(os.fspath(path))

    def save(self, path: Path) -> None:
        """The same as ``write``."""
        self.write(path)

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``, with the index of the frame that the units came in."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            frame = pandas.DataFrame.from_arrow(self)
        else:
            frame = self.to_arrow().to_pandas()
        if self._index is not None and len(self._index) == len(frame):
            frame.index = self._index
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def _bytes(self) -> bytes:
        """Of its Parquet file, for pickles and copies."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.parquet")
            self._table().write(path)
            with open(path, "rb") as file:
                return file.read()


class Stored:
    """The bytes of a Parquet file under a path, while they are read back."""

    def __init__(self, data: bytes) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path: str = os.path.join(self._folder.name, "table.parquet")
        with open(self.path, "wb") as file:
            file.write(data)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *failure: object) -> None:
        self._folder.cleanup()


class Table(Frame):
    """Rows and columns, such as a simulated trial."""

    def __init__(self, native: _dfcl.Table) -> None:
        self._native = native

    def _table(self) -> _dfcl.Table:
        return self._native

    @classmethod
    def read(cls, path: Path) -> Table:
        """Reads a table: csv, csv.gz, parquet or arrow."""
        return cls(_dfcl.read_table(os.fspath(path), _dfcl.Run()))

    @property
    def column_names(self) -> list[str]:
        return self._native.column_names

    def __len__(self) -> int:
        return self._native.num_rows

    def __repr__(self) -> str:
        return f"<dfcl.Table: {len(self):,} rows, {len(self.column_names)} columns>"

    def _repr_html_(self) -> str:
        return html.title(f"{len(self):,} rows, {len(self.column_names)} columns") + html.notes(self.column_names[:12])

    def __reduce__(self) -> tuple[Any, ...]:
        return (_table_of, (self._bytes(),))


def _table_of(data: bytes) -> Table:
    with Stored(data) as path:
        return Table.read(path)
