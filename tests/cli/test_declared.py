# SPDX-License-Identifier: Apache-2.0
"""What an evaluation rests on follows from the study: estimator, nuisance, test rows. What is put in its place is said."""

import json
import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import good

USAGE, DATA = 2, 3
CACHE = ".study.toml.nuisance.safetensors"


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """A simulated trial, its truth and two models. Read only: tests work in copies."""
    dfcl = run_in(tmp_path_factory.mktemp("declared"))
    good(dfcl("simulate", "--preset", "marketing", "--rows", 3000, "--seed", 1, "-o", "trial.parquet", "--study",
              "study.toml", "--truth", "truth.parquet"))  # fmt: skip
    for method in ("tsm", "cn"):
        good(dfcl("train", "study.toml", "--method", method, "--epochs", 2, "-o", f"{method}.safetensors"))
    good(dfcl("predict", "tsm.safetensors", "trial.parquet", "-o", "predictions.parquet"))
    return dfcl


@pytest.fixture
def dfcl(made, run_in, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(made.folder, folder)
    return run_in(folder)


def run(dfcl, *arguments):
    return good(dfcl("evaluate", "study.toml", *arguments, "--resamples", 32, "--json"))


def evaluate(dfcl, *arguments):
    return json.loads(run(dfcl, *arguments).stdout)


def test_the_order_of_the_models_changes_nothing_but_their_order(dfcl):
    one = evaluate(dfcl, "tsm.safetensors", "cn.safetensors", "truth.parquet")
    other = evaluate(dfcl, "truth.parquet", "cn.safetensors", "tsm.safetensors")
    alone = evaluate(dfcl, "cn.safetensors")

    def by_name(results):
        return {model["name"]: json.dumps({**model, "reference": None}) for model in results["models"]}

    def differences(results):
        return sorted(json.dumps(entry) for entry in results["baseline_differences"])

    assert by_name(one) == by_name(other)
    assert differences(one) == differences(other)
    assert one["baselines"] == other["baselines"]
    for key in ("control", "nuisance", "estimator"):
        assert one[key] == other[key] == alone[key], key
    assert one["verdict"]["sentence"] == other["verdict"]["sentence"]
    # Which models are judged beside it does not change a model's own figures either.
    for a, b in zip(one["models"][1]["deployed"], alone["models"][0]["deployed"]):
        for figure in ("revenue", "incremental_revenue", "cost", "hajek_incremental_revenue"):
            assert a[figure] == b[figure]


def test_a_kept_nuisance_gives_the_same_bytes_as_a_new_one(dfcl):
    cold = run(dfcl, "tsm.safetensors")
    assert "fitted the nuisance" in cold.stderr and f"kept in {CACHE}" in cold.stderr
    cache = dfcl.folder / CACHE
    kept = cache.read_bytes()
    warm = run(dfcl, "tsm.safetensors")
    assert warm.stdout == cold.stdout and "fitted" not in warm.stderr
    assert cache.read_bytes() == kept
    assert "fitted" not in run(dfcl, "tsm.safetensors", "--seed", 7).stderr, "the seed of resamples is not its seed"
    assert ["nuisance", json.loads(good(dfcl("info", CACHE, "--json")).stdout)["fingerprint"]] in json.loads(cold.stdout)["made_by"]["options"]


def test_the_nuisance_is_the_same_for_any_number_of_threads(dfcl):
    texts = []
    for threads in (1, 2, 8):
        (dfcl.folder / CACHE).unlink(missing_ok=True)
        texts.append((run(dfcl, "tsm.safetensors", "--threads", threads).stdout, (dfcl.folder / CACHE).read_bytes()))
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("harm", ["cut", "flipped", "text", "empty"])
def test_a_damaged_nuisance_is_fitted_anew(dfcl, harm):
    fresh = run(dfcl, "tsm.safetensors").stdout
    cache = dfcl.folder / CACHE
    kept = cache.read_bytes()
    flipped = bytearray(kept)
    flipped[len(kept) - 9] ^= 0x40
    cache.write_bytes({"cut": kept[: len(kept) // 2], "flipped": bytes(flipped), "text": b"not a model", "empty": b""}[harm])
    again = run(dfcl, "tsm.safetensors")
    assert again.stdout == fresh and "fitted the nuisance" in again.stderr
    assert cache.read_bytes() == kept


def test_a_place_that_cannot_be_written_to_is_no_error(dfcl):
    fresh = run(dfcl, "tsm.safetensors").stdout
    (dfcl.folder / CACHE).unlink()
    (dfcl.folder / CACHE).mkdir()
    for _ in range(2):
        again = run(dfcl, "tsm.safetensors")
        assert again.stdout == fresh and "fitted the nuisance" in again.stderr and "kept" not in again.stderr
    assert sorted(entry.name for entry in dfcl.folder.iterdir() if entry.name.startswith(".")) == [CACHE]


@pytest.mark.parametrize("change", ["split.seed=1", "columns.exclude=['city']", "data.trial=other.parquet"])
def test_a_nuisance_of_other_data_is_not_used(dfcl, change):
    trial = pq.read_table(dfcl.folder / "trial.parquet")
    orders = trial["orders"].to_numpy()[::-1].copy()
    pq.write_table(trial.set_column(trial.schema.get_field_index("orders"), "orders", pa.array(orders)), dfcl.folder / "other.parquet")
    run(dfcl, "truth.parquet")
    assert "fitted the nuisance" in run(dfcl, "truth.parquet", "--set", change).stderr
    # How the study's own models are trained, and which budgets it has, are no part of it.
    run(dfcl, "truth.parquet")
    for setting in ("method.epochs=9", "boost.trees=7", "budgets.per_unit=[0.2]", "value.margin=0.3"):
        assert "fitted" not in run(dfcl, "truth.parquet", "--set", setting).stderr, setting


def test_the_nuisance_never_sees_test_rows(dfcl):
    run(dfcl, "truth.parquet")
    before = good(dfcl("predict", CACHE, "trial.parquet", "-o", "before.parquet"))
    good(dfcl("check", "study.toml", "--split-out", "split.parquet"))
    trial = pq.read_table(dfcl.folder / "trial.parquet")
    split = pq.read_table(dfcl.folder / "split.parquet")
    assert split.column_names == ["id", "split"] and split["id"].to_pylist() == trial["shop_id"].to_pylist()
    is_test = pc.equal(split["split"], "test")
    orders = pc.if_else(is_test, pc.add(trial["orders"], 50.0), trial["orders"])
    pq.write_table(trial.set_column(trial.schema.get_field_index("orders"), "orders", orders), dfcl.folder / "trial.parquet")
    assert "fitted the nuisance" in run(dfcl, "truth.parquet").stderr
    good(dfcl("predict", CACHE, "trial.parquet", "-o", "after.parquet"))
    assert before.code == 0 and pq.read_table(dfcl.folder / "before.parquet") == pq.read_table(dfcl.folder / "after.parquet")


def test_training_rows_are_judged_by_a_cross_fit(dfcl):
    for split in ("train", "validation", "all"):
        done = run(dfcl, "truth.parquet", "--split", split)
        assert "cross-fitted the nuisance over five folds" in done.stderr
        assert "cross-fitted over five folds" in json.loads(done.stdout)["nuisance"]
    assert not (dfcl.folder / CACHE).exists()


def test_hajek_stands_beside_and_agrees_where_it_must(dfcl):
    results = evaluate(dfcl, "truth.parquet", "--intervals", "analytic")
    hajek = evaluate(dfcl, "truth.parquet", "--estimator", "hajek", "--intervals", "analytic")
    assert hajek["nuisance"] == "none" and "hajek_incremental_revenue" not in hajek["models"][0]["deployed"][0]
    widths = []  # of the doubly robust intervals and of Hajek's
    for plan, alone in zip(results["models"][0]["deployed"], hajek["models"][0]["deployed"]):
        beside = plan["hajek_incremental_revenue"]
        assert beside == pytest.approx(alone["incremental_revenue"], rel=1e-9)
        assert plan["hajek_incremental_cost"] == pytest.approx(alone["incremental_cost"], rel=1e-9)
        error = (beside["high"] - beside["low"]) / 3.92
        assert abs(beside["value"] - plan["incremental_revenue"]["value"]) < 4 * error
        widths.append([figure["high"] - figure["low"] for figure in (plan["incremental_revenue"], beside)])
    assert sum(own for own, _ in widths) < 0.9 * sum(other for _, other in widths)
    assert "by Hajek" in good(dfcl("evaluate", "study.toml", "truth.parquet", "--resamples", 16)).stdout


def test_what_is_put_in_the_place_of_what_was_declared_is_said(dfcl):
    assert "not_pre_declared" not in evaluate(dfcl, "tsm.safetensors")["verdict"]
    reason = "the study declares the estimator doubly-robust, and hajek was used"
    for arguments in (["--estimator", "hajek"], ["--set", "evaluate.estimator=hajek"]):
        verdict = evaluate(dfcl, "tsm.safetensors", *arguments)["verdict"]
        assert verdict["not_pre_declared"] == reason
        assert verdict["sentence"].endswith(f"Not pre-declared: {reason}.")
    good(dfcl("evaluate", "study.toml", "tsm.safetensors", "--estimator", "hajek", "--resamples", 16, "-o", "results.json"))
    good(dfcl("report", "results.json", "-o", "report.html"))
    assert f"Not pre-declared: {reason}." in (dfcl.folder / "report.html").read_text()
    shown = good(dfcl("evaluate", "study.toml", "tsm.safetensors", "--estimator", "hajek", "--resamples", 16)).stdout
    assert f"Not pre-declared: {reason}." in " ".join(shown.split())
    verdict = evaluate(dfcl, "tsm.safetensors", "--nuisance", "truth.parquet")["verdict"]
    assert verdict["not_pre_declared"] == "the nuisance is truth, not the study's own"
    # The same estimator as declared is no override; declared in the study, another is none either.
    assert "not_pre_declared" not in evaluate(dfcl, "tsm.safetensors", "--estimator", "doubly-robust")["verdict"]
    with open(dfcl.folder / "study.toml", "a") as file:
        file.write('\n[evaluate]\nestimator = "hajek"\n')
    declared = evaluate(dfcl, "tsm.safetensors")
    assert declared["estimator"] == "hajek" and "not_pre_declared" not in declared["verdict"]
    assert "doubly-robust was used" in evaluate(dfcl, "tsm.safetensors", "--estimator", "doubly-robust")["verdict"]["not_pre_declared"]


def later_trial(dfcl):
    """Another trial of the same world, with other units."""
    good(dfcl("simulate", "--preset", "marketing", "--rows", 2000, "--seed", 2, "-o", "later.parquet", "--truth", "later-truth.parquet"))
    for name in ("later.parquet", "later-truth.parquet"):
        table = pq.read_table(dfcl.folder / name)
        column = "shop_id" if name == "later.parquet" else "id"
        ids = pa.array([100_000 + i for i in range(table.num_rows)])
        pq.write_table(table.set_column(table.schema.get_field_index(column), column, ids), dfcl.folder / name)


def test_a_separate_test_file_is_evaluated_on(dfcl):
    later_trial(dfcl)
    results = evaluate(dfcl, "tsm.safetensors", "--test", "later.parquet")
    assert results["trial"]["units"] == 2000
    assert "test" in dict(results["made_by"]["options"])
    with open(dfcl.folder / "study.toml") as file:
        text = file.read().replace("[data]\n", '[data]\ntest = "later.parquet"\n')
    (dfcl.folder / "study.toml").write_text(text)
    assert "later.parquet" in text
    assert evaluate(dfcl, "tsm.safetensors")["models"][0]["deployed"] == results["models"][0]["deployed"]
    # All rows of the trial now train or validate.
    good(dfcl("check", "study.toml", "--split-out", "split.csv"))
    splits = pyarrow.csv.read_csv(dfcl.folder / "split.csv")["split"].to_pylist()
    assert set(splits) == {"train", "validation"} and splits.count("train") / len(splits) == pytest.approx(6 / 7, abs=0.03)
    good(dfcl("train", "study.toml", "--method", "tsm", "--epochs", 2, "-o", "all.safetensors"))
    assert evaluate(dfcl, "all.safetensors")["trial"]["units"] == 2000
    own = evaluate(dfcl, "truth.parquet", "--split", "validation")
    assert own["trial"]["units"] == splits.count("validation")


def refused(dfcl, *arguments, code=DATA):
    result = dfcl("evaluate", "study.toml", *arguments, "-o", "refused.json")
    assert result.code == code, result.stderr
    assert not (dfcl.folder / "refused.json").exists()
    return result.stderr


def test_a_test_file_that_is_none_is_refused(dfcl):
    later_trial(dfcl)
    assert "the test file is the study's own trial" in refused(dfcl, "tsm.safetensors", "--test", "trial.parquet")
    assert "--split" in refused(dfcl, "tsm.safetensors", "--test", "later.parquet", "--split", "train", code=USAGE)
    later = pq.read_table(dfcl.folder / "later.parquet")
    trial = pq.read_table(dfcl.folder / "trial.parquet")
    pq.write_table(pa.concat_tables([later, trial.slice(0, 30)]), dfcl.folder / "mixed.parquet")
    assert "30 of 2030 test rows are among the rows that train or validate" in refused(dfcl, "tsm.safetensors", "--test", "mixed.parquet")
    pq.write_table(later.filter(pc.not_equal(later["discount"], 20)), dfcl.folder / "arms.parquet")
    message = refused(dfcl, "tsm.safetensors", "--test", "arms.parquet", "--set", "arms.order=[]", "--set", "cost.rises_with_arm=false")
    assert "the arms are not those of the trial" in message and "found arms 0, 5, 10, 15, control 0" in message
    pq.write_table(later.drop_columns(["orders_7d"]), dfcl.folder / "columns.parquet")
    assert "feature 'orders_7d' of the trial is missing" in refused(dfcl, "tsm.safetensors", "--test", "columns.parquet")


def test_predictions_fitted_on_test_rows_are_refused(dfcl):
    # By what they carry, in both formats.
    assert "cannot check" not in run(dfcl, "predictions.parquet", "truth.parquet").stderr
    assert "the model of these predictions was trained or chosen on" in refused(dfcl, "predictions.parquet", "--split", "train")
    assert "was trained or chosen on 100 % of these rows" in refused(dfcl, "tsm.safetensors", "--split", "validation")
    good(dfcl("predict", "tsm.safetensors", "trial.parquet", "-o", "predictions.csv"))
    assert "the model of these predictions was trained or chosen on" in refused(dfcl, "predictions.csv", "--split", "train")
    assert "flatter" in run(dfcl, "predictions.csv", "--split", "train", "--allow-training-rows").stderr
    # Somebody else's carry nothing.
    table = pq.read_table(dfcl.folder / "predictions.parquet").replace_schema_metadata(None)
    pq.write_table(table, dfcl.folder / "theirs.parquet")
    line = "theirs: cannot check whether these predictions were fitted on the test rows"
    assert run(dfcl, "theirs.parquet", "tsm.safetensors").stderr.count(line) == 1
    good(dfcl("check", "study.toml", "--split-out", "split.parquet"))
    assert "cannot check" not in run(dfcl, "theirs.parquet", "--fitted-on", "split.parquet").stderr
    split = pq.read_table(dfcl.folder / "split.parquet")
    test = split.filter(pc.equal(split["split"], "test")).slice(0, 50)
    pyarrow.csv.write_csv(test.select(["id"]), dfcl.folder / "ids.csv")
    message = refused(dfcl, "theirs.parquet", "--fitted-on", "ids.csv")
    assert f"these predictions were fitted on {100 * 50 / split['split'].to_pylist().count('test'):.3g} % of these rows (50 of" in message
    assert "say themselves" in refused(dfcl, "tsm.safetensors", "--fitted-on", "ids.csv", code=USAGE)
    pyarrow.csv.write_csv(pa.table({"unit": [1]}), dfcl.folder / "no-ids.csv")
    assert "has no column 'id'" in refused(dfcl, "theirs.parquet", "--fitted-on", "no-ids.csv", code=USAGE)


def test_predictions_out_of_bag_were_fitted_on_none_of_their_rows(dfcl):
    good(dfcl("train", "study.toml", "--method", "tsm-forest", "--set", "forest.trees=8", "--set", "boost.trees=10", "--out-of-bag", "bag.parquet",
              "-o", "forest.safetensors"))  # fmt: skip
    assert "cannot check" not in run(dfcl, "bag.parquet", "--split", "train").stderr


def test_compare_declares_too(dfcl):
    later_trial(dfcl)
    good(dfcl("compare", "study.toml", "--methods", "tsm,cn", "--set", "method.epochs=2", "--resamples", 16, "--test", "later.parquet",
              "--estimator", "hajek", "--split-out", "split.parquet", "-o", "compared"))  # fmt: skip
    results = json.loads((dfcl.folder / "compared" / "results.json").read_text())
    assert results["trial"]["units"] == 2000 and results["estimator"] == "hajek"
    assert results["verdict"]["not_pre_declared"].startswith("the study declares the estimator doubly-robust")
    splits = pq.read_table(dfcl.folder / "split.parquet")["split"].to_pylist()
    assert len(splits) == 5000 and splits.count("test") == 2000
    again = dfcl("compare", "study.toml", "--methods", "tsm,cn", "--set", "method.epochs=2", "--resamples", 16, "-o", "compared")
    assert again.code == USAGE and "another comparison" in again.stderr, "models trained on other rows are not taken"
