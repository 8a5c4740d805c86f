# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn estimator around ``train``, ``predict``, ``allocate`` and ``evaluate``. Needs scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_feature_names, check_is_fitted, column_or_1d, validate_data

from . import verbs
from .errors import UsageError
from .results import Model, Prediction
from .study import Study

__all__ = ["DecisionFocusedRegressor"]

Array = Any  # what scikit-learn calls array-like


def _labels(values: Array) -> list[str]:
    """Arms as labels: 5, 5.0 and "5" are one arm."""
    array = column_or_1d(values)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError("arm contains NaN or infinity")
        return [str(int(value)) if value == int(value) else repr(float(value)) for value in array.tolist()]
    return [str(value) for value in array.tolist()]


class DecisionFocusedRegressor(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Learns revenue and cost of every arm from a randomised trial, so that plans under a budget are good.

    Parameters are those of ``dfcl.train``. ``budgets`` are spends per unit that matter, by default shares of what the
    costliest arm costs. ``settings`` are further keys of the study: ``{"network.hidden": [32, 32]}``.

    After ``fit``: ``model_`` (a ``dfcl.Model``), ``arms_``, ``n_features_in_`` and, where X has names,
    ``feature_names_in_``.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> X, arm = random.normal(size=(600, 2)), random.integers(0, 2, 600)
    >>> revenue, cost = 1 + arm * X[:, 0] + random.normal(size=600), 0.5 * arm
    >>> learner = DecisionFocusedRegressor(method="tsm", epochs=2, control="0", random_state=1)
    >>> learner.fit(X, arm=arm, revenue=revenue, cost=cost).predict(X).shape
    (600, 4)
    >>> sorted(set(learner.allocate(X, budget=100)))
    ['0', '1']
    """

    # Metadata routing: these go with X through cross-validation.
    __metadata_request__fit = {"arm": True, "revenue": True, "cost": True}
    __metadata_request__score = {"arm": True, "revenue": True, "cost": True}

    def __init__(
        self,
        method: str = "dfcl-mer",
        *,
        control: str | None = None,
        order: Sequence[str] | None = None,
        budgets: Sequence[float] | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        baseline: str | None = None,
        ensemble: int | None = None,
        categorical: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        force: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.control = control
        self.order = order
        self.budgets = budgets
        self.epochs = epochs
        self.batch = batch
        self.lr = lr
        self.alpha = alpha
        self.baseline = baseline
        self.ensemble = ensemble
        self.categorical = categorical
        self.settings = settings
        self.force = force
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _columns(self, X: Array, reset: bool) -> dict[str, Any]:
        """X as named columns: those of a frame, else x0, x1, ..."""
        frame_names = getattr(X, "columns", None)
        if frame_names is not None and not callable(frame_names):
            _check_feature_names(self, X, reset=reset)
            names = [str(name) for name in frame_names]
            if reset:
                self.n_features_in_ = len(names)
            elif len(names) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(names)} features, but DecisionFocusedRegressor is expecting {self.n_features_in_} features"
                )
            columns = {str(name): np.asarray(X[name]) for name in frame_names}
            if not names or len(columns[names[0]]) == 0:
                raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(names)})) while a minimum of 1 is required.")
            return columns
        array = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
        return {f"x{place}": np.ascontiguousarray(array[:, place]) for place in range(array.shape[1])}

    def _trial(self, columns: Mapping[str, Any], arm: Array, revenue: Array, cost: Array) -> tuple[dict[str, Any], Study]:
        for name, values in (("arm", arm), ("revenue", revenue), ("cost", cost)):
            if values is None:
                raise ValueError(
                    f"requires y to be passed, but the target y is None: {name}= is missing; "
                    "fit(X, arm=..., revenue=..., cost=...)"
                )
        any_column = next(iter(columns.values()))
        check_consistent_length(any_column, arm, revenue, cost)
        roles = {}
        for role in ("arm", "revenue", "cost"):
            name = role
            while name in columns:
                name += "_"
            roles[role] = name
        outcomes = {role: np.asarray(column_or_1d(values), dtype=np.float64) for role, values in
                    (("revenue", revenue), ("cost", cost))}  # fmt: skip
        trial = {
            **columns,
            roles["arm"]: _labels(arm),
            roles["revenue"]: outcomes["revenue"],
            roles["cost"]: outcomes["cost"],
        }
        study = Study(
            arm=roles["arm"],
            revenue=roles["revenue"],
            cost=roles["cost"],
            control=self.control,
            order=self.order,
            per_unit=self.budgets,
            categorical=self.categorical,
            settings=self.settings,
        )
        return trial, study

    def _threads(self) -> int:
        return 0 if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs)

    def fit(
        self, X: Array, y: Array = None, *, arm: Array = None, revenue: Array = None, cost: Array = None
    ) -> DecisionFocusedRegressor:
        """Learns from a trial. ``y`` may hold arm, revenue and cost as three columns instead of the keywords."""
        columns = self._columns(X, reset=True)
        arm, revenue, cost = self._outcomes(y, arm, revenue, cost)
        trial, study = self._trial(columns, arm, revenue, cost)
        seed = self.random_state
        if seed is None or not isinstance(seed, (int, np.integer)):
            seed = 0 if seed is None else check_random_state(seed).randint(2**31 - 1)
        self.model_: Model = verbs.train(
            study,
            trial,
            method=self.method,
            epochs=self.epochs,
            batch=self.batch,
            lr=self.lr,
            alpha=self.alpha,
            baseline=self.baseline,
            ensemble=self.ensemble,
            force=self.force,
            threads=self._threads(),
            seed=int(seed),
        )
        self.arms_ = np.array(self.model_.arms)
        return self

    @staticmethod
    def _outcomes(y: Array, arm: Array, revenue: Array, cost: Array) -> tuple[Array, Array, Array]:
        if y is None or arm is not None:
            return arm, revenue, cost
        array = np.asarray(y)
        if array.ndim != 2 or array.shape[1] != 3:
            raise ValueError(f"y must have three columns (arm, revenue, cost), got shape {array.shape}")
        return array[:, 0], array[:, 1].astype(np.float64), array[:, 2].astype(np.float64)

    def predict_outcomes(self, X: Array) -> Prediction:
        """A ``dfcl.Prediction``: revenue and cost of every arm."""
        check_is_fitted(self, "model_")
        return verbs.predict(self.model_, self._columns(X, reset=False), threads=self._threads())

    def predict(self, X: Array) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Units x (revenue of every arm, then cost of every arm), arms as in ``arms_``."""
        prediction = self.predict_outcomes(X)
        return np.hstack([prediction.revenue, prediction.cost])

    def allocate(self, X: Array, budget: float | None = None, **limits: Any) -> np.ndarray[Any, Any]:
        """The arm of each row under a total budget. ``limits`` are further arguments of ``dfcl.allocate``."""
        limits.setdefault("control", self.model_.control if hasattr(self, "model_") else "")
        plan = verbs.allocate(self.predict_outcomes(X), budget=budget, threads=self._threads(), **limits)
        if isinstance(plan, list):
            raise UsageError("one budget at a time")
        return np.asarray(plan.arm)

    def score(
        self, X: Array, y: Array = None, *, arm: Array = None, revenue: Array = None, cost: Array = None
    ) -> float:
        """Revenue per unit that plans of these predictions earn over control, by the outcomes of the rows given: the mean
        over the budgets, Hajek estimator. Higher is better; comparable between learners on the same rows."""
        check_is_fitted(self, "model_")
        columns = self._columns(X, reset=False)
        arm, revenue, cost = self._outcomes(y, arm, revenue, cost)
        trial, study = self._trial(columns, arm, revenue, cost)
        result = verbs.evaluate(
            study,
            verbs.predict(self.model_, columns, threads=self._threads()),
            trial,
            split="all",
            estimator="hajek",
            resamples=0,
            allow_training_rows=True,  # scikit-learn scores training rows too
            threads=self._threads(),
            progress=False,
        )
        return float(np.nanmean([entry["incremental_revenue"] for entry in result["models"][0]["matched"]]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags
