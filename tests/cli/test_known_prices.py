# SPDX-License-Identifier: Apache-2.0
"""Prices that the study knows are facts: exact in check, in plans and in predictions; only what they depend on is learned."""

import csv
import json
import random

import pytest

STUDY = """format = 2
[data]
trial = "trial.csv"
[columns]
id = "id"
arm = "arm"
revenue = "revenue"
{columns}
[arms]
control = "none"
{arms}
"""


@pytest.fixture(scope="module")
def made(run_in, tmp_path_factory):
    program = run_in(tmp_path_factory.mktemp("prices"))
    draw = random.Random(5)
    with (program.folder / "trial.csv").open("w") as file:
        file.write("id,x,arm,revenue,redeemed\n")
        for unit in range(24_000):
            arm, x = draw.choice(["none", "coupon"]), draw.random()
            redeemed = "yes" if arm == "coupon" and draw.random() < 0.3 + 0.3 * x else "no"
            revenue = 1 + x + (0.5 * x if arm == "coupon" else 0) + draw.random()
            file.write(f"{unit},{x:.4f},{arm},{revenue:.4f},{redeemed}\n")
    for name, columns, arms in (
        ("price", 'exclude = ["redeemed"]', "cost = { coupon = 0.15 }"),
        ("paid", 'cost_if = "redeemed"', "cost = { coupon = 0.15 }"),
        ("rate", 'exclude = ["redeemed"]', "cost_per_revenue = { coupon = 0.15 }"),
    ):
        (program.folder / f"{name}.toml").write_text(STUDY.format(columns=columns, arms=arms))
        train = program("train", f"{name}.toml", "--method", "tsm", "--epochs", "3", "-o", f"{name}.safetensors")
        assert train.code == 0, train.stderr
        assert program("predict", f"{name}.safetensors", "trial.csv", "-o", f"{name}.csv").code == 0
    return program


def rows(program, name):
    with (program.folder / name).open() as file:
        return list(csv.DictReader(file))


def test_check_gives_a_price_as_it_was_written_without_an_interval(made):
    arms = json.loads(made("check", "price.toml", "--json").stdout)["arms"]
    assert [arm["cost"] for arm in arms] == [{"value": cost, "low": None, "high": None} for cost in (0.0, 0.15)]
    assert "0.1500000" not in made("check", "price.toml").stdout


def test_a_plan_spends_exactly_price_times_pieces(made):
    done = made("allocate", "price.safetensors", "trial.csv", "--budget", "1500", "--json")
    assert done.code == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["units_per_arm"]["coupon"] == 10_000 and plan["spend"] == 1500.0


def test_predicted_costs_are_the_price_or_follow_from_it(made):
    assert {(row["cost_none"], row["cost_coupon"]) for row in rows(made, "price.csv")} == {("0", "0.15")}
    paid = [float(row["cost_coupon"]) / 0.15 for row in rows(made, "paid.csv")]
    assert all(0 < share < 1 for share in paid) and len(set(paid)) > 1000
    assert sum(paid) / len(paid) == pytest.approx(0.45, abs=0.02)
    assert {row["cost_none"] for row in rows(made, "paid.csv")} == {"0"}
    for row in rows(made, "rate.csv")[:500]:
        assert float(row["cost_coupon"]) == pytest.approx(0.15 * float(row["revenue_coupon"]), rel=1e-6)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("columns.cost_if=redeemd", "no column 'redeemd'"),
        ("arms.cost={ coupn = 0.15 }", "no arm 'coupn'"),
        ("columns.cost=x", "the cost must be said in one way"),
        ("columns.winsorize={ cost = 0.9 }", "cannot cut costs that are known"),
    ],
)
def test_what_contradicts_a_price_is_refused(made, setting, words):
    done = made("check", "paid.toml", "--set", setting)
    assert done.code in (2, 3) and words in done.stderr, done.stderr
