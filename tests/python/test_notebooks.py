# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from top to bottom, and what their cells end with can be shown."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "python/notebooks").glob("*.ipynb"))


def run_cell(source, names, where):
    """Runs a cell as a notebook does; returns the value of its last expression."""
    tree = ast.parse(source, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), where, "eval"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("matplotlib").use("Agg")
    names = {"__name__": "__main__"}
    size = 0
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, "notebooks are kept without outputs"
        source = "".join(cell["source"])
        shown = run_cell(source.removesuffix(";"), names, f"{path.name}, cell {number}")
        if hasattr(shown, "figure"):
            shown.figure.savefig(tmp_path / "chart.png")
            size += (tmp_path / "chart.png").stat().st_size
        elif shown is not None:
            page = shown._repr_html_() if hasattr(shown, "_repr_html_") else repr(shown)
            assert "<pre" not in page, "tables, not text"
            size += len(page)
    assert 2_000 < size < 1_000_000, "what the notebook shows"


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["comparing_methods", "first_plan", "launch_and_readout"]
