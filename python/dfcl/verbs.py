# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command line as functions: the same words, the same answers.

A function only fills a request, field by field; what the fields may hold is checked by the library, which names the field
that is wrong.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _dfcl
from .errors import UsageError
from .progress import Progress, teller
from .results import (
    Check,
    Comparison,
    Curve,
    Deployment,
    Evaluation,
    Info,
    Model,
    Plan,
    Power,
    Prediction,
    Readout,
    Simulation,
    Table,
)
from .study import Study, keys_of_verb, study_of
from .tables import Sources, TableLike

__all__ = [
    "allocate",
    "allocate_curve",
    "check",
    "compare",
    "deploy",
    "evaluate",
    "export_onnx",
    "info",
    "init",
    "methods",
    "power",
    "predict",
    "readout",
    "report",
    "simulate",
    "simulate_outcomes",
    "train",
]

Path = Union[str, "os.PathLike[str]"]
StudyLike = Union[Study, Path]
Budget = Union[float, Sequence[float], None]
#: A model, predictions of any origin, or the path of either.
ModelLike = Union[Model, Prediction, TableLike]

_MANY_UNITS = 200_000

# Keywords of verbs that set a key of the study.
_TRAIN_KEYS, _COMPARE_KEYS, _DEPLOY_KEYS = (keys_of_verb(verb) for verb in ("train", "compare", "deploy"))


def _run(threads: int, seed: int, progress: Progress) -> _dfcl.Run:
    return _dfcl.Run(threads=threads, seed=seed, tell=teller(progress))


def _usage_error(field: str, message: str, hint: str = "") -> UsageError:
    error = UsageError(f"{field}=: {message}" + (f"\nhint: {hint}" if hint else ""))
    error.field, error.what, error.hint = field, message, hint
    return error


def _fill(request: Any, **fields: object) -> None:
    """Sets the fields that are given. None: the library's own default."""
    for name, value in fields.items():
        if value is not None:
            request.set(name, value)


def _fill_tables(request: Any, sources: Sources, **tables: TableLike | None) -> None:
    """Sets fields that are tables: a path, or one under which a table in memory is read."""
    for name, table in tables.items():
        if table is not None:
            request.set(name, sources.path(table, name))


def _fill_study(request: Any, study: Study, trial: TableLike | None, sources: Sources) -> None:
    request.set("study", study._native)
    _fill_tables(request, sources, trial=trial)


def _with_keys(study: Study, keys: Mapping[str, str], given: Mapping[str, Any]) -> Study:
    """The study with the keywords that set a key of it."""
    settings = {key: given[name] for name, key in keys.items() if given.get(name) is not None}
    return study.set(settings) if settings else study


def methods() -> dict[str, str]:
    """Every method of ``train``, with what it does.

    >>> "dfcl-mer" in methods()
    True
    """
    return dict(_dfcl.methods())


def init(
    trial: TableLike,
    *,
    output: Path | None = None,
    overwrite: bool = False,
    arm: str | None = None,
    control: str | None = None,
    revenue: str | None = None,
    cost: str | None = None,
    threads: int = 0,
    progress: Progress = None,
) -> Study:
    """A first study for a trial, for you to correct: what was drawn at random, what differs between the arms, what is zero
    in control; names of columns decide only what the data leave open.

    ``arm``, ``control``, ``revenue`` and ``cost`` say what you know already. With ``output``, the study file is written,
    with its reasons and what is uncertain.

    >>> made = simulate("criteo", rows=2000, seed=1)
    >>> init(made.trial).method
    'auto'
    """
    request = _dfcl.InitRequest()
    _fill(request, output=output, overwrite=overwrite, arm=arm, control=control, revenue=revenue, cost=cost)
    with Sources() as sources:
        _fill_tables(request, sources, trial=trial)
        text = _dfcl.init(request, _run(threads, 0, progress))
        if output is None or not isinstance(trial, (str, os.PathLike)):
            return Study.parse(text)
        return Study.read(output)  # it says where the trial is as seen from its own folder


