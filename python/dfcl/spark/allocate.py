# SPDX-License-Identifier: Apache-2.0
"""Plans for predictions on many machines: the plan of one machine, from sums that merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from .. import _dfcl
from ..errors import Error, data_error, usage_error
from ..plan import PlanFigures
from ..progress import Progress, teller
from ..results import Curve
from ..tables import Sources
from ..types import Objective, TableLike
from ..verbs.request import fill_tables
from ..verbs.plans import budgets_table
from .executor import (
    FOUND,
    Batches,
    Exported,
    MapBatches,
    Merge,
    answer,
    chunks,
    collect_found,
    describe,
    in_partition,
    memory_table,
    merged_in_slots,
    partition,
    request_of,
    to_columns,
)
from .predict import METADATA, from_text, id_type, require_columns, spark_schema
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkPlan", "allocate", "allocate_curve"]

# Units of which the path is sampled.
_SAMPLE = 16_384
# More segments would send too much (allocate/segment_paths.h).
MOST_SEGMENTS = 256
_PASSES = {
    "sample": "looking at a sample",
    "arm_spends": "adding up costs",
    "build": "building the path",
    "refine": "refining the path",
    "collect": "finding the cut",
    "totals": "adding up the plan",
    "roles": "adding up the roles",
}


Cuts = list[tuple[bytes, float]]


class _Asked(NamedTuple):
    """What executors know of the request."""

    options: dict[str, Any]
    facts: dict[bytes, bytes]  # of the predictions
    names: list[str]  # their columns
    seed: int
    segment: str | None  # a column
    labels: list[str]  # of segments, rising; empty without them

    def run(self) -> _dfcl.Run:
        return _dfcl.Run(threads=1, seed=self.seed)

    def assign(self, table: pa.Table, cut: bytes, multiplier: float) -> _dfcl.Plan:
        held = memory_table(table.select(self.names), "predictions")
        request = request_of(self.options)
        request.set("predictions", held.path)
        return _dfcl.assign_part(request, cut, multiplier, self.run())

    def by_segment(self, table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
        """The rows of each segment; all of them as segment 0 where there are none."""
        if self.segment is None:
            yield 0, table
            return
        place = pc.index_in(pc.cast(table.column(self.segment), pa.string()), pa.array(self.labels)).combine_chunks()
        if place.null_count:
            raise data_error("<predictions>: a unit is in no known segment", "the table changed while it was read")
        order = pc.sort_indices(place)
        sorted_table, places = table.take(order), place.take(order)
        counts = pc.value_counts(places)
        begin = 0
        for one in counts:
            yield one["values"].as_py(), sorted_table.slice(begin, one["counts"].as_py())
            begin += one["counts"].as_py()


def _finder(asked: _Asked, wanted: list[bytes]) -> MapBatches:
    """What passes, one for each segment, find in one partition: a row for each segment that has units."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        here = partition()
        parts: dict[int, _dfcl.PlanPart] = {}
        rows: dict[int, int] = {}
        try:
            for table in chunks(batches, asked.facts):
                for segment, units in asked.by_segment(table):
                    if not wanted[segment]:
                        continue
                    if segment not in parts:
                        parts[segment] = _dfcl.PlanPart(request_of(asked.options), wanted[segment])
                    held = memory_table(units.select(asked.names), "predictions")
                    parts[segment].add(held.path, asked.run())
                    rows[segment] = rows.get(segment, 0) + len(units)
        except Error as error:
            yield answer(None, describe(error, here))
            return
        for segment, part in parts.items():
            yield answer(part.to_bytes(), None, rows[segment], segment)

    return run


def _role_summer(asked: _Asked, cuts: Cuts) -> MapBatches:
    """What the units of each role earn and spend in one partition: one row, or none."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        here = partition()
        sums: list[bytes] = []
        rows = 0
        try:
            for table in chunks(batches, asked.facts):
                sums += [_dfcl.sum_roles(asked.assign(units, *cuts[segment])) for segment, units in asked.by_segment(table)]
                rows += len(table)
        except Error as error:
            yield answer(None, describe(error, here))
            return
        if sums:
            yield answer(_dfcl.merge_roles(sums), None, rows)

    return run


def _assigner(asked: _Asked, cuts: Cuts, types: dict[str, pa.DataType], carry: Sequence[str]) -> MapBatches:
    """The plan of one partition."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            for table in chunks(batches, asked.facts):
                for segment, units in asked.by_segment(table):
                    plan = pa.table(Exported(asked.assign(units, *cuts[segment])))
                    carried = {name: units.column(name).type for name in carry}
                    for name in carry:
                        plan = plan.append_column(name, units.column(name))
                    yield from to_columns(plan, [*types, *carry], {**types, **carried})
        except Error as error:
            raise in_partition(error) from None

    return run


