"""vip's vi_model on R's fitted models: the same inside gives the same importance."""

import re

import numpy as np
import pytest
from tests.cases import for_each
from tests.methods.importance import toys
from tests.methods.importance.toys import numbers, rows_of
from tests.methods.recorded import Cases, frame_of, recorded
from tests.report.made_records import made_importance

from importance_audit.methods.importance.coefficients import raw_weights
from importance_audit.methods.importance.linear_terms import Terms, of_columns
from importance_audit.methods.importance.model_specific import impurity
from importance_audit.methods.importance.networks import garson_shares
from importance_audit.methods.importance.out_of_bag import in_standard_errors
from importance_audit.methods.importance.t_statistics import (
    Estimates,
    t_statistic,
    wald,
)

GIVEN = recorded("model_specific")
DATA = GIVEN["data"]
EXACT = {"rel": 1e-12, "abs": 1e-12}

# Read by our R code from R's own models: `test_r_model_specific` compares these.
THROUGH_R = "scikit-learn has no such model; it is asked through R"
LEFT_OUT = {
    r"rpart[12]": THROUGH_R,
    r"rpart0": "R refuses a tree without splits; here it measures 0 of each feature",
    r"rf[12]-(default|type1|type1-noscale|type2)|rf3-(default|type2)": THROUGH_R,
    r"gbm[12]-(ri|default)": THROUGH_R,
    r"gbm[12]-ri-half": "half of the trees of a boosting, which no audit asks",
    r"rf3-type1(-noscale)?|rf2-class": "R's own error, for what it had not stored",
    r"ranger-(impurity|permutation|impurity_corrected)-(reg|bin)": THROUGH_R,
    r"ranger-permutation-scaled": THROUGH_R,
    r"ranger-none-(reg|bin)": "R's own error, for what it had not stored",
    r"gbm[12]-perm": "gbm's own permutation, of a fit that cannot be repeated",
    r"earth[12]-.*": THROUGH_R,
    r"nnet3-garson": "R refuses several outputs, and so does `garson`: tested there",
    r"nnet4-garson": "R refuses connections that skip; scikit-learn's nets have none",
    r"nnet5-olden": "R fails on a net that was made without a formula",
    r"v04-lm1-vi-FALSE": "vip 0.4 does not rank what it has not sorted",
    r"svm": "R has no method for a support vector machine; here it has raw weights",
}
ESTIMATORS = {
    "fit-lm1": ("x1 x2 x3 x4 k g", "y", "LinearRegression", {}),
    "fit-lm3": ("x1 x2 x3", "y", "LinearRegression", {"fit_intercept": False}),
    "fit-lm4": ("x1 x2", "y", "LinearRegression", {}),
    "fit-lmw": ("x1 x2 x3", "y", "LinearRegression", {}),
    "fit-glm1": (
        *("x1 x2 x3 x4 g", "y", "LogisticRegression"),
        {"C": np.inf, "solver": "newton-cholesky", "tol": 1e-12},
    ),
    "fit-glm2": (
        *("x1 x2 x3 g", "k", "PoissonRegressor"),
        {"alpha": 0, "solver": "newton-cholesky", "tol": 1e-12},
    ),
    "fit-glm3": ("x1 x2 x3", "y", "LinearRegression", {}),
}


def short(case):
    """Return an id without the line of vip, unless the two lines differ."""
    is_same = not case.endswith("lm1-vi-FALSE")
    return re.sub(r"^model-v0[45]-" if is_same else "^model-", "", case)


CASES = Cases(GIVEN["cases"], LEFT_OUT, short=short)
of = CASES.of


def inside(case):
    """Return the inside of the model of a case, and the result by variable."""
    result = CASES[case]["result"]
    return DATA[CASES[case]["model"]], dict(
        zip(result["Variable"], result["Importance"], strict=True)
    )


