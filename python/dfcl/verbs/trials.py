# SPDX-License-Identifier: Apache-2.0
"""Trials: a first study, simulation, checks, power; files looked at and drawn."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from .. import _dfcl
from ..frames import Table
from ..model import ModelsLike, model_inputs
from ..progress import Progress
from ..results import Check, Info, Power, Simulation
from ..study import Study, StudyLike, study_of, warn_of_doubts
from ..tables import Sources
from ..types import Budget, CheckKeywords, Path, Preset, ReportFormat, Response, Rows, Setting, TableLike
from .request import fill, fill_study, fill_tables, run_of

__all__ = ["check", "info", "init", "power", "report", "simulate", "simulate_outcomes"]


def init(
    trial: TableLike,
    *,
    output: Path | None = None,
    overwrite: bool = False,
    arm: str | None = None,
    control: str | None = None,
    revenue: str | None = None,
    cost: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Study:
    """A first study for a trial, for you to correct.

    It is proposed from the data: what was drawn at random, what differs between the arms, what is zero in control; names of
    columns decide only what the data leave open. Each key that is uncertain is warned of, with the reason
    (:class:`dfcl.DfclWarning`).

    Parameters
    ----------
    trial : path or frame
        The trial.
    output : path, optional
        A study file to write, with its reasons and what is uncertain.
    overwrite : bool, default False
        Replace a file that is there.
    arm, revenue, cost : str, optional
        Columns that you know already.
    control : str, optional
        The arm that means nothing was given.
    threads : int, optional
        By default as many as the machine has. Never changes a result.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.

    Returns
    -------
    Study

    Examples
    --------
    >>> made = simulate("criteo", rows=2000, seed=1)
    >>> init(made.trial).method
    'auto'
    """
    request = _dfcl.InitRequest()
    fill(request, output=output, arm=arm, control=control, revenue=revenue, cost=cost)
    with Sources() as sources:
        fill_tables(request, sources, trial=trial)
        text, unsure = _dfcl.init(request, run_of(threads, 0, progress, overwrite))
        warn_of_doubts(unsure)
        if output is None or not isinstance(trial, (str, os.PathLike)):
            return Study.parse(text)
        return Study.read(output)  # it says where the trial is as seen from its own folder


def simulate(
    preset: Preset = "marketing",
    rows: int = 10_000,
    *,
    response: Response = "smooth",
    noise: float = 1.0,
    days: int | None = None,
    shares: Sequence[float] | None = None,
    cost_scale: float = 1.0,
    population_shift: float = 0.0,
    imbalance: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Simulation:
    """A trial with known truth, and the study to use it with.

    Parameters
    ----------
    preset : {"marketing", "criteo", "varied"}
        The world to simulate.
    rows : int
        Number of rows.
    response : {"smooth", "tree", "sparse", "rules", "few"}
        What effects depend on features by, so that no kind of learner is favoured.
    noise : float
        1: as in the world; 0 gives the expected outcomes themselves.
    days : int, optional
        The rows are shops x days; every day draws its own discounts.
    shares : list of float, optional
        The share of each arm.
    cost_scale : float
        Every cost times this.
    population_shift : float
        How far the units lie from those of the trial.
    imbalance : bool
        A trial whose randomisation is broken.
    threads, progress
        As for :func:`init`.
    seed : int
        Another number draws another trial.

    Returns
    -------
    Simulation
        ``trial``, ``truth`` and ``study``.

    Examples
    --------
    >>> simulate("marketing", rows=2000, seed=1)
    <dfcl.Simulation: 2,000 rows, 111 columns>
    """
    request = _dfcl.SimulateRequest()
    fill(request, preset=preset, rows=rows, response=response, noise=noise, days=days, shares=shares)
    fill(request, cost_scale=cost_scale, population_shift=population_shift, imbalance=imbalance)
    tables: Any = _dfcl.simulate(request, run_of(threads, seed, progress))
    trial, truth, text = tables
    return Simulation(Table(trial), Table(truth), Study.parse(text))


def simulate_outcomes(
    plan: TableLike,
    preset: Preset = "marketing",
    rows: int = 10_000,
    *,
    response: Response = "smooth",
    noise: float = 1.0,
    cost_scale: float = 1.0,
    population_shift: float = 0.0,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Table:
    """What the units of a plan earn and cost, for :func:`readout`.

    Parameters
    ----------
    plan : Plan, path or frame
        Its ids are rows of the simulated trial.
    preset, rows, response, noise, cost_scale, population_shift, seed
        Those of the trial (:func:`simulate`).
    threads, progress
        As for :func:`init`.

    Returns
    -------
    Table
    """
    request = _dfcl.SimulateRequest()
    fill(request, preset=preset, rows=rows, response=response, noise=noise)
    fill(request, cost_scale=cost_scale, population_shift=population_shift)
    with Sources() as sources:
        request.set("outcomes_of", sources.path(plan, "plan"))
        outcomes: Any = _dfcl.simulate(request, run_of(threads, seed, progress))
        return Table(outcomes)


def check(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    split_out: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Unpack[CheckKeywords],
) -> Check:
    """Is this trial fit to learn from?

    Parameters
    ----------
    study : Study or path, optional
        What the columns mean; or say it by ``keywords``.
    trial : path or frame, optional
        By default the one that the study names.
    split_out : path, optional
        A table to write: each row's id and split.
    overwrite : bool
        Whether files that are there may be replaced.
    threads, progress
        As for :func:`init`.
    seed : int
        Of the permutations, where a test needs them.
    **keywords
        Those of :class:`Study`.

    Returns
    -------
    Check
        True where the trial is fit.

    Examples
    --------
    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> check(made.study, made.trial).fit
    True
    """
    request = _dfcl.CheckRequest()
    fill(request, split_out=split_out)
    with Sources() as sources:
        fill_study(request, study_of(study, keywords), trial, sources)
        return Check(*_dfcl.check(request, run_of(threads, seed, progress, overwrite)))


def power(
    study: StudyLike | None = None,
    models: ModelsLike | None = None,
    trial: TableLike | None = None,
    *,
    sd: float | None = None,
    gain: Budget = None,
    relative_gain: Budget = None,
    per_unit: float | None = None,
    share_of_max: float | None = None,
    split: Rows | None = None,
    differ: float | None = None,
    launch_units: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
    output: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    settings: Mapping[str, Setting] | None = None,
) -> Power:
    """How large must a trial or a hold-out be, and what can this one show? Two plans, each arm against control, a launch.

    Parameters
    ----------
    study : Study or path, optional
        Of a trial like the next one; or say ``sd``.
    models : model or predictions, or two of them, optional
        Plans to tell apart.
    trial : path or frame, optional
        By default the one that the study names.
    sd : float, optional
        Without a study: standard deviation of the paired difference, per unit.
    gain, relative_gain : float or list of float, optional
        Gains to be found: revenue per unit, or relative to the first plan's revenue (0.01, 0.02, 0.05).
    per_unit, share_of_max : float, optional
        The budget; by default the study's first.
    split : {"train", "validation", "test", "all"}, optional
        The rows to look at; by default test with models, else all.
    differ : float, optional
        Without two models: the share of the units to which the plans give other arms; 0.3.
    launch_units : int, optional
        Units of the launch from which a hold-out is taken; as many as the trial has.
    power : float
        Probability with which the gain is to be found.
    level : float
        Level of the interval that must leave out zero.
    output : path, optional
        A results file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    threads, progress
        As for :func:`init`.
    seed : int
        Of the resamples.
    settings : dict, optional
        Keys of the study by their full names.

    Returns
    -------
    Power

    Examples
    --------
    >>> power(sd=12, gain=0.2, power=0.9)["power"]["next_trial"][0]["rows"]
    37827.0
    """
    request = _dfcl.PowerRequest()
    fill(request, sd=sd, gain=gain, relative_gain=relative_gain, per_unit=per_unit, share_of_max=share_of_max)
    fill(request, split=split, differ=differ, launch_units=launch_units, power=power, level=level, output=output)
    with Sources() as sources:
        if study is not None:
            meant = study_of(study, {} if settings is None else {"settings": settings})
            fill_study(request, meant, trial, sources)
        if models is not None:
            request.set("models", model_inputs(models, sources, trial))
        return Power(*_dfcl.power(request, run_of(threads, seed, progress, overwrite)))


def report(results: Path, *, output: Path | None = None, format: ReportFormat | None = None, overwrite: bool = False) -> str:
    """A results file as a page, as Markdown or as text.

    Parameters
    ----------
    results : path
        A file that ``evaluate``, ``compare``, ``readout``, ``power`` or ``deploy`` wrote.
    output : path, optional
        A file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    format : {"html", "md", "text"}, optional
        By default as the name of the file says.

    Returns
    -------
    str
        The report.
    """
    request = _dfcl.ReportRequest()
    fill(request, results=results, output=output, format=format)
    return _dfcl.report(request, run_of(None, 0, None, overwrite))


def info(file: TableLike, *, threads: int | None = None, progress: Progress = None) -> Info:
    """What a file is: a model or a table, its columns, types and ranges, and how it was made.

    Parameters
    ----------
    file : path or frame
        A model or a table.
    threads, progress
        As for :func:`init`.

    Returns
    -------
    Info

    Examples
    --------
    >>> info(simulate("criteo", rows=2000, seed=1).trial)["rows"]
    2000
    """
    request = _dfcl.InfoRequest()
    with Sources() as sources:
        fill_tables(request, sources, file=file)
        return Info(*_dfcl.info(request, run_of(threads, 0, progress)))
