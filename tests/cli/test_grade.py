# SPDX-License-Identifier: Apache-2.0
"""What `check` grades, and what later verbs do with a trial that is a little imbalanced."""

import json
import math
import random

import pytest
from conftest import answer

STUDY = """format = 2
[data]
trial = "trial.csv"
[columns]
id = "id"
arm = "arm"
revenue = "revenue"
[arms]
control = "0"
cost = { "1" = 1.0 }
share = { "0" = 0.5, "1" = 0.5 }
[budgets]
per_unit = [0.3]
"""


def write_trial(folder, slope, extra=None, rows=30_000):
    """Two arms whose odds rise with the feature `a` by `slope` for each standard deviation."""
    numbers = random.Random(4)
    lines = ["id,a,b,arm,revenue" + (",late" if extra else "")]
    for unit in range(rows):
        a, b = numbers.gauss(0, 1), numbers.gauss(0, 1)
        arm = int(numbers.random() < 1 / (1 + math.exp(-slope * a)))
        revenue = 2 + a + (0.5 + 0.3 * b) * arm + numbers.gauss(0, 1)
        late = f",{extra(revenue, numbers):.4f}" if extra else ""
        lines.append(f"{unit},{a:.4f},{b:.4f},{arm},{revenue:.4f}{late}")
    (folder / "trial.csv").write_text("\n".join(lines) + "\n")
    (folder / "study.toml").write_text(STUDY)


def check(dfcl, code):
    return answer(dfcl("check", "study.toml", "--json"), code)


def test_a_small_imbalance_is_adjusted_for_and_said_so(dfcl, tmp_path):
    write_trial(tmp_path, 0.06)
    found = check(dfcl, 0)
    assert (found["verdict"], found["grade"]) == ("fit", "adjustable")
    assert 0.03 < found["largest_difference"] < 0.1
    assert "Read with care" in found["warnings"][0]["text"]
    assert dfcl("check", "study.toml").stdout.startswith("FIT to learn from with care: imbalanced, but adjustable.")
    trained = dfcl("train", "study.toml", "--method", "tsm", "--epochs", "1", "-o", "m.safetensors")
    assert trained.code == 0 and "Read with care" in trained.stderr
    evaluated = dfcl("evaluate", "study.toml", "m.safetensors", "--resamples", "50", "--json")
    assert evaluated.code == 0, evaluated.stderr
    assert "Read with care" in json.loads(evaluated.stdout)["verdict"]["sentence"]


@pytest.mark.parametrize("slope, grade, code", [(0.0, "balanced", 0), (0.4, "unfit", 7)])
def test_no_imbalance_needs_no_care_and_a_large_one_is_unfit(dfcl, tmp_path, slope, grade, code):
    write_trial(tmp_path, slope)
    assert check(dfcl, code)["grade"] == grade


def test_a_sample_ratio_that_fails_is_never_adjustable(dfcl, tmp_path):
    write_trial(tmp_path, 0.06)
    (tmp_path / "study.toml").write_text(STUDY.replace('"0" = 0.5, "1" = 0.5', '"0" = 0.45, "1" = 0.55'))
    found = check(dfcl, 7)
    assert found["grade"] == "unfit"
    assert [problem["kind"] for problem in found["problems"]] == ["sample-ratio", "balance"]


def test_a_feature_that_tells_the_revenue_is_found(dfcl, tmp_path):
    write_trial(tmp_path, 0.0, lambda revenue, numbers: revenue**3 + numbers.gauss(0, 0.01), rows=5000)
    found = check(dfcl, 7)
    assert [(suspect["name"], suspect["tells"]) for suspect in found["suspects"]] == [("late", "revenue")]
    assert "'late' tells the revenue" in found["problems"][0]["text"]
