# SPDX-License-Identifier: Apache-2.0
"""An MLflow flavour: log, save and load models; as a pyfunc they predict revenue and cost of every arm. Needs MLflow.

>>> import dfcl.mlflow  # doctest: +SKIP
>>> with mlflow.start_run():  # doctest: +SKIP
...     dfcl.mlflow.log_model(model, name="model")
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import verbs
from .model import Model
from .types import Path, TableLike

if TYPE_CHECKING:
    import mlflow.models.model
    import pandas

__all__ = ["FLAVOR_NAME", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "dfcl"
_FILE = "model.safetensors"


class _PythonModel:
    """What ``mlflow.pyfunc`` runs: a frame of units in, the columns of a prediction out."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def predict(self, units: TableLike, params: dict[str, object] | None = None) -> pandas.DataFrame:
        return verbs.predict(self.model, units, progress=False).to_pandas()


def save_model(model: Model, path: Path, mlflow_model: mlflow.models.model.Model | None = None) -> None:
    """Writes a model as a folder of MLflow.

    Parameters
    ----------
    model : Model
        The model.
    path : path
        A folder that is not there yet.
    mlflow_model : mlflow.models.Model, optional
        The entry to add the flavours to.
    """
    from mlflow import pyfunc
    from mlflow.models import Model as Entry
    from mlflow.models.model import MLMODEL_FILE_NAME

    from . import __version__

    folder = os.fspath(path)
    os.makedirs(folder, exist_ok=False)
    model.write(os.path.join(folder, _FILE))
    entry: Any = Entry() if mlflow_model is None else mlflow_model
    entry.add_flavor(FLAVOR_NAME, dfcl_version=__version__, data=_FILE, method=model.method, fingerprint=model.fingerprint)
    pyfunc.add_to_model(entry, loader_module="dfcl.mlflow", data=_FILE, code=None, env=None)
    with open(os.path.join(folder, "requirements.txt"), "w", encoding="utf-8") as file:
        file.write(f"dfcl=={__version__}\n")
    entry.save(os.path.join(folder, MLMODEL_FILE_NAME))


def log_model(model: Model, name: str = "model", **arguments: Any) -> mlflow.models.model.ModelInfo:
    """Logs a model to the current run.

    Parameters
    ----------
    model : Model
        The model.
    name : str
        What the run calls it.
    **arguments
        Those of ``mlflow.models.Model.log``, such as ``registered_model_name``.
    """
    import inspect
    import sys

    from mlflow.models import Model as Entry

    has_names = "name" in inspect.signature(Entry.log).parameters  # before MLflow 3 the path was the name
    where = {"artifact_path": None, "name": name} if has_names else {"artifact_path": name}
    return Entry.log(**where, flavor=sys.modules[__name__], model=model, **arguments)


def load_model(model_uri: str) -> Model:
    """Reads a model that was logged or saved.

    Parameters
    ----------
    model_uri : str
        As MLflow names models: "runs:/<id>/model", "models:/<name>/1", a folder.
    """
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri

    return Model.read(os.path.join(_download_artifact_from_uri(artifact_uri=model_uri), _FILE))


def _load_pyfunc(path: str) -> _PythonModel:
    """Called by ``mlflow.pyfunc.load_model``."""
    return _PythonModel(Model.read(os.path.join(path, _FILE) if os.path.isdir(path) else path))
