"""Friedman's H and the PD importance: closed forms, invariances, draws."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model, logistic_model
from tests.methods.importance.toys import numbers, rows_of, score_of, uniform

from importance_audit.methods.importance.h_statistic import (
    at_rows,
    h_squared,
    h_statistic,
)
from importance_audit.methods.importance.pd_importance import pd_importance
from importance_audit.methods.known_answers import linear_model, normal_data

CUBE = pd.DataFrame(list(product((-1.0, 1.0), repeat=4)), columns=list("abcd"))
PAIR = ("a", "b")


def squares_of(model, data, columns, scale="native"):
    """Return numerator and denominator of H squared."""
    dependence_on = partial(at_rows, model, data, scale=scale)
    return h_squared(columns, dependence_on, data.weights)


def h_values(function, features, data=None):
    data = rows_of(CUBE) if data is None else data
    squares = squares_of(score_of(function, data.features), data, features)
    return [float(value) for (value,) in squares]


def joined(X):
    """Return a function of two strong columns that interact, and two weak ones."""
    return X["a"] + X["b"] + X["a"] * X["b"] + 0.01 * X["c"] * X["d"]


def interwoven(X):
    return X["a"] * np.exp(X["b"] * X["c"]) + X["d"]


@pytest.mark.parametrize("features", [("a",), ("a", "b"), ("b", "d"), ("a", "b", "c")])
def test_a_sum_of_functions_of_one_column_measures_exactly_0(features):
    X = uniform(60, 4)
    numerator, denominator = h_values(
        lambda X: np.exp(X["a"]) - 3 * X["b"] ** 2 + np.sin(X["c"]),
        features,
        rows_of(X),
    )
    assert numerator == 0
    assert denominator > 0


def test_a_product_is_an_interaction_of_the_product_of_what_is_centred():
    X, weights = uniform(50, 2), np.arange(1, 51) % 4
    a, b = (X[c] - np.average(X[c], weights=weights) for c in X)
    numerator, _ = h_values(
        lambda X: X["a"] * X["b"], PAIR, rows_of(X, weights=weights)
    )
    mean = np.average(a * b, weights=weights)
    variance = np.average((a * b - mean) ** 2, weights=weights)
    assert numerator == pytest.approx(variance, rel=1e-12)


def test_h_of_a_pair_is_its_share_of_the_joint_dependence():
    numerator, denominator = h_values(joined, PAIR)
    assert numerator == pytest.approx(1, rel=1e-12)
    assert denominator == pytest.approx(3, rel=1e-12)


def test_h_of_three_is_the_share_of_what_no_two_of_them_do():
    numerator, denominator = h_values(
        lambda X: X["a"] + 2 * X["a"] * X["b"] + 3 * X["a"] * X["b"] * X["c"] + X["d"],
        ("a", "b", "c"),
    )
    assert numerator == pytest.approx(9, rel=1e-12)
    assert denominator == pytest.approx(14, rel=1e-12)


def test_three_that_interact_in_pairs_only_measure_exactly_0_together():
    numerator, denominator = h_values(
        lambda X: X["a"] * np.exp(X["b"]) - X["b"] * X["c"] + X["a"] * X["c"] ** 2,
        ("a", "b", "c"),
        rows_of(uniform(60, 4)),
    )
    assert numerator == 0
    assert denominator > 0


def test_h_of_one_feature_is_the_share_of_all_that_it_takes_part_in():
    def f(X):
        return X["a"] * X["b"] + X["a"] * X["b"] * X["c"] + X["b"] * X["d"] + X["a"]

    numerator, denominator = h_values(f, ("a",))
    assert numerator == pytest.approx(2, rel=1e-12)
    assert denominator == pytest.approx(4, rel=1e-12)


@pytest.mark.parametrize("features", [("a",), PAIR, ("a", "b", "c")])
def test_it_is_the_root_of_the_numerator_or_of_h_squared(features):
    data = rows_of(uniform(30, 4)).with_groups({"together": features})
    numerator, denominator = np.sqrt(h_values(interwoven, features, data))
    model = score_of(interwoven, "abcd")
    raw, baseline = h_statistic(model, data, seed=1)
    share, _ = h_statistic(model, data, seed=1, standardised=True)
    assert raw.item() == numerator > 0
    assert share.item() == numerator / denominator
    assert baseline.item() == 0


def h_of_pair(X, weights=None, **options):
    data = rows_of(X, weights=weights).with_groups({"pair": PAIR})
    return h_statistic(score_of(joined, "abcd"), data, **{"seed": 1, **options})[
        0
    ].item()


def test_rows_without_weight_are_never_drawn():
    X, weights = uniform(40, 4), np.arange(40) < 10
    assert h_of_pair(X, weights, n_rows=10) == h_of_pair(X[weights])


def test_a_curve_is_asked_once_for_all_groups_that_it_is_part_of():
    asked = []

    def f(X):
        asked.append(len(X))
        return joined(X)

    n_calls = []
    for groups in (("ab", "ac", "bc"), ("ab", "ac", "bc", "a", "b", "c")):
        data = rows_of(uniform(10, 4)).with_groups({g: tuple(g) for g in groups})
        asked.clear()
        h_statistic(score_of(f, "abcd"), data, seed=1)
        n_calls.append(len(asked))
    assert n_calls[0] == n_calls[1] == 6


def test_each_output_has_its_own_numbers():
    numerator, denominator = squares_of(
        level_model(0.8), level_data(), ("kind", "count")
    )
    assert numerator.tolist() == [0, 0, 0]
    assert denominator == pytest.approx((0.8 - 0.1) ** 2 * 2 / 9, rel=1e-12)


def test_what_is_a_sum_of_logits_interacts_as_a_probability_only():
    model, data = logistic_model(2, -1), normal_data(n_samples=60)
    by_scale = {
        scale: float(squares_of(model, data, ("x1", "x2"), scale)[0][0])
        for scale in ("native", "centred_logit")
    }
    assert by_scale["native"] > 0
    assert by_scale["centred_logit"] == 0


def test_missing_values_are_set_like_any_other():
    X = CUBE.copy()
    X.loc[X["a"] < 0, "a"] = np.nan
    f = lambda X: joined(X.fillna(-1))  # noqa: E731
    assert h_values(f, PAIR, rows_of(X)) == pytest.approx(
        h_values(joined, PAIR), rel=1e-12
    )


# --- PD importance; hstats itself is in test_hstats ----------------------------------


def test_pd_importance_of_a_linear_model_is_its_slope_times_the_deviation():
    """And where columns add up, standardised squares are shares of the variance."""
    data = normal_data(3, -1, 0.5)  # uncorrelated columns of mean 0 and variance 1
    raw, baseline = pd_importance(linear_model(3, -1, 0.5), data, seed=1)
    assert raw[:, 0, 0] == pytest.approx([3, 1, 0.5], rel=1e-9)
    assert baseline.tolist() == [[0.0]]
    shares = numbers(pd_importance, linear_model(3, -1, 0.5), data, standardised=True)
    assert shares**2 == pytest.approx(np.array([9, 1, 0.25]) / 10.25, rel=1e-9)


def test_pd_importance_of_what_two_do_together_counts_for_both_and_their_group():
    product = score_of(lambda X: X["a"] * X["b"], "abcd")
    data = rows_of(CUBE).with_groups({"a": ("a",), "b": ("b",), "both": PAIR})
    assert numbers(pd_importance, product, data) == pytest.approx([1, 1, 1], rel=1e-12)
    alone = data.with_groups({"a": ("a",), "b": ("b",)})  # no effect of its own
    of_h = numbers(h_statistic, product, alone)
    assert numbers(pd_importance, product, alone) == pytest.approx(of_h, rel=1e-12)


def test_pd_importance_of_a_model_that_says_nothing_has_no_share():
    data, silent = normal_data(), linear_model(0, 0)
    assert np.isnan(numbers(pd_importance, silent, data, standardised=True)).all()
