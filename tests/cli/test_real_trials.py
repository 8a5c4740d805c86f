# SPDX-License-Identifier: Apache-2.0
"""`check` on real randomised trials, where the user has them.

They are never part of the repository. DFCL_DATA names their folder; without it, folders called data next to the checkout are
looked at. A trial that is not there is skipped.
"""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [Path(os.environ["DFCL_DATA"])] if "DFCL_DATA" in os.environ else sorted(ROOT.parent.glob("*/data"))

# file, study, arms -> (units, mean revenue, mean cost); figures from the descriptions of the data
TRIALS = {
    "criteo_200k.parquet": (
        """
[columns]
arm = "treatment"
revenue = "conversion"
cost = "visit"
""",
        {"0": (30_000, 0.00247, 0.0380), "1": (170_000, 0.00295, 0.0488)},
    ),
    "hillstrom.csv.gz": (
        """
[columns]
arm = "segment"
revenue = "spend"
exclude = ["visit", "conversion"]
[arms]
control = "No E-Mail"
cost = { "Mens E-Mail" = 0.1, "Womens E-Mail" = 0.1 }
share = { "No E-Mail" = 0.333333, "Mens E-Mail" = 0.333333, "Womens E-Mail" = 0.333334 }
""",
        {"No E-Mail": (21_306, 0.653, 0.0), "Mens E-Mail": (21_307, 1.423, 0.1), "Womens E-Mail": (21_387, 1.077, 0.1)},
    ),
    "charitable_match.csv.gz": (
        """
[columns]
arm = "match_ratio"
revenue = "out_amountgive"
exclude = ["out_*", "state*response*", "treat*"]
missing = [-999]
[arms]
order = ["0", "1", "2", "3"]
cost_per_revenue = { "1" = 1.0, "2" = 2.0, "3" = 3.0 }
""",
        # Two rows have no amount and are left out.
        {"0": (16_687, 0.813, 0.0), "1": (11_133, 0.937, 0.937), "2": (11_134, 1.026, 2.052), "3": (11_129 - 2, 0.933, 2.798)},
    ),
    "social_pressure.csv.gz": (
        """
[columns]
arm = "treatment"
revenue = "voted"
cluster = "hh_id"
exclude = ["cluster"]
[arms]
control = "Control"
cost = { "Civic Duty" = 0.4, "Hawthorne" = 0.4, "Self" = 0.4, "Neighbors" = 0.4 }
""",
        {"Control": (191_243, None, 0.0)},
    ),
}


def find_trial(name):
    path = next((folder / name for folder in FOLDERS if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"{name} is not here: DFCL_DATA can name its folder")
    return path


@pytest.mark.parametrize("name", TRIALS)
def test_check_agrees_with_the_published_figures(dfcl, tmp_path, name):
    path = find_trial(name)
    study, arms = TRIALS[name]
    (tmp_path / "study.toml").write_text(f'format = 2\n[data]\ntrial = "{path}"\n' + study)
    result = dfcl("check", "study.toml", "--json")
    assert result.code in (0, 7), result.stderr
    found = {arm["arm"]: arm for arm in json.loads(result.stdout)["arms"]}
    for label, (units, revenue, cost) in arms.items():
        assert found[label]["units"] == units
        if revenue is not None:
            assert found[label]["revenue"]["value"] == pytest.approx(revenue, abs=6e-4 if revenue > 0.01 else 6e-6)
        assert found[label]["cost"]["value"] == pytest.approx(cost, abs=1.1e-3 if cost > 0.1 else 6e-5)
