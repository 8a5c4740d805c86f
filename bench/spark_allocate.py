#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans on Spark beside the stream of one machine: rows per second, passes, bytes to the driver, memory.

Predictions are generated on the executors, the same for every size and partitioning: unit i is a hash of i. Run it with the
environment that `make test-spark` makes: build/release/spark-4/bin/python bench/spark_allocate.py --rows 1000000 10000000
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402

ARMS = 5


def predictions_of(ids):
    """Concave responses; every number is a function of the id."""
    columns = {"id": pa.array(ids)}
    keys = (ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    size = (0.5 + 1.5 * (keys >> np.uint64(40)).astype(np.float64) / 2**24).astype(np.float32)
    cost = np.zeros(len(ids), np.float32)
    for arm in range(ARMS):
        columns[f"revenue_{arm}"] = pa.array((size * np.sqrt(cost)).astype(np.float32))
        columns[f"cost_{arm}"] = pa.array(cost.copy())
        keys = keys * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(arm + 1)
        cost = cost + (0.1 + 0.9 * (keys >> np.uint64(40)).astype(np.float64) / 2**24).astype(np.float32)
    return pa.table(columns)


def generate(batches):
    for batch in batches:
        yield from predictions_of(batch.column("id").to_numpy(zero_copy_only=False)).to_batches()


def cpu_seconds():
    """Of Spark: its Java and its Python workers, those that have ended included."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            if b"pyspark.daemon" in command or (b"java" in command and b"spark" in command):
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                ticks += sum(int(field) for field in fields[11:15])  # user, system, and those of children
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


class WorkerMemory(threading.Thread):
    """The largest resident memory of one Python worker of the executors, in MB, looked at twice a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = 0
        self.over = False

    def run(self):
        while not self.over:
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    command = (status.parent / "cmdline").read_bytes()
                    if b"pyspark.daemon" in command or b"pyspark/daemon" in command:
                        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
                        self.most = max(self.most, int(lines["VmRSS"].split()[0]) // 1024)
                except (OSError, KeyError, ValueError):
                    continue
            time.sleep(0.5)


def on_spark(spark, rows, partitions):
    from dfcl import spark as dfcl_spark

    fields = ", ".join(f"revenue_{arm} float, cost_{arm} float" for arm in range(ARMS))
    frame = spark.range(0, rows, 1, partitions).mapInArrow(generate, f"id bigint, {fields}")
    begin = time.time()
    before = cpu_seconds()
    frame.selectExpr("sum(cost_4)").collect()
    generating_cpu = cpu_seconds() - before
    generating = time.time() - begin
    cpu = [cpu_seconds()]
    memory = WorkerMemory()
    memory.start()
    begin = time.time()
    plan = dfcl_spark.allocate(frame, per_unit=0.4, control="0", check_ids=False, progress=False)
    solving = time.time() - begin
    cpu.append(cpu_seconds())
    begin = time.time()
    units = {row["arm"]: row["count"] for row in plan.frame.groupBy("arm").count().collect()}
    assigning = time.time() - begin
    cpu.append(cpu_seconds())
    memory.over = True
    assert sum(units.values()) == rows and units == {arm: count for arm, count in plan.figures["units_per_arm"].items() if count}
    return plan, {
        "rows": rows,
        "partitions": partitions,
        "generating_s": round(generating, 1),
        "generating_cpu_us_per_unit": round(1e6 * generating_cpu / rows, 3),
        "solving_s": round(solving, 1),
        "assigning_s": round(assigning, 1),
        "us_per_unit": round(1e6 * (solving + assigning) / rows, 3),
        "cpu_us_per_unit": round(1e6 * (cpu[2] - cpu[0]) / rows, 3),
        "worker_MB": memory.most,
        "driver_python_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "passes": plan.passes,
    }


def on_one_machine(binary, rows):
    """The same predictions in a file, streamed by the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/predictions.parquet"
        with pyarrow.parquet.ParquetWriter(path, predictions_of(np.arange(1)).schema) as writer:
            for first in range(0, rows, 1_000_000):
                writer.write_table(predictions_of(np.arange(first, min(rows, first + 1_000_000))))
        begin = time.time()
        command = [binary, "allocate", path, "--stream", "--per-unit", "0.4", "--control", "0", "-o", f"{folder}/plan.parquet", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        return figures, round(time.time() - begin, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--rows-per-partition", type=int, default=1_000_000)
    parser.add_argument("--dfcl", default="build/release/bin/dfcl", help="the program, for the stream of one machine")
    parser.add_argument("--without-stream", action="store_true")
    arguments = parser.parse_args()
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
        .config("spark.ui.showConsoleProgress", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
    )  # fmt: skip
    on_spark(spark, 10_000, 2)  # workers and modules are there
    for rows in arguments.rows:
        plan, figures = on_spark(spark, rows, max(2, rows // arguments.rows_per_partition))
        if not arguments.without_stream:
            here, seconds = on_one_machine(arguments.dfcl, rows)
            here = here["plans"][0] if "plans" in here else here
            same = all(here[name] == plan.figures[name] for name in ("spend", "value", "bound", "multiplier", "units_per_arm"))
            figures |= {"stream_s": seconds, "same_plan": same}
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
