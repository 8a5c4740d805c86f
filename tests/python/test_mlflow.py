# SPDX-License-Identifier: Apache-2.0
"""The MLflow flavour: log, load, pyfunc."""

import numpy as np
import pytest

mlflow = pytest.importorskip("mlflow")

import dfcl.mlflow  # noqa: E402


def test_a_saved_model_is_loaded_and_runs_as_a_pyfunc(model, made, tmp_path):
    dfcl.mlflow.save_model(model, tmp_path / "saved")
    assert dfcl.mlflow.load_model(str(tmp_path / "saved")) == model
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    units = made.trial.to_pandas().head(50)
    found = loaded.predict(units)
    np.testing.assert_array_equal(found["revenue_10"], model.predict(units).revenue[:, 2])
    assert (tmp_path / "saved/requirements.txt").read_text().startswith("dfcl==")


def test_a_model_is_logged_to_a_run(model, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # no data base is needed to test with
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("plans")
    with mlflow.start_run():
        logged = dfcl.mlflow.log_model(model, name="model")
    assert dfcl.mlflow.load_model(logged.model_uri) == model
    assert "dfcl" in logged.flavors and "python_function" in logged.flavors

