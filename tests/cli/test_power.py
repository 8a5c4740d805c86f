# SPDX-License-Identifier: Apache-2.0
"""How large must a trial be, and what can this one show?"""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import answer

ROWS = 6000


@pytest.fixture
def trial(dfcl, tmp_path):
    result = dfcl("simulate", "--preset", "marketing", "--rows", ROWS, "--seed", "1", "-o", "trial.parquet", "--study", "study.toml", "--truth", "truth.parquet")
    assert result.code == 0, result.stderr
    truth = pq.read_table(tmp_path / "truth.parquet").to_pydict()
    rng = np.random.default_rng(1)
    noisy = {name: np.array(v) * (np.exp(0.2 * rng.normal(size=ROWS)) if name.startswith("revenue_") else 1) for name, v in truth.items()}
    pq.write_table(pa.table(noisy), tmp_path / "noisy.parquet")


def power(dfcl, *flags):
    return answer(dfcl("power", *flags, "--json"))


def test_two_plans_are_told_apart_on_the_test_rows(dfcl, tmp_path, trial):
    results = power(dfcl, "study.toml", "noisy.parquet", "truth.parquet", "--share-of-max", "0.2", "--gain", "0.5,1", "-o", "results.json")
    found = results["power"]
    this = found["this_trial"]
    assert this["split"] == "test" and 0.2 * ROWS < this["rows"] < 0.4 * ROWS
    assert this["plans_are_known"] and 0 < this["differing"] < 1
    assert this["difference"]["low"] < this["difference"]["value"] < this["difference"]["high"]
    # 80 % at 5 %: 2.8016 standard errors.
    assert this["smallest_gain"] == pytest.approx(2.8016 * found["sd"] / np.sqrt(this["rows"]), rel=1e-3)
    first, second = found["next_trial"]
    assert first["rows"] == pytest.approx((2.8016 * found["sd"] / 0.5) ** 2, rel=1e-3)
    assert first["rows"] == pytest.approx(4 * second["rows"], rel=1e-3)
    assert first["trial_units"] > 3 * first["rows"] and first["launch_units"] > 0
    assert json.loads((tmp_path / "results.json").read_text()) == results
    assert (results["format"], results["kind"]) == ("dfcl-results", "power")
    report = dfcl("report", "results.json", "-o", "report.html")
    assert report.code == 0, report.stderr


def test_without_plans_a_share_of_the_units_is_assumed_to_differ(dfcl, trial):
    few, many = (power(dfcl, "study.toml", "--differ", share)["power"] for share in ("0.1", "0.4"))
    assert few["this_trial"]["rows"] == ROWS and not few["this_trial"]["plans_are_known"]
    assert many["sd"] == pytest.approx(2 * few["sd"])
    assert [round(row["relative_gain"], 6) for row in few["next_trial"]] == [0.01, 0.02, 0.05]
    assert power(dfcl, "--from-trial", "study.toml", "--differ", "0.1")["power"] == few
    steadied = power(dfcl, "study.toml", "truth.parquet", "--split", "all", "--differ", "0.1")["power"]
    assert steadied["sd"] < 0.5 * few["sd"], "predictions take out what is known of the units"


def test_what_revenue_is_worth_says_where_an_arm_breaks_even(dfcl, trial):
    plain = power(dfcl, "study.toml")
    assert plain["power"]["this_trial"]["value_per_revenue"] is None
    assert "breaks even at" not in json.dumps(plain["tables"])
    paid = power(dfcl, "study.toml", "--set", "value.per_revenue=2")
    this = paid["power"]["this_trial"]
    assert this["value_per_revenue"] == 2
    assert this["arms"] == plain["power"]["this_trial"]["arms"]
    table = next(table for table in paid["tables"] if table["id"] == "arms")
    place = table["columns"].index("breaks even at")
    for row, arm in zip(table["rows"], this["arms"]):
        assert arm["extra_cost"] > 0
        assert float(row[place]) == pytest.approx(arm["extra_cost"] / 2, rel=1e-2)
        assert float(row[place + 1]) == pytest.approx(100 * (2 * arm["difference"]["value"] / arm["extra_cost"] - 1), abs=0.1)


