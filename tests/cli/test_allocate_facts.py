# SPDX-License-Identifier: Apache-2.0
"""What allocate must know of its predictions: their ids, their control, their prices, the budgets of their segments."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import answer, good

USAGE, DATA, CANNOT_BE_MET = 2, 3, 6


def write(path, ids, arms, units=1000, price=None, segment=None):
    random = np.random.default_rng(3)
    columns = {} if ids is None else {"id": ids}
    for place, arm in enumerate(arms):
        gain = random.uniform(0.5, 1.5, units) * place
        columns[f"revenue_{arm}"] = gain.astype(np.float32)
        cost = np.full(units, 0.1 * place) if price is None else np.full(units, price[place])
        columns[f"cost_{arm}"] = cost.astype(np.float32)
    if segment is not None:
        columns["region"] = segment
    pq.write_table(pa.table(columns), path)


def summary(dfcl, *arguments, code=0):
    return answer(dfcl("allocate", *arguments, "--json"), code)


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_repeated_and_missing_ids_are_refused(dfcl, tmp_path, stream):
    write(tmp_path / "repeated.parquet", [*range(999), 17], ["0", "5"])
    result = dfcl("allocate", "repeated.parquet", "--budget", "9", *stream)
    assert result.code == DATA and "'17' stands twice" in result.stderr
    write(tmp_path / "missing.parquet", [*map(str, range(999)), None], ["0", "5"])
    result = dfcl("allocate", "missing.parquet", "--budget", "9", *stream)
    assert result.code == DATA and "id" in result.stderr
    write(tmp_path / "null.parquet", pa.array([*range(999), None], pa.int64()), ["0", "5"])
    assert dfcl("allocate", "null.parquet", "--budget", "9", *stream).code == DATA
    write(tmp_path / "without.parquet", None, ["0", "5"])
    result = good(dfcl("allocate", "without.parquet", "--budget", "9", *stream))
    assert result.stderr.count("has no ids") == 1


def test_a_file_that_does_not_say_its_control_is_guessed_with_a_warning(dfcl, tmp_path):
    write(tmp_path / "p.parquet", range(1000), ["-5", "0", "5"])
    result = good(dfcl("allocate", "p.parquet", "--budget", "20"))
    assert "which arm is control: '0' is taken" in result.stderr
    result = good(dfcl("allocate", "p.parquet", "--budget", "20", "--control=-5"))
    assert "control" not in result.stderr
    write(tmp_path / "q.parquet", range(1000), ["none", "small"])
    assert "'none' is taken" in good(dfcl("allocate", "q.parquet", "--budget", "20")).stderr


def test_the_control_of_a_model_holds(dfcl, tmp_path):
    """Its label, its place among the arms and the name '0' of another arm do not matter."""
    random = np.random.default_rng(4)
    for control, others in [("-5", ["0", "5"]), ("none", ["big", "small"])]:
        arm = random.choice([control, *others], 600)
        pq.write_table(pa.table({"id": range(600), "x": random.uniform(size=600), "arm": arm,
                                 "revenue": random.uniform(1.0, 2.0, 600) + (arm != control),
                                 "cost": np.where(arm == control, 0.0, random.uniform(0.2, 0.4, 600))}),
                       tmp_path / "t.parquet")  # fmt: skip
        order = [others[0], control, others[1]]
        (tmp_path / "s.toml").write_text(f"""format = 2
