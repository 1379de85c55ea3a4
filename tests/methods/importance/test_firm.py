"""FIRM: the paper's closed forms, its invariances, its Boolean example."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from tests.cases import for_each
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import (
    correlated,
    numbers,
    refused,
    rows_of,
    score_of,
)

from importance_audit.methods.importance.firm import firm, firm_labels
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.models.fit import wrap

SIGNED = ("auto", "binary", "linear")
SIGNED_ONLY = ("binary", "signs")
"""Estimators that take columns of two values."""
W = np.array([2.0, -1.0, 0.5])
NORMAL = {"estimator": "gaussian", "covariance": "sample"}


def measured(model, data, **options):
    """Return FIRM by group of the one output."""
    raw, baseline = firm(model, data, seed=1, **options)
    assert baseline.tolist() == [[0.0]]
    return raw[:, 0, 0]


def cube(d=3, values=(-1.0, 1.0)):
    """Return every row of so many columns of two values once."""
    return pd.DataFrame(list(product(values, repeat=d)), columns=names(d))


def names(d):
    return [f"x{j + 1}" for j in range(d)]


# --- columns of signs (section 2.4 of the paper) --------------------------------------


@pytest.mark.parametrize("estimator", [*SIGNED, "discrete"])
def test_on_the_full_cube_a_linear_score_measures_its_weights(estimator):
    scores = measured(linear_model(*W), rows_of(cube()), estimator=estimator)
    truth = abs(W) if estimator == "discrete" else W
    assert scores == pytest.approx(truth, abs=1e-12)


def test_a_conjunction_measures_the_sum_of_its_weights_over_a_root_and_xor_nothing():
    """The weight of a negated variable changes its sign; a constant is none."""
    X = cube()
    features = {
        "x1 and x2": (X.x1 > 0) & (X.x2 > 0),
        "not x1 and x3": (X.x1 < 0) & (X.x3 > 0),
        "all": (X > 0).all(axis=1),
        "xor": X.x1 != X.x2,
    }
    model = score_of(lambda X: X[names(3)] @ W + 7)
    scores = measured(model, rows_of(X.assign(**features)))
    truth = [(W[0] + W[1]) / np.sqrt(3), (-W[0] + W[2]) / np.sqrt(3)]
    assert scores[3:] == pytest.approx([*truth, W.sum() / np.sqrt(7), 0], abs=1e-12)


def drawn_signs(n=40):
    """Return correlated columns of signs, far from balanced."""
    u = np.random.default_rng(3).normal(size=(n, 4))
    return pd.DataFrame(
        np.where(u[:, :3] + u[:, 3:] > 0.6, 1.0, -1.0), columns=names(3)
    )


def fitted_to(w, intercept, X):
    """Return the linear regression with these weights."""
    y = X[names(len(w))].to_numpy() @ w + intercept
    return wrap(LinearRegression().fit(X[names(len(w))], y), name="ols")


def test_the_matrix_form_is_the_difference_of_group_means():
    """With the sign that eq. (10) gives, not the printed one; see the constant."""
    X = drawn_signs()
    X = X.assign(held_out=np.where(X.x1 * X.x2 > 0, 1.0, -1.0))
    scores = measured(fitted_to(W, 5.0, X), rows_of(X), estimator="signs")
    s = X[names(3)].to_numpy() @ W
    for value, column in zip(scores, X, strict=True):
        plus = (X[column] > 0).to_numpy()
        gap = s[plus].mean() - s[~plus].mean()
        p = plus.mean()
        assert value == pytest.approx(gap * np.sqrt(p * (1 - p)), abs=1e-12)


def test_two_values_measure_the_same_by_means_slope_matrix_and_covariance():
    X = drawn_signs()
    each = [
        measured(fitted_to(W, 1.0, X), rows_of(X), estimator=name, covariance="sample")
        for name in ("binary", "linear", "signs", "gaussian")
    ]
    assert np.ptp(each, axis=0) == pytest.approx(0, abs=1e-12)


# --- normal columns (sections 2.2 and 2.4.3) ------------------------------------------


@pytest.mark.parametrize("estimator", ["linear", "gaussian"])
def test_a_lasso_that_chose_one_of_two_copies_is_seen_in_both(estimator):
    rho, w = 0.9, 3.0
    data = rows_of(correlated(rho))
    options = {"estimator": estimator, "covariance": "sample"}
    lasso = measured(linear_model(w, 0), data, **options)
    ridge = measured(linear_model(w / 2, w / 2), data, **options)
    assert lasso == pytest.approx([w, rho * w], rel=1e-9)
    assert ridge == pytest.approx([w * (1 + rho) / 2] * 2, rel=1e-9)


def test_normal_columns_measure_covariance_times_weights_over_sd():
    L = np.array([[2, 0, 0], [0.5, 1, 0], [-1, 0.3, 0.2]])
    X = pd.DataFrame(normal_data(1, 1, 1).X.to_numpy() @ L.T, columns=names(3))
    sigma = L @ L.T
    scores = measured(fitted_to(W, 1.0, X), rows_of(X), **NORMAL)
    assert scores == pytest.approx(sigma @ W / np.sqrt(np.diag(sigma)), rel=1e-12)


def test_least_squares_measures_the_correlation_with_the_target_times_its_sd():
    """Eq. (13), where FIRM of the model is FIRM of the labels."""
    X = correlated(0.6) * [0.5, 20] + [0, 5]
    y = np.exp(X["x1"]).to_numpy() + X["x2"].to_numpy() ** 2
    ols = wrap(LinearRegression().fit(X, y), name="ols")
    truth = [np.corrcoef(X[name], y)[0, 1] * y.std() for name in X]
    labels = numbers(firm_labels, None, rows_of(X, y), estimator="linear")
    assert measured(ols, rows_of(X), **NORMAL) == pytest.approx(truth, rel=1e-9)
    slopes = measured(ols, rows_of(X), estimator="linear")
    assert slopes == pytest.approx(truth, rel=1e-9)
    assert labels == pytest.approx(truth, rel=1e-9)


def test_a_curved_score_measures_its_slope_at_the_mean():
    data = normal_data(1, 1)
    model = score_of(lambda X: np.exp(X["x1"] / 2 - X["x2"]), names(2))
    assert measured(model, data, **NORMAL) == pytest.approx([0.5, -1], rel=1e-6)


def test_on_the_link_scale_a_logistic_regression_is_linear():
    data = normal_data(1, -1)
    y = (data.y > 0).astype(int)
    estimator = LogisticRegression().fit(data.X, y)
    model = wrap(estimator, name="logistic")
    scores = measured(model, data, **NORMAL, scale="link")
    assert scores == pytest.approx(estimator.coef_[0], rel=1e-9)


# --- what must not matter -------------------------------------------------------------


@pytest.mark.parametrize(
    "covariance", ["sample", "ledoit_wolf", "oas", "schaefer_strimmer"]
)
@pytest.mark.parametrize(
    "estimator", ["linear", "gaussian", "binned", "lowess", "discrete"]
)
def test_a_rescaled_column_measures_the_same(estimator, covariance):
    X = correlated(0.5, n_samples=60)
    options = {"estimator": estimator, "covariance": covariance}
    plain = measured(linear_model(3, -1), rows_of(X), **options)
    metres = X.assign(x2=X["x2"] * 1000 + 4)
    model = score_of(lambda X: 3 * X["x1"] - (X["x2"] - 4) / 1000, names(2))
    assert measured(model, rows_of(metres), **options) == pytest.approx(plain, rel=1e-6)


@for_each(["binary", "linear", "binned", "lowess", "discrete", "gaussian", "signs"])
def test_the_score_may_shift_and_its_factor_multiplies(estimator):
    X = correlated(0.5, n_samples=40) if estimator not in SIGNED_ONLY else drawn_signs()
    options, w = {"estimator": estimator, "covariance": "sample"}, W[: X.shape[1]]
    plain = measured(fitted_to(w, 0.0, X), rows_of(X), **options)
    other = measured(fitted_to(7 * w, 50.0, X), rows_of(X), **options)
    assert other == pytest.approx(7 * plain, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "estimator", ["auto", "linear", "binned", "lowess", "discrete"]
)
def test_standardised_the_factor_of_the_score_is_gone(estimator):
    data = rows_of(correlated(0.5, n_samples=40))
    options = {"estimator": estimator, "standardised": True}
    plain = measured(linear_model(3, -1), data, **options)
    tenfold = measured(linear_model(30, -10), data, **options)
    assert tenfold == pytest.approx(plain, rel=1e-9)


def test_standardised_the_score_itself_measures_one():
    X = correlated(0.5)
    X = X.assign(score=3 * X.x1 - X.x2)
    scores = measured(
        linear_model(3, -1), rows_of(X), estimator="linear", standardised=True
    )
    assert scores[2] == pytest.approx(1, rel=1e-12)


def test_a_monotone_transform_of_a_column_keeps_its_bins():
    X = correlated(0.5)
    transformed = X.assign(x1=np.exp(X["x1"]), x2=X["x2"] ** 3)
    model = score_of(lambda X: 3 * np.log(X.x1) - np.cbrt(X.x2), names(2))
    plain = measured(linear_model(3, -1), rows_of(X), estimator="binned")
    assert measured(model, rows_of(transformed), estimator="binned") == pytest.approx(
        plain
    )


@pytest.mark.parametrize("estimator", ["auto", "linear", "binned", "discrete"])
def test_a_constant_score_measures_exactly_the_baseline(estimator):
    model = score_of(lambda X: np.full(len(X), 0.1), names(2))
    data = rows_of(correlated(0.5).round(1))
    assert measured(model, data, estimator=estimator).tolist() == [0.0, 0.0]


# --- other estimators -----------------------------------------------------------------


def test_a_line_in_equal_bins_measures_the_spread_of_their_middles():
    X = pd.DataFrame({"x1": np.arange(600.0)})
    scores = measured(linear_model(1.0), rows_of(X), estimator="binned", n_bins=4)
    assert scores == pytest.approx(np.std([75, 225, 375, 525]), rel=1e-12)


def test_lowess_follows_a_line_exactly_and_sees_a_valley_the_slope_misses():
    x = np.linspace(-1, 1, 201)
    data = rows_of(pd.DataFrame({"x1": x}))
    valley = score_of(lambda X: X["x1"] ** 2, ["x1"])
    line = measured(linear_model(2.0), data, estimator="lowess")
    assert line == pytest.approx(2 * x.std(), rel=1e-9)
    assert measured(valley, data, estimator="linear") == pytest.approx(0, abs=1e-12)
    scores = measured(valley, data, estimator="lowess", span=0.1)
    # A local line misses a parabola by at most its bend over the window, h^2 / 4.
    assert scores == pytest.approx((x**2).std(), abs=0.1**2 / 4)


def test_lowess_is_the_mean_of_each_value_where_these_fill_the_neighbourhoods():
    """Of 60 rows of three values a neighbourhood holds 18, all of one value."""
    x, noise = np.tile([0.0, 1.0, 2.0], 20), np.arange(60) % 7
    data = rows_of(pd.DataFrame({"x1": x, "x2": noise}))
    score = score_of(lambda X: X["x1"] ** 2 + X["x2"], ["x1", "x2"])
    options = {"estimator": "lowess", "span": 0.3}
    by_value = measured(score, data, estimator="discrete")
    assert measured(score, data, **options)[0] == pytest.approx(by_value[0], rel=1e-12)


def test_a_category_measures_the_spread_of_its_group_means():
    """Three equal classes of probability .8, .1, .1: variance 2/9 of .7 squared."""
    raw, baseline = firm(level_model(0.8), level_data(), seed=1)
    kind = list(level_data().groups).index("kind")
    assert raw[kind, 0] == pytest.approx([0.7 * np.sqrt(2) / 3] * 3, rel=1e-12)
    assert (raw.shape, baseline.shape) == ((3, 1, 3), (1, 3))


def test_the_later_level_of_two_is_counted_from_the_earlier():
    kind = pd.Categorical(["a", "b", "b", "b"], categories=["b", "a"])
    data = rows_of(pd.DataFrame({"kind": kind}))
    model = score_of(lambda X: X["kind"].cat.codes.to_numpy(float), ["kind"])
    assert measured(model, data) == pytest.approx(np.sqrt(3) / 4)


def test_a_group_of_values_is_one_feature_with_all_of_them():
    """On the cube, of x1 x2 each alone tells nothing, both together all."""
    data = rows_of(cube()).with_groups({"both": ("x1", "x2"), "x1": ("x1",)})
    model = score_of(lambda X: X.x1 * X.x2, names(2))
    assert measured(model, data) == pytest.approx([1, 0], abs=1e-12)


def test_auto_has_no_answer_for_a_group_in_which_every_row_is_a_value():
    """Where "discrete" would measure the spread of the score itself."""
    X, model = correlated(0.5), linear_model(3, -1)
    X = X.assign(few=np.arange(200) % 10)
    data = rows_of(X).with_groups({"all": ("few", "x1"), "few": ("few",)})
    assert np.isnan(measured(model, data)).tolist() == [True, False]
    saturated = measured(model, data, estimator="discrete")
    assert saturated[0] == pytest.approx(model.predict(X).std(), rel=1e-12)


def test_missing_is_a_value_of_its_own():
    x = np.array([np.nan, np.nan, 1.0, 2.0])
    model = score_of(lambda X: np.where(np.isnan(X["x1"]), 1.0, 0.0), ["x1"])
    data = rows_of(pd.DataFrame({"x1": x}))
    for estimator in ("auto", "discrete", "binned"):
        assert measured(model, data, estimator=estimator) == pytest.approx([0.5])


COLUMNS = {
    "two": np.arange(400) % 2,
    "few": np.minimum(np.arange(400) % 14, 9),
    "many": np.sin(np.arange(400)),
    "holed": np.where(np.arange(400) == 3, np.nan, np.cos(np.arange(400))),
    "level": pd.Categorical(list("abcd") * 100),
}
CHOSEN = {"two": "binary", "few": "discrete", "many": "binned", "holed": "binned"}


@pytest.mark.parametrize(
    ("column", "estimator"), [*CHOSEN.items(), ("level", "discrete")]
)
def test_auto_chooses_by_the_column(column, estimator):
    data = rows_of(pd.DataFrame({"x1": np.cos(3.0 * np.arange(400)), **COLUMNS}))
    some = data.with_groups({column: (column,)})
    model = linear_model(1.0)
    scores = measured(model, some, estimator=estimator)
    assert np.isfinite(scores).all()
    assert measured(model, some).tolist() == scores.tolist()


def test_auto_takes_the_slope_where_bins_would_hold_fewer_than_thirty_rows():
    model = linear_model(1.0, 1.0)
    for n, estimator in ((299, "linear"), (300, "binned")):
        data = rows_of(correlated(0.3, n_samples=n))
        scores = measured(model, data, estimator=estimator)
        assert measured(model, data).tolist() == scores.tolist()


def test_auto_has_bins_for_few_rows_too_where_a_value_is_missing():
    X = correlated(0.3, n_samples=50)
    holed = rows_of(X.assign(x2=X["x2"].where(X["x2"] < 1)))
    model = linear_model(1.0)
    scores = measured(model, holed, estimator="binned")
    assert measured(model, holed)[1] == scores[1]
    assert measured(model, holed)[0] != scores[0]


def test_a_missing_level_is_no_level():
    """One level and missing: two groups of rows, but no direction."""
    data = rows_of(
        pd.DataFrame({"x1": [0.0, 1.0], "kind": pd.Categorical(["a", None])})
    )
    model = linear_model(-1.0)
    assert np.isnan(measured(model, data, estimator="binary"))[1]
    assert measured(model, data) == pytest.approx([-0.5, 0.5])


def test_lowess_follows_the_mean_also_where_few_rows_make_it():
    """One row in ten scores 1 above zero: a mean of 0.1, a middle of 0."""
    X = pd.DataFrame({"x1": np.linspace(-1, 1, 400)})
    model = score_of(
        lambda X: np.where(X["x1"] > 0, np.arange(len(X)) % 10 == 0, 0.0), ["x1"]
    )
    scores = measured(model, rows_of(X), estimator="lowess", span=0.3)
    assert scores > 0.05 / 2


NO_ANSWER = {
    "binary": [False, True, True, True, True],
    "linear": [False, False, False, True, True],
    "lowess": [False, False, False, True, True],
    "binned": [False, False, False, False, True],
    "gaussian": [False, False, False, True, True],
    "discrete": [False] * 5,
}


@pytest.mark.parametrize("estimator", NO_ANSWER)
def test_what_an_estimator_does_not_suit_has_no_answer(estimator):
    model = linear_model(1.0)
    data = rows_of(pd.DataFrame({"x1": np.cos(np.arange(400.0)), **COLUMNS}))
    by_column = data.with_groups({name: (name,) for name in COLUMNS})
    scores = measured(model, by_column, estimator=estimator)
    assert np.isnan(scores).tolist() == NO_ANSWER[estimator]


@pytest.mark.parametrize("estimator", ["auto", *NO_ANSWER])
def test_a_constant_column_has_no_answer(estimator):
    data = rows_of(correlated(0.5).assign(same=4.0))
    scores = measured(linear_model(2, 1), data, estimator=estimator)
    assert np.isnan(scores[2])


# --- the Boolean example (section 3.1) ------------------------------------------------

BITS = cube(values=(0.0, 1.0))
TRUTH = np.where((BITS.x1 == 1) | (BITS.x2 == 0), 1.0, -1.0)
PAIRS = {
    f"{'not ' * a}x{j} and {'not ' * b}x{k}": (BITS[f"x{j}"] == 1 - a)
    & (BITS[f"x{k}"] == 1 - b)
    for j, k in ((1, 2), (1, 3), (2, 3))
    for a in (0, 1)
    for b in (0, 1)
}


def boolean_machine():
    """Return the hard-margin machine with kernel (x x')^2 on the truth table."""
    kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.0}
    svc = SVC(C=1e8, tol=1e-10, **kernel).fit(BITS, TRUTH)
    return score_of(lambda X: svc.decision_function(X[names(3)]), names(3))


