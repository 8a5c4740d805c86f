# SPDX-License-Identifier: Apache-2.0
"""The scikit-learn estimator: scikit-learn's own checks, search, pickling, routing."""

import pickle

import numpy as np
import pandas
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import dfcl
from dfcl.sklearn import DecisionFocusedRegressor


class OnAnyTarget(DecisionFocusedRegressor):
    """scikit-learn's checks know one target: it is taken as the revenue of a trial of two arms."""

    @staticmethod
    def _as_trial(X, y, sample_weight=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        revenue = np.asarray(sklearn.utils.column_or_1d(y, warn=True), dtype=np.float64)
        if np.asarray(X).ndim == 2 and 0 < len(revenue) < 120:  # a trial needs 30 units an arm
            rows = np.tile(np.arange(len(revenue)), 1 + 120 // len(revenue))
            X = X if hasattr(X, "shape") or isinstance(X, list) else np.asarray(X)
            X, revenue = sklearn.utils._safe_indexing(X, rows), revenue[rows]
            if sample_weight is not None and np.asarray(sample_weight).shape == (len(np.unique(rows)),):
                sample_weight = np.asarray(sample_weight)[rows]
        arm = np.arange(len(revenue)) % 2
        return X, {"treatment": arm, "revenue": revenue, "cost": 0.1 * arm, "sample_weight": sample_weight}

    def fit(self, X, y=None, sample_weight=None):
        X, outcomes = self._as_trial(X, y, sample_weight)
        return super().fit(X, **outcomes)

    def score(self, X, y=None, sample_weight=None):
        X, outcomes = self._as_trial(X, y, sample_weight)
        return super().score(X, **outcomes)


# The checks that do not apply, and why. Those of regressors (predictions of the target's shape) are not among them: the
# estimator predicts two outcomes for every arm and does not claim to be one.
EXCEPTIONS = {
    "check_fit2d_1sample": "a trial of one unit has one arm: the error names the arms, not the samples",
    "check_sample_weight_equivalence_on_dense_data": "the arms of the check are drawn by the number of the row, which other rows change; "
    "networks go by batches of rows, so that repeated rows give other steps than weights",
}


@parametrize_with_checks(
    [OnAnyTarget(method="tsm", epochs=1, control="0", n_jobs=1, random_state=0, force=True)],
    expected_failed_checks=lambda _: EXCEPTIONS,
)
def test_the_checks_of_scikit_learn_that_apply(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def trial():
    random = np.random.default_rng(3)
    X = random.normal(size=(1200, 3))
    arm = random.integers(0, 3, 1200) * 5
    revenue = 2 + 0.2 * arm * (X[:, 0] > 0) + random.normal(size=1200)
    return X, {"treatment": arm, "revenue": revenue, "cost": 0.1 * arm}


@pytest.fixture(scope="module")
def learner(trial):
    X, outcomes = trial
    free = {"cost.control_is_free": True}
    return DecisionFocusedRegressor("dfcl-mer", epochs=10, control="0", settings=free, random_state=1).fit(X, **outcomes)


def test_predictions_are_revenues_then_costs(learner, trial):
    X, _ = trial
    assert list(learner.arms_) == ["0", "5", "10"]
    prediction = learner.predict(X)
    outcomes = learner.predict_outcomes(X)
    assert prediction.shape == (1200, 6)
    np.testing.assert_array_equal(prediction[:, :3], outcomes.revenue)
    np.testing.assert_array_equal(prediction[:, 3:], outcomes.cost)
    np.testing.assert_array_equal(learner.predict_revenue(X), outcomes.revenue)
    np.testing.assert_array_equal(learner.predict_cost(X), outcomes.cost)
    effect = learner.effect(X)
    assert not effect[:, 0].any()
    np.testing.assert_array_equal(effect[:, 2], outcomes.revenue[:, 2] - outcomes.revenue[:, 0])


def test_a_plan_keeps_to_its_budget(learner, trial):
    X, _ = trial
    plan = learner.allocate(X, budget=150)
    assert isinstance(plan, dfcl.Plan) and plan.budget == 150
    arms = plan.arm
    cost = learner.predict_outcomes(X).cost
    spent = cost[np.arange(len(X)), [list(learner.arms_).index(arm) for arm in arms]].sum()
    assert len(arms) == len(X) and spent <= 150 * (1 + 1e-5)
    assert set(learner.allocate(X, per_unit=0.05, max_units={"10": 0}).arm) <= {"0", "5"}


def test_the_score_tells_a_learner_from_noise(learner, trial):
    X, outcomes = trial
    shuffled = X[np.random.default_rng(1).permutation(len(X))]
    assert learner.score(X, **outcomes) > learner.score(shuffled, **outcomes)


def test_sample_weights_count(trial):
    X, outcomes = trial
    start = DecisionFocusedRegressor("tsm-forest", control="0", settings={"forest.trees": 20}, random_state=1, force=True)
    plain = start.fit(X, **outcomes).predict(X)
    same = clone(start).fit(X, **outcomes, sample_weight=np.full(len(X), 7.0)).predict(X)
    np.testing.assert_array_equal(same, plain)
    outcomes = outcomes | {"revenue": outcomes["revenue"] + 3.0 * (X[:, 1] > 0)}
    heavy = clone(start).fit(X, **outcomes, sample_weight=np.where(X[:, 1] > 0, 1.0, 1e-3))
    light = clone(start).fit(X, **outcomes, sample_weight=np.where(X[:, 1] > 0, 1e-3, 1.0))
    assert heavy.predict_revenue(X).mean() > light.predict_revenue(X).mean() + 0.5
    weights = np.where(X[:, 1] > 0, 2.0, 0.5)
    assert heavy.score(X, **outcomes, sample_weight=weights) != heavy.score(X, **outcomes)
    for wrong in (np.ones(5), np.ones((len(X), 2)), -np.ones(len(X))):
        with pytest.raises(ValueError, match="(?i)sample.weight|negative"):
            clone(start).fit(X, **outcomes, sample_weight=wrong)
    named = pandas.DataFrame({"weight": X[:, 0], "other": X[:, 1]})  # a feature of the role's name
    assert clone(start).fit(named, **outcomes, sample_weight=weights).n_features_in_ == 2


def test_parameters_clones_and_pickles(learner, trial):
    X, _ = trial
    copy = clone(learner)
    assert copy.get_params() == learner.get_params() and not hasattr(copy, "model_")
    assert copy.set_params(epochs=3).epochs == 3
    kept = pickle.loads(pickle.dumps(learner))
    assert kept.model_ == learner.model_
    np.testing.assert_array_equal(kept.predict(X), learner.predict(X))


def test_a_search_over_parameters(trial):
    X, outcomes = trial
    y = pandas.DataFrame(outcomes)[["cost", "treatment", "revenue"]]  # by name, in any order
    start = DecisionFocusedRegressor("tsm", control="0", random_state=1)
    search = GridSearchCV(start, {"epochs": [1, 4]}, cv=KFold(2)).fit(X, y)
    assert search.best_params_["epochs"] in (1, 4)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_outcomes_are_routed_through_pipelines_and_folds(trial):
    X, outcomes = trial
    learner = DecisionFocusedRegressor("tsm", epochs=1, control="0", random_state=1)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(learner, X, cv=KFold(2), params=outcomes, error_score="raise")
        pipeline = make_pipeline(StandardScaler(), learner).fit(X, **outcomes)
    assert np.isfinite(scores).all()
    assert pipeline.predict(X).shape == (1200, 6)


def test_frames_with_categories(trial):
    X, outcomes = trial
    frame = pandas.DataFrame(X, columns=["a", "b", "treatment"]).assign(city=np.where(X[:, 1] > 0, "Ulm", "Bonn"))
    learner = DecisionFocusedRegressor("tsm", epochs=2, control="0").fit(frame, **outcomes)
    assert learner.model_.features == ["a", "b", "treatment", "city"]
    assert learner.predict(frame).shape == (1200, 6)
    with pytest.raises(ValueError, match="feature names"):
        learner.predict(frame.rename(columns={"a": "z"}))


def test_missing_outcomes_say_what_is_missing(trial):
    X, outcomes = trial
    with pytest.raises(ValueError, match="cost= is missing"):
        DecisionFocusedRegressor().fit(X, treatment=outcomes["treatment"], revenue=outcomes["revenue"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DecisionFocusedRegressor().fit(X[:-1], **outcomes)
    with pytest.raises(ValueError, match="three columns with names"):
        DecisionFocusedRegressor().fit(X, np.column_stack(list(outcomes.values())))
    with pytest.raises(ValueError, match="cost is missing"):
        DecisionFocusedRegressor().fit(X, {"treatment": outcomes["treatment"], "revenue": outcomes["revenue"]})


def test_all_rows_train_unless_a_share_is_asked_for(trial):
    X, outcomes = trial
    learner = DecisionFocusedRegressor("tsm", epochs=1, control="0", random_state=1).fit(X, **outcomes)
    assert "train = 1" in learner.model_.study and learner.model_.figures["trained_on"]["units"] == len(X)
    some = clone(learner).set_params(validation_share=0.25).fit(X, **outcomes)
    assert some.model_.figures["trained_on"]["units"] < len(X)


def test_y_by_name_is_the_keywords(trial):
    X, outcomes = trial
    start = DecisionFocusedRegressor("tsm", epochs=1, control="0", random_state=1)
    expected = clone(start).fit(X, **outcomes).model_
    assert clone(start).fit(X, outcomes).model_ == expected
    fields = np.rec.fromarrays(list(outcomes.values()), names=list(outcomes))
    assert clone(start).fit(X, fields).model_ == expected


def test_one_thread_unless_more_are_asked_for():
    assert [DecisionFocusedRegressor(n_jobs=jobs)._threads() for jobs in (None, 3, np.int64(2), -1, -10_000)] == [1, 3, 2, 0, 1]


@pytest.mark.parametrize("jobs", ["two", 1.5, 0, True, [1], np.bool_(True)])
def test_a_number_of_jobs_that_is_none_is_refused(trial, jobs):
    X, outcomes = trial
    with pytest.raises(dfcl.UsageError, match="n_jobs=: not a number of threads: found") as refused:
        DecisionFocusedRegressor("tsm", epochs=1, control="0", n_jobs=jobs).fit(X, **outcomes)
    assert refused.value.field == "n_jobs" and repr(jobs) in str(refused.value)


def test_plans_carry_the_index_of_the_frame(learner, trial):
    X, _ = trial
    frame = pandas.DataFrame(X, columns=["x0", "x1", "x2"], index=[f"u{row}" for row in range(len(X))])
    named = DecisionFocusedRegressor("tsm", epochs=1, control="0").fit(frame, **trial[1])
    assert list(named.allocate(frame, per_unit=0.1).to_pandas().index[:2]) == ["u0", "u1"]


def test_the_same_seed_is_the_same_model(learner, trial):
    X, outcomes = trial
    again = clone(learner).set_params(n_jobs=1).fit(X, **outcomes)
    assert again.model_ == learner.model_
    assert isinstance(again.model_, dfcl.Model)


def test_arrays_are_taken_by_place_where_a_frame_was_fitted(trial):
    X, outcomes = trial
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    learner = DecisionFocusedRegressor("tsm", epochs=1, control="0", random_state=1).fit(frame, **outcomes)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        prediction = learner.predict(X)
    np.testing.assert_array_equal(prediction, learner.predict(frame))


def test_messages_speak_python(trial):
    X, outcomes = trial
    with pytest.raises(dfcl.DataError, match="no control arm: .*expected control= to name one of the arms"):
        DecisionFocusedRegressor("tsm", epochs=1).fit(X, **{**outcomes, "treatment": outcomes["treatment"] + 1})
    with pytest.warns(dfcl.DfclWarning, match="no designed shares are declared in share=. `check` has"):
        DecisionFocusedRegressor("tsm", epochs=1, control="0").fit(X, **outcomes)
