"""The joint partial dependence, and where rows lie: closed forms."""

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import refused

from importance_audit.methods.effects.partial_dependence import partial_dependence
from importance_audit.methods.effects.surface import surface, within
from importance_audit.methods.known_answers import linear_model, normal_data

from .toys import model_of, rows_of

LEVEL = np.array([0.0, 6, 3])


def rows(n=30):
    """Return two numbers, two categories and unequal weights."""
    data = normal_data(1, 1, n_samples=n)
    kind = pd.Categorical.from_codes(np.arange(n) % 3, categories=["a", "b", "c"])
    place = pd.Categorical.from_codes(np.arange(n) % 2, categories=["in", "out"])
    X = data.X.assign(kind=kind, place=place)
    return rows_of(X, np.arange(n) % 4 + 1.0)


def test_a_product_is_its_own_surface():
    data = rows()
    product = model_of(lambda X: (X["x1"] * X["x2"]).to_numpy(), tuple(data.X))
    first, second, values = surface(product, data, ("x1", "x2"), seed=1, n_grid=5)
    assert (len(first), len(second)) == (5, 5)
    np.testing.assert_allclose(values[:, :, 0], np.outer(first, second), atol=1e-12)


@pytest.mark.parametrize("pair", [("x1", "x2"), ("x1", "kind"), ("kind", "place")])
def test_of_an_additive_model_it_is_the_sum_of_two_curves(pair):
    data = rows()

    def predict(X):
        step = LEVEL[X["kind"].cat.codes] - 2.0 * X["place"].cat.codes
        return np.asarray(X["x1"] ** 2 + X["x2"] + step)

    additive = model_of(predict, tuple(data.X))
    *_, values = surface(additive, data, pair, seed=1, n_grid=6)
    one, two = (
        partial_dependence(additive, data, name, seed=1, n_grid=6)[1] for name in pair
    )
    mean = np.average(additive.predict(data.X), weights=data.weights)
    np.testing.assert_allclose(values[:, :, 0], one + two.T - mean, atol=1e-9)


def test_there_is_a_surface_for_each_class():
    first, second, values = surface(
        level_model(), level_data(), ("kind", "count"), seed=1
    )
    assert (first.tolist(), second.tolist()) == (["a", "b", "c"], [0, 2, 4])
    np.testing.assert_allclose(values[:, 0], np.eye(3) * 0.7 + 0.1, atol=1e-12)


def test_one_feature_twice_is_refused():
    question = linear_model(1, 1), normal_data(1, 1), ("x1", "x1")
    assert refused(surface, *question, error=ValueError) == (
        "features must be two columns; ('x1', 'x1') was given."
    )


def inside(x1, x2, first, second, weights=None):
    data = rows_of(pd.DataFrame({"x1": x1, "x2": x2}), weights)
    at = [
        np.array(g, dtype=object if isinstance(g[0], str) else float)
        for g in (first, second)
    ]
    return within(data, ("x1", "x2"), *at).tolist()


def test_of_two_numbers_the_points_in_the_hull_of_the_rows_have_rows_around_them():
    corners = [0.0, 4, 0], [0.0, 0, 2e6]  # a triangle, whatever the units
    grid = [0, 2, 4], [0, 1e6, 2e6]
    assert inside(*corners, *grid) == [
        [True] * 3,
        [True, True, False],
        [True] + [False] * 2,
    ]


def test_a_row_without_a_weight_or_a_value_is_not_around_anything():
    x1, x2 = [0.0, 4, 0, 4, 9], [0.0, 0, 2, 2, np.nan]
    grid = [0, 4, 9], [0, 2]
    is_inside = inside(x1, x2, *grid, weights=np.array([1.0, 1, 1, 0, 1]))
    assert is_inside == [[True, True], [True, False], [False, False]]


def test_rows_on_one_line_have_no_point_around_which_they_lie():
    assert inside([0.0, 1, 2], [0.0, 1, 2], [0, 1], [0, 1]) == [[False] * 2] * 2


def test_at_a_level_its_own_numbers_count():
    kind = pd.Categorical(list("aab"), categories=["a", "b", "c"])
    truth = [[True, True, False], [False, False, True], [False] * 3]
    assert inside(kind, [0.0, 1, 2], list("abc"), [0, 1, 2]) == truth
    turned = inside([0.0, 1, 2], kind, [0, 1, 2], list("abc"))
    assert np.array(turned).T.tolist() == truth


def test_of_two_categories_the_pairs_that_some_row_has_count():
    one = pd.Categorical(list("aab"), categories=["a", "b"])
    two = pd.Categorical(list("xzy"), categories=["x", "y", "z"])
    is_inside = inside(one, two, list("ab"), list("xyz"))
    assert is_inside == [[True, False, True], [False, True, False]]
