# SPDX-License-Identifier: Apache-2.0
"""Is a trial fit to learn from, and what are plans worth: what the driver says of a trial on many machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import data_error, usage_error
from ..model import ModelsLike
from ..progress import Progress
from ..results import Check, Evaluation, Readout
from ..study import StudyLike, study_of
from ..verbs import plans, trials, worth
from .predict import require_columns
from .trial import TrialFrame, to_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check", "evaluate", "readout"]


def check(trial: DataFrame, study: StudyLike, *, max_rows: int = 4_000_000, progress: Progress = None) -> Check:
    """Is this trial fit to learn from? As :func:`dfcl.check` says it, for any partitioning.

    The rows are brought to the driver, sorted by id; of a larger trial a sample by a hash of the cluster or id, with a warning.
    The tests then have the power of the sample, and ids that stand twice are found in it alone.

    Parameters
    ----------
    trial : pyspark.sql.DataFrame
        With the columns that the study names; select those that are needed.
    study : Study or path
        What the columns mean; the id must be named.
    max_rows : int
        The most rows on the driver, about: 4 bytes per row and feature, and about 60 per row.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.

    Returns
    -------
    Check
    """
    meant = study_of(study, {})
    return trials.check(meant, TrialFrame(trial, meant).sample(max_rows, "checked"), progress=progress)


def evaluate(trial: DataFrame, study: StudyLike, models: ModelsLike, *, max_rows: int = 4_000_000, progress: Progress = None,
             **options: Any) -> Evaluation:  # fmt: skip
    """What plans are worth on rows that the models have not seen. As :func:`dfcl.evaluate` says it, for any partitioning.

    The rows are brought to the driver, sorted by id; of a larger trial a sample by a hash of the cluster or id, with a warning.
    Intervals are then those of the sample: right, and as wide as so many units leave them.

    Parameters
    ----------
    trial : pyspark.sql.DataFrame
        With the columns that the study names; select those that are needed.
    study : Study or path
        What the columns mean; the id must be named.
    models : Model, path, or several
        As for :func:`dfcl.evaluate`.
    max_rows : int
        The most rows on the driver, about. Evaluation takes some 100 bytes per evaluated row and arm.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.
    **options
        Those of :func:`dfcl.evaluate`.

    Returns
    -------
    Evaluation
    """
    meant = study_of(study, {})
    rows = TrialFrame(trial, meant).sample(max_rows, "evaluated")
    return worth.evaluate(meant, models, rows, progress=progress, **options)


# Columns that a readout may look at.
_OF_PLAN = ("id", "arm", "revenue", "cost", "role", "propensity", "control_revenue", "control_cost", "time")
_OF_OUTCOMES = ("id", "revenue", "role", "arm", "cost", "time", "propensity")


def _units(frame: DataFrame, names: list[str], max_rows: int, what: str) -> pa.Table:
    require_columns(frame, ["id"], what)
    rows = frame.count()
    if rows > max_rows:
        raise usage_error(what, f"{rows:,} rows, and max_rows={max_rows:,}", "what a launch earned in all is no matter of a sample: raise max_rows, or read out parts of the launch")
    if rows == 0:
        raise data_error(f"<{what}>: there are no units")
    return to_table(frame.select(*(frame[f"`{name}`"] for name in frame.columns if name in names)), ["id"])


def readout(plan: DataFrame, outcomes: DataFrame, *, max_rows: int = 20_000_000, progress: Progress = None, **options: Any) -> Readout:
    """What a plan earned: planned against realised, and over the hold-out. As :func:`dfcl.readout` says it, for any partitioning.

    The few columns that it looks at are brought to the driver, sorted by id; more than ``max_rows`` of them are refused, for what
    was earned and spent in all is no matter of a sample.

    Parameters
    ----------
    plan : pyspark.sql.DataFrame
        The plan of the launch: ``SparkPlan.frame``, or a table it was written to.
    outcomes : pyspark.sql.DataFrame
        Columns id and revenue, and maybe arm, cost, role, time and those that ``weight`` and ``guardrail`` name.
    max_rows : int
        The most rows of either table on the driver, some 100 bytes each.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.
    **options
        Those of :func:`dfcl.readout`. A frame does not say how the plan was made: give ``holdout_share`` and ``control``.

    Returns
    -------
    Readout
    """
    guardrails = options.get("guardrail") or []
    more = [options.get("weight"), *([guardrails] if isinstance(guardrails, str) else guardrails)]
    planned = _units(plan, list(_OF_PLAN), max_rows, "plan")
    happened = _units(outcomes, [*_OF_OUTCOMES, *(name for name in more if name)], max_rows, "outcomes")
    return plans.readout(planned, happened, progress=progress, **options)