def signed(case):
    """Return the importance of a case with its sign, by variable."""
    result = CASES[case]["result"]
    signs = [{"POS": 1, "NEG": -1}[sign] for sign in result["Sign"]]
    values = np.array(signs) * np.array(result["Importance"])
    return dict(zip(result["Variable"], values, strict=True))


def statistics(fitted):
    """Return our statistic of each recorded term, the intercept left out."""
    at = [k for k, name in enumerate(fitted["names"]) if name != "(Intercept)"]
    names = [fitted["names"][k] for k in at]
    terms = Terms(of_columns(names), np.array(fitted["estimate"])[at])
    V = np.diag(np.array(fitted["std_error"])[at] ** 2)
    sure = Estimates(terms, V, np.ones(len(at), bool))
    return {name: wald(sure, (name,), is_root=True) for name in names}


def frame(block, names):
    """Return recorded columns as an audit would read them."""
    return frame_of(DATA[block], names.split())


def rows(block, names, target, weights=None):
    """Return recorded rows."""
    columns, levels = DATA[block]["columns"], DATA[block]["levels"].get(target, [])
    y = [levels.index(v) if levels else v for v in columns[target]]
    X = frame(block, names)
    weights = columns.get(weights)
    return rows_of(X, np.array(y, float), weights=weights, classes=levels)


def refitted(name):
    """Return scikit-learn's fit of the model that R fitted, and its rows."""
    features, target, kind, parameters = ESTIMATORS[name]
    block = "bin" if name == "fit-glm1" else "reg"
    train = rows(block, features, target, "k" if name == "fit-lmw" else None)
    return toys.fitted(f"linear_model.{kind}", train, **parameters)


def ranks(values, form):
    """Return the ranks an audit would give."""
    record = made_importance("m", [*values], [*values.values()], repeats=1, form=form)
    return dict(zip(values, record.rank, strict=True))


def net(fitted):
    """Return the weights from inputs to hidden units, and from these to output one."""
    n_inputs, n_hidden, n_outputs = fitted["n"]
    weights = dict(zip(fitted["wts_names"], fitted["wts"], strict=True))
    end = "o" if n_outputs == 1 else "o1"
    units = range(1, n_hidden + 1)
    hidden = [[weights[f"i{j}->h{h}"] for h in units] for j in range(1, n_inputs + 1)]
    return np.array(hidden), np.array([weights[f"h{h}->{end}"] for h in units])


@of(r"(lm[1234w]|glm[123])-stat|lm1-default")
def test_a_term_is_as_many_standard_errors_from_zero_as_in_r(case):
    fitted, _ = inside(case)
    assert statistics(fitted) == pytest.approx(signed(case), **EXACT)


@of(r"(lm[134w]|glm[123])-stat")
def test_scikit_learns_fit_has_the_statistics_of_rs(case):
    model, truth = refitted(CASES[case]["model"]), signed(case)
    raw, _ = t_statistic(model, model.train, seed=1)
    scores = dict(zip(model.features, raw[:, 0, 0], strict=True))
    assert scores.pop("g", 1) > 0  # two terms: below
    shared = {name: truth[name] for name in scores}
    # R's glm stops when the deviance changes by less than 1e-8 of itself, which is
    # the square of the step that is left in standard errors: 2e-7 of them here.
    tolerance = 2e-6 if "glm" in case and "glm3" not in case else 1e-11
    assert scores == pytest.approx(shared, rel=tolerance, abs=1e-11)


@of(r"(lm[1234w]|glm[123])-raw")
def test_a_term_weighs_its_coefficient(case):
    fitted, _ = inside(case)
    own = dict(zip(fitted["names"], fitted["estimate"], strict=True))
    own.pop("(Intercept)", None)
    assert own == pytest.approx(signed(case), **EXACT)
    if CASES[case]["model"] in ESTIMATORS:
        model = refitted(CASES[case]["model"])
        raw, _ = raw_weights(model, model.train, seed=1)
        coefficients = dict(zip(model.features, raw[:, 0, 0], strict=True))
        coefficients.pop("g", None)
        shared = {name: signed(case)[name] for name in coefficients}
        assert coefficients == pytest.approx(shared, rel=1e-11, abs=1e-11)


