# SPDX-License-Identifier: Apache-2.0
"""Bad predictions, limits and flags of allocate: one clear message, the right exit code, no file left behind."""

import json
import math
import re

import numpy as np
import pyarrow as pa
import pytest
from allocate_oracle import Problem, allocate, arms_of_plan, graded, table_of, write_problem, write_table

USAGE, DATA, FILE, CANNOT_BE_MET = 2, 3, 4, 6
UNITS = 12
IDS = [f"u{unit}" for unit in range(UNITS)]


def predictions():
    return graded(1, UNITS).changed(ids=IDS, segment=["a"] * 6 + ["b"] * 6)


def spoiled(name, value, row=7):
    """The predictions as a table, with one number of a column changed."""
    table = table_of(predictions())
    values = table[name].to_pylist()
    values[row] = value
    kind = pa.string() if isinstance(value, str) else table[name].type
    column = [str(entry) for entry in values] if isinstance(value, str) else values
    return table.set_column(table.column_names.index(name), name, pa.array(column, kind))


def with_columns(table, **columns):
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


def masks(**columns):
    return pa.table({"id": IDS, **columns})


def refused(dfcl, tmp_path, flags, code, message):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = dfcl("allocate", *flags)
    assert result.code == code, result.stderr
    assert re.search(message, result.stderr, re.S), result.stderr
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) <= 2, "one message and one hint"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


BAD_PREDICTIONS = [
    ("NaN revenue", spoiled("revenue_5", math.nan), r"p\.\w+, unit 'u7', column 'revenue_5': not a finite number: found nan"),
    ("infinite cost", spoiled("cost_20", math.inf), r"p\.\w+, unit 'u7', column 'cost_20': not a finite number: found inf"),
    ("minus infinity", spoiled("cost_0", -math.inf), r"unit 'u7', column 'cost_0'.*-inf"),
    ("empty value", spoiled("cost_10", None), r"unit 'u7', column 'cost_10': not a finite number"),
    ("missing cost column", table_of(predictions()).drop_columns(["cost_10"]), r"no column 'cost_10' beside 'revenue_10'"),
    ("missing revenue column", table_of(predictions()).drop_columns(["revenue_10"]), r"no column 'revenue_10' beside 'cost_10'"),
    ("no arms", pa.table({"id": IDS, "score": [1.0] * UNITS}), r"not a prediction.*revenue_<arm> and cost_<arm>"),
    ("no rows", table_of(predictions()).slice(0, 0), r"p\.\w+.*no rows"),
    ("text as revenue", spoiled("revenue_5", "much"), r"column 'revenue_5': text in a numeric column"),
    ("no eligible arm", with_columns(table_of(predictions()), **{f"eligible_{5 * arm}": [int(unit != 4) for unit in range(UNITS)] for arm in range(5)}),
     r"unit 'u4': the unit may get no arm"),
    ("eligibility unknown", with_columns(table_of(predictions()), eligible_5=[1, None] * 6), r"unit 'u1', column 'eligible_5': not a finite number"),
    ("eligibility not a word", with_columns(table_of(predictions()), eligible_5=["yes", "perhaps"] * 6), r"column 'eligible_5'.*'perhaps'"),
]  # fmt: skip


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
@pytest.mark.parametrize("name", ["p.parquet", "p.csv"])
@pytest.mark.parametrize("what,table,message", BAD_PREDICTIONS, ids=[case[0] for case in BAD_PREDICTIONS])
def test_bad_predictions(dfcl, tmp_path, what, table, message, name, stream):
    write_table(table, tmp_path / name)
    refused(dfcl, tmp_path, [name, "--budget", "5", *stream, "-o", "plan.parquet"], DATA, message)


def test_a_unit_without_an_id_is_named_by_its_row(dfcl, tmp_path):
    write_table(spoiled("cost_20", math.nan).drop_columns(["id"]), tmp_path / "p.parquet")
    for flags in (["--budget=1"], ["--budget=1", "--stream"], ["--curve=3"], ["--multiplier=1"]):
        refused(dfcl, tmp_path, ["p.parquet", *flags], DATA, r"unit '8', column 'cost_20'")


BAD_FILES = [
    ("ids that do not join", "--eligible", masks(eligible_5=[1] * UNITS).slice(0, 3), DATA, r"f\.csv: 9 of 12 units are not there.*'u3'"),
    ("an id twice", "--eligible", pa.table({"id": [*IDS[:-1], "u2"], "eligible_5": [1] * UNITS}), DATA, r"f\.csv: an id stands twice: found 'u2'"),
    ("mask of an unknown arm", "--eligible", masks(eligible_51=[1] * UNITS), DATA, r"'eligible_51' names no arm.*did you mean '15'"),
    ("mask without arms", "--eligible", masks(x=[1] * UNITS), DATA, r"f\.csv: no column eligible_<arm>"),
    ("no arm allowed", "--eligible", masks(**{f"eligible_{5 * arm}": [int(unit != 4) for unit in range(UNITS)] for arm in range(5)}), DATA, r"unit 'u4'.*no arm"),
    ("mask absent", "--eligible", None, FILE, r"f\.csv: no such file"),
    ("second cost without an arm", "--second-cost", masks(**{f"cost_{arm}": [1.0] * UNITS for arm in (0, 5, 10, 15)}), DATA, r"no column 'cost_20'"),
    ("second cost not finite", "--second-cost", masks(**{f"cost_{5 * arm}": [1.0] * 9 + [math.nan] + [1.0] * 2 for arm in range(5)}), DATA, r"f\.csv, unit 'u9', column 'cost_0'"),
    ("second cost of other units", "--second-cost", pa.table({"id": [f"v{unit}" for unit in range(UNITS)], **{f"cost_{5 * arm}": [1.0] * UNITS for arm in range(5)}}), DATA, r"12 of 12 units"),
    ("segment budgets without names", "--segment-budgets", pa.table({"part": ["a", "b"], "budget": [1.0, 2.0]}), DATA, r"no column 'segment'"),
    ("a segment twice", "--segment-budgets", pa.table({"segment": ["a", "a"], "budget": [1.0, 2.0]}), DATA, r"segment 'a' stands twice"),
    ("a segment without a number", "--segment-budgets", pa.table({"segment": ["a", "b"], "budget": [1.0, None]}), DATA, r"no budget for segment 'b'"),
]  # fmt: skip
COMPANIONS = {"--eligible": [], "--second-cost": ["--second-budget", "9"], "--segment-budgets": ["--segment", "segment"]}


@pytest.mark.parametrize("what,flag,table,code,message", BAD_FILES, ids=[case[0] for case in BAD_FILES])
def test_bad_files_of_limits(dfcl, tmp_path, what, flag, table, code, message):
    write_problem(predictions(), tmp_path / "p.parquet")
    if table is not None:
        write_table(table, tmp_path / "f.csv")
    refused(dfcl, tmp_path, ["p.parquet", "--budget", "5", flag, "f.csv", *COMPANIONS[flag], "-o", "plan.parquet"], code, message)


BAD_FLAGS = [
    ("", USAGE, r"how much may be spent\?.*--budget"),
    ("--budget 5 --per-unit 1", USAGE, r"more than one way"),
    ("--budget 5 --curve 4", USAGE, r"more than one way"),
    ("--share-of-max 0.1 --multiplier 2", USAGE, r"more than one way"),
    ("--budget nan", USAGE, r"--budget.*nan.*a number"),
    ("--budget much", USAGE, r"--budget.*much"),
    ("--budget 5 --buget 4", USAGE, r"did you mean '--budget'"),
    ("--multiplier=-1", USAGE, r"--multiplier.*-1.*0 or more"),
    ("--multiplier nan", USAGE, r"--multiplier.*nan.*0 or more"),
    ("--curve 1", USAGE, r"--curve"),
    ("--budget 5 --min-roi=-1", USAGE, r"--min-roi.*-1.*0 or more"),
    ("--budget 5 --objective profits", USAGE, r"did you mean 'profit'"),
    ("--budget 5 --margin 0.3 --per-revenue 2", USAGE, r"--per-revenue.*--margin"),
    ("--budget 5 --objective profit --margin 0", USAGE, r"--margin.*above 0"),
    ("--budget 5 --control 11", USAGE, r"--control: no arm '11'.*did you mean '10'"),
    ("--budget 5 --max-units 51=2", USAGE, r"--max-units: no arm '51'.*did you mean '15'"),
    ("--budget 5 --min-units 51=2", USAGE, r"--min-units: no arm '51'.*did you mean '15'"),
    ("--budget 5 --max-units 15", USAGE, r"--max-units.*'15'.*ARM=N"),
    ("--budget 5 --max-units 15=-2", USAGE, r"--max-units.*'15=-2'.*ARM=N"),
    ("--budget 5 --max-units 15=2.5", USAGE, r"--max-units.*'15=2.5'.*ARM=N"),
    ("--budget 5 --max-units 15=2 --max-units 15=3", USAGE, r"--max-units: a second limit.*'15=3'"),
    ("--budget 5 --segment segment", USAGE, r"--segment: goes together with --segment-budgets"),
    ("--budget 5 --second-budget 5", USAGE, r"--second-budget: goes together with --second-cost"),
    ("--budget 5 --segment sgment --segment-budgets s.csv", DATA, r"no column 'sgment'.*did you mean 'segment'"),
    ("--curve 5 --max-units 15=2", USAGE, r"need all predictions in memory and a budget"),
    ("--multiplier 1 --min-units 15=2", USAGE, r"need all predictions in memory and a budget"),
    ("--budget 5 --stream --max-units 15=2", USAGE, r"need all predictions in memory.*--stream"),
    ("--budget 5 --stream --eligible m.csv", USAGE, r"--stream.*--eligible.*eligible_<arm> columns"),
    ("--budget 5 -o plan.xlsx", USAGE, r"-o: unknown file ending.*\.parquet"),
    ("--curve 5 -o curve.parquet", USAGE, r"curve\.parquet.*\.csv or \.json"),
    ("--budget 5 -o p.parquet", USAGE, r"-o: is an input.*p\.parquet"),
    ("--budget 5 --stream -o ./p.parquet", USAGE, r"-o: is an input.*p\.parquet"),
    ("--budget 5 --segment segment --segment-budgets s.csv -o s.csv", USAGE, r"-o: is an input.*s\.csv"),
    ("--budget 5 -o nowhere/plan.parquet", FILE, r"nowhere/plan\.parquet: cannot write: the folder does not exist"),
    ("--budget 5 --stream -o nowhere/plan.csv", FILE, r"the folder does not exist"),
    ("--curve 5 -o nowhere/curve.csv", FILE, r"the folder does not exist"),
]  # fmt: skip


