# SPDX-License-Identifier: Apache-2.0
"""dfcl evaluate without resamples beside NumPy with pyarrow, from two Parquet files to the answer: a trial of 2,000,000 rows and
predictions for it.

NumPy reads the five columns it needs (all threads), sees that both files hold the same units, and computes with Hajek's weights what
one would write by hand: AUCC and Qini, revenue and cost of the plan at six budgets and of the same money at random, and uplift by tenth of predicted uplift,
with standard errors. dfcl reads every column, checks the trial, and adds what its results hold: intervals of effects by tenth for every
budget, baselines, curves, fit, verdict. The first figure of NumPy leaves out starting Python and importing; the second, like ours, is the whole
process. Two threads each, in turn, the best of several rounds. Needs numpy and pyarrow.

    python3 bench/evaluate_file.py [--rows 2000000] [--rounds 5] [--folder FOLDER]
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

BINARY = os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")
SHARES = (0.1, 0.25, 0.45, 0.65, 0.8, 0.95)
LEVELS = 200
TENTHS = 10
THREADS = 2


def opponent(folder):
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    pyarrow.set_cpu_count(THREADS)
    start = time.perf_counter()
    trial = pyarrow.parquet.read_table(folder / "trial.parquet", columns=["treatment", "conversion", "visit"])
    predicted = pyarrow.parquet.read_table(folder / "truth.parquet")
    arm, revenue, cost = (trial[name].to_numpy() for name in ("treatment", "conversion", "visit"))
    ids = predicted["id"].to_numpy()
    size = len(arm)
    assert len(ids) == size and np.array_equal(ids, np.arange(1, size + 1))
    gain = predicted["revenue_1"].to_numpy() - predicted["revenue_0"].to_numpy()
    price = predicted["cost_1"].to_numpy() - predicted["cost_0"].to_numpy()
    treated = arm == 1
    weight = np.where(treated, 1.0 / treated.sum(), -1.0 / (size - treated.sum()))
    answer = {}

    # Areas under the curves of one ranking.
    order = np.argsort(np.arctan2(gain, price))[::-1]
    costs = np.cumsum((weight * cost)[order])
    revenues = np.cumsum((weight * revenue)[order])
    reached = np.searchsorted(np.maximum.accumulate(costs), np.arange(1, LEVELS) * costs[-1] / LEVELS)
    answer["aucc"] = (revenues[reached].sum() + revenues[-1]) / (revenues[-1] * (LEVELS + 1))
    by_gain = np.argsort(gain)[::-1]
    gains = np.cumsum((weight * revenue)[by_gain])
    answer["qini"] = gains.mean() / gains[-1] - 0.5

    # Plans at budgets: units in the order of gain by price, as far as predicted money goes; then what they were worth.
    ratio = np.argsort(np.where(price > 0, gain / np.maximum(price, 1e-12), np.where(gain > 0, np.inf, -np.inf)))[::-1]
    spent = np.cumsum(price[ratio], dtype=np.float64)
    most = (cost[treated].mean() - cost[~treated].mean()) * size
    answer["plans"] = []
    for share in SHARES:
        taken = np.zeros(size, bool)
        taken[ratio[: np.searchsorted(spent, share * most)]] = True
        followed = taken == treated
        kept = np.where(followed, np.where(treated, size / treated.sum(), size / (size - treated.sum())), 0.0)
        part = taken.mean()
        answer["plans"].append(
            {
                "units": int(taken.sum()),
                "revenue": (kept * revenue).sum() / kept.sum(),
                "cost": (kept * cost).sum() / kept.sum(),
                "random": part * revenue[treated].mean() + (1 - part) * revenue[~treated].mean(),
            }
        )

    # Tenths of predicted uplift.
    tenth = np.empty(size, np.int64)
    tenth[by_gain] = np.arange(size) * TENTHS // size
    answer["tenths"] = []
    for i in range(TENTHS):
        own = tenth == i
        yes, no = revenue[own & treated], revenue[own & ~treated]
        answer["tenths"].append((gain[own].mean(), yes.mean() - no.mean(), (yes.var() / len(yes) + no.var() / len(no)) ** 0.5))
    json.dumps(answer, default=float)
    print(json.dumps({"seconds": time.perf_counter() - start, "aucc": float(answer["aucc"])}))


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(command):
    processor, start = processor_seconds(), time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, processor_seconds() - processor, out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--opponent", action="store_true", help="run the opponent alone on what is in --folder")
    options = parser.parse_args()
    if options.opponent:
        return opponent(options.folder)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        study, trial, truth = folder / "study.toml", folder / "trial.parquet", folder / "truth.parquet"
        if not truth.exists():
            simulate = [BINARY, "simulate", "--preset", "criteo", "--rows", str(options.rows), "--seed", "1", "--quiet", "-o", trial]
            subprocess.run([*simulate, "--study", study, "--truth", truth], check=True, stdout=subprocess.DEVNULL)
        results = folder / "results.json"
        ours = [BINARY, "evaluate", study, truth, "--split", "all", "--estimator", "hajek", "--resamples", "0", "--threads", str(THREADS)]
        theirs = [sys.executable, __file__, "--opponent", "--folder", folder]
        best = {}
        for _ in range(options.rounds):
            seconds, processor, _ = timed([*ours, "--quiet", "--overwrite", "-o", results])
            best.setdefault("ours", []).append((seconds, processor))
            seconds, processor, out = timed(theirs)
            best.setdefault("numpy", []).append((seconds, processor))
            best.setdefault("numpy within", []).append((json.loads(out)["seconds"], 0.0))
        aucc = json.loads(results.read_text())["models"][0]["aucc"][0]
        print(f"{options.rows:,} rows, {THREADS} threads, best of {options.rounds}; AUCC ours {json.dumps(aucc)[:80]}, NumPy's {json.loads(out)['aucc']:.4f}")
        for name, runs in best.items():
            processor = min(run[1] for run in runs)
            print(f"  {name:<13}{min(run[0] for run in runs):6.2f} s" + (f", {processor:5.2f} s of processor" if processor else ""))
        print(f"  ours / NumPy's: whole {min(best['ours'])[0] / min(best['numpy'])[0]:.2f}, within {min(best['ours'])[0] / min(best['numpy within'])[0]:.2f}")


if __name__ == "__main__":
    main()
