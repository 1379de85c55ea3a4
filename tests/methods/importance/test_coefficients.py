"""Coefficients by their spreads, raw weights, and the monomials of a kernel."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR
from tests.cases import for_each
from tests.methods.importance.toys import (
    fitted,
    numbers,
    of_three_classes,
    of_two_classes,
    refused,
)

from importance_audit.methods.importance.coefficients import (
    raw_weights,
    standardised_coefficient,
)
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap

WHITE = normal_data(3, -1, 0.5, n_samples=100)


def of(method, model, data=WHITE, **options):
    """Return one number per group."""
    return numbers(method, model, data, **options)


def with_levels(*, weighted=False):
    """Return rows with a category of three levels, which adds 0, 2 and -1 to y."""
    g = pd.Categorical.from_codes(np.arange(100) % 3, ["a", "b", "c"])
    y = WHITE.y + np.array([0, 2, -1])[g.codes]
    X = WHITE.X.assign(g=g)
    groups = {name: (name,) for name in X.columns}
    weights = 1.0 + np.arange(100) % 5 if weighted else WHITE.weights
    return replace(WHITE, X=X, y=y, groups=groups, weights=weights)


def test_a_number_or_category_measures_the_spread_of_what_it_adds_over_the_targets():
    train = with_levels(weighted=True)
    model = fitted("linear_model.LinearRegression", train)
    slopes = model.estimator.coef_
    levels = np.array([0.0, *slopes[-2:]])[train.X["g"].cat.codes]
    added = [*(train.X.iloc[:, :3] * slopes[:3]).T.to_numpy()]
    spreads = np.cov([*added, levels, train.y], aweights=train.weights, ddof=0)
    *truth, of_y = np.sqrt(np.diag(spreads))
    signs = [*np.sign(slopes[:3]), 1]
    scores = of(standardised_coefficient, model, train)
    assert scores == pytest.approx(signs * np.array(truth) / of_y)
    assert np.isnan(of(raw_weights, model, train)[3])


def test_log_odds_and_logs_are_not_divided_by_the_spread_of_the_target():
    train = of_two_classes(WHITE)
    counts = replace(WHITE, y=np.abs(np.round(WHITE.y)))
    for path, rows in (("LogisticRegression", train), ("PoissonRegressor", counts)):
        model = fitted(f"linear_model.{path}", rows)
        scores = of(standardised_coefficient, model, rows)
        truth = np.ravel(model.estimator.coef_)  # the columns have spread 1
        assert scores == pytest.approx(truth, rel=1e-9)
        assert of(raw_weights, model, rows).tolist() == truth.tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_results_of_statsmodels_measure_as_scikit_learns_model(weighted):
    train = with_levels(weighted=weighted)
    table = train.X.assign(y=train.y)
    results = smf.wls("y ~ x1 + x2 + x3 + g", table, weights=train.weights).fit()
    wrapped = wrap(results, name="m", task="regression", features=train.features)
    model = fitted("linear_model.LinearRegression", train)
    for method in (standardised_coefficient, raw_weights):
        truth = of(method, model, train)
        assert of(method, wrapped, train) == pytest.approx(truth, rel=1e-9, nan_ok=True)


def test_a_poisson_model_of_statsmodels_is_linear_in_the_log():
    table = WHITE.X.assign(y=np.abs(np.round(WHITE.y)))
    family = {"family": sm.families.Poisson()}
    results = smf.glm("y ~ x1 + x2 + x3", table, **family).fit()
    model = wrap(results, name="m", task="regression", features=["x1", "x2", "x3"])
    scores = of(standardised_coefficient, model)
    assert scores == pytest.approx(results.params[1:].to_numpy(), rel=1e-9)


def test_an_interaction_has_a_number_only_for_all_its_features():
    table = WHITE.X.assign(y=WHITE.y)
    results = smf.ols("y ~ x1 * x2 + x3", table).fit()
    model = wrap(results, name="m", task="regression", features=["x1", "x2", "x3"])
    data = WHITE.with_groups({"x1": ("x1",), "x3": ("x3",), "pair": ("x1", "x2")})
    scores = of(standardised_coefficient, model, data)
    b, X = results.params, WHITE.X
    joint = b["x1"] * X.x1 + b["x2"] * X.x2 + b["x1:x2"] * X.x1 * X.x2
    assert scores[2] == pytest.approx(joint.std(ddof=0) / WHITE.y.std(ddof=0))
    assert np.isnan(scores).tolist() == [True, False, False]


def test_the_other_class_turns_every_sign():
    y = np.where(WHITE.y > 0, "yes", "no")
    machine = LogisticRegression().fit(WHITE.X, y)
    yes, no = (
        wrap(machine, name="m", classes=classes)
        for classes in (["no", "yes"], ["yes", "no"])
    )
    assert of(raw_weights, yes).tolist() == machine.coef_[0].tolist()
    assert of(raw_weights, no).tolist() == (-machine.coef_[0]).tolist()


# Zien et al., section 3.2: x1 or (not x1 and not x2), from all eight rows.
CUBE = pd.DataFrame(list(product([0.0, 1.0], repeat=3)), columns=["x1", "x2", "x3"])
FORMULA = (CUBE["x1"] == 1) | (CUBE["x2"] == 0)
SETS = {
    "x1": ("x1",),
    "x2": ("x2",),
    "x3": ("x3",),
    "x1 x2": ("x1", "x2"),
    "x1 x3": ("x1", "x3"),
    "x2 x3": ("x2", "x3"),
    "all": ("x1", "x2", "x3"),
}


def machine_of_cube(**parameters):
    """Return the paper's support vector machine, of degree 2 unless given."""
    defaults = {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 1, "C": 1000}
    machine = SVC(**defaults | parameters, probability=True, random_state=1)
    return machine.fit(CUBE, FORMULA.astype(int))


