# SPDX-License-Identifier: Apache-2.0
"""dfcl report: formats, where they go, and what is refused. tests/web looks at the page itself."""

import json
import zipfile
from xml.etree import ElementTree

import pytest

RESULTS = {
    "format": "dfcl-results",
    "format_version": 1,
    "kind": "evaluation",
    "report": {"title": "Spring trial"},
    "verdict": {"status": "not_shown", "sentence": "No gain can be shown.", "details": []},
}


@pytest.fixture
def results(tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(RESULTS))
    return tmp_path / "results.json"


def test_the_page_is_one_file_that_refers_to_nothing_outside_it(dfcl, results):
    done = dfcl("report", results, "-o", "report.html")
    assert (done.code, done.stderr) == (0, "")
    page = (results.parent / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<title>Spring trial</title>" in page
    for reference in ("src=", "<link", "@import", "url(http"):
        assert reference not in page.split("<script>")[0], reference
    assert "default-src 'none'" in page
    assert len(page) < 1_000_000


def test_the_format_follows_the_name_of_the_output_or_the_flag(dfcl, results):
    folder = results.parent
    assert dfcl("report", results, "-o", "a.md").code == 0
    assert dfcl("report", results, "-o", "a.txt").code == 0
    assert dfcl("report", results, "-o", "b.txt", "--format", "md").code == 0
    assert (folder / "a.md").read_text().startswith("# Spring trial\n")
    assert (folder / "a.txt").read_text().startswith("Spring trial\n====")
    assert (folder / "b.txt").read_text() == (folder / "a.md").read_text()
    refused = dfcl("report", results, "-o", "a.pdf")
    assert refused.code == 2 and ".html, .md, .txt, .xlsx or .csv" in refused.stderr
    assert not (folder / "a.pdf").exists()


def test_text_and_markdown_go_to_the_terminal_without_an_output(dfcl, results):
    assert "No gain can be shown." in dfcl("report", results, "--format", "text").stdout
    assert dfcl("report", results, "--format", "md").stdout.startswith("# Spring trial\n")
    assert [path.name for path in results.parent.iterdir()] == ["results.json"]


def test_a_page_needs_an_output(dfcl, results):
    done = dfcl("report", results)
    assert done.code == 2
    assert "no file to write the report to" in done.stderr
    assert "-o report.html" in done.stderr


def test_the_same_results_are_the_same_bytes(dfcl, results):
    dfcl("report", results, "-o", "a.html")
    dfcl("report", results, "-o", "b.html", "--threads", "2", "--seed", "5")
    assert (results.parent / "a.html").read_bytes() == (results.parent / "b.html").read_bytes()


def test_json_tells_what_was_written(dfcl, results):
    told = json.loads(dfcl("report", results, "-o", "a.html", "--json").stdout)
    assert told == {"file": "a.html", "bytes": (results.parent / "a.html").stat().st_size}


@pytest.mark.parametrize(
    "text, code, message",
    [
        ("", 3, "not JSON"),
        ("id,arm\n1,0\n", 3, "not JSON"),
        ("[]", 3, "not a results file"),
        ('{"verdict": "fit"}', 3, "not a results file"),
        ('{"format": "dfcl-results", "format_version": 2}', 3, "another version: found 2, expected 1"),
        ('{"format": "dfcl-results", "format_version": 1, "models": 3}', 3, "number in 'models', expected a list"),
        ('{"format": "dfcl-results", "format_version": 1, "level": 1e999}', 3, "not JSON"),
        ("[" * 1000 + "]" * 1000, 3, "nested too deeply"),
    ],
)
def test_what_is_no_results_file_is_refused_and_nothing_is_written(dfcl, tmp_path, text, code, message):
    (tmp_path / "results.json").write_text(text)
    (tmp_path / "old.html").write_text("old")
    done = dfcl("report", "results.json", "-o", "old.html")
    assert (done.code, done.stdout) == (code, "")
    assert "results.json" in done.stderr and message in done.stderr
    assert (tmp_path / "old.html").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.html", "results.json"]


def test_a_file_without_end_is_refused(dfcl):
    result = dfcl("report", "/dev/zero", "--format", "text")
    assert result.code != 0 and "too large" in result.stderr


def test_a_missing_file_or_folder_is_named(dfcl, results):
    assert dfcl("report", "none.json", "-o", "a.html").code == 4
    assert dfcl("report", results, "-o", "none/a.html").code == 4
    assert dfcl("report", results, "-o", results).code == 2  # would replace its input
    assert json.loads(results.read_text()) == RESULTS


def test_a_mistyped_format_is_answered_with_a_suggestion(dfcl, results):
    done = dfcl("report", results, "-o", "a.html", "--format", "htm")
    assert done.code == 2
    assert "html" in done.stderr


def sheets_of(path):
    """Name -> rows of texts and numbers, by nothing but a ZIP and an XML reader."""
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    found = {}
    with zipfile.ZipFile(path) as book:
        assert book.testzip() is None
        names = [one.get("name") for one in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{{{space['m']}}}sheet")]
        for number, name in enumerate(names, start=1):
            tree = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
            found[name] = [
                [cell.findtext("m:is/m:t", None, space) or float(cell.findtext("m:v", "nan", space)) for cell in row]
                for row in tree.iter(f"{{{space['m']}}}row")
            ]
    return found


def test_a_workbook_has_a_sheet_for_each_list_and_numbers_in_its_cells(dfcl, tmp_path):
    plans = [{"budget_per_unit": 0.1, "revenue": {"value": 1.5, "low": 1.0, "high": 2.0}}, {"budget_per_unit": 0.2}]
    results = {**RESULTS, "models": [{"name": "a", "method": "tsm", "deployed": plans}, {"name": "b", "deployed": plans[:1]}]}
    (tmp_path / "r.json").write_text(json.dumps(results))
    for name in ("r.xlsx", "again.xlsx", "r.csv"):
        done = dfcl("report", "r.json", "-o", name)
        assert done.code == 0, done.stderr
    sheets = sheets_of(tmp_path / "r.xlsx")
    assert list(sheets)[0] == "results" and {"models", "models deployed"} <= set(sheets)
    head, first, *rest = sheets["models deployed"]
    row = dict(zip(head, first))
    assert row["models name"] == "a" and row["budget_per_unit"] == 0.1 and row["revenue.low"] == 1.0
    assert [one[0] for one in rest] == ["a", "b"]
    assert (tmp_path / "r.xlsx").read_bytes() == (tmp_path / "again.xlsx").read_bytes()
    assert "models deployed,1,revenue.high,2\n" in (tmp_path / "r.csv").read_text()


def test_a_workbook_needs_a_file(dfcl, results):
    refused = dfcl("report", results, "--format", "xlsx")
    assert refused.code == 2 and "-o" in refused.stderr
