"""Friedman's H: closed forms, invariances, draws, and what it refuses."""

import doctest
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPRegressor

from importance_audit.methods.effects import predictions_at as effect
from importance_audit.methods.importance import h_statistic as module
from importance_audit.methods.importance.h_statistic import (
    at_rows,
    h_squared,
    h_statistic,
)
from importance_audit.methods.known_answers import (
    level_data,
    level_model,
    linear_model,
    logistic_model,
    normal_data,
)
from importance_audit.models.fit import wrap
from importance_audit.records.dataset_and_model import Dataset
from importance_audit.records.errors import NotApplicable
from importance_audit.records.streams import stream

CUBE = pd.DataFrame(list(product((-1.0, 1.0), repeat=4)), columns=list("abcd"))
PAIR = ("a", "b")


def of(X, weights=None):
    return Dataset(
        name="rows",
        X=X,
        y=np.zeros(len(X)),
        task="regression",
        weights=np.ones(len(X)) if weights is None else np.asarray(weights, float),
        groups={name: (name,) for name in X},
        split="test",
        target="y",
        sha256="",
    )


def score(function, features="abcd"):
    return wrap(function, name="score", task="regression", features=list(features))


def squares_of(model, data, columns, scale="native"):
    """Return numerator and denominator of H squared."""
    dependence_on = partial(at_rows, model, data, scale=scale)
    return h_squared(columns, dependence_on, data.weights)


def h_values(function, features, data=None):
    data = of(CUBE) if data is None else data
    squares = squares_of(score(function, data.features), data, features)
    return [float(value) for (value,) in squares]


def uniform_rows(n_samples, n_columns, seed=1):
    generator = stream(seed, "test", "", 0)
    names = list("abcdefghij"[:n_columns])
    return pd.DataFrame(generator.uniform(size=(n_samples, n_columns)), columns=names)


def friedman_1(X):
    return (
        10 * np.sin(np.pi * X["a"] * X["b"])
        + 20 * (X["c"] - 0.5) ** 2
        + 10 * X["d"]
        + 5 * X["e"]
    )


def joined(X):
    """Return a function of two strong columns that interact, and two weak ones."""
    return X["a"] + X["b"] + X["a"] * X["b"] + 0.01 * X["c"] * X["d"]


def interwoven(X):
    return X["a"] * np.exp(X["b"] * X["c"]) + X["d"]


@pytest.mark.parametrize("features", [("a",), ("a", "b"), ("b", "d"), ("a", "b", "c")])
def test_a_sum_of_functions_of_one_column_measures_exactly_0(features):
    X = uniform_rows(60, 4)
    numerator, denominator = h_values(
        lambda X: np.exp(X["a"]) - 3 * X["b"] ** 2 + np.sin(X["c"]), features, of(X)
    )
    assert numerator == 0
    assert denominator > 0


def test_a_feature_the_model_ignores_has_no_joint_dependence():
    assert h_values(lambda X: X["a"] * X["b"], ("c", "d")) == [0, 0]
    assert h_values(lambda X: X["a"] * X["b"], ("c",)) == [0, 1]


def test_a_product_is_an_interaction_of_the_product_of_what_is_centred():
    X, weights = uniform_rows(50, 2), np.arange(1, 51) % 4
    a, b = (X[c] - np.average(X[c], weights=weights) for c in X)
    numerator, _ = h_values(lambda X: X["a"] * X["b"], PAIR, of(X, weights))
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
        of(uniform_rows(60, 4)),
    )
    assert numerator == 0
    assert denominator > 0


def test_h_of_one_feature_is_the_share_of_all_that_it_takes_part_in():
    def f(X):
        return X["a"] * X["b"] + X["a"] * X["b"] * X["c"] + X["b"] * X["d"] + X["a"]

    numerator, denominator = h_values(f, ("a",))
    assert numerator == pytest.approx(2, rel=1e-12)
    assert denominator == pytest.approx(4, rel=1e-12)


def test_a_weak_pair_can_lead_the_ratio_but_not_the_numerator():
    strong, weak = (h_values(joined, features) for features in (PAIR, ("c", "d")))
    assert weak[0] / weak[1] == pytest.approx(1, rel=1e-9)
    assert strong[0] / strong[1] == pytest.approx(1 / 3, rel=1e-9)
    assert strong[0] == pytest.approx(1e4 * weak[0], rel=1e-9)


def test_the_only_interaction_of_friedman_1_is_the_only_one_found():
    data = of(uniform_rows(80, 6))
    numerators = {
        pair: h_values(friedman_1, pair, data)[0] for pair in combinations("abcdef", 2)
    }
    assert [pair for pair, numerator in numerators.items() if numerator > 0] == [PAIR]


