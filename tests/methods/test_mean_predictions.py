"""The mean prediction: what a curve of a feature that does not matter shows."""

from dataclasses import replace

import numpy as np
import pytest
from tests.assess.measured import audited
from tests.known_answers import logistic_model

from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)

CURVE = {"method": "partial_dependence", "n_grid": 3}


@pytest.mark.parametrize("scale", ["native", "link", "centred_logit"])
def test_it_is_the_curve_of_a_feature_that_the_model_ignores(scale):
    data = binary_data(n_samples=60)
    weighted = replace(data, weights=np.arange(60) + 1.0)
    entry = CURVE | {"scale": scale}
    result = audited(logistic_model(2, 0), weighted, entry)
    (ignored,) = (e for e in result.effects if e.feature == "x2")
    (row,) = result.mean_predictions.to_dict("records")
    np.testing.assert_allclose(ignored.values, row["mean"], rtol=1e-12)
    assert (row["positive_class"], row["scale"]) == ("yes", ignored.scale)


def test_it_is_told_once_for_all_curves_of_a_model():
    entries = CURVE, {"method": "curve_impact"}
    result = audited(linear_model(2, 0), normal_data(2, 0, n_samples=60), *entries)
    assert len({len(effect.grid) for effect in result.effects}) == 2
    assert len(result.mean_predictions) == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"method": "curve_impact", "curve": "ale"},
        {
            "method": "stratified_impact",
            "n_repeats": 2,
            "min_samples_leaf": 5,
            "min_slopes_per_x": 1,
        },
    ],
)
def test_curves_with_a_zero_of_their_own_have_none(entry):
    result = audited(linear_model(2, 0), normal_data(2, 0, n_samples=60), entry)
    assert result.effects
    assert result.mean_predictions.empty


def with_gaps(data, every=4):
    """Return the rows with every fourth cell of x1 missing."""
    X = data.X.copy()
    X.loc[::every, "x1"] = np.nan
    return replace(data, X=X)


def imputing(model, value):
    """Return the model that puts a value where x1 is missing."""

    def predict(X):
        return model.predict(X.assign(x1=X["x1"].fillna(value)))

    return replace(model, predict=predict)


@pytest.mark.parametrize("scale", ["native", "link"])
def test_the_point_of_missing_cells_is_the_curve_at_the_value_they_stand_for(scale):
    data = with_gaps(binary_data(n_samples=60))
    weights = np.arange(60) + 1.0
    weighted = replace(data, weights=weights)
    entry = CURVE | {"scale": scale}
    low = float(weighted.X["x1"].min())
    result = audited(imputing(logistic_model(2, 1), low), weighted, entry)
    (curve,) = (e for e in result.effects if e.feature == "x1")
    (row,) = result.missing_predictions.to_dict("records")
    assert curve.grid[0] == low
    assert row["mean"] == pytest.approx(curve.values[0])
    assert (row["feature"], row["positive_class"]) == ("x1", "yes")
    assert (row["scale"], row["reason"]) == (curve.scale, "")
    assert row["n_missing"] == 15
    assert row["share"] == pytest.approx(weights[::4].sum() / weights.sum())


def test_a_model_that_refuses_missing_cells_leaves_the_reason_and_no_failure():
    data, model = with_gaps(normal_data(2, 0, n_samples=60)), linear_model(2, 0)

    def predict(X):
        if X["x1"].isna().all():
            raise ValueError("x1 has no value.")
        return imputing(model, 0.0).predict(X)

    result = audited(replace(model, predict=predict), data, CURVE)
    (row,) = result.missing_predictions.to_dict("records")
    assert np.isnan(row["mean"])
    assert "x1 has no value." in row["reason"]
    assert not {f.check for f in result.findings if f.severity == "failure"}


def test_a_model_is_asked_once_more_for_each_feature_with_missing_cells_only():
    whole = normal_data(2, 1, 0, n_samples=60)
    n_asked = []
    for data in (whole, with_gaps(whole)):
        model = imputing(linear_model(2, 1, 0), 0.0)
        calls = []

        def predict(X, model=model, calls=calls):
            calls.append(X)
            return model.predict(X)

        result = audited(replace(model, predict=predict), data, CURVE)
        n_asked.append(len(calls))
        assert len(result.missing_predictions) == (data is not whole)
    assert n_asked[1] - n_asked[0] == 1
