# SPDX-License-Identifier: Apache-2.0
"""Plans: who gets what, and how one differs from another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _dfcl, html
from .errors import InfeasibleError, data_error
from .figures import Figures, to_number
from .frames import Frame, Stored
from .types import Figure, Path, TableLike

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas
    import polars
    import pyarrow

    from .results import Readout

__all__ = ["Plan", "PlanDifference"]


class PlanDifference(NamedTuple):
    """How a plan differs from another one.

    Attributes
    ----------
    ids : array
        The units of both plans whose arm differs.
    before, after : array
        Their arms, in the other plan and in this one.
    only_before, only_after : array
        The units that stand in one plan only.
    moves : dict
        (arm before, arm after) -> number of units.
    """

    ids: NDArray[np.generic]
    before: NDArray[np.str_]
    after: NDArray[np.str_]
    only_before: NDArray[np.generic]
    only_after: NDArray[np.generic]
    moves: dict[tuple[str, str], int]

    def _repr_html_(self) -> str:
        rows = [{"before": before, "after": after, "units": units} for (before, after), units in self.moves.items()]
        return html.title(f"{len(self.ids):,} units change their arm") + html.table(rows)


class PlanFigures(Figures):
    """What is said of a plan, wherever its rows are."""

    @property
    def status(self) -> str:
        """Whether it is the best plan, and why it may not be."""
        return str(self._figures["status"])

    @property
    def budget(self) -> float:
        """What may be spent; NaN where no budget was given."""
        return to_number(self._figures.get("budget"))

    @property
    def spend(self) -> float:
        """What is predicted to be spent above control."""
        return to_number(self._figures.get("spend"))

    @property
    def value(self) -> float:
        """What the plan is predicted to earn."""
        return to_number(self._figures.get("value"))

    @property
    def bound(self) -> float:
        """No plan can be worth more."""
        return to_number(self._figures.get("bound"))

    @property
    def multiplier(self) -> float:
        """The value of one more unit of budget."""
        return to_number(self._figures.get("multiplier"))

    def _no_plan(self) -> InfeasibleError:
        message = f"there is no plan: {self.status}"
        error = InfeasibleError(message)
        error.what = message
        return error


class Plan(PlanFigures, Frame):
    """Who gets what: columns id, arm, revenue, cost. ``figures`` has budget, spend, value, bound, multiplier, status."""

    def __init__(
        self, text_of_json: str, text: str, full: str, native: _dfcl.Plan | None, index: object = None
    ) -> None:
        super().__init__(text_of_json, text, full)
        self._plan = native
        self._index = index

    def _table(self) -> _dfcl.Plan:
        if self._plan is None:
            raise self._no_plan()
        return self._plan

    @property
    def has_plan(self) -> bool:
        """False where the budget cannot be met."""
        return self._plan is not None

    @property
    def evaluated(self) -> dict[str, Figure]:
        """What such plans were worth on units that the model had not seen, beside what this one promises."""
        return dict(self._figures.get("evaluated") or {})

    @property
    def arms(self) -> list[str]:
        """The labels of the arms."""
        return list(self._figures["units_per_arm"])

    @property
    def arm(self) -> NDArray[np.str_]:
        """The label of each unit's arm."""
        native = self._table()
        return np.array(native.arms, dtype=np.str_)[native.arm]

    @property
    def ids(self) -> NDArray[np.generic]:
        """The id of each unit."""
        return np.asarray(self._table().ids)

    @property
    def revenue(self) -> NDArray[np.float32]:
        """What each unit is predicted to earn in its arm."""
        return self._table().revenue

    @property
    def cost(self) -> NDArray[np.float32]:
        """What each unit is predicted to cost in its arm."""
        return self._table().cost

    @property
    def units_per_arm(self) -> dict[str, int]:
        """The number of units in each arm."""
        return dict(self._figures["units_per_arm"])

    # The units of the plan, not the tables among its figures.
    def to_frame(self, part: str | None = None) -> pandas.DataFrame:
        """The units as a ``pandas.DataFrame``, with the index of the frame that they came in; or a part of the figures."""
        return self.to_pandas(part)

    def to_pandas(self, part: str | None = None) -> pandas.DataFrame:
        """The same as ``to_frame``."""
        return Frame.to_pandas(self) if part is None else Figures.to_frame(self, part)

    def to_polars(self, part: str | None = None) -> polars.DataFrame:
        """The units as a ``polars.DataFrame``."""
        return Frame.to_polars(self) if part is None else Figures.to_polars(self, part)

    def to_arrow(self, part: str | None = None) -> pyarrow.Table:
        """The units as a ``pyarrow.Table``."""
        return Frame.to_arrow(self) if part is None else Figures.to_arrow(self, part)

    def diff(self, other: Plan) -> PlanDifference:
        """Which units change their arm from another plan to this one.

        Parameters
        ----------
        other : Plan
            The plan before; units are matched by id.
        """
        before = dict(zip(other.ids.tolist(), other.arm.tolist()))
        after = dict(zip(self.ids.tolist(), self.arm.tolist()))
        for name, plan, found in (("other", other, before), ("this", self, after)):
            if len(found) != len(plan):
                raise data_error(f"an id stands twice in the {name} plan")
        changed = [unit for unit, arm in after.items() if unit in before and before[unit] != arm]
        moves: dict[tuple[str, str], int] = {}
        for unit in changed:
            move = (before[unit], after[unit])
            moves[move] = moves.get(move, 0) + 1
        return PlanDifference(
            np.array(changed),
            np.array([before[unit] for unit in changed], dtype=np.str_),
            np.array([after[unit] for unit in changed], dtype=np.str_),
            np.array([unit for unit in before if unit not in after]),
            np.array([unit for unit in after if unit not in before]),
            dict(sorted(moves.items())),
        )

    def readout(self, outcomes: TableLike, *, holdout_share: float | None = None, output: Path | None = None) -> Readout:
        """What the plan earned; parameters as those of :func:`dfcl.readout`."""
        from . import verbs

        return verbs.readout(self, outcomes, holdout_share=holdout_share, output=output)

    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Units in each arm as bars. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        """
        from .plot import bars

        return bars(self.units_per_arm, "arm", "units", ax)

    def __len__(self) -> int:
        return self._table().num_units

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan) or self.has_plan != other.has_plan:
            return False
        if not self.has_plan:
            return self.status == other.status
        same_units = len(self) == len(other) and bool(np.all(self.ids == other.ids) and np.all(self.arm == other.arm))
        return same_units and (self.spend, self.value) == (other.spend, other.value)

    def __hash__(self) -> int:
        return hash((self.status, self.spend, self.value) if self.has_plan else self.status)

    def _repr_html_(self) -> str:
        names = ("budget", "spend", "value", "bound", "multiplier")
        shown = {name: self._figures[name] for name in names if self._figures.get(name) is not None}
        units = sum(self.units_per_arm.values()) if self.has_plan else 0
        arms = [{"arm": arm, "units": count, "share_%": 100 * count / units if units else None}
                for arm, count in self.units_per_arm.items()] if self.has_plan else []  # fmt: skip
        said = str(self.evaluated.get("sentence", ""))
        return html.title(f"Plan: {self.status}") + html.definitions(shown) + html.table(arms) + html.notes([said] if said else [])

    def __reduce__(self) -> tuple[Any, ...]:
        data = (self._bytes(), self._table().num_options, self._table().extra) if self.has_plan else None
        return (_plan_of, (self._json, self.text, self.full, data, self._index))


def _plan_of(text_of_json: str, text: str, full: str, data: tuple[bytes, int, list[str]] | None, index: object) -> Plan:
    if data is None:
        return Plan(text_of_json, text, full, None, index)
    with Stored(data[0]) as path:
        return Plan(text_of_json, text, full, _dfcl.read_plan(path, data[1], data[2], _dfcl.Run()), index)