@of(r"lm1-vi-(TRUE|increasing)|v05-lm1-vi-FALSE")
def test_terms_rank_as_in_vip(case):
    fitted, truth = inside(case)
    assert ranks(statistics(fitted), "absolute") == truth


@of("lm1-vi-scale")
def test_statistics_over_the_largest_are_those_of_vip(case):
    fitted, truth = inside(case)
    sizes = {name: abs(value) for name, value in statistics(fitted).items()}
    shares = {name: 100 * size / max(sizes.values()) for name, size in sizes.items()}
    assert shares == pytest.approx(truth, **EXACT)


@of("rpart3")
def test_scikit_learns_tree_without_surrogates_is_that_of_rpart(case):
    train = rows("reg", "x1 x2 x3 x4 k g", "y")
    floor = {"min_samples_split": 15, "min_samples_leaf": 5, "encoder": "one_hot"}
    floor["min_impurity_decrease"] = 0.02 * train.y.var()  # rpart's cp
    model = toys.fitted("tree.DecisionTreeRegressor", train, **floor)
    raw = numbers(impurity, model, train, normalised=False) * len(train.y)
    decreases = dict(zip(model.features, raw, strict=True))
    result = CASES[case]["result"]
    truth = dict(zip(result["Variable"], result["Importance"], strict=True))
    assert {k: v for k, v in decreases.items() if v} == pytest.approx(truth, **EXACT)


@of("nnet[1234]-olden|nnet1-default")
def test_oldens_products_are_those_of_neuralnettools(case):
    fitted, truth = inside(case)
    products = np.matmul(*net(fitted))
    assert dict(zip(truth, products, strict=True)) == pytest.approx(truth, **EXACT)


@of("nnet[125]-garson")
def test_garsons_shares_are_those_of_neuralnettools(case):
    fitted, truth = inside(case)
    shares = garson_shares(*net(fitted), output_weights=False)
    assert dict(zip(truth, shares, strict=True)) == pytest.approx(truth, **EXACT)


@of("nnet1-vi-scale-rank")
def test_signed_products_rank_as_in_vip(case):
    fitted, truth = inside(case)
    products = dict(zip(fitted["coefnames"], np.matmul(*net(fitted)), strict=True))
    assert ranks(products, "raw") == truth


def test_every_case_is_compared_or_left_out_for_a_reason():
    assert len(CASES) == 152
    CASES.assert_accounted_for()


def recorded_rises(fitted):
    """Return two rises per feature with the recorded mean and standard error."""
    spreads, table = fitted["importanceSD"], fitted["importance"]
    column = {"%IncMSE": 0, "MeanDecreaseAccuracy": 2}
    at = next(column[name] for name in table["cols"] if name in column)
    mean = np.array([row[at] for row in table["values"]])
    if "rows" in spreads:
        std_error = np.array([row[at] for row in spreads["values"]])
    else:
        std_error = np.array([spreads[name] for name in table["rows"]])
    # Standard error of T rises, divisor T: of m -+ s sqrt(2) it is s.
    off = np.sqrt(2) * std_error
    return table["rows"], np.stack([mean - off, mean + off], axis=1)


@for_each(CASES.like(r"rf[12]-(default|type1|type1-noscale)"))
def test_rises_out_of_bag_are_scaled_as_in_random_forest(case):
    fitted, truth = inside(case)
    names, rises = recorded_rises(fitted)
    is_plain = case.endswith("noscale")
    scores = rises.mean(axis=1) if is_plain else in_standard_errors(rises)
    assert dict(zip(names, scores, strict=True)) == pytest.approx(truth, **EXACT)
