# SPDX-License-Identifier: Apache-2.0
"""train, predict and allocate MODEL UNITS: end to end, the same bytes every time, stopped and resumed, and refusals."""

import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import DISCOUNTS, answer, good, matrix

USAGE, DATA, FILE, UNFIT, INTERRUPTED = 2, 3, 4, 7, 130
GRADED_METHODS = ["tsm", "dfcl-pl", "dfcl-mer", "dfcl-ifd", "dfcl-ifd-softmax", "drm", "dpm", "cn"]
BINARY_METHODS = ["tsm", "dfcl-mer", "drm", "drp", "dpm"]


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    """Two trials with their studies, and a model of the first. Read only."""
    dfcl = run_in(tmp_path_factory.mktemp("made"))
    simulate = ["simulate", "--rows", 4000, "--seed", 1]
    good(dfcl(*simulate, "--preset", "marketing", "-o", "trial.parquet", "--study", "study.toml"))
    good(dfcl(*simulate, "--preset", "criteo", "-o", "criteo.parquet", "--study", "criteo.toml"))
    for study in ("study.toml", "criteo.toml"):
        with open(dfcl.folder / study, "a") as file:
            file.write("\n[boost]\ntrees = 40\n")  # of the nuisance too: enough to test with
    good(dfcl("train", "study.toml", "--method", "dfcl-mer", "--epochs", 4, "--seed", 3, "-o", "model.safetensors"))
    good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "predictions.parquet"))
    return dfcl.folder


def read(path):
    return (pa.csv.read_csv if str(path).endswith(".csv") else pq.read_table)(path)


def numbers(table):
    """Everything but the id, in float64: rows x columns."""
    return np.column_stack([table[name].to_numpy() for name in table.column_names if name != "id"])


def train(dfcl, made, *arguments, study="study.toml", output="model.safetensors"):
    return dfcl("train", made / study, "--epochs", 3, "-o", output, *arguments)


