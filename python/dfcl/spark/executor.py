# SPDX-License-Identifier: Apache-2.0
"""What runs on executors: pieces of a partition as tables, and errors that say where they happened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .. import _dfcl
from ..errors import Error, _make
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Batches = Iterable[pa.RecordBatch]
MapBatches = Callable[[Batches], Iterator[pa.RecordBatch]]

# Findings of partitions are merged by so many tasks, so that the driver gets few of them, however many partitions there are.
SLOTS = 4
FOUND = "slot int, segment int, rows bigint, found binary, error string"
_FOUND_SCHEMA = pa.schema([("slot", pa.int32()), ("segment", pa.int32()), ("rows", pa.int64()), ("found", pa.binary()), ("error", pa.string())])

# Rows of a partition that are handed to the library at a time: enough to make the cost of a call vanish, few enough for
# memory (10 MB for five arms).
CHUNK_ROWS = 131_072

_PARTS = ("field", "what", "where", "found", "expected", "hint")


def chunks(batches: Iterable[pa.RecordBatch], metadata: Mapping[bytes, bytes] | None) -> Iterator[pa.Table]:
    """The rows of a partition in tables of some size; none for an empty partition."""

    def table(held: list[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches(held).replace_schema_metadata(metadata)

    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch)
        rows += batch.num_rows
        if rows >= CHUNK_ROWS:
            yield table(held)
            held, rows = [], 0
    if held:
        yield table(held)


def memory_table(table: pa.Table, label: str) -> _dfcl.MemoryTable:
    return _dfcl.MemoryTable.from_stream(table.__arrow_c_stream__(), label)


class Exported:
    """A table of the library, for PyArrow."""

    def __init__(self, native: _dfcl.Plan) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.stream()


def partition() -> int:
    """The number of the partition that this task works on."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return -1 if task is None else task.partitionId()


def describe(error: Error, of: int) -> str:
    """An error as text that the driver turns back into it."""
    said = {name: getattr(error, name) for name in _PARTS}
    said["where"] = f"partition {of}" + (f", {said['where']}" if said["where"] else "")
    return json.dumps({"code": error.exit_code, **said})


def to_error(described: str) -> BaseException:
    said = json.loads(described)
    text = said["where"] + (f", {said['field']}=" if said["field"] else "") + f": {said['what']}"
    found = [f"{name} {said[name]}" for name in ("found", "expected") if said[name]]
    text += (": " + ", ".join(found)) if found else ""
    text += f"\nhint: {said['hint']}" if said["hint"] else ""
    return _make(said["code"], text, *(said[name] for name in _PARTS))


def in_partition(error: Error) -> BaseException:
    """The error with the partition in its text, to be raised on an executor."""
    return to_error(describe(error, partition()))


def answer(found: bytes | None, error: str | None = None, rows: int = 0, segment: int = 0) -> pa.RecordBatch:
    """What was found in so many rows of this partition, or why nothing was, as one row. segment: where findings are kept apart."""
    row = {"slot": (partition() + segment) % SLOTS, "segment": segment, "rows": rows, "found": found, "error": error}
    return pa.RecordBatch.from_pylist([row], schema=_FOUND_SCHEMA)


# Several findings of a segment (0: there are none) as one, whatever their order.
Merge = Callable[[list[bytes], int], bytes]


class Found:
    """Findings, one for each segment, and how many rows they were found in."""

    def __init__(self, merge: Merge) -> None:
        self._merge = merge
        self.by_segment: dict[int, bytes] = {}
        self.rows: dict[int, int] = {}

    def add(self, rows: Iterable[Any]) -> None:
        of: dict[int, list[bytes]] = {}
        for row in rows:
            of.setdefault(row["segment"], []).append(bytes(row["found"]))
            self.rows[row["segment"]] = self.rows.get(row["segment"], 0) + row["rows"]
        for segment, parts in of.items():
            held = [self.by_segment[segment]] if segment in self.by_segment else []
            self.by_segment[segment] = self._merge(held + parts, segment)


def _merger(merge: Merge) -> MapBatches:
    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        merged = Found(merge)
        for batch in batches:
            rows = batch.to_pylist()
            failed = [row["error"] for row in rows if row["error"] is not None]
            if failed:
                yield answer(None, failed[0])
                return
            merged.add(rows)
        for segment, found in merged.by_segment.items():
            yield answer(found, None, merged.rows[segment], segment)

    return run


def merged_in_slots(found: DataFrame, merge: Merge) -> DataFrame:
    """The findings of all partitions as few rows. Merging does not depend on their order."""
    return found.repartition(SLOTS, "slot").mapInArrow(_merger(merge), FOUND)


class Collected(NamedTuple):
    """Findings on the driver."""

    found: dict[int, bytes]  # by segment
    rows: int  # in which they were found
    parts: int  # rows that came
    bytes: int


def collect_found(found: DataFrame, merge: Merge, watch: Watch | None = None) -> Collected:
    """Findings on the driver; an error of a partition is raised here."""
    rows = found.collect() if watch is None else watch.collect(found)
    failed = sorted(row["error"] for row in rows if row["error"] is not None)
    if failed:
        raise to_error(failed[0])
    merged = Found(merge)
    merged.add(rows)
    return Collected(merged.by_segment, sum(merged.rows.values()), len(rows), sum(len(row["found"]) for row in rows))


def to_columns(table: pa.Table, names: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    """Some columns in their order and types, as Spark takes them."""
    schema = pa.schema([(name, types[name]) for name in names])
    yield from table.select(list(names)).replace_schema_metadata(None).cast(schema).to_batches()


def request_of(options: Mapping[str, Any]) -> _dfcl.AllocateRequest:
    request = _dfcl.AllocateRequest()
    for name, value in options.items():
        if value is not None:
            request.set(name, value)
    return request
