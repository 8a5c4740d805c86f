# SPDX-License-Identifier: Apache-2.0
"""The types of arguments: what a table, a study or a budget may be, and the words of each choice.

The keywords of a study and the options of ``allocate`` and ``evaluate`` are typed dictionaries, so that the methods that pass
them on have the types of the functions (tests compare the two).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .progress import Progress
    from .results import Interval

__all__ = [
    "AllocateOptions",
    "ArrowArray",
    "ArrowStream",
    "Budget",
    "BudgetKeywords",
    "CheckKeywords",
    "Column",
    "CompareKeywords",
    "Device",
    "Estimator",
    "EvaluateKeywords",
    "EvaluateOptions",
    "Figure",
    "FrameLike",
    "Intervals",
    "Objective",
    "Path",
    "Precision",
    "Preset",
    "Ranking",
    "ReportFormat",
    "Response",
    "RoleKeywords",
    "Rows",
    "Rule",
    "Setting",
    "StudyKeywords",
    "Switch",
    "TableLike",
    "TrainKeywords",
    "Weights",
]

Path = Union[str, "os.PathLike[str]"]

Rows = Literal["train", "validation", "test", "all"]
Estimator = Literal["horvitz-thompson", "hajek", "stratified", "doubly-robust"]
Ranking = Literal["angle", "published"]
Intervals = Literal["bootstrap", "analytic"]
Weights = Literal["poisson", "multinomial"]
Objective = Literal["revenue", "profit"]
Rule = Literal["none", "tree"]
Preset = Literal["marketing", "criteo", "varied"]
Response = Literal["smooth", "tree", "sparse", "rules", "few"]
Switch = Literal["on", "off"]
Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["tf32", "fp32", "bf16"]
ReportFormat = Literal["html", "md", "text"]

#: One or several budgets.
Budget = Union[float, Sequence[float], None]
#: The value of a key of the study.
Setting = Union[
    bool, int, float, str, Sequence[str], Sequence[float], Mapping[str, float], Mapping[str, str], None
]
#: A figure of a result, as in the JSON of the command line; those with an interval are ``Interval``.
Figure = Union[None, bool, int, float, str, "Interval", list["Figure"], dict[str, "Figure"]]
#: A column: a list or an array of numbers or texts.
Column = Union[Sequence[object], NDArray[np.generic]]


@runtime_checkable
class ArrowStream(Protocol):
    """A frame that exports an Arrow stream: pandas, Polars, PyArrow, DuckDB and results of dfcl."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class ArrowArray(Protocol):
    """A record batch that exports an Arrow array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


@runtime_checkable
class LazyFrame(Protocol):
    """A frame that must be collected first, such as a ``polars.LazyFrame``."""

    def collect(self) -> ArrowStream: ...


#: A path; a frame (pandas, Polars lazy or not, PyArrow, DuckDB, anything with ``__arrow_c_stream__`` or
#: ``__arrow_c_array__``); a NumPy array of units x columns, or one with named fields.
FrameLike = Union[str, "os.PathLike[str]", ArrowStream, ArrowArray, LazyFrame, NDArray[np.generic]]
#: The same, or a mapping from names to columns.
TableLike = Union[FrameLike, Mapping[str, Column]]


class RoleKeywords(TypedDict, total=False):
    """The keywords of :class:`dfcl.Study` that no verb has as an argument of its own."""

    id: str | None
    arm: str | None
    revenue: str | None
    cost: str | None
    cost_if: str | None
    time: str | None
    features: Sequence[str] | None
    exclude: Sequence[str] | None
    categorical: Sequence[str] | None
    missing: Sequence[float] | None
    cluster: str | None
    propensity: str | None
    weight: str | None
    guardrails: Sequence[str] | None
    rule: str | None
    control: str | None
    order: Sequence[str] | None
    share: Mapping[str, float] | None
    arm_cost: Mapping[str, float] | None
    cost_per_revenue: Mapping[str, float] | None
    include_control: bool | None
    margin: float | None
    per_revenue: float | None
    split_by: str | None
    settings: Mapping[str, Setting] | None


class BudgetKeywords(TypedDict, total=False):
    """The budgets of a study."""

    per_unit: Sequence[float] | None
    budget: Sequence[float] | None
    share_of_max: Sequence[float] | None


class TrainKeywords(RoleKeywords, BudgetKeywords, total=False):
    """The keywords of a study that :func:`dfcl.train` takes."""

    test: str | None
    estimator: Estimator | None


class CheckKeywords(TrainKeywords, total=False):
    """The keywords of a study that :func:`dfcl.check` takes."""

    method: str | None


class EvaluateKeywords(RoleKeywords, total=False):
    """The keywords of a study that :func:`dfcl.evaluate` takes."""

    method: str | None


class CompareKeywords(RoleKeywords, BudgetKeywords, total=False):
    """The keywords of a study that :func:`dfcl.compare` takes."""

    method: str | None


class StudyKeywords(CheckKeywords, total=False):
    """All keywords of :class:`dfcl.Study`."""

    trial: str | None


class AllocateOptions(TypedDict, total=False):
    """The keywords of :func:`dfcl.allocate`, budgets apart."""

    include_control: bool
    multiplier: float | None
    control: str | None
    index: bool
    objective: Objective
    rule: Rule
    margin: float | None
    per_revenue: float | None
    min_roi: float | None
    eligible: TableLike | None
    segment: str | None
    segment_budgets: TableLike | Mapping[str, float] | None
    second_cost: TableLike | None
    second_budget: float | None
    min_units: Mapping[str, int] | None
    max_units: Mapping[str, int] | None
    holdout: float | None
    holdout_salt: str | None
    explore: float | None
    launch: str | None
    previous: TableLike | None
    explain: bool
    memory: str | None
    output: Path | None
    overwrite: bool
    threads: int | None
    seed: int
    progress: Progress


class EvaluateOptions(TypedDict, total=False):
    """The keywords of :func:`dfcl.evaluate` that are no keywords of a study."""

    index: bool
    split: Rows
    estimator: Estimator | None
    nuisance: TableLike | None
    truth: TableLike | None
    budget: Budget
    per_unit: Budget
    share_of_max: Budget
    levels: int
    ranking: Ranking
    resamples: int
    intervals: Intervals
    weights: Weights
    segment: str | Sequence[str] | None
    objective: Objective
    min_roi: float | None
    eligible: TableLike | None
    allow_training_rows: bool
    fitted_on: TableLike | None
    test: TableLike | None
    split_out: Path | None
    memory: str | None
    output: Path | None
    overwrite: bool
    threads: int | None
    seed: int
    progress: Progress
