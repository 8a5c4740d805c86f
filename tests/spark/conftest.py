# SPDX-License-Identifier: Apache-2.0
"""One Spark with two cores on this machine; tasks may be tried four times, as on a cluster. See `make test-spark`."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

# All of the tests, or those that fit into a minute.
FULL = os.environ.get("DFCL_SPARK_FULL") == "1"


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def frame_of(spark):
    """A frame of a table in so many partitions, some of them empty and one with most rows."""

    def make(table, partitions=3, random=None):
        columns = table.to_pydict()
        if random is not None:
            weights = random.random(partitions) ** 4
            columns["_part"] = random.choice(partitions, len(table), p=weights / weights.sum()).tolist()
        frame = spark.createDataFrame(list(zip(*columns.values())), schema_of(table, random is not None))
        if random is None:
            return frame.repartition(partitions)
        return frame.repartition(partitions, "_part").drop("_part")

    return make


def schema_of(table, dealt):
    import pyarrow as pa

    names = {pa.int64(): "bigint", pa.string(): "string", pa.float32(): "float", pa.float64(): "double", pa.int32(): "int"}
    fields = [f"`{field.name}` {names[field.type]}" for field in table.schema]
    return ", ".join(fields + (["_part bigint"] if dealt else []))


def rows_of(frame, names=("id", "arm", "revenue", "cost")):
    """The rows by id."""
    rows = [tuple(row[name] for name in names) for row in frame.select(*names).collect()]
    return sorted(rows, key=lambda row: row[0])
