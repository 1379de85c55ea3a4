"""Greenwell's interaction measure: closed forms, categories, and what it refuses."""

import doctest
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPRegressor

from importance_audit.methods.importance import vint as module
from importance_audit.methods.importance.vint import vint
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.models.fit import wrap
from importance_audit.records.dataset_and_model import Dataset
from importance_audit.records.errors import NotApplicable
from importance_audit.records.streams import stream

CUBE = pd.DataFrame(list(product((0.0, 1.0, 2.0), repeat=3)), columns=list("abc"))
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


def vint_values(function, features, data=None, **options):
    """Return the measure, and its share of the spread of the joint curve."""
    data = of(CUBE) if data is None else data
    model = wrap(
        function, name="score", task="regression", features=list(data.features)
    )
    pair = data.with_groups({"pair": features})
    return [
        vint(model, pair, seed=1, standardised=is_share, **options)[0].item()
        for is_share in (False, True)
    ]


def uniform(n_samples, seed=1):
    columns = stream(seed, "test", "", 0).uniform(size=(n_samples, 10))
    return pd.DataFrame(columns, columns=list("abcdefghij"))


def friedman_1(X):
    return (
        10 * np.sin(np.pi * X["a"] * X["b"])
        + 20 * (X["c"] - 0.5) ** 2
        + 10 * X["d"]
        + 5 * X["e"]
    )


def test_a_sum_measures_0():
    assert vint_values(lambda X: 2 * X["a"] - X["b"] + X["c"], PAIR) == [0, 0]


def test_the_surface_of_what_is_nearly_a_sum_has_the_variance_of_its_parts():
    strength, share = vint_values(
        lambda X: 2 * X["a"] - X["b"] + X["a"] * X["b"] / 8 + X["c"], PAIR
    )
    parts = [2 * a - b + a * b / 8 for a, b in product(range(3), repeat=2)]
    assert strength / share == pytest.approx(np.std(parts, ddof=1), rel=1e-12)


def test_a_product_varies_by_the_spread_of_one_grid_times_that_of_the_other():
    strength, share = vint_values(lambda X: 5 * X["a"] * X["b"], PAIR)
    assert strength == pytest.approx(5, rel=1e-12)  # the grid 0, 1, 2 has SD 1
    parts = [5 * a * b for a, b in product(range(3), repeat=2)]
    assert strength / share == pytest.approx(np.std(parts, ddof=1), rel=1e-12)


def test_the_two_directions_are_averaged():
    # The spread over a is 1 at every sign of b, that over b is sqrt(2) |a|.
    X = pd.DataFrame(list(product((0.0, 1.0, 2.0), (-1.0, 1.0))), columns=list("ab"))
    strength, _ = vint_values(lambda X: X["a"] * X["b"], PAIR, of(X))
    assert strength == pytest.approx(np.sqrt(2) / 2, rel=1e-12)


def test_categories_spread_by_a_quarter_of_their_range_or_all_of_it():
    X = CUBE.assign(b=pd.Categorical(np.array(["u", "v", "w"])[CUBE["b"].astype(int)]))
    by_spread = {
        spread: vint_values(
            lambda X: X["a"] * X["b"].cat.codes,
            PAIR,
            of(X),
            categorical_spread=spread,
        )[0]
        for spread in ("quarter_range", "range")
    }
    # over a: SDs 0, 1, 2 with SD 1; over b: ranges 0, 2, 4 with SD 2
    assert by_spread == pytest.approx({"quarter_range": 0.75, "range": 1.5}, rel=1e-12)


def test_the_only_interaction_of_friedman_1_is_the_only_one_found():
    data = of(uniform(60))
    strengths = {
        pair: vint_values(friedman_1, pair, data, n_grid=7)[0]
        for pair in combinations("abcdef", 2)
    }
    others = [value for pair, value in strengths.items() if pair != PAIR]
    assert strengths[PAIR] > 1
    assert max(others) == 0


def test_a_net_fitted_to_friedman_1_interacts_most_in_its_only_pair():
    train = uniform(500)
    y = friedman_1(train) + stream(2, "noise", "", 0).normal(size=500)
    net = MLPRegressor(
        hidden_layer_sizes=(8,),
        solver="lbfgs",
        alpha=0.01,
        max_iter=2000,
        random_state=1,
    )
    model = net.fit(train.to_numpy(), y)
    data = of(uniform(100, seed=3))
    strengths = {
        pair: vint_values(lambda X: model.predict(X.to_numpy()), pair, data, n_grid=9)[
            0
        ]
        for pair in combinations("abcdefghij", 2)
    }
    first, second = sorted(strengths, key=strengths.get, reverse=True)[:2]
    assert first == PAIR
    assert strengths[first] > 2 * strengths[second]


def test_a_weight_of_two_is_a_row_twice():
    X = uniform(30)
    weights = np.arange(30) % 3
    grid = (0.1, 0.4, 0.9)
    twice = X.loc[X.index.repeat(weights)].reset_index(drop=True)
    f = lambda X: X["a"] * X["b"] ** X["c"]  # noqa: E731
    weighted = vint_values(f, PAIR, of(X, weights), grid=grid)
    assert weighted == pytest.approx(
        vint_values(f, PAIR, of(twice), grid=grid), rel=1e-12
    )


def test_the_drawn_rows_do_not_move_the_grid():
    X = uniform(50)
    every = vint_values(lambda X: X["a"] * X["b"], PAIR, of(X))
    few = vint_values(lambda X: X["a"] * X["b"], PAIR, of(X), n_rows=5)
    assert few == pytest.approx(every, rel=1e-12)  # no third column is averaged over


def test_a_level_the_model_cannot_predict_leaves_no_answer():
    kind = pd.Categorical(["u", "v", "u"] * 9, categories=["u", "v", "w"])
    X = CUBE.assign(b=kind)

    def f(X):
        if (X["b"] == "w").any():
            raise ValueError("level w is new")
        return X["a"] * X["b"].cat.codes

    assert np.isnan(vint_values(f, PAIR, of(X))).all()


def test_one_value_only_leaves_no_answer():
    assert np.isnan(
        vint_values(lambda X: X["a"] * X["b"], PAIR, of(CUBE.assign(b=1.0)))[0]
    )


def test_a_regression_has_no_link():
    data = normal_data().with_groups({"pair": ("x1", "x2")})
    with pytest.raises(NotApplicable, match="must predict probabilities for scale"):
        vint(linear_model(2, 0), data, seed=1, scale="link")


def test_its_example_is_true():
    assert doctest.testmod(module).failed == 0
