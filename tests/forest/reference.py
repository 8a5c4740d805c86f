# SPDX-License-Identifier: Apache-2.0
"""Makes reference.json: the error of the effects of EconML's CausalForest on simulated trials with known effects.

    pip install econml && python3 reference.py > reference.json

The trials are made of hashes and plain arithmetic, so that reference_test.cpp makes the very same numbers. Each outcome
gets a forest of its own there; ours grows one forest for both. Settings that both share are in SETTINGS.
"""

import json

import numpy as np
from econml import __version__ as econml_version
from econml.grf import CausalForest

SETTINGS = {"trees": 200, "leaf": 40, "depth": 24, "subsample": 0.5}  # leaf: units in all, both halves
TRIALS, UNITS, TEST_UNITS, FEATURES, ARMS = 6, 6000, 2000, 10, 3


def mix_bits(x):
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniforms(trial, num_units, num_columns):
    """In [0, 1): units x columns, from a hash of the trial, the unit and the column."""
    unit = np.arange(num_units, dtype=np.uint64)[:, None]
    column = np.arange(num_columns, dtype=np.uint64)[None, :]
    key = np.uint64(trial) * np.uint64(1_000_000_007) + unit * np.uint64(1_000) + column
    return (mix_bits(key) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def make_trial(trial, num_units):
    draws = uniforms(trial, num_units, FEATURES + 7)
    x = (2.0 * draws[:, :FEATURES] - 1.0).astype(np.float32)
    arm = np.minimum((draws[:, FEATURES] * ARMS).astype(np.int64), ARMS - 1)
    noise_revenue = 2.0 * (draws[:, FEATURES + 1] + draws[:, FEATURES + 2] + draws[:, FEATURES + 3] - 1.5)
    noise_cost = draws[:, FEATURES + 4] + draws[:, FEATURES + 5] + draws[:, FEATURES + 6] - 1.5
    x64 = x.astype(np.float64)
    pull = np.maximum(x64[:, 0] + 0.5 * x64[:, 1], 0.0)
    revenue_effect = np.stack([np.zeros(num_units), 1.0 * pull, 1.5 * pull + 0.5 * (x64[:, 2] > 0.0)], axis=1)
    cost_effect = np.stack([np.zeros(num_units), 0.3 + 0.2 * pull, 0.6 + 0.5 * (x64[:, 2] > 0.0)], axis=1)
    rows = np.arange(num_units)
    revenue = x64[:, 3] + revenue_effect[rows, arm] + noise_revenue
    cost = 0.3 * x64[:, 4] + cost_effect[rows, arm] + noise_cost
    return x, arm, revenue, cost, revenue_effect, cost_effect


def econml_effects(x, arm, outcome, base, test_x, seed):
    treatment = np.eye(ARMS)[arm][:, 1:] - 1.0 / ARMS
    forest = CausalForest(
        n_estimators=SETTINGS["trees"],
        min_samples_leaf=SETTINGS["leaf"] // 2,
        max_depth=SETTINGS["depth"],
        max_samples=SETTINGS["subsample"],
        criterion="het",
        honest=True,
        inference=False,
        subforest_size=1,
        n_jobs=2,
        random_state=seed,
    )
    forest.fit(x, treatment, outcome - base)
    return forest.predict(test_x)


def root_mean_square(errors):
    return float(np.sqrt(np.mean(errors**2)))


def main():
    trials = []
    for trial in range(TRIALS):
        x, arm, revenue, cost, _, _ = make_trial(trial, UNITS)
        test_x, _, _, _, test_revenue_effect, test_cost_effect = make_trial(1000 + trial, TEST_UNITS)
        # The base that both forests are given: what does not depend on the arm, but for a constant.
        revenue_base = x[:, 3].astype(np.float64)
        cost_base = 0.3 * x[:, 4].astype(np.float64)
        revenue_hat = econml_effects(x, arm, revenue, revenue_base, test_x, trial)
        cost_hat = econml_effects(x, arm, cost, cost_base, test_x, trial)
        trials.append(
            {
                "revenue_error": root_mean_square(revenue_hat - test_revenue_effect[:, 1:]),
                "cost_error": root_mean_square(cost_hat - test_cost_effect[:, 1:]),
                "check_sum": float(np.sum(revenue) + np.sum(cost)),
            }
        )
    print(json.dumps({"econml": econml_version, "settings": SETTINGS, "trials": trials}, indent=1))


if __name__ == "__main__":
    main()
