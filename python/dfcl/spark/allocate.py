# SPDX-License-Identifier: Apache-2.0
"""Plans for predictions on many machines: the plan of one machine, from sums that merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .. import _dfcl
from ..errors import Error, data_error, usage_error
from ..plan import PlanFigures
from ..progress import Progress, teller
from ..results import Curve
from ..types import Objective
from .executor import (
    FOUND,
    Batches,
    Exported,
    MapBatches,
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkPlan", "allocate", "allocate_curve"]

# Units of which the path is sampled.
_SAMPLE = 16_384
_PASSES = {
    "sample": "looking at a sample",
    "arm_spends": "adding up costs",
    "build": "building the path",
    "refine": "refining the path",
    "collect": "finding the cut",
    "totals": "adding up the plan",
    "roles": "adding up the roles",
}


class _Asked(NamedTuple):
    """What executors know of the request."""

    options: dict[str, Any]
    facts: dict[bytes, bytes]  # of the predictions
    names: list[str]  # their columns
    seed: int

    def run(self) -> _dfcl.Run:
        return _dfcl.Run(threads=1, seed=self.seed)

    def assign(self, table: pa.Table, cut: bytes, multiplier: float) -> _dfcl.Plan:
        held = memory_table(table.select(self.names), "predictions")
        request = request_of(self.options)
        request.set("predictions", held.path)
        return _dfcl.assign_part(request, cut, multiplier, self.run())


def _finder(asked: _Asked, wanted: bytes) -> MapBatches:
    """What a pass finds in one partition: one row, or none for an empty partition."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        here = partition()
        part = _dfcl.PlanPart(request_of(asked.options), wanted)
        try:
            for table in chunks(batches, asked.facts):
                held = memory_table(table, "predictions")
                part.add(held.path, asked.run())
        except Error as error:
            yield answer(None, describe(error, here))
            return
        found = part.to_bytes()
        if found:
            yield answer(found)

    return run


def _role_summer(asked: _Asked, cut: bytes, multiplier: float) -> MapBatches:
    """What the units of each role earn and spend in one partition: one row, or none."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        here = partition()
        sums: list[bytes] = []
        try:
            for table in chunks(batches, asked.facts):
                sums.append(_dfcl.sum_roles(asked.assign(table, cut, multiplier)))
        except Error as error:
            yield answer(None, describe(error, here))
            return
        if sums:
            yield answer(_dfcl.merge_roles(sums))

    return run


def _assigner(asked: _Asked, cut: bytes, multiplier: float, types: dict[str, pa.DataType], carry: Sequence[str]) -> MapBatches:
    """The plan of one partition."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            for table in chunks(batches, asked.facts):
                plan = pa.table(Exported(asked.assign(table, cut, multiplier)))
                carried = {name: table.column(name).type for name in carry}
                for name in carry:
                    plan = plan.append_column(name, table.column(name))
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
        self._tell = teller(progress)
        self.log: list[dict[str, Any]] = []

    def find(self, wanted: bytes) -> bytes:
        """What a pass finds in all units."""
        kind = _dfcl.pass_kind(wanted)
        frame = self._frame.limit(_SAMPLE) if kind == "sample" else self._frame
        found = frame.mapInArrow(_finder(self._asked, wanted), FOUND)
        num_arms = self._num_arms

        def merge(parts: list[bytes]) -> bytes:
            return _dfcl.merge_parts(wanted, parts, num_arms)

        if kind != "sample":
            found = merged_in_slots(found, merge)
        return self._run(kind, found, merge)

    def roles(self, cut: bytes, multiplier: float) -> bytes:
        """What the units of each role earn and spend under a cut."""
        summed = self._frame.mapInArrow(_role_summer(self._asked, cut, multiplier), FOUND)
        return self._run("roles", summed, _dfcl.merge_roles)

    def _run(self, kind: str, found: DataFrame, merge: Callable[[list[bytes]], bytes]) -> bytes:
        self._tell("progress", _PASSES[kind], len(self.log), 0, "passes")
        parts = collect_found(found)
        if not parts:
            raise data_error("<predictions>: there are no units")
        merged = merge(parts)
        self.log.append({"pass": kind, "parts": len(parts), "bytes": sum(map(len, parts)), "merged_bytes": len(merged)})
        self._tell("finished", _PASSES[kind], 0, 0, "passes")
        return merged


class SparkPlan(PlanFigures):
    """Who gets what: ``frame`` has columns id, arm, revenue, cost; ``figures`` are those of :class:`dfcl.Plan`.

    Attributes
    ----------
    passes : list of dict
        What was asked of the executors: kind of pass, findings that reached the driver, their bytes.
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


def _require_distinct(frame: DataFrame) -> None:
    twice = frame.groupBy("id").count().where("count > 1").limit(1).collect()
    if twice:
        raise data_error(f"<predictions>: the id '{twice[0]['id']}' stands {twice[0]['count']} times", "one row per unit")


class _Units:
    """The predictions of one call: their columns, what they say of themselves, the passes over them."""

    def __init__(self, predictions: DataFrame, options: Mapping[str, Any], seed: int, check_ids: bool, progress: Progress) -> None:
        names = _columns(predictions)
        self.types = {"id": id_type(predictions, "id"), "arm": pa.string(), "revenue": pa.float32(), "cost": pa.float32()}
        if options.get("holdout") or options.get("explore"):
            self.types |= {"role": pa.string(), "propensity": pa.float32(), "control_revenue": pa.float32(), "control_cost": pa.float32()}
        given = {name: value for name, value in options.items() if value is not None}
        self.asked = _Asked(given, _facts(predictions), names, seed)
        self.frame = predictions.select(*(predictions[f"`{name}`"] for name in names))
        fields = [(name, self.types["id"] if name == "id" else pa.float32()) for name in names]
        self.empty = memory_table(pa.schema(fields, metadata=self.asked.facts).empty_table(), "predictions")
        num_arms = sum(name.startswith("revenue_") for name in names)
        self.passes = _Passes(self.frame, self.asked, num_arms, progress)
        if check_ids:
            _require_distinct(self.frame)

    def solve(self, fields: Mapping[str, Any], progress: Progress) -> tuple[list[tuple[str, str, str]], list[tuple[bytes, float]]]:
        request = request_of({**self.asked.options, **fields})
        request.set("predictions", self.empty.path)
        run = _dfcl.Run(threads=0, seed=self.asked.seed, tell=teller(progress))
        figures, cuts = _dfcl.allocate_elsewhere(request, self.passes.find, self.passes.roles, run)
        return figures, cuts


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
    of the plan is a third. Persist or write predictions that take long to make: each pass reads them again. Limits that tie units
    to each other beyond one budget (segments, a second budget, units per arm) need one machine: :func:`dfcl.allocate`.

    Parameters
    ----------
    predictions : pyspark.sql.DataFrame
        Columns id, revenue_<arm> and cost_<arm> of any model, and maybe eligible_<arm> (0: the unit may not get the arm).
    budget, per_unit, share_of_max, include_control, multiplier, control, index, objective, margin, per_revenue, min_roi
        As those of :func:`dfcl.allocate`.
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
    units = _Units(predictions, {**options, **roles}, seed, check_ids, progress)
    for name in carry:
        if name in units.types:
            raise usage_error("carry", f"'{name}' is a column of plans")
    fields = {"budget": budget, "per_unit": per_unit, "share_of_max": share_of_max, "multiplier": multiplier}
    figures, cuts = units.solve({**fields, "include_control": include_control, "launch": launch}, progress)
    cut, price = cuts[0]
    if not cut:
        return SparkPlan(*figures[0], None, units.passes.log)
    read = [*units.asked.names, *(name for name in carry if name not in units.asked.names)]
    source = predictions.select(*(predictions[f"`{name}`"] for name in read))
    assign = _assigner(units.asked, cut, price, units.types, list(carry))
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
