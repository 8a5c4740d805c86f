# SPDX-License-Identifier: Apache-2.0
"""experiments/run.py, very small: every study of a published table runs, and its block of docs/results.md is written."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as arrow
import pytest
from conftest import BINARY, ROOT
from pyarrow import csv

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
    command = [sys.executable, ROOT / "experiments" / "quality.py", "-o", folder / "quality", "--scale", "0.03", *words]
    environment = {**os.environ, "DFCL_BINARY": str(BINARY)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


NINE = ("--parts", "nine", "--cells", "smooth-60k,sparse-60k", "--methods", "tsm,dfcl-mer", "--seeds", "2", "--jobs", "2")


def test_the_table_of_quality_goes_on_where_it_was_stopped(tmp_path):
    page, guide = tmp_path / "results.md", tmp_path / "guide.md"
    page.write_text((ROOT / "docs" / "results.md").read_text())
    guide.write_text((ROOT / "docs" / "guide-methods.md").read_text())
    first = quality(tmp_path, *NINE)
    assert first.returncode == 0, first.stderr
    results = tmp_path / "quality" / "results.jsonl"
    lines = results.read_text().splitlines(keepends=True)
    assert len(lines) == 8  # two cells, two methods, two seeds
    results.write_text("".join(lines[:-2]) + lines[-2][:40])  # killed while it wrote
    second = quality(tmp_path, *NINE, "--results", page, "--guide", guide)
    assert second.returncode == 0, second.stderr
    shares = lambda text: [line for line in text.splitlines() if line.startswith("|") and "budget" not in line and "%" not in line]
    assert shares(second.stdout) == shares(first.stdout) and second.stderr.count("seed") == 2
    for written, name in ((page, "quality"), (guide, "choice")):
        text = block(written.read_text(), name)
        assert "| `dfcl-mer` |" in text and "smooth-60k" in text and "sparse-60k" in text
    assert "| `auto`, version 0.1 | 74.4 | 92.1 |" in block(page.read_text(), "quality")
    assert "`dfcl-mer`" in block(guide.read_text(), "choice").split("Pooled over the columns in which both ran, ")[1]


def test_a_slice_that_ends_says_that_there_is_more(tmp_path):
    done = quality(tmp_path, "--parts", "varied", "--cells", "few-60k", "--methods", "tsm", "--seconds", "0.001")
    assert done.returncode == 3, done.stderr


def test_the_other_parts_have_their_tables(tmp_path):
    words = ("--parts", "varied,kinds,pays", "--cells", "few-60k,mailing-20k,rules-15k", "--methods", "tsm,dfcl-mer", "--seeds", "1")
    done = quality(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "| `dfcl-mer` minus `tsm` |" in done.stdout and "| error of effects | few-60k |" in done.stdout
    assert "| error of effects | mailing-20k |" in done.stdout.split("## kinds")[1]
    assert done.stdout.split("## pays")[1].count("| 15k |") == 3  # three sizes of network
    again = quality(tmp_path, *words, "--table")
    assert again.stdout == done.stdout and again.stderr == ""


def write_real_trial(folder):
    """A trial that looks like one of the real ones: money, three e-mails, a category."""
    draw = np.random.default_rng(5)
    segments = np.asarray(["No E-Mail", "Mens E-Mail", "Womens E-Mail"])[draw.integers(0, 3, 3000)]
    spend = draw.gamma(1.0, 20.0, 3000) * (draw.random(3000) < 0.3 + 0.1 * (segments != "No E-Mail"))
    columns = {"recency": draw.integers(1, 12, 3000), "history": draw.lognormal(5, 1, 3000),
               "channel": np.asarray(["Web", "Phone"])[draw.integers(0, 2, 3000)], "segment": segments,
               "visit": (spend > 0).astype(int), "conversion": (spend > 0).astype(int), "spend": spend}  # fmt: skip
    folder.mkdir()
    with arrow.CompressedOutputStream(str(folder / "hillstrom.csv.gz"), "gzip") as file:
        csv.write_csv(arrow.table(columns), file)


def test_real_trials_are_judged_by_what_is_not_known(tmp_path):
    write_real_trial(tmp_path / "data")
    done = quality(tmp_path, "--parts", "real", "--methods", "tsm", "--data", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert "criteo_200k.parquet is not there, skipped" in done.stderr
    assert "| hillstrom | `tsm` |" in done.stdout and "promises lie inside the interval" in done.stdout
    (result,) = [json.loads(line) for line in (tmp_path / "quality" / "results.jsonl").read_text().splitlines()]
    # The loss of the arms' means can be had by hand: about the deviance of a constant.
    assert result["loss_of_means"] > 0 and result["difference_error"] > 0 and result["increment_error"] > 0


def test_without_data_the_part_is_skipped_with_a_word(tmp_path):
    done = quality(tmp_path, "--parts", "real")
    assert done.returncode == 0 and "part real is skipped" in done.stderr
