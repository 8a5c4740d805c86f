# SPDX-License-Identifier: Apache-2.0
"""Predictions know what they are in every format, and ids are exact from file to file."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import answer, good

USAGE, DATA, FILE = 2, 3, 4


def write_trial(folder, arms, control, rows=1500, name="trial.parquet", ids=None):
    """A trial of these arms; every arm but control earns and costs more."""
    rng = np.random.default_rng(5)
    arm = rng.integers(0, len(arms), rows)
    treated = np.array(arms)[arm] != control
    x = rng.normal(size=rows)
    table = {
        "id": np.arange(rows) if ids is None else ids,
        "x": x.astype(np.float32),
        "arm": np.array(arms)[arm],
        "revenue": 1 + treated * (1 + 0.5 * x) + rng.random(rows),
        "cost": treated * (0.2 + 0.1 * rng.random(rows)),
    }
    pq.write_table(pa.table(table), folder / name)
    (folder / "study.toml").write_text(
        f'format = 2\n[data]\ntrial = "{name}"\n[columns]\nid = "id"\narm = "arm"\nrevenue = "revenue"\ncost = "cost"\n'
        f'[arms]\ncontrol = "{control}"\n[cost]\ncontrol_is_free = true\n[budgets]\nper_unit = [0.1]\n'
    )
    return pa.table(table)


def train(dfcl, method="tsm"):
    good(dfcl("train", "study.toml", "--method", method, "--epochs", 1, "-o", "model.safetensors", "--quiet"))


ARMS = [(["-5", "0"], "-5"), (["big", "none", "small"], "none")]


@pytest.mark.parametrize(("arms", "control"), ARMS)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "csv.gz"])
def test_the_hold_out_gets_the_control_of_the_model(dfcl, tmp_path, arms, control, ending):
    write_trial(tmp_path, arms, control)
    train(dfcl)
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", f"p.{ending}"))
    for flags in (["--per-unit", 0.1], ["--per-unit", 0.1, "--stream"]):
        good(dfcl("allocate", f"p.{ending}", *flags, "--holdout", 0.2, "-o", "plan.parquet"))
        plan = pq.read_table(tmp_path / "plan.parquet").to_pydict()
        assert {arm for arm, role in zip(plan["arm"], plan["role"]) if role == "holdout"} == {control}
    good(dfcl("allocate", "model.safetensors", "trial.parquet", "--per-unit", 0.1, "--holdout", 0.2, "-o", "plan.csv"))
    meta = json.loads((tmp_path / "plan.csv.meta.json").read_text())
    assert meta["kind"] == "plan" and meta["options"]["control"] == control
    assert "multiplier" in meta["figures"] and meta["rows"] == 1500


def test_an_index_is_told_in_every_format(dfcl, tmp_path):
    write_trial(tmp_path, ["0", "1"], "0")
    train(dfcl, "drm")
    for ending in ("parquet", "arrow", "csv"):
        good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", f"p.{ending}"))
        assert "index" in good(dfcl("allocate", f"p.{ending}", "--per-unit", 0.1)).stderr, ending
        results = json.loads(
            good(dfcl("evaluate", "study.toml", f"p.{ending}", "--resamples", 50, "--split", "all", "--allow-training-rows", "--json")).stdout
        )
        assert results["models"][0]["index"] is True and results["models"][0]["method"] == "drm", ending


def test_a_csv_that_was_changed_is_not_described_by_what_lies_beside_it(dfcl, tmp_path):
    write_trial(tmp_path, ["0", "1"], "0")
    train(dfcl, "drm")
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "p.csv"))
    lines = (tmp_path / "p.csv").read_text().splitlines()
    (tmp_path / "p.csv").write_text("\n".join(lines[:-5]) + "\n")
    refused = dfcl("allocate", "p.csv", "--per-unit", 0.1, "-o", "plan.csv")
    assert refused.code == DATA and "p.csv.meta.json" in refused.stderr
    assert not (tmp_path / "plan.csv").exists()
    looked = good(dfcl("info", "p.csv", "--json"))
    assert json.loads(looked.stdout)["rows"] == len(lines) - 6 and "another table" in looked.stderr
    (tmp_path / "p.csv.meta.json").unlink()
    assert "index" not in good(dfcl("allocate", "p.csv", "--per-unit", 0.1)).stderr
    shutil.copy(tmp_path / "model.safetensors", tmp_path / "p.csv.meta.json")
    assert dfcl("allocate", "p.csv", "--per-unit", 0.1).code == FILE


def test_the_control_of_predictions_can_be_said_once(dfcl, tmp_path):
    columns = {"id": [1, 2], "revenue_a": [1.0, 1.0], "cost_a": [0.0, 0.0], "revenue_b": [2.0, 3.0], "cost_b": [1.0, 1.0]}
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "foreign.csv")
    good(dfcl("allocate", "foreign.csv", "--budget", 1, "--control", "b", "-o", "plan.csv"))
    assert json.loads((tmp_path / "plan.csv.meta.json").read_text())["options"]["control"] == "b"
    write_trial(tmp_path, ["a", "b"], "a")
    train(dfcl)
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "p.parquet"))
    refused = dfcl("allocate", "p.parquet", "--budget", 1, "--control", "b")
    assert refused.code == USAGE and "--control" in refused.stderr and "'a'" in refused.stderr
    good(dfcl("allocate", "p.parquet", "--budget", 1, "--control", "a"))


def test_predictions_that_do_not_say_it_can_be_called_an_index(dfcl, tmp_path):
    write_trial(tmp_path, ["0", "1"], "0")
    train(dfcl)
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "p.parquet"))
    pq.write_table(pq.read_table(tmp_path / "p.parquet").replace_schema_metadata(None), tmp_path / "foreign.parquet")
    assert "is an index" in good(dfcl("allocate", "foreign.parquet", "--per-unit", 0.1, "--index")).stderr
    refused = dfcl("allocate", "p.parquet", "--per-unit", 0.1, "--index")
    assert refused.code == USAGE and "--index" in refused.stderr
    flags = ["--index", "--split", "all", "--allow-training-rows", "--resamples", 50, "--json"]
    results = answer(dfcl("evaluate", "study.toml", "p.parquet", "foreign.parquet", *flags))
    assert [model["index"] for model in results["models"]] == [False, True]
    refused = dfcl("evaluate", "study.toml", "p.parquet", *flags)
    assert refused.code == USAGE and json.loads(refused.stderr.splitlines()[-1])["error"]["field"] == "index"


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_ids_beyond_the_signed_ones_stay_apart(dfcl, tmp_path, ending):
    rows = 2000
    ids = (np.uint64(2**63) + np.arange(rows, dtype=np.uint64)).astype(np.uint64)
    write_trial(tmp_path, ["0", "1"], "0", rows=rows, ids=ids)
    if ending == "csv":
        pyarrow.csv.write_csv(pq.read_table(tmp_path / "trial.parquet"), tmp_path / "trial.csv")
    train(dfcl)
    units = "trial.csv" if ending == "csv" else "trial.parquet"
    good(dfcl("predict", "model.safetensors", units, "-o", f"p.{ending}"))
    for flags in ([], ["--stream"]):
        good(dfcl("allocate", f"p.{ending}", "--per-unit", 0.1, *flags, "-o", "plan.parquet"))
        plan = pq.read_table(tmp_path / "plan.parquet")
        assert plan["id"].type == pa.uint64() and plan["id"].to_pylist() == ids.tolist()
    summary = answer(dfcl("info", "trial.parquet", "--json"))
    assert next(column for column in summary["columns"] if column["name"] == "id")["distinct"] >= 1000


@pytest.mark.parametrize("flags", [[], ["--stream"]])
@pytest.mark.parametrize(("ids", "where"), [([1, None, 3], "row 2"), ([1.0, 2.5, 3.0], "row 2"), (["a", "b", ""], "row 3")])
def test_a_unit_without_an_id_is_refused_with_its_row(dfcl, tmp_path, ids, where, flags):
    columns = {"id": ids}
    for arm in ("0", "5"):
        columns |= {f"revenue_{arm}": [1.0] * 3, f"cost_{arm}": [float(arm)] * 3}
    pq.write_table(pa.table(columns), tmp_path / "p.parquet")
    refused = dfcl("allocate", "p.parquet", "--budget", 10, *flags)
    assert refused.code == DATA and where in refused.stderr and "column 'id'" in refused.stderr


def test_rows_without_ids_are_not_joined_with_units_that_have_them(dfcl, tmp_path):
    trial = write_trial(tmp_path, ["0", "1"], "0")
    train(dfcl)
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "p.parquet"))
    pq.write_table(pq.read_table(tmp_path / "p.parquet").drop_columns(["id"]), tmp_path / "nameless.parquet")
    refused = dfcl("evaluate", "study.toml", "nameless.parquet", "--split", "all", "-o", "results.json")
    assert refused.code == DATA and "ids" in refused.stderr and not (tmp_path / "results.json").exists()
    # Where neither has ids, the row is all there is to join by.
    pq.write_table(trial.drop_columns(["id"]), tmp_path / "trial.parquet")
    text = (tmp_path / "study.toml").read_text().replace('id = "id"\n', "")
    (tmp_path / "study.toml").write_text(text)
    good(dfcl("evaluate", "study.toml", "nameless.parquet", "--split", "all", "--resamples", 50))


@pytest.mark.parametrize("num_files", [1, 3, 17])
def test_the_order_of_the_rows_and_the_cut_into_files_change_nothing(dfcl, tmp_path, num_files):
    trial = write_trial(tmp_path, ["0", "1"], "0")
    train(dfcl)
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "p.parquet"))
    flags = ["--split", "test", "--resamples", 50, "--json"]
    expected = answer(dfcl("evaluate", "study.toml", "p.parquet", *flags))
    shuffled = trial.take(np.random.default_rng(num_files).permutation(len(trial)))
    (tmp_path / "cut").mkdir()
    for file in range(num_files):
        begin, end = (len(trial) * place // num_files for place in (file, file + 1))
        pq.write_table(shuffled.slice(begin, end - begin), tmp_path / "cut" / f"{file:02}.parquet")
    found = answer(dfcl("evaluate", "study.toml", "p.parquet", "--set", "data.trial=cut", *flags))
    options = dict(map(tuple, expected["made_by"]["options"]))
    assert dict(map(tuple, found["made_by"]["options"])) == options
    assert found["trial"]["units"] == expected["trial"]["units"]


def test_too_many_arms_name_the_limit(dfcl, tmp_path):
    rows = 300
    table = {"id": np.arange(rows), "x": np.ones(rows), "arm": np.arange(rows), "revenue": np.ones(rows), "cost": np.ones(rows)}
    pq.write_table(pa.table(table), tmp_path / "trial.parquet")
    (tmp_path / "study.toml").write_text(
        'format = 2\n[data]\ntrial = "trial.parquet"\n[columns]\nid = "id"\narm = "arm"\nrevenue = "revenue"\ncost = "cost"\n'
    )
    refused = dfcl("check", "study.toml")
    assert refused.code == DATA and "at most 255 arms" in refused.stderr


def test_info_shows_float32_prices_as_people_write_them(dfcl, tmp_path):
    table = {"id": [1, 2], "price": pa.array([0.15, 0.2], pa.float32())}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    text = good(dfcl("info", "t.parquet", "--json")).stdout
    assert '"low": 0.15' in text and "0.150000" not in text.split('"mean"')[0]


def test_a_price_is_a_price_from_the_study_to_the_results(dfcl, tmp_path):
    rng = np.random.default_rng(1)
    rows = 20_000
    arm = rng.integers(0, 2, rows)
    x = rng.normal(size=rows)
    revenue = 1 + arm * (1 + 0.5 * x) + rng.normal(size=rows)
    pq.write_table(
        pa.table({"id": np.arange(rows), "x": x, "arm": np.where(arm == 1, "5", "0"), "revenue": revenue}),
        tmp_path / "trial.parquet",
    )
    (tmp_path / "study.toml").write_text(
        'format = 2\n[data]\ntrial = "trial.parquet"\n[columns]\nid = "id"\narm = "arm"\nrevenue = "revenue"\n'
        '[arms]\ncontrol = "0"\ncost = { "5" = 0.15 }\n[budgets]\nper_unit = [0.075]\n'
    )
    train(dfcl)
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "p.csv"))
    assert json.loads((tmp_path / "p.csv.meta.json").read_text())["options"]["price_5"] == "0.15"
    for flags in ([], ["--stream"]):
        plan = answer(dfcl("allocate", "p.csv", "--budget", 1500, *flags, "-o", "plan.csv", "--json"))
        assert plan["units_per_arm"]["5"] == 10_000 and plan["spend"] == 1500
    good(dfcl("evaluate", "study.toml", "p.csv", "--split", "all", "--allow-training-rows", "--resamples", 50, "-o", "results.json"))
    texts = [(tmp_path / name).read_text() for name in ("p.csv", "plan.csv", "results.json")]
    texts += [good(dfcl(*line)).stdout for line in (["check", "study.toml", "--json"], ["allocate", "p.csv", "--budget", 1500])]
    assert not any("0.1500000" in text or "0.1499999" in text for text in texts)
