# SPDX-License-Identifier: Apache-2.0
"""The AUCC of 4,000,000 rows: sorted and vectorised NumPy beside ours, on the same kind of rows, in one run.

NumPy has one thread for this; ours has --threads. Both rank rows by a score in memory. Ours is timed by bench_evaluate,
whose lines are shown below. Run: make bench.
"""

import argparse
import os
import pathlib
import subprocess
import time

import numpy as np

LEVELS = 200


def make_rows(size, dense, seed=0):
    random = np.random.default_rng(seed)
    score = random.random(size)
    treated = random.random(size) < 0.85
    if dense:
        return score, treated, random.random(size, dtype=np.float32), (random.random(size) + 0.1 * treated).astype(np.float32)
    revenue = (random.random(size) < 0.003).astype(np.float32)
    return score, treated, revenue, (random.random(size) < 0.038 + 0.01 * treated).astype(np.float32)


def aucc(score, treated, revenue, cost):
    """Eq. 17; levels by searching the running maximum of the cost, which is the first row that reaches each."""
    order = np.argsort(score)[::-1]
    is_treated = treated[order]
    weight = np.where(is_treated, 1.0 / treated.sum(), -1.0 / (len(treated) - treated.sum()))
    costs = np.cumsum(weight * cost[order])
    revenues = np.cumsum(weight * revenue[order])
    reached = np.searchsorted(np.maximum.accumulate(costs), np.arange(1, LEVELS) * costs[-1] / LEVELS)
    return (revenues[reached].sum() + revenues[-1]) / (revenues[-1] * (LEVELS + 1))


def main():
    parser = argparse.ArgumentParser()
    binary = pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")).parent / "bench_evaluate"
    parser.add_argument("--bench", type=pathlib.Path, default=binary)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for dense in (False, True):
        rows = make_rows(options.rows, dense)
        seconds = []
        processor = time.process_time()
        for _ in range(3):
            start = time.perf_counter()
            value = aucc(*rows)
            seconds.append(time.perf_counter() - start)
        kind = "no outcome zero" if dense else "as in Criteo"
        print(f"numpy: aucc of {options.rows} rows, {kind}: {sorted(seconds)[1]:.3f} s (median of 3; fastest {min(seconds):.3f}; {(time.process_time() - processor) / 3:.3f} s of processor), {value:.4f}")
    print("ours:", flush=True)
    subprocess.run([options.bench, str(options.threads), str(options.rows), "0"], check=True)


if __name__ == "__main__":
    main()
