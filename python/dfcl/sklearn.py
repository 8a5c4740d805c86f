# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn estimator around ``train``, ``predict``, ``allocate`` and ``evaluate``. Needs scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import verbs
from .errors import usage_error
from .model import Model, Prediction
from .plan import Plan
from .study import Study
from .tables import TableLike, index_of
from .types import AllocateOptions, Column, Setting

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["DecisionFocusedRegressor"]

#: A column of outcomes: a list, an array or a series.
Outcome = Union[Column, object]
_NAMES = ("treatment", "revenue", "cost")


def _labels(values: Any) -> list[str]:
    """Arms as labels: 5, 5.0 and "5" are one arm."""
    array = column_or_1d(values)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError("treatment contains NaN or infinity")
        return [str(int(value)) if value == int(value) else repr(float(value)) for value in array.tolist()]
    return [str(value) for value in array.tolist()]


def _named_columns(y: Any) -> tuple[Any, Any, Any]:
    """The three columns of y, by their names."""
    frame = y.collect() if hasattr(y, "collect") and hasattr(y, "collect_schema") else y
    names = getattr(getattr(frame, "dtype", None), "names", None)
    if names is None:
        names = list(frame) if isinstance(frame, Mapping) else getattr(frame, "columns", None)
    if names is None or callable(names):
        raise ValueError(
            "y must have three columns with names (treatment, revenue and cost): a frame, a dict or an array with "
            f"named fields; found {type(y).__name__} without names"
        )
    missing = [name for name in _NAMES if name not in list(names)]
    if missing:
        raise ValueError(f"y must have three columns (treatment, revenue, cost): {missing[0]} is missing, found {list(names)}")
    return frame["treatment"], frame["revenue"], frame["cost"]