@pytest.mark.parametrize("flags,code,message", BAD_FLAGS, ids=[case[0] or "nothing" for case in BAD_FLAGS])
def test_bad_flags(dfcl, tmp_path, flags, code, message):
    write_problem(predictions(), tmp_path / "p.parquet")
    write_table(masks(eligible_5=[1] * UNITS), tmp_path / "m.csv")
    write_table(pa.table({"segment": ["a", "b"], "budget": [1.0, 2.0]}), tmp_path / "s.csv")
    refused(dfcl, tmp_path, ["p.parquet", *flags.split()], code, message)


def test_missing_predictions(dfcl, tmp_path):
    refused(dfcl, tmp_path, ["nowhere.parquet", "--budget", "5"], FILE, r"nowhere\.parquet: no such file")
    refused(dfcl, tmp_path, ["--budget", "5"], USAGE, r"PREDICTIONS")


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
def test_of_several_budgets_those_that_can_be_met_are_written(dfcl, tmp_path, stream):
    write_problem(Problem([[1.0, 2.0]] * 3, [[1.0, 2.0]] * 3), tmp_path / "p.parquet")
    plans = allocate(dfcl, "p.parquet", "--budget=2.5,4", *stream, output="plan.csv", code=CANNOT_BE_MET)["plans"]
    assert [plan["status"] for plan in plans] == ["cannot be met", "optimal within gap"]
    assert plans[0]["least_spend"] == 3.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.parquet", "plan-2.csv", "plan-2.csv.meta.json"]


def test_a_budget_that_cannot_be_met_keeps_the_plan_of_yesterday(dfcl, tmp_path):
    write_problem(Problem([[1.0, 2.0]] * 3, [[1.0, 2.0]] * 3), tmp_path / "p.parquet")
    (tmp_path / "plan.parquet").write_text("yesterday's")
    for flags in ([], ["--stream"], ["--max-units", "5=1"]):
        summary = allocate(dfcl, "p.parquet", "--budget=2.5", *flags, code=CANNOT_BE_MET)
        assert (summary["status"], summary["least_spend"]) == ("cannot be met", 3.0)
        assert (tmp_path / "plan.parquet").read_text() == "yesterday's"
        assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("words", [("yes", "no"), ("TRUE", "false"), ("1", "0"), (True, False), (1.0, 0.0)], ids=str)
@pytest.mark.parametrize("name", ["p.parquet", "p.csv"])
def test_eligibility_in_words(dfcl, tmp_path, words, name):
    problem = predictions().changed(segment=None)
    eligible = np.ones(problem.cost.shape, dtype=bool)
    eligible[::3, 4] = False
    mask = [words[0] if may else words[1] for may in eligible[:, 4]]
    write_table(with_columns(table_of(problem), eligible_20=mask), tmp_path / name)
    plans = []
    for flags in ([], ["--stream"]):
        allocate(dfcl, name, "--budget", "1000", *flags)
        plans.append(arms_of_plan(tmp_path / "plan.parquet", problem))
        assert np.array_equal(plans[-1], np.where(eligible, problem.r, -math.inf).argmax(axis=1))


def test_errors_as_json(dfcl, tmp_path):
    write_table(spoiled("cost_20", math.nan), tmp_path / "p.parquet")
    result = dfcl("allocate", "p.parquet", "--budget", "5", "--json")
    error = json.loads(result.stderr)["error"]
    assert (result.code, error["kind"], error["exit_code"]) == (DATA, "data", DATA)
    assert "unit 'u7'" in error["where"]
