"""SAGE: the definition order by order, closed forms, axioms, and when it stops."""

from dataclasses import replace
from functools import cache
from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from tests.cases import for_each
from tests.known_answers import level_data, level_model, logistic_model
from tests.methods.importance.toys import (
    correlated,
    curved,
    refused,
    rows_of,
    score_of,
)

from importance_audit.methods.importance import sage as module
from importance_audit.methods.importance.sage import Stop, is_settled, sage
from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.methods.trees.routes import reporting_routes
from importance_audit.records.losses import evaluate

DATA = normal_data(3, -1, 0.5, n_samples=40)
ALL = {"algorithm": "exact", "n_background": 1000}
"""Every coalition, every row in the place of every other: nothing is drawn."""


def of_score(function, features=DATA.features, losses=("mse",)):
    return score_of(function, features, name="m").with_losses(losses)


CURVED = of_score(curved)


def values(model, data=DATA, *, seed=1, **options):
    """Return the mean of the values, (n_groups, n_losses)."""
    raw, baseline = sage(model, data, seed=seed, **options)
    assert not baseline.any()
    assert raw.shape[1:] == baseline.shape
    return raw.mean(axis=1)


# --- the definition ------------------------------------------------------------------


def loss_knowing(model, data, names):
    """Return the losses of the mean prediction over all rows, row by row."""
    shares = data.weights / data.weights.sum()
    means = []
    for i in range(data.n_samples):
        rows = data.X.copy()
        for name in names:
            rows[name] = data.X[name].iloc[[i] * data.n_samples].array
        means.append(shares @ model.predict(rows))
    return evaluate(model.losses, data.y, np.array(means), data.weights)


def by_definition(model, data):
    """Return the mean fall of the losses at the turn of each group, over all orders."""
    groups = list(data.groups)
    total = dict.fromkeys(groups, 0.0)
    knowing = cache(lambda names: loss_knowing(model, data, names))
    for order in permutations(groups):
        known = frozenset()
        for name in order:
            more = known.union(data.groups[name])
            total[name] = total[name] + (knowing(known) - knowing(more))
            known = more
    return np.array([total[name] for name in groups]) / factorial(len(groups))


SMALL = normal_data(3, -1, 0.5, 0.2, n_samples=7)
QUESTIONS = {
    "squares": (of_score(curved, losses=("mse", "mae", "rmse")), DATA),
    "four": (of_score(lambda X: curved(X) * X["x4"], SMALL.features), SMALL),
    "weights": (CURVED, replace(DATA, weights=1.0 + np.arange(40) % 4)),
    "group": (CURVED, DATA.with_groups({"a": ("x3", "x1"), "b": ("x2",)})),
    "binary": (
        logistic_model(2, -1, losses=("one_minus_auc", "log_loss", "brier")),
        binary_data(n_samples=20),
    ),
    "levels": (
        level_model().with_losses(("log_loss", "one_minus_auc_ovo", "brier")),
        level_data().with_groups({name: (name,) for name in level_model().features}),
    ),
}


@for_each(QUESTIONS)
def test_values_are_the_mean_fall_of_the_loss_over_all_orders(name):
    """Whatever orders are drawn, the falls of each add up to the same."""
    model, data = QUESTIONS[name]
    truth = by_definition(model, data)
    assert values(model, data, **ALL) == pytest.approx(truth, rel=1e-9, abs=1e-12)
    sampled = values(model, data, **ALL | {"algorithm": "sampling"})
    total = pytest.approx(truth.sum(axis=0), rel=1e-9, abs=1e-12)
    assert sampled.sum(axis=0) == total


# --- closed forms ---------------------------------------------------------------------


def test_of_any_additive_model_it_is_the_covariance_of_a_term_with_2y_less_f():
    """Whatever the columns: the share in common is halved between two terms."""
    X = DATA.X.assign(x2=DATA.X["x2"] + 0.8 * DATA.X["x1"])
    data = replace(DATA, X=X)
    terms = [X["x1"] ** 2, -np.exp(X["x2"]), 0.5 * X["x3"]]
    model = of_score(lambda X: X["x1"] ** 2 - np.exp(X["x2"]) + 0.5 * X["x3"])
    other = 2 * data.y - sum(terms)
    truth = [np.cov(term, other, ddof=0)[0, 1] for term in terms]
    assert values(model, data, **ALL)[:, 0] == pytest.approx(truth, rel=1e-9)


def test_with_few_draws_a_conditional_value_is_too_large_by_one_part_in_their_number():
    """A mean of B draws adds var(f | what is known) / B to the loss, divisor n - 1."""
    data, n_draws = rows_with(0.6, 2.0, -0.5), 20
    options = {"background": "gaussian", "n_background": n_draws}
    drawn = [
        values(linear_model(2.0, -0.5), data, seed=seed, **options)[:, 0]
        for seed in range(100)
    ]
    error = np.std(drawn, axis=0, ddof=1) / 10
    shares = shares_of_variance(0.6, 2.0, -0.5)
    truth = shares * (1 + 200 / 199 / n_draws)
    assert (abs(np.mean(drawn, axis=0) - truth) < 4 * error).all()
    assert 5 * error[0] < shares[0] / n_draws


# --- the axioms -----------------------------------------------------------------------


def test_a_row_of_weight_zero_is_neither_measured_nor_drawn():
    weights = np.r_[1.0, np.zeros(39)]
    for n_background in (1, 100):
        data = replace(DATA, weights=weights)
        measured = values(CURVED, data, n_background=n_background)
        assert measured == pytest.approx(np.zeros((3, 1)), abs=1e-12)


# --- draws ----------------------------------------------------------------------------


def test_orders_estimate_the_value_over_all_coalitions_of_the_same_game():
    for background in ("rows", "gaussian"):
        game = {"background": background, "n_background": 10, "n_rows": 20}
        exact = values(CURVED, algorithm="exact", **game)
        options = {"algorithm": "sampling", "n_repeats": 400, "tolerance": 0}
        raw, _ = sage(CURVED, DATA, seed=1, **options, **game)
        error = raw.std(axis=1, ddof=1) / 20
        assert raw.shape[1] == 400
        assert (abs(raw.mean(axis=1) - exact) < 4 * error).all()
        assert (error < 0.2 * abs(exact).max()).all()


def test_each_coalition_draws_numbers_of_its_own():
    seen = []

    def predict(X):
        seen.append(X["x3"].to_numpy(copy=True))
        return X["x1"] + X["x2"] + X["x3"]

    values(of_score(predict), background="gaussian", n_background=3)
    drawn = [np.setdiff1d(x3, DATA.X["x3"]) for x3 in seen]
    drawn = np.concatenate([numbers for numbers in drawn if len(numbers)])
    white = np.round(drawn, 6)  # the columns tell nothing about each other
    assert len(drawn) == 4 * 40 * 3
    assert len(np.unique(white)) > 0.99 * len(white)


@for_each(
    [
        ({}, True),
        ({"n_rows": 40, "n_background": 40, "algorithm": "exact"}, True),
        ({"algorithm": "sampling"}, False),
        ({"n_rows": 39}, False),
        ({"n_background": 39}, False),
        ({"background": "gaussian"}, False),
    ]
)
def test_it_says_so_if_nothing_was_drawn(case):
    options, is_exact = case
    assert sage(CURVED, DATA, seed=1, **options).is_exact == is_exact


# --- when it stops --------------------------------------------------------------------


def gains(*columns):
    """Return the gains of players in each order, under one loss."""
    return np.array(columns, dtype=float).T[:, :, np.newaxis]


