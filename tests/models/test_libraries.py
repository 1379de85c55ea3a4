"""Models of other libraries, searches and functions: who they are, what they answer."""

import pickle
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.data.reading import configured
from tests.models.saved import saved

import importance_audit as ia
from importance_audit.data.datasets import read_datasets
from importance_audit.models import estimators
from importance_audit.models.fit import fit_models
from importance_audit.records.errors import ModelError

N = 150
NUMBERS = ["size", "age"]


def table():
    """Return two numbers and a text."""
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": random.normal(size=N),
            "town": random.choice(["Bern", "Graz", "Ulm"], N),
            "age": random.normal(size=N),
        }
    )


def number(X):
    noise = np.random.default_rng(4).normal(size=len(X)) / 5
    return X["size"] - 2 * X["age"] + 1.0 * (X["town"] == "Ulm") + noise


def yes_or_no(X):
    noise = np.random.default_rng(5).logistic(size=len(X))
    return (number(X) + noise > 0).astype(int)


def three(X):
    noise = np.random.default_rng(5).logistic(size=len(X))
    return np.digitize(number(X) + noise, [-1, 1])


def bound(model, X, y, task, **facts):
    """Return the model as an audit of these rows asks it, and the rows."""
    rows = ia.dataset(X, y, name="rows", task=task, **facts)
    return model.for_rows(rows), rows


def loaded(folder, thing, X, y, task):
    """Return a saved model as an audit of a table loads it, and the rows."""
    text, section = X.assign(y=y).to_csv(index=False), saved(folder, thing)
    config = configured(folder, text, task=task, models=[section])
    train, test = read_datasets(**config.data_arguments)
    (model,) = fit_models(config.models, train, base=config.base)
    return model, test


def encoded():
    return make_column_transformer(
        (OneHotEncoder(), ["town"]), remainder=StandardScaler()
    )


def with_ridge():
    return make_pipeline(encoded(), Ridge())


def with_votes():
    votes = VotingClassifier([("l", LogisticRegression())], voting="soft")
    return make_pipeline(encoded(), votes)


def grid_search():
    line = make_pipeline(encoded(), LogisticRegression())
    return GridSearchCV(line, {"logisticregression__C": [0.1, 1]}, cv=2)


def random_search():
    alpha = {"ridge__alpha": [0.1, 1]}
    return RandomizedSearchCV(with_ridge(), alpha, n_iter=2, cv=2)


def transformed_target():
    return TransformedTargetRegressor(with_ridge(), transformer=StandardScaler())


@pytest.mark.parametrize(
    ("search", "y", "task", "kind"),
    [
        (grid_search, yes_or_no, "binary", "LogisticRegression"),
        (random_search, number, "regression", "Ridge"),
        (transformed_target, number, "regression", "Ridge"),
        (with_votes, three, "multiclass", "VotingClassifier"),
    ],
)
def test_searches_and_what_they_hold_are_models(tmp_path, search, y, task, kind):
    X = table()
    estimator = search().fit(X, y(X))
    expected = estimator.predict(X)
    if task != "regression":
        expected = estimator.predict_proba(X)
        expected = expected[:, 1] if task == "binary" else expected
    wrapped = ia.wrap(estimator, name="m")
    assert (wrapped.task, wrapped.features) == (task, tuple(X))
    model, rows = bound(wrapped, X, y(X), task)
    assert model.predict(rows.X).tolist() == expected.tolist()
    assert estimators.class_name(estimator) == kind
    of_file, rows = loaded(tmp_path, estimator, X, y(X), task)
    assert of_file.predict(rows.X) == pytest.approx(expected, rel=1e-12)


def test_a_classifier_in_a_search_is_no_regression():
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=2)
    search.fit(table()[NUMBERS], yes_or_no(table()))
    with pytest.raises(ia.ModelError, match="'regression': GridSearchCV is a"):
        ia.wrap(search, name="m", task="regression", classes=[])


def test_a_target_that_was_a_frame_gives_one_number_per_row():
    X = table()[NUMBERS]
    estimator = LinearRegression().fit(X, number(table()).to_frame())
    assert estimator.predict(X).shape == (N, 1)
    predicted = ia.wrap(estimator, name="m").predict(X)
    assert predicted.tolist() == estimator.predict(X)[:, 0].tolist()


@pytest.mark.parametrize(("y", "task"), [(yes_or_no, "binary"), (three, "multiclass")])
def test_a_function_may_return_a_probability_per_class(y, task):
    X = table()[NUMBERS]
    estimator = LogisticRegression().fit(X, y(table()))
    classes = estimator.classes_
    options = {"task": task, "classes": classes, "features": NUMBERS}
    of_function = ia.wrap(estimator.predict_proba, name="m", **options)
    expected = ia.wrap(estimator, name="m").predict(X)
    assert of_function.predict(X).tolist() == expected.tolist()


