"""Accumulated local effects: closed forms and whole messages; test_iml has R's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import refused

from importance_audit.methods.effects.ale import ale
from importance_audit.methods.known_answers import linear_model, normal_data

from .toys import model_of, rows_of


def product(X):
    """Return the product of both columns."""
    return (X["x1"] * X["x2"]).to_numpy()


def test_quantiles_are_values_that_a_whole_share_of_the_rows_does_not_exceed():
    X = pd.DataFrame({"x1": np.arange(1.0, 51), "x2": 0.0})
    data = rows_of(X)
    grid, _ = ale(linear_model(1, 0), data, "x1", seed=1, n_grid=6)
    assert grid.tolist() == [1, 10, 20, 30, 40, 50]
    grid, _ = ale(linear_model(1, 0), data, "x1", seed=1, n_grid=4)
    assert grid.tolist() == [1, 17, 34, 50]


def test_a_product_rises_by_the_mean_of_the_other_where_the_rows_are():
    # Two rows lie in [0, 1], one in each interval after.
    X = pd.DataFrame({"x1": [0.0, 1, 2, 3], "x2": [2.0, 4, 6, 8]})
    _, values = ale(model_of(product), rows_of(X, [3, 1, 1, 1]), "x1", seed=1)
    assert np.diff(values[:, 0]) == pytest.approx([(3 * 2 + 4) / 4, 6, 8])


def test_the_mean_over_the_rows_is_zero_at_the_middle_of_their_intervals():
    X = pd.DataFrame({"x1": [0.0, 1, 2, 4], "x2": 0.0})
    grid, values = ale(linear_model(1, 0), rows_of(X, [1, 1, 1, 2]), "x1", seed=1)
    assert values[:, 0] == pytest.approx(grid - (0.5 + 0.5 + 1.5 + 3 + 3) / 5)


def test_rows_without_weight_or_value_are_not_moved():
    X = pd.DataFrame({"x1": [1e6, np.nan, *range(18)], "x2": 0.0})
    data = rows_of(X, np.r_[0.0, np.ones(19)])
    grid, _ = ale(linear_model(1, 0), data, "x1", seed=1)
    assert grid.tolist() == list(range(18))


def test_a_level_is_asked_in_its_order_and_only_if_a_row_has_it():
    data = level_data()
    kind = data.X["kind"].cat.add_categories(["unseen"])
    relevelled = replace(data, X=data.X.assign(kind=kind))
    grid, values = ale(level_model(0.8), relevelled, "kind", seed=1)
    assert grid.tolist() == ["a", "b", "c"]
    assert values == pytest.approx(0.7 * np.eye(3) - 0.7 / 3)


def test_whole_numbers_are_asked_at_a_broken_point_as_it_is():
    model = replace(linear_model(1), predict=lambda X: X["count"].to_numpy(float))
    _, values = ale(model, level_data(), "count", seed=1, grid=(0, 1.5, 4))
    assert np.diff(values[:, 0]) == pytest.approx([1.5, 2.5])


def test_no_row_between_two_points_is_refused():
    question = linear_model(1, 0), normal_data(), "x1"
    assert refused(ale, *question, grid=(-1.0, 1.0, 90.0, 91.0)) == (
        "Column 'x1' must have a row between all points of the grid for accumulated "
        "local effects; it has none from 90.0 to 91.0."
    )


@pytest.mark.parametrize(
    ("x1", "reason"),
    [
        (1.0, "two values for accumulated local effects; it has 1."),
        (
            2**62 + np.arange(200) % 2,
            "two values that differ as float64 for accumulated local effects; all are "
            "4.611686018427388e+18.",
        ),
    ],
    ids=["constant", "one float"],
)
def test_a_column_of_one_value_has_no_local_effect(x1, reason):
    data = rows_of(normal_data().X.assign(x1=x1))
    sentence = refused(ale, linear_model(1), data, "x1")
    assert sentence == f"Column 'x1' must have {reason}"
