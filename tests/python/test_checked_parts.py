# SPDX-License-Identifier: Apache-2.0
"""Checks of rows that are elsewhere, without a cluster: any cut of the rows gives the same bytes, and what one machine says."""

import json

import numpy as np
import pyarrow as pa
import pytest
from test_judged_parts import assert_near
from test_parts import deal

import dfcl
from dfcl import _dfcl
from dfcl.spark.check import sum_checked
from dfcl.spark.executor import memory_table

SEED = 5
pytestmark = pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")


def check_in_parts(parts, sample, study, duplicates=(0, 0, 0, [])):
    """As dfcl.spark does it, in this process."""

    def run(asked):
        found = [sum_checked(part, study.__reduce__()[1], asked) for part in parts if len(part)]
        merged = _dfcl.merge_check_parts(asked[2], found)
        assert _dfcl.merge_check_parts(asked[2], found[::-1]) == merged
        return merged

    request = _dfcl.CheckRequest()
    held = memory_table(sample, "trial")
    request.set("study", study._native)
    request.set("trial", held.path)
    return dfcl.Check(*_dfcl.check_elsewhere(request, sum(map(len, parts)), duplicates, run, _dfcl.Run(threads=1, seed=0)))


def plain(preset, **more):
    made = dfcl.simulate(preset, rows=6000, seed=3, **more)
    trial = pa.table(made.trial).replace_schema_metadata(None)
    study = made.study
    if preset == "criteo":
        trial, study = trial.append_column("id", pa.array(range(len(trial)))), study.set({"columns.id": "id"})
    return trial.sort_by(made.study_id if hasattr(made, "study_id") else [(id_of(study), "ascending")]), study


def id_of(study):
    import tomllib

    return tomllib.loads(study.text)["columns"]["id"]


def weighted(trial, study):
    random = np.random.default_rng(SEED)
    return trial.append_column("w", pa.array(random.uniform(0.5, 2, len(trial)))), study.set({"columns.weight": "w"})


def guarded(trial, study):
    random = np.random.default_rng(SEED)
    return trial.append_column("refunds", pa.array(random.poisson(0.2, len(trial)) * 1.0)), study.set({"columns.guardrails": ["refunds"]})


@pytest.mark.parametrize("preset, more, change", [("varied", {}, None), ("criteo", {}, None), ("criteo", {"imbalance": True}, None),
                                                  ("criteo", {}, weighted), ("criteo", {}, guarded)])  # fmt: skip
def test_any_cut_of_the_rows_gives_the_same_bytes_and_what_one_machine_says(preset, more, change):
    trial, study = plain(preset, **more)
    if change is not None:
        trial, study = change(trial, study)
    random = np.random.default_rng(SEED)
    whole = check_in_parts([trial], trial, study)
    for parts in (3, 17):
        cut = check_in_parts(deal(trial, parts, random), trial, study)
        assert json.dumps(cut.figures) == json.dumps(whole.figures), f"seed {SEED}, {parts} parts"
    here = dfcl.check(study, trial, progress=False)
    assert_near(json.loads(json.dumps(whole.figures)), json.loads(json.dumps(here.figures)))
    assert str(whole) == str(here)


def test_a_sample_says_what_features_are_and_all_rows_are_counted():
    trial, study = plain("criteo", imbalance=True)
    there = check_in_parts(deal(trial, 4, np.random.default_rng(SEED)), trial.slice(0, 3000), study)
    here = dfcl.check(study, trial, progress=False)
    assert there.figures["units"] == here.figures["units"] == len(trial)
    assert_near(there.figures["sample_ratio"], json.loads(json.dumps(here.figures["sample_ratio"])))
    assert_near(json.loads(json.dumps(there.figures["arms"])), json.loads(json.dumps(here.figures["arms"])))
    assert there.grade == here.grade


def test_ids_that_come_again_are_told():
    trial, study = plain("criteo")
    there = check_in_parts([trial], trial, study, (200, 300, 5, ["1", "2"]))
    assert not there.fit
    assert "5" in " ".join(there.problems)


@pytest.mark.parametrize("key, value, word", [("columns.cluster", "f0", "cluster"), ("columns.winsorize", {"revenue": 0.99}, "winsorize")])
def test_what_needs_all_rows_is_refused_with_a_sentence(key, value, word):
    trial, study = plain("criteo")
    with pytest.raises(dfcl.UsageError, match=word):
        check_in_parts([trial], trial, study.set({key: value}))


def test_sums_of_another_check_are_refused():
    trial, study = plain("criteo")
    others = []

    def keep(asked):
        others.append(sum_checked(trial, study.__reduce__()[1], asked))
        return others[0]

    request = _dfcl.CheckRequest()
    held = memory_table(trial, "trial")
    request.set("study", study._native)
    request.set("trial", held.path)
    run = _dfcl.Run(threads=1, seed=0)
    _dfcl.check_elsewhere(request, len(trial), (0, 0, 0, []), keep, run)
    smaller = memory_table(trial.slice(0, 3000), "trial")
    request.set("trial", smaller.path)
    with pytest.raises(dfcl.DataError, match="another check"):
        _dfcl.check_elsewhere(request, len(trial), (0, 0, 0, []), lambda asked: others[0], run)
    with pytest.raises(dfcl.DataError, match="damaged"):
        _dfcl.check_elsewhere(request, len(trial), (0, 0, 0, []), lambda asked: others[0][:-1] + b"x", run)
