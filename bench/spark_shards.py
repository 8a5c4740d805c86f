# SPDX-License-Identifier: Apache-2.0
"""Fits on shards, averaged, beside one fit on all rows and one on a single shard: share of the oracle's increment that their plans
reach by the simulated truth, on units of the test split.

  build/release/spark-4/bin/python bench/spark_shards.py --rows 4000000 --shards 8
"""

import argparse
import os
import resource
import sys
import tempfile
import time
import warnings

import pyarrow as pa
import pyarrow.parquet as pq

import dfcl
from dfcl import spark as dfcl_spark

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def session():
    from pyspark.sql import SparkSession

    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    made = made.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
    return made.config("spark.driver.maxResultSize", "4g").config("spark.sql.execution.arrow.maxRecordsPerBatch", "100000").getOrCreate()


def oracle_shares(study, models, trial, truth):
    """Of each model, the mean over the budgets, in per cent."""
    judged = dfcl.evaluate(study, models, trial, truth=truth, resamples=0, estimator="hajek", progress=False)
    return {one["name"]: [100 * plan["share_of_oracle"] for plan in one["deployed"]] for one in judged["models"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--preset", default="criteo")
    parser.add_argument("--method", default="tsm-boost")
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--judged", type=int, default=600_000, help="rows whose test units judge")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    made = dfcl.simulate(options.preset, rows=options.rows, seed=options.seed)
    study = made.study.set({"method.name": options.method, "boost.trees": options.trees})
    trial, truth = pa.table(made.trial).replace_schema_metadata(None), pa.table(made.truth)
    if "\nid = " not in study.text:
        trial, study = trial.append_column("id", truth["id"]), study.set({"columns.id": "id"})
    del made
    models, seconds = {}, {}

    def timed(name, make):
        start = time.perf_counter()
        models[name] = make()
        seconds[name] = time.perf_counter() - start
        print(f"{name}: {seconds[name]:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(trial, f"{folder}/trial.parquet", row_group_size=250_000)
        spark = session()
        frame = spark.read.parquet(f"{folder}/trial.parquet")
        timed(f"{options.shards} shards", lambda: dfcl_spark.train(frame, study, shards=options.shards, seed=1, progress=False))
        timed("one shard", lambda: dfcl_spark.train(frame, study, max_rows=options.rows // options.shards, seed=1, progress=False))
        spark.stop()
    timed("all rows", lambda: dfcl.train(study, trial, seed=1, progress=False))
    shares = oracle_shares(study, models, trial.slice(0, options.judged), truth.slice(0, options.judged))
    print(f"{options.preset}, {options.rows:,} rows, {options.method}: share of the oracle's increment at the plan's own true spend")
    for name, of in shares.items():
        print(f"{name:>12}: mean {sum(of) / len(of):6.2f} %   " + " ".join(f"{one:6.2f}" for one in of) + f"   {seconds[name]:.0f} s")
    print(f"driver's Python: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB at most")


if __name__ == "__main__":
    main()
