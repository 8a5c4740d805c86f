# SPDX-License-Identifier: Apache-2.0
"""Types and examples of the package are checked."""

import ast
import doctest
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dfcl
from dfcl import _dfcl

USE = (Path(__file__).parent / "typed_use.py").read_text()
WRONG = """
import dfcl

study = dfcl.Study(arm="a", revenue="r", cost="c")
dfcl.train(study, epochs="three")
dfcl.evaluate(study, "m", split="tests")
dfcl.allocate("p", budget=[1.0])
dfcl.check(trial="t", armm="a")
study.train("t").allocate("u", objective="Profit")
"""

CONFIGURATION = """
[mypy]
strict = true
[mypy-pandas.*,pyarrow.*,polars.*,sklearn.*,IPython.*,matplotlib.*,mlflow.*,pyspark.*]
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


def test_a_script_that_uses_everything_has_types(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = mypy(tmp_path, "use.py")
    assert done.returncode == 0, done.stdout


def test_a_script_that_uses_everything_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(USE, "typed_use.py", "exec"), {"__name__": "use"})


def test_the_script_uses_every_public_name():
    """Every name, and every public method and property of every class."""
    used = {node.attr for node in ast.walk(ast.parse(USE)) if isinstance(node, ast.Attribute)}
    assert set(dfcl.__all__) - used == set()
    for name in dfcl.__all__:
        if inspect.isclass(kind := getattr(dfcl, name)):
            ours = [base for base in kind.__mro__ if base.__module__.startswith("dfcl")]
            assert {member for base in ours for member in vars(base) if not member.startswith("_")} - used == set(), name


def test_wrong_arguments_are_seen(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    done = mypy(tmp_path, "wrong.py")
    lines = {int(line) for line in re.findall(r"wrong.py:(\d+): error", done.stdout)}
    assert lines == {5, 6, 7, 8, 9}, done.stdout


def test_pyright_agrees(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "pyrightconfig.json").write_text('{"reportMissingModuleSource": false, "typeCheckingMode": "standard"}')
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "use.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    if "error" in done.stderr and "download" in done.stderr:
        pytest.skip("pyright could not fetch Node")
    assert done.returncode == 0, done.stdout + done.stderr


# What pyright may find without a type: what other libraries leave untyped.
UNTYPED_BASES = {
    "dfcl.sklearn.DecisionFocusedRegressor": "BaseEstimator of scikit-learn has no types",
    "dfcl.spark.PredictTransformer": "its base below",
    "dfcl.spark.transformer.PredictTransformer": "Transformer and Param of pyspark, which is not installed here",
}


def verify_types(package, **environment):
    """Symbols of an installed package whose types pyright does not know, with its reasons."""
    pytest.importorskip("pyright")
    bin = Path(sys.executable).parent
    names = os.environ | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "VIRTUAL_ENV": str(bin.parent)} | environment
    command = [sys.executable, "-m", "pyright", "--verifytypes", package, "--ignoreexternal", "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, env=names)
    if not done.stdout.startswith("{") and "download" in done.stderr:
        pytest.skip("pyright could not fetch Node")
    completeness = json.loads(done.stdout)["typeCompleteness"]
    wrong = [one for one in completeness["symbols"] if one["isExported"] and not (one["isTypeKnown"] and not one["isTypeAmbiguous"])]
    return completeness, {one["name"]: [said["message"] for said in one["diagnostics"]] for one in wrong}


def test_every_exported_symbol_has_a_type():
    completeness, wrong = verify_types("dfcl")
    assert completeness["exportedSymbolCounts"]["withKnownType"] > 500
    ours = {name: said for name, said in wrong.items() if not any(name.startswith(base) for base in UNTYPED_BASES)}
    assert ours == {}


def test_a_symbol_without_a_type_would_be_found(tmp_path):
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted/py.typed").touch()
    (tmp_path / "planted/__init__.py").write_text("def typed(x: int) -> int:\n    return x\n\n\ndef planted(x):\n    return x\n")
    _, wrong = verify_types("planted", PYTHONPATH=str(tmp_path))
    assert set(wrong) == {"planted.planted"}


def public(value):
    """A class or function with its public methods."""
    yield value
    if inspect.isclass(value):
        for name, member in vars(value).items():
            if name.startswith("_") and name != "__init__":
                continue
            member = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            member = member.fget if isinstance(member, property) else member
            if inspect.isfunction(member):
                yield member


def test_nothing_public_is_any():
    from dfcl import sklearn

    values = [getattr(dfcl, name) for name in dfcl.__all__] + [sklearn.DecisionFocusedRegressor]
    for value in values:
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        for member in public(value):
            for name, hint in getattr(member, "__annotations__", {}).items():
                assert not re.search(r"\bAny\b", str(hint)), (member.__qualname__, name, hint)


def test_the_stub_is_that_of_the_module():
    stub = ast.parse((Path(dfcl.__file__).parent / "_dfcl.pyi").read_text())
    told = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(told) == {name for name in dir(_dfcl) if not name.startswith("_")}
    for name, node in told.items():
        if isinstance(node, ast.ClassDef):
            members = {entry.name for entry in node.body if isinstance(entry, ast.FunctionDef)} - {"__init__"}
            assert members == {entry for entry in vars(getattr(_dfcl, name)) if not entry.startswith("_")}, name


@pytest.mark.parametrize("name", ["dfcl", "dfcl.adapters", "dfcl.study", "dfcl.sklearn", "dfcl.verbs.models", "dfcl.verbs.plans", "dfcl.verbs.trials", "dfcl.verbs.worth"])
def test_the_examples_in_documentation_strings_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0 and result.attempted > 0


def test_everything_public_is_documented():
    undocumented = [name for name in dfcl.__all__ if name not in ("Progress", "__version__") and not getattr(dfcl, name).__doc__]
    assert undocumented == []
