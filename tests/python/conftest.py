# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the Python package, which run in a virtual environment that package.sh makes."""

import os
import subprocess

import pytest

import dfcl

BINARY = os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")


@pytest.fixture(scope="session")
def program():
    """Runs the command line; returns its standard output."""

    def run(*arguments, folder=None):
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def made():
    return dfcl.simulate("marketing", rows=6000, seed=1)


@pytest.fixture(scope="session")
def model(made):
    return dfcl.train(made.study, made.trial, method="tsm", epochs=2, seed=1)


@pytest.fixture(scope="session")
def small_trial():
    """A trial of two arms with a number, a category and missing values, as plain columns."""
    import numpy as np

    random = np.random.default_rng(7)
    rows = 3000
    x = random.normal(size=rows)
    x[::50] = np.nan
    city = random.choice(["Ulm", "Bonn", "Kiel"], rows)
    arm = random.integers(0, 2, rows)
    revenue = 1 + arm * (1 + np.nan_to_num(x)) + random.normal(size=rows)
    return {
        "id": np.arange(rows),
        "x": x,
        "whole": random.integers(0, 9, rows),
        "city": city,
        "arm": arm,
        "revenue": revenue,
        "cost": 0.5 * arm * random.uniform(size=rows),
    }


@pytest.fixture(scope="session")
def small_study():
    return dfcl.Study(id="id", arm="arm", revenue="revenue", cost="cost", control="0", per_unit=[0.1])
