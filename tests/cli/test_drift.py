# SPDX-License-Identifier: Apache-2.0
"""Drift: `predict` says where units are not like those that the model was trained on."""

import csv
import json
import random
from pathlib import Path

import pytest

USAGE = 2
OLD_MODEL = Path(__file__).resolve().parents[1] / "model" / "data" / "network_0_1.safetensors"


def good(result):
    assert result.code == 0, result.stderr
    return result


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """A model, another sample of its simulation, and one in which two columns have changed; these columns."""
    dfcl = run_in(tmp_path_factory.mktemp("drift"))
    for seed in (1, 2):
        simulate = ["simulate", "--preset", "marketing", "--rows", 10_000, "--seed", seed]
        good(dfcl(*simulate, "-o", f"trial{seed}.csv", "--study", f"study{seed}.toml"))
    good(dfcl("train", "study1.toml", "--method", "tsm", "--epochs", 1, "--seed", 1, "-o", "model.safetensors"))
    rows = rows_of(dfcl.folder / "trial2.csv")
    drift = good(dfcl("predict", "model.safetensors", "trial1.csv", "-o", "p.csv", "--drift", "drift.csv"))
    assert "features differ" not in drift.stderr
    features = list(dict.fromkeys(row["feature"] for row in rows_of(dfcl.folder / "drift.csv")))
    changed = [name for name in features if all(is_number(row[name]) for row in rows[:100])][:2]
    draw = random.Random(5)
    for row in rows:
        row[changed[0]] = float(row[changed[0]] or 0) * 3 + 5
        if draw.random() < 0.5:
            row[changed[1]] = ""
    with open(dfcl.folder / "shifted.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return dfcl.folder, changed


def is_number(text):
    try:
        return float(text) not in (0.0, 1.0)
    except ValueError:
        return False


def test_another_sample_of_the_same_simulation_raises_no_alarm(dfcl, made, tmp_path):
    where, _ = made
    predict = ["predict", where / "model.safetensors", where / "trial2.csv", "-o", "p.csv"]
    done = good(dfcl(*predict, "--drift", "drift.csv", "--json"))
    assert "features differ" not in done.stderr
    assert json.loads(done.stdout)["drifting_features"] == []
    table = rows_of(tmp_path / "drift.csv")
    assert {row["drifts"] for row in table} == {"0"}
    assert {"stability index", "missing"} <= {row["statistic"] for row in table}
    assert list(table[0]) == ["feature", "statistic", "training", "now", "limit", "drifts"]


def test_changed_columns_are_named_in_one_line(dfcl, made):
    where, changed = made
    done = good(dfcl("predict", where / "model.safetensors", where / "shifted.csv", "-o", "p.csv", "--json"))
    assert sorted(json.loads(done.stdout)["drifting_features"]) == sorted(changed)
    lines = [line for line in done.stderr.splitlines() if "features differ from those of the training units" in line]
    assert len(lines) == 1
    assert all(name in lines[0] for name in changed)
    assert "--drift writes the table" in lines[0]


def test_the_table_is_the_same_for_any_number_of_threads_and_any_cut(dfcl, made, tmp_path):
    where, _ = made
    header, *body = (where / "shifted.csv").read_text().splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    for part in range(3):
        (tmp_path / "parts" / f"{part}.csv").write_text(header + "".join(body[part * 3_500 : (part + 1) * 3_500]))
    tables = []
    for threads, units in ((1, where / "shifted.csv"), (2, where / "shifted.csv"), (8, tmp_path / "parts")):
        predict = ["predict", where / "model.safetensors", units, "-o", "p.csv", "--threads", threads]
        good(dfcl(*predict, "--drift", "drift.csv"))
        tables.append((tmp_path / "drift.csv").read_bytes())
    assert tables[0] == tables[1] == tables[2]


def test_a_model_without_summaries_cannot_say(dfcl, made):
    where, _ = made
    done = dfcl("predict", OLD_MODEL, where / "trial1.csv", "-o", "p.csv", "--drift", "drift.csv")
    assert done.code == USAGE
    assert "--drift" in done.stderr and "no summaries" in done.stderr
