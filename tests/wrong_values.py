# SPDX-License-Identifier: Apache-2.0
"""One wrong value for every argument of every verb, for the program and for Python.

tests/cli/test_arguments.py and tests/python/test_arguments.py call each verb with each of them and want a refusal that
names the argument; they fail when an argument is added without a row here.
"""

from dataclasses import dataclass
from typing import Any

NONE = object()  # the program, or Python, has no such argument


@dataclass
class Wrong:
    """program: the text behind the flag, python: the value of the keyword."""

    program: Any
    python: Any
    with_arguments: dict = None  # further arguments that the wrong one needs to be looked at


def both(value, python=None, **with_arguments):
    return Wrong(str(value), value if python is None else python, with_arguments)


def flag():
    return Wrong("=maybe", "maybe")


def only_program(value):
    return Wrong(value, NONE)


def only_python(value):
    return Wrong(NONE, value)


ABSENT = "absent.parquet"
EVERYWHERE = {"threads": both(-1), "seed": both(-1)}
WITHOUT_SEED = {"threads": both(-1), "seed": only_program("-1")}
OVERWRITE = {"overwrite": only_python("maybe")}  # on every verb of the program
PROGRESS = {"progress": only_python("yes")}
STUDY = {"study": both("absent.toml"), "set": only_program("columns.revenu=x"), "trial": only_python(ABSENT)}
INCLUDE_CONTROL = {"include_control": only_program("=maybe")}  # in Python a keyword of the study
VALUE = {"margin": only_program("1.5"), "per_revenue": only_program("0")}  # likewise
DEVICE = {"device": both("gpu"), "precision": both("fp16")}
SETTINGS = {"settings": only_python({"columns.revenu": "x"})}

# Verb -> argument, as a field of the request -> the wrong value. An argument by position is called as in Python.
ROWS = {
    "init": {
        **OVERWRITE,
        "trial": both(ABSENT),
        "output": both("no/such/folder.toml"),
        "arm": both("absent"),
        "control": both("absent"),
        "revenue": both("absent"),
        "cost": both("absent"),
        **WITHOUT_SEED,
        **PROGRESS,
    },
    "simulate": {
        "preset": both("marketting"),
        "rows": both(0),
        "response": both("wavy"),
        "noise": both(-1),
        "days": both(0),
        "shares": Wrong("0.5,0.6", [0.5, 0.6]),
        "cost_scale": both(0),
        "population_shift": both(9),
        "imbalance": flag(),
        "output": only_program("trial.xlsx"),
        "truth": only_program("truth.xlsx"),
        "study": only_program("no/such/folder.toml"),
        "outcomes_of": only_program(ABSENT),
        **EVERYWHERE,
        **PROGRESS,
    },
    "check": {**STUDY, "split_out": both("splits.txt"), **OVERWRITE, **EVERYWHERE, **PROGRESS},
    "train": {
        **OVERWRITE,
        **STUDY,
        **INCLUDE_CONTROL,
        "output": both("no/such/folder.safetensors"),
        "method": both("tsn"),
        "epochs": both("x"),
        "batch": both("x"),
        "lr": both("x"),
        "alpha": both("x"),
        "baseline": both("meen"),
        "ensemble": both("x"),
        "warm_epochs": both("x"),
        "monotone": Wrong("revenu", ["revenu"]),
        "concave": Wrong("revenu", ["revenu"]),
        "as_published": flag(),
        "trees": both("x"),
        "leaf": both("x"),
        "depth": both("x"),
        "start_from": both("absent.safetensors"),
        "checkpoint": both(""),
        "cache": both(""),
        "memory": both("2 apples"),
        "out_of_bag": both("predictions.xlsx"),
        "log": both("no/such/folder.jsonl"),
        "time_budget": both(-1),
        **DEVICE,
        "force": flag(),
        **EVERYWHERE,
        **PROGRESS,
    },
    "predict": {
        **OVERWRITE,
        "model": both("absent.safetensors"),
        "units": both(ABSENT),
        "output": both("predictions.xlsx"),
        "uncertainty": both("errors.xlsx"),
        "drift": both("drift.xlsx"),
        **WITHOUT_SEED,
        **PROGRESS,
    },
    "allocate": {
        **OVERWRITE,
        "predictions": both(ABSENT),
        "units": both("trial.parquet"),
        "output": both("plan.xlsx"),
        "budget": Wrong("nan", "100"),
        "per_unit": Wrong("inf", float("inf")),
        "share_of_max": both(-1),
        "explain": flag(),
        "include_control": flag(),
        "multiplier": both(-1),
        "curve": only_program("1"),
        "control": both("nobody"),
        "index": flag(),
        "objective": both("Profit"),
        "margin": both(30),
        "per_revenue": both(0),
        "min_roi": both("x"),
        "eligible": both(ABSENT),
        "segment": both("region"),
        "segment_budgets": both(ABSENT),
        "second_cost": both(ABSENT),
        "second_budget": both(10),
        "min_units": Wrong("20", {"nobody": 5}),
        "max_units": Wrong("20=x", {"20": "x"}),
        "rule": both("forest"),
        "stream": only_program("=maybe"),
        "memory": both("2 apples"),
        "holdout": both(1.5),
        "holdout_salt": both("pepper"),
        "explore": both(1.5),
        "launch": both(""),
        "previous": both(ABSENT),
        **EVERYWHERE,
        **PROGRESS,
    },
    "evaluate": {
        **OVERWRITE,
        **STUDY,
        **INCLUDE_CONTROL,
        **VALUE,
        "models": both(ABSENT),
        "index": flag(),
        "output": both("results.txt"),
        "split": both("tests"),
        "estimator": both("dr"),
        "nuisance": both(ABSENT),
        "truth": both(ABSENT),
        "budget": Wrong("nan", "100"),
        "per_unit": Wrong("inf", float("inf")),
        "share_of_max": Wrong("inf", float("inf")),
        "levels": both(1),
        "ranking": both("publishd"),
        "resamples": both(-1),
        "intervals": both("bootstrapped"),
        "weights": both("gamma"),
        "segment": both("nowhere"),
        "control": only_program("absent"),  # in Python a keyword of the study
        "objective": both("Profit"),
        "min_roi": both(-1),
        "eligible": both(ABSENT),
        "allow_training_rows": flag(),
        "fitted_on": both(ABSENT),
        "test": both(ABSENT),
        "split_out": both("splits.txt"),
        "memory": both("2 apples"),
        **EVERYWHERE,
        **PROGRESS,
    },
    "report": {
        **OVERWRITE,
        "results": both("absent.json"),
        "output": both("report.pdf"),
        "format": both("pdf"),
        "threads": only_program("-1"),
        "seed": only_program("-1"),
    },
    "compare": {
        **OVERWRITE,
        **STUDY,
        **INCLUDE_CONTROL,
        **VALUE,
        "methods": Wrong("tsm,tsn", ["tsm", "tsn"]),
        "seeds": both(0),
        "resamples": both(-1),
        "truth": both(ABSENT),
        "segment": both("nowhere"),
        "estimator": both("dr"),
        "test": both(ABSENT),
        "split_out": both("splits.txt"),
        **DEVICE,
        "force": flag(),
        "output": both("trial.parquet"),
        **EVERYWHERE,
        **PROGRESS,
    },
    "deploy": {
        **OVERWRITE,
        "study": both("absent.toml"),
        "set": only_program("columns.revenu=x"),
        **SETTINGS,
        "units": both(1),
        "days": both(0),
        "methods": Wrong("tsm,tsn", ["tsm", "tsn"]),
        "cost_drift": both(-2),
        "population_drift": both(9),
        "retrain": Wrong("maybe", "maybe"),
        "controller": both("onn"),
        "checkpoint": both(""),
        "output": both("results.txt"),
        **EVERYWHERE,
        **PROGRESS,
    },
    "readout": {
        **OVERWRITE,
        "plan": both(ABSENT),
        "outcomes": both(ABSENT),
        "holdout_share": both(1.5),
        "control": both("nobody"),
        "launch": both(""),
        "budget": both(-1),
        "multiplier": both(-1),
        "previous": both(ABSENT),
        "weight": both("nobody"),
        "guardrail": both("nobody"),
        "margin": both(1.5),
        "per_revenue": both(0),
        "output": both("results.txt"),
        "threads": only_program("-1"),
        "seed": only_program("-1"),
        **PROGRESS,
    },
    "power": {
        **OVERWRITE,
        **STUDY,
        **SETTINGS,
        **INCLUDE_CONTROL,
        "from_trial": only_program("absent.toml"),
        "models": both(ABSENT),
        "sd": both(-1),
        "gain": both(-1),
        "relative_gain": both(-1),
        "per_unit": both(-1),
        "share_of_max": both(-1),
        "split": both("tests"),
        "differ": both(2),
        "launch_units": both(0),
        "power": both(0.2),
        "level": both(1),
        "output": both("results.txt"),
        **EVERYWHERE,
        **PROGRESS,
    },
    "info": {
        "file": both(ABSENT),
        "study_keys": only_program("=maybe"),
        "machine": only_program("=maybe"),
        **WITHOUT_SEED,
        **PROGRESS,
    },
    "serve": {
        "input": only_program(ABSENT),
        "units": only_program("trial.parquet"),
        "results": only_program("absent.json"),
        "control": only_program("absent"),
        "eligible": only_program(ABSENT),
        "segment": only_program("absent"),
        "second_cost": only_program(ABSENT),
        "per_revenue": only_program("0"),
        "port": only_program("70000"),
        "listen": only_program("0.0.0.0"),
        "token": only_program("short"),
        "seconds": only_program("-1"),
        "no_browser": only_program("=maybe"),
        "threads": only_program("-1"),
        "seed": only_program("-1"),
    },
    "export": {
        **OVERWRITE,
        "model": both("absent.safetensors"),
        "output": both("model.pb"),
        "threads": only_program("-1"),
        "seed": only_program("-1"),
    },
}
