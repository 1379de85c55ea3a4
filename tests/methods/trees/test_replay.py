"""Replayed draws: what predict gives for the changed tables, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from tests.methods.trees.small_ensembles import TAKES_MISSING, answer, kinds, seeds
from tests.methods.trees.small_ensembles import fitted as fitted_kind

from importance_audit.methods.trees import pack
from importance_audit.methods.trees import replay as module
from importance_audit.methods.trees.few_leaves import MOST_LEAVES, most_leaves_of
from importance_audit.methods.trees.packing import predict
from importance_audit.methods.trees.replay import replay

pytestmark = pytest.mark.needs_numba

N_FEATURES, UNUSED = 6, 4
ALONE = [[j] for j in range(N_FEATURES)]
MODELS = (
    DecisionTreeRegressor(random_state=1),
    RandomForestRegressor(12, min_samples_leaf=2, random_state=1),
    RandomForestClassifier(9, random_state=1),
    ExtraTreesClassifier(9, random_state=1),
    GradientBoostingRegressor(n_estimators=20, random_state=1),
    GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=32, max_depth=None),
    GradientBoostingClassifier(n_estimators=4, random_state=1),
    HistGradientBoostingRegressor(max_iter=15, categorical_features=[5]),
    HistGradientBoostingClassifier(max_iter=4, categorical_features=[5]),
)


def fitted(model, n_rows=70, seed=1):
    """Return rows with ties, and a model fitted to others of their kind."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200 + n_rows, N_FEATURES))
    rows[:, 1] = rows[:, 1].round(1)
    rows[:, UNUSED] = 3.0
    rows[:, 5] = rng.integers(0, 12, len(rows))
    target = rows[:, 0] * rows[:, 1] + np.sin(rows[:, 5]) + rows[:, 2]
    if hasattr(model, "categorical_features"):
        rows[rng.random(rows.shape) < 0.1] = np.nan
    if type(model).__name__.endswith("Classifier"):
        target = np.searchsorted(np.quantile(target, [0.3, 0.6]), target)
    return rows[200:], model.fit(rows[:200], target[:200])


def draws_of(n_rows, n_repeats, seed=1, n_groups=N_FEATURES):
    """Return as many permutations of each group, repeat by repeat."""
    rng = np.random.default_rng(seed)
    return [
        (g, rng.permutation(n_rows)) for _ in range(n_repeats) for g in range(n_groups)
    ]


def by_predict(model, rows, groups, draws):
    """Yield what predict gives for each permuted table."""
    ask = getattr(model, "predict_proba", model.predict)
    for group, order in draws:
        table = rows.copy()
        for j in groups[group]:
            table[:, j] = rows[order, j]
        yield ask(table).reshape(len(rows), -1)


def assert_same_bits(ours, theirs):
    ours, theirs = np.array(list(ours)), np.array(list(theirs))
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("most_leaves", [0, MOST_LEAVES])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_draw_has_the_prediction_of_its_table(model, most_leaves):
    rows, model = fitted(model)
    packing, draws = pack(model), draws_of(len(rows), 5)
    ours = replay(packing, packing.bins(rows), ALONE, draws, most_leaves=most_leaves)
    assert_same_bits(ours, by_predict(model, rows, ALONE, draws))


def test_shares_that_add_up_to_one_but_for_the_last_digit_are_left_as_they_are():
    """scikit-learn 1.9 says shares of these rows that no division by a sum gives."""
    forest = RandomForestClassifier(3, max_leaf_nodes=MOST_LEAVES, random_state=1)
    rows, model = fitted(forest, n_rows=2, seed=100150)
    packing, draws = pack(model), [(0, np.array([0, 1]))]
    ours = replay(packing, packing.bins(rows), [[]], draws)
    assert_same_bits(ours, by_predict(model, rows, [[]], draws))


