# SPDX-License-Identifier: Apache-2.0
"""dfcl on Apache Spark: training, predictions and plans for tables of any size, the same as on one machine.

Everything goes through the DataFrame API (``mapInArrow``), so that it also runs where a cluster allows nothing else. The executors
need the ``dfcl`` and ``pyarrow`` packages. Spark 3.5 and 4.

>>> from dfcl import spark as dfcl_spark                                             # doctest: +SKIP
>>> predictions = dfcl_spark.predict("model.safetensors", spark.table("units"))      # doctest: +SKIP
>>> plan = dfcl_spark.allocate(predictions, per_unit=0.5)                            # doctest: +SKIP
>>> plan.frame.write.saveAsTable("plan")                                             # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from .allocate import SparkPlan, allocate, allocate_curve
from .judge import check, evaluate, readout
from .predict import predict
from .train import train

if TYPE_CHECKING:
    from .transformer import PredictTransformer

__all__ = ["PredictTransformer", "SparkPlan", "allocate", "allocate_curve", "check", "evaluate", "predict", "readout", "train"]


def __getattr__(name: str) -> Any:
    """Executors need no pyspark.ml."""
    if name == "PredictTransformer":
        from .transformer import PredictTransformer

        return PredictTransformer
    raise AttributeError(f"module 'dfcl.spark' has no attribute '{name}'")
