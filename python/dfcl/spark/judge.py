# SPDX-License-Identifier: Apache-2.0
"""Is a trial fit to learn from, and what are plans worth: what the driver says of a trial on many machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model import ModelsLike
from ..progress import Progress
from ..results import Check, Evaluation
from ..study import StudyLike, study_of
from ..verbs import trials, worth
from .trial import TrialFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check", "evaluate"]


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
