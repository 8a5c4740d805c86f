# SPDX-License-Identifier: Apache-2.0
"""Plans: who gets what, and what they earned."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, cast

from .. import _dfcl
from ..adapters import ForeignModel
from ..errors import usage_error
from ..model import Model, Prediction, PredictionsLike, model_of
from ..plan import Plan
from ..progress import Progress
from ..results import Curve, Readout
from ..tables import Sources, index_of
from ..types import AllocateOptions, Objective, Path, Rule, TableLike
from .request import fill, fill_tables, run_of

__all__ = ["allocate", "allocate_curve", "allocate_many", "readout"]

# Frames of at least this many units that are not tied to each other are read where they lie: nothing is copied. The plan
# is the same either way.
_MANY_UNITS = 200_000


def _request(predictions: PredictionsLike, units: TableLike | None, sources: Sources) -> _dfcl.AllocateRequest:
    request = _dfcl.AllocateRequest()
    if isinstance(predictions, (str, os.PathLike)) and units is not None:
        predictions = model_of(predictions, "predictions")
    if isinstance(predictions, Model):
        if units is None:
            raise usage_error("units", "a model: plan for which units?", "allocate(model, units, ...)")
        request.set("model", predictions._native)
        request.set("units", sources.path(units, "units", predictions.features))
    elif isinstance(predictions, Prediction):
        request.set("prediction", predictions._native)
        fill_tables(request, sources, units=units)  # where the segments stand
    elif isinstance(predictions, ForeignModel):
        raise usage_error("units", "a model: plan for which units?", "allocate(model, units, ...)")
    elif units is not None:
        raise usage_error("units", "a table of predictions takes no units", "leave out units=, or give a model")
    else:
        request.set("predictions", sources.path(predictions, "predictions"))
    return request


def _limits(limits: Mapping[str, int] | None, field: str) -> list[str] | None:
    """ARM=N for each arm."""
    if limits is None:
        return None
    if not isinstance(limits, Mapping):
        raise usage_error(field, f"cannot make limits of {type(limits).__name__}", 'a mapping: {"20": 1000}')
    return [f"{arm}={count}" for arm, count in limits.items()]


def budgets_table(segment_budgets: TableLike | Mapping[str, float] | None) -> TableLike | None:
    """Budgets by segment as a table with the columns segment and budget."""
    if isinstance(segment_budgets, Mapping) and set(segment_budgets) != {"segment", "budget"}:
        return {"segment": list(segment_budgets), "budget": list(segment_budgets.values())}
    return cast("TableLike | None", segment_budgets)


def _index_of_plan(predictions: object, units: object) -> object:
    """The index of the frame whose rows are the units of the plan."""
    if isinstance(predictions, Prediction):
        return predictions._index
    return index_of(units if isinstance(predictions, (Model, str, os.PathLike)) else predictions)


def _predicted(predictions: PredictionsLike, units: TableLike | None) -> tuple[PredictionsLike, TableLike | None]:
    """What a model of another library predicts for the units, which then need not be given."""
    if isinstance(predictions, ForeignModel) and units is not None:
        return predictions.predict(units), None
    return predictions, units


def _plans(predictions: PredictionsLike, units: TableLike | None, budgets: Mapping[str, Any], options: Mapping[str, Any]) -> list[Plan]:
    predictions, units = _predicted(predictions, units)
    given = dict(options)
    segment_budgets = budgets_table(given.pop("segment_budgets", None))
    tables = {name: given.pop(name, None) for name in ("eligible", "second_cost", "previous")}
    limits = {name: _limits(given.pop(name, None), name) for name in ("min_units", "max_units")}
    run = run_of(given.pop("threads", None), given.pop("seed", 0), given.pop("progress", None), given.pop("overwrite", False))
    coupled = (given.get("segment"), tables["second_cost"], tables["eligible"], *limits.values())
    with Sources() as sources:
        request = _request(predictions, units, sources)
        many = units is None and sources.most_rows() >= _MANY_UNITS
        fill(request, **budgets, **given, **limits)
        fill_tables(request, sources, segment_budgets=segment_budgets, **tables)
        request.set("stream", many and all(entry is None for entry in coupled))
        figures, plans = _dfcl.allocate(request, run)
    index = _index_of_plan(predictions, units)
    return [Plan(json, text, full, plan, index) for (json, text, full), plan in zip(figures, plans)]


def allocate(
    predictions: PredictionsLike,
    units: TableLike | None = None,
    *,
    budget: float | None = None,
    per_unit: float | None = None,
    share_of_max: float | None = None,
    include_control: bool = False,
    multiplier: float | None = None,
    control: str | None = None,
    index: bool = False,
    objective: Objective = "revenue",
    rule: Rule = "none",
    margin: float | None = None,
    per_revenue: float | None = None,
    min_roi: float | None = None,
    eligible: TableLike | None = None,
    segment: str | None = None,
    segment_budgets: TableLike | Mapping[str, float] | None = None,
    second_cost: TableLike | None = None,
    second_budget: float | None = None,
    min_units: Mapping[str, int] | None = None,
    max_units: Mapping[str, int] | None = None,
    holdout: float | None = None,
    holdout_salt: str | None = None,
    explore: float | None = None,
    launch: str | None = None,
    previous: TableLike | None = None,
    explain: bool = False,
    memory: str | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Plan:
    """Who gets what: the best plan for a budget, with proof of how good it is.

    Parameters
    ----------
    predictions : Prediction, frame, Model or path
        A ``Prediction``; any table with columns id, revenue_<arm> and cost_<arm> from any model; or a model.
    units : path or frame, optional
        Of a model: the units to predict and plan for. Of a prediction: where its segments stand.
    budget, per_unit, share_of_max : float, optional
        What may be spent above everyone in control: in all, per unit, or as a share of what the costliest arm costs above
        control.
    include_control : bool, default False
        Budgets count what control costs in.
    multiplier : float, optional
        No budget: a known price of money, such as yesterday's.
    control : str, optional
        The arm that is control, where the predictions do not say it themselves.
    index : bool, default False
        Revenue ranks units and is no money, where the predictions do not say it themselves.
    objective : {"revenue", "profit"}
        What is made large.
    rule : {"none", "tree"}
        "tree": for a model and units, plan by a rule of at most eight leaves over their features; it is
        ``plan["policy_tree"]``.
    margin, per_revenue : float, optional
        The share of revenue that is profit, or what one unit of revenue is worth.
    min_roi : float, optional
        No step that earns less revenue per cost; without a budget, spend until there is none. A return, not
        an ROI: where a unit of revenue is worth m, it is an ROI of ``m * min_roi - 1``.
    eligible : path or frame, optional
        Columns id and eligible_<arm>.
    segment : str, optional
        A column with segments that have budgets of their own.
    segment_budgets : dict, path or frame, optional
        Segment -> budget, or columns segment and budget.
    second_cost : path or frame, optional
        A second constrained resource: columns id and cost_<arm>.
    second_budget : float, optional
        How much of it there is.
    min_units, max_units : dict, optional
        Arm -> the least and the most units in it.
    holdout : float, optional
        The share of units held out at random, in control.
    holdout_salt : str, optional
        Another text gives another hold-out.
    explore : float, optional
        The share of units that get a random arm.
    launch : str, optional
        When the plan starts; kept in it for :func:`readout`.
    previous : Plan, path or frame, optional
        The plan before this one: the figures say what changes.
    explain : bool
        Of a model: columns that say why, such as uplift, second_arm, cut_distance and reason_1 to reason_3.
    memory : str, optional
        At most about this much memory, such as "2GB": streams predictions, works on fewer threads, or refuses
        before it begins. Tables that are in memory already do not count. Never changes a result.
    output : path, optional
        A plan file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    threads : int, optional
        By default as many as the machine has. Never changes a result.
    seed : int
        Of exploration.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.

    Returns
    -------
    Plan
        A budget that cannot be met is its status. :func:`allocate_many` takes several budgets.

    Examples
    --------
    >>> plan = allocate({"revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0],
    ...                  "revenue_1": [4.0, 2.0], "cost_1": [1.0, 1.0]}, budget=1)
    >>> plan.status, plan.spend, plan.value
    ('optimal within gap', 1.0, 5.0)
    """
    options = {name: value for name, value in locals().items() if name not in ("predictions", "units")}
    budgets = {name: options.pop(name) for name in ("budget", "per_unit", "share_of_max")}
    for name, value in budgets.items():
        if isinstance(value, Iterable) and not isinstance(value, str):
            raise usage_error(name, f"one number: found {value!r}", "allocate_many takes several budgets")
    return _plans(predictions, units, budgets, options)[0]


def allocate_many(
    predictions: PredictionsLike,
    units: TableLike | None = None,
    *,
    budget: Sequence[float] | None = None,
    per_unit: Sequence[float] | None = None,
    share_of_max: Sequence[float] | None = None,
    **options: Unpack[AllocateOptions],
) -> list[Plan]:
    """A plan for each of several budgets.

    Parameters
    ----------
    predictions, units
        As for :func:`allocate`.
    budget, per_unit, share_of_max : list of float, optional
        The budgets, in one of the three ways.
    **options
        As those of :func:`allocate`.

    Returns
    -------
    list of Plan
        In the order of the budgets.

    Examples
    --------
    >>> plans = allocate_many({"revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0],
    ...                        "revenue_1": [4.0, 2.0], "cost_1": [1.0, 1.0]}, budget=[1, 2])
    >>> [plan.value for plan in plans]
    [5.0, 6.0]
    """
    budgets = {"budget": budget, "per_unit": per_unit, "share_of_max": share_of_max}
    return _plans(predictions, units, budgets, options)


def allocate_curve(
    predictions: PredictionsLike,
    units: TableLike | None = None,
    *,
    points: int = 50,
    control: str | None = None,
    objective: Objective = "revenue",
    margin: float | None = None,
    per_revenue: float | None = None,
    min_roi: float | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Curve:
    """The whole curve of spend and value, from the cheapest plan to the dearest that is worth its cost.

    Parameters
    ----------
    predictions, units, control, objective, margin, per_revenue, min_roi, threads, progress
        As for :func:`allocate`.
    points : int
        How many plans of the curve.

    Returns
    -------
    Curve
    """
    predictions, units = _predicted(predictions, units)
    with Sources() as sources:
        request = _request(predictions, units, sources)
        fill(request, curve=points, control=control, objective=objective, margin=margin, min_roi=min_roi)
        fill(request, per_revenue=per_revenue)
        figures, _ = _dfcl.allocate(request, run_of(threads, 0, progress))
    return Curve(*figures[0])


def readout(
    plan: TableLike,
    outcomes: TableLike,
    *,
    holdout_share: float | None = None,
    control: str | None = None,
    launch: str | None = None,
    budget: float | None = None,
    multiplier: float | None = None,
    previous: Path | None = None,
    weight: str | None = None,
    guardrail: str | Sequence[str] | None = None,
    margin: float | None = None,
    per_revenue: float | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Readout:
    """What a plan earned: planned against realised, and over the hold-out.

    Parameters
    ----------
    plan : Plan, path or frame
        The plan that was launched.
    outcomes : path or frame
        One row per unit with columns id, role, arm (received), revenue and cost.
    holdout_share : float, optional
        The share that was held out; by default what the plan says.
    control : str, optional
        The arm that is control; by default the one of the hold-out.
    launch : str, optional
        When the plan started; by default what the plan says.
    budget, multiplier : float, optional
        Of the plan; by default what it says.
    previous : path, optional
        The results file of the readout of the launch before this one: launches are added up.
    weight : str, optional
        A column of the outcomes with sample weights.
    guardrail : str or sequence of str, optional
        Columns of the outcomes: further outcomes of which more is worse.
    margin, per_revenue : float, optional
        The share of revenue that is profit, or what one unit of revenue is worth: shows profit.
    output : path, optional
        A results file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    progress : bool or function, optional
        See :data:`dfcl.Progress`.

    Returns
    -------
    Readout
    """
    request = _dfcl.ReadoutRequest()
    fill(request, holdout_share=holdout_share, control=control, launch=launch, budget=budget, multiplier=multiplier)
    fill(request, previous=previous, weight=weight, guardrail=guardrail, margin=margin, per_revenue=per_revenue, output=output)
    with Sources() as sources:
        fill_tables(request, sources, plan=plan, outcomes=outcomes)
        return Readout(*_dfcl.readout(request, run_of(0, 0, progress, overwrite)))
