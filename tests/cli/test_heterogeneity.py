# SPDX-License-Identifier: Apache-2.0
"""Uplift by decile, effects by segment and plans as rules: what evaluate says of them, and allocate --rule tree."""

import csv
import json
import pathlib

import numpy as np
import pytest
from conftest import answer, good
from scikit_uplift_figures import TRIALS, make_trial

STUDY = """format = 2
[data]
trial = "{trial}"
[columns]
id = "id"
arm = "arm"
revenue = "revenue"
cost = "cost"
[arms]
control = "0"
order = ["0", "5", "10"]
[budgets]
per_unit = [0.1, 0.3]
[report]
segments = ["region"]
[boost]
leaves = 15  # the best arm hangs on three columns at once (docs/decisions/0146)
"""


def write_rows(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture(scope="module")
def north(run_in, tmp_path_factory):
    """A trial whose truth is a tree: in the north more than two orders make arm 10 pay, elsewhere a score above 0.4 arm 5."""
    dfcl = run_in(tmp_path_factory.mktemp("north"))
    random, units = np.random.default_rng(1), 9000
    orders, score, dust = random.integers(0, 10, units), random.random(units), random.random(units)
    region, arm = random.choice(["north", "east", "south"], units), random.choice(["0", "5", "10"], units, p=[0.4, 0.3, 0.3])
    best = np.where(region == "north", np.where(orders > 2, "10", "0"), np.where(score > 0.4, "5", "0"))
    gain = np.where(arm == "0", 0.0, np.where(arm == best, 3.0, -0.2))
    revenue = np.maximum(0.0, 5.0 + 0.3 * orders + gain + random.normal(0, 2, units))
    cost = np.where(arm == "0", 0.0, np.where(arm == "5", 0.5, 1.0))
    dfcl.header = ["id", "orders", "score", "dust", "region", "arm", "revenue", "cost"]
    dfcl.rows = [
        [f"u{i}", orders[i], round(score[i], 4), round(dust[i], 4), region[i], arm[i], round(revenue[i], 3), cost[i]]
        for i in range(units)
    ]
    write_rows(dfcl.folder / "trial.csv", dfcl.header, dfcl.rows)
    (dfcl.folder / "study.toml").write_text(STUDY.format(trial="trial.csv"))
    good(dfcl("train", "study.toml", "--method", "tsm-boost", "-o", "model.safetensors", "--quiet"))
    dfcl.results = answer(dfcl("evaluate", "study.toml", "model.safetensors", "--resamples", 64, "--json"))
    return dfcl


def ends(interval):
    return interval["low"] <= interval["value"] <= interval["high"]


def test_the_rule_is_found_and_judged(north):
    trees = north.results["models"][0]["policy_trees"]
    assert [tree["budget_per_unit"] for tree in trees] == [0.1, 0.3]
    said = "\n".join(leaf["units"] for leaf in trees[1]["leaves"])
    assert "region is not north and score more than 0.4" in said and "region is north and orders more than" in said
    for tree in trees:
        assert len(tree["leaves"]) <= 8 and sum(leaf["num_units"] for leaf in tree["leaves"]) == north.results["trial"]["units"]
        assert tree["predicted_cost"] <= 1.05 * tree["budget_per_unit"]  # kept on other rows than these
        assert ends(tree["net_difference"]) and ends(tree["incremental_revenue"])
        asked = [node for node in tree["nodes"] if node["question"]]
        leaves = sorted(node["leaf"] for node in tree["nodes"] if not node["question"])
        assert len(asked) + 1 == len(leaves) and leaves == list(range(len(leaves)))
        difference = tree["revenue_difference"]["value"] - tree["price"] * tree["cost_difference"]["value"]
        assert tree["net_difference"]["value"] == pytest.approx(difference, abs=1e-9)


def test_effects_by_segment_find_for_whom_it_works(north):
    effects = {(one["found"], one["column"]): one for one in north.results["effects"]}
    assert list(effects) == [("all", ""), ("column", "region"), ("tree", "")]
    by_region = {value["value"]: {arm["arm"]: arm for arm in value["arms"]} for value in effects["column", "region"]["values"]}
    assert by_region["north"]["10"]["answer"] == "yes" and by_region["north"]["5"]["answer"] != "yes"
    assert by_region["east"]["5"]["answer"] == "yes" and by_region["east"]["10"]["answer"] != "yes"
    for arms in by_region.values():
        for arm in arms.values():
            alone, at_once = arm["revenue"], arm["simultaneous"]
            assert at_once["low"] < alone["low"] < alone["high"] < at_once["high"]
    whole = effects["all", ""]["values"][0]
    for i, arm in enumerate(whole["arms"]):  # the parts make the whole
        parts = sum(value["share"] * value["arms"][i]["revenue"]["value"] for value in effects["tree", ""]["values"])
        assert arm["revenue"]["value"] == pytest.approx(parts, abs=1e-9)


def test_deciles_fall_with_predicted_uplift(north):
    rankings = north.results["models"][0]["uplift"]
    assert [(one["arm"], one.get("budget_per_unit")) for one in rankings] == [("5", None), ("10", None), ("", 0.1), ("", 0.3)]
    for ranking in rankings:
        deciles = ranking["deciles"]
        assert len(deciles) == 10 and deciles[0]["uplift"]["low"] > deciles[9]["uplift"]["high"]
        assert ranking["calibration_slope"]["low"] > 0.5
        if ranking["arm"]:
            assert ranking["qini_curve"][0]["value"] == 0 and ranking["qini_curve"][-1]["x"] == 1
            middle = ranking["qini_curve"][50]
            assert middle["value"] > middle["random"]
            assert ranking["cost_curve"][-1]["value"] == pytest.approx(ranking["cost_curve"][-1]["random"])


def test_an_index_is_one_for_trees_too(north):
    """Predictions that do not say what they are: with --index no segments are sought in numbers that are no revenue."""
    good(north("predict", "model.safetensors", "trial.csv", "-o", "bare.csv"))
    (north.folder / "bare.csv.meta.json").unlink()
    evaluate = ("evaluate", "study.toml", "bare.csv", "--resamples", 0, "--json")
    found = [one["found"] for one in answer(north(*evaluate))["effects"]]
    assert found == ["all", "column", "tree"]
    assert [one["found"] for one in answer(north(*evaluate, "--index"))["effects"]] == ["all", "column"]


def test_segments_with_few_units_say_so(north):
    rows = [[*row, "rare" if i % 300 == 0 else "common"] for i, row in enumerate(north.rows)]
    write_rows(north.folder / "tiers.csv", [*north.header, "tier"], rows)
    (north.folder / "tiers.toml").write_text(STUDY.format(trial="tiers.csv") .replace('["region"]', '["tier"]'))
    results = answer(north("evaluate", "tiers.toml", "model.safetensors", "--resamples", 0, "--json"))
    values = {value["value"]: value for value in results["effects"][1]["values"]}
    assert {arm["answer"] for arm in values["rare"]["arms"]} == {"too_few"}
    assert values["rare"]["arms"][0]["revenue"]["value"] is None
    assert "too_few" not in {arm["answer"] for arm in values["common"]["arms"]}


def test_any_order_threads_and_files_say_the_same(north):
    texts = []
    for seed, files, threads in [(0, 1, 1), (1, 3, 2), (2, 5, 8)]:
        rows = [north.rows[i] for i in np.random.default_rng(seed).permutation(len(north.rows))]
        folder = north.folder / f"trial-{seed}"
        folder.mkdir()
        for part in range(files):
            write_rows(folder / f"{part}.csv", north.header, rows[part::files])
        (north.folder / "shuffled.toml").write_text(STUDY.format(trial=f"trial-{seed}"))
        results = answer(north("evaluate", "shuffled.toml", "model.safetensors", "--resamples", 32, "--threads", threads, "--json"))
        planned = answer(north("allocate", "model.safetensors", f"trial-{seed}", "--per-unit", 0.2, "--rule", "tree",
                               "--threads", threads, "--json"))  # fmt: skip
        del planned["seconds"]
        texts.append(json.dumps([results["models"], results["effects"], planned]))
    assert texts[1] == texts[0] and texts[2] == texts[0]


def test_allocate_plans_by_a_rule(north):
    best = answer(north("allocate", "model.safetensors", "trial.csv", "--per-unit", 0.3, "--json"))
    plan = answer(north("allocate", "model.safetensors", "trial.csv", "--per-unit", 0.3, "--rule", "tree", "-o", "plan.csv", "--json"))
    rule = plan["policy_tree"]
    assert plan["incremental_cost"] <= plan["budget"] and plan["left"] >= 0
    assert 0.8 * best["incremental_revenue"] < plan["incremental_revenue"] <= best["incremental_revenue"]
    assert rule["plan_value"] == best["value"] and plan["bound"] == best["bound"]
    assert sum(leaf["num_units"] for leaf in rule["leaves"]) == plan["units"] and len(rule["leaves"]) <= 8
    with open(north.folder / "plan.csv") as file:
        arms = {row["id"]: row["arm"] for row in csv.DictReader(file)}
    units = {arm: sum(leaf["num_units"] for leaf in rule["leaves"] if leaf["arm"] == arm) for arm in ("0", "5", "10")}
    assert {arm: list(arms.values()).count(arm) for arm in units} == units
    # The rule as it reads: two conditions, applied by hand.
    said = {leaf["units"]: leaf["arm"] for leaf in rule["leaves"]}
    cut = next(words for words in said if words.startswith("region is not north and score more than ")).rsplit(" ", 1)[1]
    for row in north.rows:
        if row[4] != "north" and row[2] > float(cut):
            assert arms[row[0]] == "5"
    text = good(north("allocate", "model.safetensors", "trial.csv", "--per-unit", 0.3, "--rule", "tree")).stdout
    assert f"region is not north and score more than {cut}: arm '5'" in text


def test_a_price_alone_gives_the_best_rule_at_it(north):
    plan = answer(north("allocate", "model.safetensors", "trial.csv", "--multiplier", 1, "--rule", "tree", "--json"))
    for leaf in plan["policy_tree"]["leaves"]:
        if leaf["arm"] != "0":
            assert leaf["predicted_revenue"] > leaf["predicted_cost"]


@pytest.mark.parametrize("flags", [["--holdout", "0.1"], ["--curve", "5"], ["--max-units", "5=3"]])
def test_a_rule_goes_with_a_budget_only(north, flags):
    budget = [] if "--curve" in flags else ["--per-unit", "0.1"]
    result = north("allocate", "model.safetensors", "trial.csv", *budget, "--rule", "tree", *flags)
    assert result.code == 2 and f"cannot be combined with {flags[0]}" in result.stderr


def test_a_rule_needs_features(north):
    good(north("predict", "model.safetensors", "trial.csv", "-o", "predictions.csv"))
    result = north("allocate", "predictions.csv", "--per-unit", "0.1", "--rule", "tree")
    assert result.code == 2 and "a model and units" in result.stderr
    # And predictions of the evaluated rows alone have no others to fit one to.
    with open(north.folder / "predictions.csv") as file:
        predictions = list(csv.reader(file))
    good(north("evaluate", "study.toml", "model.safetensors", "--resamples", 0, "--split-out", "splits.csv"))
    with open(north.folder / "splits.csv") as file:
        test = {row["id"] for row in csv.DictReader(file) if row["split"] == "test"}
    write_rows(north.folder / "some.csv", predictions[0], [row for row in predictions[1:] if row[0] in test])
    results = answer(north("evaluate", "study.toml", "some.csv", "--resamples", 0, "--json"))
    assert results["models"][0]["policy_trees"] == []
    assert any("only rows that are evaluated" in sentence for sentence in results["how"])


@pytest.mark.parametrize("name", TRIALS)
def test_qini_and_deciles_are_scikit_uplifts(dfcl, name):
    expected = json.loads(pathlib.Path(__file__).with_name("scikit_uplift_figures.json").read_text())[name]
    uplift, treated, outcome = make_trial(*TRIALS[name])
    units = range(len(uplift))
    write_rows(dfcl.folder / "trial.csv", ["id", "x", "arm", "revenue", "cost"],
               [[i, uplift[i], treated[i], outcome[i], 0.5 * treated[i]] for i in units])  # fmt: skip
    write_rows(dfcl.folder / "model.csv", ["id", "revenue_0", "revenue_1", "cost_0", "cost_1"],
               [[i, 0, uplift[i], 0, 0.5] for i in units])  # fmt: skip
    (dfcl.folder / "study.toml").write_text(
        'format = 2\n[data]\ntrial = "trial.csv"\n[columns]\nid = "id"\narm = "arm"\nrevenue = "revenue"\ncost = "cost"\n'
        '[arms]\ncontrol = "0"\n[budgets]\nper_unit = [0.1]\n')  # fmt: skip
    results = answer(dfcl("evaluate", "study.toml", "model.csv", "--split", "all", "--estimator", "hajek", "--resamples", 0, "--json"))
    model = results["models"][0]
    assert model["qini"][0]["qini"]["value"] == pytest.approx(expected["qini_auc_score"], rel=1e-9)
    deciles = model["uplift"][0]["deciles"]
    means = [decile["difference_in_means"]["value"] for decile in deciles]
    assert means == pytest.approx(expected["uplift_by_percentile"], rel=1e-9)
    counts = np.add(expected["n_treatment"], expected["n_control"])
    assert [decile["units"] for decile in deciles] == list(counts)
