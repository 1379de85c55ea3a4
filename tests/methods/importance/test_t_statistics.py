"""t and z: statsmodels' numbers, closed forms, and what has no test."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from tests.cases import for_each
from tests.methods.importance.toys import (
    fitted,
    numbers,
    of_three_classes,
    refused,
)

from importance_audit.methods.importance.t_statistics import t_statistic
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap

WHITE = normal_data(3, -1, 0.5, n_samples=100)
NEWTON = {"C": np.inf, "solver": "newton-cholesky", "tol": 1e-12}
FREE = {"alpha": 0, "solver": "newton-cholesky", "tol": 1e-12}


def mixed(target="numbers", *, weighted=False):
    """Return two columns, a category of three levels, and a target of some kind."""
    numbers = np.random.default_rng(3).normal(size=(120, 3))
    g = pd.Categorical.from_codes(np.arange(120) % 3, ["a", "b", "c"])
    X = pd.DataFrame({"x1": numbers[:, 0], "x2": numbers[:, 1] + numbers[:, 0], "g": g})
    score = X["x1"] - X["x2"] / 2 + 0.4 * (g.codes == 2) + numbers[:, 2]
    y = {
        "numbers": score,
        "classes": (score > 0).astype(int),
        "counts": np.round(np.exp(score / 2)),
        "positive": np.exp(score),
    }[target].to_numpy()
    return replace(
        WHITE,
        X=X,
        y=y,
        task="binary" if target == "classes" else "regression",
        classes=("no", "yes") if target == "classes" else (),
        weights=1 + np.arange(120.0) % 4 if weighted else np.ones(120),
        groups={name: (name,) for name in X.columns},
    )


def measured(model, data, **options):
    """Return one number per group."""
    return numbers(t_statistic, model, data, **options)


def frame(data):
    """Return columns and target as statsmodels' formulas read them."""
    return data.X.assign(y=data.y)


FAMILIES = {
    "numbers": ("LinearRegression", {}, None),
    "classes": ("LogisticRegression", NEWTON, sm.families.Binomial()),
    "counts": ("PoissonRegressor", FREE, sm.families.Poisson()),
    "positive": (
        "GammaRegressor",
        FREE,
        sm.families.Gamma(sm.families.links.Log()),
    ),
}


@pytest.mark.parametrize("target", FAMILIES)
def test_statistics_of_scikit_learns_models_are_those_of_statsmodels(target):
    train, (kind, parameters, family) = mixed(target), FAMILIES[target]
    own = smf.ols if family is None else smf.glm
    family_option = {} if family is None else {"family": family}
    results = own("y ~ x1 + x2 + g", frame(train), **family_option)
    results = results.fit() if family is None else results.fit(tol=1e-14)
    levels = results.wald_test(np.eye(5)[1:3], use_f=True, scalar=True)
    model = fitted(f"linear_model.{kind}", train, **parameters)
    truth = [*results.tvalues[["x1", "x2"]], np.sqrt(levels.statistic)]
    assert measured(model, train) == pytest.approx(truth, rel=1e-7)


@pytest.mark.parametrize("penalty", [None, "none"])
def test_a_logistic_model_has_no_penalty_by_name_or_by_an_infinite_c(penalty):
    train = mixed("classes")
    model = fitted("linear_model.LogisticRegression", train, **NEWTON)
    usual = measured(model, train)
    model.estimator.C, model.estimator.penalty = 1.0, penalty  # as older versions say
    assert measured(model, train).tolist() == usual.tolist()


@pytest.mark.parametrize("parameters", [{"link": "identity"}, {"power": 0}])
def test_a_tweedie_model_of_constant_variance_is_least_squares(parameters):
    same = fitted("linear_model.LinearRegression", WHITE)
    settings = {"alpha": 0, "tol": 1e-12, "power": 0, **parameters}
    model = fitted("linear_model.TweedieRegressor", WHITE, **settings)
    assert measured(model, WHITE) == pytest.approx(measured(same, WHITE), rel=1e-6)


def test_a_coefficient_that_the_rows_do_not_decide_has_no_answer():
    X = WHITE.X.assign(twin=2 * WHITE.X["x1"])
    train = replace(WHITE, X=X, groups={name: (name,) for name in X.columns})
    model = fitted("linear_model.LinearRegression", train)
    alone = measured(fitted("linear_model.LinearRegression", WHITE), WHITE)
    statistics = measured(model, train)
    assert np.isnan(statistics[[0, 3]]).all()
    scale = np.sqrt((100 - 4) / (100 - 5))  # one column more is counted
    assert statistics[1:3] * scale == pytest.approx(alone[1:], rel=1e-9)