def simulate(
    preset: str = "marketing",
    rows: int = 10_000,
    *,
    response: str = "smooth",
    noise: float = 1.0,
    days: int | None = None,
    shares: Sequence[float] | None = None,
    cost_scale: float = 1.0,
    population_shift: float = 0.0,
    imbalance: bool = False,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
) -> Simulation:
    """A trial with known truth, and the study to use it with. Presets: marketing, criteo, varied.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> made
    <dfcl.Simulation: 2,000 rows, 111 columns>
    """
    request = _dfcl.SimulateRequest()
    _fill(request, preset=preset, rows=rows, response=response, noise=noise, days=days, shares=shares)
    _fill(request, cost_scale=cost_scale, population_shift=population_shift, imbalance=imbalance)
    tables: Any = _dfcl.simulate(request, _run(threads, seed, progress))
    trial, truth, text = tables
    return Simulation(Table(trial), Table(truth), Study.parse(text))


def simulate_outcomes(
    plan: Plan | TableLike,
    preset: str = "marketing",
    rows: int = 10_000,
    *,
    response: str = "smooth",
    noise: float = 1.0,
    cost_scale: float = 1.0,
    population_shift: float = 0.0,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
) -> Table:
    """What the units of a plan earn and cost, for ``readout``. Preset, rows and seed are those of the trial."""
    request = _dfcl.SimulateRequest()
    _fill(request, preset=preset, rows=rows, response=response, noise=noise)
    _fill(request, cost_scale=cost_scale, population_shift=population_shift)
    with Sources() as sources:
        request.set("outcomes_of", sources.path(plan, "plan"))
        outcomes: Any = _dfcl.simulate(request, _run(threads, seed, progress))
        return Table(outcomes)