def test_it_stops_once_the_largest_error_is_below_its_share_of_the_range():
    """The errors are sqrt(1/3) / 2 and 0, divided by n - 1; the range is 2.5."""
    drawn = gains([3, 2, 3, 2], [0, 0, 0, 0])
    share = np.sqrt(1 / 3) / 2 / 2.5
    assert is_settled(drawn, Stop(share * 1.001))
    assert not is_settled(drawn, Stop(share * 0.999))
    share = np.sqrt(1 / 4) / 2 / 2.5
    assert is_settled(drawn, Stop(share * 1.001, ddof=0))
    assert not is_settled(drawn, Stop(share * 0.999, ddof=0))


def test_every_loss_must_be_settled():
    settled, open_still = gains([3, 3, 3], [0, 0, 0]), gains([3, 2, 9], [0, 0, 0])
    both = np.concatenate([settled, open_still], axis=2)
    assert is_settled(settled, Stop(0.01))
    assert not is_settled(both, Stop(0.01))
    assert not is_settled(gains([np.nan, 1, 1], [0, 0, 0]), Stop(0.01))


def test_orders_that_all_give_the_same_are_settled_unless_all_are_asked_for():
    same = np.tile([0.1, 0.1], (10, 1))[:, :, np.newaxis]
    assert is_settled(same, Stop(0.01))
    assert not is_settled(same, Stop(0))
    # equal means are not equal orders: x1 and x2 of a model of their product
    assert not is_settled(gains([0, 1, 0, 1], [1, 0, 1, 0]), Stop(0.01))


def test_the_values_it_stops_at_meet_the_rule_and_ten_orders_before_they_did_not():
    options = {"algorithm": "sampling", "n_background": 20, "n_repeats": 2000}
    raw, _ = sage(CURVED, DATA, seed=1, tolerance=0.004, **options)
    orders = raw.transpose(1, 0, 2)
    n = len(orders)
    assert n % 10 == 0
    assert 10 < n < 2000
    assert is_settled(orders, Stop(0.004))
    assert not any(is_settled(orders[:k], Stop(0.004)) for k in range(10, n, 10))


def test_no_more_than_the_orders_asked_for_are_drawn():
    options = {"algorithm": "sampling", "tolerance": 1e-9}
    assert sage(CURVED, DATA, seed=1, n_repeats=13, **options).raw.shape[1] == 13


def test_auto_is_exact_where_that_asks_about_no_more_coalitions():
    """Of three players there are 6 between none and all, and 2 of them in an order."""
    assert [module.is_exact("auto", 3, n) for n in (2, 3)] == [False, True]
    assert [module.is_exact("auto", n, 10**6) for n in (12, 13)] == [True, False]
    assert sage(CURVED, DATA, seed=1, n_repeats=2).raw.shape[1] == 2
    assert sage(CURVED, DATA, seed=1, n_repeats=3).raw.shape[1] == 1


# --- what it costs --------------------------------------------------------------------


def counted(**options):
    """Return how many rows were predicted, and how many were reported."""
    sizes, routes = [], []

    def predict(X):
        sizes.append(len(X))
        return curved(X)

    with reporting_routes(routes.append):
        sage(of_score(predict), DATA, seed=1, **options)
    return sum(sizes), [route.n_predictions for route in routes]


def test_the_predictions_that_are_reported_are_those_that_are_made():
    """Of n rows: n of all columns known, n times the draws of any other coalition."""
    made, reported = counted(algorithm="exact", n_background=10)
    assert (made, reported) == (40 + 7 * 400, [made])
    made, reported = counted(algorithm="exact", n_background=10, n_rows=8)
    assert (made, reported) == (8 + 7 * 80, [made])
    made, reported = counted(algorithm="exact", background="gaussian", n_background=5)
    assert (made, reported) == (40 + 7 * 200, [made])

    # A coalition that was met before is not asked about again.
    made, reported = counted(algorithm="sampling", n_background=10, tolerance=0)
    assert (made, reported) == (40 + 7 * 400, [made])
    made, reported = counted(algorithm="sampling", n_background=10, n_repeats=1)
    assert (made, reported) == (40 + 3 * 400, [made])

    made, reported = counted(stream="xplainfi", n_repeats=4, background="gaussian")
    assert (made, reported) == (40 + (1 + 4 * 2) * 4000, [made])


