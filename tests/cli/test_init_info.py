# SPDX-License-Identifier: Apache-2.0
"""`info` says what a file is; `init` writes a study that `check` can use."""

import json
import os
from pathlib import Path

import pytest
from conftest import answer, good

ROOT = Path(__file__).resolve().parents[2]


def test_info_names_columns_ranges_and_how_it_was_made(dfcl, tmp_path):
    assert dfcl("simulate", "--preset", "criteo", "--rows", "3000", "--seed", "4", "-o", "t.parquet", "--truth", "truth.parquet").code == 0
    result = dfcl("info", "t.parquet")
    assert result.code == 0
    assert "3,000 rows" in result.stdout and "treatment" in result.stdout
    assert "Made by dfcl" in result.stdout and "seed 4" in result.stdout
    summary = json.loads(dfcl("info", "t.parquet", "--json").stdout)
    assert summary["kind"] == "trial" and summary["rows"] == 3000
    treatment = next(column for column in summary["columns"] if column["name"] == "treatment")
    assert (treatment["low"], treatment["high"], treatment["distinct"]) == (0, 1, 2)
    assert json.loads(dfcl("info", "truth.parquet", "--json").stdout)["kind"] == "truth"


def test_whole_numbers_of_a_text_file_keep_their_digits(dfcl, tmp_path):
    first = 2**53 + 1
    rows = [f"{first + 2 * i},{first + 2 * (i % 3)},{'no' if i % 2 else 'yes'},{i % 7},{i % 2 / 2}" for i in range(400)]
    (tmp_path / "t.csv").write_text("id,region,arm,revenue,cost\n" + "\n".join(rows) + "\n")
    columns = {column["name"]: column for column in json.loads(dfcl("info", "t.csv", "--json").stdout)["columns"]}
    assert columns["id"]["distinct"] == 400
    assert sorted(value["value"] for value in columns["region"]["frequent"]) == [str(first + 2 * i) for i in range(3)]
    assert dfcl("init", "t.csv", "-o", "study.toml").code == 0
    assert 'id = "id"' in (tmp_path / "study.toml").read_text()
    # A real number far down: the part that holds it is read as real numbers.
    late = [f"{i},{i % 3}" for i in range(900_000)] + ["1.5,2.5"]
    (tmp_path / "late.csv").write_text("id,few\n" + "\n".join(late) + "\n")
    columns = {column["name"]: column for column in json.loads(dfcl("info", "late.csv", "--json").stdout)["columns"]}
    assert [value["value"] for value in columns["few"]["frequent"]] == ["0", "1", "2", "2.5"]


def test_info_knows_tables_by_their_columns_where_they_do_not_say(dfcl, tmp_path):
    (tmp_path / "p.csv").write_text("id,revenue_0,cost_0,revenue_5,cost_5\n1,2,0,3,1\n")
    (tmp_path / "launched.csv").write_text("id,arm,revenue,cost,role,propensity\n1,5,3,1,plan,0.9\n")
    (tmp_path / "trial.csv").write_text("id,arm,revenue,cost\n1,5,3,1\n")
    assert json.loads(dfcl("info", "p.csv", "--json").stdout)["kind"] == "prediction"
    assert json.loads(dfcl("info", "launched.csv", "--json").stdout)["kind"] == "plan"
    assert json.loads(dfcl("info", "trial.csv", "--json").stdout)["kind"] == "trial"
    assert dfcl("allocate", "p.csv", "--budget", "1", "-o", "plan.csv").code == 0
    assert json.loads(dfcl("info", "plan.csv", "--json").stdout)["kind"] == "plan"


def test_the_page_on_study_files_is_the_program_s_own(dfcl):
    assert dfcl("info", "--study-keys").stdout == (ROOT / "docs" / "study.md").read_text()


@pytest.mark.parametrize("preset", ["criteo", "marketing"])
def test_init_writes_a_study_that_check_takes(dfcl, tmp_path, preset):
    assert dfcl("simulate", "--preset", preset, "--rows", "4000", "--seed", "1", "-o", "t.parquet").code == 0
    result = dfcl("init", "t.parquet", "-o", "study.toml")
    assert result.code == 0, result.stderr
    assert dfcl("check", "study.toml").code == 0
    text = (tmp_path / "study.toml").read_text()
    expected = {
        "criteo": ['arm = "treatment"', 'revenue = "conversion"', 'cost = "visit"'],
        "marketing": ['arm = "discount"', 'revenue = "orders"', 'cost = "subsidy"', 'id = "shop_id"', 'order = ["0", "5", "10", "15", "20"]'],
    }[preset]
    for line in expected:
        assert line in text
    again = dfcl.plain("init", "t.parquet", "-o", "study.toml")
    assert again.code == 4 and "--overwrite" in again.stderr
    assert dfcl("init", "t.parquet", "-o", "study.toml", "--overwrite").code == 0


def test_init_writes_the_newest_format_and_budgets_above_what_control_costs(dfcl, tmp_path):
    for preset in ("marketing", "criteo"):
        assert dfcl("simulate", "--preset", preset, "--rows", "4000", "--seed", "1", "-o", "t.csv").code == 0
        assert dfcl("init", "t.csv", "-o", "study.toml", "--overwrite").code == 0
        text = (tmp_path / "study.toml").read_text()
        assert text.startswith("format = 2\n")
        assert "share_of_max = [0.1, 0.2, 0.4]" in text


def test_same_bytes_for_any_number_of_threads(dfcl, tmp_path):
    for name in ("t.parquet", "t.csv"):
        contents = set()
        for threads in (1, 2, 8):
            done = dfcl("simulate", "--preset", "marketing", "--rows", "150000", "--seed", "9", "-o", name, "--threads", threads)
            assert done.code == 0, done.stderr
            contents.add((tmp_path / name).read_bytes())
        assert len(contents) == 1


def test_info_says_what_the_machine_is_and_how_fast(dfcl):
    found = answer(dfcl("info", "--machine", "--json", "--threads", "2"))
    assert found["threads"] == 2 and found["processors"] >= 1
    assert found["kernels"] in ("avx512", "avx2", "portable")
    for rate in ("products_gflops", "reading_gb_per_second"):
        assert found[rate]["one_thread"] > 0 and found[rate]["all_threads"] > 0
    assert "GFLOP/s" in dfcl("info", "--machine").stdout
    assert "is about no file" in good(dfcl("info", "--machine", "t.parquet"), 2).stderr


def test_a_lesser_kind_of_processor_can_be_asked_for(dfcl):
    found = answer(dfcl("info", "--machine", "--json", env={**os.environ, "DFCL_PROCESSOR": "portable"}))
    assert found["kernels"] == "portable"
    wrong = good(dfcl("info", "--machine", env={**os.environ, "DFCL_PROCESSOR": "sse9"}), 2)
    assert "sse9" in wrong.stderr and "avx512, avx2 or portable" in wrong.stderr
