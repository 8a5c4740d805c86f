# SPDX-License-Identifier: Apache-2.0
"""Boosted trees by us and by LightGBM, in turns, on the same numbers.

    python3 bench/boost_lightgbm.py [ROWS] [TREES] [ROUNDS] [THREADS]

107 features, five arms, both outcomes with the Poisson deviance, 31 leaves, learning rate 0.05, 70 % of features and
80 % of rows per tree, no early stopping; LightGBM has the arm as a number, as we do, and its data set is made before
the clock starts. Ours includes making bins of the units, and looks at a tenth more units after each tree, as training
does to know when to stop. Then all five arms of the same units are predicted for both outcomes. Wall time and processor
time are both shown. On a busy machine only the processor time of one thread means anything: LightGBM's threads wait for
each other busily. Where LightGBM is not installed (pip install lightgbm) only ours runs.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

try:
    import lightgbm as lgb
except ImportError:
    lgb = None

FEATURES, ARMS = 107, 5
BINARY = Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")).parent / "bench_boost"
SETTINGS = {
    "objective": "poisson",
    "learning_rate": 0.05,
    "num_leaves": 31,
    "min_data_in_leaf": 100,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "verbose": -1,
}


def make_units(rows):
    """Numbers of several shapes, some of few values; counts whose means depend on a dozen of them and on the arm."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, FEATURES)).astype(np.float32)
    x[:, 40:60] = np.exp(x[:, 40:60])
    x[:, 60:80] = np.floor(np.abs(x[:, 60:80]) * 4)
    x[:, 80:] = x[:, 80:] > 0.5
    arm = rng.integers(0, ARMS, rows)
    smooth = 0.5 * x[:, 0] + 0.4 * np.abs(x[:, 1]) + 0.3 * (x[:, 2] > 0) * x[:, 3]
    base = np.exp(smooth + 0.1 * x[:, 60] - 0.3 * x[:, 90])
    lift = 1 + 0.1 * arm * np.log1p(np.exp(x[:, 4] + 0.5 * x[:, 5]))
    revenue = rng.poisson(base * lift)
    cost = rng.poisson(base * lift * 0.05 * arm)
    return x, arm.astype(np.float32), revenue.astype(np.float32), cost.astype(np.float32)


def timed(work):
    start, busy = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - start, time.process_time() - busy, result


def run_lightgbm(x, arm, outcomes, trees, threads):
    settings = {**SETTINGS, "num_threads": threads}
    table = np.c_[x, arm]
    sets = [lgb.Dataset(table, outcome).construct() for outcome in outcomes]
    fit = timed(lambda: [lgb.train(settings, data, trees) for data in sets])
    every = [np.c_[x, np.full(len(x), a, np.float32)] for a in range(ARMS)]
    predict = timed(lambda: [model.predict(given, num_threads=threads) for model in fit[2] for given in every])
    return fit[:2], predict[:2]


def run_ours(path, trees, threads):
    line = subprocess.run([BINARY, path, str(threads), str(trees)], capture_output=True, text=True, check=True).stdout
    times = [float(number) for number in re.findall(r"([\d.]+) s", line)]
    return times[0:2], times[2:4]


def main():
    usual = ["400000", "100", "3", "2"]
    rows, trees, rounds, threads = (int(given) for given in [*sys.argv[1:], *usual[len(sys.argv) - 1 :]])
    x, arm, revenue, cost = make_units(rows + rows // 10)  # the last units validate
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "units.f32"
        np.c_[x, arm, revenue, cost].astype(np.float32).tofile(path)
        x, arm, outcomes = x[:rows], arm[:rows], [revenue[:rows], cost[:rows]]
        for _ in range(rounds):
            times = {"dfcl": run_ours(path, trees, threads)}
            if lgb is not None:
                times["LightGBM"] = run_lightgbm(x, arm, outcomes, trees, threads)
            for name, both in times.items():
                for what, (wall, busy) in zip(["fit", "predict"], both):
                    print(f"{name:9s} {what:8s} {wall:7.2f} s, {busy:7.2f} s of all processors", flush=True)
                    known = best.get((name, what), (wall, busy))
                    best[name, what] = min(known[0], wall), min(known[1], busy)
    for what in ["fit", "predict"] if lgb is not None else []:
        clock, busy = (best["LightGBM", what][i] / best["dfcl", what][i] for i in (0, 1))
        print(f"{what}: LightGBM takes {clock:.2f} times as long by the clock, {busy:.2f} times the processor time")


if __name__ == "__main__":
    main()
