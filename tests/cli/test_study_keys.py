# SPDX-License-Identifier: Apache-2.0
"""Every key of the study, from the reference that the program prints: a wrong value is refused and the key is named."""

import re

import pytest

STUDY = """format = 2
[data]
trial = "trial.csv"
[columns]
arm = "arm"
revenue = "revenue"
cost = "cost"
"""
# One value of a wrong type for each type; labels may be written as numbers.
WRONG = {"true/false": '"x"', "whole number": '"x"', "number": '"x"', "text": "true", "list": "true", "table": "5"}


def keys_of(reference):
    section = ""
    for line in reference.splitlines():
        if heading := re.match(r"## \[(\w+)\]", line):
            section = heading[1] + "."
        if row := re.match(r"\| `(\w+)` \| ([^|]*) \|", line):
            yield section + row[1], row[2]


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def shown(key):
    return f"[{key.split('.')[0]}] {key.split('.')[1]}" if "." in key else key


def test_every_key_refuses_a_value_of_the_wrong_type_in_the_file_and_by_set(dfcl, study):
    keys = list(keys_of(dfcl("info", "--study-keys").stdout))
    assert len(keys) > 90
    for key, kind in keys:
        value = next(wrong for start, wrong in WRONG.items() if kind.startswith(start))
        result = dfcl("check", "study.toml", "--set", f"{key}={value}")
        assert result.code == 2 and shown(key) in result.stderr, (key, result.stderr)
    for key, kind in keys[::7]:
        value = next(wrong for start, wrong in WRONG.items() if kind.startswith(start))
        section, _, name = key.rpartition(".")
        study.write_text(f"format = 2\n[{section}]\n{name} = {value}\n" if section else f"format = {value}\n")
        result = dfcl("check", "study.toml")
        assert result.code == 2 and shown(key) in result.stderr and "study.toml:" in result.stderr, (key, result.stderr)


@pytest.mark.parametrize(
    ("setting", "field", "expected"),
    [
        ("method.epochs=0", "[method] epochs", "1 to 100,000"),
        ("method.alpha=-1", "[method] alpha", "0 or more"),
        ("method.learning_rate=0", "[method] learning_rate", "above 0, at most 1"),
        ("method.baseline=maen", "[method] baseline", "did you mean 'mean'?"),
        ("method.monotone=['cots']", "[method] monotone", "did you mean 'cost'?"),
        ("network.hidden=[64, 0]", "[network] hidden", "1 to 8,192"),
        ("forest.subsample=0.6", "[forest] subsample", "above 0, at most 0.5"),
        ("boost.trees=0", "[boost] trees", "1 to 100,000"),
        ("boost.leaves=256", "[boost] leaves", "2 to 255"),
        ("boost.min_leaf=0", "[boost] min_leaf", "1 or more"),
        ("boost.learning_rate=0", "[boost] learning_rate", "above 0, at most 1"),
        ("boost.feature_share=1.1", "[boost] feature_share", "above 0, at most 1"),
        ("boost.row_share=-1", "[boost] row_share", "above 0, at most 1"),
        ("boost.bags=0", "[boost] bags", "1 to 100"),
        ("budgets.share_of_max=[1.5]", "[budgets] share_of_max", "0 to 1"),
        ("columns.winsorize={ orders = 0.9 }", "[columns] winsorize", "revenue or cost"),
        ("columns.winsorize={ revenue = 0.4 }", "[columns] winsorize", "above 0.5"),
        ("deploy.explore=0.9", "[deploy] explore", "0 to 0.5"),
        ("compare.seeds=0", "[compare] seeds", "1 to 1,000"),
        ("report.title=''", "[report] title", "a text"),
        ("sweep.epochs=[0]", "[method] epochs", "1 to 100,000"),
        ("columns.cost_if=redeemed", "[columns] cost_if", "[arms] cost"),
        ("format=3", "format", "2"),
    ],
)
def test_values_out_of_range_name_the_key_and_what_was_expected(dfcl, study, setting, field, expected):
    result = dfcl("check", "study.toml", "--set", setting)
    assert result.code == 2 and field in result.stderr and expected in result.stderr, result.stderr


def test_an_optional_key_is_left_open_by_an_empty_setting(dfcl, study, tmp_path):
    study.write_text(STUDY + '[report]\ntitle = "Spring"\n[method]\nepochs = 3\n')
    rows = "\n".join(f"{i},{i % 2},{i % 3},{i % 2}" for i in range(400))
    (tmp_path / "trial.csv").write_text(f"x,arm,revenue,cost\n{rows}\n")
    flags = ("--set", "method.epochs=", "--method", "tsm", "--force", "-o", "model.safetensors")
    result = dfcl("train", "study.toml", *flags)
    assert result.code == 0, result.stderr
    assert '"epochs", "3"' not in dfcl("info", "model.safetensors", "--json").stdout


def test_a_file_of_version_01_may_leave_keys_open_by_its_old_values(dfcl, study, tmp_path):
    old = STUDY.replace("format = 2\n", "") + '[method]\nepochs = 0\nalpha = -1\nbaseline = ""\n'
    study.write_text(old)
    rows = "\n".join(f"{i},{i % 2},{i % 3},{i % 2}" for i in range(400))
    (tmp_path / "trial.csv").write_text(f"x,arm,revenue,cost\n{rows}\n")
    assert dfcl("check", "study.toml").code in (0, 7)
    study.write_text("format = 2\n" + old)
    result = dfcl("check", "study.toml")
    assert result.code == 2 and "[method]" in result.stderr


def test_unknown_keys_are_answered_with_the_likely_one(dfcl, study):
    assert "did you mean 'epochs'?" in dfcl("check", "study.toml", "--set", "method.epohcs=3").stderr
    assert "did you mean 'method'?" in dfcl("check", "study.toml", "--set", "metod.epochs=3").stderr
    study.write_text(STUDY + "[metod]\nepochs = 3\n")
    assert "did you mean 'method'?" in dfcl("check", "study.toml").stderr
    study.write_text("fromat = 2\n" + STUDY.replace("format = 2\n", ""))
    assert dfcl("check", "study.toml").code == 2


def test_a_setting_that_changes_nothing_is_remarked_on(dfcl, study, tmp_path):
    rows = "\n".join(f"{i},{i % 2},{i % 3},{i % 2}" for i in range(400))
    (tmp_path / "trial.csv").write_text(f"x,arm,revenue,cost\n{rows}\n")
    flags = ("--method", "tsm", "--epochs", "1", "--force", "-o", "model.safetensors")
    result = dfcl("train", "study.toml", *flags, "--alpha", "0.5", "--set", "forest.trees=3", "--batch", "64")
    assert result.code == 0, result.stderr
    assert "method.alpha changes nothing with --method tsm" in result.stderr
    assert "forest.trees changes nothing with --method tsm" in result.stderr
    assert "method.batch" not in result.stderr
