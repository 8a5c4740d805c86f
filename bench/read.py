# SPDX-License-Identifier: Apache-2.0
"""Reading a trial into the feature matrix, beside pyarrow reading the same file into a table.

Both sides run in turn, each in a process of its own, with the same number of threads; the best of several runs counts.
The file is simulated: 15 columns, 4,000,000 rows unless --rows says otherwise (0.5 GB as CSV). Run: make bench.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PYARROW = """
import json, resource, sys, time
import pyarrow, pyarrow.csv, pyarrow.parquet
pyarrow.set_cpu_count(int(sys.argv[2]))
path = sys.argv[1]
start = time.perf_counter()
table = pyarrow.csv.read_csv(path) if path.endswith(".csv") else pyarrow.parquet.read_table(path)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "rows": table.num_rows}))
"""


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")).parent)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.rows:,} rows x 15 columns, {options.threads} threads, best of {options.repeats}\n")
        print(f"{'file':<9}{'size':>9}{'dfcl':>9}{'pyarrow':>9}{'ratio':>7}{'limit':>7}{'peak memory':>14}{'limit':>10}")
        for ending, limit in ((".csv", 1.5), (".parquet", 2.0)):
            trial = pathlib.Path(folder) / f"trial{ending}"
            study = pathlib.Path(folder) / "study.toml"
            simulate = [options.bin / "dfcl", "simulate", "--preset", "criteo", "--rows", str(options.rows), "--quiet"]
            subprocess.run([*simulate, "--seed", "1", "-o", trial, "--study", study, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
            ours, theirs = [], []
            for _ in range(options.repeats):
                ours.append(run([options.bin / "read_trial", study, str(options.threads)]))
                theirs.append(run([sys.executable, "-c", PYARROW, trial, str(options.threads)]))
            best = min(side["seconds"] for side in ours)
            other = min(side["seconds"] for side in theirs)
            matrix = 4 * ours[0]["rows"] * ours[0]["features"]
            peak = max(side["peak_bytes"] for side in ours)
            most = 1.5 * matrix + 256 * 2**20
            print(
                f"{ending:<9}{trial.stat().st_size / 1e6:>6.0f} MB{best:>7.2f} s{other:>7.2f} s{best / other:>7.2f}{limit:>7.1f}"
                f"{peak / 2**20:>10.0f} MiB{most / 2**20:>6.0f} MiB"
            )
            trial.unlink()


if __name__ == "__main__":
    main()
