"""Refits without a feature, with it shuffled, on every subset: closed forms."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from tests.known_answers import level_data
from tests.methods.importance.toys import fitted, of_line, refused

from importance_audit.data.splits import drawn_rows
from importance_audit.methods.importance.drop_column import (
    drop_column,
    permute_refit,
    shapley_refit,
)
from importance_audit.methods.importance.refits import parted
from importance_audit.methods.known_answers import binary_data, normal_data

METHODS = (drop_column, permute_refit, shapley_refit)


def importance(method, data, **options):
    """Return the mean importance of each feature under least squares."""
    raw, baseline = method(of_line(data), data, seed=1, **options)
    return (raw - baseline).mean(axis=1)[:, 0]


def correlated(rho=0.8):
    """Return rows with three columns of which each correlates with the next."""
    data, rest = normal_data(2, 1, 0), np.sqrt(1 - rho**2)
    second = rho * data.X["x1"] + rest * data.X["x2"]
    third = rho * data.X["x2"] + rest * data.X["x3"]
    return replace(data, X=data.X.assign(x2=second, x3=third))


def r_squared(data, columns):
    """Return the share of variance that least squares explains."""
    if not columns:
        return 0.0
    X = np.column_stack([np.ones(data.n_samples), data.X[list(columns)]])
    fit_of_y = X @ np.linalg.lstsq(X, data.y, rcond=None)[0]
    return 1 - np.mean((data.y - fit_of_y) ** 2) / data.y.var()


# --- drop column ----------------------------------------------------------------------


def test_dropping_costs_only_what_the_others_cannot_stand_in_for():
    data = correlated(0.8)
    full = r_squared(data, data.features)
    truth = [
        (full - r_squared(data, [c for c in data.features if c != name])) * data.y.var()
        for name in data.features
    ]
    assert importance(drop_column, data) == pytest.approx(truth, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("method", "noise"),
    # Shuffled, the copy has a slope of variance 1/n: its square exceeds 40/n in one run
    # of 10^9.
    [(drop_column, 1e-9), (permute_refit, 40 / 2000)],
)
def test_of_two_equal_columns_neither_matters_but_both_do(method, noise):
    single = normal_data(2.0, n_samples=2000)
    groups = {"a": ("x1",), "b": ("copy",), "both": ("x1", "copy")}
    data = replace(single, X=single.X.assign(copy=single.X["x1"]), groups=groups)
    measured = importance(method, data)
    assert measured[:2] == pytest.approx([0, 0], abs=noise)
    assert measured[2] > 3


def test_without_any_column_a_model_says_the_training_mean():
    train = normal_data(2, 0)
    test = replace(train, y=train.y + 1, groups={"all": ("x1", "x2")})
    raw, _ = drop_column(of_line(train), test, seed=1, n_repeats=1)
    assert raw.ravel() == pytest.approx([4 + 1 + 1], rel=1e-12)


def test_without_any_column_a_classifier_says_the_shares_of_its_classes():
    data = level_data()
    data = data.with_groups({"all": data.features})
    tree = fitted("tree.DecisionTreeClassifier", data, ("log_loss",))
    raw, _ = drop_column(tree, data, seed=1, n_repeats=1)
    assert raw.ravel() == pytest.approx([np.log(3)], rel=1e-12)


# --- rows held out of each refit ------------------------------------------------------


def test_each_repeat_fits_some_training_rows_and_is_judged_on_the_others():
    train = normal_data(3, -1, 0.5, n_samples=40)
    model, n = of_line(train), []
    fit_on = model.fit_on

    def fit_and_tell(rows, seed):
        n.append(rows.n_samples)
        return fit_on(rows, seed)

    told = replace(model, fit_on=fit_and_tell)
    test = replace(train, y=train.y + 1000)  # never asked
    raw, baseline = drop_column(told, test, seed=1, n_repeats=3, held_out=0.25)
    assert set(n) == {30}
    assert len(np.unique(baseline)) == 3
    assert (raw - baseline)[0].min() > 1

    is_out = drawn_rows(0.25, 1, strata=np.zeros(40).astype(object), part="held out 0")
    X = np.column_stack([np.ones(40), train.X])
    b = np.linalg.lstsq(X[~is_out], train.y[~is_out], rcond=None)[0]
    truth = np.mean((train.y - X @ b)[is_out] ** 2)
    assert baseline[0, 0] == pytest.approx(truth, rel=1e-9)


def test_held_out_rows_keep_the_share_of_each_class_and_their_weights():
    data = binary_data(n_samples=100)
    y = (np.arange(100) < 20).astype(int)
    data = replace(data, y=y, weights=np.where(np.arange(100) % 2, 1.0, 0.0))
    logit = fitted("linear_model.LogisticRegression", data, ("brier",))
    model, judging = parted(logit, data, 0.25, seed=1, repeat=0)
    assert (judging.y.sum(), model.train.y.sum()) == (5, 15)
    raw, _ = drop_column(
        logit, data.with_groups({"all": data.features}), seed=1, held_out=0.25
    )
    weights = judging.weights / judging.weights.sum()
    share = np.average(model.train.y, weights=model.train.weights)
    truth = (weights * (judging.y - share) ** 2).sum()
    assert raw[0, 0, 0] == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize(("share", "n_out"), [(0.01, 0), (0.99, 10)])
def test_a_share_that_leaves_no_row_on_one_side_says_so(share, n_out):
    data = normal_data(2, n_samples=10)
    assert refused(drop_column, of_line(data), data, held_out=share) == (
        "held_out must leave one training row or more on each side; of 10 rows "
        f"{n_out} would be held out. Choose another share."
    )


# --- permute and refit ----------------------------------------------------------------


@pytest.mark.slow
def test_a_shuffled_column_costs_b_squared_and_the_variance_of_its_slope():
    data = normal_data(3, -1)
    raw, baseline = permute_refit(of_line(data), data, seed=1, n_repeats=100)
    values = (raw - baseline)[:, :, 0]
    std_error = values.std(axis=1, ddof=1) / 10
    truth = np.array([9 + (9 + 1) / 200, 1 + (1 + 1) / 200])
    assert (abs(values.mean(axis=1) - truth) < 4 * std_error).all()
    assert (4 * std_error < truth / 5).all()


def test_the_columns_of_a_group_are_shuffled_together():
    data = normal_data(1, 1)
    sums = data.X["x1"] + data.X["x2"]
    pair = data.X.assign(x3=sums - data.X["x1"])[["x1", "x3"]]
    data = replace(data, X=pair, groups={"pair": ("x1", "x3")})
    refits = []
    model = of_line(data)
    spying = replace(model, fit_on=lambda *a: refits.append(a[0]) or model.fit_on(*a))
    permute_refit(spying, data, seed=1, n_repeats=1)
    plain, shuffled = (rows.X.to_numpy() for rows in refits)
    assert (plain != shuffled).any()
    assert sorted(map(tuple, plain)) == sorted(map(tuple, shuffled))


@pytest.mark.slow
def test_the_rows_judged_are_not_shuffled():
    train, test = normal_data(2, 0), normal_data(2, 0, seed=2)
    raw, baseline = permute_refit(of_line(train), test, seed=1, n_repeats=100)
    as_it_is = np.mean((test.y - of_line(train).predict(test.X)) ** 2)
    assert baseline == pytest.approx(np.full((100, 1), as_it_is), rel=1e-12)
    # A slope near 0 says the mean: the loss is the variance of y, not 2 b^2 + noise^2.
    std_error = raw[0].std(ddof=1) / 10
    assert abs(raw[0].mean() - 5 * (1 + 1 / 200)) < 4 * std_error < 0.5


# --- Shapley --------------------------------------------------------------------------


def test_shapley_values_of_least_squares_are_lmg_and_add_up_to_r_squared():
    data = correlated(0.8)
    rises = dict.fromkeys(data.features, 0.0)
    for order in permutations(data.features):
        for k, name in enumerate(order):
            gain = r_squared(data, order[: k + 1]) - r_squared(data, order[:k])
            rises[name] += gain / 6
    measured = importance(shapley_refit, data) / data.y.var()
    assert measured == pytest.approx(list(rises.values()), rel=1e-9)
    assert measured.sum() == pytest.approx(r_squared(data, data.features), rel=1e-12)


def test_shapley_values_add_up_to_the_fall_of_the_loss_from_a_constant():
    train, test = binary_data(), binary_data(seed=2)
    path, losses = "linear_model.LogisticRegression", ("log_loss", "brier")
    model = fitted(path, train, losses)
    raw, _ = shapley_refit(model, test, seed=1)
    p = model.predict(test.X)
    log_loss = -np.mean(np.log(np.where(test.y == 1, p, 1 - p)))
    fall = [np.log(2) - log_loss, 0.25 - np.mean((test.y - p) ** 2)]
    assert raw.sum(axis=(0, 1)) == pytest.approx(fall, rel=1e-9)


def test_a_group_enters_at_once_and_its_share_leaves_the_rest_alone():
    data = normal_data(3, -1, 0.5).with_groups({"pair": ("x3", "x1")})
    assert importance(shapley_refit, data) == pytest.approx([9.25], rel=1e-9)


# --- all three ------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_learner_that_draws_is_seeded_by_repeat_and_the_first_repeats_stay(method):
    data = normal_data(2, 1, n_samples=60)
    forest = fitted("ensemble.RandomForestRegressor", data, ("mse",), n_estimators=3)
    few, _ = method(forest, data, seed=1, n_repeats=1)
    raw, _ = method(forest, data, seed=1, n_repeats=2)
    assert raw[:, :1].tolist() == few.tolist()
    assert (raw[:, 0] != raw[:, 1]).all()