[data]
trial = "t.parquet"
[columns]
id = "id"
arm = "arm"
revenue = "revenue"
cost = "cost"
[arms]
control = "{control}"
order = {json.dumps(order)}
""")
        good(dfcl("train", "s.toml", "--method", "tsm", "--epochs", 1, "--seed", 1, "-o", "m.safetensors"))
        good(dfcl("allocate", "m.safetensors", "t.parquet", "--per-unit", "0.05", "--holdout", "0.3", "-o", "plan.parquet"))
        good(dfcl("predict", "m.safetensors", "t.parquet", "-o", "p.parquet"))
        result = good(dfcl("allocate", "p.parquet", "--per-unit", "0.05", "--holdout", "0.3", "-o", "plan-2.parquet"))
        assert "is taken" not in result.stderr
        for name in ("plan.parquet", "plan-2.parquet"):
            plan = pq.read_table(tmp_path / name)
            held = [row["arm"] for row in plan.to_pylist() if row["role"] == "holdout"]
            assert len(held) > 100 and set(held) == {control}


def test_the_least_spend_keeps_the_limits(dfcl, tmp_path):
    write(tmp_path / "p.parquet", range(10_000), ["0", "A"], units=10_000)
    met = summary(dfcl, "p.parquet", "--budget", "10", "--min-units", "A=9000", code=CANNOT_BE_MET)
    assert met["least_spend"] == pytest.approx(900.0, rel=1e-3)
    text = dfcl("allocate", "p.parquet", "--budget", "10", "--min-units", "A=9000")
    assert "900" in text.stdout + text.stderr
    assert summary(dfcl, "p.parquet", "--budget", "901", "--min-units", "A=9000")["units_per_arm"]["A"] >= 9000


def test_without_a_budget_it_is_said_what_stops_the_spending(dfcl, tmp_path):
    write(tmp_path / "p.parquet", range(1000), ["0", "A"])
    result = good(dfcl("allocate", "p.parquet", "--min-roi", "8"))
    assert "does not bind" not in result.stdout
    assert "earn less revenue per cost" in result.stdout
    assert summary(dfcl, "p.parquet", "--min-roi", "8")["status"] == "no budget"


def test_a_segment_without_a_budget_is_refused_unless_there_is_a_total(dfcl, tmp_path):
    segment = np.random.default_rng(5).choice(["north", "south", "west"], 1000)
    write(tmp_path / "p.parquet", range(1000), ["0", "A"], segment=segment)
    (tmp_path / "b.csv").write_text("segment,budget\nnorth,5\nsouth,7\n")
    flags = ["--segment", "region", "--segment-budgets", "b.csv"]
    result = dfcl("allocate", "p.parquet", *flags)
    assert result.code == DATA and "'west'" in result.stderr
    limited = summary(dfcl, "p.parquet", *flags, "--budget", "20")
    assert limited["segments"]["north"]["spend"] <= 5 and limited["spend"] <= 20
    (tmp_path / "b.csv").write_text("segment,budget\nnorth,5\nsouth,7\nwest,1\n")
    assert summary(dfcl, "p.parquet", *flags)["spend"] <= 13


def test_known_prices_buy_exactly_what_the_budget_pays(dfcl, tmp_path):
    """A study with prices, from training to the plan: 0.15 a piece and 1,500 to spend are 10,000 pieces."""
    random = np.random.default_rng(6)
    units = 12_000
    arm = random.choice(["0", "A"], units)
    pq.write_table(pa.table({"id": range(units), "x": random.uniform(size=units), "arm": arm,
                             "revenue": random.uniform(1.0, 2.0, units) + 2.0 * (arm == "A")}), tmp_path / "t.parquet")  # fmt: skip
    (tmp_path / "s.toml").write_text("""format = 2
[data]
trial = "t.parquet"
[columns]
id = "id"
arm = "arm"
revenue = "revenue"
[arms]
control = "0"
cost = { "A" = 0.15 }
""")
    good(dfcl("train", "s.toml", "--method", "tsm", "--epochs", 2, "--seed", 1, "-o", "m.safetensors"))
    good(dfcl("predict", "m.safetensors", "t.parquet", "-o", "p.parquet"))
    for source in (["m.safetensors", "t.parquet"], ["p.parquet"], ["p.parquet", "--stream"]):
        plan = summary(dfcl, *source, "--budget", "1500")
        assert (plan["units_per_arm"]["A"], plan["spend"]) == (10_000, 1500.0)
    judged = answer(dfcl("evaluate", "s.toml", "m.safetensors", "--per-unit", "0.03", "--resamples", 32, "--json"))
    cost = judged["models"][0]["deployed"][0]["cost"]
    assert cost["low"] is None and cost["high"] is None
    shares = judged["models"][0]["deployed"][0]["share_per_arm"]
    share = shares["A"] if isinstance(shares, dict) else shares[1]
    assert cost["value"] == pytest.approx(0.15 * share, rel=1e-12)


def test_the_segments_of_a_model_s_units_keep_their_budgets(dfcl, tmp_path):
    good(dfcl("simulate", "--preset", "marketing", "--rows", 2000, "--seed", 2, "-o", "t.parquet", "--study", "s.toml"))
    good(dfcl("train", "s.toml", "--method", "tsm", "--epochs", 1, "--seed", 1, "-o", "m.safetensors"))
    cities = sorted(set(pq.read_table(tmp_path / "t.parquet")["city"].to_pylist()))
    (tmp_path / "b.csv").write_text("segment,budget\n" + "".join(f"{city},5\n" for city in cities))
    plan = summary(dfcl, "m.safetensors", "t.parquet", "--segment", "city", "--segment-budgets", "b.csv")
    assert list(plan["segments"]) == cities
    assert all(figures["spend"] <= 5 for figures in plan["segments"].values())
    assert plan["spend"] <= 5 * len(cities)


def test_none_of_several_plans_replaces_what_they_are_made_from(dfcl, tmp_path):
    write(tmp_path / "p.parquet", list(range(50)), ["0", "5"], units=50)
    good(dfcl("allocate", "p.parquet", "--budget", "1,2", "-o", "plan.parquet"))
    before = (tmp_path / "plan-1.parquet").read_bytes()
    refused = dfcl("allocate", "p.parquet", "--budget", "3,4", "--previous", "plan-1.parquet", "-o", "plan.parquet")
    assert refused.code == 2 and "'plan-1.parquet'" in refused.stderr
    assert (tmp_path / "plan-1.parquet").read_bytes() == before