@settings(max_examples=25)
@given(
    model=st.sampled_from(
        [
            RandomForestRegressor(3, random_state=1),
            RandomForestClassifier(3, max_leaf_nodes=MOST_LEAVES, random_state=1),
            GradientBoostingClassifier(n_estimators=2, random_state=1),
        ]
    ),
    seed=st.integers(0, 10**6),
    n_rows=st.sampled_from([1, 2, 40]),
    n_draws=st.integers(1, 90),
    groups=st.lists(st.sets(st.integers(0, 5)).map(sorted), min_size=1, max_size=5),
    max_bytes=st.sampled_from([1, 5_000, 10**8]),
)
def test_any_draws_of_any_groups_in_any_order(
    model, seed, n_rows, n_draws, groups, max_bytes
):
    rows, model = fitted(model, n_rows, seed)
    rng = np.random.default_rng(seed)
    draws = [
        (int(rng.integers(len(groups))), rng.integers(n_rows, size=n_rows))
        for _ in range(n_draws)
    ]
    packing = pack(model)
    ours = replay(packing, packing.bins(rows), groups, draws, max_bytes=max_bytes)
    assert_same_bits(ours, by_predict(model, rows, groups, draws))


@pytest.mark.parametrize("n_repeats", [31, 32, 70])
def test_more_repeats_than_a_walk_has_bits_for(n_repeats):
    rows, model = fitted(GradientBoostingRegressor(n_estimators=4, random_state=1))
    packing, draws = pack(model), draws_of(len(rows), n_repeats)
    ours = replay(packing, packing.bins(rows), ALONE, draws)
    assert_same_bits(ours, by_predict(model, rows, ALONE, draws))


@pytest.mark.parametrize("n_rows", [70, 3000])
@pytest.mark.parametrize("max_leaf_nodes", [None, 9])
def test_no_bit_depends_on_threads_or_on_what_is_held_at_once(n_rows, max_leaf_nodes):
    options = {"max_leaf_nodes": max_leaf_nodes, "random_state": 1}
    rows, model = fitted(RandomForestClassifier(5, **options), n_rows)
    packing, draws = pack(model), draws_of(n_rows, 3)
    alone = list(replay(packing, packing.bins(rows), ALONE, draws))
    numbers = [{"n_threads": n} for n in (2, 3, 7)]
    for options in (*numbers, {"max_bytes": 1}, {"max_bytes": 400_000}):
        ours = replay(packing, packing.bins(rows), ALONE, draws, **options)
        assert_same_bits(ours, alone)


def test_a_walk_of_many_rows_can_be_stopped_between_them(monkeypatch):
    monkeypatch.setattr(module, "BLOCKS_ALONE", 2)
    rows, model = fitted(RandomForestRegressor(2, random_state=1), 6 * module.MOST_ROWS)
    packing, n_walked = pack(model), []
    walk = module._walk_rows

    def noted(task, sums, first, last, block):
        n_walked.append(last - first)
        walk(task, sums, first, last, block)

    monkeypatch.setattr(module, "_walk_rows", noted)
    list(replay(packing, packing.bins(rows), ALONE, draws_of(len(rows), 1)))
    assert sum(n_walked) == len(rows)
    assert max(n_walked) == 2 * module.MOST_ROWS


@pytest.mark.parametrize(("max_leaf_nodes", "is_walked"), [(32, False), (33, True)])
def test_trees_of_more_leaves_than_a_set_has_are_walked(
    monkeypatch, max_leaf_nodes, is_walked
):
    options = {"max_leaf_nodes": max_leaf_nodes, "random_state": 1}
    rows, model = fitted(RandomForestRegressor(2, **options))
    packing, walks = pack(model), []
    assert most_leaves_of(packing) == max_leaf_nodes
    walk = module._walk_rows
    monkeypatch.setattr(
        module, "_walk_rows", lambda *own: walks.append(own) or walk(*own)
    )
    draws = draws_of(len(rows), 2)
    ours = replay(packing, packing.bins(rows), ALONE, draws)
    assert_same_bits(ours, by_predict(model, rows, ALONE, draws))
    assert bool(walks) == is_walked


