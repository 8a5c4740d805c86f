# SPDX-License-Identifier: Apache-2.0
"""evaluate end to end: against plain NumPy, the contract of results.json, refusals, and the same bytes every time."""

import json
import shutil
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import answer, good, matrix
from evaluate_oracle import aucc, plan_at, rank_scores, value

USAGE, DATA, FILE, UNFIT = 2, 3, 4, 7
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [Path(os.environ["DFCL_DATA"])] if "DFCL_DATA" in os.environ else sorted(ROOT.parent.glob("*/data"))
ESTIMATORS = ["horvitz-thompson", "hajek", "stratified", "doubly-robust"]


def write_predictions(path, ids, arms, revenue, cost):
    columns = {} if ids is None else {"id": ids}
    for j, arm in enumerate(arms):
        columns[f"revenue_{arm}"] = revenue[:, j].astype(np.float32)
        columns[f"cost_{arm}"] = cost[:, j].astype(np.float32)
    table = pa.table(columns)
    if str(path).endswith(".csv"):
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """A simulated trial, its truth, a model and two files of predictions. Read only."""
    dfcl = run_in(tmp_path_factory.mktemp("made"))
    good(dfcl("simulate", "--preset", "marketing", "--rows", 4000, "--seed", 1, "-o", "trial.parquet", "--study",
              "study.toml", "--truth", "truth.parquet"))  # fmt: skip
    good(dfcl("train", "study.toml", "--method", "tsm", "--epochs", 3, "--seed", 1, "-o", "model.safetensors"))
    good(dfcl("train", "study.toml", "--method", "dpm", "--epochs", 2, "--seed", 1, "-o", "index.safetensors"))
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "predictions.parquet"))
    good(dfcl("predict", "index.safetensors", "trial.parquet", "-o", "index.parquet"))
    return dfcl


def evaluate(dfcl, *arguments):
    return answer(dfcl("evaluate", "study.toml", *arguments, "--resamples", 32, "--json"))


def shipped_plan(dfcl, predictions, per_unit, arms):
    """The arm of each unit in the plan that allocate makes."""
    good(dfcl("allocate", predictions, f"--per-unit={per_unit!r}", "-o", "shipped.parquet"))
    return np.array([arms.index(arm) for arm in pq.read_table(dfcl.folder / "shipped.parquet")["arm"].to_pylist()])


def test_every_estimator_is_that_of_numpy(made):
    trial = pq.read_table(made.folder / "trial.parquet")
    predictions = pq.read_table(made.folder / "predictions.parquet")
    arms = ["0", "5", "10", "15", "20"]
    arm = np.array([arms.index(str(a)) for a in trial["discount"].to_pylist()])
    revenue = trial["orders"].to_numpy().astype(np.float32).astype(float)
    cost = trial["subsidy"].to_numpy().astype(np.float32).astype(float)
    rh, ch = matrix(predictions, "revenue", arms), matrix(predictions, "cost", arms)
    weight = (len(arm) / np.bincount(arm))[arm]
    for estimator in ESTIMATORS:
        results = evaluate(made, "predictions.parquet", "--split", "all", "--estimator", estimator, "--nuisance",
                           "predictions.parquet", "--allow-training-rows")  # fmt: skip
        control = np.zeros(len(arm), dtype=int)
        assert results["control"]["revenue"]["value"] == pytest.approx(value(control, arm, revenue, weight, rh, estimator), rel=1e-10)
        for plan in results["models"][0]["deployed"]:
            chosen = shipped_plan(made, "predictions.parquet", plan["budget_per_unit"], arms)
            # What the increment at the cut, which did not fit, left over was filled.
            units, cut = np.arange(len(arm)), plan_at(rh, ch, plan["multiplier"])
            filled = (ch[units, chosen] - ch[units, cut]).astype(float).sum()
            assert 0 <= filled <= ch.max()
            shares = np.bincount(chosen, minlength=5) / len(chosen)
            assert np.allclose(shares, plan["share_per_arm"], atol=1e-12)
            assert plan["revenue"]["value"] == pytest.approx(value(chosen, arm, revenue, weight, rh, estimator), rel=1e-10)
            assert plan["cost"]["value"] == pytest.approx(value(chosen, arm, cost, weight, ch, estimator), rel=1e-10)
            assert plan["predicted_cost"] <= plan["budget_per_unit"]
            assert plan["predicted_cost"] == pytest.approx(ch[np.arange(len(arm)), chosen].astype(float).mean(), rel=1e-9)
            for figure in ("revenue", "cost", "incremental_revenue", "return_per_cost"):
                assert plan[figure]["low"] < plan[figure]["value"] < plan[figure]["high"]
        fit = results["models"][0]["fit"]
        assert fit["revenue"]["mse"] == pytest.approx(np.mean((revenue - rh[np.arange(len(arm)), arm]) ** 2), rel=1e-9)
        assert fit["revenue"]["log_loss"] is None