def check(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    split_out: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Check:
    """Is this trial fit to learn from? Keywords are those of ``Study``. ``split_out`` is written: each row's id and split.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> check(made.study, made.trial).fit
    True
    """
    request = _dfcl.CheckRequest()
    _fill(request, split_out=split_out)
    with Sources() as sources:
        _fill_study(request, study_of(study, keywords), trial, sources)
        return Check(*_dfcl.check(request, _run(threads, seed, progress)))


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
    out_of_bag: Path | None = None,
    log: Path | None = None,
    time_budget: float | None = None,
    force: bool = False,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Model:
    """Learns revenue and cost of every arm so that the decision is good. Further keywords are those of ``Study``.

    The same study, data and seed give the bytes of `dfcl train`, for any number of threads.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> model.method, model.arms
    ('tsm', ['0', '5', '10', '15', '20'])
    """
    given = dict(locals())
    meant = _with_keys(study_of(study, keywords), _TRAIN_KEYS, given)
    request = _dfcl.TrainRequest()
    _fill(request, checkpoint=checkpoint, cache=cache, out_of_bag=out_of_bag, log=log, time_budget=time_budget)
    _fill(request, force=force, output=output)
    if isinstance(start_from, Model):
        request.set("start_model", start_from._native)
    else:
        _fill(request, start_from=start_from)
    with Sources() as sources:
        _fill_study(request, meant, trial, sources)
        return Model(_dfcl.train(request, _run(threads, seed, progress)))


def _model(model: Model | Path, field: str = "model") -> Model:
    if isinstance(model, Model):
        return model
    if not isinstance(model, (str, os.PathLike)):
        raise _usage_error(field, f"cannot make a model of {type(model).__name__}", "a dfcl.Model or the path of one")
    if not os.fspath(model):
        raise _usage_error(field, "is empty")
    return Model.read(model)


def predict(
    model: Model | Path,
    units: TableLike,
    *,
    output: Path | None = None,
    uncertainty: Path | None = None,
    drift: Path | None = None,
    threads: int = 0,
    progress: Progress = None,
) -> Prediction:
    """What each unit would earn and cost under every arm. A NumPy array has the model's features as columns.

    Warns where features differ from those of the training units; ``drift`` names a file for the table of it.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> predict(model, made.trial).revenue.shape
    (2000, 5)
    """
    known = _model(model)
    request = _dfcl.PredictRequest()
    request.set("in_memory", known._native)
    _fill(request, output=output, uncertainty=uncertainty, drift=drift)
    with Sources() as sources:
        request.set("units", sources.path(units, "units", known.features))
        return Prediction(_dfcl.predict(request, _run(threads, 0, progress)))


def export_onnx(model: Model | Path, output: Path | None = None) -> bytes:
    """A network model as an ONNX graph with its preprocessing inside; forests are refused. Returns the bytes.

    There is an input for each feature, named as the column: numbers as float32 of units x 1, NaN for missing, and
    categories as text, "" for missing. Outputs are ``revenue`` and ``cost``, units x arms.
    """
    request = _dfcl.ExportRequest()
    request.set("in_memory", _model(model)._native)
    _fill(request, output=output)
    return _dfcl.export_model(request)


def _request(
    predictions: Model | Prediction | TableLike, units: TableLike | None, sources: Sources
) -> _dfcl.AllocateRequest:
    request = _dfcl.AllocateRequest()
    if isinstance(predictions, (str, os.PathLike)) and units is not None:
        predictions = _model(predictions, "predictions")
    if isinstance(predictions, Model):
        if units is None:
            raise _usage_error("units", "a model: plan for which units?", "allocate(model, units, ...)")
        request.set("model", predictions._native)
        request.set("units", sources.path(units, "units", predictions.features))
    elif isinstance(predictions, Prediction):
        request.set("prediction", predictions._native)
        _fill_tables(request, sources, units=units)  # where the segments stand
    elif units is not None:
        raise _usage_error("units", "a table of predictions takes no units", "leave out units=, or give a model")
    else:
        request.set("predictions", sources.path(predictions, "predictions"))
    return request


def _limits(limits: Mapping[str, int] | None, field: str) -> list[str] | None:
    """ARM=N for each arm."""
    if limits is None:
        return None
    if not isinstance(limits, Mapping):
        raise _usage_error(field, f"cannot make limits of {type(limits).__name__}", 'a mapping: {"20": 1000}')
    return [f"{arm}={count}" for arm, count in limits.items()]


def allocate(
    predictions: Model | Prediction | TableLike,
    units: TableLike | None = None,
    *,
    budget: Budget = None,
    per_unit: Budget = None,
    share_of_max: Budget = None,
    include_control: bool = False,
    multiplier: float | None = None,
    control: str | None = None,
    index: bool = False,
    objective: str = "revenue",
    margin: float | None = None,
    per_revenue: float | None = None,
    min_roi: float | None = None,
    eligible: TableLike | None = None,
    segment: str | None = None,
    segment_budgets: TableLike | Mapping[str, float] | None = None,
    second_cost: TableLike | None = None,
    second_budget: float | None = None,
    min_units: Mapping[str, int] | None = None,
    max_units: Mapping[str, int] | None = None,
    rule: str = "none",
    holdout: float | None = None,
    holdout_salt: str | None = None,
    explore: float | None = None,
    launch: str | None = None,
    previous: Plan | TableLike | None = None,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
) -> Any:
    """Who gets what: the best plan for a budget, with proof of how good it is.

    ``predictions`` is a ``Prediction``, any table with columns id, revenue_<arm> and cost_<arm> from any model, or a
    ``Model`` with ``units``. Where predictions do not say it themselves, ``control`` names the arm that is control, and
    ``index=True`` says that their revenue ranks units and is no money. One budget gives a ``Plan``, several a list of
    them. Budgets are what is spent above everyone in control; ``include_control`` counts what control costs in. A
    budget that cannot be met is the status of its plan. For a model and units, ``rule="tree"`` plans by a rule of at
    most eight leaves over their features; it is ``plan["policy_tree"]``.

    >>> plan = allocate({"revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0],
    ...                  "revenue_1": [4.0, 2.0], "cost_1": [1.0, 1.0]}, budget=1)
    >>> plan.status, plan.spend, plan.value
    ('optimal within gap', 1.0, 5.0)
    """
    if isinstance(segment_budgets, Mapping) and set(segment_budgets) != {"segment", "budget"}:
        segment_budgets = {"segment": list(segment_budgets), "budget": list(segment_budgets.values())}
    with Sources() as sources:
        request = _request(predictions, units, sources)
        many = units is None and sources.most_rows() >= _MANY_UNITS
        _fill(request, budget=budget, per_unit=per_unit, share_of_max=share_of_max, multiplier=multiplier)
        _fill(request, include_control=include_control, index=index)
        _fill(request, control=control, objective=objective, margin=margin, min_roi=min_roi, segment=segment)
        _fill(request, per_revenue=per_revenue, rule=rule)
        _fill(request, min_units=_limits(min_units, "min_units"), max_units=_limits(max_units, "max_units"))
        _fill(request, second_budget=second_budget, holdout=holdout, holdout_salt=holdout_salt, explore=explore)
        _fill(request, launch=launch, output=output)
        _fill_tables(request, sources, eligible=eligible, segment_budgets=segment_budgets, second_cost=second_cost)
        _fill_tables(request, sources, previous=previous)
        # Many units that are not tied to each other are read where they lie: nothing of the frame is copied. The plan
        # is the same either way.
        coupled = [given for given in (segment, second_cost, min_units, max_units, eligible) if given is not None]
        request.set("stream", many and not coupled)
        figures, plans = _dfcl.allocate(request, _run(threads, seed, progress))
    made = [Plan(json, text, plan) for (json, text), plan in zip(figures, plans)]
    several = any(isinstance(entry, Iterable) for entry in (budget, per_unit, share_of_max))
    return made if several else made[0]


def allocate_curve(
    predictions: Model | Prediction | TableLike,
    units: TableLike | None = None,
    *,
    points: int = 50,
    control: str | None = None,
    objective: str = "revenue",
    margin: float | None = None,
    per_revenue: float | None = None,
    min_roi: float | None = None,
    threads: int = 0,
    progress: Progress = None,
) -> Curve:
    """The whole curve of spend and value, from the cheapest plan to the dearest that is worth its cost."""
    with Sources() as sources:
        request = _request(predictions, units, sources)
        _fill(request, curve=points, control=control, objective=objective, margin=margin, min_roi=min_roi)
        _fill(request, per_revenue=per_revenue)
        figures, _ = _dfcl.allocate(request, _run(threads, 0, progress))
    return Curve(*figures[0])


def _model_input(given: ModelLike, name: str, sources: Sources, field: str) -> _dfcl.ModelInput:
    if isinstance(given, Model):
        return _dfcl.ModelInput.of_model(given._native, name or given.method)
    if isinstance(given, Prediction):
        return _dfcl.ModelInput.of_prediction(given._native, name or given._native.options.get("method", "predictions"))
    if isinstance(given, (str, os.PathLike)):
        return _dfcl.ModelInput.of_path(os.fspath(given), name)
    return _dfcl.ModelInput.of_path(sources.path(given, field), name or field)


def _model_inputs(
    models: ModelLike | Sequence[ModelLike] | Mapping[str, ModelLike], sources: Sources
) -> list[_dfcl.ModelInput]:
    """One, a list, or a mapping from names; a mapping of prediction columns is one table."""
    if isinstance(models, Mapping) and not any(str(name).startswith("revenue_") for name in models):
        named = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, (list, tuple)):
        named = [("", model) for model in models]
    else:
        named = [("", models)]
    return [_model_input(model, name, sources, "models") for name, model in named]