class _Passes:
    """Runs passes over a frame of predictions and merges what they find."""

    def __init__(self, frame: DataFrame, asked: _Asked, num_arms: int, progress: Progress) -> None:
        self._frame = frame
        self._asked = asked
        self._num_arms = num_arms
        self._watch = Watch(teller(progress))
        self._rows = 0
        self.log: list[dict[str, Any]] = []

    def find(self, wanted: bytes) -> bytes:
        """What a pass finds in all units."""
        kind = _dfcl.pass_kind(wanted)
        num_arms = self._num_arms
        frame = self._frame.limit(_SAMPLE) if kind == "sample" else self._frame
        found = frame.mapInArrow(_finder(self._asked._replace(segment=None), [wanted]), FOUND)
        return self._run(kind, found, lambda parts, _: _dfcl.merge_parts(wanted, parts, num_arms))[0]

    def find_in_segments(self, wanted: list[bytes]) -> list[bytes]:
        """What passes, one for each segment, find there."""
        num_arms = self._num_arms
        found = self._frame.mapInArrow(_finder(self._asked, wanted), FOUND)
        kind = _dfcl.pass_kind(next(one for one in wanted if one))
        by_segment = self._run(kind, found, lambda parts, segment: _dfcl.merge_parts(wanted[segment], parts, num_arms))
        return [by_segment.get(segment, b"") for segment in range(len(wanted))]

    def roles(self, cuts: Cuts) -> bytes:
        """What the units of each role earn and spend under a plan."""
        summed = self._frame.mapInArrow(_role_summer(self._asked, cuts), FOUND)
        return self._run("roles", summed, lambda parts, _: _dfcl.merge_roles(parts))[0]

    def _run(self, kind: str, found: DataFrame, merge: Merge) -> dict[int, bytes]:
        self._watch.begin(_PASSES[kind], _SAMPLE if kind == "sample" else self._rows)
        collected = collect_found(found if kind == "sample" else merged_in_slots(found, merge), merge, self._watch)
        if not collected.found:
            raise data_error("<predictions>: there are no units")
        if kind != "sample":
            self._rows = max(self._rows, collected.rows)
        merged_bytes = sum(map(len, collected.found.values()))
        self.log.append({"pass": kind, "rows": collected.rows, "parts": collected.parts, "bytes": collected.bytes, "merged_bytes": merged_bytes})
        self._watch.end(collected.rows)
        return collected.found


class SparkPlan(PlanFigures):
    """Who gets what: ``frame`` has columns id, arm, revenue, cost; ``figures`` are those of :class:`dfcl.Plan`.

    Attributes
    ----------
    passes : list of dict
        What was asked of the executors: kind of pass, rows it saw, findings that reached the driver, their bytes.
    """

    def __init__(self, text_of_json: str, text: str, full: str, frame: DataFrame | None, passes: list[dict[str, Any]]) -> None:
        super().__init__(text_of_json, text, full)
        self._frame = frame
        self.passes = passes

    @property
    def frame(self) -> DataFrame:
        """The plan of each unit; computed when it is asked for, as frames are."""
        if self._frame is None:
            raise self._no_plan()
        return self._frame

    @property
    def has_plan(self) -> bool:
        """False where the budget cannot be met."""
        return self._frame is not None


def _facts(frame: DataFrame) -> dict[bytes, bytes]:
    """What predict said of the predictions; nothing for those of others."""
    for field in frame.schema.fields:
        if field.name.startswith(("revenue_", "cost_")) and METADATA in (field.metadata or {}):
            return from_text(field.metadata[METADATA])
    return {}


