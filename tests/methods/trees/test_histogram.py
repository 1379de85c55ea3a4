"""Histogram gradient boosting: missing values and categories go where its own do."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.packing import predict

pytestmark = pytest.mark.needs_numba

N_ROWS, CATEGORICAL = 150, [2, 3]


def drawn(seed, n_missing):
    """Return rows of two numbers, two categorical columns and a score."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(N_ROWS, 4))
    rows[:, 2] = rng.integers(0, 90, N_ROWS)
    rows[:, 3] = 7 * rng.integers(0, 3, N_ROWS)
    score = rows[:, 0] + 2 * np.sin(rows[:, 2]) + (rows[:, 3] == 7)
    rows[rng.random(rows.shape) < n_missing / 10] = np.nan
    return rows, score


def is_missing_in(packing, rows):
    return packing.bins(rows) == packing.missing_bins[:, np.newaxis]


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    n_missing=st.sampled_from([0, 1, 5]),
    categorical=st.sampled_from([None, CATEGORICAL]),
    n_classes=st.sampled_from([0, 2, 9]),
)
def test_missing_values_and_categories_go_where_they_should(
    seed, n_missing, categorical, n_classes
):
    options = {
        "max_iter": 4,
        "min_samples_leaf": 3,
        "categorical_features": categorical,
    }
    rows, score = drawn(seed, n_missing)
    others = drawn(seed + 1, 2)[0]
    others[:9, 2] = [-1, -0.5, 0.5, 91, 255, 89.9, np.nan, 3, 2]
    both = np.vstack([rows, others])
    if n_classes:
        edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
        model = HistGradientBoostingClassifier(**options)
        model.fit(rows, np.searchsorted(edges, score))
        expected = model.predict_proba(both)
    else:
        model = HistGradientBoostingRegressor(**options).fit(rows, score)
        expected = model.predict(both)[:, np.newaxis]
    assert np.array_equal(predict(pack(model), both), expected)


def test_the_loss_of_counts_has_the_link_of_its_library():
    rows, score = drawn(1, 1)
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=5)
    model.fit(rows, np.abs(score))
    assert np.array_equal(predict(pack(model), rows)[:, 0], model.predict(rows))


def test_a_category_that_is_not_known_is_missing():
    rows, score = drawn(2, 0)
    options = {"max_iter": 3, "categorical_features": CATEGORICAL}
    packing = pack(HistGradientBoostingRegressor(**options).fit(rows, score))
    asked = np.array([[0, 0, rows[0, 2], 7.0], [0, 0, 95, 7], [np.nan, 0, -1, 8]])
    expected = [[False] * 4, [False, False, True, False], [True, False, True, True]]
    assert is_missing_in(packing, asked).T.tolist() == expected


def test_a_number_between_categories_is_what_the_library_takes_it_for():
    rows, score = drawn(2, 1)
    score = score + 9 * (rows[:, 3] == 7)
    options = {"max_iter": 3, "min_samples_leaf": 3, "categorical_features": [3]}
    model = HistGradientBoostingRegressor(**options).fit(rows, score)
    at = {code: rows.copy() for code in (7, 7.5, np.nan)}
    for code, asked in at.items():
        asked[:, 3] = code
    known, between, missing = (model.predict(asked) for asked in at.values())
    assert not np.array_equal(known, missing)
    is_missing = is_missing_in(pack(model), at[7.5])[3]
    assert is_missing.all() or not is_missing.any()
    assert np.array_equal(between, missing if is_missing.all() else known)


def fitted_if_taken(model, X, y):
    """Return a fitted model; skip if the library refuses such categories."""
    try:
        return model.fit(X, y)
    except ValueError as error:
        pytest.skip(f"this scikit-learn says: {error}")


def test_any_numbers_may_be_categories_in_any_column():
    rows, score = drawn(3, 1)
    values = np.array([-2.5, 0.0, 300.0, 1e9])
    rows[:, 1] = np.where(np.isnan(rows[:, 3]), np.nan, values[np.arange(150) % 4])
    score = score + (rows[:, 1] == 300) - 2 * (rows[:, 1] == -2.5)
    options = {"max_iter": 5, "min_samples_leaf": 3, "categorical_features": [1, 3]}
    model = fitted_if_taken(HistGradientBoostingRegressor(**options), rows, score)
    asked = drawn(4, 2)[0]
    asked[:, 1] = np.resize([*values, -2.4, 44, 299.5, np.nan], len(asked))
    both = np.vstack([rows, asked])
    assert np.array_equal(predict(pack(model), both)[:, 0], model.predict(both))


def test_categories_that_are_no_numbers_are_not_read():
    rows, score = drawn(1, 0)
    kind = pd.Categorical(np.where(rows[:, 3] == 7, "seven", "other"))
    X = pd.DataFrame(rows).assign(kind=kind).rename(columns=str)
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features=[4])
    model = fitted_if_taken(model, X, score)
    assert pack(model) == "It encodes categories that are no numbers."
