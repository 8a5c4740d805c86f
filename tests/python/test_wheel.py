# SPDX-License-Identifier: Apache-2.0
"""The wheel needs nothing but NumPy: in an environment of its own it runs the README's example."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHEELS = Path(os.environ.get("DFCL_WHEELS", ROOT / "build/release/python/wheel"))


@pytest.fixture(scope="module")
def wheel():
    wheels = list(WHEELS.glob("dfcl-*.whl"))
    assert len(wheels) == 1, f"one wheel in {WHEELS}"
    return wheels[0]


def examples(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def install(python, *what):
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([*command, *what], check=True)


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """The Python of an environment with the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    install(folder / "bin/python", wheel)
    return folder / "bin/python"


def test_the_readme_example_runs_with_numpy_alone(fresh, tmp_path):
    python = fresh
    listed = subprocess.run([python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout
    assert sorted(re.split("==| @", line)[0] for line in listed.splitlines()) == ["dfcl", "numpy"]
    (example,) = examples(ROOT / "README.md")
    done = subprocess.run([python, "-c", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "upper bound" in done.stdout


PANDAS = """
import numpy, pandas, dfcl
random = numpy.random.default_rng(1)
rows = 900
frame = pandas.DataFrame({
    "number": random.normal(size=rows),
    "whole": pandas.array(random.integers(0, 9, rows), dtype="Int64"),
    "text": random.choice(["a", "b", None], rows),
    "level": pandas.Categorical(random.choice(["low", "high"], rows)),
    "flag": random.random(rows) < 0.5,
    "arm": random.integers(0, 2, rows) * 5,
}, index=[f"row {i}" for i in range(rows)])
frame["revenue"] = 2 + 0.3 * frame["arm"] * (frame["number"] > 0) + random.normal(size=rows)
frame["cost"] = 0.1 * frame["arm"]
study = dfcl.Study(arm="arm", revenue="revenue", cost="cost", control="0", per_unit=[0.2])
model = dfcl.train(study, frame, method="tsm-boost", force=True, seed=1)
plan = model.allocate(frame, per_unit=0.2)
print(pandas.__version__.split(".")[0], model.fingerprint, repr(plan.value), sorted(plan.units_per_arm.items()))
"""


def test_pandas_2_and_3_give_the_same_model(fresh, tmp_path):
    """Pandas 2 without PyArrow, whose frames come as columns; the newer one with its Arrow stream."""
    install(fresh, "pandas<3")
    found = [
        subprocess.run([python, "-W", "ignore", "-c", PANDAS], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split(maxsplit=1)
        for python in (fresh, sys.executable)
    ]
    assert [version for version, _ in found] == ["2", "3"]
    assert found[0][1] == found[1][1]


def test_the_examples_of_the_guide_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for example in examples(ROOT / "docs/python.md"):
        exec(compile(example, "docs/python.md", "exec"), names)


def test_libraries_are_bundled_once_and_found_beside_the_module(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    bundled = sorted(Path(name).name.split(".so")[0] for name in names if name.startswith("dfcl/lib/"))
    assert {"libarrow", "libparquet"} <= set(bundled)
    assert not any("blas" in name or "gfortran" in name for name in bundled)
    assert len(bundled) == len(set(bundled))
    assert "dfcl/_dfcl.pyi" in names and "dfcl/py.typed" in names


def test_auditwheel_gives_a_manylinux_tag(wheel):
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    text = " ".join(shown.stdout.split())
    print(text)
    assert re.search(r'consistent with the following platform tag: "manylinux_2_\d+_x86_64"', text), text + shown.stderr


ARROW = """
import sys
first, second = sys.argv[1:]
modules = {"pyarrow": lambda: __import__("pyarrow"), "dfcl": lambda: __import__("dfcl")}
modules[first](), modules[second]()
import io
import numpy, pyarrow, pyarrow.compute, pyarrow.parquet, dfcl
made = dfcl.simulate("marketing", rows=3000, seed=1)
model = dfcl.train(made.study, made.trial, method="tsm-boost", seed=1, force=True)
table = pyarrow.table(made.trial)
file = io.BytesIO()
pyarrow.parquet.write_table(table, file, compression="zstd")
again = pyarrow.parquet.read_table(io.BytesIO(file.getvalue()))
mean = pyarrow.compute.mean(again["orders"]).as_py()
plan = model.allocate(again, share_of_max=0.2)
made.trial.write("trial.parquet")
assert pyarrow.parquet.read_table("trial.parquet").equals(table)
print(pyarrow.__version__.split(".")[0], model.fingerprint, repr(plan.value), repr(mean), pyarrow.table(plan).num_rows)
"""


@pytest.mark.parametrize("version", ["18", "22"])
def test_other_versions_of_pyarrow_run_on_their_own(fresh, tmp_path, version):
    """Imported before or after: each uses its own Arrow, and the answers are those of the version we are built with."""

    def run(python, *order):
        command = [python, "-W", "ignore", "-c", ARROW, *order]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (order, done.returncode, done.stderr)
        return done.stdout.split(maxsplit=1)

    expected = run(sys.executable, "dfcl", "pyarrow")[1]
    install(fresh, f"pyarrow=={version}.*", "numpy")
    for order in (("dfcl", "pyarrow"), ("pyarrow", "dfcl")):
        assert run(fresh, *order) == [version, expected], order
