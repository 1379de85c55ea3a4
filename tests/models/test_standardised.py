"""Estimators that see numbers with mean 0 and standard deviation 1."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from importance_audit.data.datasets import dataset
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection

SVM = ModelSection(
    name="svm",
    estimator="sklearn.svm.SVR",
    parameters={"gamma": "auto"},
    standardise=True,
)
LINEAR = replace(SVM, estimator="sklearn.linear_model.LinearRegression", parameters={})


def rows(scale=1.0, unit=1.0, **keys):
    """Return 60 rows of two numbers and a category, and a target in a unit."""
    random = np.random.default_rng(5)
    X = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    X["kind"] = pd.Categorical(random.choice(list("uvw"), size=60))
    y = np.sin(2 * X["a"]) + X["b"] + (X["kind"] == "u")
    X["a"] = 7 + scale * X["a"]
    return dataset(X, 40 + unit * y, name="rows", task="regression", **keys)


def test_neither_the_unit_of_a_column_nor_of_the_target_moves_a_prediction():
    metres, feet = rows(), rows(scale=3.28, unit=1000.0)
    predictions = [fit(SVM, data).predict(data.X) - 40 for data in (metres, feet)]
    assert predictions[1] == pytest.approx(1000 * predictions[0], rel=1e-6, abs=1e-6)
    raw = [
        fit(replace(SVM, standardise=False), data).predict(data.X) - 40
        for data in (metres, feet)
    ]
    assert np.abs(raw[1] - 1000 * raw[0]).max() > 100


def test_columns_made_of_categories_stay_zero_or_one():
    data = rows()
    columns = np.column_stack(
        [data.X[["a", "b"]], *(data.X["kind"] == level for level in "vw")]
    ).astype(float)
    scaled = make_column_transformer(
        (StandardScaler(), [0, 1]), remainder="passthrough"
    )
    by_hand = TransformedTargetRegressor(
        make_pipeline(scaled, SVR(gamma=1 / 4)), transformer=StandardScaler()
    ).fit(columns, data.y)
    expected = by_hand.predict(columns)
    assert fit(SVM, data).predict(data.X) == pytest.approx(expected, rel=1e-9)


def test_row_weights_reach_the_estimator_inside():
    weights = np.random.default_rng(1).integers(1, 5, size=60).astype(float)
    data = rows(weights=weights)
    columns = pd.get_dummies(data.X, drop_first=True).astype(float)
    by_hand = LinearRegression().fit(columns, data.y, sample_weight=weights)
    expected = by_hand.predict(columns)
    assert fit(LINEAR, data).predict(data.X) == pytest.approx(expected, rel=1e-9)


def test_the_report_names_the_estimator_inside():
    model = fit(SVM, rows())
    assert model.library.startswith("scikit-learn")
    assert (model.parameters["gamma"], model.parameters["C"]) == ("auto", 1.0)


def test_classes_are_not_standardised():
    data = rows()
    section = ModelSection(
        name="m",
        estimator="sklearn.linear_model.LogisticRegression",
        parameters={"C": 1e9, "max_iter": 5000, "tol": 1e-8},
        standardise=True,
    )
    target = np.where(data.X["b"] + np.sin(9 * data.X["a"]) > 0, "yes", "no")
    binary = dataset(data.X, target, name="rows", task="binary", classes=("no", "yes"))
    plain = fit(replace(section, standardise=False), binary)
    predictions = [model.predict(data.X) for model in (fit(section, binary), plain)]
    assert predictions[0] == pytest.approx(predictions[1], abs=1e-3)