def test_each_arm_against_control(dfcl, tmp_path, trial):
    """The least effect is z times the standard error of a plain difference of means."""
    table = pq.read_table(tmp_path / "trial.parquet").to_pydict()
    arm, orders = np.array(table["discount"]), np.array(table["orders"], dtype=float)
    this = power(dfcl, "study.toml")["power"]["this_trial"]
    assert [one["arm"] for one in this["arms"]] == ["5", "10", "15", "20"]
    for one in this["arms"]:
        mine, control = orders[arm == int(one["arm"])], orders[arm == 0]
        error = np.sqrt(mine.var() / len(mine) + control.var() / len(control))
        assert one["rows"] == len(mine)
        assert one["difference"]["value"] == pytest.approx(mine.mean() - control.mean(), abs=1e-5)
        assert one["least_effect"] == pytest.approx(2.8016 * error, rel=2e-3)


def test_how_large_a_hold_out_must_be(dfcl, trial):
    found = power(dfcl, "study.toml", "--gain", "0.5,2.5,5", "--launch-units", "40000")["power"]["this_trial"]
    assert found["launch_units"] == 40000
    small, middle, large = found["holdouts"]
    assert large["share"] < middle["share"] and large["units"] == np.ceil(large["share"] * 40000)
    # A gain for which no hold-out is enough says how large the launch would have to be.
    assert small["share"] is None and small["least_launch"] > 40000
    again = power(dfcl, "study.toml", "--gain", "0.5", "--launch-units", int(small["least_launch"] * 1.001))
    assert 0.3 < again["power"]["this_trial"]["holdouts"][0]["share"] < 0.6
    text = dfcl("power", "study.toml", "--gain", "0.5,5", "--launch-units", "40000").stdout
    assert "none is enough" in text and "Each arm against control" in text


def test_from_a_standard_deviation_alone(dfcl):
    found = power(dfcl, "--sd", "12", "--gain", "0.2", "--power", "0.9")["power"]
    assert found["next_trial"] == [{"gain": 0.2, "relative_gain": None, "rows": 37827.0, "trial_units": 37827.0}]
    assert "37,827" in dfcl("power", "--sd", "12", "--gain", "0.2", "--power", "0.9").stdout


@pytest.mark.parametrize(
    "flags, code, words",
    [
        ([], 2, ["STUDY: from a trial, or", "--sd 3"]),
        (["--sd", "3"], 2, ["--gain"]),
        (["--sd", "-3", "--gain", "1"], 2, ["--sd", "above 0"]),
        (["--sd", "3", "--gain", "0"], 2, ["--gain", "above 0"]),
        (["study.toml", "--sd", "3", "--gain", "1"], 2, ["--sd: a standard deviation stands for a trial"]),
        (["study.toml", "--power", "1.2"], 2, ["--power", "1.2"]),
        (["study.toml", "--differ", "0"], 2, ["--differ"]),
        (["study.toml", "truth.parquet", "truth.parquet"], 2, ["the same plan"]),
        (["study.toml", "truth.parquet", "noisy.parquet", "truth.parquet"], 2, ["two, one or none"]),
        (["study.toml", "none.parquet", "truth.parquet"], 4, ["none.parquet"]),
        (["study.toml", "trial.parquet", "truth.parquet"], 3, ["not a prediction"]),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(dfcl, tmp_path, trial, flags, code, words):
    result = dfcl("power", *flags, "-o", "results.json")
    assert result.code == code, result.stderr
    assert all(word in result.stderr for word in words), result.stderr
    assert not (tmp_path / "results.json").exists()


def test_a_share_of_no_revenue_is_no_gain(dfcl, tmp_path):
    """Refunds: the mean revenue is below zero, so that one per cent of it would be a loss to be found."""
    lines = ["arm,revenue,cost,x"] + [f"{i % 2},{-1 - (i % 7)},{i % 2},{i % 5}" for i in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "s.toml").write_text(
        'format = 2\n[data]\ntrial = "t.csv"\n[columns]\narm = "arm"\nrevenue = "revenue"\ncost = "cost"\n[arms]\ncontrol = "0"\n'
    )
    refused = dfcl("power", "s.toml")
    assert refused.code == 2 and "--gain" in refused.stderr and "mean revenue -" in refused.stderr
    assert dfcl("power", "s.toml", "--gain", "0.5").code == 0
    assert "more than 1,000,000,000,000,000" in dfcl("power", "--sd", "1e300", "--gain", "1e-300").stdout