def test_a_feature_that_no_node_uses_changes_nothing():
    rows, model = fitted(RandomForestRegressor(5, random_state=1))
    packing = pack(model)
    draws = [(UNUSED, order) for _, order in draws_of(len(rows), 40, n_groups=1)]
    ours = replay(packing, packing.bins(rows), ALONE, draws)
    assert_same_bits(ours, [predict(packing, rows)] * 40)


def test_a_tree_of_one_leaf_answers_with_it():
    rows = np.arange(12.0).reshape(4, 3)
    model = DecisionTreeRegressor().fit(rows, [2.0, 2.0, 2.0, 2.0])
    packing = pack(model)
    ours = replay(packing, packing.bins(rows), [[0]], [(0, np.array([3, 2, 1, 0]))])
    assert_same_bits(ours, [np.full((4, 1), 2.0)])


def test_no_draws_are_no_predictions():
    rows, model = fitted(RandomForestRegressor(2, random_state=1))
    packing = pack(model)
    assert list(replay(packing, packing.bins(rows), ALONE, [])) == []


def set_by_trees(model, rows, columns, points, **options):
    """Return the predictions of all rows with columns set to each of some points."""
    packing = pack(model)
    lenders = np.zeros((len(points), rows.shape[1]))
    lenders[:, columns] = points
    draws = [(0, np.full(len(rows), at)) for at in range(len(points))]
    options["lenders"] = packing.bins(lenders)
    answers = replay(packing, packing.bins(rows), [columns], draws, **options)
    return np.stack(list(answers))


def predictions_of_settings(model, rows, columns, points):
    """Return what predict gives for the rows with the columns set to each point."""
    answers = []
    for point in points:
        table = rows.copy()
        table[:, columns] = point
        answers.append(answer(model, table))
    return np.stack(answers)


def points_of(rows, columns, n_points, seed):
    """Return values that rows have, between them and beyond, in any order."""
    rng = np.random.default_rng(seed)
    points = np.stack([rng.choice(rows[:, j], n_points) for j in columns], axis=1)
    beyond = rng.choice([-np.inf, -1.0, 0.0, 0.5, 100.0], points.shape)
    is_beyond = (rng.random(points.shape) < 0.3) & np.isfinite(beyond)
    return np.where(is_beyond, beyond, points)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("columns", [[0], [5], [UNUSED], [0, 1], [5, 2, 0]])
@pytest.mark.parametrize("most_leaves", [0, MOST_LEAVES])
def test_every_setting_has_the_prediction_of_its_table(model, columns, most_leaves):
    rows, model = fitted(model)
    points = points_of(rows, columns, 30, 1)
    ours = set_by_trees(model, rows, columns, points, most_leaves=most_leaves)
    assert_same_bits(ours, predictions_of_settings(model, rows, columns, points))


@settings(max_examples=40, deadline=None)
@given(
    kind=kinds,
    seed=seeds,
    columns=st.sets(st.integers(0, 4), min_size=1, max_size=3).map(sorted),
    n_points=st.sampled_from([1, 2, 33]),
    n_threads=st.sampled_from([1, 3]),
)
def test_any_settings_of_any_columns(kind, seed, columns, n_points, n_threads):
    model, rows = fitted_kind(kind, seed)
    points = points_of(rows, columns, n_points, seed)
    if kind in TAKES_MISSING and n_points > 1:
        points[0] = np.nan
    ours = set_by_trees(model, rows, columns, points, n_threads=n_threads)
    assert_same_bits(ours, predictions_of_settings(model, rows, columns, points))


def test_missing_settings_of_rows_without_missing_values():
    model, rows = fitted_kind("histograms", 2)
    rows = np.nan_to_num(rows)
    points = np.array([[np.nan], [0.0], [1.0]])
    for j in range(rows.shape[1]):
        ours = set_by_trees(model, rows, [j], points)
        assert_same_bits(ours, predictions_of_settings(model, rows, [j], points))
