#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often what evaluations say of money is true: many simulated trials, counted.

Runs the coverage tests of the evaluation with more trials and narrower bounds than `make test` does, and prints their
counts: intervals of profit, ROI and of targeting over random, alone and all at once; how often a useless model is said to
beat random and a losing plan to pay back; uplift by decile and its calibration, effects by segment (all at once), the
difference of a policy tree from its plan; effects in imbalanced trials, adjusted by estimated propensities. The full form takes some minutes on two cores.

  experiments/coverage.py                 2,000 trials a configuration
  experiments/coverage.py --trials 500    fewer, with the bounds of the tests
"""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000, help="simulated trials a configuration")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="the build folder")
    parser.add_argument("--only", default="*", help="a test: DoublyRobust, HajekWithPropensitiesInClusters, ...")
    arguments = parser.parse_args()
    return max(
        counted(arguments, "test_evaluate", f"MoneyCoverage.{arguments.only}:HeterogeneityCoverage.{arguments.only}"),
        counted(arguments, "test_evaluate", f"*AdjustedCoverage.{arguments.only}"),
    )


def counted(arguments, name, tests):
    program = arguments.build / "bin" / name
    if not program.exists():
        sys.exit(f"{program} is not there: cmake --build {arguments.build} --target {name} makes it")
    run = subprocess.run(
        [program, f"--gtest_filter={tests}"],
        env={**os.environ, "DFCL_COVERAGE_TRIALS": str(arguments.trials)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    for line in run.stdout.splitlines():
        if " of " in line or "Failure" in line or "FAILED" in line or "PASSED" in line:
            print(line)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
