# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command line as functions: the same words, the same answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _dfcl
from .errors import UsageError
from .progress import Progress, teller
from .results import Check, Comparison, Curve, Evaluation, Model, Plan, Prediction, Readout, Simulation, Table
from .study import Study, study_of
from .tables import Sources, TableLike

__all__ = [
    "allocate",
    "allocate_curve",
    "check",
    "compare",
    "evaluate",
    "export_onnx",
    "methods",
    "predict",
    "readout",
    "simulate",
    "simulate_outcomes",
    "train",
]

Path = Union[str, "os.PathLike[str]"]
StudyLike = Union[Study, Path]
Budget = Union[float, Sequence[float], None]

_MANY_UNITS = 200_000


def _run(threads: int, seed: int, progress: Progress) -> _dfcl.Run:
    return _dfcl.Run(threads=threads, seed=seed, tell=teller(progress))


def _usage_error(message: str, hint: str = "") -> UsageError:
    error = UsageError(message + (f"\nhint: {hint}" if hint else ""))
    error.what, error.hint = message, hint
    return error


def _trial(study: Study, trial: TableLike | None, sources: Sources) -> str:
    if trial is None and not study.trial:
        raise _usage_error("no trial", "give trial=: a path or a data frame")
    return sources.path(trial, "trial")


def methods() -> dict[str, str]:
    """Every method of ``train``, with what it does.

    >>> "dfcl-mer" in methods()
    True
    """
    return dict(_dfcl.methods())


def simulate(
    preset: str = "marketing",
    rows: int = 10_000,
    *,
    response: str = "smooth",
    noise: float = 1.0,
    days: int = 0,
    shares: Sequence[float] = (),
    cost_scale: float = 1.0,
    population_shift: float = 0.0,
    imbalance: bool = False,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
) -> Simulation:
    """A trial with known truth, and the study to use it with.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> made
    <dfcl.Simulation: 2,000 rows, 111 columns>
    """
    options = _simulator(preset, response, rows, seed, noise, days, shares, cost_scale, population_shift, imbalance)
    trial, truth, text = _dfcl.simulate(options, _run(threads, seed, progress))
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
    options = _simulator(preset, response, rows, seed, noise, 0, (), cost_scale, population_shift, False)
    with Sources() as sources:
        path = sources.path(plan, "plan")
        return Table(_dfcl.simulate_outcomes(options, path, _run(threads, seed, progress)))


def _simulator(
    preset: str,
    response: str,
    rows: int,
    seed: int,
    noise: float,
    days: int,
    shares: Sequence[float],
    cost_scale: float,
    population_shift: float,
    imbalance: bool,
) -> _dfcl.SimulatorOptions:
    options = _dfcl.SimulatorOptions(preset, response)
    options.num_rows, options.seed, options.num_days = rows, seed, days
    options.noise, options.shares, options.imbalance = noise, list(shares), imbalance
    options.cost_scale, options.population_shift = cost_scale, population_shift
    return options


