# SPDX-License-Identifier: Apache-2.0
"""What the columns of a trial mean."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _dfcl
from .errors import UsageError

__all__ = ["Study"]

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


def overrides(settings: Mapping[str, Any]) -> list[str]:
    """Settings by full key ("split.train") as the extension module takes them; those that are None are left out."""
    return [f"{key}={_toml(value)}" for key, value in settings.items() if value is not None]


class Study:
    """What the columns of a trial mean, which budgets matter, how units are split and which method learns.

    A study is read from a file, or made of keywords. Keys without a keyword are set by their full name. Budgets are what
    is spent above everyone in control; ``include_control=True`` counts what control costs in.

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
        rule: str | None = None,
        control: str | None = None,
        order: Sequence[str] | None = None,
        share: Mapping[str, float] | None = None,
        arm_cost: Mapping[str, float] | None = None,
        cost_per_revenue: Mapping[str, float] | None = None,
        per_unit: Sequence[float] | None = None,
        total: Sequence[float] | None = None,
        share_of_max: Sequence[float] | None = None,
        include_control: bool | None = None,
        margin: float | None = None,
        per_revenue: float | None = None,
        split: str | None = None,
        estimator: str | None = None,
        method: str | None = None,
        settings: Mapping[str, Any] | None = None,
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
    def read(cls, path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None) -> Study:
        """Reads a study file; ``settings`` override its keys: ``{"split.train": 0.7}``."""
        return cls._of(_dfcl.Study.read(os.fspath(path), overrides(settings or {})))

    @classmethod
    def parse(cls, text: str, settings: Mapping[str, Any] | None = None) -> Study:
        """The text of a study file. Relative paths in it are relative to the working directory."""
        return cls._of(_dfcl.Study.parse(text, "study", "", overrides(settings or {}), False))

    def set(self, settings: Mapping[str, Any]) -> Study:
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
        return self._native.method

    def __repr__(self) -> str:
        return f"<dfcl.Study\n{self.text}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.text, self._native.folder))


def _restore(text: str, folder: str) -> Study:
    return Study._of(_dfcl.Study.parse(text, "study", folder, [], False))


def study_of(study: Study | str | os.PathLike[str] | None, keywords: Mapping[str, Any]) -> Study:
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
