# SPDX-License-Identifier: Apache-2.0
"""Predictions of a model for a table of units, on the executors."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ..errors import Error, usage_error
from ..frames import Frame
from ..model import Model, Prediction, model_of
from ..types import Path
from .executor import chunks, in_partition, to_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["METADATA", "predict"]

# The key under which a column of predictions says what they are, for allocate.
METADATA = "dfcl"

# The models of this Python worker by fingerprint: bytes are parsed once.
_models: dict[str, Model] = {}


def _model(fingerprint: str, data: bytes) -> Model:
    if fingerprint not in _models:
        _models[fingerprint] = Model.from_bytes(data)
    return _models[fingerprint]


def facts_of(prediction: Frame) -> dict[bytes, bytes]:
    """What a table of predictions says of itself."""
    return dict(pa.RecordBatchReader.from_stream(prediction).schema.metadata or {})


def to_text(facts: dict[bytes, bytes]) -> str:
    return json.dumps({base64.b64encode(k).decode(): base64.b64encode(v).decode() for k, v in facts.items()})


def from_text(text: str) -> dict[bytes, bytes]:
    return {base64.b64decode(k): base64.b64decode(v) for k, v in json.loads(text).items()}


def id_type(units: DataFrame, column: str) -> pa.DataType:
    """Whole numbers and texts are ids."""
    from pyspark.sql import types

    held = units.schema[column].dataType
    if isinstance(held, (types.ByteType, types.ShortType, types.IntegerType, types.LongType)):
        return pa.int64()
    if isinstance(held, types.StringType):
        return pa.string()
    raise usage_error("units", f"column '{column}' is of type {held.simpleString()}", "ids are whole numbers or texts: cast it")


def require_columns(frame: DataFrame, names: Iterable[str], field: str) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise usage_error(field, f"there is no column '{missing[0]}'", f"columns: {', '.join(frame.columns[:12])}")


def spark_schema(frame: DataFrame, types: dict[str, pa.DataType], carry: Sequence[str]) -> StructType:
    from pyspark.sql.types import FloatType, LongType, StringType, StructField, StructType

    of = {pa.int64(): LongType(), pa.string(): StringType(), pa.float32(): FloatType()}
    fields = [StructField(name, of[held]) for name, held in types.items()]
    return StructType(fields + [StructField(name, frame.schema[name].dataType) for name in carry])


def _predictor(
    fingerprint: str, data: bytes, names: Sequence[str], types: dict[str, pa.DataType], carry: Sequence[str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            model = _model(fingerprint, data)
            for table in chunks(batches, None):
                predicted = pa.table(model.predict(table.select(list(names)), threads=1, progress=False))
                carried = {name: table.column(name).type for name in carry}
                for name in carry:
                    predicted = predicted.append_column(name, table.column(name))
                yield from to_columns(predicted, [*types, *carry], {**types, **carried})
        except Error as error:
            raise in_partition(error) from None

    return run


def predict(model: Model | Path, units: DataFrame, *, carry: Sequence[str] = ()) -> DataFrame:
    """What each unit would earn and cost under every arm.

    Parameters
    ----------
    model : Model or path
        It travels to the executors with the task, once to each where it is larger than a megabyte (Spark broadcasts it).
    units : pyspark.sql.DataFrame
        With the columns of the model's features and its id. Other columns are not read.
    carry : sequence of str, optional
        Columns of the units that stand beside the predictions.

    Returns
    -------
    pyspark.sql.DataFrame
        Columns id, revenue_<arm> and cost_<arm>, float, the same numbers as ``dfcl predict`` makes, for any partitioning; what
        they are (control, known prices, the model) stands in the metadata of the first of them. Lazy, as frames are.

    Examples
    --------
    >>> predict("model.safetensors", spark.table("units")).write.saveAsTable("predictions")   # doctest: +SKIP
    """
    if isinstance(model, (str, os.PathLike)):
        model = model_of(model, "model")
    if isinstance(carry, str):
        raise usage_error("carry", f"one text: found {carry!r}", "a list of columns")
    native = model._native
    id_column = native.id_column
    if not id_column:
        raise usage_error("model", "was trained without an id column: rows of a cluster have no numbers", "name [columns] id in the study")
    names = [id_column, *(name for name in model.features if name != id_column)]
    require_columns(units, [*names, *carry], "units")
    empty = Prediction(native.empty_prediction())
    columns = pa.RecordBatchReader.from_stream(empty).schema.names
    types = {name: pa.float32() for name in columns}
    types["id"] = id_type(units, id_column)
    for name in carry:
        if name in types:
            raise usage_error("carry", f"'{name}' is a column of predictions")
    wanted = [*names, *(name for name in carry if name not in names)]
    run = _predictor(native.fingerprint, model.to_bytes(), names, types, list(carry))
    frame = units.select(*(units[f"`{name}`"] for name in wanted)).mapInArrow(run, spark_schema(units, types, carry))
    first = next(name for name in columns if name != "id")
    return frame.withMetadata(first, {METADATA: to_text(facts_of(empty))})
