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


def test_the_readme_example_runs_with_numpy_alone(wheel, tmp_path):
    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", wheel]
    subprocess.run(install, check=True)
    listed = subprocess.run([python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout
    assert sorted(re.split("==| @", line)[0] for line in listed.splitlines()) == ["dfcl", "numpy"]
    (example,) = examples(ROOT / "README.md")
    done = subprocess.run([python, "-c", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "upper bound" in done.stdout


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
