# SPDX-License-Identifier: Apache-2.0
"""How long the page of `dfcl serve` takes from a move to new numbers, browser included, and what memory it needs.

Predictions of 100,000 and of 10,000,000 units x 5 arms, drawn at random; DFCL_ROWS names other sizes, "100000,1000000".
DFCL_BINARY is the program. Prints, for each kind of move, the median, the 95th percentile and the most, in milliseconds, and the most
memory that the server has had until then.
"""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("DFCL_BINARY", HERE.parent / "build" / "release" / "bin" / "dfcl")
ROWS = [int(size) for size in os.environ.get("DFCL_ROWS", "100000,10000000").split(",")]
ARMS = ["0", "5", "10", "15", "20"]
MOVES = {"budget": 60, "min_roi": 40, "objective": 20, "units": 8}


def write_predictions(path, units):
    """In pieces, so that the script needs less memory than the server."""
    draw = np.random.default_rng(1)
    writer = None
    for begin in range(0, units, 1_000_000):
        size = min(1_000_000, units - begin)
        base, effect, price = draw.gamma(2.0, 5.0, size), draw.gamma(1.0, 2.0, size), draw.uniform(0.1, 0.3, size)
        columns = {"id": np.arange(begin, begin + size)}
        for place, arm in enumerate(ARMS):
            columns[f"revenue_{arm}"] = (base + effect * place**0.6).astype(np.float32)
            columns[f"cost_{arm}"] = (price * place).astype(np.float32)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def most_memory(process):
    """The highest resident memory of a process so far, in bytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        for units in ROWS:
            path = Path(folder) / "predictions.parquet"
            write_predictions(path, units)
            server = subprocess.Popen(
                [BINARY, "serve", path, "--control", "0", "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            address = server.stdout.readline().strip()
            print(f"{units:,} units x {len(ARMS)} arms")
            for kind, count in MOVES.items():
                told = subprocess.run(
                    ["node", HERE / "serve_moves.mjs", address, kind, str(count)], capture_output=True, text=True, check=True
                )
                times = np.array(json.loads(told.stdout))
                most = most_memory(server)
                print(
                    f"  {kind:10} median {np.median(times):7.0f} ms   95 % {np.quantile(times, 0.95):7.0f} ms   most {times.max():7.0f} ms"
                    f"   memory so far {most / 1e6:,.0f} MB, {most / (8 * units * len(ARMS)):.2f} x the predictions"
                )
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
