# SPDX-License-Identifier: Apache-2.0
"""What the verbs return. Figures carry the names of the command line's JSON; tables go out as Arrow streams."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dfcl
from .errors import InfeasibleError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

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
    "Power",
    "Prediction",
    "Readout",
    "Simulation",
    "Table",
]


class Interval(float):
    """A figure with its 95 % interval: a number that also has ``low`` and ``high``."""

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Interval:
        made = super().__new__(cls, value)
        made.low, made.high = low, high
        return made

    def __repr__(self) -> str:
        return f"{float(self):.6g} [{self.low:.6g}, {self.high:.6g}]"

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        return (float(self), self.low, self.high)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _with_intervals(entry: Any) -> Any:
    if isinstance(entry, dict):
        if entry.keys() == {"value", "low", "high"}:
            return Interval(_number(entry["value"]), _number(entry["low"]), _number(entry["high"]))
        return {key: _with_intervals(value) for key, value in entry.items()}
    if isinstance(entry, list):
        return [_with_intervals(value) for value in entry]
    return entry


def _pre(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


class _Figures:
    """Figures as a dictionary, and the screen of the command line as text."""

    def __init__(self, text_of_json: str, text: str) -> None:
        self._json = text_of_json
        self.text = text
        self.figures: dict[str, Any] = _with_intervals(json.loads(text_of_json))

    @property
    def json(self) -> str:
        """The JSON of the command line."""
        return self._json

    def __getitem__(self, key: str) -> Any:
        return self.figures[key]

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _pre(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._json, self.text))


class _Frame:
    """A table that goes out to any library."""

    def _table(self) -> _dfcl.Prediction | _dfcl.Plan | _dfcl.Table:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table().stream()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the file of the command line: .parquet, .csv, .csv.gz or .arrow."""
        self._table().write(os.fspath(path))

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            return pandas.DataFrame.from_arrow(self)
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)


class Table(_Frame):
    """Rows and columns, such as a simulated trial."""

    def __init__(self, native: _dfcl.Table) -> None:
        self._native = native

    def _table(self) -> _dfcl.Table:
        return self._native

    @property
    def column_names(self) -> list[str]:
        return self._native.column_names

    def __len__(self) -> int:
        return self._native.num_rows

    def __repr__(self) -> str:
        return f"<dfcl.Table: {len(self):,} rows, {len(self.column_names)} columns>"


class Check(_Figures):
    """Whether a trial is fit to learn from, and why."""

    @property
    def fit(self) -> bool:
        return bool(self.figures["verdict"] == "fit")

    @property
    def grade(self) -> str:
        """balanced; adjustable: a little imbalanced, later verbs weight by estimated propensities; unfit."""
        return str(self.figures["grade"])

    def __bool__(self) -> bool:
        return self.fit


