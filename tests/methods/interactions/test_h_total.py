"""The share of a prediction that is not a sum: closed forms, weights, refusals."""

import doctest
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from importance_audit.methods.interactions import h_total as module
from importance_audit.methods.interactions.h_statistic import at_rows
from importance_audit.methods.interactions.h_total import h_total
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.models.fit import wrap
from importance_audit.records.errors import NotApplicable

NAMES = ("a", "b", "c")
CUBE = pd.DataFrame(list(product((-1.0, 1.0), repeat=3)), columns=list(NAMES))


def of(X, weights=None):
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    return replace(normal_data(), X=X, y=np.zeros(len(X)), weights=weights)


def h_values(function, features=NAMES, data=None, **options):
    model = wrap(function, name="score", task="regression", features=list(NAMES))
    parts = h_total(model, data or of(CUBE), features, seed=1, **options)
    return [float(value) for (value,) in parts]


def joined(X):
    return 3 * X["a"] + 2 * X["a"] * X["b"] + X["a"] * X["b"] * X["c"]


def uniform_rows():
    X = np.random.default_rng(1).uniform(size=(60, 3))
    return pd.DataFrame(X, columns=list(NAMES))


def test_it_is_the_variance_that_no_curve_of_one_column_shows():
    assert h_values(joined) == pytest.approx([4 + 1, 9 + 4 + 1], rel=1e-12)


def test_a_sum_of_functions_of_one_column_measures_exactly_0():
    numerator, denominator = h_values(
        lambda X: np.exp(X["a"]) - 3 * X["b"] ** 2 + np.sin(X["c"]),
        data=of(uniform_rows()),
    )
    assert numerator == 0
    assert denominator == pytest.approx(
        np.var(
            np.exp(uniform_rows()["a"])
            - 3 * uniform_rows()["b"] ** 2
            + np.sin(uniform_rows()["c"])
        )
    )


def test_what_a_column_left_out_does_by_itself_is_not_shown():
    values = h_values(lambda X: X["a"] + 2 * X["b"], ("a",))
    assert values == pytest.approx([4, 5], rel=1e-12)


def test_a_weight_of_two_is_a_row_twice():
    X, weights = uniform_rows(), np.arange(60) % 3
    twice = X.loc[X.index.repeat(weights)].reset_index(drop=True)
    f = lambda X: np.exp(X["a"] + X["b"] * X["c"])  # noqa: E731
    weighted = h_values(f, data=of(X, weights))
    assert weighted == pytest.approx(h_values(f, data=of(twice)), rel=1e-12)


def test_units_follow_the_square_of_the_prediction():
    scaled = h_values(lambda X: 7 - 4 * joined(X))
    assert scaled == pytest.approx(
        [16 * value for value in h_values(joined)], rel=1e-12
    )


def test_rows_are_drawn_where_there_are_more():
    data = of(uniform_rows())
    few, every = (h_values(joined, data=data, n_rows=n) for n in (10, None))
    assert few != every
    assert h_values(joined, data=data, n_rows=60) == every


def test_curves_handed_in_are_used_as_they_are():
    model, data = linear_model(2, 1), normal_data()
    curve = at_rows(model, data, ("x1",), scale="native")
    curve = curve._replace(own=0 * curve.own)
    numerator, _ = h_total(model, data, ("x1", "x2"), seed=1, curves={"x1": curve})
    assert numerator.item() == pytest.approx(4 * data.X["x1"].var(ddof=0))


@pytest.mark.parametrize("features", [(), ("x1", "x1")])
def test_columns_are_named_once_or_refused(features):
    message = f"features must be columns, each once; {features!r} was given."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        h_total(linear_model(1, 0), normal_data(), features, seed=1)


def test_a_regression_has_no_link():
    with pytest.raises(NotApplicable, match="must predict probabilities for scale"):
        h_total(linear_model(1, 0), normal_data(), ("x1",), seed=1, scale="link")


def test_its_example_is_true():
    assert doctest.testmod(module).failed == 0