@pytest.mark.parametrize("parameters", [{}, {"degree": 3}, {"gamma": "scale"}])
def test_weights_of_monomials_add_up_to_the_score_of_zeros_and_ones(parameters):
    machine = machine_of_cube(**parameters)
    model, data = wrap(machine, name="m"), WHITE.with_groups(SETS)
    weights = of(raw_weights, model, data, powers="any")
    ones = [CUBE[list(columns)].prod(axis=1) for columns in SETS.values()]
    score = machine.decision_function(CUBE)
    truth = score - score[0]  # the first row is all zeros
    assert weights @ np.array(ones) == pytest.approx(truth, rel=1e-9, abs=1e-9)


def test_the_machine_of_the_paper_weighs_x2_most_and_then_x1_with_x2():
    # Its kernel has no constant; 1 + 2/3 is the score the paper prints, of (1, 0).
    machine = machine_of_cube(coef0=0, tol=1e-9)
    weights = of(
        raw_weights, wrap(machine, name="m"), WHITE.with_groups(SETS), powers="any"
    )
    truth = [2 / 3, -2, 0, 4 / 3, 0, 0, 0]
    assert weights == pytest.approx(truth, abs=1e-6)


def test_the_first_power_is_the_slope_of_the_score_at_the_origin():
    machine = SVR(kernel="poly", degree=3, gamma=0.2, coef0=0.7).fit(WHITE.X, WHITE.y)
    h, at = 1e-5, np.eye(3)
    ends = [machine.predict(WHITE.X[:3] * 0 + side * h * at) for side in (1, -1)]
    slopes = of(raw_weights, wrap(machine, name="m"))
    assert slopes == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_a_monomial_of_more_columns_than_the_degree_weighs_nothing():
    model = wrap(machine_of_cube(), name="m")
    data = WHITE.with_groups({"all": ("x1", "x2", "x3"), "new": ("x1", "new")})
    assert of(raw_weights, model, data).tolist() == [0.0, 0.0]


def three_classes(estimator, **parameters):
    """Return a classifier of three classes."""
    return fitted(estimator, of_three_classes(WHITE), **parameters)


REFUSED = [
    (
        standardised_coefficient,
        lambda: fitted("tree.DecisionTreeRegressor", WHITE),
        "be linear in its columns for",
    ),
    (raw_weights, lambda: fitted("svm.SVR", WHITE), "it is a SVR."),
    (
        raw_weights,
        lambda: three_classes("linear_model.LogisticRegression"),
        "have one coefficient per term",
    ),
    (
        raw_weights,
        lambda: three_classes("svm.SVC", kernel="poly", probability=True),
        "be a support vector machine with one score",
    ),
]


@for_each(REFUSED)
def test_a_model_without_an_answer_says_why(case):
    method, model, words = case
    assert words in refused(method, model(), WHITE)