def test_a_column_without_a_term_has_no_answer():
    model = fitted("linear_model.LinearRegression", WHITE)
    assert np.isnan(measured(model, WHITE.with_groups({"new": ("new",)}))).all()


def test_a_formula_is_asked_by_feature_and_interactions_only_together():
    data = mixed()
    formula = "y ~ x1 * C(g) + x2 + np.power(x2, 2)"
    results = smf.ols(formula, frame(data)).fit()
    model = wrap(results, name="m", task="regression", features=["x1", "x2", "g"])
    groups = data.with_groups({"x1": ("x1",), "x2": ("x2",), "both": ("x1", "g")})
    statistics = measured(model, groups, several_terms="f")
    names = list(results.params.index)
    squares = [k for k, name in enumerate(names) if "x2" in name]
    joint = [k for k, name in enumerate(names) if "x1" in name or "C(g)" in name]
    truth = [results.f_test(np.eye(len(names))[k]).fvalue for k in (squares, joint)]
    assert np.isnan(statistics[0])
    assert statistics[1:] == pytest.approx(np.ravel(truth), rel=1e-9)


def test_columns_of_an_array_belong_to_features_by_their_place():
    X = sm.add_constant(WHITE.X[["x2", "x1"]].to_numpy())
    results = sm.OLS(WHITE.y, X).fit()
    model = wrap(
        results,
        name="m",
        task="regression",
        features=["x2", "x1"],
        predict=lambda X: results.predict(sm.add_constant(X.to_numpy())),
    )
    data = WHITE.with_groups({"x1": ("x1",), "x2": ("x2",)})
    assert measured(model, data).tolist() == results.tvalues[[2, 1]].tolist()


def test_a_column_whose_name_needs_quotes_is_known_in_a_formula():
    data = WHITE.X.rename(columns={"x1": "x 1"}).assign(y=WHITE.y)
    results = smf.ols("y ~ Q('x 1') + x2", data).fit()
    model = wrap(results, name="m", task="regression", features=["x 1", "x2"])
    statistics = measured(model, WHITE.with_groups({"x 1": ("x 1",)}))
    assert statistics.tolist() == [results.tvalues.iloc[1]]


THREE = of_three_classes(WHITE)
PENALISED = (
    "Model 'm' must be fitted without a penalty, a constraint or class weights for "
    "method 't_statistic'; it is a {} with one. Use method 'standardised_coefficient'."
)
REFUSED = [
    ("LinearRegression", WHITE, {"positive": True}, PENALISED),
    ("LogisticRegression", mixed("classes"), {}, PENALISED),
    (
        *("LogisticRegression", mixed("classes")),
        *(NEWTON | {"class_weight": "balanced"}, PENALISED),
    ),
    ("PoissonRegressor", mixed("counts"), {}, PENALISED),
    ("Ridge", WHITE, {}, "must be a least-squares or generalised linear model for"),
    (
        *("LinearRegression", WHITE.part(WHITE.features, np.arange(4)), {}),
        "have fewer coefficients than training rows",
    ),
    (
        *("PoissonRegressor", mixed("counts"), {"alpha": 0, "tol": 1.0}),
        "must be fitted until its likelihood is greatest",
    ),
    (
        *("LogisticRegression", THREE, NEWTON | {"solver": "lbfgs"}),
        "must have two classes at most",
    ),
]
RESULTS_REFUSED = [
    (
        lambda: sm.OLS(WHITE.y, WHITE.X).fit_regularized(alpha=0.1),
        "it is a RegularizedResultsWrapper.",
    ),
    (
        lambda: sm.OLS(WHITE.y, WHITE.X.rename(columns={"x1": "z"})).fit(),
        "it has a column 'z' that names none. Fit it with a formula of its features.",
    ),
    (
        lambda: sm.OLS(WHITE.y, WHITE.X.to_numpy()[:, :2]).fit(),
        "; it names 3. Fit it with a formula.",
    ),
]


@for_each(REFUSED)
def test_a_model_without_an_answer_says_why(case):
    kind, train, parameters, words = case
    model = fitted(f"linear_model.{kind}", train, **parameters)
    assert words.format(kind) in refused(t_statistic, model, WHITE)


@for_each(RESULTS_REFUSED)
def test_results_of_statsmodels_without_an_answer_say_why(case):
    results, words = case
    names = ("x1", "x2", "x3")
    own = ["z", *names[1:]] if "'z'" in words else names
    model = wrap(results(), name="m", task="regression", features=own)
    assert words in refused(t_statistic, replace(model, features=names), WHITE)
