# SPDX-License-Identifier: Apache-2.0
"""Training on many machines: one fit on a sample, or fits on shards that are stacked into one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from .. import _dfcl
from ..errors import Error, usage_error
from ..model import Model
from ..progress import Progress, teller
from ..study import Study, StudyLike, study_of
from ..types import Setting
from ..verbs import models
from .executor import describe, memory_table, partition, to_error
from .trial import TrialFrame
from .watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["train"]

MAX_SHARDS = 256
_FITTED = "shard int, model binary, error string"
_SCHEMA = pa.schema([("shard", pa.int32()), ("model", pa.binary()), ("error", pa.string())])
_JUDGING_SHARE = 0.1  # at most


def _request(study: Study, table: _dfcl.MemoryTable, force: bool) -> Any:
    request = _dfcl.TrainRequest()
    request.set("study", study._native)
    request.set("trial", table.path)
    request.set("force", force)
    return request


def _fitter(
    study: tuple[str, str], order: list[tuple[str, str]], features: str, force: bool, threads: int, seed: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Fits the shards of a partition; most often it is one."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ..study import _restore

        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        table = pa.Table.from_batches(held)
        for shard in sorted(set(table.column("_shard").to_pylist())):
            answer: dict[str, Any] = {"shard": shard, "model": None, "error": None}
            try:
                own = table.filter(pc.equal(table.column("_shard"), shard)).drop_columns(["_shard"]).sort_by(order)
                memory = memory_table(own.replace_schema_metadata(None), "shard")
                made = _dfcl.train_shard(_request(_restore(*study), memory, force), features, _dfcl.Run(threads=threads, seed=seed))
                answer["model"] = made.to_bytes()
            except Error as error:
                answer["error"] = describe(error, partition())
            yield pa.RecordBatch.from_pylist([answer], schema=_SCHEMA)

    return run


def _one_partition_each(frame: DataFrame, number: Column, shards: int) -> DataFrame:
    """The frame with a column ``_shard``, each shard in a partition of its own: labels that Spark's hash sends to all of them."""
    from pyspark.sql import functions as of

    session = frame.sparkSession
    places = session.range(100 * shards).select(of.col("id").cast("int").alias("label"), of.pmod(of.hash(of.col("id").cast("int")), of.lit(shards)).alias("place"))
    label_of = {row["place"]: row["label"] for row in places.groupBy("place").agg(of.min("label").alias("label")).collect()}
    labels = of.array(*(of.lit(label_of.get(place, place)) for place in range(shards)))
    return frame.withColumn("_shard", labels[number.cast("int")].cast("int")).repartition(shards, "_shard")


def _fit_shards(trial: TrialFrame, study: Study, shards: int, max_rows: int, judging_rows: int, options: dict[str, Any]) -> Model:
    from pyspark.sql import functions as of

    watch = Watch(options["tell"])
    share = min(_JUDGING_SHARE, judging_rows / trial.num_rows)
    watch.begin("collecting units that judge", round(share * trial.num_rows))
    judged = trial.to_table(trial.frame.where(trial.below(share, "judging")), watch)
    watch.end(len(judged))
    judging = memory_table(judged, "trial")
    run = _dfcl.Run(threads=0, seed=options["seed"], tell=options["tell"])
    features = _dfcl.shard_features(_request(study, judging, options["force"]), run)
    rest = trial.frame.where(~trial.below(share, "judging"))
    expected = trial.num_rows * (1 - share) / shards
    if expected > max_rows:
        rest = rest.where(trial.below(max_rows / expected, "sample"))
    parts = _one_partition_each(rest, of.pmod(trial.hash("shard"), of.lit(shards)), shards)
    order = [(name, "ascending") for name in trial.order]
    fit = _fitter(study.__reduce__()[1], order, features, options["force"], options["threads"], options["seed"])
    watch.begin("fitting shards", shards, "shards")
    rows = sorted(watch.collect(parts.mapInArrow(fit, _FITTED)), key=lambda row: row["shard"])
    failed = [row["error"] for row in rows if row["error"] is not None]
    if failed:
        raise to_error(failed[0])
    watch.end(len(rows))
    made = [_dfcl.Model.from_bytes(bytes(row["model"])) for row in rows]
    return Model(_dfcl.stack_shards(_request(study, judging, options["force"]), made, run))


def train(
    trial: DataFrame,
    study: StudyLike,
    *,
    method: str | None = None,
    shards: int | None = None,
    max_rows: int = 4_000_000,
    judging_rows: int = 250_000,
    settings: Mapping[str, Setting] | None = None,
    force: bool = False,
    threads: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Model:
    """Learns revenue and cost of every arm from a trial of any size.

    By default one fit on the driver, as :func:`dfcl.train` makes it of the same rows. With ``shards`` every executor fits one
    part of the trial; the model is their mean, which units that no shard has weigh against the mean effect of each arm and calibrate
    (docs/method.md, "The stack"). A forest then predicts by trees from all shards. The split of the study decides as everywhere: units
    of the test split are never learned from.

    Parameters
    ----------
    trial : pyspark.sql.DataFrame
        With the columns that the study names; select those that are needed. The id must be one of them.
    study : Study or path
        What the columns mean.
    method : str, optional
        One of :func:`dfcl.methods`, or "auto".
    shards : int, optional
        Fits on that many parts of the trial, at most 256; units go to parts by a hash of their cluster or id.
    max_rows : int
        The most rows of one fit, about; beyond it a sample is drawn by a hash of the cluster or id, with a warning where there are
        no shards.
    judging_rows : int
        Of a trial in shards, the rows on the driver that weigh and calibrate them, at most a tenth of the trial.
    settings : dict, optional
        Any key of the study by its full name: ``{"boost.trees": 300}``.
    force : bool, default False
        Continue even if the trial is unfit to learn from.
    threads : int
        Of a fit on an executor: as many as ``spark.task.cpus``. Never changes a result.
    seed : int
        Another number gives other random starts.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.

    Returns
    -------
    Model

    Examples
    --------
    >>> model = train(spark.table("trial"), "study.toml", method="tsm-boost", shards=8)     # doctest: +SKIP
    """
    meant = study_of(study, {})
    changed = {**(settings or {}), **({"method.name": method} if method is not None else {})}
    meant = meant.set(changed) if changed else meant
    whole = TrialFrame(trial, meant)
    if shards is None:
        return models.train(meant, whole.sample(max_rows, "training"), force=force, seed=seed, progress=progress)
    if not 1 <= shards <= MAX_SHARDS:
        raise usage_error("shards", f"out of range: found {shards}", f"1 to {MAX_SHARDS}")
    if max_rows < 1 or judging_rows < 1:
        raise usage_error("max_rows" if max_rows < 1 else "judging_rows", "out of range", "1 or more")
    options = {"force": force, "threads": threads, "seed": seed, "tell": teller(progress)}
    return _fit_shards(whole, meant, shards, max_rows, judging_rows, options)
