#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package adds: peak memory of allocate and predict over a frame of 10,000,000 x 12 float32 numbers, and
the time of a call on next to nothing. Run it with the environment of the tests, build/release/python/venv.
"""

import resource
import statistics
import subprocess
import sys
import time

ROWS = 10_000_000

try:
    import dfcl
except ImportError:
    print("dfcl is not installed here: build/release/python/venv/bin/python bench/python_frames.py [rows]")
    sys.exit(0)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def frame(library, names, rows):
    """Made column by column, so that the peak before the call is the frame itself."""
    import numpy

    random = numpy.random.default_rng(1)
    columns = {name: random.random(rows, dtype=numpy.float32) for name in names}
    if library == "polars":
        import polars

        return polars.DataFrame(columns)
    import pyarrow

    return pyarrow.table(columns)


def measure(verb, library, rows):
    """In a process of its own, because the peak never falls."""
    if verb == "allocate":
        table = frame(library, [f"{outcome}_{arm}" for arm in range(6) for outcome in ("revenue", "cost")], rows)

        def call(units):
            return dfcl.allocate(units, per_unit=0.3)

        result_bytes = 9 * rows
    else:
        small = dfcl.simulate("criteo", rows=20_000, seed=1)
        model = dfcl.train(small.study, small.trial, method="tsm", epochs=2, seed=1)
        table = frame(library, model.features, rows)

        def call(units):
            return dfcl.predict(model, units)

        result_bytes = 4 * rows * 2 * len(model.arms)
    call(table[:300_000] if library == "polars" else table.slice(0, 300_000))  # what is needed whatever the rows
    before = peak()
    start = time.perf_counter()
    result = call(table)
    seconds = time.perf_counter() - start
    more = peak() - before
    del result
    print(
        f"{verb:9} {library:8} frame {12 * 4 * rows / 1e6:6.0f} MB, result {result_bytes / 1e6:4.0f} MB, "
        f"peak rose by {more / 1e6:5.0f} MB in {seconds:.2f} s"
    )


def overhead():
    import numpy
    import pyarrow

    made = dfcl.simulate("criteo", rows=20_000, seed=1)
    model = dfcl.train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    unit = pyarrow.table(made.trial).slice(0, 1)
    columns = {"revenue_0": numpy.ones(2), "cost_0": numpy.zeros(2)}
    for name, call in {
        "allocate": lambda: dfcl.allocate(columns, budget=1.0),
        "predict": lambda: dfcl.predict(model, unit),
    }.items():
        times = []
        for _ in range(300):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        print(f"{name:9} of one or two units: median {1e3 * statistics.median(times):.3f} ms")


if len(sys.argv) > 2:
    measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
else:
    for verb in ("allocate", "predict"):
        for library in ("pyarrow", "polars"):
            rows = sys.argv[1] if len(sys.argv) > 1 else str(ROWS)
            subprocess.run([sys.executable, __file__, verb, library, rows], check=True)
    overhead()