def test_a_net_fitted_to_friedman_1_interacts_most_in_its_only_pair():
    train = uniform_rows(500, 10)
    y = friedman_1(train) + stream(2, "noise", "", 0).normal(size=500)
    net = MLPRegressor(
        hidden_layer_sizes=(8,),
        solver="lbfgs",
        alpha=0.01,
        max_iter=2000,
        random_state=1,
    )
    model = net.fit(train.to_numpy(), y)
    data = of(uniform_rows(100, 10, seed=3))
    strengths = {
        pair: h_values(lambda X: model.predict(X.to_numpy()), pair, data)[0]
        for pair in combinations("abcdefghij", 2)
    }
    first, second = sorted(strengths, key=strengths.get, reverse=True)[:2]
    assert first == PAIR
    assert strengths[first] > 4 * strengths[second]  # twice, as roots


@pytest.mark.parametrize("features", [("a",), PAIR, ("a", "b", "c")])
def test_a_weight_of_two_is_a_row_twice(features):
    X = uniform_rows(30, 3)
    weights = np.arange(30) % 3
    twice = X.loc[X.index.repeat(weights)].reset_index(drop=True)

    def f(X):
        return X["a"] * np.exp(X["b"] + X["c"]) - X["a"] * X["c"]

    weighted = h_values(f, features, of(X, weights))
    assert weighted == pytest.approx(h_values(f, features, of(twice)), rel=1e-12)


def test_units_follow_the_square_of_the_prediction():
    values = h_values(joined, PAIR)
    scaled = h_values(lambda X: 7 - 4 * joined(X), PAIR)
    assert scaled == pytest.approx([16 * value for value in values], rel=1e-12)


@pytest.mark.parametrize("features", [PAIR, ("a", "b", "c")])
def test_the_order_of_features_changes_nothing(features):
    def f(X):
        return X["a"] * np.exp(X["b"] + X["c"])

    X = uniform_rows(40, 4)
    values = h_values(f, features, of(X))
    assert h_values(f, features[::-1], of(X)) == pytest.approx(values, rel=1e-12)


def test_how_many_points_one_call_asks_changes_nothing(monkeypatch):
    data = of(uniform_rows(40, 4))
    many = [h_values(joined, features, data) for features in (PAIR, ("a",))]
    monkeypatch.setattr(effect, "MAX_BYTES", 3 * int(data.X.memory_usage().sum()))
    few = [h_values(joined, features, data) for features in (PAIR, ("a",))]
    assert np.array(few) == pytest.approx(np.array(many), rel=1e-12)


@pytest.mark.parametrize("features", [("a",), PAIR, ("a", "b", "c")])
def test_it_is_the_root_of_the_numerator_or_of_h_squared(features):
    data = of(uniform_rows(30, 4)).with_groups({"together": features})
    numerator, denominator = np.sqrt(h_values(interwoven, features, data))
    model = score(interwoven)
    raw, baseline = h_statistic(model, data, seed=1)
    share, _ = h_statistic(model, data, seed=1, standardised=True)
    assert raw.item() == numerator > 0
    assert share.item() == numerator / denominator
    assert baseline.item() == 0


def h_of_pair(X, weights=None, **options):
    data = of(X, weights).with_groups({"pair": PAIR})
    return h_statistic(score(joined), data, **{"seed": 1, **options})[0].item()


def test_rows_are_drawn_where_there_are_more_and_the_seed_names_them():
    X = uniform_rows(40, 4)
    assert h_of_pair(X, n_rows=10) != h_of_pair(X, n_rows=10, seed=2)
    assert h_of_pair(X, n_rows=10) == h_of_pair(X, n_rows=10)
    assert h_of_pair(X, n_rows=40) == h_of_pair(X, n_rows=None)


def test_rows_without_weight_are_never_drawn():
    X, weights = uniform_rows(40, 4), np.arange(40) < 10
    assert h_of_pair(X, weights, n_rows=10) == h_of_pair(X[weights])


def test_a_curve_is_asked_once_for_all_groups_that_it_is_part_of():
    asked = []

    def f(X):
        asked.append(len(X))
        return joined(X)

    n_calls = []
    for groups in (("ab", "ac", "bc"), ("ab", "ac", "bc", "a", "b", "c")):
        data = of(uniform_rows(10, 4)).with_groups({g: tuple(g) for g in groups})
        asked.clear()
        h_statistic(score(f), data, seed=1)
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
    assert h_values(f, PAIR, of(X)) == pytest.approx(h_values(joined, PAIR), rel=1e-12)


def test_bad_questions_are_refused_in_whole_sentences():
    data, model = normal_data(), linear_model(2, 0)
    with pytest.raises(ValueError, match=r"^n_rows must be at least 2; 1 was gi"):
        h_statistic(model, data, seed=1, n_rows=1)
    with pytest.raises(NotApplicable, match="must predict probabilities for scale"):
        h_statistic(model, data, seed=1, scale="link")


def test_its_example_is_true():
    assert doctest.testmod(module).failed == 0
