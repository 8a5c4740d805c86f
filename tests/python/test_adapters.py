# SPDX-License-Identifier: Apache-2.0
"""Models of other libraries in evaluate and allocate: by the interfaces of EconML, CausalML and scikit-learn."""

import importlib.util

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import dfcl


@pytest.fixture(scope="module")
def trial():
    random = np.random.default_rng(5)
    rows = 4000
    x = random.normal(size=(rows, 2))
    arm = random.integers(0, 3, rows) * 5
    revenue = 3 + 0.2 * arm * (x[:, 0] > 0) + random.normal(size=rows)
    return pandas.DataFrame(
        {"id": np.arange(rows), "a": x[:, 0], "b": x[:, 1], "arm": arm, "revenue": revenue, "cost": 0.1 * arm}
    )


@pytest.fixture(scope="module")
def study():
    return dfcl.Study(id="id", arm="arm", revenue="revenue", cost="cost", control="0", per_unit=[0.2, 0.4])


FEATURES = ["a", "b"]
PRICES = {0: 0.0, 5: 0.5, 10: 1.0}


def effects(frame):
    a = np.asarray(frame["a"] if hasattr(frame, "__getitem__") and not isinstance(frame, np.ndarray) else frame[:, 0])
    return np.column_stack([1.0 * (a > 0), 2.0 * (a > 0)])


class LikeEconML:
    """effect(X, T0=, T1=) as econml.dml and econml.dr have it; of two outcomes where asked."""

    def __init__(self, outcomes=1):
        self._outcomes = outcomes

    def effect(self, X, *, T0, T1):
        one = np.zeros(len(X)) if T1 == T0 else effects(X)[:, {5: 0, 10: 1}[T1]]
        return one if self._outcomes == 1 else np.column_stack([one, np.full(len(X), 0.1 * (T1 - T0))])

    def marginal_effect(self, T, X):
        raise NotImplementedError


class LikeCausalML:
    """predict(X) with a column for each of t_groups, in their order."""

    t_groups = np.array([10, 5])

    def predict(self, X, treatment=None, y=None, p=None):
        assert isinstance(X, np.ndarray)
        return effects(X)[:, ::-1]


def t_learner(trial):
    return {arm: HistGradientBoostingRegressor(max_iter=20).fit(rows[FEATURES], rows["revenue"])
            for arm, rows in trial.groupby("arm")}  # fmt: skip


class TwoColumns:
    def predict(self, X):
        return effects(X)


