# SPDX-License-Identifier: Apache-2.0
"""One budget over 1,000,000 units x 5 arms: `dfcl allocate` beside a 50-step bisection of the multiplier in NumPy.

Both have the predictions in memory as float32; reading and writing files is not counted for either. The bisection ends
with the plan of the cheaper end of its bracket, so it may leave money unspent; ours fills it. Run: make bench.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet


def simulated_predictions(units, arms, seed=1):
    """Discounts: cost and revenue rise with the arm, control is free."""
    random = np.random.default_rng(seed)
    cost = np.cumsum(random.exponential(1.0, (units, arms)).astype(np.float32), axis=1)
    cost[:, 0] = 0.0
    strength = random.lognormal(0.0, 1.0, (units, 1)).astype(np.float32)
    rate = random.lognormal(-1.0, 0.7, (units, 1)).astype(np.float32)
    return 5.0 + 3.0 * strength * (1.0 - np.exp(-cost * rate)), cost


def bisect(revenue, cost, budget, steps=50):
    """The multiplier by halving; the work of a step is one pass over both matrices, without temporaries anew."""
    rows = np.arange(len(cost))
    scores = np.empty_like(revenue)
    arms = np.empty(len(cost), dtype=np.intp)

    def plan_at(multiplier):
        np.multiply(cost, np.float32(-multiplier), out=scores)
        np.add(scores, revenue, out=scores)
        np.argmax(scores, axis=1, out=arms)
        return cost[rows, arms].sum(dtype=np.float64)

    low, high = 0.0, 1.0
    while plan_at(high) > budget:
        high *= 2.0
    for _ in range(steps):
        middle = (low + high) / 2
        if plan_at(middle) > budget:
            low = middle
        else:
            high = middle
    spend = plan_at(high)
    return revenue[rows, arms].sum(dtype=np.float64), spend


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, default=pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")))
    parser.add_argument("--units", type=int, default=1_000_000)
    parser.add_argument("--arms", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    revenue, cost = simulated_predictions(options.units, options.arms)
    budget = 0.2 * float(cost[:, -1].sum(dtype=np.float64))
    columns = {f"revenue_{arm}": revenue[:, arm] for arm in range(options.arms)}
    columns |= {f"cost_{arm}": cost[:, arm] for arm in range(options.arms)}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "predictions.parquet"
        pa.parquet.write_table(pa.table(columns), file)
        command = [options.binary, "allocate", file, f"--budget={budget!r}", f"--threads={options.threads}", "--json", "--quiet"]
        ours, theirs = [], []
        for _ in range(options.repeats):
            ours.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            start = time.perf_counter()
            value, spend = bisect(revenue, cost, budget)
            theirs.append(time.perf_counter() - start)
    best = min(summary["seconds"]["solve"] for summary in ours)
    print(f"{options.units:,} units x {options.arms} arms, budget {budget:,.2f}, best of {options.repeats}\n")
    print(f"{'':<36}{'seconds':>9}{'value':>18}{'spend':>16}")
    print(f"{f'dfcl allocate, {options.threads} threads':<36}{best:>9.4f}{ours[0]['value']:>18,.3f}{ours[0]['spend']:>16,.3f}")
    print(f"{'NumPy, 50-step bisection, 1 thread':<36}{min(theirs):>9.4f}{value:>18,.3f}{spend:>16,.3f}")
    print(f"\n{min(theirs) / best:.0f} times faster; the bound is {ours[0]['bound']:,.3f}")


if __name__ == "__main__":
    main()