# --- conditional on what is known -----------------------------------------------------


def rows_with(r, *slopes):
    """Return rows of two columns with this correlation, and y = slopes @ x."""
    X = correlated(r)
    return rows_of(X, X.to_numpy() @ slopes)


def shares_of_variance(r, b, c):
    """Return the values: v(j) = (b_j + b_k r)^2, and v of both the variance of f."""
    both, first, second = (
        b * b + c * c + 2 * r * b * c,
        (b + c * r) ** 2,
        (c + b * r) ** 2,
    )
    return np.array([first + both - second, second + both - first]) / 2


@pytest.mark.parametrize("slopes", [(2.0, -0.5), (2.0, 0.0)])
def test_of_a_linear_model_of_normal_columns_it_is_the_share_of_explained_variance(
    slopes,
):
    """Also of a column that is not used, which tells about the other."""
    data = rows_with(0.6, *slopes)
    options = {"algorithm": "exact", "n_background": 2000}
    model, truth = linear_model(*slopes), shares_of_variance(0.6, *slopes)
    conditional = values(model, data, background="gaussian", **options)[:, 0]
    assert conditional == pytest.approx(truth, abs=0.02)
    assert (abs(values(model, data, **options)[:, 0] - truth) > 0.2).all()


def test_the_model_gets_whole_numbers_where_the_column_holds_them():
    X = DATA.X.assign(x1=np.arange(40, dtype=np.uint8) % 3)
    seen = []

    def predict(X):
        seen.append(X["x1"].to_numpy(copy=True))
        return X["x1"] + X["x2"]

    values(of_score(predict), replace(DATA, X=X), background="gaussian")
    numbers = np.concatenate(seen)
    assert numbers.dtype.kind == "i"
    assert numbers.min() < 0  # not 255
    assert numbers.max() < 20


# --- refusals -------------------------------------------------------------------------


LEVELS = replace(DATA, X=DATA.X.assign(x2=pd.Categorical(list("ab") * 20)))
GAPS = replace(DATA, X=DATA.X.assign(x3=DATA.X["x3"].where(DATA.X["x3"] > 0)))


def test_an_infinite_loss_is_not_measured():
    """A model that is sure is wrong for some rows, whatever else is known."""
    model = logistic_model(1, 1, losses=("log_loss", "brier"))
    sure = replace(model, predict=lambda X: 1.0 * (X.sum(axis=1) > 0).to_numpy())
    data = binary_data(n_samples=20)
    measured = values(sure, data, **ALL)
    assert not np.isfinite(measured[:, 0]).any()
    assert np.isfinite(measured[:, 1]).all()


REFUSED = [
    (
        {"background": "gaussian", "data": LEVELS},
        "Data 'normal' must have complete columns of numbers for draws from a normal; "
        "these are categories, or have missing values: 'x2'. Use background 'rows'.",
    ),
    ({"background": "gaussian", "data": GAPS}, "these have missing values: 'x3'."),
    (
        {
            "background": "gaussian",
            "data": replace(DATA, weights=np.r_[1.0, np.zeros(39)]),
        },
        "must have at least two rows with a weight for draws from a normal.",
    ),
    ({"stream": "xplainfi", "algorithm": "exact"}, "an algorithm that samples to"),
]


@for_each(REFUSED)
def test_what_cannot_be_asked_is_refused(case):
    options, words = case
    question = {"model": CURVED, "data": DATA, **options}
    model, data = question.pop("model"), question.pop("data")
    assert words in refused(sage, model, data, **question)