def test_firm_of_the_machine_is_that_of_its_exact_scores():
    """s = 1, 5/3, -1, 1: x1 and x2 +-2/3; of a pair, its score over all others'."""
    data = rows_of(BITS.assign(**PAIRS))
    by_feature = dict(zip(data.groups, measured(boolean_machine(), data), strict=True))
    truth = {"x1": 2 / 3, "x2": -2 / 3, "x3": 0}
    truth |= {"not x1 and x2": -0.962250, "x1 and not x2": 0.577350}
    truth |= {"x1 and x2": 0.192450, "not x1 and not x2": 0.192450}
    for name, value in truth.items():
        assert by_feature[name] == pytest.approx(value, abs=1e-5), name
    mixed = [abs(by_feature[name]) for name in PAIRS if "3" in name]
    assert mixed == pytest.approx([0.384900] * 8, abs=1e-5)


def test_firm_of_the_labels_finds_the_seven_true_pairs_and_the_false_one():
    data = rows_of(BITS.assign(**PAIRS), TRUTH)
    raw, baseline = firm_labels(None, data, seed=1)
    by_feature = dict(zip(data.groups, raw[:, 0, 0], strict=True))
    assert [by_feature[name] for name in names(3)] == pytest.approx([0.5, -0.5, 0])
    assert by_feature.pop("not x1 and x2") == pytest.approx(-np.sqrt(3) / 2)
    pairs = sorted(value for name, value in by_feature.items() if "and" in name)
    assert pairs == pytest.approx([-1 / np.sqrt(12)] * 4 + [1 / np.sqrt(12)] * 7)
    assert baseline.tolist() == [[0.0]]


