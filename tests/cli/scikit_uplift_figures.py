#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scikit-uplift says of two small trials: makes scikit_uplift_figures.json, which test_heterogeneity.py compares.

Needs scikit-uplift (0.5.1 made the file); the tests do not. The trials come from a hash, so that nothing but this file
is needed to make them again.
"""

import json
import pathlib

TRIALS = {"equal arms": (1500, 0.5), "unequal arms": (1237, 0.3)}  # units, share of the treated arm


def hashed(unit, purpose):
    """In [0, 1), the same everywhere."""
    x = (unit * 0x9E3779B97F4A7C15 + purpose * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = ((x ^ (x >> shift)) * factor) & 0xFFFFFFFFFFFFFFFF
    return ((x ^ (x >> 31)) >> 11) / 2.0**53


def make_trial(units, share):
    """Columns: the predicted uplift, whether treated, and a 0/1 outcome that it foretells a little."""
    uplift = [round(hashed(unit, 1) - 0.3, 6) for unit in range(units)]
    treated = [int(hashed(unit, 2) < share) for unit in range(units)]
    outcome = [
        int(hashed(unit, 3) < 0.3 + (0.3 * uplift[unit] if treated[unit] else 0.0)) for unit in range(units)
    ]
    return uplift, treated, outcome


def main():
    from sklift.metrics import qini_auc_score, uplift_by_percentile

    figures = {}
    for name, (units, share) in TRIALS.items():
        uplift, treated, outcome = make_trial(units, share)
        table = uplift_by_percentile(outcome, uplift, treated, strategy="overall", bins=10)
        figures[name] = {
            "qini_auc_score": qini_auc_score(outcome, uplift, treated, negative_effect=True),
            "uplift_by_percentile": table["uplift"].tolist(),
            "n_treatment": [int(count) for count in table["n_treatment"]],
            "n_control": [int(count) for count in table["n_control"]],
        }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
