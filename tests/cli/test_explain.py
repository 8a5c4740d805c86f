# SPDX-License-Identifier: Apache-2.0
"""Why this unit: allocate --explain; and columns that travel from units into plans."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import answer, good

STUDY = """format = 2
[data]
trial = "trial.parquet"
[columns]
id = "id"
arm = "arm"
revenue = "sales"
carry = ["e-mail", "since"]
exclude = ["e-mail"]
[arms]
control = "none"
cost = {{ none = 0.0, small = 0.5, large = 1.2 }}
[budgets]
per_unit = [0.3]
[report]
segments = ["region"]
unit = "customer"
currency = "EUR"
[split]
train = 0.6
validation = 0.2
test = 0.2
{more}"""


@pytest.fixture(scope="module", params=["tsm-boost", "tsm"])
def made(request, tmp_path_factory, run_in):
    """A trial in which x0 and x1 alone decide who gains, among 12 features."""
    folder = tmp_path_factory.mktemp("explain")
    dfcl = run_in(folder)
    rows, draw = 12000, np.random.default_rng(5)
    x = np.round(draw.normal(size=(rows, 10)), 3)
    arm = draw.integers(0, 3, rows)
    effect = np.array([0.0, 1.5, 3.0])[arm] * ((x[:, 0] > 0).astype(float) + (x[:, 1] > 0.3))
    columns = {"id": np.arange(rows) + 10**12, **{f"x{i}": x[:, i] for i in range(10)}}
    columns["region"] = np.array(["north", "south", "east"])[draw.integers(0, 3, rows)]
    columns["since"] = draw.integers(2**60, 2**61, rows)
    columns["e-mail"] = [f"{i}@example.org" for i in range(rows)]
    columns["arm"] = np.array(["none", "small", "large"])[arm]
    columns["sales"] = np.round(2.0 + 0.5 * x[:, 2] + effect + 0.3 * draw.normal(size=rows), 2)
    table = pa.table(columns)
    pq.write_table(table, folder / "trial.parquet")
    (folder / "study.toml").write_text(STUDY.format(more=""))
    settings = ["--set", "boost.trees=60"] if request.param == "tsm-boost" else ["--epochs", "12"]
    good(dfcl("train", "study.toml", "--method", request.param, *settings, "-o", "m.safetensors"))
    good(dfcl("allocate", "m.safetensors", "trial.parquet", "--per-unit", "0.3", "--explain", "-o", "plan.parquet"))
    return dfcl, folder, table


def test_the_two_features_that_decide_are_named(made):
    _, folder, table = made
    plan = pq.read_table(folder / "plan.parquet").to_pandas()
    treated = plan[plan["arm"] != "none"]
    assert len(treated) > 1000
    # Both where both speak for the arm: for a unit with x1 below its threshold, x1 speaks against it.
    features = table.to_pandas().set_index("id").loc[treated["id"]]
    speaks = {"x0": features["x0"].to_numpy() > 0.0, "x1": features["x1"].to_numpy() > 0.3}
    clear = np.minimum(abs(features["x0"] - 0.0), abs(features["x1"] - 0.3)).to_numpy() > 0.1  # what a network can tell
    hits = []
    for row, reasons in enumerate(treated[["reason_1", "reason_2"]].itertuples(index=False)):
        expected = {name for name, holds in speaks.items() if holds[row]}
        if clear[row]:
            hits.append(expected != set() and set(reasons[: len(expected)]) == expected)
    assert np.mean(hits) >= 0.95
    assert np.mean(speaks["x0"] & speaks["x1"]) > 0.3
    assert (treated["uplift"] > 0).all() and (treated["extra_cost"] > 0).all()


def test_the_sum_is_the_score(made):
    _, folder, _ = made
    plan = pq.read_table(folder / "plan.parquet").to_pandas()
    treated = plan[plan["arm"] != "none"]
    adds = treated[[f"reason_{i}_adds" for i in (1, 2, 3)]].fillna(0.0).sum(axis=1)
    rebuilt = treated["typical"] + adds + treated["other_features_add"]
    # float32 columns: six of them, each right to 6e-8 of its size.
    size = np.abs(treated[["typical", "over_second", "other_features_add"]]).max(axis=1) + adds
    assert (np.abs(rebuilt - treated["over_second"]) <= 1e-6 * size + 1e-6).all()


def test_the_cut_is_where_the_budget_says(made):
    """At a budget that is lower by a unit's distance (and the width of the curve's steps), it has lost its arm."""
    dfcl, folder, _ = made
    plan = pq.read_table(folder / "plan.parquet").to_pandas()
    figures = answer(dfcl("allocate", "m.safetensors", "trial.parquet", "--per-unit", "0.3", "--json"))
    step = answer(dfcl("allocate", "m.safetensors", "trial.parquet", "--curve", "2", "--json"))["points"][1]["spend"] / 128
    treated = plan[(plan["arm"] != "none") & (plan["cut_distance"] > step)]
    for share in (0.25, 0.5, 0.75):
        unit = treated.sort_values("cut_distance").iloc[int(share * len(treated))]
        for change, keeps in ((-step, True), (step, False)):
            budget = figures["spend"] - unit["cut_distance"] - change
            good(dfcl("allocate", "m.safetensors", "trial.parquet", "--budget", max(0.0, budget), "-o", "other.parquet"))
            other = pq.read_table(folder / "other.parquet").to_pandas().set_index("id")
            assert (other.loc[unit["id"], "arm"] == unit["arm"]) == keeps
    control = plan[plan["arm"] == "none"]
    assert (control["cut_distance"].dropna() <= step).all()
    assert (control[["reason_1", "reason_2", "reason_3"]].fillna("") == "").all(axis=None)


def test_explanations_are_the_same_for_any_threads(made):
    dfcl, folder, _ = made
    for threads in (1, 2, 8):
        good(dfcl("allocate", "m.safetensors", "trial.parquet", "--per-unit", "0.3", "--explain", "--threads", threads, "-o", f"p{threads}.parquet"))
    files = [(folder / f"p{threads}.parquet").read_bytes() for threads in (1, 2, 8)]
    assert files[0] == files[1] == files[2]


def test_explain_is_for_a_model_and_units(made):
    dfcl, _, _ = made
    good(dfcl("predict", "m.safetensors", "trial.parquet", "-o", "p.parquet"))
    refused = dfcl("allocate", "p.parquet", "--per-unit", "0.3", "--explain", "-o", "q.parquet")
    assert refused.code == 2 and "--explain" in refused.stderr
    refused = dfcl("allocate", "m.safetensors", "trial.parquet", "--per-unit", "0.3", "--explain", "--max-units", "large=5", "-o", "q.parquet")
    assert refused.code == 2 and "--explain" in refused.stderr


def test_importance_names_them_too(made):
    dfcl, _, _ = made
    importance = answer(dfcl("info", "m.safetensors", "--json"))["feature_importance"]
    assert set(list(importance)[:2]) == {"x0", "x1"}
    assert sum(importance.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("stream", [False, True])
def test_columns_travel(made, ending, stream):
    dfcl, folder, table = made
    good(dfcl("predict", "m.safetensors", "trial.parquet", "-o", f"p.{ending}"))
    flags = ["--stream"] if stream else []
    good(dfcl("allocate", f"p.{ending}", "--per-unit", "0.3", *flags, "-o", f"q.{ending}"))
    read = pq.read_table if ending == "parquet" else pa.csv.read_csv
    plan = read(folder / f"q.{ending}")
    for name in ("e-mail", "since", "region"):
        assert plan[name].to_pylist() == table[name].to_pylist(), name


def test_segment_budgets_need_no_join(made):
    dfcl, folder, _ = made
    (folder / "budgets.csv").write_text("segment,budget\nnorth,100\nsouth,200\neast,50\n")
    good(dfcl("predict", "m.safetensors", "trial.parquet", "-o", "p.parquet"))
    arguments = ("--segment", "region", "--segment-budgets", "budgets.csv")
    good(dfcl("allocate", "p.parquet", *arguments, "-o", "a.parquet"))
    good(dfcl("allocate", "m.safetensors", "trial.parquet", *arguments, "-o", "b.parquet"))
    one, other = (pq.read_table(folder / name).to_pandas() for name in ("a.parquet", "b.parquet"))
    assert (one["arm"] == other["arm"]).all()
    assert one[one["arm"] != "none"].groupby("region")["cost"].sum().round(6).to_dict()["north"] <= 100.0


def test_readout_takes_roles_arms_and_prices_from_the_plan(made):
    dfcl, folder, _ = made
    for ending in ("parquet", "csv"):
        good(dfcl("allocate", "m.safetensors", "trial.parquet", "--per-unit", "0.3", "--holdout", "0.2", "-o", f"launch.{ending}"))
    plan = pq.read_table(folder / "launch.parquet").to_pandas()
    noise = np.random.default_rng(2).normal(size=len(plan))
    whole = plan[["id", "role", "arm", "cost"]].assign(revenue=plan["revenue"] + noise)
    price = {"none": 0.0, "small": 0.5, "large": 1.2}
    whole["cost"] = whole["arm"].map(price)
    pq.write_table(pa.Table.from_pandas(whole, preserve_index=False), folder / "whole.parquet")
    pq.write_table(pa.Table.from_pandas(whole[["id", "revenue"]], preserve_index=False), folder / "bare.parquet")
    told = answer(dfcl("readout", "launch.parquet", "whole.parquet", "--json"))
    for ending in ("parquet", "csv"):
        found = answer(dfcl("readout", f"launch.{ending}", "bare.parquet", "--json"))
        assert found["readout"]["realised"]["incremental_revenue"]["value"] == pytest.approx(told["readout"]["realised"]["incremental_revenue"]["value"], rel=1e-5)
        assert found["readout"]["realised"]["incremental_cost"]["value"] == pytest.approx(told["readout"]["realised"]["incremental_cost"]["value"], rel=1e-5)
    assert "EUR " in good(dfcl("readout", "launch.csv", "bare.parquet")).stdout


def test_a_carried_column_must_not_be_taken_for_a_plans(made):
    dfcl, folder, _ = made
    (folder / "bad.toml").write_text(STUDY.format(more="").replace('carry = ["e-mail", "since"]', 'carry = ["arm"]'))
    good(dfcl("train", "bad.toml", "--method", "tsm", "--epochs", "1", "-o", "bad.safetensors"))
    refused = dfcl("predict", "bad.safetensors", "trial.parquet", "-o", "p.parquet")
    assert refused.code == 2 and "carry" in refused.stderr
