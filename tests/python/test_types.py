# SPDX-License-Identifier: Apache-2.0
"""Types and examples of the package are checked."""

import doctest
import importlib
import subprocess
import sys

import pytest

import dfcl

USE = """
import dfcl

study = dfcl.Study(arm="a", revenue="r", cost="c")
model: dfcl.Model = dfcl.train(study, "trial.csv", epochs=3)
rows: int = len(dfcl.predict(model, {"x": [1.0]}))
dfcl.train(study, epochs="three")  # wrong
"""


CONFIGURATION = """
[mypy]
strict = true
[mypy-dfcl._dfcl]
disallow_any_generics = false
[mypy-pandas.*,pyarrow.*,polars.*,sklearn.*,IPython.*]
ignore_missing_imports = true
follow_imports = skip
"""


def mypy(folder, *arguments):
    (folder / "mypy.ini").write_text(CONFIGURATION)
    command = [sys.executable, "-m", "mypy", "--no-incremental", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_the_package_passes_strict_checks(tmp_path):
    done = mypy(tmp_path, "-p", "dfcl")
    assert done.returncode == 0, done.stdout


def test_callers_see_the_types(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = mypy(tmp_path, "use.py")
    assert done.stdout.count("error:") == 1 and '"str"; expected "int | None"' in done.stdout, done.stdout


@pytest.mark.parametrize("name", ["dfcl", "dfcl.verbs", "dfcl.study"])
def test_the_examples_in_documentation_strings_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0 and result.attempted > 0


def test_everything_public_is_documented():
    undocumented = [name for name in dfcl.__all__ if name != "__version__" and not getattr(dfcl, name).__doc__]
    assert undocumented == []
