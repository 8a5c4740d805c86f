#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluation on Spark's executors beside that of a sample on the driver: wall time, passes, bytes to the driver, intervals.

A simulated marketing trial with eight of its columns, one model fitted on the sample. Run it with the environment that `make
test-spark` makes: build/release/spark-4/bin/python bench/spark_evaluate.py --rows 400000
"""

import argparse
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

import dfcl  # noqa: E402
from dfcl.spark.evaluate import evaluate_rows  # noqa: E402
from dfcl.spark.trial import TrialFrame  # noqa: E402

COLUMNS = ["shop_id", "city", "orders_30d", "sales_30d", "views_30d", "avg_basket", "discount", "orders", "subsidy"]


def session():
    from pyspark.sql import SparkSession

    settings = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "driver.memory": "2g", "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1", "log.level": "OFF"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--sample", type=int, default=60_000, help="rows on the driver")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--estimator", default="hajek")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    options = {"estimator": given.estimator, "resamples": given.resamples, "progress": False}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "trial.parquet")
        made = dfcl.simulate("marketing", rows=given.rows, seed=5)
        made.trial.write(path)
        study = made.study.set({"budgets.share_of_max": [0.1, 0.3], "method.name": "tsm-boost", "boost.bags": 1, "boost.trees": 20})
        trial = TrialFrame(session().read.parquet(path).select(*COLUMNS).repartition(given.partitions), study)
        sample = trial.sample(given.sample, "checked")
        model = dfcl.train(study, sample, seed=1, progress=False)
        start = time.time()
        result, passes = evaluate_rows(trial, study, {"model": model}, sample, **options)
        seconds = time.time() - start
    on_driver = dfcl.evaluate(study, {"model": model}, sample, **options)
    for name, one in (("executors", result), ("sample on the driver", on_driver)):
        units = sum(arm["units"] for arm in one.figures["trial"]["arms"])
        print(f"{name}: {units:,} judged rows, gain at the second budget {one.figures['models'][0]['deployed'][1]['incremental_revenue']}")
    print(f"{given.rows:,} rows: {seconds:.1f} s wall, {len(passes)} passes, driver's Python {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    for one in passes:
        print(f"  {one['pass']}: {one['parts']} parts, {one['bytes'] / 1e6:.2f} MB to the driver")
    print("load:", Path("/proc/loadavg").read_text().strip())


if __name__ == "__main__":
    main()
