# SPDX-License-Identifier: Apache-2.0
"""A script that uses everything, for type checkers and to run."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import dfcl
from dfcl.sklearn import DecisionFocusedRegressor
from dfcl.types import Figure

matplotlib.use("Agg")

losses: list[float] = []


def watch(step: dfcl.Step) -> bool:
    if step.loss is not None:
        losses.append(step.loss)
    return False


made: dfcl.Simulation = dfcl.simulate("marketing", rows=3000, response="smooth", seed=1)
study: dfcl.Study = made.study.set({"split.train": 0.6, "split.validation": 0.1, "split.test": 0.3})
inferred: dfcl.Study = dfcl.Study.infer(made.trial)
of_keywords = dfcl.Study(id="shop_id", arm="discount", revenue="orders", cost="subsidy", control="0", share_of_max=[0.2])
check: dfcl.Check = study.check(made.trial)
fit: bool = check.fit and not check.problems
same: dfcl.Check = dfcl.check(trial=made.trial, id="shop_id", arm="discount", revenue="orders", cost="subsidy", control="0")

model: dfcl.Model = dfcl.train(study, made.trial, method="tsm", epochs=2, seed=1, threads=None, progress=watch)
again: dfcl.Model = study.train(made.trial, method="tsm", epochs=2, seed=1, per_unit=[0.2])
restored: dfcl.Model = dfcl.Model.from_bytes(model.to_bytes())
names: dict[str, str] = dfcl.methods()

prediction: dfcl.Prediction = model.predict(made.trial)
uplift: float = float(np.mean(prediction.effect()))
rows: int = len(prediction)
own: dfcl.Prediction = dfcl.Prediction.read(
    {"revenue_0": [1.0, 1.0], "cost_0": [0.0, 0.0], "revenue_1": [2.0, 3.0], "cost_1": [1.0, 1.0]}, control="0"
)

plan: dfcl.Plan = model.allocate(made.trial, share_of_max=0.2, holdout=0.1, objective="revenue", max_units={"20": 100})
plans: list[dfcl.Plan] = dfcl.allocate_many(prediction, per_unit=[0.1, 0.2], progress=False)
curve: dfcl.Curve = dfcl.allocate_curve(prediction, points=5)
change: dfcl.PlanDifference = plans[1].diff(plans[0])
moved: dict[tuple[str, str], int] = change.moves
arms: list[str] = plan.arm.tolist()
spend: float = plan.spend + plan.budget + plan.value + plan.bound + plan.multiplier

foreign: dfcl.ForeignModel = dfcl.adapt(
    lambda X: np.ones((len(X), 2)), {"0": 0.0, "5": 0.1}, arms=["0", "5"], control="0", name="ones"
)
result: dfcl.Evaluation = dfcl.evaluate(
    study, {"ours": model, "truth": made.truth}, made.trial, split="test", estimator="hajek", resamples=20, truth=made.truth
)
mine: dfcl.Evaluation = model.evaluate(made.trial, resamples=0)
verdict: str = result.verdict
low = result.to_columns("deployed")["incremental_revenue_low"]
page: str = result.report(format="html")

outcomes: dfcl.Table = dfcl.simulate_outcomes(plan, "marketing", rows=3000, seed=1)
readout: dfcl.Readout = plan.readout(outcomes)
power: dfcl.Power = dfcl.power(sd=12, gain=0.2)
about: dfcl.Info = dfcl.info(made.trial)
graph: bytes = model.to_onnx()

# Studies, models and plans, and what they know of themselves.
proposed: dfcl.Study = dfcl.init(made.trial, arm="discount", control="0", revenue="orders", cost="subsidy")
read_again: dfcl.Study = dfcl.Study.parse(study.text)
words: list[str] = [study.method, study.trial, model.method, model.control, model.fingerprint, model.study, plan.status, check.grade]
lists: list[list[str]] = [model.arms, model.features, prediction.arms, check.warnings, made.trial.column_names, plan.arms]
shares: dict[str, float] = model.importance
history: list[dict[str, Figure]] = model.history
known: dict[str, Figure] = model.figures | check.figures | plan.figures | plan.evaluated
flags: list[bool] = [model.is_index, prediction.is_index, plan.has_plan]
seed: int = model.seed
price: list[float] | None = prediction.price
of_model: tuple[str, str, str] = (prediction.model, prediction.method, prediction.control)
numbers: list[NDArray[np.float32]] = [prediction.revenue, prediction.cost, plan.revenue, plan.cost]
units: list[NDArray[np.generic]] = [prediction.ids, plan.ids, change.ids, change.only_before, change.only_after]
labels: list[NDArray[np.str_]] = [change.before, change.after]
counts: dict[str, int] = plan.units_per_arm | result.parts
why: dfcl.Plan = model.explain(made.trial, share_of_max=0.2)
compared: dfcl.Comparison = study.compare(made.trial, methods=["tsm"], resamples=0)
same_methods: dfcl.Comparison = dfcl.compare(study, made.trial, methods=["tsm"], resamples=0)
played: dfcl.Deployment = dfcl.deploy(study, units=200, days=1, methods=["tsm"], settings={"method.epochs": 1})
exported: bytes = dfcl.export_onnx(model)
screens: list[str] = [result.text, result.full, result.json, compared.verdict, played.verdict, power.verdict, dfcl.__version__]

# Files and frames.
for kept in (plan, prediction, made.trial, result, readout):
    tables = (kept.to_arrow(), kept.to_polars(), kept.to_pandas())
frames = (result.to_frame("deployed"), plan.to_frame(), curve.to_frame())
for path in ("first", "second"):
    model.save(f"{path}.safetensors")
    model.write(f"{path}.safetensors")
    plan.save(f"{path}.parquet")
    plan.write(f"{path}.csv")
    result.save(f"{path}.json")
    result.write(f"{path}.json")
back: tuple[dfcl.Model, dfcl.Table] = (dfcl.Model.read("first.safetensors"), dfcl.Table.read("first.parquet"))
axes: list[Axes] = [result.plot("deciles", model="ours"), plan.plot(), curve.plot()]


def stop(step: dfcl.Step) -> object:
    news: tuple[str, int, int, str, str] = (step.task, step.done, step.total, step.unit, step.detail)
    return news[1] > 0


watcher: dfcl.Progress = stop
interval: dfcl.Interval = dfcl.Interval(1.0, 0.5, 1.5)
ends: tuple[float, float] = (interval.low, interval.high)

try:
    dfcl.train(study, made.trial, method="tsm", epochs=50, progress=watcher)
except dfcl.Stopped as stopped:
    code: int = stopped.exit_code
try:
    dfcl.allocate(prediction, budget=-1.0)
except (dfcl.DataError, dfcl.FileError, dfcl.InfeasibleError, dfcl.UnfitError, dfcl.UnavailableError, dfcl.InternalError):
    raise
except dfcl.UsageError as error:
    told: list[str] = [error.field, error.what, error.where, error.found, error.expected, error.hint]
    is_ours: bool = isinstance(error, dfcl.Error) and not issubclass(dfcl.DfclWarning, dfcl.Error)

# The estimator of scikit-learn, and a model of its own kind.
X = np.random.default_rng(1).normal(size=(600, 2))
arm = np.arange(600) % 2
learner: DecisionFocusedRegressor = DecisionFocusedRegressor("tsm", epochs=1, control="0", force=True, random_state=1)
learner.fit(X, treatment=arm, revenue=1 + arm + X[:, 0], cost=0.5 * arm)
arrays: list[NDArray[np.float32]] = [learner.predict(X), learner.predict_revenue(X), learner.predict_cost(X), learner.effect(X)]
learned: tuple[dfcl.Model, dfcl.Prediction, dfcl.Plan] = (learner.model_, learner.predict_outcomes(X), learner.allocate(X, budget=50))
scored: float = learner.score(X, treatment=arm, revenue=1 + arm + X[:, 0], cost=0.5 * arm)
