# SPDX-License-Identifier: Apache-2.0
"""Charts of results by matplotlib, which is not needed for anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import UnavailableError, usage_error

if TYPE_CHECKING:
    import matplotlib.axes
    from numpy.typing import NDArray

    from .results import Evaluation

__all__ = ["bars", "evaluation", "line"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as failure:
        message = "charts need matplotlib"
        error = UnavailableError(f"{message}\nhint: pip install matplotlib; report() draws a page without it")
        error.what = message
        raise error from failure
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def _labelled(ax: Any, x: str, y: str) -> Any:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def bars(heights: Mapping[str, float], x: str, y: str, ax: Any = None) -> matplotlib.axes.Axes:
    """A bar for each name."""
    axes = _axes(ax)
    axes.bar(list(heights), list(heights.values()))
    return _labelled(axes, x, y)


def line(columns: Mapping[str, NDArray[np.generic]], x: str, y: str, ax: Any = None) -> matplotlib.axes.Axes:
    """One column over another."""
    axes = _axes(ax)
    axes.plot(columns[x], columns[y])
    return _labelled(axes, x, y)


def _models(columns: Mapping[str, Any], model: str | None) -> list[str]:
    names = list(dict.fromkeys(str(name) for name in columns["model"]))
    if model is None:
        return names
    if model not in names:
        raise usage_error("model", f"no such model: found '{model}', expected {', '.join(names)}")
    return [model]


def _part(result: Evaluation, part: str, model: str | None) -> tuple[dict[str, Any], list[str]]:
    if part not in result.parts:
        raise usage_error("kind", f"the evaluation has no {part}", f"it has {', '.join(result.parts)}")
    columns: dict[str, Any] = dict(result.to_columns(part))
    if "baseline" in columns and "model" in columns:  # curves of models and of baselines are one table
        keep = np.array([name is not None for name in columns["model"]])
        columns = {name: values[keep] for name, values in columns.items()}
    return columns, _models(columns, model)


def evaluation(result: Evaluation, kind: str, model: str | None, ax: Any) -> matplotlib.axes.Axes:
    """The charts of ``Evaluation.plot``."""
    drawn = {"curve": _curve, "deciles": _deciles, "differences": _differences, "calibration": _calibration}
    if kind not in drawn:
        raise usage_error("kind", f"unknown word: found '{kind}', expected {', '.join(drawn)}")
    return drawn[kind](result, model, ax)


def _curve(result: Evaluation, model: str | None, ax: Any) -> Any:
    columns, names = _part(result, "curve", model)
    axes = _axes(ax)
    for name in names:
        own = columns["model"] == name
        cost, gain = columns["cost"][own], columns["incremental_revenue"][own]
        (drawn,) = axes.plot(cost, gain, label=name)
        low, high = columns["incremental_revenue_low"][own], columns["incremental_revenue_high"][own]
        if np.isfinite(low).all():
            axes.fill_between(cost, low, high, color=drawn.get_color(), alpha=0.15, linewidth=0)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.legend(frameon=False)
    return _labelled(axes, "cost per unit", "revenue above control, per unit")


def _deciles(result: Evaluation, model: str | None, ax: Any) -> Any:
    columns, names = _part(result, "deciles", model)
    axes = _axes(ax)
    observed = next((name for name in ("uplift", "observed", "revenue") if f"{name}_low" in columns), "")
    if not observed:
        raise usage_error("kind", "the deciles have no uplift with an interval")
    for place, name in enumerate(names):
        own = columns["model"] == name
        x = np.arange(1, int(own.sum()) + 1) + 0.12 * place
        middle, low, high = (columns[observed + end][own].astype(float) for end in ("", "_low", "_high"))
        axes.errorbar(x, middle, yerr=np.abs([middle - low, high - middle]), fmt="o", capsize=2, label=name)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.legend(frameon=False)
    return _labelled(axes, "decile of predicted uplift", "observed uplift per unit")


def _differences(result: Evaluation, model: str | None, ax: Any) -> Any:
    columns, names = _part(result, "differences", model)
    axes = _axes(ax)
    own = np.isin(columns["model"].astype(str), names)
    labels = [
        f"{one} - {other}, {budget:.3g}"
        for one, other, budget in zip(*(columns[name][own] for name in ("model", "reference", "budget_per_unit")))
    ]
    middle, low, high = (columns["revenue" + end][own].astype(float) for end in ("", "_low", "_high"))
    axes.errorbar(middle, np.arange(len(labels)), xerr=np.abs([middle - low, high - middle]), fmt="o", capsize=2)
    axes.set_yticks(np.arange(len(labels)), labels)
    axes.axvline(0, color="0.6", linewidth=0.8)
    return _labelled(axes, "difference in revenue per unit", "models, budget per unit")


def _calibration(result: Evaluation, model: str | None, ax: Any) -> Any:
    columns, names = _part(result, "calibration", model)
    axes = _axes(ax)
    for name in names:
        own = (columns["model"] == name) & (columns["outcome"] == "revenue")
        axes.plot(columns["predicted"][own], columns["observed"][own], "o-", label=name)
    ends = [float(np.min(columns["predicted"])), float(np.max(columns["predicted"]))]
    axes.plot(ends, ends, color="0.6", linewidth=0.8)
    axes.legend(frameon=False)
    return _labelled(axes, "predicted revenue", "observed revenue")
