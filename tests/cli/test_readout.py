# SPDX-License-Identifier: Apache-2.0
"""What came of a plan: from allocate --holdout through simulated outcomes to readout and report."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import answer

ROWS = 8000


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """A folder with a plan and its outcomes, made once."""
    from conftest import Program

    folder = tmp_path_factory.mktemp("launch")
    dfcl = Program(folder)
    simulate = ["simulate", "--preset", "marketing", "--rows", ROWS, "--seed", "1"]
    for command in (
        [*simulate, "-o", "trial.parquet", "--truth", "predictions.parquet"],
        ["allocate", "predictions.parquet", "--share-of-max", "0.2", "--holdout", "0.1", "--explore", "0.03", "--launch", "2024-05-01", "-o", "plan.parquet"],
        [*simulate, "--outcomes-of", "plan.parquet", "--cost-scale", "1.2", "-o", "outcomes.parquet"],
    ):
        result = dfcl(*command)
        assert result.code == 0, result.stderr
    return folder


@pytest.fixture
def files(launched, tmp_path):
    plan = pq.read_table(launched / "plan.parquet")
    outcomes = pq.read_table(launched / "outcomes.parquet")
    pq.write_table(plan, tmp_path / "plan.parquet")
    (tmp_path / "plan.parquet").write_bytes((launched / "plan.parquet").read_bytes())
    pq.write_table(outcomes, tmp_path / "outcomes.parquet")
    return plan.to_pydict(), outcomes.to_pydict()


def write(path, columns):
    pq.write_table(pa.table(columns), path)


def readout(dfcl, *flags):
    return answer(dfcl("readout", "plan.parquet", "outcomes.parquet", *flags, "--json"))


def test_an_incremental_budget_is_compared_with_spend_above_control(dfcl, tmp_path):
    """Control costs 1 a unit: a budget of 500 above it lets a plan spend 2,500 on 2,000 units."""
    units = 2000
    predictions = {"id": list(range(units)), "revenue_0": [5.0] * units, "cost_0": [1.0] * units}
    write(tmp_path / "predictions.parquet", predictions | {"revenue_5": [9.0 + i % 7 for i in range(units)], "cost_5": [2.0] * units})
    made = dfcl("allocate", "predictions.parquet", "--control", "0", "--budget", "500", "--holdout", "0.1", "-o", "plan.parquet", "--json")
    assert made.code == 0, made.stderr
    figures = json.loads(made.stdout)
    assert (figures["budget"], figures["budget_basis"]) == (500, "incremental")
    plan = pq.read_table(tmp_path / "plan.parquet").to_pydict()
    assert sum(plan["cost"]) == pytest.approx(2500, abs=1)
    noise = np.random.default_rng(1).normal(0, 0.1, units)
    write(tmp_path / "outcomes.parquet", {key: plan[key] for key in ("id", "role", "arm", "cost")} | {"revenue": np.array(plan["revenue"]) + noise})
    results = readout(dfcl)
    assert results["budget_basis"] == "total"
    assert results["readout"]["budget"] == pytest.approx(2500)
    assert results["readout"]["spend"] == pytest.approx(2500, abs=1)
    assert readout(dfcl, "--budget", "500")["readout"] == results["readout"]  # the number that was given to allocate


def test_what_revenue_is_worth_is_taken_from_the_plan(dfcl, tmp_path, launched):
    made = dfcl("allocate", launched / "predictions.parquet", "--share-of-max", "0.2", "--holdout", "0.1", "--margin", "0.5", "-o", "plan.parquet")
    assert made.code == 0, made.stderr
    done = dfcl("simulate", "--preset", "marketing", "--rows", ROWS, "--seed", "1", "--outcomes-of", "plan.parquet", "-o", "outcomes.parquet")
    assert done.code == 0, done.stderr
    realised = readout(dfcl)["readout"]["realised"]
    assert realised["incremental_profit"] == readout(dfcl, "--margin", "0.5")["readout"]["realised"]["incremental_profit"]
    assert realised["incremental_profit"] != readout(dfcl, "--margin", "0.4")["readout"]["realised"]["incremental_profit"]
    # Control is free: what was given beyond it is what was spent.
    cost = realised["incremental_cost"]
    assert cost["value"] == cost["low"] == cost["high"] == realised["spend"]
    text = dfcl("readout", "plan.parquet", "outcomes.parquet").stdout
    line = next(line for line in text.splitlines() if "cost over the hold-out" in line)
    assert "[" not in line


def test_planned_against_realised_and_over_the_hold_out(dfcl, tmp_path, files):
    plan, outcomes = ({k: np.array(v) for k, v in table.items()} for table in files)
    results = readout(dfcl, "--holdout-share", "0.1", "-o", "results.json")
    found = results["readout"]
    role = plan["role"]
    assert found["units_per_role"] == {name: int((role == name).sum()) for name in ("plan", "holdout", "explore")}
    assert found["planned"]["spend"] == pytest.approx(plan["cost"][role == "plan"].sum(), rel=1e-5)
    # Money that was spent is a fact: a number without an interval.
    assert found["realised"]["spend"] == pytest.approx(outcomes["cost"][role == "plan"].sum(), rel=1e-9)
    assert found["realised"]["revenue"] == pytest.approx(outcomes["revenue"][role == "plan"].sum(), rel=1e-9)
    assert found["spend"] == pytest.approx(outcomes["cost"].sum(), rel=1e-9)
    assert 1.1 < found["realised"]["spend"] / found["planned"]["spend"] < 1.3
    # The gain over the hold-out lies near the plain difference of means, in a narrower interval.
    gain = outcomes["revenue"][role == "plan"].mean() - outcomes["revenue"][role == "holdout"].mean()
    per_unit = found["per_unit"]["incremental_revenue"]
    sd = outcomes["revenue"][role == "holdout"].std() / np.sqrt((role == "holdout").sum())
    assert abs(per_unit["value"] - gain) < 4 * sd and per_unit["high"] - per_unit["low"] < 0.8 * 2 * 1.96 * sd
    # Overspend by arm adds up.
    assert sum(arm["overspend"] for arm in found["arms"]) == pytest.approx(found["realised"]["spend"] - found["planned"]["spend"])
    assert [arm["arm"] for arm in found["arms"]] == ["0", "5", "10", "15", "20"]
    # Too much was spent: the next multiplier is higher.
    assert found["next_multiplier"]["low"] > found["multiplier"] > 0
    assert found["not_as_planned"] == 0 and found["warnings"] == []
    # The results file is what was printed, and the report draws it.
    assert json.loads((tmp_path / "results.json").read_text()) == results
    assert (results["format"], results["kind"]) == ("dfcl-results", "readout")
    report = dfcl("report", "results.json", "-o", "report.html")
    assert report.code == 0, report.stderr
    text = dfcl("readout", "plan.parquet", "outcomes.parquet", "--holdout-share", "0.1").stdout
    # What was gained, then promised against delivered, then spend.
    lines = ["earned more than the hold-out", "Promised: ", "Spend was ", "multiplier to use next"]
    places = [text.find(line) for line in lines]
    assert -1 not in places and places == sorted(places), text


def test_the_next_multiplier_would_have_met_the_budget(dfcl, tmp_path, files, launched):
    """With the proposed multiplier the same world spends the budget, within a few per cent."""
    found = readout(dfcl)["readout"]
    assert found["spend"] / found["budget"] > 1.15
    predictions = launched / "predictions.parquet"
    multiplier = found["next_multiplier"]["value"]
    again = dfcl("allocate", predictions, "--multiplier", multiplier, "--holdout", "0.1", "--explore", "0.03", "-o", "next.parquet")
    assert again.code == 0, again.stderr
    simulated = dfcl("simulate", "--preset", "marketing", "--rows", ROWS, "--seed", "1", "--outcomes-of", "next.parquet", "--cost-scale", "1.2", "-o", "next_outcomes.parquet")
    assert simulated.code == 0, simulated.stderr
    spend = np.sum(pq.read_table(tmp_path / "next_outcomes.parquet").to_pydict()["cost"])
    assert spend / found["budget"] == pytest.approx(1.0, abs=0.05)


def test_units_that_never_got_their_arm_are_warned_about(dfcl, tmp_path, files):
    plan, outcomes = files
    rng = np.random.default_rng(1)
    lost = 0
    for i, role in enumerate(outcomes["role"]):
        if role == "plan" and outcomes["arm"][i] != "0" and rng.random() < 0.4:
            outcomes["arm"][i], outcomes["cost"][i] = "0", 0.0
            lost += 1
    write(tmp_path / "outcomes.parquet", outcomes)
    result = dfcl("readout", "plan.parquet", "outcomes.parquet", "--json")
    assert result.code == 0
    found = json.loads(result.stdout)["readout"]
    assert found["not_as_planned"] == lost == sum(crossing["units"] for crossing in found["crossings"])
    assert "intention to treat" in found["warnings"][0] and "intention to treat" in result.stderr


@pytest.mark.parametrize("kind", ["lost units", "another share", "treated"])
def test_a_broken_hold_out_is_refused_and_nothing_is_written(dfcl, tmp_path, files, kind):
    plan, outcomes = files
    share = "0.1"
    if kind == "lost units":
        keep = [role != "holdout" or i % 2 == 0 for i, role in enumerate(outcomes["role"])]
        outcomes = {name: [value for value, kept in zip(values, keep) if kept] for name, values in outcomes.items()}
    if kind == "another share":
        share = "0.2"
    if kind == "treated":
        outcomes["arm"] = ["20" if role == "holdout" else arm for role, arm in zip(outcomes["role"], outcomes["arm"])]
    write(tmp_path / "outcomes.parquet", outcomes)
    result = dfcl("readout", "plan.parquet", "outcomes.parquet", "--holdout-share", share, "-o", "results.json")
    assert result.code == 7, result.stderr
    assert "the hold-out is broken" in result.stderr and result.stdout == ""
    assert not (tmp_path / "results.json").exists()


def no_join(plan, outcomes):
    outcomes["id"] = [i + 10**6 for i in outcomes["id"]]


def no_holdout(plan, outcomes):
    outcomes["role"] = ["plan"] * len(outcomes["role"])
    plan["role"] = ["plan"] * len(plan["role"])


def negative_propensity(plan, outcomes):
    plan["propensity"][17] = -0.2


def negative_propensity_of_outcomes(plan, outcomes):
    outcomes["propensity"] = [0.5] * (ROWS - 1) + [-0.1]


def too_early(plan, outcomes):
    outcomes["time"] = ["2024-05-02"] * (ROWS - 1) + ["2024-04-30"]


def before_the_plans_own_time(plan, outcomes):
    plan["time"], outcomes["time"] = [5] * ROWS, [10] * (ROWS - 1) + [4]


def unknown_role(plan, outcomes):
    outcomes["role"][3] = "control"


def no_cost(plan, outcomes):
    del outcomes["cost"]


def twice(plan, outcomes):
    outcomes["id"][1] = outcomes["id"][0]


def no_number(plan, outcomes):
    outcomes["revenue"][5] = None


@pytest.mark.parametrize(
    "spoil, words",
    [
        (no_join, ["do not join", "0 of 8000"]),
        (no_holdout, ["no hold-out"]),
        (negative_propensity, ["propensity", "-0.2", "unit '18'", "plan.parquet"]),
        (negative_propensity_of_outcomes, ["propensity", "-0.1", "outcomes.parquet"]),
        (too_early, ["before the plan", "2024-04-30", "2024-05-01"]),
        (before_the_plans_own_time, ["before the plan", "4", "5 or later"]),
        (unknown_role, ["unknown role", "'control'", "plan, holdout or explore"]),
        (no_cost, ["no column 'cost'"]),
        (twice, ["stands twice"]),
        (no_number, ["not a finite number", "revenue"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_bad_input_is_named_and_nothing_is_written(dfcl, tmp_path, files, spoil, words):
    plan, outcomes = files
    spoil(plan, outcomes)
    if spoil not in (too_early,):
        write(tmp_path / "plan.parquet", plan)
    write(tmp_path / "outcomes.parquet", outcomes)
    result = dfcl("readout", "plan.parquet", "outcomes.parquet", "--holdout-share", "0.1", "-o", "results.json")
    assert result.code == 3, result.stderr
    assert all(word in result.stderr for word in words), result.stderr
    assert result.stdout == "" and not (tmp_path / "results.json").exists()


def test_a_plan_that_does_not_say_its_hold_out_needs_the_flag(dfcl, tmp_path, files):
    plan, outcomes = files
    pa.csv.write_csv(pa.table(plan), tmp_path / "plan.csv")
    pa.csv.write_csv(pa.table(outcomes), tmp_path / "outcomes.csv")
    result = dfcl("readout", "plan.csv", "outcomes.csv")
    assert result.code == 2 and "--holdout-share" in result.stderr
    result = dfcl("readout", "plan.csv", "outcomes.csv", "--holdout-share", "0.1", "--budget", "3300", "--multiplier", "3", "--json")
    assert result.code == 0, result.stderr
    found = json.loads(result.stdout)["readout"]
    assert found["budget"] == pytest.approx(3300) and found["next_multiplier"]["value"] > 0
    for wrong in ("0", "1", "-0.1", "nan"):
        assert dfcl("readout", "plan.csv", "outcomes.csv", f"--holdout-share={wrong}").code == 2


def test_roles_may_come_from_the_outcomes_alone(dfcl, tmp_path, files):
    plan, outcomes = files
    for name in ("role", "propensity", "control_revenue", "control_cost"):
        del plan[name]
    write(tmp_path / "plan.parquet", plan)
    found = readout(dfcl, "--holdout-share", "0.1")["readout"]
    assert found["not_as_planned"] == 0 and found["crossings"] == []
    assert found["planned"]["return_per_cost"] is None


def test_an_output_that_is_an_input_is_refused(dfcl, tmp_path, files):
    assert dfcl("readout", "plan.parquet", "outcomes.parquet", "-o", "plan.parquet").code == 2


def test_launches_add_up(dfcl, files, tmp_path):
    """Three launches, each read out after the one before: figures and their ends are sums; a launch counts once."""
    plan, outcomes = files
    figures = []
    for number in range(3):
        write(tmp_path / "outcomes.parquet", outcomes | {"revenue": [(1 + 0.5 * number) * one for one in outcomes["revenue"]]})
        after = ["--previous", f"readout{number - 1}.json"] if number else []
        made = dfcl("readout", "plan.parquet", "outcomes.parquet", "--per-revenue", "2", "--launch", f"2024-05-0{number + 1}", *after, "-o", f"readout{number}.json")
        assert made.code == 0, made.stderr
        figures.append(json.loads((tmp_path / f"readout{number}.json").read_text())["readout"])
        lines = figures[-1]["launches"]
        assert [line["name"] for line in lines] == [f"2024-05-0{i + 1}" for i in range(number + 1)]
        assert ("All launches so far" in made.stdout) == (number > 0)
        for place, line in enumerate(lines):
            assert line["revenue"] == figures[place]["realised"]["incremental_revenue"]
            assert line["profit"] == figures[place]["realised"]["incremental_profit"]
            assert line["spend"] == figures[place]["spend"]
        for key in ("revenue", "cost", "profit"):
            for end in ("value", "low", "high"):
                assert figures[-1]["all_launches"][key][end] == pytest.approx(sum(line[key][end] for line in lines), rel=1e-12)
    page = dfcl("report", "readout2.json", "-o", "page.html")
    assert page.code == 0 and "All 3 launches so far" in (tmp_path / "page.html").read_text()

    again = dfcl("readout", "plan.parquet", "outcomes.parquet", "--per-revenue", "2", "--launch", "2024-05-03", "--previous", "readout2.json")
    assert again.code == 3 and "counted already" in again.stderr
    (tmp_path / "old.json").write_text(json.dumps(json.loads((tmp_path / "readout2.json").read_text()) | {"readout": {}}))
    old = dfcl("readout", "plan.parquet", "outcomes.parquet", "--previous", "old.json")
    assert old.code == 3 and "lists no launches" in old.stderr
    results = json.loads((tmp_path / "readout0.json").read_text())
    results["report"]["revenue_is_money"] = not results["report"]["revenue_is_money"]
    (tmp_path / "counts.json").write_text(json.dumps(results))
    mixed = dfcl("readout", "plan.parquet", "outcomes.parquet", "--per-revenue", "2", "--launch", "2024-05-09", "--previous", "counts.json")
    assert mixed.code == 3 and "other units" in mixed.stderr
