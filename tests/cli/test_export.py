# SPDX-License-Identifier: Apache-2.0
"""dfcl export: what it says and refuses. tests/python/test_onnx.py compares the predictions with onnxruntime."""

import json

import pyarrow.parquet as parquet
import pytest


@pytest.fixture
def folder(dfcl):
    made = dfcl("simulate", "--preset", "criteo", "--rows", 4000, "-o", "trial.parquet", "--study", "study.toml")
    assert made.code == 0, made.stderr
    assert dfcl("train", "study.toml", "--method", "tsm", "--epochs", 1, "-o", "model.safetensors").code == 0
    return dfcl.folder


def test_a_graph_is_written_and_its_size_told(dfcl, folder):
    done = dfcl("export", "model.safetensors", "-o", "model.onnx", "--json")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout) == {"file": "model.onnx", "bytes": (folder / "model.onnx").stat().st_size}


def test_equal_models_are_equal_graphs(dfcl, folder):
    for name in ("one.onnx", "other.onnx"):
        assert dfcl("export", "model.safetensors", "-o", name).code == 0
    assert (folder / "one.onnx").read_bytes() == (folder / "other.onnx").read_bytes()


def test_wrong_files_are_refused(dfcl, folder):
    assert dfcl("export", "model.safetensors", "-o", "model.pb").code == 2
    assert dfcl("export", "absent.safetensors", "-o", "model.onnx").code == 4
    assert dfcl("export", "trial.parquet", "-o", "model.onnx").code == 4
    assert dfcl("export", "model.safetensors", "-o", "absent/model.onnx").code == 4
    assert not (folder / "model.onnx").exists()


def test_a_feature_by_the_name_of_an_output_is_refused(dfcl, folder):
    table = parquet.read_table(folder / "trial.parquet")
    names = ["cost" if name == "f0" else name for name in table.column_names]
    parquet.write_table(table.rename_columns(names), folder / "trial.parquet")
    study = (folder / "study.toml").read_text().replace("f0", "cost")
    (folder / "study.toml").write_text(study)
    trained = dfcl("train", "study.toml", "--method", "tsm", "--epochs", 1, "-o", "model.safetensors")
    assert trained.code == 0, trained.stderr
    done = dfcl("export", "model.safetensors", "-o", "model.onnx")
    assert done.code == 5 and "'cost'" in done.stderr
    assert not (folder / "model.onnx").exists()


def test_a_forest_and_boosted_trees_are_exported(dfcl, folder):
    for method in ("tsm-forest", "tsm-boost"):
        grown = dfcl("train", "study.toml", "--method", method, "--trees", 4, "-o", "trees.safetensors")
        assert grown.code == 0, grown.stderr
        done = dfcl("export", "trees.safetensors", "-o", f"{method}.onnx")
        assert done.code == 0, done.stderr
        assert b"TreeEnsembleRegressor" in (folder / f"{method}.onnx").read_bytes()
