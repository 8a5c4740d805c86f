# SPDX-License-Identifier: Apache-2.0
"""Models of other libraries in ``allocate`` and ``evaluate``: EconML, CausalML, scikit-learn, or any function of features."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, Unpack

import numpy as np
from numpy.typing import NDArray

from .errors import data_error, usage_error
from .frames import Table
from .tables import collected, index_of
from .types import AllocateOptions, Column, TableLike

if TYPE_CHECKING:
    from .model import Prediction
    from .plan import Plan

__all__ = ["ForeignModel", "adapt"]

#: What says an outcome: an EconML or CausalML estimator of effects; a regressor with a column for each arm; a dict from arms
#: to regressors or to known amounts per unit, or a list of them; a function from features to units x arms.
Outcome = Union[Mapping[object, object], Callable[[Any], Any], object]


def _label(value: object) -> str:
    """5, 5.0 and "5" are one arm."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _with_control(effects: NDArray[np.float64], control: int) -> NDArray[np.float64]:
    """Units x arms from effects of the other arms, 0 for control."""
    return np.insert(effects, control, 0.0, axis=1)


def _opened(units: TableLike) -> Any:
    """A mapping, an array or a frame whose columns have names: files are read, and what only streams goes through pandas."""
    if isinstance(units, (str, os.PathLike)):
        units = Table.read(units)
    frame: Any = collected(units)
    if hasattr(frame, "fetchdf"):  # a relation of DuckDB
        return frame.fetchdf()
    if isinstance(frame, (Mapping, np.ndarray)) or (hasattr(frame, "columns") and hasattr(frame, "dtypes")):
        return frame
    if isinstance(frame, Table):
        return frame.to_pandas()
    if hasattr(frame, "read_all"):  # a reader of record batches
        frame = frame.read_all()
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()
    raise usage_error("units", f"cannot make features of {type(units).__name__}", "a path, a frame, a mapping or an array")


