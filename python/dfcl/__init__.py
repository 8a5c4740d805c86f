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
from .results import (
    Check,
    Comparison,
    Curve,
    Deployment,
    Evaluation,
    Info,
    Interval,
    Model,
    Plan,
    Power,
    Prediction,
    Readout,
    Simulation,
    Table,
)
from .study import Study
from .verbs import (
    allocate,
    allocate_curve,
    check,
    compare,
    deploy,
    evaluate,
    export_onnx,
    info,
    init,
    methods,
    power,
    predict,
    readout,
    report,
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
    "Deployment",
    "Error",
    "Evaluation",
    "FileError",
    "InfeasibleError",
    "Info",
    "InternalError",
    "Interval",
    "Model",
    "Plan",
    "Power",
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
    "deploy",
    "evaluate",
    "export_onnx",
    "info",
    "init",
    "methods",
    "power",
    "predict",
    "readout",
    "report",
    "simulate",
    "simulate_outcomes",
    "train",
]