def check(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Check:
    """Is this trial fit to learn from? Keywords are those of ``Study``.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> check(made.study, made.trial).fit
    True
    """
    meant = study_of(study, keywords)
    with Sources() as sources:
        path = _trial(meant, trial, sources)
        return Check(*_dfcl.check(meant._native, path, _run(threads, seed, progress)))


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
    start_from: Model | Path | None = None,
    checkpoint: Path = "",
    cache: Path = "",
    time_budget: float = 0.0,
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
    meant = study_of(study, keywords)
    settings = {
        "method.name": method,
        "method.epochs": epochs,
        "method.batch": batch,
        "method.learning_rate": lr,
        "method.alpha": alpha,
        "method.baseline": baseline,
        "method.ensemble": ensemble,
        "method.warm_epochs": warm_epochs,
        "method.monotone": monotone,
        "method.concave": concave,
        "method.as_published": as_published,
    }
    if any(value is not None for value in settings.values()):
        meant = meant.set(settings)
    start = start_from if start_from is None or isinstance(start_from, Model) else Model.read(start_from)
    with Sources() as sources:
        native = _dfcl.train(
            meant._native,
            _trial(meant, trial, sources),
            os.fspath(checkpoint),
            os.fspath(cache),
            time_budget,
            force,
            None if start is None else start._native,
            _run(threads, seed, progress),
        )
    model = Model(native)
    if output is not None:
        model.write(output)
    return model


def _model(model: Model | Path) -> Model:
    return model if isinstance(model, Model) else Model.read(model)


def predict(
    model: Model | Path,
    units: TableLike,
    *,
    output: Path | None = None,
    threads: int = 0,
    progress: Progress = None,
) -> Prediction:
    """What each unit would earn and cost under every arm. A NumPy array has the model's features as columns.

    >>> made = simulate("marketing", rows=2000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> predict(model, made.trial).revenue.shape
    (2000, 5)
    """
    native = _model(model)._native
    with Sources() as sources:
        path = sources.path(units, "units", native.features)
        prediction = Prediction(_dfcl.predict(native, path, _run(threads, 0, progress)))
    if output is not None:
        prediction.write(output)
    return prediction


def export_onnx(model: Model | Path, output: Path | None = None) -> bytes:
    """A network model as an ONNX graph with its preprocessing inside; forests are refused. Returns the bytes.

    There is an input for each feature, named as the column: numbers as float32 of units x 1, NaN for missing, and
    categories as text, "" for missing. Outputs are ``revenue`` and ``cost``, units x arms.
    """
    data = _model(model)._native.to_onnx()
    if output is not None:
        with open(output, "wb") as file:
            file.write(data)
    return data


def _list(budget: Budget) -> list[float]:
    if budget is None:
        return []
    return [float(entry) for entry in budget] if isinstance(budget, Iterable) else [float(budget)]


def _request(
    predictions: Model | Prediction | TableLike, units: TableLike | None, sources: Sources
) -> _dfcl.AllocateRequest:
    request = _dfcl.AllocateRequest()
    if isinstance(predictions, (str, os.PathLike)) and units is not None:
        predictions = Model.read(predictions)
    if isinstance(predictions, Model):
        if units is None:
            raise _usage_error("a model: plan for which units?", "allocate(model, units, ...)")
        request.set_model(predictions._native)
        request.units = sources.path(units, "units", predictions.features)
    elif units is not None:
        raise _usage_error("predictions take no units", "leave out units=, or give a model")
    elif isinstance(predictions, Prediction):
        request.set_prediction(predictions._native)
    else:
        request.predictions = sources.path(predictions, "predictions")
    return request


def allocate(
    predictions: Model | Prediction | TableLike,
    units: TableLike | None = None,
    *,
    budget: Budget = None,
    per_unit: Budget = None,
    share_of_max: Budget = None,
    multiplier: float | None = None,
    control: str = "",
    objective: str = "revenue",
    margin: float | None = None,
    min_roi: float | None = None,
    eligible: TableLike | None = None,
    segment: str = "",
    segment_budgets: TableLike | Mapping[str, float] | None = None,
    second_cost: TableLike | None = None,
    second_budget: float | None = None,
    min_units: Mapping[str, int] | None = None,
    max_units: Mapping[str, int] | None = None,
    holdout: float = 0.0,
    holdout_salt: str = "",
    explore: float = 0.0,
    launch: str = "",
    previous: Plan | TableLike | None = None,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
) -> Any:
    """Who gets what: the best plan for a budget, with proof of how good it is.

    ``predictions`` is a ``Prediction``, any table with columns id, revenue_<arm> and cost_<arm> from any model, or a
    ``Model`` with ``units``. One budget gives a ``Plan``, several a list of them. A budget that cannot be met is the
    status of its plan.

    >>> plan = allocate({"revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0],
    ...                  "revenue_1": [4.0, 2.0], "cost_1": [1.0, 1.0]}, budget=1)
    >>> plan.status, plan.spend, plan.value
    ('optimal within gap', 1.0, 5.0)
    """
    with Sources() as sources:
        request = _request(predictions, units, sources)
        request.totals, request.per_unit, request.share_of_max = _list(budget), _list(per_unit), _list(share_of_max)
        request.multiplier, request.control, request.objective = multiplier, control, objective
        request.margin, request.min_roi = margin, min_roi
        request.eligible = sources.path(eligible, "eligible")
        request.segment = segment
        if isinstance(segment_budgets, Mapping) and set(segment_budgets) != {"segment", "budget"}:
            segment_budgets = {"segment": list(segment_budgets), "budget": list(segment_budgets.values())}
        request.segment_budgets = sources.path(segment_budgets, "segment_budgets")
        request.second_cost, request.second_budget = sources.path(second_cost, "second_cost"), second_budget
        request.min_units = [f"{arm}={count}" for arm, count in (min_units or {}).items()]
        request.max_units = [f"{arm}={count}" for arm, count in (max_units or {}).items()]
        request.holdout, request.holdout_salt, request.explore = holdout, holdout_salt, explore
        request.launch, request.previous = launch, sources.path(previous, "previous")
        request.output = "" if output is None else os.fspath(output)
        # Many units that are not tied to each other are read where they lie: nothing of the frame is copied. The plan
        # is the same either way.
        coupled = segment or request.second_cost or request.min_units or request.max_units or request.eligible
        request.stream = sources.num_rows(request.predictions) >= _MANY_UNITS and not coupled
        figures, plans = _dfcl.allocate(request, _run(threads, seed, progress))
    made = [Plan(json, text, plan) for (json, text), plan in zip(figures, plans)]
    several = any(isinstance(entry, Iterable) for entry in (budget, per_unit, share_of_max))
    return made if several else made[0]


def allocate_curve(
    predictions: Model | Prediction | TableLike,
    units: TableLike | None = None,
    *,
    points: int = 50,
    control: str = "",
    objective: str = "revenue",
    margin: float | None = None,
    min_roi: float | None = None,
    threads: int = 0,
    progress: Progress = None,
) -> Curve:
    """The whole curve of spend and value, from the cheapest plan to the dearest that is worth its cost."""
    with Sources() as sources:
        request = _request(predictions, units, sources)
        request.curve_points, request.control, request.objective = points, control, objective
        request.margin, request.min_roi = margin, min_roi
        figures, _ = _dfcl.allocate(request, _run(threads, 0, progress))
    return Curve(*figures[0])


Contender = Union[Model, Prediction, TableLike]


def _contender(given: Contender, name: str, sources: Sources) -> _dfcl.Contender:
    if isinstance(given, Model):
        return _dfcl.Contender.of_model(given._native, name or given.method)
    if isinstance(given, Prediction):
        return _dfcl.Contender.of_prediction(given._native, name or given._native.options.get("method", "predictions"))
    if isinstance(given, (str, os.PathLike)):
        return _dfcl.Contender.of_path(os.fspath(given), name)
    return _dfcl.Contender.of_path(sources.path(given, name or "predictions"), name or "predictions")


def evaluate(
    study: StudyLike | None,
    contenders: Contender | Sequence[Contender] | Mapping[str, Contender],
    trial: TableLike | None = None,
    *,
    split: str = "test",
    estimator: str = "",
    nuisance: Contender | None = None,
    truth: Contender | None = None,
    budget: Budget = None,
    per_unit: Budget = None,
    share_of_max: Budget = None,
    levels: int = 200,
    ranking: str = "angle",
    resamples: int = 1000,
    intervals: str = "bootstrap",
    weights: str = "poisson",
    segment: str | Sequence[str] = (),
    allow_training_rows: bool = False,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Evaluation:
    """What plans are worth, on rows of a trial that the models have not seen.

    ``contenders`` are models, predictions, tables of predictions from anywhere, or paths: one, a list, or a mapping
    from names; the first is the reference.

    >>> made = simulate("marketing", rows=4000, seed=1)
    >>> model = train(made.study, made.trial, method="tsm", epochs=2, seed=1)
    >>> result = evaluate(made.study, {"tsm": model, "truth": made.truth}, made.trial, resamples=50)
    >>> [entry["name"] for entry in result["models"]]
    ['tsm', 'truth']
    """
    meant = study_of(study, keywords)
    if isinstance(contenders, Mapping) and not any(str(name).startswith("revenue_") for name in contenders):
        named = [(str(name), contender) for name, contender in contenders.items()]
    elif isinstance(contenders, (list, tuple)):
        named = [("", contender) for contender in contenders]
    else:
        named = [("", contenders)]
    with Sources() as sources:
        request = _dfcl.EvaluateRequest()
        request.study, request.trial = meant._native, _trial(meant, trial, sources)
        request.split, request.estimator = split, estimator
        request.contenders = [_contender(contender, name, sources) for name, contender in named]
        if nuisance is not None:
            request.nuisance = _contender(nuisance, "nuisance", sources)
        if truth is not None:
            request.truth = _contender(truth, "truth", sources)
        request.totals, request.per_unit, request.share_of_max = _list(budget), _list(per_unit), _list(share_of_max)
        request.levels, request.ranking, request.resamples = levels, ranking, resamples
        request.intervals, request.weights = intervals, weights
        request.segments = [segment] if isinstance(segment, str) else list(segment)
        request.allow_training_rows = allow_training_rows
        json, text, _ = _dfcl.evaluate(request, _run(threads, seed, progress))
    result = Evaluation(json, text)
    if output is not None:
        result.write(output)
    return result


def compare(
    study: StudyLike | None = None,
    trial: TableLike | None = None,
    *,
    methods: Sequence[str] | None = None,
    seeds: int | None = None,
    resamples: int = 1000,
    truth: Contender | None = None,
    segment: str | Sequence[str] = (),
    force: bool = False,
    output: Path | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Progress = None,
    **keywords: Any,
) -> Comparison:
    """Several methods, trained and evaluated on one trial; the first is the reference.

    With ``output``, a folder, models and results stay there, and the same call goes on where it was stopped.

    >>> made = simulate("marketing", rows=3000, seed=1)
    >>> result = compare(made.study, made.trial, methods=["tsm", "dfcl-mer"], resamples=0, settings={"method.epochs": 2})
    >>> [entry["name"] for entry in result["models"]]
    ['tsm', 'dfcl-mer']
    """
    meant = study_of(study, keywords)
    settings = {"compare.methods": methods, "compare.seeds": seeds}
    if methods is not None or seeds is not None:
        meant = meant.set(settings)
    with Sources() as sources, tempfile.TemporaryDirectory() as scratch:
        request = _dfcl.CompareRequest()
        request.study, request.trial = meant._native, _trial(meant, trial, sources)
        request.folder = os.path.join(scratch, "compared") if output is None else os.fspath(output)
        request.resamples, request.force = resamples, force
        request.segments = [segment] if isinstance(segment, str) else list(segment)
        if truth is not None:
            request.truth = _contender(truth, "truth", sources)
        return Comparison(*_dfcl.compare(request, _run(threads, seed, progress)))


def readout(
    plan: Plan | TableLike,
    outcomes: TableLike,
    *,
    holdout_share: float | None = None,
    control: str = "",
    launch: str = "",
    budget: float | None = None,
    multiplier: float | None = None,
    output: Path | None = None,
    progress: Progress = None,
) -> Readout:
    """What came of a plan: planned against realised, and over the hold-out.

    ``outcomes`` has one row a unit with columns id, role, arm (received), revenue and cost.
    """
    with Sources() as sources:
        planned, happened = sources.path(plan, "plan"), sources.path(outcomes, "outcomes")
        json, text = _dfcl.readout(
            planned, happened, holdout_share, control, launch, budget, multiplier, _run(0, 0, progress)
        )
    result = Readout(json, text)
    if output is not None:
        result.write(output)
    return result