# --- end to end ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", GRADED_METHODS)
def test_every_method_on_graded_arms_writes_finite_predictions(dfcl, made, tmp_path, method):
    good(train(dfcl, made, "--method", method))
    good(dfcl("predict", "model.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    table = read(tmp_path / "p.parquet")
    assert table.column_names == ["id", *(f"revenue_{arm}" for arm in DISCOUNTS), *(f"cost_{arm}" for arm in DISCOUNTS)]
    assert table["id"].to_pylist() == read(made / "trial.parquet")["shop_id"].to_pylist()
    assert np.isfinite(numbers(table)).all()
    costs = matrix(table, "cost")
    assert (costs[:, 0] == 0).all(), "the study says that control is free"
    assert (np.diff(costs, axis=1) >= 0).all(), "the study says that cost rises with the arm"


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_every_method_on_two_arms_ends_in_a_plan(dfcl, made, tmp_path, method):
    good(train(dfcl, made, "--method", method, study="criteo.toml"))
    good(dfcl("predict", "model.safetensors", made / "criteo.parquet", "-o", "p.parquet"))
    predictions = read(tmp_path / "p.parquet")
    assert np.isfinite(numbers(predictions)).all()
    costs = np.column_stack([predictions["cost_0"].to_numpy(), predictions["cost_1"].to_numpy()]).astype(float)
    budget = (costs.min(axis=1).sum() + costs.max(axis=1).sum()) / 2  # control costs something here
    options = ["--budget", float(budget), "--include-control", "-o", "plan.parquet", "--json"]
    plan = answer(dfcl("allocate", "model.safetensors", made / "criteo.parquet", *options))
    assert plan["spend"] <= plan["budget"]
    assert read(tmp_path / "plan.parquet").num_rows == 4000


def test_the_methods_tested_here_are_all_that_the_help_lists(dfcl):
    methods = dfcl("train", "--help").stdout.split("Methods:\n")[1].split("\n\n")[0]
    listed = re.findall(r"^ +([a-z-]+)  +\S", methods, re.MULTILINE)
    assert set(listed) - {"auto", "tsm-forest", "tsm-boost"} == set(GRADED_METHODS) | set(BINARY_METHODS)  # trees: test_forest.py, test_boost.py


@pytest.mark.parametrize("method", ["dfcl-pl", "dfcl-mer", "dfcl-ifd", "dfcl-ifd-softmax"])
def test_decision_methods_run_as_published(dfcl, made, tmp_path, method):
    good(train(dfcl, made, "--method", method, "--as-published"))
    assert "as_published true" in " ".join(dfcl("info", "model.safetensors").stdout.split())
    good(dfcl("predict", "model.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    assert np.isfinite(numbers(read(tmp_path / "p.parquet"))).all()


def test_a_model_and_units_give_the_plan_of_its_predictions(dfcl, made, tmp_path):
    budget = ["--share-of-max", "0.1,0.3"]
    good(dfcl("allocate", made / "model.safetensors", made / "trial.parquet", *budget, "-o", "direct.parquet"))
    good(dfcl("allocate", made / "predictions.parquet", *budget, "-o", "steps.parquet"))
    for place in "12":
        assert (tmp_path / f"direct-{place}.parquet").read_bytes() == (tmp_path / f"steps-{place}.parquet").read_bytes()


MEMBERS = ["--set", 'method.members=["tsm-forest", "tsm", "dfcl-mer"]', "--trees", 8, "--leaf", 100]


def test_auto_says_how_it_weighed_its_members_and_is_the_same_on_any_number_of_threads(dfcl, made, tmp_path):
    for threads in (1, 8):
        said = good(train(dfcl, made, *MEMBERS, "--threads", threads, output=f"{threads}.safetensors")).stdout
    assert "seconds" in said
    assert (tmp_path / "1.safetensors").read_bytes() == (tmp_path / "8.safetensors").read_bytes()
    text = good(dfcl("info", "1.safetensors")).stdout
    assert "used for choosing" in " ".join(text.split()) and "seconds" not in text
    found = answer(dfcl("info", "1.safetensors", "--json"))
    members = found["stack"]["members"]
    assert [member["method"] for member in members] == ["tsm-forest", "tsm", "dfcl-mer", "mean-effect"]
    assert sum(member["weight"] for member in members) == pytest.approx(1.0)
    assert all(member["standard_error"] > 0 for member in members)
    assert 0 <= found["calibration"]["revenue"]["slope"] <= 1
    assert found["held_out"]["out_of_fold"] and isinstance(found["remarks"], list)
    good(dfcl("predict", "1.safetensors", made / "trial.parquet", "-o", "p.parquet"))
    costs = matrix(tmp_path / "p.parquet", "cost")
    assert (costs[:, 0] == 0).all() and (np.diff(costs, axis=1) >= 0).all()


def test_a_stack_takes_what_has_a_meaning_for_it_and_refuses_the_rest(dfcl, made, tmp_path):
    networks = ["--set", 'method.members=["tsm"]']
    good(train(dfcl, made, *networks, "--out-of-bag", "unseen.parquet", "--ensemble", 2))
    found = answer(dfcl("info", "model.safetensors", "--json"))
    assert 0 < read(tmp_path / "unseen.parquet").num_rows < found["trained_on"]["units"], "a stack trains on validation units too"
    for members, words in [('["tsm", "dpm"]', "index"), ('["tsm", "tsm"]', "twice"), ('["tms"]', "tsm")]:
        result = train(dfcl, made, "--set", f"method.members={members}")
        assert result.code == USAGE and words in result.stderr and "members" in result.stderr, result.stderr
    good(train(dfcl, made, "--set", 'method.members=["tsm", "dfcl-mer"]'))
    refused = dfcl("predict", "model.safetensors", made / "trial.parquet", "-o", "p.parquet", "--uncertainty", "e.parquet")
    assert refused.code == USAGE and "--uncertainty" in refused.stderr
    result = train(dfcl, made, "--method", "drm", "--set", "method.calibrate=true")
    assert result.code == USAGE and "index" in result.stderr
    result = good(train(dfcl, made, *MEMBERS, "--time-budget", 0.001))
    assert "is not in the stack: the time was up" in result.stderr
    assert "Left out" in dfcl("info", "model.safetensors").stdout


def test_training_can_start_from_a_model(dfcl, made, tmp_path):
    good(train(dfcl, made, "--method", "tsm", output="start.safetensors"))
    tune = ["--method", "dfcl-ifd", "--start-from", "start.safetensors", "--epochs", 1, "--alpha", 0]
    good(dfcl("train", made / "study.toml", *tune, "--log", "log.jsonl", "-o", "model.safetensors"))
    decides = [json.loads(line)["decides"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert decides.count(True) == 1 and decides[-1], "the rounds of the nuisance come before"
    assert "start_from" in dfcl("info", "model.safetensors").stdout
    good(train(dfcl, made, "--method", "tsm", "--ensemble", 2, output="two.safetensors"))
    result = good(train(dfcl, made, "--method", "tsm", "--start-from", "two.safetensors", output="one.safetensors"))
    assert "the mean of 2 networks, of which 1 goes on" in result.stderr
    for study, arguments, code, words in [
        ("criteo.toml", ["--method", "tsm"], USAGE, "other arms"),
        ("study.toml", ["--method", "tsm", "--set", "network.hidden=[8]"], USAGE, "no plain network"),
        ("study.toml", [], USAGE, "from scratch"),
    ]:
        result = train(dfcl, made, "--start-from", "start.safetensors", *arguments, study=study, output="none.safetensors")
        assert (result.code, words in result.stderr) == (code, True), result.stderr
        assert not (tmp_path / "none.safetensors").exists()
    result = train(dfcl, made, "--method", "tsm", "--start-from", made / "trial.parquet", output="none.safetensors")
    assert result.code == FILE, result.stderr


@pytest.mark.parametrize("method", ["tsm", "dfcl-mer", "auto", "tsm-forest", "tsm-boost"])
def test_a_cache_gives_the_same_model_and_is_used_again(dfcl, made, tmp_path, method):
    arguments = ["--method", method, "--trees", 8, "--set", "boost.trees=8", "--seed", 3]
    good(train(dfcl, made, *arguments, output="read.safetensors"))
    for threads in (1, 2):
        output = f"{threads}.safetensors"
        good(train(dfcl, made, *arguments, "--cache", "cache", "--threads", threads, output=output))
        assert (tmp_path / output).read_bytes() == (tmp_path / "read.safetensors").read_bytes()
    (cached,) = (tmp_path / "cache").iterdir()
    assert not [path for path in cached.iterdir() if path.name.startswith("scratch")]


def test_a_cache_and_a_checkpoint_go_together(dfcl, made, tmp_path):
    arguments = ["--method", "dfcl-mer", "--seed", 3]
    good(train(dfcl, made, *arguments, output="read.safetensors"))
    good(train(dfcl, made, *arguments, "--cache", "cache", "--checkpoint", "state", output="cached.safetensors"))
    good(train(dfcl, made, *arguments, "--checkpoint", "state", output="again.safetensors"))
    for name in ("cached", "again"):
        assert (tmp_path / f"{name}.safetensors").read_bytes() == (tmp_path / "read.safetensors").read_bytes()


def test_a_cache_that_cannot_be_used_is_refused(dfcl, made, tmp_path):
    arguments = ["--method", "tsm", "--cache", "cache"]
    good(train(dfcl, made, *arguments))
    (cached,) = (tmp_path / "cache").iterdir()
    features = (cached / "features").read_bytes()
    for bad in (features[:-1], features[:-1] + bytes([features[-1] ^ 1])):
        (cached / "features").write_bytes(bad)
        result = train(dfcl, made, *arguments, output="none.safetensors")
        assert result.code == FILE and "cache" in result.stderr, result.stderr
    result = train(dfcl, made, "--method", "tsm", "--cache", made / "study.toml", output="none.safetensors")
    assert result.code == FILE and "cannot make the folder" in result.stderr, result.stderr
    assert not (tmp_path / "none.safetensors").exists()


def test_the_model_is_told_with_json_too(dfcl, made):
    told = answer(train(dfcl, made, "--method", "tsm", "--json"))
    assert (told["kind"], told["method"]) == ("model", "tsm")


def test_the_log_has_a_json_line_for_each_epoch(dfcl, made, tmp_path):
    good(train(dfcl, made, "--method", "dfcl-ifd", "--log", "log.jsonl", "--ensemble", 2))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    nuisance = [line["member"] not in (0, 1) for line in lines]
    assert nuisance == sorted(nuisance, reverse=True), "the rounds of the nuisance come before"
    epochs = [(line["member"], line["epoch"]) for line in lines if line["member"] in (0, 1)]
    assert epochs == [(member, epoch) for member in (0, 1) for epoch in (1, 2, 3)]
    assert all(np.isfinite(line["prediction_loss"]) for line in lines)
    deciding = [line for line in lines if line["decides"]]
    assert deciding and all(line["multipliers"] == sorted(line["multipliers"], reverse=True) for line in deciding)


# --- the same bytes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method, study, units", [("dfcl-ifd", "study.toml", "trial.parquet"), ("tsm", "criteo.toml", "criteo.parquet")]
)
def test_the_number_of_threads_changes_no_byte(dfcl, made, tmp_path, method, study, units):
    files = {}
    for threads in (1, 2, 8):
        name = f"t{threads}"
        share = ["--threads", threads]
        settings = ["--method", method, "--baseline", "dr", "--seed", 9, *share]
        good(train(dfcl, made, *settings, study=study, output=f"{name}.safetensors"))
        good(dfcl("predict", f"{name}.safetensors", made / units, "-o", f"{name}-p.parquet", *share))
        plan = ["--multiplier", 0.5, "-o", f"{name}-plan.parquet", *share]
        good(dfcl("allocate", f"{name}.safetensors", made / units, *plan))
        endings = (".safetensors", "-p.parquet", "-plan.parquet")
        files[threads] = [(tmp_path / (name + ending)).read_bytes() for ending in endings]
    assert files[1] == files[2] == files[8]


def test_another_seed_is_another_model(dfcl, made, tmp_path):
    for seed in (1, 2):
        good(train(dfcl, made, "--method", "tsm", "--seed", seed, output=f"{seed}.safetensors"))
    assert (tmp_path / "1.safetensors").read_bytes() != (tmp_path / "2.safetensors").read_bytes()


# --- stopped and resumed ---------------------------------------------------------------------------------------------

# Four networks one after the other: two for the baseline, two members.
LONG = ["--method", "dfcl-mer", "--epochs", 24, "--baseline", "dr", "--ensemble", 2, "--seed", 5]
NETWORKS = ["nuisance-0", "nuisance-1", "member-0", "member-1"]


@pytest.fixture(scope="module")
def uninterrupted(made, run_in, tmp_path_factory):
    dfcl = run_in(tmp_path_factory.mktemp("whole"))
    good(dfcl("train", made / "study.toml", *LONG, "-o", "model.safetensors"))
    return (dfcl.folder / "model.safetensors").read_bytes()


def stop_when_saved(dfcl, made, network, how):
    """Starts the long run, stops it once this network has a checkpoint; exit code and standard error."""
    saved = dfcl.folder / "checkpoint" / f"{network}.safetensors"
    process = dfcl.start("train", made / "study.toml", *LONG, "--checkpoint", "checkpoint", "-o", "model.safetensors",
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    deadline = time.monotonic() + 60
    while not saved.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(how)
    _, stderr = process.communicate(timeout=60)
    return process.returncode, stderr


def test_killed_at_several_moments_and_resumed_the_model_is_the_same(dfcl, made, tmp_path, uninterrupted):
    codes = [stop_when_saved(dfcl, made, network, signal.SIGKILL)[0] for network in NETWORKS]
    assert -signal.SIGKILL in codes, "no run was long enough to be killed"
    good(dfcl("train", made / "study.toml", *LONG, "--checkpoint", "checkpoint", "-o", "model.safetensors"))
    assert (tmp_path / "model.safetensors").read_bytes() == uninterrupted


def test_ctrl_c_exits_130_and_leaves_the_checkpoint_and_no_model(dfcl, made, tmp_path, uninterrupted):
    code, stderr = stop_when_saved(dfcl, made, "nuisance-0", signal.SIGINT)
    assert code == INTERRUPTED
    assert "interrupted" in stderr
    assert os.listdir(tmp_path) == ["checkpoint"]
    assert "nuisance-0.safetensors" in os.listdir(tmp_path / "checkpoint")
    good(dfcl("train", made / "study.toml", *LONG, "--checkpoint", "checkpoint", "-o", "model.safetensors"))
    assert (tmp_path / "model.safetensors").read_bytes() == uninterrupted


def test_a_checkpoint_of_another_run_is_refused(dfcl, made, tmp_path):
    keep = ["--method", "tsm", "--checkpoint", "checkpoint"]
    good(train(dfcl, made, *keep, "--seed", 1))
    for change in (["--seed", 2], ["--seed", 1, "--lr", 0.01], ["--seed", 1, "--set", "columns.exclude=['city']"]):
        result = train(dfcl, made, *keep, *change, output="other.safetensors")
        assert result.code == USAGE, change
        assert "a checkpoint of another run" in result.stderr
    assert not (tmp_path / "other.safetensors").exists()


def test_a_damaged_checkpoint_is_refused(dfcl, made, tmp_path):
    keep = ["--method", "tsm", "--checkpoint", "checkpoint"]
    good(train(dfcl, made, *keep))
    saved = tmp_path / "checkpoint" / "member-0.safetensors"
    saved.write_bytes(saved.read_bytes()[:-100])
    result = train(dfcl, made, *keep, output="other.safetensors")
    assert result.code == FILE
    assert "member-0.safetensors" in result.stderr
    assert not (tmp_path / "other.safetensors").exists()


# --- training refused ------------------------------------------------------------------------------------------------


def test_an_unfit_trial_is_refused_unless_forced(dfcl, tmp_path):
    broken = ["simulate", "--preset", "marketing", "--rows", 6000, "--seed", 1, "--imbalance"]
    good(dfcl(*broken, "-o", "t.parquet", "--study", "s.toml"))
    result = dfcl("train", "s.toml", "--method", "tsm", "--epochs", 2, "-o", "model.safetensors")
    assert result.code == UNFIT
    assert "unfit to learn from" in result.stderr and "--force" in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["s.toml", "t.parquet"]
    result = good(dfcl("train", "s.toml", "--method", "tsm", "--epochs", 2, "-o", "model.safetensors", "--force"))
    assert "warning" in result.stderr and "unfit to learn from" in result.stderr


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["--method", "tms"], USAGE, "did you mean 'tsm'?"),
        (["--method", "drp"], USAGE, "is for trials of two arms: found 5 arms"),
        (["--method", "tsm", "--epochs", "many"], USAGE, "--epochs"),
        (["--method", "tsm", "--lr", "7"], USAGE, "--lr"),
        (["--method", "tsm", "--ensemble", "0"], USAGE, "--ensemble"),
        (["--method", "dfcl-mer", "--baseline", "median"], USAGE, "--baseline"),
        (["--method", "tsm", "--set", "network.revenue_kind=binary"], USAGE, "the training units is not binary"),
        (["--method", "tsm", "--set", "network.hidden=[0]"], USAGE, "[network] hidden"),
        (["--method", "tsm", "--set", "method.monotone=['profit']"], USAGE, "'profit'"),
        (["--method", "tsm", "--log", "absent/log"], FILE, "absent/log"),
        (["--method", "tsm", "--log", "./model.safetensors"], USAGE, "is another file of this run"),
        (["--method", "tsm", "--set", "network.scaling=ranks"], USAGE, "[network] scaling"),
        (["--method", "tsm", "-o", "absent/m.safetensors"], FILE, "the folder does not exist"),
    ],
)
def test_what_cannot_be_trained_is_refused_and_leaves_nothing(dfcl, made, tmp_path, arguments, code, message):
    output = [] if "-o" in arguments else ["-o", "model.safetensors"]
    result = dfcl("train", made / "study.toml", *arguments, *output)
    assert result.code == code, result.stderr
    assert message in result.stderr
    assert result.stdout == ""
    assert os.listdir(tmp_path) == []


def test_outputs_never_replace_inputs(dfcl, made, tmp_path):
    for name in ("trial.parquet", "study.toml", "model.safetensors"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    for command in (
        ["train", "study.toml", "--method", "tsm", "-o", "study.toml"],
        ["train", "study.toml", "--method", "tsm", "-o", "./trial.parquet"],
        ["train", "study.toml", "--method", "tsm", "-o", "new.safetensors", "--log", "trial.parquet"],
        ["train", "study.toml", "--method", "tsm", "-o", "new.safetensors", "--log", "./study.toml"],
        ["train", "study.toml", "--start-from", "model.safetensors", "-o", "new.safetensors", "--log", "model.safetensors"],
        ["predict", "model.safetensors", "trial.parquet", "-o", "trial.parquet"],
        ["predict", "model.safetensors", "*.parquet", "-o", "trial.parquet"],
        ["allocate", "model.safetensors", "trial.parquet", "--per-unit", "1", "-o", "trial.parquet"],
    ):
        result = dfcl(*command)
        assert result.code == USAGE, command
        assert "is an input of this run" in result.stderr
    assert before == {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}


def test_flags_that_change_nothing_are_named(dfcl, made):
    study = made / "study.toml"
    result = good(dfcl("train", study, "--method", "tsm", "--alpha", "5", "--trees", "7", "--time-budget", "3", "--epochs", "2",
                       "-o", "m.safetensors"))  # fmt: skip
    for flag in ("method.alpha", "forest.trees", "--time-budget"):
        assert f"{flag} " in result.stderr and "changes nothing" in result.stderr
    result = good(dfcl("train", study, "--method", "dfcl-mer", "--alpha", "5", "--epochs", "3", "-o", "m.safetensors"))
    assert "changes nothing" not in result.stderr
    result = good(dfcl("train", study, "--method", "dfcl-mer", "--set", "method.window=1", "--epochs", "3", "-o", "m.safetensors"))
    assert "method.window changes nothing" in result.stderr


def test_wrong_numbers_are_refused(dfcl, made):
    for flag, number in (("--alpha", "-5"), ("--time-budget", "-1")):
        result = dfcl("train", made / "study.toml", "--method", "dfcl-mer", flag, number, "-o", "m.safetensors")
        assert result.code == USAGE and f"found {number}" in result.stderr and len(result.stderr) < 300, result.stderr


# --- predict ---------------------------------------------------------------------------------------------------------


def predict(dfcl, made, table, name="units.parquet", **options):
    if name.endswith(".csv"):
        pa.csv.write_csv(table, dfcl.folder / name)
    else:
        pq.write_table(table, dfcl.folder / name, **options)
    good(dfcl("predict", made / "model.safetensors", name, "-o", "p.parquet"))
    return read(dfcl.folder / "p.parquet")


def test_missing_columns_are_named(dfcl, made, tmp_path):
    units = read(made / "trial.parquet").drop_columns(["city", "orders_7d"])
    pq.write_table(units, tmp_path / "units.parquet")
    for verb, options in (("predict", []), ("allocate", ["--per-unit", 1])):
        result = dfcl(verb, made / "model.safetensors", "units.parquet", "-o", "p.parquet", *options)
        assert result.code == DATA
        assert "'city'" in result.stderr and "'orders_7d'" in result.stderr
    assert os.listdir(tmp_path) == ["units.parquet"]


def test_columns_that_the_model_does_not_know_are_not_needed_and_not_read(dfcl, made):
    units = read(made / "trial.parquet").drop_columns(["discount", "orders", "subsidy"])
    units = units.append_column("remark", pa.array(["x"] * units.num_rows))
    assert predict(dfcl, made, units).equals(read(made / "predictions.parquet"))


def test_order_row_groups_and_format_do_not_change_a_units_numbers(dfcl, made):
    units = read(made / "trial.parquet")
    expected = read(made / "predictions.parquet")
    assert predict(dfcl, made, units, row_group_size=97).equals(expected)
    assert predict(dfcl, made, units.slice(1234, 1)).equals(expected.slice(1234, 1))
    order = np.random.default_rng(8).permutation(units.num_rows)
    assert predict(dfcl, made, units.take(order)).equals(expected.take(order))
    assert predict(dfcl, made, units.slice(0, 500), name="units.csv").equals(expected.slice(0, 500))


def test_unseen_categories_and_missing_values_are_accepted(dfcl, made):
    units = read(made / "trial.parquet").slice(0, 300)
    place = units.column_names.index("city")
    unseen = units.set_column(place, "city", pa.array(["Atlantis"] * 300))
    missing = units.set_column(place, "city", pa.nulls(300, pa.string()))
    orders = units.column_names.index("orders_7d")
    missing = missing.set_column(orders, "orders_7d", pa.nulls(300, units.schema.field("orders_7d").type))
    for table in (unseen, missing):
        predicted = numbers(predict(dfcl, made, table))
        assert predicted.shape == (300, 10) and np.isfinite(predicted).all()


def test_no_value_of_a_feature_drives_predictions_out_of_range(dfcl, made):
    units = read(made / "trial.parquet").slice(0, 200)
    place = units.column_names.index("orders_7d")
    wild = pc.if_else(pa.array(np.arange(200) % 2 == 0), 1e30, -1e30)
    predicted = numbers(predict(dfcl, made, units.set_column(place, "orders_7d", wild)))
    assert np.isfinite(predicted).all()


def test_damaged_models_are_refused(dfcl, made, tmp_path):
    whole = (made / "model.safetensors").read_bytes()
    header = int.from_bytes(whole[:8], "little")
    cuts = [0, 1, 7, 8, 9, header // 2, 8 + header, 9 + header, len(whole) // 2, len(whole) - 1]
    damaged = [whole[:length] for length in cuts] + [whole + b"\0"]
    for place in [0, 3, 8, 20, header // 2, header, 8 + header, 40 + header, len(whole) // 2, len(whole) - 2]:
        damaged.append(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
    for content in damaged:
        (tmp_path / "model.safetensors").write_bytes(content)
        result = dfcl("predict", "model.safetensors", made / "trial.parquet", "-o", "p.parquet")
        assert result.code == FILE, result.stderr
        assert result.stderr.count("\n") <= 2
        assert os.listdir(tmp_path) == ["model.safetensors"]


@pytest.mark.parametrize(
    "units, output, code",
    [
        ("absent.parquet", "p.parquet", FILE),
        ("trial.parquet", "p.xlsx", USAGE),
        ("trial.parquet", "absent/p.parquet", FILE),
    ],
)
def test_predict_refuses_what_it_cannot_read_or_write(dfcl, made, tmp_path, units, output, code):
    result = dfcl("predict", made / "model.safetensors", made / units, "-o", output)
    assert result.code == code, result.stderr
    assert os.listdir(tmp_path) == []


def test_a_study_is_no_model_and_a_model_needs_units(dfcl, made, tmp_path):
    assert dfcl("predict", made / "study.toml", made / "trial.parquet", "-o", "p.parquet").code == FILE
    result = dfcl("allocate", made / "model.safetensors", "--per-unit", 1, "-o", "plan.parquet")
    assert result.code == USAGE and "for which units?" in result.stderr
    inputs = [made / "predictions.parquet", made / "trial.parquet"]
    result = dfcl("allocate", *inputs, "--per-unit", 1, "-o", "plan.parquet")
    assert result.code == USAGE and "is not a model" in result.stderr
    assert os.listdir(tmp_path) == []


def test_a_device_is_a_word_and_a_card_that_is_not_there_is_exit_5(dfcl, made, tmp_path):
    train = ["train", made / "criteo.toml", "--method", "tsm", "--epochs", 1, "-o", "model.safetensors"]
    wrong = dfcl(*train, "--device", "gpu")
    assert wrong.code == USAGE and "auto, cpu or cuda" in wrong.stderr
    wrong = dfcl(*train, "--precision", "fp16")
    assert wrong.code == USAGE and "tf32, fp32 or bf16" in wrong.stderr
    asked = dfcl(*train, "--device", "cuda")
    if asked.code == 0:
        pytest.skip("there is a card")
    assert asked.code == 5 and "graphics" in asked.stderr
    compared = dfcl("compare", made / "criteo.toml", "--methods", "tsm,cn", "--device", "cuda", "-o", "compared")
    assert compared.code == 5 and "graphics" in compared.stderr and not (tmp_path / "compared").exists()
    good(dfcl(*train, "--device", "auto"))
