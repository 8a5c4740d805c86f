# SPDX-License-Identifier: Apache-2.0
"""The help texts, word for word, and the examples in them.

After a change that is meant: DFCL_REFRESH_GOLDEN=1 .venv/bin/python3 -m pytest tests/cli/test_help.py
"""

import os
import re
import shutil
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
FORMS = {"short": "-h", "long": "--help"}


def verbs_of(dfcl):
    listed = dfcl("-h").stdout.split("\nverbs:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def help_texts(dfcl):
    """File name -> text, for the program and each verb, short and long."""
    texts = {}
    for form, flag in FORMS.items():
        texts[f"dfcl-{form}.txt"] = dfcl(flag)
        for verb in verbs_of(dfcl):
            texts[f"{verb}-{form}.txt"] = dfcl(verb, flag)
    return texts


def test_help_goes_to_stdout_and_exits_0(dfcl):
    for name, result in help_texts(dfcl).items():
        assert (result.code, result.stderr) == (0, ""), name


def test_help_is_as_it_was(dfcl):
    texts = {name: result.stdout for name, result in help_texts(dfcl).items()}
    if os.environ.get("DFCL_REFRESH_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        for file in GOLDEN.glob("*.txt"):
            file.unlink()
        for name, text in texts.items():
            (GOLDEN / name).write_text(text)
    assert texts == {file.name: file.read_text() for file in GOLDEN.glob("*.txt")}


def test_short_help_fits_a_terminal(dfcl):
    for name, result in help_texts(dfcl).items():
        for line in result.stdout.splitlines():
            if name.endswith("-short.txt"):
                assert len(line) <= 120, f"{name}: {line}"


def test_long_help_holds_every_option_of_the_short(dfcl):
    for verb in verbs_of(dfcl):
        options = re.findall(r"^  (-[^ ]*)", dfcl(verb, "-h").stdout, re.MULTILINE)
        long_text = dfcl(verb, "--help").stdout
        assert options
        for option in options:
            assert f"\n  {option}" in long_text, f"{verb} {option}"


@pytest.fixture
def folder_with_a_trial(dfcl):
    made = dfcl(
        "simulate", "--preset", "marketing", "--rows", 20000, "-o", "trial.parquet",
        "--truth", "truth.parquet", "--study", "study.toml",
    )  # fmt: skip
    assert made.code == 0, made.stderr
    return dfcl


def test_every_example_runs(folder_with_a_trial):
    dfcl = folder_with_a_trial
    texts = [dfcl("--help").stdout] + [dfcl(verb, "--help").stdout for verb in verbs_of(dfcl)]
    for text in texts:
        lines = [line.strip() for line in text.split("\nexample:\n")[1].splitlines()]
        assert lines
        for line in lines:
            assert line.startswith("dfcl "), line
            # A reader has the inputs of an example, not yet its output.
            written = r" (?:-o|--study|--truth) (\S+)" if " simulate " in line else r" -o (\S+)"
            for output in re.findall(written, line):
                shutil.rmtree(dfcl.folder / output, ignore_errors=True)
                if (dfcl.folder / output).exists():
                    (dfcl.folder / output).unlink()
            result = dfcl.shell(line)
            assert result.code == 0, f"{line}\n{result.stderr}"
