# SPDX-License-Identifier: Apache-2.0
"""Models: training, prediction, export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from .. import _dfcl
from ..model import Model, Prediction, model_of
from ..progress import Progress
from ..study import StudyLike, study_of
from ..tables import Sources, index_of
from ..types import Device, Path, Precision, TableLike, TrainKeywords
from .request import TRAIN_KEYS, fill, fill_study, run_of, with_keys

__all__ = ["export_onnx", "methods", "predict", "train"]


def methods() -> dict[str, str]:
    """Every method of :func:`train`, with what it does.

    Examples
    --------
    >>> "dfcl-mer" in methods()
    True
    """
    return dict(_dfcl.methods())


def train(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    method: str | None = None,
    epochs: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    alpha: float | None = None,
    baseline: str | None = None,
    ensemble: int | None = None,
    warm_epochs: int | None = None,
    monotone: Sequence[str] | None = None,
    concave: Sequence[str] | None = None,
    as_published: bool | None = None,
    trees: int | None = None,
    leaf: int | None = None,
    depth: int | None = None,
    start_from: Model | Path | None = None,
    checkpoint: Path | None = None,
    cache: Path | None = None,
    memory: str | None = None,
    out_of_bag: Path | None = None,
    log: Path | None = None,
    time_budget: float | None = None,
    device: Device = "auto",
    precision: Precision = "tf32",
    force: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Unpack[TrainKeywords],
) -> Model:
    """Learns revenue and cost of every arm so that the decision is good.

    The same study, data and seed give the bytes of `dfcl train`, for any number of threads.

    Parameters
    ----------
    study : Study or path, optional
        What the columns mean; or say it by ``keywords``.
    trial : path or frame, optional
        By default the one that the study names.
    method : str, optional
        One of :func:`methods`, or "auto": a weighted stack of several.
    epochs, batch, lr, ensemble, warm_epochs : optional
        Of networks: passes over the training units, units in a step, learning rate, networks to average, epochs before
        the decision loss.
    alpha, baseline : optional
        Weight and baseline of the decision loss.
    monotone, concave : list of {"revenue", "cost"}, optional
        Outcomes that rise with the arm, and by ever less.
    as_published : bool, optional
        The method as its paper has it, without our corrections.
    trees, leaf, depth : int, optional
        Of forests and boosted trees.
    start_from : Model or path, optional
        A model whose weights to start from.
    checkpoint : path, optional
        A folder that keeps the state of the run: the same call goes on where it was stopped.
    cache : path, optional
        A folder from which the trial is mapped into memory, for trials larger than memory.
    memory : str, optional
        At most about this much memory, such as "2GB": keeps the trial in files while it runs, works on fewer threads, or refuses
        before it begins. Tables that are in memory already do not count. Never changes a result.
    out_of_bag : path, optional
        Predictions of the training units by parts that did not see them.
    log : path, optional
        A file to which a JSON line is added for each epoch.
    time_budget : float, optional
        Leave out what is not fitted after about this many seconds.
    device : {"auto", "cpu", "cuda"}
        Where networks are trained; "auto" takes a graphics card where this build and this machine have one.
    precision : {"tf32", "fp32", "bf16"}
        Of products on a graphics card.
    force : bool, default False
        Continue even if the trial is unfit to learn from.
    output : path, optional
        A model file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    threads : int, optional
        By default as many as the machine has. Never changes a result.
    seed : int
        Another number gives other random starts.
    progress : bool or function, optional
        See :data:`dfcl.Progress`; a function sees each epoch, tree and fold. True ends the run with
        :class:`dfcl.Stopped`, "enough" ends the fit and returns the model trained so far.
    **keywords
        Those of :class:`Study`.

    Returns
    -------
    Model

    Examples
    --------
    >>> import dfcl
    >>> made = dfcl.simulate("marketing", rows=2000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> model.method, model.arms
    ('tsm', ['0', '5', '10', '15', '20'])
    """
    given = dict(locals())
    meant = with_keys(study_of(study, keywords), TRAIN_KEYS, given)
    request = _dfcl.TrainRequest()
    fill(request, checkpoint=checkpoint, cache=cache, memory=memory, out_of_bag=out_of_bag)
    fill(request, log=log, time_budget=time_budget, device=device, precision=precision, force=force, output=output)
    if isinstance(start_from, Model):
        request.set("start_model", start_from._native)
    else:
        fill(request, start_from=start_from)
    with Sources() as sources:
        fill_study(request, meant, trial, sources)
        return Model(_dfcl.train(request, run_of(threads, seed, progress, overwrite)))


def predict(
    model: Model | Path,
    units: TableLike,
    *,
    output: Path | None = None,
    overwrite: bool = False,
    uncertainty: Path | None = None,
    drift: Path | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Prediction:
    """What each unit would earn and cost under every arm.

    Warns where features differ from those of the training units.

    Parameters
    ----------
    model : Model or path
        The model.
    units : path or frame
        With the features of the model; an array has them as columns. Rows keep their order, ids and index.
    output : path, optional
        A prediction file to write.
    overwrite : bool
        Whether files that are there may be replaced.
    uncertainty : path, optional
        A file for the standard errors of the effects, where the model knows them (forests).
    drift : path, optional
        A file for the table of how features differ from those of the training units.
    threads, progress
        As for :func:`train`.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> import dfcl
    >>> made = dfcl.simulate("marketing", rows=2000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> predict(model, made.trial).revenue.shape
    (2000, 5)
    """
    known = model_of(model)
    request = _dfcl.PredictRequest()
    request.set("in_memory", known._native)
    fill(request, output=output, uncertainty=uncertainty, drift=drift)
    with Sources() as sources:
        request.set("units", sources.path(units, "units", known.features))
        return Prediction(_dfcl.predict(request, run_of(threads, 0, progress, overwrite)), index_of(units))


def export_onnx(model: Model | Path, output: Path | None = None, *, overwrite: bool = False) -> bytes:
    """A model as an ONNX graph with its preprocessing inside: networks, boosted trees, forests and stacks of them.

    There is an input for each feature, named as the column: numbers as float32 of units x 1, NaN for missing, and
    categories as text, "" for missing. Outputs are ``revenue`` and ``cost``, units x arms.

    Parameters
    ----------
    model : Model or path
        The model.
    output : path, optional
        A file to write.
    overwrite : bool
        Whether files that are there may be replaced.

    Returns
    -------
    bytes
        The file.
    """
    request = _dfcl.ExportRequest()
    request.set("in_memory", model_of(model)._native)
    fill(request, output=output)
    return _dfcl.export_model(request, run_of(None, 0, None, overwrite))
