# SPDX-License-Identifier: Apache-2.0
"""What the verbs return. Figures carry the names of the command line's JSON; tables go out as Arrow streams."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from . import _dfcl, html
from .figures import Figures, Interval
from .frames import Table
from .model import Model, Prediction
from .plan import Plan, PlanDifference
from .types import Path, ReportFormat

if TYPE_CHECKING:
    import matplotlib.axes

    from .study import Study

__all__ = [
    "Check",
    "Comparison",
    "Curve",
    "Deployment",
    "Evaluation",
    "Info",
    "Interval",
    "Model",
    "Plan",
    "PlanDifference",
    "Power",
    "Prediction",
    "Readout",
    "Simulation",
    "Table",
]

EvaluationPlot = Literal["curve", "deciles", "differences", "calibration", "policy"]


class Check(Figures):
    """Whether a trial is fit to learn from, and why."""

    _main_part = "arms"

    @property
    def fit(self) -> bool:
        """Whether the trial is fit to learn from."""
        return bool(self._figures["verdict"] == "fit")

    @property
    def grade(self) -> str:
        """balanced; adjustable: a little imbalanced, later verbs weight by estimated propensities; unfit."""
        return str(self._figures["grade"])

    @property
    def problems(self) -> list[str]:
        """Why it is unfit."""
        return [str(entry["text"]) for entry in self._figures["problems"]]

    @property
    def warnings(self) -> list[str]:
        """What to know of it."""
        return [str(entry["text"]) for entry in self._figures["warnings"]]

    def __bool__(self) -> bool:
        return self.fit

    def _repr_html_(self) -> str:
        names = ("arm", "units", "share", "revenue", "cost", "revenue_difference", "cost_difference")
        arms = [{name: arm.get(name) for name in names} for arm in self._figures["arms"]]
        said = f"The trial is {self._figures['verdict']} ({self.grade}): {self._figures['units']:,} units"
        return html.title(said) + html.table(arms) + html.notes(self.problems + self.warnings)


class Curve(Figures):
    """The curve of all best plans: ``figures["points"]``."""

    _main_part = "points"

    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Value by spend. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        """
        from .plot import line

        return line(self.to_columns("points"), "spend", "value", ax)


class Results(Figures):
    """A results file: ``write`` keeps it, ``report`` draws it."""

    @property
    def verdict(self) -> str:
        """The answer in words."""
        verdict: Any = self._figures["verdict"]
        return str(verdict["sentence"]) if isinstance(verdict, dict) else str(verdict)

    def write(self, path: Path) -> None:
        """Writes the results file (JSON)."""
        _dfcl.write_text(os.fspath(path), self.json)

    def save(self, path: Path) -> None:
        """The same as ``write``."""
        self.write(path)

    def report(self, path: Path | None = None, format: ReportFormat | None = None) -> str:
        """The report. Returns it, and writes it to ``path``.

        Parameters
        ----------
        path : path, optional
            A file to write.
        format : {"html", "md", "text"}, optional
            By default as the name of the file says.
        """
        request = _dfcl.ReportRequest()
        request.set("json", self.json)
        for name, value in (("output", path), ("format", format)):
            if value is not None:
                request.set(name, value)
        return _dfcl.report(request, _dfcl.Run(overwrite=True))

    def _repr_html_(self) -> str:
        tables = self._tables()
        shown = [name for name in self._shown_parts() if name in tables]
        parts = "".join(html.table(_short(tables[name]), name.replace("_", " ")) for name in shown)
        return html.title(self.verdict) + parts

    def _shown_parts(self) -> list[str]:
        return list(self._tables())[:3]


def _short(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns of a table that a notebook shows: no lists, no sentences, no simultaneous intervals, none twice
    (cost above control is the cost where control is free)."""
    hidden = ("sentence", "feasible", "predicted", "hajek", "simultaneous", "note", "answer", "multiplier", "spend_over_budget")
    names: list[str] = []
    seen: list[list[Any]] = []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        is_plain = not any(isinstance(value, list) or (isinstance(value, dict) and "value" not in value) for value in values)
        is_again = all(isinstance(value, Interval) for value in values) and values in seen
        if is_plain and not name.startswith(hidden) and not is_again:
            names.append(name)
            seen.append(values)
    return [{name: row.get(name) for name in names} for row in rows]


class Evaluation(Results):
    """What plans are worth on rows that the models have not seen.

    ``to_frame()`` has a row for each model and budget (``deployed``); ``parts`` lists the other tables.
    """

    _main_part = "deployed"

    def _shown_parts(self) -> list[str]:
        return ["deployed", "differences", "baseline_differences"]

    def plot(
        self,
        kind: EvaluationPlot = "curve",
        *,
        model: str | None = None,
        arm: str | None = None,
        ax: matplotlib.axes.Axes | None = None,
    ) -> matplotlib.axes.Axes:
        """A chart. Needs matplotlib.

        Parameters
        ----------
        kind : {"curve", "deciles", "differences", "calibration", "policy"}
            Revenue above control by cost, with its band; uplift by tenths of the predicted one; differences between models with
            intervals; predicted against observed revenue; the plan as a short rule, a policy tree.
        model : str, optional
            Only this model; by default all of them.
        arm : str, optional
            Whose uplift the deciles show; by default the last arm's.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        """
        from .plot import evaluation

        return evaluation(self, kind, model, arm, ax)


class Comparison(Evaluation):
    """Several methods, trained and evaluated on one trial."""


class Readout(Results):
    """What a plan earned."""


class Deployment(Results):
    """A simulated online test."""


class Power(Results):
    """What a trial can show, and how large the next must be."""


class Info(Figures):
    """What a file is."""


class Simulation:
    """A simulated trial with its truth and its study."""

    def __init__(self, trial: Table, truth: Table, study: Study) -> None:
        self.trial = trial
        self.truth = truth
        self.study = study

    def __repr__(self) -> str:
        return f"<dfcl.Simulation: {len(self.trial):,} rows, {len(self.trial.column_names)} columns>"

    def _repr_html_(self) -> str:
        return html.title(f"Simulated trial: {len(self.trial):,} rows, {len(self.trial.column_names)} columns")
