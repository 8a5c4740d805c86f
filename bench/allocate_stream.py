# SPDX-License-Identifier: Apache-2.0
"""`dfcl allocate --stream` over 50,000,000 units x 5 arms: seconds, and the peak memory of the process, beside 1 GiB.

The prediction file (about 2 GB) is written in pieces to a temporary folder first (--folder chooses the disk) and
removed at the end. Run: make bench.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet

PIECE = 500_000


def write_predictions(path, units, arms):
    """Discounts: cost and revenue rise with the arm, control is free. No id: units are named by their row."""
    names = [f"{kind}_{arm}" for kind in ("revenue", "cost") for arm in range(arms)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pa.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in range(0, units, PIECE):
            random = np.random.default_rng([1, first])
            count = min(PIECE, units - first)
            cost = np.cumsum(random.standard_exponential((arms, count), dtype=np.float32), axis=0)
            cost[0] = 0.0
            strength, rate = (random.standard_exponential(count, dtype=np.float32) for _ in range(2))
            revenue = 5.0 + 3.0 * strength * (1.0 - np.exp(-cost * rate))
            writer.write_table(pa.table([*revenue, *cost], schema=schema))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, default=pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")))
    parser.add_argument("--units", type=int, default=50_000_000)
    parser.add_argument("--arms", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, help="where to put the files while the benchmark runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        file, plan = pathlib.Path(folder) / "predictions.parquet", pathlib.Path(folder) / "plan.parquet"
        write_predictions(file, options.units, options.arms)
        command = [options.binary, "allocate", file, "--per-unit=0.8", "--stream", f"--threads={options.threads}", "--json", "--quiet"]
        start = time.perf_counter()
        summary = json.loads(subprocess.run([*command, "-o", plan, "--overwrite"], check=True, stdout=subprocess.PIPE, text=True).stdout)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        sizes = file.stat().st_size / 1e9, plan.stat().st_size / 1e9
    matrices = 8 * options.units * options.arms
    print(f"{options.units:,} units x {options.arms} arms, {options.threads} threads: {sizes[0]:.2f} GB read several times, {sizes[1]:.2f} GB written\n")
    print(f"seconds      {seconds:>8.1f}   (read {summary['seconds']['read']:.1f}, solve {summary['seconds']['solve']:.1f}, write {summary['seconds']['write']:.1f})")
    print(f"peak memory  {peak / 2**20:>8.0f} MiB, limit 1024 MiB; the matrices alone would be {matrices / 2**20:.0f} MiB")
    print(f"status       {summary['status']}, gap {summary['gap'] / summary['bound']:.1e} of the bound")


if __name__ == "__main__":
    main()
