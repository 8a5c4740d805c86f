# SPDX-License-Identifier: Apache-2.0
"""A prediction knows what it is, ids are exact, and the index of a frame is no column."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dfcl


@pytest.fixture(scope="module")
def index_model(small_study, small_trial):
    return dfcl.train(small_study, small_trial, method="drm", epochs=1)


def test_a_prediction_of_a_model_knows_the_model(model, made):
    prediction = dfcl.predict(model, made.trial)
    assert prediction.control == model.control == "0"
    assert prediction.model == model.fingerprint
    assert prediction.method == "tsm"
    assert prediction.is_index is False and prediction.price is None


@pytest.mark.parametrize("name", [None, "p.parquet", "p.arrow", "p.csv"])
def test_an_index_stays_an_index(name, index_model, small_study, small_trial, tmp_path, caplog):
    prediction = dfcl.predict(index_model, small_trial)
    assert prediction.is_index and prediction.method == "drm"
    given = prediction
    if name is not None:
        prediction.write(tmp_path / name)
        given = tmp_path / name
    with caplog.at_level("WARNING"):
        dfcl.allocate(given, per_unit=0.1)
    assert "index" in caplog.text
    evaluation = dfcl.evaluate(small_study, given, trial=small_trial, resamples=50, split="all", allow_training_rows=True)
    assert evaluation["models"][0]["index"] is True
    assert evaluation["models"][0]["method"] == "drm"


def test_the_control_of_a_model_is_the_control_of_its_plans(small_trial):
    arm = np.where(small_trial["arm"] == 1, "0", "-5")
    study = dfcl.Study(id="id", arm="arm", revenue="revenue", cost="cost", control="-5", per_unit=[0.1])
    model = dfcl.train(study, small_trial | {"arm": arm}, method="tsm", epochs=1)
    prediction = dfcl.predict(model, small_trial)
    assert prediction.control == "-5"
    plan = dfcl.allocate(prediction, per_unit=0.1, holdout=0.2).to_pandas()
    assert set(plan.arm[plan.role == "holdout"]) == {"-5"}
    with pytest.raises(dfcl.UsageError, match="control"):
        dfcl.allocate(prediction, per_unit=0.1, control="0")


LARGE = 2**63 + np.arange(4, dtype=np.uint64)
PREDICTIONS = {
    "revenue_0": np.ones(4),
    "cost_0": np.zeros(4),
    "revenue_5": np.array([2.0, 3.0, 4.0, 5.0]),
    "cost_5": np.ones(4),
}


@pytest.mark.parametrize("frame_of", [dict, pyarrow.table, polars.DataFrame, pandas.DataFrame])
def test_unsigned_ids_are_exact(frame_of, tmp_path):
    plan = dfcl.allocate(frame_of({"id": LARGE} | PREDICTIONS), budget=2)
    table = plan.to_arrow()
    assert table["id"].type == pyarrow.uint64()
    assert table["id"].to_pylist() == LARGE.tolist()
    plan.write(tmp_path / "plan.csv")
    assert (tmp_path / "plan.csv").read_text().splitlines()[4].startswith("9223372036854775811,")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([2**64 - 1, 0, 1, 2], [2**64 - 1, 0, 1, 2]),
        ([-1, 2**63, 1, 2], ["-1", "9223372036854775808", "1", "2"]),
        ([10**30, 1, 2, 3], [str(10**30), "1", "2", "3"]),
        ([1.0, 2.0, 3.0, 2.0**53], ["1", "2", "3", "9007199254740992"]),
    ],
)
def test_ids_of_a_list_are_exact(ids, expected):
    assert dfcl.allocate({"id": ids} | PREDICTIONS, budget=2).to_arrow()["id"].to_pylist() == expected


@pytest.mark.parametrize("ids", [[1.0, 2.5, 3.0, 4.0], [1.0, 2.0**53 + 2, 3.0, 4.0], [1.0, None, 3.0, 4.0]])
def test_ids_that_name_no_unit_are_refused_with_their_row(ids):
    with pytest.raises(dfcl.DataError, match="row 2, column 'id'"):
        dfcl.allocate({"id": ids} | PREDICTIONS, budget=2)


def test_an_index_of_a_frame_is_no_column(small_study, small_trial):
    frame = pandas.DataFrame(small_trial)
    shuffled = frame.sample(frac=1.0, random_state=3)
    model = dfcl.train(small_study, shuffled, method="tsm", epochs=1)
    assert model.features == ["x", "whole", "city"]
    prediction = dfcl.predict(model, shuffled.set_index("city", drop=False))
    np.testing.assert_array_equal(prediction.ids, shuffled["id"])
    assert list(shuffled.index[:3]) != [0, 1, 2], "the caller's frame stays as it is"


def test_predictions_without_ids_are_not_joined_with_a_trial_that_has_them(model, made):
    table = dfcl.predict(model, made.trial).to_arrow().drop_columns(["id"])
    with pytest.raises(dfcl.DataError, match="have ids"):
        dfcl.evaluate(made.study, table, trial=made.trial, resamples=50)