@pytest.mark.parametrize("ranking", ["angle", "published"])
def test_published_aucc_on_the_criteo_sample_is_that_of_numpy(dfcl, tmp_path, ranking):
    path = next((folder / "criteo_200k.parquet" for folder in FOLDERS if (folder / "criteo_200k.parquet").exists()), None)
    if path is None:
        pytest.skip("criteo_200k.parquet is not here: DFCL_DATA can name its folder")
    # Of all features together the trial is a little imbalanced, and would be adjusted: these are balanced.
    (tmp_path / "study.toml").write_text(
        f'format = 2\n[data]\ntrial = "{path}"\n[columns]\narm = "treatment"\nrevenue = "conversion"\ncost = "visit"\nfeatures = ["f0", "f4"]\n[budgets]\nper_unit = [0.003]\n'
    )
    trial = pq.read_table(path)
    random = np.random.default_rng(3)
    features = np.stack([trial[f"f{i}"].to_numpy() for i in range(12)], axis=1)
    scores = (features - features.mean(0)) / features.std(0) @ random.normal(size=(12, 4)) / 10
    revenue = np.stack([0.003 + 0 * scores[:, 0], 0.003 + 0.001 * scores[:, 1]], axis=1).astype(np.float32)
    cost = np.stack([0.04 + 0 * scores[:, 2], 0.05 + 0.01 * scores[:, 3]], axis=1).astype(np.float32)  # some below control's
    write_predictions(tmp_path / "predictions.parquet", None, ["0", "1"], revenue, cost)
    run = dfcl("evaluate", "study.toml", "predictions.parquet", "--split", "all", "--resamples", 100, "--ranking", ranking, "--estimator", "hajek", "--json")
    assert run.code in (0, UNFIT), run.stderr
    found = json.loads(run.stdout)["models"][0]["aucc"][0]
    extra_revenue = revenue[:, 1].astype(float) - revenue[:, 0]
    extra_cost = cost[:, 1].astype(float) - cost[:, 0]
    treated = trial["treatment"].to_numpy() == 1
    published, area = aucc(rank_scores(extra_revenue, extra_cost, ranking), treated, trial["conversion"].to_numpy(), trial["visit"].to_numpy(), 200)
    assert found["published"]["value"] == pytest.approx(published, rel=1e-12)
    assert found["area"]["value"] == pytest.approx(area, rel=1e-9)
    # 74 conversions in control: the gain is not away from zero, so no share of it has an interval.
    assert found["published"]["low"] is None and found["area"]["high"] is None
    assert "unnormalised" in found["note"]
    assert found["unnormalised_area"]["low"] < found["unnormalised_area"]["value"] < found["unnormalised_area"]["high"]


