# SPDX-License-Identifier: Apache-2.0
"""What a launch earned, from sums over its units where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from .. import _dfcl
from ..errors import Error, data_error
from ..progress import Progress, teller
from ..results import Readout
from ..verbs.request import fill, run_of
from .executor import FOUND, Batches, MapBatches, answer, chunks, collect_found, describe, memory_table, merged_in_slots, partition
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["read_out_units"]

_SIDES = ("plan", "outcomes")


def _request(options: Mapping[str, Any]) -> _dfcl.ReadoutRequest:
    request = _dfcl.ReadoutRequest()
    fill(request, **options)
    return request


def side_of(table: pa.Table, side: str) -> pa.Table:
    """The rows and columns of one table in rows of both."""
    names = [name for name in table.column_names if name.startswith(f"{side}_")]
    rows = table.filter(pc.is_valid(table.column(f"{side}_id"))).select(names)
    return rows.rename_columns([name.removeprefix(f"{side}_") for name in names])


def sum_rows(table: pa.Table, options: Mapping[str, Any], totals: bytes) -> bytes:
    """The sums of some rows of both tables."""
    request = _request(options)
    held = []
    for side in _SIDES:
        rows = side_of(table, side)
        if len(rows):
            held.append(memory_table(rows, side))
            request.set(side, held[-1].path)
    return _dfcl.sum_launch_part(request, totals, _dfcl.Run(threads=1, seed=0))


def _summer(options: dict[str, Any], totals: bytes) -> MapBatches:
    """The sums of one partition: one row, or none for an empty partition."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        merged: bytes | None = None
        rows = 0
        try:
            for table in chunks(batches, None):
                rows += len(table)
                found = sum_rows(table, options, totals)
                merged = found if merged is None else _dfcl.merge_launch_parts(totals, [merged, found])
        except Error as error:
            yield answer(None, describe(error, partition()))
            return
        if merged is not None:
            yield answer(merged, None, rows)

    return run


def _require_distinct(frame: DataFrame, what: str) -> None:
    twice = frame.groupBy("id").count().where("count > 1").limit(1).collect()
    if twice:
        raise data_error(f"<{what}>: the id '{twice[0]['id']}' stands {twice[0]['count']} times", "one row per unit")


def _joined(plan: DataFrame, outcomes: DataFrame) -> DataFrame:
    """Rows of both tables, those of one id side by side."""
    sides = []
    for side, frame in zip(_SIDES, (plan, outcomes)):
        sides.append(frame.select(*(frame[f"`{name}`"].alias(f"{side}_{name}") for name in frame.columns)))
    a, b = sides
    return a.join(b, a["plan_id"].cast("string") == b["outcomes_id"].cast("string"), "full_outer")


def read_out_units(plan: DataFrame, outcomes: DataFrame, *, progress: Progress = None, **options: Any) -> Readout:
    """The readout of one machine, from two passes over the units where they are."""
    _require_distinct(plan, "plan")
    _require_distinct(outcomes, "outcomes")
    joined = _joined(plan, outcomes).persist()
    watch = Watch(teller(progress))
    given = {name: value for name, value in options.items() if value is not None}
    of_parts = {name: value for name, value in given.items() if name in ("launch", "weight", "guardrail")}

    def run(totals: bytes) -> bytes:
        def merge(parts: list[bytes], _: int) -> bytes:
            return _dfcl.merge_launch_parts(totals, parts)

        watch.begin("adding up products" if totals else "adding up units")
        collected = collect_found(merged_in_slots(joined.mapInArrow(_summer(of_parts, totals), FOUND), merge), merge, watch)
        if not collected.found:
            raise data_error("<plan>: there are no units")
        watch.end(collected.rows)
        return collected.found[0]

    try:
        request = _request({**given, "plan": "<plan>", "outcomes": "<outcomes>"})
        return Readout(*_dfcl.readout_elsewhere(request, run, run_of(None, 0, progress)))
    finally:
        joined.unpersist()
