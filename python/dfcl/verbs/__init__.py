# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command line as functions: the same words, the same answers."""

from .models import export_onnx, methods, predict, train
from .plans import allocate, allocate_curve, allocate_many, readout
from .trials import check, info, init, power, report, simulate, simulate_outcomes
from .worth import compare, deploy, evaluate

__all__ = [
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