# --- labels, messages -----------------------------------------------------------------


def test_labels_of_two_classes_measure_the_share_of_the_positive_one():
    data = rows_of(cube(), (cube().x1 > 0).astype(int), classes=("no", "yes"))
    assert numbers(firm_labels, None, data) == pytest.approx([0.5, 0, 0])


def test_standardised_labels_of_a_copy_of_the_target_measure_one():
    data = rows_of(pd.DataFrame({"x1": [1.0, 2.0, 7.0]}), [1.0, 2.0, 7.0])
    assert numbers(firm_labels, None, data, standardised=True) == pytest.approx(1)


def test_the_weights_of_standardised_labels_count_rows():
    rows, counts = correlated(0.5, n_samples=40), 1 + np.arange(40) % 3
    y = rows["x1"] + rows["x2"] ** 2
    options = {"estimator": "linear", "standardised": True}
    weighted, _ = firm_labels(
        None, rows_of(rows, y=y, weights=counts), seed=1, **options
    )
    again = rows.loc[np.repeat(rows.index, counts)].reset_index(drop=True)
    repeated, _ = firm_labels(
        None, rows_of(again, y=np.repeat(y, counts)), seed=1, **options
    )
    assert weighted == pytest.approx(repeated, rel=1e-12)


def test_the_labels_of_three_classes_are_refused():
    assert refused(firm_labels, None, level_data()) == (
        "Target 'y' must be a number or have two classes for method 'firm_labels'; "
        "it has 3. Ask for FIRM of a model, which has one score per class."
    )


