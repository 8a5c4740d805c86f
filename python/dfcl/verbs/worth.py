# SPDX-License-Identifier: Apache-2.0
"""What plans are worth: evaluation, comparison, simulated deployment."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Unpack

from .. import _dfcl
from ..model import ModelsLike, PredictionsLike, model_input, model_inputs
from ..progress import Progress
from ..results import Comparison, Deployment, Evaluation
from ..study import StudyLike, study_of
from ..tables import Sources
from ..types import (
    Budget,
    CompareKeywords,
    Device,
    Estimator,
    EvaluateKeywords,
    Intervals,
    Objective,
    Path,
    Precision,
    Ranking,
    Rows,
    Setting,
    Switch,
    TableLike,
    Weights,
)
from .request import COMPARE_KEYS, DEPLOY_KEYS, fill, fill_study, fill_tables, run_of, with_keys

__all__ = ["compare", "deploy", "evaluate"]


def evaluate(
    study: StudyLike | None,
    models: ModelsLike,
    trial: TableLike | None = None,
    *,
    index: bool = False,
    split: Rows = "test",
    estimator: Estimator | None = None,
    nuisance: PredictionsLike | None = None,
    truth: PredictionsLike | None = None,
    budget: Budget = None,
    per_unit: Budget = None,
    share_of_max: Budget = None,
    levels: int = 200,
    ranking: Ranking = "angle",
    resamples: int = 1000,
    intervals: Intervals = "bootstrap",
    weights: Weights = "poisson",
    segment: str | Sequence[str] | None = None,
    objective: Objective = "revenue",
    min_roi: float | None = None,
    eligible: TableLike | None = None,
    allow_training_rows: bool = False,
    fitted_on: TableLike | None = None,
    test: TableLike | None = None,
    split_out: Path | None = None,
    memory: str | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Unpack[EvaluateKeywords],
) -> Evaluation:
    """What plans are worth, on rows of a trial that the models have not seen.

    Parameters
    ----------
    study : Study or path, or None
        What the columns mean; None: say it by ``keywords``.
    models : model or predictions, or a list or dict of them
        Models, predictions, tables of predictions from anywhere, or paths; a dict names them. Their order does not matter.
    trial : path or frame, optional
        By default the one that the study names.
    index : bool, default False
        Predictions that do not say it themselves hold an index, which ranks units and is no money.
    split : {"train", "validation", "test", "all"}
        The rows to look at.
    estimator : {"horvitz-thompson", "hajek", "stratified", "doubly-robust"}, optional
        In place of the study's own; the verdict is then marked as not pre-declared. So it is with ``nuisance``.
    nuisance : model or predictions, optional
        The nuisance model of the doubly robust estimator.
    truth : predictions, optional
        The true expected outcomes of a simulated trial: the best possible plan is shown beside the others.
    budget, per_unit, share_of_max : float or list of float, optional
        In place of the study's budgets.
    levels : int
        Levels of cost of the published AUCC.
    ranking : {"angle", "published"}
        How units are ranked for the AUCC.
    resamples : int
        Bootstrap resamples; 0: no intervals.
    intervals : {"bootstrap", "analytic"}
        How intervals are made.
    weights : {"poisson", "multinomial"}
        How units are drawn in a resample.
    segment : str or list of str, optional
        Columns by which effects and plans are shown.
    objective, min_roi, eligible
        Plans keep to them as those of :func:`allocate` do.
    allow_training_rows : bool, default False
        Score models on rows that they were trained on.
    fitted_on : path or frame, optional
        The ids of the rows that predictions from elsewhere were fitted on.
    test : path or frame, optional
        A separate trial to evaluate on.
    split_out : path, optional
        A table to write: each row's id and split.
    memory : str, optional
        At most about this much memory, such as "2GB": keeps the trial in files while it runs, works on fewer threads, or refuses
        before it begins. Tables that are in memory already do not count. Never changes a result.
    overwrite : bool
        Whether files that are there may be replaced.
    output : path, optional
        A results file to write.
    threads : int, optional
        By default as many as the machine has. Never changes a result.
    seed : int
        Of the resamples.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.
    **keywords
        Those of :class:`Study`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import dfcl
    >>> made = dfcl.simulate("marketing", rows=4000, seed=1)
    >>> model = dfcl.train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> result = evaluate(made.study, {"tsm": model, "truth": made.truth}, made.trial, resamples=50)
    >>> [entry["name"] for entry in result["models"]]
    ['tsm', 'truth']
    """
    request = _dfcl.EvaluateRequest()
    fill(request, split=split, estimator=estimator, budget=budget, per_unit=per_unit, share_of_max=share_of_max)
    fill(request, index=index, levels=levels, ranking=ranking, resamples=resamples, intervals=intervals, weights=weights)
    fill(request, segment=segment, allow_training_rows=allow_training_rows, output=output, split_out=split_out)
    fill(request, objective=objective, min_roi=min_roi, memory=memory)
    with Sources() as sources:
        fill_study(request, study_of(study, keywords), trial, sources)
        fill_tables(request, sources, eligible=eligible, fitted_on=fitted_on, test=test)
        request.set("models", model_inputs(models, sources, trial if test is None else test))
        for name, given in (("nuisance", nuisance), ("truth", truth)):
            if given is not None:
                request.set(name, model_input(given, "", sources, name, trial))
        return Evaluation(*_dfcl.evaluate(request, run_of(threads, seed, progress, overwrite)))


def compare(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    methods: Sequence[str] | None = None,
    seeds: int | None = None,
    resamples: int = 1000,
    truth: PredictionsLike | None = None,
    segment: str | Sequence[str] | None = None,
    estimator: Estimator | None = None,
    test: TableLike | None = None,
    split_out: Path | None = None,
    device: Device = "auto",
    precision: Precision = "tf32",
    force: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Unpack[CompareKeywords],
) -> Comparison:
    """Several methods, trained and evaluated on one trial; the first is the reference.

    Parameters
    ----------
    study : Study or path, optional
        What the columns mean; or say it by ``keywords``.
    trial : path or frame, optional
        By default the one that the study names.
    methods : list of str, optional
        The methods to compare (:func:`dfcl.methods`).
    seeds : int, optional
        Trainings of each method, with other random starts.
    resamples, truth, segment, estimator, test, split_out
        As for :func:`evaluate`.
    device, precision
        As for :func:`train`.
    force : bool, default False
        Continue even if the trial is unfit to learn from.
    output : path, optional
        A folder in which models and results stay; the same call goes on where it was stopped.
    overwrite : bool
        Whether files that are there may be replaced.
    threads, progress
        As for :func:`evaluate`.
    seed : int
        Of trainings and resamples.
    **keywords
        Those of :class:`Study`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import dfcl
    >>> made = dfcl.simulate("marketing", rows=3000, seed=1)
    >>> result = compare(made.study, made.trial, methods=["tsm", "dfcl-mer"], resamples=0, settings={"method.epochs": 2})
    >>> [entry["name"] for entry in result["models"]]
    ['tsm', 'dfcl-mer']
    """
    meant = with_keys(study_of(study, keywords), COMPARE_KEYS, {"methods": methods, "seeds": seeds})
    request = _dfcl.CompareRequest()
    fill(request, resamples=resamples, segment=segment, force=force, estimator=estimator, split_out=split_out)
    fill(request, device=device, precision=precision)
    with Sources() as sources, tempfile.TemporaryDirectory() as scratch:
        fill_study(request, meant, trial, sources)
        request.set("output", os.path.join(scratch, "compared") if output is None else output)
        fill_tables(request, sources, test=test)
        if truth is not None:
            request.set("truth", model_input(truth, "", sources, "truth", trial))
        return Comparison(*_dfcl.compare(request, run_of(threads, seed, progress, overwrite)))


def deploy(
    study: StudyLike,
    *,
    units: int | None = None,
    days: int | None = None,
    methods: Sequence[str] | None = None,
    cost_drift: float | None = None,
    population_drift: float | None = None,
    retrain: bool | None = None,
    controller: Switch = "on",
    checkpoint: Path | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    settings: Mapping[str, Setting] | None = None,
) -> Deployment:
    """An online test of several methods, simulated: groups, budgets, retraining, drift.

    The units are simulated shops, whatever trial the study names.

    Parameters
    ----------
    study : Study or path
        Its methods, networks and budgets are used.
    units, days : int, optional
        Shops a day, and days.
    methods : list of str, optional
        One group of shops for each.
    cost_drift, population_drift : float, optional
        How costs and shops change over the days.
    retrain : bool, optional
        Train again on the way.
    controller : {"on", "off"}
        Which of the two comes first in the results.
    checkpoint : path, optional
        A folder that keeps the trained models.
    output : path, optional
        A results file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    threads, progress
        As for :func:`evaluate`.
    seed : int
        Of the simulation and the trainings.
    settings : dict, optional
        Keys of the study by their full names.

    Returns
    -------
    Deployment
    """
    given = dict(locals())
    meant = study_of(study, {} if settings is None else {"settings": settings})
    request = _dfcl.DeployRequest()
    fill(request, controller=controller, checkpoint=checkpoint, output=output)
    request.set("study", with_keys(meant, DEPLOY_KEYS, given)._native)
    return Deployment(*_dfcl.deploy(request, run_of(threads, seed, progress, overwrite)))
