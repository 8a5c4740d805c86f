# SPDX-License-Identifier: Apache-2.0
"""Is a trial fit to learn from: all rows counted and added up where they are, a sample of them on the driver."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .. import _dfcl
from ..errors import Error, data_error
from ..progress import Progress, teller
from ..results import Check
from ..study import Study
from ..tables import Sources
from ..verbs.request import fill_study, run_of
from .executor import FOUND, Batches, MapBatches, answer, chunks, collect_found, describe, memory_table, merged_in_slots, partition
from .trial import TrialFrame
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_rows", "sum_checked"]

_EXAMPLES = 3
Asked = tuple[str, str, bytes]


def sum_checked(table: pa.Table, study: tuple[str, str], asked: Asked) -> bytes:
    """The sums of some rows."""
    from ..study import _restore

    held = memory_table(table, "trial")
    request = _dfcl.CheckRequest()
    request.set("study", _restore(*study)._native)
    request.set("trial", held.path)
    return _dfcl.check_part(request, asked, _dfcl.Run(threads=1, seed=0))


def _summer(study: tuple[str, str], asked: Asked) -> MapBatches:
    """The sums of one partition: one row, or none for an empty partition."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        merged: bytes | None = None
        rows = 0
        try:
            for table in chunks(batches, None):
                found = sum_checked(table, study, asked)
                merged = found if merged is None else _dfcl.merge_check_parts(asked[2], [merged, found])
                rows += len(table)
        except Error as error:
            yield answer(None, describe(error, partition()))
            return
        if merged is not None:
            yield answer(merged, None, rows)

    return run


class _Duplicates(NamedTuple):
    """Ids that come again."""

    ids: int = 0
    rows: int = 0  # beyond the first of theirs
    in_two_arms: int = 0
    examples: list[str] = []


def _duplicates(frame: DataFrame, key: str, arm: str) -> _Duplicates:
    from pyspark.sql import functions as of

    grouped = frame.groupBy(frame[f"`{key}`"].alias("id")).agg(of.count(of.lit(1)).alias("rows"), of.countDistinct(frame[f"`{arm}`"]).alias("arms"))
    twice = grouped.where("rows > 1")
    sums = twice.agg(of.count(of.lit(1)), of.sum(of.col("rows") - 1), of.sum((of.col("arms") > 1).cast("int"))).collect()[0]
    if not sums[0]:
        return _Duplicates()
    examples = [str(row["id"]) for row in twice.orderBy("id").limit(_EXAMPLES).collect()]
    return _Duplicates(sums[0], sums[1], sums[2], examples)


def check_rows(trial: TrialFrame, study: Study, max_rows: int, progress: Progress) -> Check:
    """As on one machine, from sums over all rows and a sample of them."""
    watch = Watch(teller(progress))
    columns: dict[str, Any] = tomllib.loads(study.text).get("columns", {})
    watch.begin("collecting a sample", min(max_rows, trial.num_rows))
    sample = trial.some(max_rows, watch)
    watch.end(len(sample))
    watch.begin("looking for ids that come again", trial.num_rows)
    duplicates = _duplicates(trial.frame, columns["id"], columns["arm"])
    watch.end(trial.num_rows)

    def run(asked: Asked) -> bytes:
        def merge(parts: list[bytes], _: int) -> bytes:
            return _dfcl.merge_check_parts(asked[2], parts)

        watch.begin("adding up rows", trial.num_rows)
        found = trial.frame.mapInArrow(_summer(study.__reduce__()[1], asked), FOUND)
        collected = collect_found(merged_in_slots(found, merge), merge, watch)
        if not collected.found:
            raise data_error("<trial>: there are no units")
        watch.end(collected.rows)
        return collected.found[0]

    request = _dfcl.CheckRequest()
    with Sources() as sources:
        fill_study(request, study, sample, sources)
        return Check(*_dfcl.check_elsewhere(request, trial.num_rows, duplicates, run, run_of(None, 0, progress)))