def _columns(frame: DataFrame) -> list[str]:
    names = [name for name in frame.columns if name.startswith(("revenue_", "cost_", "eligible_"))]
    require_columns(frame, ["id"], "predictions")
    if not names:
        raise usage_error("predictions", "there are no columns revenue_<arm> and cost_<arm>")
    return ["id", *names]


def _segment_labels(frame: DataFrame, segment: str) -> list[str]:
    """The segments that there are, as texts, in the order of the library."""
    from pyspark.sql import types

    if not isinstance(frame.schema[segment].dataType, (types.StringType, types.IntegralType)):
        raise usage_error("segment", f"column '{segment}' is of type {frame.schema[segment].dataType.simpleString()}", "whole numbers or texts: cast it")
    found = [row[0] for row in frame.select(frame[f"`{segment}`"].cast("string")).distinct().limit(MOST_SEGMENTS + 1).collect()]
    if len(found) > MOST_SEGMENTS:
        raise usage_error("segment", f"column '{segment}' has more than {MOST_SEGMENTS} values", "dfcl.allocate takes any number, on one machine")
    if None in found:
        raise data_error(f"<predictions>: column '{segment}' is missing for some units", "every unit needs a segment")
    return sorted(found, key=lambda label: label.encode())


def _require_distinct(frame: DataFrame) -> None:
    twice = frame.groupBy("id").count().where("count > 1").limit(1).collect()
    if twice:
        raise data_error(f"<predictions>: the id '{twice[0]['id']}' stands {twice[0]['count']} times", "one row per unit")


class _Units:
    """The predictions of one call: their columns, what they say of themselves, the passes over them."""

    def __init__(self, predictions: DataFrame, options: Mapping[str, Any], seed: int, check_ids: bool, progress: Progress,
                 segment: str | None = None) -> None:  # fmt: skip
        names = _columns(predictions)
        self.types = {"id": id_type(predictions, "id"), "arm": pa.string(), "revenue": pa.float32(), "cost": pa.float32()}
        if options.get("holdout") or options.get("explore"):
            self.types |= {"role": pa.string(), "propensity": pa.float32(), "control_revenue": pa.float32(), "control_cost": pa.float32()}
        given = {name: value for name, value in options.items() if value is not None}
        read = [*names, *([segment] if segment is not None and segment not in names else [])]
        self.frame = predictions.select(*(predictions[f"`{name}`"] for name in read))
        labels = [] if segment is None else _segment_labels(self.frame, segment)
        self.asked = _Asked(given, _facts(predictions), names, seed, segment, labels)
        fields = [(name, self.types["id"] if name == "id" else pa.float32()) for name in names]
        self.empty = memory_table(pa.schema(fields, metadata=self.asked.facts).empty_table(), "predictions")
        num_arms = sum(name.startswith("revenue_") for name in names)
        self.passes = _Passes(self.frame, self.asked, num_arms, progress)
        if check_ids:
            _require_distinct(self.frame)

    def solve(
        self, fields: Mapping[str, Any], progress: Progress, segment_budgets: TableLike | Mapping[str, float] | None = None
    ) -> tuple[list[tuple[str, str, str]], list[Cuts]]:
        request = request_of({**self.asked.options, **fields})
        request.set("predictions", self.empty.path)
        segments: tuple[()] | tuple[list[str], Callable[[list[bytes]], list[bytes]]] = ()
        if self.asked.segment is not None:
            request.set("segment", self.asked.segment)
            segments = (self.asked.labels, self.passes.find_in_segments)
        run = _dfcl.Run(threads=0, seed=self.asked.seed, tell=teller(progress))
        with Sources() as sources:
            fill_tables(request, sources, segment_budgets=budgets_table(segment_budgets))
            return _dfcl.allocate_elsewhere(request, self.passes.find, self.passes.roles, segments, run)


