"""What is put to R packages, and how their answers are held against ours."""

from dataclasses import replace
from inspect import signature

import numpy as np
import pandas as pd

from importance_audit import engines
from importance_audit.methods.known_answers import linear_model, normal_data

LOSSES = (
    *("rmse", "mae", "mse", "sum_of_squares", "mape", "mean_relative_error"),
    *("one_minus_r2", "one_minus_squared_correlation"),
)
OF_SHARES = (
    *("one_minus_youden", "one_minus_mean_recall", "one_minus_average_precision"),
    *("one_minus_balanced_accuracy", "one_minus_pr_auc", "log_loss"),
    *("log_loss_clipped", "brier", "one_minus_accuracy", "negative_log_likelihood"),
)
BINARY = (*OF_SHARES, "one_minus_auc")
OF_CLASSES = (
    *OF_SHARES,
    *("one_minus_auc_ovo", "one_minus_auc_ovr", "dalex_cross_entropy"),
)


def rows_of(X, y=None, weights=None):
    """Return rows of a table with a target, each column a feature."""
    ones = np.ones(len(X))
    data = replace(normal_data(), X=X, y=ones if y is None else y)
    data = replace(data, weights=ones if weights is None else weights)
    return data.with_groups({name: (name,) for name in X})


def mixed(*names, groups=None, n=40, weights=None):
    """Return a model of columns of every type, some or all, and rows of them.

    Of two columns of levels one lacks a level. The model multiplies them all, and
    fails where a column does not keep its type.
    """
    rng = np.random.default_rng(1)
    kinds = pd.CategoricalDtype(["z", "u", "w", "v"])
    grades = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)
    X = pd.DataFrame(
        {
            ".id": rng.normal(size=n),
            "fare (£)": rng.integers(0, 5, n),
            "kind": pd.Categorical(rng.choice(["u", "v", "z"], n), dtype=kinds),
            "flag": rng.random(n) < 0.4,
            "if": rng.normal(size=n),
            "Zebra": rng.normal(size=n),
            "é": rng.normal(size=n),
            "grade": pd.Categorical(rng.choice(["low", "high"], n), dtype=grades),
        }
    )
    y = rng.normal(size=n)
    types = X.dtypes
    factors = {name: k + 1.0 for k, name in enumerate(X)}

    def predict(X):
        total = np.zeros(len(X))
        for name, column in X.items():
            assert column.dtype in (types[name], np.float64)
            is_level = column.dtype == "category"
            numbers = column.cat.codes**2.0 if is_level else column.astype(float)
            total = (total + factors[name]) * (1 + 0.3 * numbers.to_numpy())
        return total

    X = X[[*names]] if names else X
    data = rows_of(X, y, weights)
    model = replace(linear_model(1), predict=predict, features=tuple(X), losses=LOSSES)
    return model, data.with_groups(groups) if groups else data


def assert_replayed(ours, reference, baseline=0.0):
    """Assert |a - b| <= 1e-9 max(|a|, |b|, |baseline|), everywhere."""
    allowed = 1e-9 * np.maximum(np.maximum(abs(ours), abs(reference)), abs(baseline))
    assert ours.shape == reference.shape
    with np.errstate(invalid="ignore"):
        is_near = (abs(ours - reference) <= allowed) | (ours == reference)
    is_near |= np.isnan(ours) & np.isnan(reference)
    assert is_near.all(), float(np.nanmax(abs(ours - reference)))


def both(engine, method, model, data, **options):
    """Return the importances, ours and of a package, each with its baseline."""
    row = engines.ENGINES["python"]["importance"][method].function
    asked = {"seed": 7, **options}
    ours = {name: value for name, value in asked.items() if name != "form"}
    if "stream" in signature(row).parameters:
        ours["stream"] = engines.describe_engine(engine).stream
    theirs = engines.ENGINES[engine]["importance"][method].function
    return row(model, data, **ours), theirs(model, data, **asked)