def test_results_hold_what_the_report_needs(made):
    results = evaluate(made, "model.safetensors", "truth.parquet", "--truth", "truth.parquet", "--segment", "city", "--segment", "orders_7d")
    assert results["format"] == "dfcl-results" and results["kind"] == "evaluation"
    assert ["seed", "0"] in results["made_by"]["options"]
    assert results["report"]["revenue_name"] == "orders" and results["report"]["cost_name"] == "subsidy"
    assert results["verdict"]["status"] in ("gain_shown", "not_shown")
    assert [one["kind"] for one in results["baselines"]] == ["random", "single_arm", "control"]
    assert len(results["baseline_differences"]) == 2 * 3 * 6
    assert results["trial"]["split"] == "test"
    assert sum(arm["units"] for arm in results["trial"]["arms"]) == results["trial"]["units"]
    assert len(results["budgets"]) == 6
    assert results["check"]["verdict"] == "fit"
    model, truth = results["models"]
    assert truth["reference"] and not model["reference"], "the best is the reference"
    for model in results["models"]:
        assert len(model["deployed"]) == len(model["matched"]) == 6
        assert len(model["curve"]) == 41
        budgets = [point["budget_per_unit"] for point in model["curve"]]
        assert budgets == sorted(budgets)
        assert [entry["arm"] for entry in model["aucc"]] == ["5", "10", "15", "20"]
        assert len(model["calibration"]["revenue"]) == 10
        assert [segment["column"] for segment in model["segments"]] == ["city", "orders_7d"]
        for segment in model["segments"]:
            assert 1 < len(segment["values"]) <= 20
            assert sum(entry["units"] for entry in segment["values"]) == results["trial"]["units"]
            for entry in segment["values"]:
                assert np.allclose(np.sum(entry["share_per_arm"], axis=1), 1.0)
    for plan in truth["deployed"]:
        assert plan["share_of_oracle"] == pytest.approx(1.0, abs=0.01)
    assert len(results["oracle"]["at_budgets"]) == 6
    assert len(results["differences"]) == 6
    assert all(entry["sentence"] for entry in results["differences"])
    assert len(results["aucc_differences"]) == 4


def test_the_same_bytes_for_any_number_of_threads(made):
    texts = []
    for threads in (1, 2, 8):
        run = ["evaluate", "study.toml", "model.safetensors", "predictions.parquet", "truth.parquet", "--seed", 5, "--resamples", 50]
        good(made(*run, "--threads", threads, "-o", "threads.json"))
        texts.append((made.folder / "threads.json").read_bytes())
    assert texts[0] == texts[1] == texts[2]
    good(made(*run[:-4], "--seed", 6, "--resamples", 50, "-o", "threads.json"))
    assert (made.folder / "threads.json").read_bytes() != texts[0]


def test_names_of_models_do_not_depend_on_their_order(made):
    files = ["twin.a.safetensors", "twin.b.safetensors"]
    for file in files:
        shutil.copy(made.folder / "model.safetensors", made.folder / file)
    for order in (files, files[::-1]):
        assert [model["name"] for model in evaluate(made, *order)["models"]] == order


def test_a_model_and_its_predictions_earn_exactly_the_same(made):
    results = evaluate(made, "model.safetensors", "predictions.parquet", "model.safetensors")
    assert [model["name"] for model in results["models"]] == ["model", "predictions", "model-2"]
    for difference in results["differences"]:
        assert difference["revenue"] == {"value": 0.0, "low": 0.0, "high": 0.0}
        assert difference["simultaneous"] == {"low": 0.0, "high": 0.0}
        assert difference["p_value"] == 1.0


def test_predictions_are_joined_by_id_whatever_their_order(made):
    table = pq.read_table(made.folder / "predictions.parquet")
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    pyarrow.csv.write_csv(shuffled, made.folder / "shuffled.csv")
    one = evaluate(made, "predictions.parquet")
    two = evaluate(made, "shuffled.csv")
    for a, b in zip(one["models"][0]["deployed"], two["models"][0]["deployed"]):
        assert a["revenue"] == b["revenue"]