class DecisionFocusedRegressor(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Learns revenue and cost of every arm from a randomised trial, so that plans under a budget are good.

    Parameters
    ----------
    method : str, default "dfcl-mer"
        One of ``dfcl.methods()``, or "auto".
    control : str, optional
        The arm that means nothing was given.
    order : list of str, optional
        All arms from the weakest to the strongest, where they are graded.
    per_unit : list of float, optional
        Spends per unit that matter; by default shares of what the costliest arm costs.
    epochs, batch, lr, alpha, baseline, ensemble : optional
        As those of ``dfcl.train``.
    categorical : list of str, optional
        Numeric columns that hold categories.
    validation_share : float, default 0
        The share of rows that decide when training stops; 0: all rows train.
    settings : dict, optional
        Further keys of the study: ``{"network.hidden": [32, 32]}``.
    force : bool, default False
        Continue even if the trial is unfit to learn from.
    n_jobs : int, optional
        Threads: None is one, -1 all, -2 all but one.
    random_state : int or RandomState, optional
        The seed.

    Attributes
    ----------
    model_ : dfcl.Model
        The fitted model.
    arms_ : array of str
        The labels of the arms, in the order of the predictions.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> X, arm = random.normal(size=(600, 2)), random.integers(0, 2, 600)
    >>> revenue, cost = 1 + arm * X[:, 0] + random.normal(size=600), 0.5 * arm
    >>> learner = DecisionFocusedRegressor(method="tsm", epochs=2, control="0", random_state=1)
    >>> learner.fit(X, treatment=arm, revenue=revenue, cost=cost).predict(X).shape
    (600, 4)
    >>> sorted(set(learner.allocate(X, budget=100).arm.tolist()))
    ['0', '1']
    """

    # Metadata routing: these go with X through pipelines and cross-validation.
    __metadata_request__fit = dict.fromkeys((*_NAMES, "sample_weight"), True)
    __metadata_request__score = dict.fromkeys((*_NAMES, "sample_weight"), True)

    def __init__(
        self,
        method: str = "dfcl-mer",
        *,
        control: str | None = None,
        order: Sequence[str] | None = None,
        per_unit: Sequence[float] | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        baseline: str | None = None,
        ensemble: int | None = None,
        categorical: Sequence[str] | None = None,
        validation_share: float = 0.0,
        settings: Mapping[str, Setting] | None = None,
        force: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.method = method
        self.control = control
        self.order = order
        self.per_unit = per_unit
        self.epochs = epochs
        self.batch = batch
        self.lr = lr
        self.alpha = alpha
        self.baseline = baseline
        self.ensemble = ensemble
        self.categorical = categorical
        self.validation_share = validation_share
        self.settings = settings
        self.force = force
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _columns(self, X: Any, reset: bool) -> dict[str, Any]:
        """X as named columns: those of a frame, else x0, x1, ..."""
        if hasattr(X, "collect") and hasattr(X, "collect_schema"):  # a lazy frame
            X = X.collect()
        frame_names = getattr(X, "columns", None)
        if frame_names is not None and not callable(frame_names):
            _check_feature_names(self, X, reset=reset)
            names = [str(name) for name in frame_names]
            if reset:
                self.n_features_in_: int = len(names)
            elif len(names) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(names)} features, but DecisionFocusedRegressor is expecting {self.n_features_in_} features"
                )
            columns = {str(name): np.asarray(X[name]) for name in frame_names}
            if not names or len(columns[names[0]]) == 0:
                raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(names)})) while a minimum of 1 is required.")
            return columns
        array = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
        names = [str(name) for name in getattr(self, "feature_names_in_", [])] or [f"x{place}" for place in range(array.shape[1])]
        return {name: np.ascontiguousarray(array[:, place]) for place, name in enumerate(names)}

    def _trial(
        self, columns: Mapping[str, Any], outcomes: tuple[Any, Any, Any], sample_weight: Any = None
    ) -> tuple[dict[str, Any], Study]:
        for name, values in zip(_NAMES, outcomes):
            if values is None:
                raise ValueError(
                    f"requires y to be passed, but the target y is None: {name}= is missing; "
                    "fit(X, treatment=..., revenue=..., cost=...)"
                )
        treatment, revenue, cost = outcomes
        check_consistent_length(next(iter(columns.values())), treatment, revenue, cost)
        roles: dict[str, str] = {}
        for role in (*_NAMES, "weight"):
            name = role
            while name in columns:
                name += "_"
            roles[role] = name
        trial = {
            **columns,
            roles["treatment"]: _labels(treatment),
            roles["revenue"]: np.asarray(column_or_1d(revenue), dtype=np.float64),
            roles["cost"]: np.asarray(column_or_1d(cost), dtype=np.float64),
        }
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, next(iter(columns.values())), dtype=np.float64, ensure_non_negative=True)
            trial[roles["weight"]] = weights
        shares = {"split.train": 1.0 - self.validation_share, "split.validation": self.validation_share, "split.test": 0.0}
        study = Study(
            arm=roles["treatment"],
            revenue=roles["revenue"],
            cost=roles["cost"],
            weight=None if sample_weight is None else roles["weight"],
            control=self.control,
            order=self.order,
            per_unit=self.per_unit,
            categorical=self.categorical,
            settings=shares | dict(self.settings or {}),
        )
        return trial, study

    def _threads(self) -> int:
        jobs = self.n_jobs
        if jobs is None:
            return 1
        if isinstance(jobs, (bool, np.bool_)) or not isinstance(jobs, (int, np.integer)) or jobs == 0:
            found = f"found {jobs!r}, expected None (one), a whole number of threads, or -1 (all)"
            raise usage_error("n_jobs", f"not a number of threads: {found}")
        if jobs == -1:
            return 0
        return int(jobs) if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(jobs))  # -2: all but one

    def fit(
        self,
        X: TableLike,
        y: object = None,
        *,
        treatment: Outcome = None,
        revenue: Outcome = None,
        cost: Outcome = None,
        sample_weight: Outcome = None,
    ) -> DecisionFocusedRegressor:
        """Learns from a trial.

        Parameters
        ----------
        X : frame or array
            Features, units x columns.
        y : frame, dict or array with named fields, optional
            Columns named treatment, revenue and cost, instead of the keywords.
        treatment, revenue, cost : list or array
            The arm each unit got, what it earned and what it cost.
        sample_weight : list or array, optional
            How many units of the population a row stands for; only proportions count, and a row of weight 0 is left out.
        """
        columns = self._columns(X, reset=True)
        trial, study = self._trial(columns, self._outcomes(y, treatment, revenue, cost), sample_weight)
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
        self.arms_: NDArray[np.str_] = np.array(self.model_.arms, dtype=np.str_)
        return self

    @staticmethod
    def _outcomes(y: Any, treatment: Any, revenue: Any, cost: Any) -> tuple[Any, Any, Any]:
        return (treatment, revenue, cost) if y is None or treatment is not None else _named_columns(y)

    def predict_outcomes(self, X: TableLike) -> Prediction:
        """Revenue and cost of every arm, as a ``dfcl.Prediction`` with the index of X."""
        check_is_fitted(self, "model_")
        prediction = verbs.predict(self.model_, self._columns(X, reset=False), threads=self._threads())
        prediction._index = index_of(X)
        return prediction

    def predict(self, X: TableLike) -> NDArray[np.float32]:
        """Units x (revenue of every arm, then cost of every arm), arms as in ``arms_``."""
        prediction = self.predict_outcomes(X)
        return np.hstack([prediction.revenue, prediction.cost])

    def predict_revenue(self, X: TableLike) -> NDArray[np.float32]:
        """Units x arms: expected revenue."""
        return self.predict_outcomes(X).revenue

    def predict_cost(self, X: TableLike) -> NDArray[np.float32]:
        """Units x arms: expected cost."""
        return self.predict_outcomes(X).cost

    def effect(self, X: TableLike) -> NDArray[np.float32]:
        """Units x arms: expected revenue above control (uplift, CATE); 0 for control."""
        return self.predict_outcomes(X).effect()

    def allocate(
        self,
        X: TableLike,
        budget: float | None = None,
        *,
        per_unit: float | None = None,
        share_of_max: float | None = None,
        **options: Unpack[AllocateOptions],
    ) -> Plan:
        """Who gets what under a budget; parameters as those of ``dfcl.allocate``. ``plan.arm`` has an arm for each row."""
        options.setdefault("threads", self._threads())
        prediction = self.predict_outcomes(X)
        return prediction.allocate(budget=budget, per_unit=per_unit, share_of_max=share_of_max, **options)

    def score(
        self,
        X: TableLike,
        y: object = None,
        *,
        treatment: Outcome = None,
        revenue: Outcome = None,
        cost: Outcome = None,
        sample_weight: Outcome = None,
    ) -> float:
        """Revenue per unit that plans of these predictions earn over control, by the outcomes of the rows given: the mean
        over the budgets, Hajek estimator. Higher is better; comparable between learners on the same rows."""
        check_is_fitted(self, "model_")
        columns = self._columns(X, reset=False)
        trial, study = self._trial(columns, self._outcomes(y, treatment, revenue, cost), sample_weight)
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
        return float(np.nanmean(result.to_columns("matched")["incremental_revenue"].astype(np.float64)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags
