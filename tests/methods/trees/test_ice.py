"""Rows with columns set: what predict gives for them, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor
from tests.methods.trees.small_ensembles import (
    TAKES_MISSING,
    UNUSED,
    answer,
    fitted,
    kinds,
    seeds,
)
from tests.methods.trees.test_replay import MODELS
from tests.methods.trees.test_replay import fitted as fitted_model

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.ice import dependences, sums_at

pytestmark = pytest.mark.needs_numba


def by_trees(model, rows, columns, points, **options):
    """Return predictions (n_points, n_rows, n_outputs) of the trees."""
    packing = pack(model)
    table = np.zeros((len(points), rows.shape[1]))
    table[:, columns] = points
    at = packing.bins(table)[columns]
    sums = sums_at(packing, packing.bins(rows), columns, at, **options)
    return np.stack([packing.predicted(each) for each in sums])


def by_predict(model, rows, columns, points):
    """Return what predict gives for the rows with the columns set to each point."""
    answers = []
    for point in points:
        table = rows.copy()
        table[:, columns] = point
        answers.append(answer(model, table))
    return np.stack(answers)


def assert_same_bits(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


def points_of(rows, columns, n_points, seed):
    """Return values that rows have, between them and beyond, in any order."""
    rng = np.random.default_rng(seed)
    points = np.stack([rng.choice(rows[:, j], n_points) for j in columns], axis=1)
    beyond = rng.choice([-np.inf, -1.0, 0.0, 0.5, 100.0], points.shape)
    is_beyond = (rng.random(points.shape) < 0.3) & np.isfinite(beyond)
    return np.where(is_beyond, beyond, points)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("columns", [[0], [5], [4], [0, 1], [5, 2, 0]])
def test_every_setting_has_the_prediction_of_its_table(model, columns):
    rows, model = fitted_model(model)
    points = points_of(rows, columns, 30, 1)
    ours = by_trees(model, rows, columns, points)
    assert_same_bits(ours, by_predict(model, rows, columns, points))


@settings(max_examples=40, deadline=None)
@given(
    kind=kinds,
    seed=seeds,
    columns=st.sets(st.integers(0, 4), min_size=1, max_size=3).map(sorted),
    n_points=st.sampled_from([1, 2, 33]),
    n_threads=st.sampled_from([1, 3]),
)
def test_any_settings_of_any_columns(kind, seed, columns, n_points, n_threads):
    model, rows = fitted(kind, seed)
    points = points_of(rows, columns, n_points, seed)
    if kind in TAKES_MISSING and n_points > 1:
        points[0] = np.nan
    ours = by_trees(model, rows, columns, points, n_threads=n_threads)
    assert_same_bits(ours, by_predict(model, rows, columns, points))


@pytest.mark.parametrize("n_rows", [1, 2000])
def test_no_bit_depends_on_threads(n_rows):
    rows, model = fitted_model(MODELS[2], n_rows)
    points = points_of(rows, [1], 20, 1)
    alone = by_trees(model, rows, [1], points)
    assert_same_bits(by_trees(model, rows, [1], points, n_threads=4), alone)


def test_a_column_that_no_node_compares_changes_nothing():
    model, rows = fitted("forest", 1)
    ours = by_trees(model, rows, [UNUSED], np.array([[-9.0], [1 / 3], [9.0]]))
    assert_same_bits(ours, np.stack([answer(model, rows)] * 3))


def test_missing_settings_of_rows_without_missing_values():
    model, rows = fitted("histograms", 2)
    rows = np.nan_to_num(rows)
    points = np.array([[np.nan], [0.0], [1.0]])
    for j in range(rows.shape[1]):
        ours = by_trees(model, rows, [j], points)
        assert_same_bits(ours, by_predict(model, rows, [j], points))


def test_a_tree_of_one_leaf_answers_with_it():
    rows = np.arange(12.0).reshape(4, 3)
    model = DecisionTreeRegressor().fit(rows, [2.0, 2.0, 2.0, 2.0])
    ours = by_trees(model, rows, [0], np.array([[3.0], [5.0]]))
    assert_same_bits(ours, np.full((2, 4, 1), 2.0))


@settings(max_examples=30, deadline=None)
@given(
    kind=kinds,
    seed=seeds,
    columns=st.sets(st.integers(0, 4), min_size=1, max_size=3).map(sorted),
    n_threads=st.sampled_from([1, 3]),
)
def test_dependences_are_both_means_of_what_predict_gives(
    kind, seed, columns, n_threads
):
    model, rows = fitted(kind, seed)
    packing = pack(model)
    own, others = dependences(packing, packing.bins(rows), columns, n_threads=n_threads)
    predictions = by_predict(model, rows, columns, rows[:, columns])
    allowed = 1e-12 * np.abs(predictions).max()
    for ours, axis in ((own, 1), (others, 0)):
        theirs = predictions.mean(axis=axis)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed)


def test_threads_change_no_bit_of_dependences():
    rows, model = fitted_model(MODELS[2], 500)
    packing = pack(model)
    alone = dependences(packing, packing.bins(rows), [0, 1])
    threads = dependences(packing, packing.bins(rows), [0, 1], n_threads=3)
    for ours, theirs in zip(alone, threads, strict=True):
        assert_same_bits(ours, theirs)