MODELS = {
    "econml": lambda trial: dfcl.adapt(LikeEconML(), PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id"),
    "econml, two outcomes": lambda trial: dfcl.adapt(
        LikeEconML(2), arms=[0, 5, 10], control=0, features=FEATURES, id="id"
    ),
    "causalml": lambda trial: dfcl.adapt(LikeCausalML(), PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id"),
    "sklearn effects": lambda trial: dfcl.adapt(TwoColumns(), PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id"),
    "function": lambda trial: dfcl.adapt(
        lambda X: effects(X), {"0": 0, "5": 0.5, "10": 1}, arms=["0", "5", "10"], control="0", features=FEATURES, id="id"
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_foreign_model_is_evaluated_and_allocated_in_one_call(name, trial, study):
    model = MODELS[name](trial)
    result = dfcl.evaluate(study, {name: model}, trial, resamples=0)
    assert result["models"][0]["name"] == name
    plan = dfcl.allocate(model, trial, per_unit=0.3)
    expected = dfcl.allocate(
        {"id": trial["id"].to_numpy(), "revenue_0": np.zeros(len(trial)), "cost_0": np.zeros(len(trial)),
         "revenue_5": effects(trial)[:, 0], "cost_5": np.full(len(trial), 0.5),
         "revenue_10": effects(trial)[:, 1], "cost_10": np.ones(len(trial))}, per_unit=0.3, control="0",
    )  # fmt: skip
    assert plan == expected and plan.ids.tolist() == trial["id"].tolist()
    assert set(plan.arm[np.asarray(trial["a"]) <= 0]) == {"0"}


def test_a_t_learner_of_scikit_learn(trial, study):
    model = dfcl.adapt(t_learner(trial.iloc[:2000]), PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id", name="t")
    prediction = model.predict(trial.set_index("id", drop=False))
    assert prediction.control == "0" and prediction.arms == ["0", "5", "10"]
    assert abs(float(prediction.revenue.mean()) - trial["revenue"].mean()) < 0.5
    ours = study.train(trial, method="tsm", epochs=1)
    result = study.evaluate([model, ours], trial, resamples=0)
    assert {entry["name"] for entry in result["models"]} == {"t", "tsm"} and result["differences"]


def test_frames_of_every_library(trial, tmp_path):
    model = dfcl.adapt(lambda X: effects(X), PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id")
    expected = model.allocate(trial, per_unit=0.3)
    for frame in (polars.DataFrame(trial), polars.LazyFrame(trial), {name: trial[name].to_numpy() for name in trial}):
        assert model.allocate(frame, per_unit=0.3) == expected
    trial.to_parquet(tmp_path / "units.parquet", index=False)
    trial.to_csv(tmp_path / "units.csv", index=False)
    arrow = pyarrow.Table.from_pandas(trial)
    files = tmp_path / "units.parquet", str(tmp_path / "units.csv")
    for frame in (*files, dfcl.Table.read(files[0]), arrow, arrow.to_reader(), duckdb.from_arrow(arrow)):
        plan = model.allocate(frame, per_unit=0.3)
        assert plan == expected and plan.ids.tolist() == trial["id"].tolist(), type(frame)
    with pytest.raises(dfcl.UsageError, match="units=: cannot make features of int"):
        model.predict(5)
    unnamed = dfcl.adapt(lambda X: effects(X), PRICES, arms=[0, 5, 10], control=0)
    plan = unnamed.allocate(trial[FEATURES].to_numpy(), per_unit=0.3)
    assert plan.units_per_arm == expected.units_per_arm, "ties go by id, and an array has none"


def test_what_does_not_fit_is_named(trial):
    with pytest.raises(dfcl.UsageError, match="control=: no such arm"):
        dfcl.adapt(LikeEconML(), PRICES, arms=[0, 5], control=1)
    with pytest.raises(dfcl.UsageError, match="cost=: no entry for arm '10'"):
        dfcl.adapt(LikeEconML(), {0: 0, 5: 1}, arms=[0, 5, 10], control=0, features=FEATURES).predict(trial)
    with pytest.raises(dfcl.UsageError, match="cost=: is missing"):
        dfcl.adapt(TwoColumns(), arms=[0, 5, 10], control=0, features=FEATURES).predict(trial)
    with pytest.raises(dfcl.DataError, match="revenue: 2 columns, expected 4 .* or 3"):
        dfcl.adapt(TwoColumns(), {n: 0 for n in range(4)}, arms=range(4), control=0, features=FEATURES).predict(trial)
    with pytest.raises(dfcl.DataError, match="no column 'shop'"):
        dfcl.adapt(TwoColumns(), PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="shop").predict(trial)


@pytest.mark.skipif(importlib.util.find_spec("econml") is None, reason="econml is not installed")
def test_econml_itself(trial, study):
    from econml.dml import LinearDML

    estimator = LinearDML(discrete_treatment=True, random_state=0)
    half = trial.iloc[:2000]
    estimator.fit(half["revenue"].to_numpy(), half["arm"].to_numpy(), X=half[FEATURES].to_numpy())
    model = dfcl.adapt(estimator, PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id")
    result = dfcl.evaluate(study, model, trial, resamples=0, fitted_on=half[["id"]], allow_training_rows=True)
    assert result["models"][0]["name"] == "LinearDML"
    assert dfcl.allocate(model, trial, per_unit=0.3).spend <= 0.3 * len(trial) * (1 + 1e-6)


@pytest.mark.skipif(importlib.util.find_spec("causalml") is None, reason="causalml is not installed")
def test_causalml_itself(trial, study):
    from causalml.inference.meta import BaseTRegressor
    from sklearn.linear_model import LinearRegression

    estimator = BaseTRegressor(LinearRegression(), control_name=0)
    half = trial.iloc[:2000]
    estimator.fit(half[FEATURES].to_numpy(), half["arm"].to_numpy(), half["revenue"].to_numpy())
    model = dfcl.adapt(estimator, PRICES, arms=[0, 5, 10], control=0, features=FEATURES, id="id")
    found = model.predict(trial).effect()
    np.testing.assert_allclose(found[:, 1:], estimator.predict(trial[FEATURES].to_numpy()), atol=1e-5)
    result = dfcl.evaluate(study, model, trial, resamples=0, fitted_on=half[["id"]], allow_training_rows=True)
    assert result["models"][0]["name"] == "BaseTRegressor"
    assert dfcl.allocate(model, trial, per_unit=0.3).spend <= 0.3 * len(trial) * (1 + 1e-6)


def test_a_t_learner_is_a_dict_or_a_list():
    class Constant:
        def __init__(self, value):
            self.value = value

        def predict(self, X):
            return np.full(len(X), self.value)

    units = np.random.default_rng(1).normal(size=(10, 2))
    price = {"0": 0.0, "5": 0.5}
    of_dict = dfcl.adapt({"0": Constant(1.0), "5": Constant(2.0)}, price, control="0")
    of_list = dfcl.adapt([Constant(1.0), Constant(2.0)], price, control="0")
    assert of_dict.arms == of_list.arms == ["0", "5"]
    np.testing.assert_array_equal(of_dict.predict(units).effect()[:, 1], np.ones(10))
    np.testing.assert_array_equal(of_list.predict(units).revenue, of_dict.predict(units).revenue)
    with pytest.raises(dfcl.UsageError, match="revenue=: 1 models, expected one for each of 2 arms"):
        dfcl.adapt([Constant(1.0)], price, control="0")
    with pytest.raises(dfcl.UsageError, match="arms=: is missing"):
        dfcl.adapt(Constant(1.0), control="0")
    with pytest.raises(dfcl.UsageError, match="revenue=: cannot predict with float"):
        dfcl.adapt(1.0, price, control="0")