def allocate(
    predictions: DataFrame,
    *,
    budget: float | None = None,
    per_unit: float | None = None,
    share_of_max: float | None = None,
    include_control: bool = False,
    multiplier: float | None = None,
    control: str | None = None,
    index: bool = False,
    objective: Objective = "revenue",
    margin: float | None = None,
    per_revenue: float | None = None,
    min_roi: float | None = None,
    segment: str | None = None,
    segment_budgets: TableLike | Mapping[str, float] | None = None,
    holdout: float | None = None,
    holdout_salt: str | None = None,
    explore: float | None = None,
    launch: str | None = None,
    carry: Sequence[str] = (),
    check_ids: bool = True,
    seed: int = 0,
    progress: Progress = None,
) -> SparkPlan:
    """Who gets what: the plan that ``dfcl allocate`` makes, for any partitioning.

    Two passes over the predictions sum what increments cost and earn by efficiency, and look at those near the budget; the frame
    of the plan is a third. Persist or write predictions that take long to make: each pass reads them again. Budgets of segments
    take a pass more. Other limits that tie units to each other (a second budget, units per arm) need one machine: :func:`dfcl.allocate`.

    Parameters
    ----------
    predictions : pyspark.sql.DataFrame
        Columns id, revenue_<arm> and cost_<arm> of any model, and maybe eligible_<arm> (0: the unit may not get the arm).
    budget, per_unit, share_of_max, include_control, multiplier, control, index, objective, margin, per_revenue, min_roi
        As those of :func:`dfcl.allocate`.
    segment, segment_budgets
        As those of :func:`dfcl.allocate`: a column of whole numbers or texts, of at most 256 values.
    holdout, holdout_salt, explore, launch, seed
        As those of :func:`dfcl.allocate`: units that are held out or get a random arm, drawn by their ids. Up to three more passes.
    carry : sequence of str, optional
        Columns of the predictions that stand beside the plan.
    check_ids : bool
        Whether an id that stands twice is looked for, which shuffles the ids once. Without it such units are planned one by one,
        and ties between them are broken by chance.
    progress : bool or function, optional
        See :data:`dfcl.Progress`; one step for each pass.

    Returns
    -------
    SparkPlan
        A budget that cannot be met is its status.

    Examples
    --------
    >>> plan = allocate(predictions, per_unit=0.5)            # doctest: +SKIP
    >>> plan.frame.write.parquet("s3://lake/plan")            # doctest: +SKIP
    """
    if isinstance(carry, str):
        raise usage_error("carry", f"one text: found {carry!r}", "a list of columns")
    require_columns(predictions, carry, "carry")
    options = {"control": control, "index": index, "objective": objective, "margin": margin, "per_revenue": per_revenue, "min_roi": min_roi}
    roles = {"holdout": holdout, "holdout_salt": holdout_salt, "explore": explore}
    if segment is not None:
        require_columns(predictions, [segment], "segment")
    units = _Units(predictions, {**options, **roles}, seed, check_ids, progress, segment)
    for name in carry:
        if name in units.types:
            raise usage_error("carry", f"'{name}' is a column of plans")
    fields = {"budget": budget, "per_unit": per_unit, "share_of_max": share_of_max, "multiplier": multiplier}
    figures, cuts = units.solve({**fields, "include_control": include_control, "launch": launch}, progress, segment_budgets)
    if not cuts[0]:
        return SparkPlan(*figures[0], None, units.passes.log)
    read = [*units.frame.columns, *(name for name in carry if name not in units.frame.columns)]
    source = predictions.select(*(predictions[f"`{name}`"] for name in read))
    assign = _assigner(units.asked, cuts[0], units.types, list(carry))
    frame = source.mapInArrow(assign, spark_schema(predictions, units.types, carry))
    return SparkPlan(*figures[0], frame, units.passes.log)


def allocate_curve(
    predictions: DataFrame,
    *,
    points: int = 50,
    control: str | None = None,
    objective: Objective = "revenue",
    margin: float | None = None,
    per_revenue: float | None = None,
    min_roi: float | None = None,
    check_ids: bool = True,
    progress: Progress = None,
) -> Curve:
    """The whole curve of spend and value, as :func:`dfcl.allocate_curve` makes it.

    Parameters
    ----------
    predictions, control, objective, margin, per_revenue, min_roi, check_ids, progress
        As for :func:`allocate`.
    points : int
        How many plans of the curve.

    Returns
    -------
    Curve
    """
    options = {"control": control, "objective": objective, "margin": margin, "per_revenue": per_revenue, "min_roi": min_roi}
    units = _Units(predictions, options, 0, check_ids, progress)
    figures, _ = units.solve({"curve": points}, progress)
    return Curve(*figures[0])
