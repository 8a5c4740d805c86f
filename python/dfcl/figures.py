# SPDX-License-Identifier: Apache-2.0
"""Figures of results: numbers with intervals, and the lists among them as tables of flat rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import html
from .errors import usage_error
from .types import Figure

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Figures", "Interval"]


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


def to_number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _with_intervals(entry: Any) -> Any:
    if isinstance(entry, dict):
        if entry.keys() == {"value", "low", "high"}:
            return Interval(to_number(entry["value"]), to_number(entry["low"]), to_number(entry["high"]))
        return {key: _with_intervals(value) for key, value in entry.items()}
    if isinstance(entry, list):
        return [_with_intervals(value) for value in entry]
    return entry


def flat_row(row: Mapping[str, Any], arms: Sequence[str]) -> dict[str, Any]:
    """A row without nested values: an interval gives ``x``, ``x_low`` and ``x_high``, a list of shares ``x_<arm>``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Interval):
            flat |= {name: float(value), f"{name}_low": value.low, f"{name}_high": value.high}
        elif isinstance(value, Mapping) and value.keys() >= {"value", "low", "high"}:  # and what belongs to it: p
            flat[name] = value["value"]
            flat |= {f"{name}_{key}": entry for key, entry in value.items() if key != "value"}
        elif isinstance(value, Mapping):
            flat |= {f"{name}_{key}": entry for key, entry in flat_row(value, arms).items()}
        elif isinstance(value, list):
            if len(value) == len(arms) and all(isinstance(entry, (int, float)) for entry in value):
                flat |= {f"{name.removesuffix('_per_arm')}_{arm}": entry for arm, entry in zip(arms, value)}
        else:
            flat[name] = value
    return flat


# What a row that holds tables is told apart by, in the rows of those tables; "name" and "kind" by the list they stand in.
_LABELS = ("arm", "budget_per_unit", "column", "found")
# Short names of nested tables.
_SHORT = {
    "uplift_deciles": "deciles",
    "uplift_qini_curve": "qini_curve",
    "uplift_cost_curve": "cost_curve",
    "effects_values_arms": "segment_effects",
    "policy_trees_leaves": "policy_leaves",
    "policy_trees_nodes": "policy_nodes",
    "baselines_plans": "baseline_plans",
    "baselines_curve": "baseline_curve",
}


def _is_table(entry: Any) -> bool:
    return isinstance(entry, list) and bool(entry) and all(isinstance(row, Mapping) for row in entry)


def _tables_in(entry: Any, name: str, label: Mapping[str, Any], found: dict[str, list[dict[str, Any]]]) -> None:
    """Every list of rows below an entry, under its name; rows carry the labels of what they stand in."""
    if isinstance(entry, Mapping):
        for key, value in entry.items():
            is_outcome = key in ("revenue", "cost") and isinstance(value, list)
            _tables_in(value, name if is_outcome else key, {**label, "outcome": key} if is_outcome else label, found)
        return
    if not _is_table(entry):
        return
    for row in entry:
        nested = {key: value for key, value in row.items() if _is_table(value) or isinstance(value, Mapping)}
        own = {key: value for key, value in row.items() if not _is_table(value) and value != []}
        found.setdefault(_SHORT.get(name, name), []).append({**label, **own})
        inner = {**label, **{key: row[key] for key in _LABELS if key in row}}
        if "name" in row or "kind" in row:
            inner[name.removesuffix("s")] = row.get("name", row.get("kind"))
        if name.endswith("_values"):
            inner["segment"] = row.get("value")
        for key, value in nested.items():
            if _is_table(value):
                _tables_in(value, key if name == "models" else f"{name}_{key}", inner, found)
            elif any(isinstance(part, list) for part in value.values()):  # calibration of revenue and of cost
                _tables_in(value, key, inner, found)


class Figures:
    """Figures by name, and the screen of the command line as text.

    ``result["models"]`` and ``result.figures`` have what the JSON of the command line has; ``result.to_frame(part)`` is one
    of its lists as a table.
    """

    #: The part that ``to_frame`` takes where none is named; "": the first.
    _main_part = ""

    def __init__(self, text_of_json: str, text: str, full: str = "") -> None:
        self._json = text_of_json
        self.text: str = text.replace("--full", ".full")
        #: What the command line prints with ``--full``.
        self.full: str = full or text
        self._figures: dict[str, Any] = _with_intervals(json.loads(text_of_json))

    @property
    def figures(self) -> dict[str, Figure]:
        """What the JSON of the command line says; figures with an interval are ``Interval``."""
        return self._figures

    @property
    def json(self) -> str:
        """The JSON of the command line."""
        return self._json

    def __getitem__(self, key: str) -> Figure:
        return self.figures[key]

    def _arms(self) -> list[str]:
        arms = self._figures.get("arms") or (self._figures.get("trial") or {}).get("arms") or []
        return [str(arm.get("label", arm.get("arm", ""))) for arm in arms if isinstance(arm, Mapping)]

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        beside = ("check", "figures", "made_by", "report", "tables")  # the last: how the command line prints them
        own = {key: value for key, value in self._figures.items() if key not in beside}
        _tables_in(own, "", {}, found)
        return found

    @property
    def parts(self) -> dict[str, int]:
        """The tables among the figures: their names, for ``to_frame``, and rows."""
        return {name: len(rows) for name, rows in self._tables().items()}

    def to_columns(self, part: str | None = None) -> dict[str, NDArray[np.generic]]:
        """A table among the figures as columns.

        Parameters
        ----------
        part : str, optional
            One of ``parts``; by default the one that matters most. A figure with an interval gives three columns:
            ``revenue``, ``revenue_low`` and ``revenue_high``.
        """
        tables = self._tables()
        name = part or (self._main_part if self._main_part in tables else next(iter(tables), ""))
        if name not in tables:
            raise usage_error("part", f"no table of this name: found '{name}', expected {', '.join(tables) or 'none'}")
        rows = [flat_row(row, self._arms()) for row in tables[name]]
        names = list(dict.fromkeys(key for row in rows for key in row))
        return {key: _column([row.get(key) for row in rows]) for key in names}

    def to_frame(self, part: str | None = None) -> pandas.DataFrame:
        """The same as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.to_columns(part))

    def to_pandas(self, part: str | None = None) -> pandas.DataFrame:
        """The same as ``to_frame``."""
        return self.to_frame(part)

    def to_polars(self, part: str | None = None) -> polars.DataFrame:
        """The same as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame({name: values.tolist() for name, values in self.to_columns(part).items()})

    def to_arrow(self, part: str | None = None) -> pyarrow.Table:
        """The same as a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table({name: values.tolist() for name, values in self.to_columns(part).items()})

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        plain = {name: value for name, value in self._figures.items() if not isinstance(value, (list, dict))}
        tables = "".join(html.table(rows, name, most=10) for name, rows in self._tables().items())
        return html.definitions(plain) + tables

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Figures) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._json, self.text, self.full))


def _column(values: list[Any]) -> NDArray[np.generic]:
    """Numbers with NaN for missing where all are numbers, else whatever they are."""
    if all(isinstance(value, bool) for value in values):
        return np.array(values)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values)
    if all(value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values):
        return np.array([to_number(value) for value in values])
    return np.array(values, dtype=object)
