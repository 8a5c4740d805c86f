# SPDX-License-Identifier: Apache-2.0
"""dfcl simulate as a user sees it: files, table, study, and what is left after a failure."""

import json

import numpy as np
import pyarrow.parquet as parquet
import pytest


def simulate(dfcl, preset, rows, *more):
    result = dfcl("simulate", "--preset", preset, "--rows", rows, "-o", "trial.parquet", *more)
    assert result.code == 0, result.stderr
    return result


@pytest.mark.parametrize(
    "preset, days", [("criteo", []), ("marketing", ["--days", "7"]), ("varied", ["--response", "rules"])]
)
def test_trial_and_truth_are_the_same_bytes_for_any_number_of_threads(dfcl, preset, days):
    seen = set()
    for threads in (1, 2, 8):
        simulate(dfcl, preset, 140_000, "--seed", 3, "--truth", "truth.parquet", "--threads", threads, *days)
        seen.add(tuple((dfcl.folder / name).read_bytes() for name in ("trial.parquet", "truth.parquet")))
    assert len(seen) == 1


@pytest.mark.parametrize("preset, rows", [("criteo", 40_000), ("marketing", 10_000)])
@pytest.mark.parametrize("response", ["smooth", "tree", "sparse"])
def test_the_study_file_is_ready_to_use(dfcl, preset, rows, response):
    simulate(dfcl, preset, rows, "--seed", 1, "--response", response, "--study", "study.toml")
    checked = dfcl("check", "study.toml")
    assert checked.code == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("response", ["rules", "few", "smooth"])
def test_the_study_of_offers_is_ready_to_use(dfcl, response):
    simulate(dfcl, "varied", 10_000, "--seed", 1, "--response", response, "--study", "study.toml")
    checked = dfcl("check", "study.toml")
    assert checked.code == 0, checked.stdout + checked.stderr


def test_a_response_of_another_preset_is_refused(dfcl):
    result = dfcl("simulate", "--preset", "varied", "--rows", 100, "-o", "trial.parquet", "--response", "tree")
    assert result.code == 2 and "--response" in result.stderr and "rules, few, smooth" in result.stderr


@pytest.mark.parametrize("preset", ["criteo", "marketing", "varied"])
def test_check_finds_the_planted_imbalance(dfcl, preset):
    simulate(dfcl, preset, 50_000, "--seed", 1, "--imbalance", "--study", "study.toml")
    assert dfcl("check", "study.toml").code == 7


def test_the_study_finds_the_trial_from_its_own_folder(dfcl):
    (dfcl.folder / "studies").mkdir()
    simulate(dfcl, "marketing", 5_000, "--study", "studies/study.toml")
    assert 'trial = "../trial.parquet"' in (dfcl.folder / "studies" / "study.toml").read_text()
    assert dfcl("check", "studies/study.toml").code == 0


def test_truth_stands_row_by_row_beside_the_trial(dfcl):
    simulate(dfcl, "marketing", 7_000, "--days", 7, "--noise", 0, "--truth", "truth.parquet")
    trial = parquet.read_table(dfcl.folder / "trial.parquet")
    truth = parquet.read_table(dfcl.folder / "truth.parquet")
    assert trial["shop_id"].equals(truth["id"])
    assert trial["day"].equals(truth["day"])
    arm = np.asarray(trial["discount"])
    # Without noise the outcomes are the truth of the arm that was given.
    for outcome, column in (("revenue", "orders"), ("cost", "subsidy")):
        by_arm = {label: np.asarray(truth[f"{outcome}_{label}"]) for label in (0, 5, 10, 15, 20)}
        expected = np.choose(arm // 5, [by_arm[label] for label in (0, 5, 10, 15, 20)])
        np.testing.assert_allclose(np.asarray(trial[column]), expected, rtol=1e-6)


def test_json_says_what_was_made(dfcl):
    made = json.loads(simulate(dfcl, "criteo", 50_000, "--seed", 5, "--json").stdout)
    assert (made["rows"], made["columns"], made["seed"]) == (50_000, 15, 5)
    assert sum(arm["units"] for arm in made["arms"]) == 50_000
    assert [arm["arm"] for arm in made["arms"]] == ["0", "1"]


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["--study", "absent/study.toml"], 4, "the folder does not exist"),
        (["--truth", "truth.txt"], 2, "unknown file ending"),
        (["--truth", "./trial.parquet"], 2, "--truth: is another file of this run"),
        (["--days", "3"], 2, "a multiple of --days 3"),
        (["--shares", ".5,.5"], 2, "expected 5, one for each arm"),
        (["--noise", "-1"], 2, "--noise"),
    ],
)
def test_a_refused_run_leaves_no_file(dfcl, arguments, code, message):
    result = dfcl("simulate", "--preset", "marketing", "--rows", "1000", "-o", "trial.parquet", *arguments)
    assert result.code == code
    assert message in result.stderr
    assert list(dfcl.folder.iterdir()) == []
