# SPDX-License-Identifier: Apache-2.0
"""Who gets which incentive under a budget, learned from a randomised trial.

The functions are the verbs of the command line: the same words, the same answers; studies, models and plans have them as
methods. Data are paths or frames of any library that speaks the Arrow PyCapsule interface.

>>> import dfcl
>>> made = dfcl.simulate("marketing", rows=2000, seed=1)
>>> model = made.study.train(made.trial, method="tsm", epochs=2, seed=1)
>>> plan = model.allocate(made.trial, share_of_max=0.2)
>>> plan.spend <= plan.budget
True
"""

from . import _dfcl
from .adapters import ForeignModel, adapt
from .errors import (
    DataError,
    DfclWarning,
    Error,
    FileError,
    InfeasibleError,
    InternalError,
    Stopped,
    UnavailableError,
    UnfitError,
    UsageError,
)
from .progress import Progress, Step
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
    PlanDifference,
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
    allocate_many,
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
    "DfclWarning",
    "Error",
    "Evaluation",
    "FileError",
    "ForeignModel",
    "InfeasibleError",
    "Info",
    "InternalError",
    "Interval",
    "Model",
    "Plan",
    "PlanDifference",
    "Power",
    "Prediction",
    "Progress",
    "Readout",
    "Simulation",
    "Step",
    "Stopped",
    "Study",
    "Table",
    "UnavailableError",
    "UnfitError",
    "UsageError",
    "__version__",
    "adapt",
    "allocate",
    "allocate_curve",
    "allocate_many",
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
