# SPDX-License-Identifier: Apache-2.0
"""What the columns of a trial mean."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, Unpack

from . import _dfcl, html
from .errors import UsageError
from .progress import warn
from .types import Estimator, EvaluateOptions, Path, Setting, TableLike, TrainKeywords

if TYPE_CHECKING:
    from .model import Model, ModelsLike
    from .progress import Progress
    from .results import Check, Comparison, Evaluation, Power

__all__ = ["Study", "StudyLike"]

# Keyword -> key of the study file, from the one table of keys.
_KEYS = {key["keyword"]: key["name"] for key in _dfcl.study_keys() if key["keyword"]}


def keys_of_verb(verb: str) -> dict[str, str]:
    """The keywords of a verb that set keys of the study, named as its flags are: --warm-epochs is warm_epochs."""
    table = _dfcl.study_keys()
    return {key["flags"][verb][2:].replace("-", "_"): key["name"] for key in table if verb in key["flags"]}


_dfcl.set_keywords(
    {key: name for verb in ("train", "compare", "deploy") for name, key in keys_of_verb(verb).items()}
    | {key: keyword for keyword, key in _KEYS.items()}
    | {"set": "settings"}
)

_KEYWORDS = {name: keyword for keyword, name in _KEYS.items()}


def warn_of_doubts(unsure: Mapping[str, str]) -> None:
    """A warning for each key of a proposed study that is unsure, named as its keyword."""
    for key, reason in unsure.items():
        shown = f"{_KEYWORDS[key]}=" if key in _KEYWORDS else key
        warn(f"{shown}: unsure, please check: {reason}")


# The form of studies made here: budgets are what is spent above control.
_FORMAT = "format = 2\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(entry)}" for key, entry in value.items()) + "}"
    if hasattr(value, "item"):  # a NumPy number
        return _toml(value.item())
    return "[" + ", ".join(_toml(entry) for entry in value) + "]"


def overrides(settings: Mapping[str, Setting]) -> list[str]:
    """Settings by full key ("split.train") as the extension module takes them; those that are None are left out."""
    return [f"{key}={_toml(value)}" for key, value in settings.items() if value is not None]


class Study:
    """What the columns of a trial mean, which budgets matter, how units are split and which method learns.

    A study is read from a file, inferred from a trial, or made of keywords. Keys without a keyword are set by their full
    name. Budgets are what is spent above everyone in control.

    Parameters
    ----------
    trial, test : str, optional
        Paths of the trial and of a separate trial to evaluate on.
    id : str, optional
        The column that names the unit; by default the row number, from 1.
    arm : str
        The column with the arm the unit got (its treatment).
    revenue : str
        The column with what the unit earned (its outcome).
    cost : str, optional
        The column with what the unit cost; or say ``arm_cost`` or ``cost_per_revenue``.
    cost_if : str, optional
        A column with an outcome (redeemed) that must happen for the price in ``arm_cost`` to be paid.
    time : str, optional
        The column with the day or week of a row; a unit is then (id, time).
    features, exclude : list of str, optional
        Names or globs of the features, and of columns that are none; by default every column with no other role.
    categorical : list of str, optional
        Numeric columns that hold categories; texts are categorical anyway.
    missing : list of float, optional
        Numbers that mean missing in a feature, beside null and NaN.
    cluster : str, optional
        Units that share this are split, checked and resampled as one.
    propensity : str, optional
        The column with the probability with which the unit got its arm.
    weight : str, optional
        The column with sample weights: how many units a row stands for.
    guardrails : list of str, optional
        Columns with further outcomes that a plan must not raise (refunds, complaints): reported, never optimised.
    rule : str, optional
        The column with the arm that today's rule would give: a baseline.
    control : str, optional
        The arm that means nothing was given.
    order : list of str, optional
        All arms from the weakest to the strongest, where they are graded.
    share : dict, optional
        The designed share of every arm, for the sample-ratio test.
    arm_cost : dict, optional
        The known price per unit of every arm.
    cost_per_revenue : dict, optional
        The known rate of revenue that every arm costs.
    per_unit, budget, share_of_max : list of float, optional
        Budgets per unit, as totals, or as shares of what the costliest arm costs above control.
    include_control : bool, optional
        Budgets count what control costs in.
    margin : float, optional
        The share of revenue that is profit before the incentive.
    per_revenue : float, optional
        What one unit of revenue (an order, a visit) is worth; instead of ``margin``.
    split_by : str, optional
        "hash" of the cluster or id, "time", or a column that says train, validation or test.
    estimator : {"horvitz-thompson", "hajek", "stratified", "doubly-robust"}, optional
        How the revenue of a plan is estimated.
    method : str, optional
        One of :func:`dfcl.methods`, or "auto".
    settings : dict, optional
        Any other key by its full name: ``{"split.train": 0.7}`` (docs/study.md has all of them).

    Examples
    --------
    >>> study = Study(arm="discount", revenue="orders", cost="subsidy", control="0", per_unit=[0.2])
    >>> study.set({"split.train": 0.7, "split.test": 0.2}).method
    'auto'
    """

    def __init__(
        self,
        *,
        trial: str | None = None,
        test: str | None = None,
        id: str | None = None,
        arm: str | None = None,
        revenue: str | None = None,
        cost: str | None = None,
        cost_if: str | None = None,
        time: str | None = None,
        features: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        categorical: Sequence[str] | None = None,
        missing: Sequence[float] | None = None,
        cluster: str | None = None,
        propensity: str | None = None,
        weight: str | None = None,
        guardrails: Sequence[str] | None = None,
        rule: str | None = None,
        control: str | None = None,
        order: Sequence[str] | None = None,
        share: Mapping[str, float] | None = None,
        arm_cost: Mapping[str, float] | None = None,
        cost_per_revenue: Mapping[str, float] | None = None,
        per_unit: Sequence[float] | None = None,
        budget: Sequence[float] | None = None,
        share_of_max: Sequence[float] | None = None,
        include_control: bool | None = None,
        margin: float | None = None,
        per_revenue: float | None = None,
        split_by: str | None = None,
        estimator: Estimator | None = None,
        method: str | None = None,
        settings: Mapping[str, Setting] | None = None,
    ) -> None:
        given = {key: value for key, value in locals().items() if key in _KEYS}
        entries = {_KEYS[name]: value for name, value in given.items()}
        for key in ("arms.control", "arms.order"):  # labels, however they were typed
            value = entries[key]
            if isinstance(value, (list, tuple)):
                entries[key] = [str(entry) for entry in value]
            elif value is not None:
                entries[key] = str(value)
        self._native = _dfcl.Study.parse(_FORMAT, "", "", overrides(entries | dict(settings or {})), False)

    @classmethod
    def _of(cls, native: _dfcl.Study) -> Study:
        study = cls.__new__(cls)
        study._native = native
        return study

    @classmethod
    def read(cls, path: Path, settings: Mapping[str, Setting] | None = None) -> Study:
        """Reads a study file.

        Parameters
        ----------
        path : path
            The file.
        settings : dict, optional
            Override its keys: ``{"split.train": 0.7}``.
        """
        return cls._of(_dfcl.Study.read(os.fspath(path), overrides(settings or {})))

    @classmethod
    def parse(cls, text: str, settings: Mapping[str, Setting] | None = None) -> Study:
        """The text of a study file. Relative paths in it are relative to the working directory."""
        return cls._of(_dfcl.Study.parse(text, "study", "", overrides(settings or {}), False))

    @classmethod
    def infer(
        cls,
        trial: TableLike,
        *,
        arm: str | None = None,
        control: str | None = None,
        revenue: str | None = None,
        cost: str | None = None,
        progress: Progress = None,
    ) -> Study:
        """A first study for a trial, for you to correct; parameters as those of :func:`dfcl.init`.

        Warns (:class:`dfcl.DfclWarning`) of each key that is uncertain, with the reason.
        """
        from . import verbs

        return verbs.init(trial, arm=arm, control=control, revenue=revenue, cost=cost, progress=progress)

    def set(self, settings: Mapping[str, Setting]) -> Study:
        """The same study with other values for these keys."""
        native = self._native
        return self._of(_dfcl.Study.parse(native.text, "study", native.folder, overrides(settings), False))

    @property
    def text(self) -> str:
        """The text of a study file with the keys that are set."""
        return self._native.text

    @property
    def trial(self) -> str:
        """The path of the trial, "" where the study names none."""
        return self._native.trial

    @property
    def method(self) -> str:
        """The method that trains, "auto" where none is named."""
        return self._native.method

    def check(self, trial: TableLike | None = None, *, progress: Progress = None) -> Check:
        """Is the trial fit to learn from? Parameters as those of :func:`dfcl.check`."""
        from . import verbs

        return verbs.check(self, trial, progress=progress)

    def train(
        self,
        trial: TableLike | None = None,
        *,
        method: str | None = None,
        epochs: int | None = None,
        trees: int | None = None,
        force: bool = False,
        output: Path | None = None,
        threads: int | None = None,
        seed: int = 0,
        progress: Progress = None,
        **keywords: Unpack[TrainKeywords],
    ) -> Model:
        """Learns a model; parameters as those of :func:`dfcl.train`, which has more of them."""
        from . import verbs

        return verbs.train(
            self, trial, method=method, epochs=epochs, trees=trees, force=force, output=output, threads=threads,
            seed=seed, progress=progress, **keywords,
        )  # fmt: skip

    def evaluate(
        self,
        models: ModelsLike,
        trial: TableLike | None = None,
        **options: Unpack[EvaluateOptions],
    ) -> Evaluation:
        """What plans are worth; parameters as those of :func:`dfcl.evaluate`."""
        from . import verbs

        return verbs.evaluate(self, models, trial, **options)

    def compare(
        self,
        trial: TableLike | None = None,
        *,
        methods: Sequence[str] | None = None,
        seeds: int | None = None,
        resamples: int = 1000,
        seed: int = 0,
        progress: Progress = None,
    ) -> Comparison:
        """Several methods on one trial; parameters as those of :func:`dfcl.compare`."""
        from . import verbs

        return verbs.compare(self, trial, methods=methods, seeds=seeds, resamples=resamples, seed=seed, progress=progress)

    def power(self, trial: TableLike | None = None, *, progress: Progress = None) -> Power:
        """What this trial can show, and how large the next must be; see :func:`dfcl.power`."""
        from . import verbs

        return verbs.power(self, None, trial, progress=progress)

    def __repr__(self) -> str:
        return f"<dfcl.Study\n{self.text}>"

    def _repr_html_(self) -> str:
        keys = [line.strip() for line in self.text.splitlines() if "=" in line and not line.lstrip().startswith("#")]
        return html.title("Study") + html.definitions(dict(key.split(" = ", 1) for key in keys if " = " in key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.text, self._native.folder))


def _restore(text: str, folder: str) -> Study:
    return Study._of(_dfcl.Study.parse(text, "study", folder, [], False))


#: A study, or the path of a study file.
StudyLike = Union[Study, Path]


def study_of(study: StudyLike | None, keywords: Mapping[str, Any]) -> Study:
    """The study a caller means: one given, one in a file, or one made of keywords."""
    if study is None:
        unknown = [name for name in keywords if name not in _KEYS and name != "settings"]
        if unknown:
            raise TypeError(f"unexpected keyword argument '{unknown[0]}'")
        return Study(**keywords)
    if isinstance(study, (str, os.PathLike)):
        study = Study.read(study)
    if not isinstance(study, Study):
        message = f"cannot make a study of {type(study).__name__}"
        hint = "give a dfcl.Study or the path of a study file; the data go to trial="
        error = UsageError(f"{message}\nhint: {hint}")
        error.what, error.hint = message, hint
        raise error
    settings = {_KEYS[name]: value for name, value in keywords.items() if name in _KEYS and value is not None}
    settings |= dict(keywords.get("settings") or {})
    unknown = [name for name in keywords if name not in _KEYS and name != "settings"]
    if unknown:
        raise TypeError(f"unexpected keyword argument '{unknown[0]}'")
    return study.set(settings) if settings else study
