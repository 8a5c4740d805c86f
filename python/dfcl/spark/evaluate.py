# SPDX-License-Identifier: Apache-2.0
"""What plans are worth, from sums over the rows where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .. import _dfcl
from ..errors import Error, data_error, usage_error
from ..model import Model, ModelsLike, PredictionsLike, model_input, model_inputs, model_of
from ..progress import Progress, teller
from ..results import Evaluation
from ..study import Study
from ..tables import Sources
from ..verbs.request import fill, fill_study, run_of
from .executor import FOUND, Batches, MapBatches, answer, chunks, collect_found, describe, memory_table, merged_in_slots, partition, to_error
from .predict import _model
from .trial import TrialFrame
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["evaluate_rows"]

_JUDGED = "block binary, facts binary, rows bigint, error string"
_SCHEMA = pa.schema([("block", pa.binary()), ("facts", pa.binary()), ("rows", pa.int64()), ("error", pa.string())])
_SAMPLE_BLOCKS = 4  # of which a path is sampled
_STAGES = {"sample": "looking at a sample", "path": "finding the plans", "sums": "adding up what plans earn"}


class _Judged(NamedTuple):
    """What executors know of the request."""

    study: tuple[str, str]
    models: list[tuple[str, bytes]]  # fingerprint and bytes
    nuisance: tuple[str, bytes] | None
    arms: str
    seed: int

    def request(self, table: _dfcl.MemoryTable) -> _dfcl.EvaluateRequest:
        from ..study import _restore

        def given(model: tuple[str, bytes]) -> _dfcl.ModelInput:
            return _dfcl.ModelInput.of_model(_model(*model)._native, "model")

        request = _dfcl.EvaluateRequest()
        request.set("study", _restore(*self.study)._native)
        request.set("trial", table.path)
        request.set("models", [given(model) for model in self.models])
        if self.nuisance is not None:
            request.set("nuisance", given(self.nuisance))
        return request


def _judge(asked: _Judged) -> MapBatches:
    """The rows of one partition without their features, with what the models predict for them: a row for each piece."""

    def row(block: bytes | None, facts: bytes | None, rows: int, error: str | None = None) -> pa.RecordBatch:
        return pa.RecordBatch.from_pylist([{"block": block or None, "facts": facts, "rows": rows, "error": error}], schema=_SCHEMA)

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            for table in chunks(batches, None):
                held = memory_table(table, "trial")
                yield row(*_dfcl.judge_part(asked.request(held), asked.arms, _dfcl.Run(threads=1, seed=asked.seed)), len(table))
        except Error as error:
            yield row(None, None, 0, describe(error, partition()))

    return run


def _finder(task: bytes) -> MapBatches:
    """What a task finds in one partition: one row, or none for an empty partition."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        part: _dfcl.JudgePart | None = None
        rows = 0
        try:
            for batch in batches:
                for row in batch.to_pylist():
                    part = part or _dfcl.JudgePart(task)
                    part.add(row["block"], _dfcl.Run(threads=1, seed=0))
                    rows += row["rows"]
        except Error as error:
            yield answer(None, describe(error, partition()))
            return
        if part is not None:
            yield answer(part.to_bytes(), None, rows)

    return run


def merge_found(task: bytes, parts: list[bytes]) -> bytes:
    """The findings of several partitions as one, whatever their order."""
    merged = _dfcl.JudgePart(task)
    for part in parts:
        merged.merge(part)
    return merged.to_bytes()


class _Rows:
    """The rows of a trial on the executors, and the passes over them."""

    def __init__(self, trial: TrialFrame, study: Study, models: list[tuple[str, bytes]], seed: int, progress: Progress) -> None:
        self._trial = trial
        self._study = study
        self._models = models
        self._seed = seed
        self._watch = Watch(teller(progress))
        self._blocks: DataFrame | None = None
        self.passes: list[dict[str, Any]] = []

    def judge(self, arms: str, nuisance: _dfcl.Model | None) -> list[bytes]:
        given = None if nuisance is None else (nuisance.fingerprint, nuisance.to_bytes())
        asked = _Judged(self._study.__reduce__()[1], self._models, given, arms, self._seed)
        self._blocks = self._trial.frame.mapInArrow(_judge(asked), _JUDGED).persist()
        self._watch.begin("judging rows", self._trial.num_rows)
        rows = self._watch.collect(self._blocks.select("facts", "rows", "error"))
        failed = sorted(row["error"] for row in rows if row["error"] is not None)
        if failed:
            raise to_error(failed[0])
        self._watch.end(sum(row["rows"] for row in rows))
        facts = [bytes(row["facts"]) for row in rows]
        self.passes.append({"pass": "judge", "rows": sum(row["rows"] for row in rows), "parts": len(facts), "bytes": sum(map(len, facts))})
        return facts

    def find(self, task: bytes) -> bytes:
        """What a task finds in all rows."""
        kind = _dfcl.task_kind(task)
        assert self._blocks is not None
        blocks = self._blocks.where("block is not null").select("block", "rows")
        found = (blocks.limit(_SAMPLE_BLOCKS) if kind == "sample" else blocks).mapInArrow(_finder(task), FOUND)

        def merge(parts: list[bytes], _: int) -> bytes:
            return merge_found(task, parts)

        self._watch.begin(_STAGES[kind])
        collected = collect_found(found if kind == "sample" else merged_in_slots(found, merge), merge, self._watch)
        if not collected.found:
            raise data_error("<trial>: there are no test rows")
        self._watch.end(collected.rows)
        self.passes.append({"pass": kind, "rows": collected.rows, "parts": collected.parts, "bytes": collected.bytes})
        return collected.found[0]

    def close(self) -> None:
        if self._blocks is not None:
            self._blocks.unpersist()


def _models_of(given: ModelsLike) -> list[tuple[str, bytes]]:
    """The models as bytes, in the order of the request."""
    entries = list(given.values()) if isinstance(given, Mapping) else list(given) if isinstance(given, (list, tuple)) else [given]
    models = []
    for entry in entries:
        model = model_of(entry, "models") if isinstance(entry, (str, os.PathLike)) else entry
        if not isinstance(model, Model):
            raise usage_error("models", f"a {type(entry).__name__}: the executors predict, so they need a model", "evaluate predictions with on=\"driver\"")
        models.append((model._native.fingerprint, model.to_bytes()))
    return models


def evaluate_rows(trial: TrialFrame, study: Study, models: ModelsLike, sample: pa.Table, *, nuisance: PredictionsLike | None = None,
                  seed: int = 0, progress: Progress = None, **options: Any) -> tuple[Evaluation, list[dict[str, Any]]]:  # fmt: skip
    """Deployed plans, baselines, differences and the verdict on all test rows; what was asked of the executors."""
    request = _dfcl.EvaluateRequest()
    fill(request, **options)
    rows = _Rows(trial, study, _models_of(models), seed, progress)
    with Sources() as sources:
        fill_study(request, study, sample, sources)
        request.set("models", model_inputs(models, sources))
        if nuisance is not None:
            request.set("nuisance", model_input(nuisance, "", sources, "nuisance"))
        try:
            figures = _dfcl.evaluate_elsewhere(request, rows.judge, rows.find, run_of(None, seed, progress))
        finally:
            rows.close()
    return Evaluation(*figures), rows.passes