def evaluate(
    study: StudyLike | None,
    models: ModelLike | Sequence[ModelLike] | Mapping[str, ModelLike],
    trial: TableLike | None = None,
    *,
    index: bool = False,
    split: str = "test",
    estimator: str | None = None,
    nuisance: ModelLike | None = None,
    truth: ModelLike | None = None,
    budget: Budget = None,
    per_unit: Budget = None,
    share_of_max: Budget = None,
    levels: int = 200,
    ranking: str = "angle",
    resamples: int = 1000,
    intervals: str = "bootstrap",
    weights: str = "poisson",
    segment: str | Sequence[str] | None = None,
    objective: str = "revenue",
    min_roi: float | None = None,
    eligible: TableLike | None = None,
    allow_training_rows: bool = False,
    fitted_on: TableLike | None = None,
    test: TableLike | None = None,
    split_out: Path | None = None,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Evaluation:
    """What plans are worth, on rows of a trial that the models have not seen.

    ``models`` are models, predictions, tables of predictions from anywhere, or paths: one, a list, or a mapping
    from names; their order does not matter. ``index=True`` says that predictions which do not say it themselves hold an
    index, which ranks units and is no money. ``estimator`` and ``nuisance`` in place of the study's own mark the verdict
    as not pre-declared. ``fitted_on`` holds the ids of the rows that predictions from elsewhere were fitted on. ``test``
    is a separate trial to evaluate on; ``split_out`` is written: each row's id and split. Plans keep to
    ``objective``, ``min_roi`` and ``eligible`` as those of :func:`allocate` do.

    >>> made = simulate("marketing", rows=4000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> result = evaluate(made.study, {"tsm": model, "truth": made.truth}, made.trial, resamples=50)
    >>> [entry["name"] for entry in result["models"]]
    ['tsm', 'truth']
    """
    request = _dfcl.EvaluateRequest()
    _fill(request, split=split, estimator=estimator, budget=budget, per_unit=per_unit, share_of_max=share_of_max)
    _fill(request, index=index, levels=levels, ranking=ranking, resamples=resamples, intervals=intervals, weights=weights)
    _fill(request, segment=segment, allow_training_rows=allow_training_rows, output=output, split_out=split_out)
    _fill(request, objective=objective, min_roi=min_roi)
    with Sources() as sources:
        _fill_study(request, study_of(study, keywords), trial, sources)
        _fill_tables(request, sources, eligible=eligible)
        request.set("models", _model_inputs(models, sources))
        for name, table in (("fitted_on", fitted_on), ("test", test)):
            if table is not None:
                request.set(name, sources.path(table, name))
        for name, given in (("nuisance", nuisance), ("truth", truth)):
            if given is not None:
                request.set(name, _model_input(given, "", sources, name))
        return Evaluation(*_dfcl.evaluate(request, _run(threads, seed, progress)))


def compare(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    methods: Sequence[str] | None = None,
    seeds: int | None = None,
    resamples: int = 1000,
    truth: ModelLike | None = None,
    segment: str | Sequence[str] | None = None,
    estimator: str | None = None,
    test: TableLike | None = None,
    split_out: Path | None = None,
    force: bool = False,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Comparison:
    """Several methods, trained and evaluated on one trial; the first is the reference.

    With ``output``, a folder, models and results stay there, and the same call goes on where it was stopped. ``test`` is a
    separate trial to evaluate on; ``split_out`` is written: each row's id and split.

    >>> made = simulate("marketing", rows=3000, seed=1)
    >>> result = compare(made.study, made.trial, methods=["tsm", "dfcl-mer"], resamples=0, settings={"method.epochs": 2})
    >>> [entry["name"] for entry in result["models"]]
    ['tsm', 'dfcl-mer']
    """
    meant = _with_keys(study_of(study, keywords), _COMPARE_KEYS, {"methods": methods, "seeds": seeds})
    request = _dfcl.CompareRequest()
    _fill(request, resamples=resamples, segment=segment, force=force, estimator=estimator, split_out=split_out)
    with Sources() as sources, tempfile.TemporaryDirectory() as scratch:
        _fill_study(request, meant, trial, sources)
        request.set("output", os.path.join(scratch, "compared") if output is None else output)
        if test is not None:
            request.set("test", sources.path(test, "test"))
        if truth is not None:
            request.set("truth", _model_input(truth, "", sources, "truth"))
        return Comparison(*_dfcl.compare(request, _run(threads, seed, progress)))


def deploy(
    study: StudyLike,
    *,
    units: int | None = None,
    days: int | None = None,
    methods: Sequence[str] | None = None,
    cost_drift: float | None = None,
    population_drift: float | None = None,
    retrain: bool | None = None,
    controller: str = "on",
    checkpoint: Path | None = None,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    settings: Mapping[str, Any] | None = None,
) -> Deployment:
    """An online test of several methods, simulated: groups, budgets, retraining, drift.

    The units are simulated shops, whatever trial the study names.
    """
    given = dict(locals())
    meant = study_of(study, {} if settings is None else {"settings": settings})
    request = _dfcl.DeployRequest()
    _fill(request, controller=controller, checkpoint=checkpoint, output=output)
    request.set("study", _with_keys(meant, _DEPLOY_KEYS, given)._native)
    return Deployment(*_dfcl.deploy(request, _run(threads, seed, progress)))


def readout(
    plan: Plan | TableLike,
    outcomes: TableLike,
    *,
    holdout_share: float | None = None,
    control: str | None = None,
    launch: str | None = None,
    budget: float | None = None,
    multiplier: float | None = None,
    margin: float | None = None,
    per_revenue: float | None = None,
    output: Path | None = None,
    progress: Progress = None,
) -> Readout:
    """What a plan earned: planned against realised, and over the hold-out.

    ``outcomes`` has one row per unit with columns id, role, arm (received), revenue and cost. ``margin`` (the share of
    revenue that is profit) or ``per_revenue`` (what one unit of revenue is worth) shows profit.
    """
    request = _dfcl.ReadoutRequest()
    _fill(request, holdout_share=holdout_share, control=control, launch=launch, budget=budget, multiplier=multiplier)
    _fill(request, margin=margin, per_revenue=per_revenue, output=output)
    with Sources() as sources:
        _fill_tables(request, sources, plan=plan, outcomes=outcomes)
        return Readout(*_dfcl.readout(request, _run(0, 0, progress)))


def power(
    study: StudyLike | None = None,
    models: ModelLike | Sequence[ModelLike] | None = None,
    trial: TableLike | None = None,
    *,
    sd: float | None = None,
    gain: Budget = None,
    relative_gain: Budget = None,
    per_unit: float | None = None,
    share_of_max: float | None = None,
    split: str | None = None,
    differ: float | None = None,
    launch_units: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    settings: Mapping[str, Any] | None = None,
) -> Power:
    """How large must a trial or a hold-out be, and what can this one show? Two plans, each arm against control, a launch.

    From the study of a trial like the next one, with up to two models, or from a standard deviation of the paired
    difference, per unit.

    >>> power(sd=12, gain=0.2, power=0.9)["power"]["next_trial"][0]["rows"]
    37827.0
    """
    request = _dfcl.PowerRequest()
    _fill(request, sd=sd, gain=gain, relative_gain=relative_gain, per_unit=per_unit, share_of_max=share_of_max)
    _fill(request, split=split, differ=differ, launch_units=launch_units, power=power, level=level, output=output)
    with Sources() as sources:
        if study is not None:
            meant = study_of(study, {} if settings is None else {"settings": settings})
            _fill_study(request, meant, trial, sources)
        if models is not None:
            request.set("models", _model_inputs(models, sources))
        return Power(*_dfcl.power(request, _run(threads, seed, progress)))


def report(results: Path, *, output: Path | None = None, format: str | None = None) -> str:
    """A results file as a page ("html"), as Markdown ("md") or as text. Returns it, and writes it to ``output``."""
    request = _dfcl.ReportRequest()
    _fill(request, results=results, output=output, format=format)
    return _dfcl.report(request)


def info(file: TableLike, *, threads: int = 0, progress: Progress = None) -> Info:
    """What a file is: a model or a table, its columns, types and ranges, and how it was made.

    >>> info(simulate("criteo", rows=2000, seed=1).trial)["rows"]
    2000
    """
    request = _dfcl.InfoRequest()
    with Sources() as sources:
        _fill_tables(request, sources, file=file)
        return Info(*_dfcl.info(request, _run(threads, 0, progress)))