def test_deployed_multipliers_do_not_see_outcomes(made):
    trial = pq.read_table(made.folder / "trial.parquet")
    orders = trial["orders"].to_numpy()
    changed = trial.set_column(trial.schema.get_field_index("orders"), "orders", pa.array(orders[::-1].copy()))
    pq.write_table(changed, made.folder / "changed.parquet")
    one = evaluate(made, "predictions.parquet")
    two = evaluate(made, "predictions.parquet", "--set", "data.trial=changed.parquet")
    for a, b in zip(one["models"][0]["deployed"], two["models"][0]["deployed"]):
        assert a["multiplier"] == b["multiplier"] and a["share_per_arm"] == b["share_per_arm"]
        assert a["revenue"]["value"] != b["revenue"]["value"]


def test_an_index_is_no_forecast(made):
    for name in ("index.safetensors", "index.parquet"):
        results = evaluate(made, name)
        assert results["estimator"] == "doubly-robust"
        assert results["nuisance"] == "boosted trees fitted and calibrated on the training and validation rows"
        assert results["models"][0]["index"]
        assert results["models"][0]["fit"] is None and results["models"][0]["calibration"] is None
    with_nuisance = evaluate(made, "index.parquet", "--nuisance", "predictions.parquet")
    assert with_nuisance["estimator"] == "doubly-robust" and "predictions" in with_nuisance["nuisance"]
    for predictions in (["index.safetensors", "trial.parquet"], ["index.parquet"], ["index.parquet", "--stream"]):
        planned = good(made("allocate", *predictions, "--per-unit", "0.1", "-o", "index-plan.parquet"))
        assert "an index, not money" in planned.stderr
        assert "revenue_is_index" in made("info", "index-plan.parquet").stdout
    assert "index" not in good(made("allocate", "predictions.parquet", "--per-unit", "0.1")).stderr
    refused = made("evaluate", "study.toml", "predictions.parquet", "--nuisance", "index.parquet")
    assert refused.code == USAGE and "efficiencies" in refused.stderr


def test_a_model_of_another_outcome_is_pointed_out(made):
    run = made("evaluate", "study.toml", "model.safetensors", "--resamples", 16, "--set", "columns.revenue=subsidy",
               "--set", "columns.cost=orders")  # fmt: skip
    assert "learned 'orders' as revenue, the study's is 'subsidy'" in run.stderr
    run = good(made("evaluate", "study.toml", "model.safetensors", "--resamples", 16))
    assert "learned" not in run.stderr


def test_budgets_come_from_flags_or_the_study(made):
    assert [b["per_unit"] for b in evaluate(made, "predictions.parquet", "--per-unit", "0.3,0.1")["budgets"]] == [0.3, 0.1]
    total = evaluate(made, "predictions.parquet", "--budget", "400", "--split", "all", "--allow-training-rows")["budgets"][0]
    assert total["per_unit"] == pytest.approx(0.1) and total["total"] == pytest.approx(400)
    share = evaluate(made, "predictions.parquet", "--share-of-max", "0.05")["budgets"][0]["per_unit"]
    assert share == pytest.approx(evaluate(made, "predictions.parquet")["budgets"][0]["per_unit"])
    refused = made("evaluate", "study.toml", "predictions.parquet", "--budget", 1, "--per-unit", 1)
    assert refused.code == USAGE and "more than one way" in refused.stderr


def test_a_budget_below_the_cheapest_plan_is_said(made):
    plan = evaluate(made, "predictions.parquet", "--per-unit=-1")["models"][0]["deployed"][0]
    assert plan["feasible"] is False and plan["share_per_arm"][0] == 1.0


def test_analytic_intervals_need_no_resamples(made):
    analytic = evaluate(made, "predictions.parquet", "truth.parquet", "--intervals", "analytic")
    assert analytic["resamples"] == 0 and analytic["intervals"] == "analytic"
    plan = analytic["models"][1]["deployed"][3]
    assert plan["revenue"]["low"] < plan["revenue"]["value"] < plan["revenue"]["high"]
    assert analytic["models"][0]["aucc"][0]["area"]["low"] is None
    none = good(made("evaluate", "study.toml", "predictions.parquet", "--resamples", 0, "--json"))
    assert json.loads(none.stdout)["models"][0]["deployed"][0]["revenue"]["low"] is None


