# SPDX-License-Identifier: Apache-2.0
"""Profit, baselines and the verdict's two answers, on small made-up trials with known answers."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import answer

USAGE, DATA = 2, 3
ROWS = 6000


def make(folder, effect, cost=1.0, budgets="[0.3, 0.6]", more="", columns="", arms=""):
    """Two arms drawn evenly. effect: of a feature x in 0..1, in revenue. Every treated unit costs `cost`.

    Writes trial.parquet, study.toml, and predictions of a model that knows the effect (good) and of one that knows
    nothing (useless)."""
    random = np.random.default_rng(11)
    x, z = random.random(ROWS), random.random(ROWS)
    treated = random.random(ROWS) < 0.5
    ids = np.arange(ROWS) + 1
    revenue = 5 + 2 * z + effect(x) * treated + random.normal(size=ROWS)
    rule = np.where(z > 0.7, "on", "off")
    spent = {} if arms else {"spent": np.where(treated, cost, 0.0)}
    pq.write_table(pa.table({"id": ids, "arm": np.where(treated, "on", "off"), "earned": revenue, "x": x, "z": z, "rule": rule, **spent}), folder / "trial.parquet")
    money = "" if arms else 'cost = "spent"\n'
    (folder / "study.toml").write_text(
        f'format = 2\n[data]\ntrial = "trial.parquet"\n[columns]\nid = "id"\narm = "arm"\nrevenue = "earned"\n{money}{columns}'
        f'[arms]\ncontrol = "off"\n{arms}[budgets]\nper_unit = {budgets}\n{more}'
    )
    for name, guess in (("good", effect(x)), ("useless", effect(x)[random.permutation(ROWS)])):
        write_predictions(folder / f"{name}.parquet", ids, 6 + 0 * x, 6 + guess, 0 * x, cost + 0 * x)


def write_predictions(path, ids, revenue_off, revenue_on, cost_off, cost_on):
    columns = {"revenue_off": revenue_off, "cost_off": cost_off, "revenue_on": revenue_on, "cost_on": cost_on}
    pq.write_table(pa.table({"id": ids, **{name: column.astype(np.float32) for name, column in columns.items()}}), path)


def evaluate(dfcl, *arguments, resamples=200):
    return answer(dfcl("evaluate", "study.toml", *arguments, "--resamples", resamples, "--json"))


def uneven(x):
    return 8.0 * (x > 0.7)  # 2.4 on average, all of it in three tenths of the units


def test_a_plan_that_targets_well_and_pays_back_is_launched(dfcl, tmp_path):
    make(tmp_path, uneven)
    results = evaluate(dfcl, "good.parquet", "--margin", 0.5)
    verdict = results["verdict"]
    assert (verdict["status"], verdict["pays_back"], verdict["beats_random"]) == ("launch", "yes", "yes")
    assert verdict["sentence"].startswith("Launch good at a budget of 0.3 per unit: targeting adds ")
    plan = results["models"][0]["deployed"][0]
    # Three tenths of the units get what is worth 8 to each, at 1: 0.5 x 2.4 - 0.3 = 0.9 of profit, an ROI of 3.
    assert plan["incremental_profit"]["low"] < 0.9 < plan["incremental_profit"]["high"]
    assert plan["roi"]["low"] < 3.0 < plan["roi"]["high"]
    over = next(one for one in results["baseline_differences"] if one["baseline"] == "random")
    # Random earns 0.3 x 2.4 there: 1.68 less.
    assert over["net"]["low"] < 1.68 < over["net"]["high"]
    assert over["price"] == pytest.approx(2.4, abs=0.3) and over["plan_cost"] == pytest.approx(over["baseline_cost"], abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_targeting_that_is_not_shown_recommends_the_simple_roll_out(dfcl, tmp_path, seed):
    # A budget for everyone: whatever the ranking, the plan gives what random gives, on any rows.
    make(tmp_path, lambda x: 3.0 + 0.0 * x, budgets="[1.0]", more=f"[split]\nseed = {seed}\n")
    verdict = evaluate(dfcl, "useless.parquet", "--margin", 0.8)["verdict"]
    assert (verdict["status"], verdict["pays_back"], verdict["beats_random"]) == ("roll_out", "yes", "not_shown")
    assert verdict["sentence"].startswith("Pays back, targeting not shown: ")
    assert "targeting gives everyone what random does" in verdict["sentence"]
    assert "The simple roll-out will do: arm 'on' for everyone" in verdict["sentence"]


def test_a_plan_that_returns_a_fifth_of_what_it_costs_is_never_launched(dfcl, tmp_path):
    make(tmp_path, lambda x: 0.4 * (x > 0.5), cost=1.0)
    unknown = evaluate(dfcl, "good.parquet")["verdict"]
    assert unknown["status"] in ("gain_shown", "not_shown") and unknown["pays_back"] in ("depends", "not_shown")
    assert "breaks even where one unit of earned is worth" in unknown["sentence"]
    known = evaluate(dfcl, "good.parquet", "--margin", 0.5)["verdict"]
    assert (known["status"], known["pays_back"]) == ("loses", "no")
    assert known["sentence"].startswith("Do not launch: no plan pays back at any of these budgets.")


def test_permuting_the_models_changes_their_order_and_nothing_else(dfcl, tmp_path):
    make(tmp_path, uneven, more="[value]\nmargin = 0.5\n")
    one = evaluate(dfcl, "good.parquet", "useless.parquet")
    other = evaluate(dfcl, "useless.parquet", "good.parquet")
    for key in ("status", "sentence", "pays_back", "beats_random", "model", "budget_per_unit"):
        assert one["verdict"][key] == other["verdict"][key]
    assert one["baselines"] == other["baselines"] and one["nuisance"] == other["nuisance"]

    def by_name(results):
        return {model["name"]: model for model in results["models"]}

    assert by_name(one) == by_name(other) and by_name(one)["good"]["reference"]
    assert one["differences"] == other["differences"] and one["aucc_differences"] == other["aucc_differences"]

    def sorted_differences(results):
        return sorted(json.dumps(row) for row in results["baseline_differences"])

    assert sorted_differences(one) == sorted_differences(other)


def test_todays_rule_is_a_baseline_and_no_feature(dfcl, tmp_path):
    make(tmp_path, uneven, columns='rule = "rule"\n')
    results = evaluate(dfcl, "good.parquet")
    rule = next(one for one in results["baselines"] if one["kind"] == "rule")
    assert rule["plans"][0]["share_per_arm"][1] == pytest.approx(0.3, abs=0.03)
    over = [one for one in results["baseline_differences"] if one["baseline"] == "rule"]
    assert len(over) == 2 and all(one["answer"] == "yes" for one in over)
    assert over[0]["sentence"] in results["verdict"]["sentence"] + "".join(results["verdict"]["details"])
    table = pq.read_table(tmp_path / "trial.parquet")
    stranger = table.set_column(table.schema.get_field_index("rule"), "rule", pa.array(["perhaps"] * ROWS))
    pq.write_table(stranger, tmp_path / "trial.parquet")
    refused = dfcl("evaluate", "study.toml", "good.parquet")
    assert refused.code == DATA and "'perhaps', which is no arm" in refused.stderr


def test_known_prices_make_plans_whatever_a_file_of_predictions_learned(dfcl, tmp_path):
    make(tmp_path, uneven, arms="cost = { off = 0.0, on = 1.0 }\n", budgets="[0.1]")
    table = pq.read_table(tmp_path / "good.parquet")
    learned = {name: table[name].to_numpy() for name in table.column_names}
    write_predictions(tmp_path / "learned.parquet", learned["id"], learned["revenue_off"], learned["revenue_on"],
                      0.2 + 0 * learned["cost_off"], 1.3 + 0 * learned["cost_on"])  # fmt: skip
    plan = evaluate(dfcl, "learned.parquet", "--include-control")["models"][0]["deployed"][0]
    assert plan["feasible"] and plan["cost"]["value"] == pytest.approx(0.1, abs=1e-3)
    assert plan["cost"]["low"] is None, "a known cost has no interval"


def test_what_revenue_is_worth_is_said_in_one_way(dfcl, tmp_path):
    make(tmp_path, uneven, more="[value]\nmargin = 0.5\nper_revenue = 2.0\n")
    result = dfcl("evaluate", "study.toml", "good.parquet")
    assert result.code == USAGE and "study.toml, [value] per_revenue: " in result.stderr
    make(tmp_path, uneven, more="[value]\nmargin = 0.5\n")
    result = dfcl("evaluate", "study.toml", "good.parquet", "--per-revenue", 2)
    assert result.code == USAGE and "error: --per-revenue: " in result.stderr
    make(tmp_path, uneven)
    assert dfcl("evaluate", "study.toml", "good.parquet", "--margin", 1.5).code == USAGE
    text = dfcl("evaluate", "study.toml", "good.parquet", "--per-revenue", 0.5, "--resamples", 50).stdout
    assert "Pays back: yes. Targeting beats random: yes." in text
    assert "profit over control" in text and "ROI, %" in text and "Against plans that need no model" in text


def test_plans_keep_to_the_limits_of_allocate(dfcl, tmp_path):
    make(tmp_path, lambda x: 4.0 * x, more="[value]\nmargin = 0.5\n")
    table = pq.read_table(tmp_path / "good.parquet")
    ids = table["id"].to_pylist()
    free = evaluate(dfcl, "good.parquet", "--share-of-max", 1)["models"][0]["deployed"][0]["share_per_arm"]
    assert free[1] > 0.5
    (tmp_path / "eligible.csv").write_text("id,eligible_on\n" + "".join(f"{unit},{unit % 2}\n" for unit in ids))
    results = evaluate(dfcl, "good.parquet", "--share-of-max", 1, "--eligible", "eligible.csv")
    assert results["models"][0]["deployed"][0]["share_per_arm"][1] == pytest.approx(free[1] / 2, abs=0.03)
    assert any("only arms that they may get" in line for line in results["how"])
    assert "eligible" in dict(results["made_by"]["options"])
    # A step must return 2 revenue per cost to make a profit at a margin of 0.5: the same as that least return.
    profit, least = (
        evaluate(dfcl, "good.parquet", "--share-of-max", 1, *flags)["models"][0]["deployed"][0]
        for flags in (["--objective", "profit"], ["--min-roi", 2.000001])
    )
    assert profit["share_per_arm"] == least["share_per_arm"] and 0 < profit["share_per_arm"][1] < free[1]
    assert profit["incremental_profit"]["value"] > 0
    refused = dfcl("evaluate", "study.toml", "good.parquet", "--control", "absent")
    assert refused.code != 0 and "absent" in refused.stderr


def test_allocate_reports_incremental_profit(dfcl, tmp_path):
    ids = np.arange(4) + 1
    write_predictions(tmp_path / "p.parquet", ids, np.array([10.0, 10, 10, 10]), np.array([14.0, 13, 12, 11]), np.array([1.0, 1, 1, 1]), np.array([2.0, 2, 2, 2]))
    for flags in (["--objective", "profit"], []):
        result = dfcl("allocate", "p.parquet", "--control", "off", "--budget", 2, "--margin", 0.5, *flags, "--json")
        plan = json.loads(result.stdout)
        # The two best gain 4 and 3 for 1 each: 0.5 x 7 - 2.
        assert plan["incremental_profit"] == pytest.approx(1.5) and plan["incremental_cost"] == pytest.approx(2.0)
        assert plan["roi"] == pytest.approx(0.75)
    text = dfcl("allocate", "p.parquet", "--control", "off", "--budget", 2, "--objective", "profit", "--margin", 0.5).stdout
    assert "over control: 0.5 x incremental revenue - incremental spend; ROI 75.0 %" in text


def test_allocate_takes_what_revenue_is_worth_from_the_models_study(dfcl, tmp_path):
    """The study says it once: plans show profit, and plan for it, without another flag."""
    made = dfcl("simulate", "--preset", "marketing", "--rows", 3000, "--seed", 1, "-o", "trial.parquet", "--study", "study.toml")
    assert made.code == 0, made.stderr
    trained = dfcl("train", "study.toml", "--method", "tsm-boost", "--set", "value.margin=0.4", "-o", "model.safetensors")
    assert trained.code == 0, trained.stderr

    def allocate(*flags):
        result = dfcl("allocate", "model.safetensors", "trial.parquet", "--share-of-max", 0.3, *flags, "--json")
        assert result.code == 0, result.stderr
        return json.loads(result.stdout)

    plan = allocate()
    assert plan["incremental_profit"] == pytest.approx(0.4 * plan["incremental_revenue"] - plan["incremental_cost"])
    profit = allocate("--objective", "profit")
    assert profit["spend"] == allocate("--objective", "profit", "--margin", 0.4)["spend"]
    assert profit["spend"] < allocate("--objective", "profit", "--margin", 1)["spend"]  # what a flag says counts more
    # And the launch is read out with it.
    allocate("--holdout", 0.1, "-o", "plan.parquet")
    outcomes = dfcl("simulate", "--preset", "marketing", "--rows", 3000, "--seed", 1, "--outcomes-of", "plan.parquet", "-o", "outcomes.parquet")
    assert outcomes.code == 0, outcomes.stderr
    read = dfcl("readout", "plan.parquet", "outcomes.parquet", "--json")
    realised = json.loads(read.stdout)["readout"]["realised"]
    gain, cost = realised["incremental_revenue"]["value"], realised["incremental_cost"]["value"]
    assert realised["incremental_profit"]["value"] == pytest.approx(0.4 * gain - cost)
