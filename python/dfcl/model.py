# SPDX-License-Identifier: Apache-2.0
"""Models and what they predict."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, Unpack

import numpy as np
from numpy.typing import NDArray


from . import _dfcl, html
from .adapters import ForeignModel
from .errors import usage_error
from .frames import Frame, Stored
from .tables import Sources
from .types import AllocateOptions, Column, EvaluateOptions, Figure, FrameLike, Path, TableLike

if TYPE_CHECKING:
    from .plan import Plan
    from .progress import Progress
    from .results import Curve, Evaluation
    from .study import Study

__all__ = ["Model", "ModelLike", "ModelsLike", "Prediction", "PredictionsLike"]


class Prediction(Frame):
    """What each unit is expected to earn and cost under every arm: columns id, revenue_<arm>, cost_<arm>."""

    def __init__(self, native: _dfcl.Prediction, index: object = None) -> None:
        self._native = native
        self._index = index

    def _table(self) -> _dfcl.Prediction:
        return self._native

    @classmethod
    def read(cls, table: TableLike, control: str | None = None, index: bool | None = None) -> Prediction:
        """Predictions from anywhere.

        Parameters
        ----------
        table : path or frame
            With columns id (optional), revenue_<arm> and cost_<arm> for every arm.
        control : str, optional
            The arm that is control, where the table does not say it itself.
        index : bool, optional
            Whether revenue ranks units and is no money, where the table does not say it itself.
        """
        with Sources() as sources:
            path = sources.path(table, "predictions")
            return cls(_dfcl.read_prediction(path, control or "", index, [], _dfcl.Run()))

    @property
    def arms(self) -> list[str]:
        """The labels of the arms."""
        return self._native.arms

    @property
    def control(self) -> str:
        """The arm that is control."""
        return self._native.control

    @property
    def is_index(self) -> bool:
        """Whether ``revenue`` ranks units by efficiency and is no money."""
        return self._native.is_index

    @property
    def model(self) -> str:
        """The fingerprint of the model that made it; "" where none of ours did."""
        return self._native.model

    @property
    def method(self) -> str:
        """The method of that model; "" where it is not known."""
        return self._native.method

    @property
    def price(self) -> list[float] | None:
        """For each arm its known cost per unit; None where costs are predicted."""
        return self._native.price or None

    @property
    def ids(self) -> NDArray[np.generic]:
        """The ids of the units."""
        return np.asarray(self._native.ids)

    @property
    def revenue(self) -> NDArray[np.float32]:
        """Units x arms. Shares the memory of the prediction and cannot be written to."""
        return self._native.revenue

    @property
    def cost(self) -> NDArray[np.float32]:
        """Units x arms, as ``revenue``."""
        return self._native.cost

    def effect(self) -> NDArray[np.float32]:
        """Units x arms: revenue above control, the uplift; 0 for control."""
        return self.revenue - self.revenue[:, [self.arms.index(self.control)]]

    def allocate(
        self,
        units: TableLike | None = None,
        *,
        budget: float | None = None,
        per_unit: float | None = None,
        share_of_max: float | None = None,
        **options: Unpack[AllocateOptions],
    ) -> Plan:
        """Who gets what; parameters as those of :func:`dfcl.allocate`."""
        from . import verbs

        return verbs.allocate(self, units, budget=budget, per_unit=per_unit, share_of_max=share_of_max, **options)

    def __len__(self) -> int:
        return self._native.num_units

    def __repr__(self) -> str:
        of = f" of {self.method}" if self.method else ""
        return f"<dfcl.Prediction{of}: {len(self):,} units, arms {', '.join(self.arms)}>"

    def _repr_html_(self) -> str:
        means = [
            {"arm": arm, "control": "yes" if arm == self.control else "",
             "mean_revenue": float(np.mean(self.revenue[:, place])), "mean_cost": float(np.mean(self.cost[:, place]))}
            for place, arm in enumerate(self.arms)
        ] if len(self) else []  # fmt: skip
        return html.title(f"Prediction{' of ' + self.method if self.method else ''}: {len(self):,} units") + html.table(means)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_prediction_of, (self._bytes(), self._native.extra, self._index))


def _prediction_of(data: bytes, extra: list[str], index: object) -> Prediction:
    with Stored(data) as path:
        return Prediction(_dfcl.read_prediction(path, "", None, extra, _dfcl.Run()), index)


class Model:
    """What training yields; pickling, ``save`` and ``to_bytes`` keep its file."""

    def __init__(self, native: _dfcl.Model) -> None:
        self._native = native

    @classmethod
    def read(cls, path: Path) -> Model:
        """Reads a model file.

        Parameters
        ----------
        path : path
            A file that ``dfcl train`` or ``save`` wrote.
        """
        return cls(_dfcl.Model.read(os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """From the bytes of a model file."""
        return cls(_dfcl.Model.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The bytes of its file."""
        return self._native.to_bytes()

    def write(self, path: Path) -> None:
        """Writes the model file (the safetensors layout)."""
        self._native.write(os.fspath(path))

    def save(self, path: Path) -> None:
        """The same as ``write``."""
        self.write(path)

    @property
    def method(self) -> str:
        """The method that trained it."""
        return self._native.method

    @property
    def seed(self) -> int:
        """The seed of its training."""
        return self._native.seed

    @property
    def arms(self) -> list[str]:
        """The labels of the arms."""
        return self._native.arms

    @property
    def control(self) -> str:
        """The arm that is control."""
        return self._native.control

    @property
    def features(self) -> list[str]:
        """The names of the columns that it needs."""
        return self._native.features

    @property
    def fingerprint(self) -> str:
        """Equal for equal models."""
        return self._native.fingerprint

    @property
    def is_index(self) -> bool:
        """Whether its revenues rank decisions only, and are no forecast."""
        return self._native.is_index

    @property
    def study(self) -> str:
        """The text of its study."""
        return self._native.study

    @property
    def history(self) -> list[dict[str, Figure]]:
        """One entry for each epoch of its training."""
        record: list[dict[str, Figure]] = json.loads(self._native.record)
        return record

    @property
    def figures(self) -> dict[str, Figure]:
        """What `dfcl info --json` says of it."""
        figures: dict[str, Figure] = json.loads(self._native.json())
        return figures

    def predict(
        self,
        units: TableLike,
        *,
        output: Path | None = None,
        uncertainty: Path | None = None,
        drift: Path | None = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> Prediction:
        """What each unit would earn and cost under every arm; parameters as those of :func:`dfcl.predict`."""
        from . import verbs

        return verbs.predict(
            self, units, output=output, uncertainty=uncertainty, drift=drift, threads=threads, progress=progress
        )

    def allocate(
        self,
        units: TableLike,
        *,
        budget: float | None = None,
        per_unit: float | None = None,
        share_of_max: float | None = None,
        **options: Unpack[AllocateOptions],
    ) -> Plan:
        """Who gets what; parameters as those of :func:`dfcl.allocate`."""
        from . import verbs

        return verbs.allocate(self, units, budget=budget, per_unit=per_unit, share_of_max=share_of_max, **options)

    def allocate_curve(self, units: TableLike, *, points: int = 50) -> Curve:
        """The whole curve of spend and value; parameters as those of :func:`dfcl.allocate_curve`."""
        from . import verbs

        return verbs.allocate_curve(self, units, points=points)

    def evaluate(
        self, trial: TableLike | None = None, study: Study | Path | None = None, **options: Unpack[EvaluateOptions]
    ) -> Evaluation:
        """What its plans are worth on rows that it has not seen.

        Parameters
        ----------
        trial : path or frame, optional
            The trial; by default the one that the study names.
        study : Study or path, optional
            By default the study that it was trained with.
        **options
            As those of :func:`dfcl.evaluate`.
        """
        from . import verbs
        from .study import Study

        return verbs.evaluate(Study.parse(self.study) if study is None else study, self, trial, **options)

    def explain(
        self,
        units: TableLike,
        *,
        budget: float | None = None,
        per_unit: float | None = None,
        share_of_max: float | None = None,
        **options: Unpack[AllocateOptions],
    ) -> Plan:
        """A plan with columns that say why: uplift, second_arm, cut_distance, reason_1 to reason_3; see :func:`dfcl.allocate`."""
        options["explain"] = True
        return self.allocate(units, budget=budget, per_unit=per_unit, share_of_max=share_of_max, **options)

    @property
    def importance(self) -> dict[str, float]:
        """Of each feature, its share in how effects differ; empty where the model does not know."""
        shares: dict[str, float] = json.loads(self._native.json()).get("feature_importance") or {}
        return shares

    def to_onnx(self, path: Path | None = None) -> bytes:
        """Its ONNX graph; see :func:`dfcl.export_onnx`."""
        from . import verbs

        return verbs.export_onnx(self, path)

    def __repr__(self) -> str:
        return f"<dfcl.Model {self.method}: {len(self.arms)} arms, {len(self.features)} features, {self.fingerprint}>"

    def _repr_html_(self) -> str:
        arms = ", ".join(f"{arm} (control)" if arm == self.control else arm for arm in self.arms)
        about = {"method": self.method, "arms": arms, "features": len(self.features), "seed": self.seed,
                 "fingerprint": self.fingerprint}  # fmt: skip
        return html.title("Model") + html.definitions(about)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model.from_bytes, (self.to_bytes(),))


