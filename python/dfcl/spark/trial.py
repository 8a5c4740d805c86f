# SPDX-License-Identifier: Apache-2.0
"""Trials on many machines: which units belong together, samples of them, and rows brought to the driver."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ..errors import DfclWarning, data_error, usage_error
from ..study import Study
from .executor import chunks
from .predict import require_columns
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["TrialFrame", "to_table"]

_PARTS = 1_000_000  # of a share


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a partition as messages of some size."""
    for table in chunks(batches, None):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table.combine_chunks())
        yield pa.RecordBatch.from_pylist([{"rows": sink.getvalue().to_pybytes()}], schema=pa.schema([("rows", pa.binary())]))


def to_table(frame: DataFrame, order: Sequence[str], watch: Watch | None = None) -> pa.Table:
    """Rows on the driver, sorted by these columns, so that partitions do not show."""
    packed = frame.mapInArrow(_packed, "rows binary")
    rows = packed.collect() if watch is None else watch.collect(packed)
    if not rows:
        raise data_error("<trial>: there are no units")
    table = pa.concat_tables(pa.ipc.open_stream(bytes(row["rows"])).read_all() for row in rows)
    return table.replace_schema_metadata(None).sort_by([(name, "ascending") for name in order])


class TrialFrame:
    """A trial as a frame. Units that share an id, or a cluster where the study names one, stay together."""

    def __init__(self, frame: DataFrame, study: Study) -> None:
        columns = tomllib.loads(study.text).get("columns", {})
        if not columns.get("id"):
            raise usage_error("study", "names no id column: rows of a cluster have no numbers", "[columns] id")
        self.frame = frame
        self.order: list[str] = [columns["id"], *([columns["time"]] if columns.get("time") else [])]
        self.key: str = columns.get("cluster") or columns["id"]
        require_columns(frame, [*self.order, self.key], "trial")
        self._count: int | None = None

    @property
    def num_rows(self) -> int:
        if self._count is None:
            self._count = self.frame.count()
        if self._count == 0:
            raise data_error("<trial>: there are no units")
        return self._count

    def hash(self, purpose: str) -> Column:
        """0 to 999,999 for each unit or cluster, the same wherever it is."""
        from pyspark.sql import functions as of

        return of.pmod(of.xxhash64(self.frame[f"`{self.key}`"], of.lit(purpose)), of.lit(_PARTS))

    def below(self, share: float, purpose: str) -> Column:
        """Whether a unit is in a sample of this share."""
        return self.hash(purpose) < round(share * _PARTS)

    def to_table(self, frame: DataFrame | None = None, watch: Watch | None = None) -> pa.Table:
        """All rows on the driver, or some of them."""
        return to_table(self.frame if frame is None else frame, self.order, watch)

    def some(self, max_rows: int, watch: Watch | None = None) -> pa.Table:
        """All rows on the driver, or about ``max_rows`` of them, drawn by a hash."""
        if max_rows < 1:
            raise usage_error("max_rows", f"out of range: found {max_rows}", "1 or more")
        if self.num_rows <= max_rows:
            return self.to_table(None, watch)
        return self.to_table(self.frame.where(self.below(max_rows / self.num_rows, "sample")), watch)

    def sample(self, max_rows: int, what: str, watch: Watch | None = None) -> pa.Table:
        """The same with a warning where there are more."""
        table = self.some(max_rows, watch)
        if self.num_rows > max_rows:
            warnings.warn(f"{what} on {len(table):,} of {self.num_rows:,} rows, drawn by a hash of '{self.key}' "
                          "(max_rows says how many fit on the driver)", DfclWarning, stacklevel=3)  # fmt: skip
        return table