def test_rows_a_model_was_trained_on_are_refused(made):
    refused = made("evaluate", "study.toml", "model.safetensors", "--split", "train", "-o", "refused.json")
    assert refused.code == DATA and "was trained or chosen on" in refused.stderr
    assert not (made.folder / "refused.json").exists()
    run = good(made("evaluate", "study.toml", "model.safetensors", "--split", "train", "--allow-training-rows", "--resamples", 16, "--json"))
    assert "flatter" in run.stderr
    assert ["allow_training_rows", "true"] in json.loads(run.stdout)["made_by"]["options"]


def small_trial(folder, rows=400, **columns):
    """A trial of two arms with clusters and propensities, and predictions for it."""
    random = np.random.default_rng(7)
    x = random.random(rows)
    probability = 0.3 + 0.4 * x
    treated = random.random(rows) < probability
    table = {
        "unit": [f"u{i}" for i in range(rows)],
        "arm": np.where(treated, "on", "off"),
        "earned": (1 + x * treated + random.exponential(1.0, rows)).round(3),
        "spent": np.where(treated, 0.5 + random.random(rows), 0.0).round(3),
        "p": np.where(treated, probability, 1 - probability),
        "household": np.arange(rows) // 2,
        "x": x,
        **columns,
    }
    pyarrow.csv.write_csv(pa.table(table), folder / "small.csv")
    (folder / "small.toml").write_text(
        'format = 2\n[data]\ntrial = "small.csv"\n[columns]\nid = "unit"\narm = "arm"\nrevenue = "earned"\ncost = "spent"\n'
        'propensity = "p"\ncluster = "household"\nwinsorize = { revenue = 0.99 }\n[arms]\ncontrol = "off"\n'
        '[budgets]\nper_unit = [0.2, 0.4]\n[report]\ntitle = "Small"\ncurrency = "EUR"\nrevenue_name = "sales"\n'
    )
    ones = np.ones(rows)
    write_predictions(folder / "small-predictions.csv", table["unit"], ["on", "off"], np.stack([1 + x, ones], 1), np.stack([ones, 0 * ones], 1))
    return {name: np.asarray(column) for name, column in table.items()}


def test_propensities_clusters_and_winsorised_outcomes(dfcl, tmp_path):
    table = small_trial(tmp_path)
    for estimator in ESTIMATORS:
        run = dfcl("evaluate", "small.toml", "small-predictions.csv", "--split", "all", "--estimator", estimator, "--nuisance", "small-predictions.csv", "--resamples", 64, "--json")
        assert run.code in (0, UNFIT), run.stderr
        results = json.loads(run.stdout)
        assert results["trial"]["clusters"] == 200
        assert results["report"]["title"] == "Small" and results["report"]["revenue_name"] == "sales"
        assert "EUR" in results["verdict"]["details"][0]
        plan = results["models"][0]["deployed"][1]
        arm = (table["arm"] == "on").astype(int)
        rh = np.stack([np.ones(400), 1 + table["x"]], 1).astype(np.float32)
        ch = np.stack([np.zeros(400), np.ones(400)], 1).astype(np.float32)
        chosen = np.zeros(400, dtype=int)
        chosen[np.argsort(-rh[:, 1], kind="stable")[:160]] = 1  # 0.4 a unit at a predicted cost of 1
        weight = 1.0 / table["p"].astype(np.float32).astype(float)
        cost = value(chosen, arm, table["spent"].astype(np.float32).astype(float), weight, ch, estimator)
        assert plan["cost"]["value"] == pytest.approx(cost, rel=1e-9)
        assert plan["share_per_arm"][1 if results["trial"]["arms"][1]["label"] == "on" else 0] == pytest.approx(0.4)
        assert plan["cost"]["low"] < cost < plan["cost"]["high"]


