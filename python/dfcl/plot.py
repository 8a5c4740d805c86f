# SPDX-License-Identifier: Apache-2.0
"""Charts of results by matplotlib, which is not needed for anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    drawn: matplotlib.axes.Axes = _labelled(axes, x, y)
    return drawn


def line(columns: Mapping[str, NDArray[np.generic]], x: str, y: str, ax: Any = None) -> matplotlib.axes.Axes:
    """One column over another."""
    axes = _axes(ax)
    axes.plot(columns[x], columns[y])
    drawn: matplotlib.axes.Axes = _labelled(axes, x, y)
    return drawn


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
    return columns, _models(columns, model)


def evaluation(result: Evaluation, kind: str, model: str | None, arm: str | None, ax: Any) -> matplotlib.axes.Axes:
    """The charts of ``Evaluation.plot``."""
    drawn: dict[str, Callable[[Evaluation, str | None, str | None, Any], Any]] = {
        "curve": _curve,
        "deciles": _deciles,
        "differences": _differences,
        "calibration": _calibration,
        "policy": _policy,
    }
    if kind not in drawn:
        raise usage_error("kind", f"unknown word: found '{kind}', expected {', '.join(drawn)}")
    axes: matplotlib.axes.Axes = drawn[kind](result, model, arm, ax)
    return axes


def _curve(result: Evaluation, model: str | None, arm: str | None, ax: Any) -> Any:
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


def _deciles(result: Evaluation, model: str | None, arm: str | None, ax: Any) -> Any:
    columns, names = _part(result, "deciles", model)
    arms = list(dict.fromkeys(name for name in columns["arm"] if name))
    chosen = arm if arm is not None else arms[-1]
    if chosen not in arms:
        raise usage_error("arm", f"no such arm: found '{chosen}', expected {', '.join(arms)}")
    axes = _axes(ax)
    for place, name in enumerate(names):
        own = (columns["model"] == name) & (columns["arm"] == chosen)
        x = np.arange(1, int(own.sum()) + 1) + 0.12 * place
        middle, low, high = (columns["uplift" + end][own].astype(float) for end in ("", "_low", "_high"))
        drawn = axes.errorbar(x, middle, yerr=np.abs([middle - low, high - middle]), fmt="o", capsize=2, label=name)
        axes.plot(x, columns["predicted"][own], "_", color=drawn[0].get_color(), markersize=14)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.legend(frameon=False, title=f"arm {chosen}; bars: predicted")
    return _labelled(axes, "tenth of the units, most predicted uplift first", "uplift per unit")


def _differences(result: Evaluation, model: str | None, arm: str | None, ax: Any) -> Any:
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


def _calibration(result: Evaluation, model: str | None, arm: str | None, ax: Any) -> Any:
    columns, names = _part(result, "calibration", model)
    axes = _axes(ax)
    for name in names:
        own = (columns["model"] == name) & (columns["outcome"] == "revenue")
        axes.plot(columns["predicted"][own], columns["observed"][own], "o-", label=name)
    ends = [float(np.min(columns["predicted"])), float(np.max(columns["predicted"]))]
    axes.plot(ends, ends, color="0.6", linewidth=0.8)
    axes.legend(frameon=False)
    return _labelled(axes, "predicted revenue", "observed revenue")


def _policy(result: Evaluation, model: str | None, arm: str | None, ax: Any) -> Any:
    """The first policy tree of a model: questions, and at the leaves the arm, its share and what it earns."""
    models: Any = result.figures["models"]
    tree = next((one["policy_trees"][0] for one in models if model in (None, one["name"]) and one.get("policy_trees")), None)
    if tree is None:
        raise usage_error("kind", "the evaluation has no policy tree")
    axes = _axes(ax)
    axes.set_axis_off()
    next_leaf = 0

    def place(node: int, depth: int) -> float:
        nonlocal next_leaf
        entry = tree["nodes"][node]
        if entry["leaf"] is not None:
            leaf = tree["leaves"][entry["leaf"]]
            x, next_leaf = float(next_leaf), next_leaf + 1
            text = f"{leaf['arm']}\n{100 * leaf['share']:.0f} % of units\n{float(leaf['revenue'] or 0):+.3g} per unit"
            axes.text(x, -depth, text, ha="center", va="top", bbox={"boxstyle": "round", "facecolor": "0.94", "edgecolor": "0.6"})
            return x
        ends = [place(entry["yes"], depth + 1), place(entry["no"], depth + 1)]
        x = sum(ends) / 2
        for end, word in zip(ends, ("yes", "no")):
            axes.plot([x, end], [-depth - 0.1, -depth - 0.95], color="0.6", linewidth=0.8, zorder=0)
            axes.text((x + end) / 2, -depth - 0.5, word, ha="center", color="0.4")
        axes.text(x, -depth, entry["question"], ha="center", va="center", bbox={"boxstyle": "round", "facecolor": "white"})
        return x

    place(0, 0)
    axes.set_xlim(-0.6, next_leaf - 0.4)
    axes.set_title(f"at a budget of {tree['budget_per_unit']:.3g} per unit", fontsize="medium")
    return axes