FORMULA = "y ~ np.square(size) + C(town) * age"


BY_NAME, BY_FORMULA = ("size", "age"), ("size", "town", "age")
STATSMODELS = {
    "OLS": (number, "regression", BY_NAME),
    "OLS, constant last": (number, "regression", BY_NAME),
    "OLS without a constant": (number, "regression", BY_NAME),
    "Logit": (yes_or_no, "binary", BY_NAME),
    "GLM": (yes_or_no, "binary", BY_NAME),
    "Poisson": (yes_or_no, "regression", BY_NAME),
    "MNLogit": (three, "multiclass", BY_NAME),
    "formula": (number, "regression", BY_FORMULA),
    "formula of a GLM": (yes_or_no, "binary", BY_FORMULA),
}


def results_of(name):
    """Return what statsmodels fits under a name."""
    sm = pytest.importorskip("statsmodels.api")
    smf = pytest.importorskip("statsmodels.formula.api")
    X, y = table(), STATSMODELS[name][0](table())
    named, binomial = sm.add_constant(X[NUMBERS]), sm.families.Binomial()
    if name in ("Logit", "Poisson", "MNLogit"):
        return getattr(sm, name)(y, named).fit(disp=0)
    last, rows = sm.add_constant(X[NUMBERS], prepend=False), X.assign(y=y)
    return {
        "OLS": lambda: sm.OLS(y, named),
        "OLS, constant last": lambda: sm.OLS(y, last),
        "OLS without a constant": lambda: sm.OLS(y, X[NUMBERS]),
        "GLM": lambda: sm.GLM(y, named, family=binomial),
        "formula": lambda: smf.ols(FORMULA, rows),
        "formula of a GLM": lambda: smf.glm(FORMULA, rows, family=binomial),
    }[name]().fit()


