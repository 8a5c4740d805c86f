# SPDX-License-Identifier: Apache-2.0
"""The published forest (256 trees, leaves of 300 units, depth 24) by us and by EconML, in turns, on two threads.

    python3 bench/forest_econml.py [ROWS] [ROUNDS]

107 features, five arms. EconML grows a forest for one outcome, as a user of two outcomes would have to do twice; ours
grows one for both. EconML's leaf size is counted on half of the units, hence 150. Where EconML is not installed (pip
install econml) only ours runs. Wall time and processor time are both shown: on a busy machine only the latter means
anything.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

try:
    from econml.grf import CausalForest
except ImportError:
    CausalForest = None

FEATURES, ARMS = 107, 5
BINARY = Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")).parent / "bench_forest"


def grow_econml(rows):
    """Seconds by the clock and of all processors."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, FEATURES))
    arm = rng.integers(0, ARMS, rows)
    effect = 0.1 * arm * np.log1p(np.exp(x[:, 0] + 0.5 * x[:, 1]))
    outcome = x[:, 2] + effect + rng.normal(size=rows)
    treatment = np.eye(ARMS)[arm][:, 1:] - 1.0 / ARMS
    forest = CausalForest(
        n_estimators=256,
        min_samples_leaf=150,
        max_depth=24,
        max_samples=0.45,
        honest=True,
        inference=False,
        subforest_size=1,
        n_jobs=2,
        random_state=1,
    )
    start, busy = time.perf_counter(), time.process_time()
    forest.fit(x, treatment, outcome - outcome.mean())
    return time.perf_counter() - start, time.process_time() - busy


def grow_ours(rows):
    line = subprocess.run([BINARY, "2", str(rows)], capture_output=True, text=True, check=True).stdout
    wall, busy = re.search(r"grow ([\d.]+) s \(([\d.]+) s of all processors\)", line).groups()
    return float(wall), float(busy)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for _ in range(rounds):
        ours = grow_ours(rows)
        print(f"dfcl    {rows} rows, both outcomes: {ours[0]:.2f} s, {ours[1]:.2f} s of all processors", flush=True)
        if CausalForest is None:
            print("EconML is not installed")
            continue
        theirs = grow_econml(rows)
        print(f"EconML  {rows} rows, one outcome:   {theirs[0]:.2f} s, {theirs[1]:.2f} s of all processors")
        print(f"ratio {theirs[0] / ours[0]:.1f} by the clock, {theirs[1] / ours[1]:.1f} of processor time", flush=True)


if __name__ == "__main__":
    main()