class Model:
    """What training yields. ``predict`` and ``allocate`` take it; pickling and ``write`` keep its file."""

    def __init__(self, native: _dfcl.Model) -> None:
        self._native = native

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Model:
        return cls(_dfcl.Model.read(os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """From the bytes of a model file."""
        return cls(_dfcl.Model.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The bytes of its file."""
        return self._native.to_bytes()

    def write(self, path: str | os.PathLike[str]) -> None:
        self._native.write(os.fspath(path))

    @property
    def method(self) -> str:
        return self._native.method

    @property
    def seed(self) -> int:
        return self._native.seed

    @property
    def arms(self) -> list[str]:
        return self._native.arms

    @property
    def control(self) -> str:
        return self._native.control

    @property
    def features(self) -> list[str]:
        """The names of the columns that it needs."""
        return self._native.features

    @property
    def fingerprint(self) -> str:
        return self._native.fingerprint

    @property
    def is_index(self) -> bool:
        """Whether its revenues rank decisions only, and are no forecast."""
        return self._native.is_index

    @property
    def study(self) -> str:
        """The text of its study."""
        return self._native.study

    @property
    def history(self) -> list[dict[str, Any]]:
        """One entry for each epoch of its training."""
        record: list[dict[str, Any]] = json.loads(self._native.record)
        return record

    @property
    def figures(self) -> dict[str, Any]:
        """What `dfcl info --json` says of it."""
        figures: dict[str, Any] = json.loads(self._native.json())
        return figures

    def __repr__(self) -> str:
        return f"<dfcl.Model {self.method}: {len(self.arms)} arms, {len(self.features)} features, {self.fingerprint}>"

    def _repr_html_(self) -> str:
        return _pre(self._native.text())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model.from_bytes, (self.to_bytes(),))


class Prediction(_Frame):
    """What each unit is expected to earn and cost under every arm: columns id, revenue_<arm>, cost_<arm>."""

    def __init__(self, native: _dfcl.Prediction) -> None:
        self._native = native

    def _table(self) -> _dfcl.Prediction:
        return self._native

    @property
    def arms(self) -> list[str]:
        return self._native.arms

    @property
    def control(self) -> str:
        """The arm that is control."""
        return self._native.control

    @property
    def is_index(self) -> bool:
        """Whether ``revenue`` ranks units by efficiency and is no money."""
        return self._native.is_index

    @property
    def model(self) -> str:
        """The fingerprint of the model that made it; "" where none of ours did."""
        return self._native.model

    @property
    def method(self) -> str:
        """The method of that model; "" where it is not known."""
        return self._native.method

    @property
    def price(self) -> list[float] | None:
        """For each arm its known cost per unit; None where costs are predicted."""
        return self._native.price or None

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        return np.asarray(self._native.ids)

    @property
    def revenue(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Units x arms. Shares the memory of the prediction and cannot be written to."""
        return self._native.revenue

    @property
    def cost(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Units x arms, as ``revenue``."""
        return self._native.cost

    def __len__(self) -> int:
        return self._native.num_units

    def __repr__(self) -> str:
        return f"<dfcl.Prediction{' of ' + self.method if self.method else ''}: {len(self):,} units, arms {', '.join(self.arms)}>"


class Plan(_Figures, _Frame):
    """Who gets what: columns id, arm, revenue, cost. ``figures`` has budget, spend, value, bound, multiplier, status."""

    def __init__(self, text_of_json: str, text: str, native: _dfcl.Plan | None) -> None:
        super().__init__(text_of_json, text)
        self._plan = native

    def _table(self) -> _dfcl.Plan:
        if self._plan is None:
            message = f"there is no plan: {self.figures.get('status')}"
            error = InfeasibleError(message)
            error.what = message
            raise error
        return self._plan

    @property
    def has_plan(self) -> bool:
        """False where the budget cannot be met."""
        return self._plan is not None

    @property
    def status(self) -> str:
        return str(self.figures["status"])

    @property
    def budget(self) -> float:
        return _number(self.figures.get("budget"))

    @property
    def spend(self) -> float:
        return _number(self.figures.get("spend"))

    @property
    def value(self) -> float:
        return _number(self.figures.get("value"))

    @property
    def bound(self) -> float:
        """No plan can be worth more."""
        return _number(self.figures.get("bound"))

    @property
    def multiplier(self) -> float:
        """The value of one more unit of budget."""
        return _number(self.figures.get("multiplier"))

    @property
    def evaluated(self) -> dict[str, Any]:
        """What such plans were worth on units that the model had not seen, beside what this one promises."""
        return dict(self.figures.get("evaluated") or {})

    @property
    def arm(self) -> np.ndarray[Any, Any]:
        """The label of each unit's arm."""
        native = self._table()
        return np.array(native.arms)[native.arm]

    @property
    def units_per_arm(self) -> dict[str, int]:
        return dict(self.figures["units_per_arm"])

    def __len__(self) -> int:
        return self._table().num_units

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a plan cannot be pickled; write() keeps it")


class Curve(_Figures):
    """The curve of all best plans: ``figures["points"]``."""


class _Results(_Figures):
    """A results file: ``write`` keeps it, ``report`` draws it."""

    @property
    def verdict(self) -> str:
        """The answer in words."""
        verdict = self.figures["verdict"]
        return str(verdict["sentence"]) if isinstance(verdict, dict) else str(verdict)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the results file (JSON)."""
        _dfcl.write_text(os.fspath(path), self.json)

    def report(self, path: str | os.PathLike[str] | None = None, format: str | None = None) -> str:
        """The report: "html", "md" or "text", by default as the name of the file says. Returns it, and writes it."""
        request = _dfcl.ReportRequest()
        request.set("json", self.json)
        for name, value in (("output", path), ("format", format)):
            if value is not None:
                request.set(name, value)
        return _dfcl.report(request)

    def _repr_html_(self) -> str:
        page = html.escape(self.report(format="html"), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0"></iframe>'


class Evaluation(_Results):
    """What plans are worth on rows that the models have not seen."""


class Comparison(_Results):
    """Several methods, trained and evaluated on one trial."""


class Readout(_Results):
    """What a plan earned."""


class Deployment(_Results):
    """A simulated online test."""


class Power(_Results):
    """What a trial can show, and how large the next must be."""


class Info(_Figures):
    """What a file is."""


class Simulation:
    """A simulated trial with its truth and its study."""

    def __init__(self, trial: Table, truth: Table, study: Any) -> None:
        self.trial = trial
        self.truth = truth
        self.study = study

    def __repr__(self) -> str:
        return f"<dfcl.Simulation: {len(self.trial):,} rows, {len(self.trial.column_names)} columns>"