class ForeignModel:
    """A fitted model of another library with the arms it knows; ``dfcl.adapt`` makes it.

    ``dfcl.evaluate(study, model, trial)`` and ``dfcl.allocate(model, units, ...)`` take it as they take ours.
    """

    def __init__(
        self,
        revenue: Outcome,
        cost: Outcome | None,
        arms: Sequence[object],
        control: object,
        features: Sequence[str] | None,
        id: str | None,
        name: str,
    ) -> None:
        self._revenue, self._cost = revenue, cost
        self._values = list(arms)
        self.arms: list[str] = [_label(arm) for arm in arms]
        self.control: str = _label(control)
        if self.control not in self.arms:
            raise usage_error("control", f"no such arm: found '{self.control}', expected {', '.join(self.arms)}")
        self.features: list[str] | None = None if features is None else list(features)
        self.id = id
        self.name = name

    def _place(self) -> int:
        return self.arms.index(self.control)

    def _inputs(self, units: Any) -> Any:
        """The features as the model takes them: the columns of a frame, else an array."""
        if isinstance(units, Mapping):
            names = self.features or [str(name) for name in units if name != self.id]
            return np.column_stack([np.asarray(units[name]) for name in names])
        if isinstance(units, np.ndarray):
            return units
        names = self.features or [name for name in units.columns if name != self.id]
        return units[names]

    def _ids(self, units: Any) -> Any:
        if self.id is None:
            return None
        try:
            return np.asarray(units[self.id])
        except (KeyError, IndexError, TypeError) as failure:
            raise data_error(f"<units>: no column '{self.id}', named by id=") from failure

    def _outcome(self, outcome: Any, inputs: Any, rows: int, field: str) -> NDArray[np.float64]:
        """Units x arms."""
        control = self._place()
        if isinstance(outcome, Mapping):
            by_label = {_label(arm): entry for arm, entry in outcome.items()}
            missing = [arm for arm in self.arms if arm not in by_label]
            if missing:
                raise usage_error(field, f"no entry for arm '{missing[0]}'")
            columns = [
                entry.predict(inputs) if hasattr(entry, "predict") else np.full(rows, entry, dtype=np.float64)
                for entry in (by_label[arm] for arm in self.arms)
            ]
            return np.column_stack([np.asarray(column, dtype=np.float64).reshape(rows) for column in columns])
        if hasattr(outcome, "effect") and hasattr(outcome, "marginal_effect"):  # EconML
            start = self._values[control]
            effects = [
                np.asarray(outcome.effect(inputs, T0=start, T1=value), dtype=np.float64).reshape(rows, -1)[:, 0]
                for place, value in enumerate(self._values) if place != control
            ]  # fmt: skip
            return _with_control(np.column_stack(effects), control)
        if hasattr(outcome, "t_groups"):  # CausalML
            groups = [_label(group) for group in outcome.t_groups]
            found = np.asarray(outcome.predict(np.asarray(inputs)), dtype=np.float64).reshape(rows, len(groups))
            order = [groups.index(arm) for arm in self.arms if arm != self.control]
            return _with_control(found[:, order], control)
        predict = outcome.predict if hasattr(outcome, "predict") else outcome
        if not callable(predict):
            raise usage_error(field, f"cannot predict with {type(outcome).__name__}")
        found = np.asarray(predict(inputs), dtype=np.float64).reshape(rows, -1)
        if found.shape[1] == len(self.arms) - 1:
            return _with_control(found, control)
        if found.shape[1] != len(self.arms):
            expected = f"{len(self.arms)} (every arm) or {len(self.arms) - 1} (effects over control)"
            raise data_error(f"{field}: {found.shape[1]} columns, expected {expected}")
        return found

    def _both(self, inputs: Any, rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self._cost is not None:
            return self._outcome(self._revenue, inputs, rows, "revenue"), self._outcome(self._cost, inputs, rows, "cost")
        if not (hasattr(self._revenue, "effect") and hasattr(self._revenue, "marginal_effect")):
            raise usage_error("cost", "is missing", 'a model of costs, or known prices: cost={"0": 0, "5": 0.12}')
        estimator: Any = self._revenue  # EconML with revenue and cost as two outcomes
        control = self._place()
        pairs = [
            np.asarray(estimator.effect(inputs, T0=self._values[control], T1=value), dtype=np.float64).reshape(rows, -1)
            for place, value in enumerate(self._values) if place != control
        ]  # fmt: skip
        if any(pair.shape[1] != 2 for pair in pairs):
            raise usage_error("cost", "is missing, and the estimator does not have two outcomes, revenue and cost")
        revenue, cost = (np.column_stack([pair[:, place] for pair in pairs]) for place in (0, 1))
        return _with_control(revenue, control), _with_control(cost, control)

    def predict(self, units: TableLike) -> Prediction:
        """Its predictions, as ours: effects stand above a control of 0.

        Parameters
        ----------
        units : path, frame or array
            With the features that the model was fitted on.
        """
        from .model import Prediction

        frame = _opened(units)
        inputs = self._inputs(frame)
        rows = len(inputs)
        revenue, cost = self._both(inputs, rows)
        columns: dict[str, Column] = {}
        ids = self._ids(frame)
        if ids is not None:
            columns["id"] = ids
        for place, arm in enumerate(self.arms):
            columns[f"revenue_{arm}"] = np.ascontiguousarray(revenue[:, place], dtype=np.float32)
            columns[f"cost_{arm}"] = np.ascontiguousarray(cost[:, place], dtype=np.float32)
        made = Prediction.read(columns, control=self.control, index=False)
        made._index = index_of(frame)
        return made

    def allocate(
        self,
        units: TableLike,
        *,
        budget: float | None = None,
        per_unit: float | None = None,
        share_of_max: float | None = None,
        **options: Unpack[AllocateOptions],
    ) -> Plan:
        """Who gets what; parameters as those of :func:`dfcl.allocate`."""
        from . import verbs

        return verbs.allocate(
            self.predict(units), budget=budget, per_unit=per_unit, share_of_max=share_of_max, **options
        )

    def __repr__(self) -> str:
        return f"<dfcl.ForeignModel {self.name}: arms {', '.join(self.arms)}>"


def _by_arm(outcome: Outcome | None, arms: Sequence[object], field: str) -> Outcome | None:
    """A list as a dict from arms; refuses what can say nothing of an arm."""
    if isinstance(outcome, (list, tuple)):
        if len(outcome) != len(arms):
            raise usage_error(field, f"{len(outcome)} models, expected one for each of {len(arms)} arms")
        return dict(zip(arms, outcome))
    if not (outcome is None or isinstance(outcome, Mapping) or callable(outcome) or hasattr(outcome, "predict") or hasattr(outcome, "effect")):
        raise usage_error(field, f"cannot predict with {type(outcome).__name__}", "an estimator, a dict from arms, or a function")
    return outcome


def adapt(
    revenue: Outcome,
    cost: Outcome | None = None,
    *,
    arms: Sequence[object] | None = None,
    control: object,
    features: Sequence[str] | None = None,
    id: str | None = None,
    name: str | None = None,
) -> ForeignModel:
    """A fitted model of another library, for ``evaluate`` and ``allocate``.

    Parameters
    ----------
    revenue : estimator, dict or function
        An EconML or CausalML estimator of effects; a scikit-learn regressor with a column for each arm, or for the effect of
        each arm but control; a dict from arms to regressors (a T-learner), or a list of them in the order of ``arms``; or a
        function from features to such an array.
    cost : the same, optional
        Or a dict from arms to known prices. Without it ``revenue`` is an EconML estimator of two outcomes, revenue and cost.
    arms : list, optional
        The treatments as the model knows them; by default the keys of the dict that ``revenue`` or ``cost`` is.
    control : object
        The one that means nothing was given.
    features : list of str, optional
        The columns that the model was fitted on, in their order; by default all but ``id``.
    id : str, optional
        The column that names the unit; evaluation joins by it.
    name : str, optional
        What results call the model; by default the name of its class.

    Returns
    -------
    ForeignModel

    Examples
    --------
    >>> import numpy as np
    >>> model = adapt(lambda X: np.column_stack([X[:, 0], 2 * X[:, 0]]), {"0": 0, "1": 0.5}, arms=["0", "1"], control="0")
    >>> model.allocate(np.array([[1.0], [3.0]]), budget=0.5).arm.tolist()
    ['0', '1']
    """
    if arms is None:
        by_arm = next((given for given in (revenue, cost) if isinstance(given, Mapping)), None)
        if by_arm is None:
            raise usage_error("arms", "is missing", 'the treatments as the model knows them: arms=["0", "5"]')
        arms = list(by_arm)
    shown = name or (type(revenue).__name__ if not isinstance(revenue, (Mapping, list, tuple)) else "model")
    return ForeignModel(_by_arm(revenue, arms, "revenue"), _by_arm(cost, arms, "cost"), arms, control, features, id, shown)
