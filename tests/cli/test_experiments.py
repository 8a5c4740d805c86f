# SPDX-License-Identifier: Apache-2.0
"""experiments/run.py, very small: every study of a published table runs, and its block of docs/results.md is written."""

import os
import subprocess
import sys

import pytest
from conftest import BINARY, ROOT

TINY = ["--scale", "0.006", "--resamples", "20", "--jobs", "1", "--set", "method.epochs=2", "--set", "method.warm_epochs=1", "--set", "compare.seeds=1",
        "--set", "network.hidden=[8]", "--set", "network.shared=[]", "--set", "network.heads=[]", "--set", "forest.trees=4", "--set", "forest.leaf=40"]  # fmt: skip
STUDIES = ["criteo", "marketing", "alpha", "multipliers", "measures"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page after all studies, and what was said."""
    folder = tmp_path_factory.mktemp("experiments")
    page = folder / "results.md"
    page.write_text((ROOT / "docs" / "results.md").read_text())
    done = run(folder, page, "--only", ",".join(STUDIES), *TINY)
    assert done.returncode == 0, done.stderr
    return folder, page, done


def run(folder, page, *words):
    command = [sys.executable, ROOT / "experiments" / "run.py", "-o", folder / "out", "--docs", page, *words]
    environment = {**os.environ, "DFCL_BINARY": str(BINARY), "DFCL_DATA": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def block(text, name):
    return text.split(f"<!-- begin {name} -->")[1].split(f"<!-- end {name} -->")[0]


@pytest.mark.parametrize("study", STUDIES)
def test_the_block_of_a_study_is_written(made, study):
    _, page, done = made
    assert f"{study}: " in done.stderr
    text = block(page.read_text(), study)
    assert "Trial: simulated" in text and "Training seeds 1." in text and "| tsm |" in text.replace("TSM-SL", "tsm")


def test_every_finding_has_a_line_and_a_judgement(made):
    lines = [line for line in block(made[1].read_text(), "findings").splitlines() if line.startswith("| ")][1:]
    assert len(lines) >= 14
    for line in lines:
        assert any(status in line for status in ("**confirmed**", "**not confirmed**", "**cannot be told**")), line


def test_what_is_there_is_not_done_again(made):
    folder, page, _ = made
    before, models = page.read_text(), {path: path.stat().st_mtime_ns for path in folder.glob("out/*/results.json")}
    assert run(folder, page, "--only", ",".join(STUDIES), *TINY).returncode == 0
    assert page.read_text() == before
    assert {path: path.stat().st_mtime_ns for path in folder.glob("out/*/results.json")} == models


def test_other_blocks_and_words_stay_as_they_are(made, tmp_path):
    folder, page, _ = made
    other = tmp_path / "results.md"
    other.write_text(page.read_text().replace("<!-- begin quality -->\n", "<!-- begin quality -->\nby hand\n"))
    assert run(folder, other, "--pages").returncode == 0
    assert "by hand" in block(other.read_text(), "quality")


def quality(folder, *words):
    command = [sys.executable, ROOT / "experiments" / "quality.py", "-o", folder / "quality", "--cells", "smooth-60k,sparse-60k",
               "--methods", "tsm,dfcl-mer", "--scale", "0.03", "--seeds", "2", *words]  # fmt: skip
    environment = {**os.environ, "DFCL_BINARY": str(BINARY)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_the_table_of_quality_goes_on_where_it_was_stopped(tmp_path):
    page, guide = tmp_path / "results.md", tmp_path / "guide.md"
    page.write_text((ROOT / "docs" / "results.md").read_text())
    guide.write_text((ROOT / "docs" / "guide-methods.md").read_text())
    first = quality(tmp_path)
    assert first.returncode == 0, first.stderr
    results = tmp_path / "quality" / "results.jsonl"
    lines = results.read_text().splitlines(keepends=True)
    assert len(lines) == 16  # two cells, two methods: two settings tuned, then two seeds
    results.write_text("".join(lines[:-2]) + lines[-2][:40])  # killed while it wrote
    second = quality(tmp_path, "--results", page, "--guide", guide)
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout and second.stderr.count("seed") == 2
    for written, name in ((page, "quality"), (guide, "choice")):
        text = block(written.read_text(), name)
        assert "| `dfcl-mer` |" in text and "smooth-60k | sparse-60k |" in text
    assert "`dfcl-mer`" in block(guide.read_text(), "choice").split("Pooled over all columns, ")[1]
