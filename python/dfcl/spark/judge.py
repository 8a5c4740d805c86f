# SPDX-License-Identifier: Apache-2.0
"""Is a trial fit to learn from, and what are plans worth: what the driver says of a trial on many machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ..errors import data_error, usage_error
from ..model import ModelsLike
from ..progress import Progress
from ..results import Check, Evaluation, Readout
from ..study import StudyLike, study_of
from ..verbs import plans, trials, worth
from .check import check_rows
from .evaluate import evaluate_rows
from .launch import read_out_units
from .predict import require_columns
from .trial import TrialFrame, to_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check", "evaluate", "readout"]


def _require_place(on: str) -> None:
    if on not in ("driver", "executors"):
        raise usage_error("on", f"found {on!r}", "driver or executors")


def check(trial: DataFrame, study: StudyLike, *, on: Literal["driver", "executors"] = "driver", max_rows: int | None = None,
          progress: Progress = None) -> Check:  # fmt: skip
    """Is this trial fit to learn from? As :func:`dfcl.check` says it, for any partitioning.

    On the driver, the rows are brought there, sorted by id; of a larger trial a sample by a hash of the cluster or id, with a warning.
    The tests then have the power of the sample, and ids that stand twice are found in it alone.

    On the executors, all rows are counted and added up where they are, exactly: arms, sample ratio, means and their intervals, what is
    missing, balance, ids that stand twice; the same bytes for any partitioning. A sample of ``max_rows`` rows on the driver says
    what one machine takes from samples too: quantiles, how features go together, features that tell the revenue.

    Parameters
    ----------
    trial : pyspark.sql.DataFrame
        With the columns that the study names; select those that are needed.
    study : Study or path
        What the columns mean; the id must be named. On the executors, no time, cluster or winsorising.
    on : {"driver", "executors"}
        Where rows are counted.
    max_rows : int, optional
        The most rows on the driver, about: 4 bytes per row and feature, and about 60 per row. By default 4 million, or 250,000 beside
        executors.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.

    Returns
    -------
    Check
    """
    _require_place(on)
    meant = study_of(study, {})
    frame = TrialFrame(trial, meant)
    if on == "executors":
        return check_rows(frame, meant, 250_000 if max_rows is None else max_rows, progress)
    return trials.check(meant, frame.sample(4_000_000 if max_rows is None else max_rows, "checked"), progress=progress)


def evaluate(trial: DataFrame, study: StudyLike, models: ModelsLike, *, on: Literal["driver", "executors"] = "driver",
             max_rows: int = 4_000_000, progress: Progress = None, **options: Any) -> Evaluation:  # fmt: skip
    """What plans are worth on rows that the models have not seen. As :func:`dfcl.evaluate` says it, for any partitioning.

    On the driver, the rows are brought there, sorted by id; of a larger trial a sample by a hash of the cluster or id, with a warning.
    Intervals are then those of the sample: right, and as wide as so many units leave them.

    On the executors, plans and baselines are judged on all test rows where they are, by sums that add up exactly: deployed plans, their
    intervals, differences, differences from baselines at a common price and the verdict, the same bytes for any partitioning. Matched
    plans, curves, areas, fit, deciles and segments need rows in one place and are left out. The driver has the rows, or a sample of
    ``max_rows`` of them, for the check of the trial, the arms, and the study's own nuisance.

    Parameters
    ----------
    trial : pyspark.sql.DataFrame
        With the columns that the study names; select those that are needed.
    study : Study or path
        What the columns mean; the id must be named. On the executors, no time, cluster, weight, rule, guardrails or winsorising.
    models : Model, path, or several
        As for :func:`dfcl.evaluate`; on the executors models only, no predictions.
    on : {"driver", "executors"}
        Where rows are judged.
    max_rows : int
        The most rows on the driver, about. Evaluation takes some 100 bytes per evaluated row and arm.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.
    **options
        Those of :func:`dfcl.evaluate`; on the executors estimator, nuisance, budget, per_unit, share_of_max, resamples, objective,
        min_roi, allow_training_rows, seed.

    Returns
    -------
    Evaluation
    """
    _require_place(on)
    meant = study_of(study, {})
    frame = TrialFrame(trial, meant)
    if on == "driver":
        return worth.evaluate(meant, models, frame.sample(max_rows, "evaluated"), progress=progress, **options)
    unknown = sorted(set(options) - set(_SUMMED))
    if unknown:
        raise usage_error(unknown[0], "needs all rows on one machine", 'on="driver"')
    result, _ = evaluate_rows(frame, meant, models, frame.sample(max_rows, "checked"), progress=progress, **options)
    return result


# Options of an evaluation from sums.
_SUMMED = ("estimator", "nuisance", "budget", "per_unit", "share_of_max", "resamples", "objective", "min_roi", "allow_training_rows", "seed")

# Columns that a readout may look at.
_OF_PLAN = ("id", "arm", "revenue", "cost", "role", "propensity", "control_revenue", "control_cost", "time")
_OF_OUTCOMES = ("id", "revenue", "role", "arm", "cost", "time", "propensity")


def _of_both(plan: DataFrame, outcomes: DataFrame, options: dict[str, Any]) -> tuple[DataFrame, DataFrame]:
    """The columns of both that a readout looks at."""
    guardrails = options.get("guardrail") or []
    more = [options.get("weight"), *([guardrails] if isinstance(guardrails, str) else guardrails)]
    of_outcomes = [*_OF_OUTCOMES, *(name for name in more if name)]
    frames = []
    for frame, names, what in ((plan, _OF_PLAN, "plan"), (outcomes, of_outcomes, "outcomes")):
        require_columns(frame, ["id"], what)
        frames.append(frame.select(*(frame[f"`{name}`"] for name in frame.columns if name in names)))
    return frames[0], frames[1]


def _units(frame: DataFrame, max_rows: int, what: str) -> pa.Table:
    rows = frame.count()
    if rows > max_rows:
        raise usage_error(what, f"{rows:,} rows, and max_rows={max_rows:,}", 'what a launch earned in all is no matter of a sample: on="executors", or raise max_rows')
    if rows == 0:
        raise data_error(f"<{what}>: there are no units")
    return to_table(frame, ["id"])


def readout(plan: DataFrame, outcomes: DataFrame, *, on: Literal["driver", "executors"] = "driver", max_rows: int = 20_000_000,
            progress: Progress = None, **options: Any) -> Readout:  # fmt: skip
    """What a plan earned: planned against realised, and over the hold-out. As :func:`dfcl.readout` says it, for any partitioning.

    On the driver, the few columns that it looks at are brought there, sorted by id; more than ``max_rows`` of them are refused, for what
    was earned and spent in all is no matter of a sample. On the executors, both tables are joined by id and added up where they are, in
    two passes, by exact sums: the same figures, byte for byte, of any number of units.

    Parameters
    ----------
    plan : pyspark.sql.DataFrame
        The plan of the launch: ``SparkPlan.frame``, or a table it was written to.
    outcomes : pyspark.sql.DataFrame
        Columns id and revenue, and maybe arm, cost, role, time and those that ``weight`` and ``guardrail`` name.
    on : {"driver", "executors"}
        Where units are added up.
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
    _require_place(on)
    planned, happened = _of_both(plan, outcomes, options)
    if on == "executors":
        return read_out_units(planned, happened, progress=progress, **options)
    return plans.readout(_units(planned, max_rows, "plan"), _units(happened, max_rows, "outcomes"), progress=progress, **options)