@pytest.mark.parametrize("name", STATSMODELS)
def test_results_of_statsmodels_know_their_columns_and_task(tmp_path, name):
    y, task, features = STATSMODELS[name]
    results, X = results_of(name), table()
    wrapped = ia.wrap(results, name="m")
    assert (wrapped.task, wrapped.features) == (task, features)
    assert wrapped.library.startswith("statsmodels ")
    asked, rows = bound(wrapped, X, y(X), task)
    expected = np.asarray(results.predict())
    assert asked.predict(rows.X) == pytest.approx(expected, rel=1e-9)
    of_file, rows = loaded(tmp_path, results, X, y(X), task)
    assert of_file.predict(rows.X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("is_first", [True, False])
def test_results_fitted_on_arrays_get_arrays_and_the_other_class_its_probability(
    is_first,
):
    sm = pytest.importorskip("statsmodels.api")
    X = table()
    design = sm.add_constant(X[NUMBERS].to_numpy(), prepend=is_first)
    results = sm.Logit(yes_or_no(X).to_numpy(), design).fit(disp=0)
    yes = ia.wrap(results, name="m", features=NUMBERS, classes=["no", "yes"])
    no = ia.wrap(results, name="m", features=NUMBERS, classes=["1", "0"])
    expected = results.predict(design)
    assert yes.predict(X) == pytest.approx(expected, rel=1e-12)
    assert no.predict(X) == pytest.approx(1 - expected, rel=1e-12)


def test_results_of_other_classes_than_the_target_are_refused():
    sm = pytest.importorskip("statsmodels.api")
    facts = {"name": "m", "task": "binary", "classes": ["no", "yes"]}
    several = sm.MNLogit(three(table()), sm.add_constant(table()[NUMBERS]))
    for results, classes in (
        (sm.OLS(number(table()), table()[NUMBERS]).fit(), "'a number'"),
        (several.fit(disp=0), "'0', '1', '2'"),
    ):
        words = f"predicts the classes {classes}, and the target has 'no', 'yes'. Name"
        with pytest.raises(ia.ModelError, match=words):
            ia.wrap(results, **facts)


OBJECTIVES = {
    "reg:squarederror": (number, "regression"),
    "count:poisson": (yes_or_no, "regression"),
    "binary:logistic": (yes_or_no, "binary"),
    "multi:softprob": (three, "multiclass"),
}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("named", [True, False])
def test_a_booster_of_xgboost_knows_its_columns_and_task(tmp_path, objective, named):
    xgboost = pytest.importorskip("xgboost")
    y, task = OBJECTIVES[objective]
    X, target = table()[NUMBERS], y(table())
    given = X if named else X.to_numpy()
    parameters = {"objective": objective, "max_depth": 3}
    parameters |= {"num_class": 3} if task == "multiclass" else {}
    booster = xgboost.train(parameters, xgboost.DMatrix(given, label=target), 8)
    expected = booster.predict(xgboost.DMatrix(given))
    wrapped = ia.wrap(booster, name="m", features=None if named else NUMBERS)
    assert (wrapped.task, wrapped.features) == (task, tuple(NUMBERS))
    asked, rows = bound(wrapped, X, target, task)
    for predict in (asked.predict, pickle.loads(pickle.dumps(asked.predict))):
        assert predict(rows.X).tolist() == expected.tolist()
    of_file, rows = loaded(tmp_path, booster, X, target, task)
    assert of_file.predict(rows.X) == pytest.approx(expected, rel=1e-6)


def test_a_booster_without_probabilities_is_refused():
    xgboost = pytest.importorskip("xgboost")
    matrix = xgboost.DMatrix(table()[NUMBERS], label=three(table()))
    booster = xgboost.train({"objective": "multi:softmax", "num_class": 3}, matrix, 2)
    with pytest.raises(ia.ModelError, match=r"'multi:softmax'. Train it with"):
        ia.wrap(booster, name="m")


def test_estimators_of_xgboost_are_asked_with_categories_and_gaps():
    xgboost = pytest.importorskip("xgboost")
    X = table().assign(town=table()["town"].astype("category"))
    X.loc[3:20, "size"] = np.nan
    for kind, y, task in (
        (xgboost.XGBClassifier, yes_or_no(table()), "binary"),
        (xgboost.XGBRegressor, number(table()), "regression"),
    ):
        estimator = kind(n_estimators=9, tree_method="hist", enable_categorical=True)
        estimator.fit(X, y)
        wrapped = ia.wrap(estimator, name="m")
        assert (wrapped.task, wrapped.features) == (task, tuple(X))
        asked, rows = bound(wrapped, X, y, task)
        own = estimator.predict if task == "regression" else estimator.predict_proba
        expected = own(X) if task == "regression" else own(X)[:, 1]
        assert asked.predict(rows.X).tolist() == expected.tolist()


class Booster:
    """Stands in for LightGBM's, which cannot be had everywhere.

    What it holds is what its documentation says of `Booster`.
    """

    __module__ = "lightgbm.basic"

    def __init__(self, objective, names, n_classes):
        self.head = f"tree\nversion=v4\nnum_class={n_classes}\nobjective={objective}"
        self.names, self.n_classes = names, n_classes

    def feature_name(self):
        return list(self.names)

    def model_to_string(self):
        return f"{self.head}\n\nTree=0\nnum_leaves=1\n"

    def predict(self, data):
        score = 1 / (1 + np.exp(-np.asarray(data)[:, 0].astype(float)))
        if self.n_classes == 1:
            return score
        return np.column_stack([score / 2, score / 2, 1 - score])


class LGBMRegressor(LinearRegression):
    """Stands in for LightGBM's."""

    __module__ = "lightgbm.sklearn"
    feature_name_ = ("size", "age")

    def fit(self, X, y):
        return super().fit(np.asarray(X), y)


@pytest.mark.parametrize(
    ("objective", "n_classes", "task"),
    [
        ("regression", 1, "regression"),
        ("binary sigmoid:1", 1, "binary"),
        ("multiclass num_class:3", 3, "multiclass"),
    ],
)
def test_a_booster_of_lightgbm_is_recognised(monkeypatch, objective, n_classes, task):
    monkeypatch.setitem(sys.modules, "lightgbm", ModuleType("lightgbm"))
    X = table()
    for names, features in ((NUMBERS, None), (["Column_0", "Column_1"], NUMBERS)):
        booster = Booster(objective, names, n_classes)
        model = ia.wrap(booster, name="m", features=features)
        assert (model.task, model.features) == (task, tuple(NUMBERS))
        assert model.predict(X).tolist() == booster.predict(X[NUMBERS]).tolist()
    estimator = LGBMRegressor().fit(X[NUMBERS], number(X))
    assert ia.wrap(estimator, name="m").features == tuple(NUMBERS)


def counts(n=80):
    """Return rows with an exposure, and counts that grow with it."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    rows["weeks"] = rng.uniform(1, 9, n)
    return rows, rng.poisson(rows["weeks"] * np.exp(0.6 * rows["a"])).astype(float)


def exposed(kind):
    """Return results of statsmodels that were fitted with an exposure or an offset."""
    sm = pytest.importorskip("statsmodels.api")
    smf = pytest.importorskip("statsmodels.formula.api")
    rows, y = counts()
    weeks, poisson = rows["weeks"].to_numpy(), {"family": sm.families.Poisson()}
    design, table = sm.add_constant(rows[["a", "b"]]), rows.assign(y=y)
    if kind == "discrete":
        return sm.Poisson(y, design, exposure=weeks).fit(disp=0)
    return {
        "exposure": lambda: sm.GLM(y, design, exposure=weeks, **poisson),
        "array": lambda: sm.GLM(y, np.asarray(design), exposure=weeks, **poisson),
        "offset": lambda: sm.GLM(y, design, offset=weeks / 9, **poisson),
        "formula": lambda: smf.glm("y ~ a + b", table, exposure=weeks, **poisson),
    }[kind]().fit()


@pytest.mark.parametrize("kind", ["exposure", "array", "formula", "discrete"])
def test_an_exposure_stays_with_its_row_and_is_no_feature(kind):
    results, (rows, y) = exposed(kind), counts()
    columns = ["a", "b"] if kind == "array" else None
    model = ia.wrap(results, name="m", exposure="weeks", features=columns)
    weeks, (constant, a, b) = rows["weeks"], np.asarray(results.params)
    log_mean = constant + a * rows["a"] + b * rows["b"]
    by_hand = weeks * np.exp(log_mean)
    np.testing.assert_allclose(model.predict(rows), by_hand, rtol=1e-12)
    measured = ia.audit(model, rows, y, losses="mse")
    assert set(measured.to_frame()["feature"]) == {"a", "b"}
    (baseline,) = {one.baseline[0] for one in measured.result.importances}
    np.testing.assert_allclose(baseline, ((y - by_hand) ** 2).mean(), rtol=1e-12)
    reversed_rows = rows.assign(a=rows["a"].to_numpy()[::-1])
    moved = a * (reversed_rows["a"] - rows["a"])
    expected = by_hand * np.exp(moved)
    np.testing.assert_allclose(model.predict(reversed_rows), expected, rtol=1e-12)


def test_an_offset_is_added_to_the_linear_predictor():
    results, (rows, _) = exposed("offset"), counts()
    rows["shift"] = rows["weeks"] / 9
    model = ia.wrap(results, name="m", offset="shift")
    np.testing.assert_allclose(model.predict(rows), results.fittedvalues, rtol=1e-12)


@pytest.mark.parametrize("kind", ["exposure", "offset", "formula", "discrete"])
def test_an_offset_that_has_no_column_is_refused(kind):
    word = "offset" if kind == "offset" else "exposure"
    with pytest.raises(ModelError, match=f"was fitted with {word}, which its predict"):
        ia.wrap(exposed(kind), name="m")
    for estimator in (LinearRegression(), RidgeClassifier()):
        estimator.fit([[1.0], [2.0]], [1, 2])
        with pytest.raises(ModelError, match="cannot be given 'offset': only"):
            ia.wrap(estimator, name="m", offset="weeks")


def test_a_feature_that_is_the_offset_of_another_model_is_named():
    results, (rows, y) = exposed("exposure"), counts()
    glm = ia.wrap(results, name="glm", exposure="weeks")
    other = LinearRegression().fit(rows, y)
    measured = ia.audit({"glm": glm, "linear": other}, rows, y)
    (finding,) = [f for f in measured.findings if f.check == "offset_elsewhere"]
    assert finding.message == (
        "Model 'linear' reads 'weeks' as a feature and has no importance of it: it is "
        "the offset of model 'glm', which stays with its rows."
    )
    assert set(measured.to_frame()["feature"]) == {"a", "b"}


def test_an_offset_is_asked_for_by_no_name():
    results, (rows, y) = exposed("exposure"), counts()
    model = ia.wrap(results, name="m", exposure="weeks")
    for config in (
        {"groups": {"both": ["a", "weeks"]}},
        {"importance": [{"method": "permutation", "features": ["weeks"]}]},
        {"surfaces": [{"features": ["a", "weeks"]}]},
        {"expected": [{"features": ["weeks"], "place": "top", "reason": "Longer."}]},
    ):
        message = "'weeks' is the offset of model 'm', .*, expectations and surfaces."
        with pytest.raises(ia.ConfigError, match=message):
            ia.audit(model, rows, y, config=config)


@pytest.mark.parametrize("is_booster", [True, False])
def test_a_margin_of_xgboost_is_the_log_of_its_exposure(is_booster):
    xgboost = pytest.importorskip("xgboost")
    rows, y = counts()
    settings = {"n_estimators": 5, "objective": "count:poisson"}
    model = xgboost.XGBRegressor(**settings)
    model.fit(rows[["a", "b"]], y, base_margin=np.log(rows["weeks"]))
    own = model.get_booster() if is_booster else model
    ours = ia.wrap(own, name="m", exposure="weeks").predict(rows)
    expected = model.predict(rows[["a", "b"]], base_margin=np.log(rows["weeks"]))
    np.testing.assert_array_equal(ours, expected)
    without = ia.wrap(own, name="m").predict(rows)
    assert not np.allclose(ours, without)
