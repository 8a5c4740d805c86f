# SPDX-License-Identifier: Apache-2.0
"""Who gets which incentive under a budget, learned from a randomised trial.

The functions are the verbs of the command line: the same words, the same answers. Data are paths or frames of any library
that speaks the Arrow PyCapsule interface.

>>> import dfcl
>>> made = dfcl.simulate("marketing", rows=2000, seed=1)
>>> model = dfcl.train(made.study, made.trial, method="tsm", epochs=2, seed=1)
>>> plan = dfcl.allocate(model, made.trial, share_of_max=0.2)
>>> plan.spend <= plan.budget
True
"""

from . import _dfcl
from .errors import (
    DataError,
    Error,
    FileError,
    InfeasibleError,
    InternalError,
    UnavailableError,
    UnfitError,
    UsageError,
)
from .results import Check, Comparison, Curve, Evaluation, Interval, Model, Plan, Prediction, Readout, Simulation, Table
from .study import Study
from .verbs import (
    allocate,
    allocate_curve,
    check,
    compare,
    evaluate,
    export_onnx,
    methods,
    predict,
    readout,
    simulate,
    simulate_outcomes,
    train,
)

__version__: str = _dfcl.version()

__all__ = [
    "Check",
    "Comparison",
    "Curve",
    "DataError",
    "Error",
    "Evaluation",
    "FileError",
    "InfeasibleError",
    "InternalError",
    "Interval",
    "Model",
    "Plan",
    "Prediction",
    "Readout",
    "Simulation",
    "Study",
    "Table",
    "UnavailableError",
    "UnfitError",
    "UsageError",
    "__version__",
    "allocate",
    "allocate_curve",
    "check",
    "compare",
    "evaluate",
    "export_onnx",
    "methods",
    "predict",
    "readout",
    "simulate",
    "simulate_outcomes",
    "train",
]