def refused(dfcl, folder, *arguments):
    result = dfcl("evaluate", *arguments, "-o", "refused.json")
    assert result.code == DATA, result.stderr
    assert not (folder / "refused.json").exists()
    return result.stderr


def test_bad_input_is_refused_and_nothing_is_written(dfcl, tmp_path):
    table = small_trial(tmp_path)
    ones = np.ones((400, 2))
    ids = np.array(table["unit"], dtype=object)
    ids[:30] = [f"stranger{i}" for i in range(30)]
    write_predictions(tmp_path / "strangers.csv", list(ids), ["on", "off"], ones, ones)
    message = refused(dfcl, tmp_path, "small.toml", "strangers.csv", "--split", "all")
    assert "30 of 400 units are not there" in message and "30 of the 400 rows given" in message
    write_predictions(tmp_path / "one-arm.csv", table["unit"], ["off"], ones[:, :1], ones[:, :1])
    assert "no prediction for arm 'on'" in refused(dfcl, tmp_path, "small.toml", "one-arm.csv")
    empty = ["--set", "split.test=0", "--set", "split.train=0.9"]
    assert "the test split is empty" in refused(dfcl, tmp_path, "small.toml", "small-predictions.csv", *empty)
    small_trial(tmp_path, earned=np.zeros(400))
    assert "earned anything" in refused(dfcl, tmp_path, "small.toml", "small-predictions.csv", "--set", "columns.winsorize={}")
    for count, message in ((1, "arm 'on' has one unit in the test split"), (0, "no unit of arm 'on' in the test split")):
        part = np.where(table["arm"] == "on", "train", "test")
        part[np.flatnonzero(table["arm"] == "on")[:count]] = "test"
        small_trial(tmp_path, part=part)
        study = (tmp_path / "small.toml").read_text().replace('cluster = "household"\n', "")
        (tmp_path / "small.toml").write_text(study)
        options = ["--set", "split.by=part", "--set", 'columns.exclude=["household"]']
        assert message in refused(dfcl, tmp_path, "small.toml", "small-predictions.csv", *options)
    assert dfcl("evaluate", "small.toml", "absent.csv").code == FILE
    assert ".json" in dfcl("evaluate", "small.toml", "small-predictions.csv", "-o", "results.csv").stderr
    assert dfcl("evaluate", "small.toml", "small-predictions.csv", "--split", "tset").code == USAGE
    small_trial(tmp_path)
    unknown = dfcl("evaluate", "small.toml", "small-predictions.csv", "--split", "all", "--segment", "houshold")
    assert unknown.code == DATA and "household" in unknown.stderr


def test_an_output_never_replaces_an_input(dfcl, tmp_path):
    small_trial(tmp_path)
    before = (tmp_path / "small-predictions.csv").read_bytes()
    result = dfcl("evaluate", "small.toml", "small-predictions.csv", "--split", "all", "-o", "small-predictions.csv")
    assert result.code == USAGE
    assert (tmp_path / "small-predictions.csv").read_bytes() == before


def test_an_unfit_trial_is_never_a_launch(dfcl, tmp_path):
    small_trial(tmp_path)
    study = (tmp_path / "small.toml").read_text().replace('propensity = "p"\n', "")
    (tmp_path / "small.toml").write_text(study.replace('control = "off"\n', 'control = "off"\nshare = { on = 0.9, off = 0.1 }\n'))
    result = dfcl("evaluate", "small.toml", "small-predictions.csv", "--split", "all", "--resamples", 32, "-o", "unfit.json")
    assert result.code == UNFIT, result.stderr
    results = json.loads((tmp_path / "unfit.json").read_text())
    assert results["verdict"]["status"] == "unfit" and results["check"]["verdict"] == "unfit"
