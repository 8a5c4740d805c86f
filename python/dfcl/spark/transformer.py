# SPDX-License-Identifier: Apache-2.0
"""A stage of a Spark ML pipeline that predicts."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.ml import Transformer
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from ..errors import usage_error
from ..model import Model, model_of
from ..types import Path
from .predict import predict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["PredictTransformer"]


class PredictTransformer(Transformer, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """``transform`` is :func:`dfcl.spark.predict`. Pipelines save and load it with its model.

    Parameters
    ----------
    model : Model or path
        The model.
    carry : sequence of str, optional
        Columns of the units that stand beside the predictions.
    """

    model = Param(Params._dummy(), "model", "bytes of the model file, base64", TypeConverters.toString)
    carry = Param(Params._dummy(), "carry", "columns that stand beside the predictions", TypeConverters.toListString)

    def __init__(self, model: Model | Path | None = None, carry: Sequence[str] = ()) -> None:
        super().__init__()
        self._setDefault(carry=[])
        if isinstance(model, (str, os.PathLike)):
            model = model_of(model, "model")
        if model is not None:  # None: a saved stage is being loaded
            self._set(model=base64.b64encode(model.to_bytes()).decode(), carry=list(carry))

    def _transform(self, dataset: DataFrame) -> DataFrame:
        if not self.isSet(self.model):
            raise usage_error("model", "is not set")
        model = Model.from_bytes(base64.b64decode(self.getOrDefault(self.model)))
        return predict(model, dataset, carry=self.getOrDefault(self.carry))
