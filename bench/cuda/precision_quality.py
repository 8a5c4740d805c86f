#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do plans get worse where products are rounded? One kind of trial (`varied`, rules), fits of several seeds on the processor and on
the card in fp32 and tf32, judged by the truth: share of the best possible increment, mean of six budgets, and paired differences.

  DFCL_BINARY=build/card/bin/dfcl bench/cuda/precision_quality.py -o precision --rows 60000 --seeds 5 --jobs 8
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "experiments"))
from quality_runner import Runner, outcomes  # noqa: E402

WORLD = "varied/rules"
WAYS = {"processor": ("--device", "cpu"), "fp32": ("--device", "cuda", "--precision", "fp32"), "tf32": ("--device", "cuda", "--precision", "tf32")}


def share(runner, rows, method, seed, way):
    """In percent. Trials are draws of one world: each seed has its own."""
    trial = runner.simulated(f"{WORLD}-{rows}-{seed}", WORLD, rows, 1, seed)
    test, truth = runner.test_units(WORLD)
    model, predictions = (runner.folder / f"{method}-{seed}-{way}{ending}" for ending in (".safetensors", ".parquet"))
    runner.dfcl("train", f"{trial}.toml", "--method", method, "--seed", seed, "-o", model, *WAYS[way])
    runner.dfcl("predict", model, f"{test}.parquet", "-o", predictions)
    _, revenue, cost = outcomes(predictions)
    predictions.unlink()
    model.unlink()
    return 100 * statistics.mean(truth.judged(revenue, cost)["shares"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", default="tsm,dfcl-mer")
    parser.add_argument("--ways", default=",".join(WAYS), help="the first is what others are measured against")
    options = parser.parse_args()
    runner = Runner(options.output, options.jobs, 1, None)
    runner.test_units(WORLD)
    methods, ways, seeds = options.methods.split(","), options.ways.split(","), range(1, options.seeds + 1)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = {
            (method, way, seed): pool.submit(share, runner, options.rows, method, seed, way)
            for seed in seeds
            for method in methods
            for way in ways
        }
        found = {key: job.result() for key, job in made.items()}
    for method in methods:
        of = {way: [found[method, way, seed] for seed in seeds] for way in ways}
        for way, values in of.items():
            differences = [value - base for value, base in zip(values, of[ways[0]], strict=True)]
            error = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else 0.0
            print(f"{method:>8} {way:>9}: {statistics.mean(values):6.2f} %, minus {ways[0]} {statistics.mean(differences):+5.2f} "
                  f"(standard error {error:.2f})   " + " ".join(f"{value:.2f}" for value in values))  # fmt: skip
    print(json.dumps({" ".join(map(str, key)): round(value, 3) for key, value in found.items()}), file=sys.stderr)


if __name__ == "__main__":
    main()
