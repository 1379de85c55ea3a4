"""Packings of scikit-learn's trees: the predictions of the library to the last bit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from importance_audit.methods.trees import READERS, pack
from importance_audit.methods.trees.packing import predict

from .small_ensembles import answer, around_thresholds, classes_of, drawn, same_bits

pytestmark = pytest.mark.needs_numba

BY_CATEGORY = {"max_iter": 4, "min_samples_leaf": 3, "categorical_features": [2, 3]}
MODELS = (
    DecisionTreeRegressor(random_state=1),
    DecisionTreeRegressor(max_leaf_nodes=7),  # its nodes are in another order
    ExtraTreeRegressor(random_state=1),
    RandomForestRegressor(11, random_state=1),
    ExtraTreesRegressor(11, random_state=1),
    GradientBoostingRegressor(n_estimators=15, random_state=1),
    GradientBoostingRegressor(n_estimators=5, loss="huber", init="zero"),
    GradientBoostingRegressor(n_estimators=1, init=DummyRegressor(strategy="median")),
    DecisionTreeClassifier(random_state=1),
    ExtraTreeClassifier(random_state=1),
    RandomForestClassifier(11, class_weight="balanced", random_state=1),
    ExtraTreesClassifier(11, random_state=1),
    GradientBoostingClassifier(n_estimators=5, random_state=1),
    GradientBoostingClassifier(n_estimators=20, loss="exponential"),
    HistGradientBoostingRegressor(max_iter=15),
    HistGradientBoostingRegressor(max_iter=5, loss="poisson"),
    HistGradientBoostingRegressor(**BY_CATEGORY),
    HistGradientBoostingClassifier(max_iter=5),
    HistGradientBoostingClassifier(**BY_CATEGORY),
)


def fitted(model, rows, score, n_classes=2):
    is_of_classes = type(model).__name__.endswith("Classifier")
    return model.fit(rows, classes_of(score, n_classes) if is_of_classes else score)


@pytest.mark.slow
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    n_missing=st.sampled_from([0, 1, 5]),
    n_classes=st.sampled_from([2, 3, 9]),
)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_predictions_are_those_of_the_library(model, seed, n_missing, n_classes):
    takes_missing = type(model).__name__.startswith("Hist")
    n_missing *= takes_missing
    rows, score = drawn(seed, n_missing)
    fitted(model, rows, score, 2 if "exponential" in str(model) else n_classes)
    others = drawn(seed + 1, 2 * takes_missing)[0]
    others[:8, 2] = [-1, -0.5, 0.5, 91, 255, 89.9, 3, 2]  # not all met in training
    asked = np.vstack([rows, others, others[::-1] * [1, -1, 1, 1, 0]])
    assert same_bits([predict(pack(model), asked)], [answer(model, asked)])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_on_a_threshold_go_left(model):
    rows, score = drawn(5)
    packing = pack(fitted(model, rows, score))
    around = around_thresholds(packing)
    assert same_bits([predict(packing, around)], [answer(model, around)])


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, GradientBoostingRegressor])
def test_one_leaf_is_an_ensemble(kind):
    rows = np.zeros((4, 3))
    model = kind().fit(rows, np.ones(4))
    packing = pack(model)
    assert packing.depth == 0
    assert same_bits([predict(packing, rows)], [answer(model, rows)])


def fitted_if_taken(model, X, y):
    """Return a fitted model; skip if the library refuses such categories."""
    try:
        return model.fit(X, y)
    except ValueError as error:
        pytest.skip(f"this scikit-learn says: {error}")


def test_any_numbers_may_be_categories_in_any_column():
    rows, score = drawn(3, 1)
    values = np.array([-2.5, 0.0, 300.0, 1e9])
    rows[:, 1] = np.where(np.isnan(rows[:, 3]), np.nan, values[np.arange(120) % 4])
    score = score + (rows[:, 1] == 300) - 2 * (rows[:, 1] == -2.5)
    options = BY_CATEGORY | {"categorical_features": [1, 3]}
    model = fitted_if_taken(HistGradientBoostingRegressor(**options), rows, score)
    asked = drawn(4, 2)[0]
    asked[:, 1] = np.resize([*values, -2.4, 44, 299.5, np.nan], len(asked))
    both = np.vstack([rows, asked])
    assert np.array_equal(predict(pack(model), both)[:, 0], model.predict(both))


def test_a_code_that_the_library_takes_for_another_has_no_bin():
    """scikit-learn takes 257 for 1 before 1.4, and for missing since."""
    rows, score = drawn(1)
    model = HistGradientBoostingRegressor(**BY_CATEGORY).fit(rows, score)
    packing, asked = pack(model), np.vstack([rows[:1], rows[:1]])
    asked[:, 2] = 1, 257
    is_taken_for_one = len(set(model.predict(asked))) == 1
    assert packing.can_place(asked) == (packing.codes.most > 255)
    assert packing.can_place(asked) or is_taken_for_one
    assert packing.can_place(asked[:1])


def test_categories_that_are_no_numbers_are_not_read():
    rows, score = drawn(1)
    kind = pd.Categorical(np.where(rows[:, 3] == 6, "six", "other"))
    X = pd.DataFrame(rows).assign(kind=kind).rename(columns=str)
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features=[5])
    model = fitted_if_taken(model, X, score)
    assert pack(model) == "It encodes categories that are no numbers."


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            LinearRegression(),
            "LinearRegression is no ensemble of trees that can be read.",
        ),
        (
            GradientBoostingRegressor(n_estimators=2, init=LinearRegression()),
            "It starts from the predictions of a LinearRegression.",
        ),
    ],
    ids=str,
)
def test_what_is_not_read_says_why(model, reason):
    assert pack(model.fit(*drawn(1))) == reason


def test_every_reader_is_held_against_its_library():
    held = {f"sklearn.{type(model).__name__}" for model in MODELS}
    assert {name for name in READERS if name.startswith("sklearn.")} == held