WEIGHTED = rows_of(correlated(0.5), weights=np.arange(200) + 1)
HALVES = score_of(lambda X: np.where(X["x1"] > 0, 1.0, 0.0), ["x1"])
LINE = linear_model(1.0)
REFUSED = [
    (
        *(LINE, WEIGHTED, {"estimator": "lowess"}),
        "Rows must count the same for estimator 'lowess'; they are weighted. Use "
        "estimator 'binned'.",
    ),
    (
        *(LINE, WEIGHTED, {"estimator": "gaussian", "covariance": "oas"}),
        "must count the same for covariance 'oas'; they are weighted.",
    ),
    (
        *(HALVES, rows_of(correlated(0.5) + 1), {"estimator": "gaussian"}),
        "must have a slope at the mean row for estimator 'gaussian'",
    ),
    (
        *(level_model(), level_data(), {"estimator": "gaussian"}),
        "must read complete columns of numbers for estimators 'gaussian' and 'signs'",
    ),
    (LINE, rows_of(cube()), {"estimator": "signs"}, "it reports no weights that"),
    (
        *(fitted_to(W, 0.0, BITS), rows_of(BITS), {"estimator": "signs"}),
        "must read columns of -1 and 1 for estimator 'signs'; it reads other numbers.",
    ),
]


@for_each(REFUSED)
def test_what_cannot_be_asked_says_why(case):
    model, data, options, words = case
    assert words in refused(firm, model, data, **options)
