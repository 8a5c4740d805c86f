# SPDX-License-Identifier: Apache-2.0
"""How a verb's request is filled. What its fields may hold is checked by the library, which names the wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _dfcl
from ..progress import Progress, teller
from ..study import Study, keys_of_verb
from ..tables import Sources
from ..types import TableLike

# Keywords of verbs that set a key of the study.
TRAIN_KEYS, COMPARE_KEYS, DEPLOY_KEYS = (keys_of_verb(verb) for verb in ("train", "compare", "deploy"))


def run_of(threads: int | None, seed: int, progress: Progress, overwrite: bool = False) -> _dfcl.Run:
    return _dfcl.Run(
        threads=0 if threads is None else threads, seed=seed, tell=teller(progress), overwrite=overwrite
    )


def fill(request: Any, **fields: object) -> None:
    """Sets the fields that are given. None: the library's own default."""
    for name, value in fields.items():
        if value is not None:
            request.set(name, value)


def fill_tables(request: Any, sources: Sources, **tables: TableLike | None) -> None:
    """Sets fields that are tables: a path, or one under which a table in memory is read."""
    for name, table in tables.items():
        if table is not None:
            request.set(name, sources.path(table, name))


def fill_study(request: Any, study: Study, trial: TableLike | None, sources: Sources) -> None:
    request.set("study", study._native)
    fill_tables(request, sources, trial=trial)


def with_keys(study: Study, keys: Mapping[str, str], given: Mapping[str, Any]) -> Study:
    """The study with the keywords that set a key of it."""
    settings = {key: given[name] for name, key in keys.items() if given.get(name) is not None}
    return study.set(settings) if settings else study
