# SPDX-License-Identifier: Apache-2.0
"""A script that uses everything, for type checkers and to run."""

from __future__ import annotations

import numpy as np

import dfcl

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

try:
    dfcl.allocate(prediction, budget=-1.0)
except dfcl.UsageError as error:
    field: str = error.field