#: A model, predictions of any origin, or the path of either.
ModelLike = Union[Model, Prediction, ForeignModel, FrameLike]
#: The same, or predictions as a mapping from names to columns.
PredictionsLike = Union[ModelLike, Mapping[str, Column]]
#: One, a list, or a mapping from names.
ModelsLike = Union[ModelLike, Sequence[ModelLike], Mapping[str, ModelLike]]


def model_of(model: Model | Path, field: str = "model") -> Model:
    """The model that a caller means: one given or one in a file."""
    if isinstance(model, Model):
        return model
    if not isinstance(model, (str, os.PathLike)):
        raise usage_error(field, f"cannot make a model of {type(model).__name__}", "a dfcl.Model or the path of one")
    if not os.fspath(model):
        raise usage_error(field, "is empty")
    return Model.read(model)


def model_input(
    given: PredictionsLike, name: str, sources: Sources, field: str, trial: TableLike | None = None
) -> _dfcl.ModelInput:
    """What a request takes as a model: one of ours, one of another library with the trial to predict for, a prediction, or a
    table of predictions."""
    if isinstance(given, ForeignModel):
        if trial is None or isinstance(trial, (str, os.PathLike)):
            raise usage_error("trial", "a model of another library needs the trial as a frame")
        name = name or given.name
        given = given.predict(trial)
    if isinstance(given, Model):
        return _dfcl.ModelInput.of_model(given._native, name or given.method)
    if isinstance(given, Prediction):
        return _dfcl.ModelInput.of_prediction(given._native, name or given.method or "predictions")
    if isinstance(given, (str, os.PathLike)):
        return _dfcl.ModelInput.of_path(os.fspath(given), name)
    return _dfcl.ModelInput.of_path(sources.path(given, field), name or field)


def model_inputs(models: ModelsLike, sources: Sources, trial: TableLike | None = None) -> list[_dfcl.ModelInput]:
    """One, a list, or a mapping from names; a mapping of prediction columns is one table."""
    named: list[tuple[str, Any]]
    if isinstance(models, Mapping) and not any(str(name).startswith("revenue_") for name in models):
        named = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, (list, tuple)):
        named = [("", model) for model in models]
    else:
        named = [("", models)]
    return [model_input(model, name, sources, "models", trial) for name, model in named]
