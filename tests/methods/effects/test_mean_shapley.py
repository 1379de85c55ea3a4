"""The mean Shapley value per value of a feature: identities with other curves."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import refused

from importance_audit.methods.effects.mean_shapley import mean_shapley
from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.known_answers import linear_model, normal_data


def additive():
    """Return a model that adds a parabola, a step of a category and their weights."""
    data = normal_data(1, 1, n_samples=24)
    levels = pd.Categorical(list("abacabca") * 3, categories=["a", "b", "c", "d"])
    X = data.X.round(0).assign(kind=levels)
    weights = np.arange(24) % 4 + 0.5
    data = replace(data, X=X, weights=weights, groups={n: (n,) for n in X})
    step = np.array([0.0, 5, -1, 9])

    def predict(X):
        return X["x1"].to_numpy() ** 2 - X["x2"].to_numpy() + step[X["kind"].cat.codes]

    model = replace(linear_model(1, 1, 1), predict=predict, features=tuple(X))
    return model, data


@pytest.mark.parametrize("feature", ["x1", "x2", "kind"])
def test_of_an_additive_model_it_is_the_centred_partial_dependence(feature):
    model, data = additive()
    grid, values = mean_shapley(model, data, feature, seed=1, grid="unique")
    points, curve = partial_dependence(model, data, feature, seed=1, grid="unique")
    rows = data.X[feature].to_numpy()
    weight = np.array([data.weights[rows == point].sum() for point in points])
    centred = curve - np.average(curve, axis=0, weights=weight)
    assert set(grid) == set(points[weight > 0])  # no row has level "d"
    np.testing.assert_allclose(values, centred[np.isin(points, grid)], atol=1e-9)


def test_with_an_interaction_it_is_the_mean_over_the_rows_at_a_value():
    data = normal_data(1, 1, n_samples=20)
    model = replace(linear_model(1, 1), predict=lambda X: X.prod(axis=1).to_numpy())
    data = replace(data, X=data.X.assign(x1=np.sign(data.X["x1"])))
    x1, x2 = data.X["x1"].to_numpy(), data.X["x2"].to_numpy()
    alone, last = x1 * x2.mean() - (x1 * x2).mean(), x1 * x2 - x1.mean() * x2
    phi = (alone + last) / 2  # what x1 adds as the first of two, and as the second
    _, values = mean_shapley(model, data, "x1", seed=1)
    truth = [phi[x1 == sign].mean() for sign in (-1, 1)]
    np.testing.assert_allclose(values[:, 0], truth, atol=1e-12)


def test_neighbours_are_averaged_in_parts_of_equally_many_rows():
    data = normal_data(2, 0, n_samples=12)
    grid, values = mean_shapley(linear_model(2, 0), data, "x1", seed=1, n_grid=3)
    x = np.sort(data.X["x1"].to_numpy()).reshape(3, 4).mean(axis=1)
    np.testing.assert_allclose(grid, x, rtol=1e-12)
    np.testing.assert_allclose(values[:, 0], 2 * x, atol=1e-12)


def test_more_coalitions_than_can_be_asked_are_refused():
    model, data = linear_model(*range(13)), normal_data(*range(13), n_samples=20)
    assert refused(mean_shapley, model, data, "x1") == (
        "Model 'linear' must read at most 12 features or groups for exact Shapley "
        "values, which take every subset of them; it reads 13. Use curve "
        "'partial_dependence'."
    )
