# SPDX-License-Identifier: Apache-2.0
"""One budget over 20,000 units x 5 arms: `dfcl allocate` beside HiGHS solving the linear relaxation.

HiGHS is timed for solving alone, with its default settings; the model is built before. Run: make bench.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import highspy
import numpy as np
import pyarrow as pa
import pyarrow.parquet


def simulated_predictions(units, arms, seed=1):
    """Discounts: cost and revenue rise with the arm, control is free."""
    random = np.random.default_rng(seed)
    cost = np.cumsum(random.exponential(1.0, (units, arms)), axis=1)
    cost[:, 0] = 0.0
    revenue = 5.0 + 3.0 * random.lognormal(0.0, 1.0, (units, 1)) * (1.0 - np.exp(-cost * random.lognormal(-1.0, 0.7, (units, 1))))
    return revenue.astype(np.float32), cost.astype(np.float32)


def linear_relaxation(revenue, cost, budget):
    """max sum r x, sum_j x_ij = 1 for every unit, sum c x <= budget, 0 <= x <= 1."""
    units, arms = revenue.shape
    entries = np.arange(units * arms)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = units * arms, units + 1
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = revenue.astype(np.float64).ravel()
    lp.col_lower_, lp.col_upper_ = np.zeros(units * arms), np.ones(units * arms)
    lp.row_lower_ = np.append(np.ones(units), -np.inf)
    lp.row_upper_ = np.append(np.ones(units), budget)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.append(arms * np.arange(units + 1), 2 * units * arms).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([entries, entries]).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate([np.ones(units * arms), cost.astype(np.float64).ravel()])
    return lp


def solve_with_highs(lp):
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.passModel(lp)
    start = time.perf_counter()
    highs.run()
    return time.perf_counter() - start, highs.getInfo().objective_function_value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, default=pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")))
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--arms", type=int, default=5)
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
        ours = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(5)]
    seconds, optimum = solve_with_highs(linear_relaxation(revenue, cost, budget))
    best = min(summary["seconds"]["solve"] for summary in ours)
    print(f"{options.units:,} units x {options.arms} arms, budget {budget:,.2f}\n")
    print(f"{'':<34}{'seconds':>9}{'bound':>18}{'plan':>18}")
    print(f"{f'dfcl allocate, {options.threads} threads':<34}{best:>9.4f}{ours[0]['bound']:>18,.6f}{ours[0]['value']:>18,.6f}")
    print(f"{'HiGHS, linear relaxation':<34}{seconds:>9.4f}{optimum:>18,.6f}{'(fractional)':>18}")
    print(f"\n{seconds / best:.0f} times faster; the bounds differ by {abs(ours[0]['bound'] / optimum - 1):.1e} of their size")


if __name__ == "__main__":
    main()
