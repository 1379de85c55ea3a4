"""Replayed draws: what predict gives for the changed tables, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from importance_audit.methods.trees import pack
from importance_audit.methods.trees import replay as module
from importance_audit.methods.trees.few_leaves import MOST_LEAVES, most_leaves_of
from importance_audit.methods.trees.replay import replay

from .small_ensembles import TAKES_MISSING, answer, fitted, kinds, same_bits, seeds

pytestmark = pytest.mark.needs_numba

N_FEATURES = 5
ALONE = [[j] for j in range(N_FEATURES)]
most_leaves = st.sampled_from([0, MOST_LEAVES])
"""Whether trees of few leaves are sets of leaves, or are walked as others are."""
n_threads = st.sampled_from([1, 3])


def large(model, n_rows=70, seed=1):
    """Return a model and so many rows of two of its features' products."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200 + n_rows, N_FEATURES))
    target = rows[:, 0] * rows[:, 1] + np.sin(3 * rows[:, 2]) + rows[:, 3]
    if isinstance(model, RandomForestClassifier):
        target = np.searchsorted(np.quantile(target, [0.3, 0.6]), target)
    return model.fit(rows[:200], target[:200]), rows[200:]


def draws_of(n_rows, n_repeats, seed=1):
    """Return as many permutations of each feature, repeat by repeat."""
    rng = np.random.default_rng(seed)
    pairs = [g for _ in range(n_repeats) for g in range(N_FEATURES)]
    return [(g, rng.permutation(n_rows)) for g in pairs]


def replayed(model, rows, groups, draws, **options):
    packing = pack(model)
    return replay(packing, packing.bins(rows), groups, draws, **options)


def by_predict(model, rows, groups, draws):
    """Yield what predict gives for each table with values of other rows."""
    for group, order in draws:
        table = rows.copy()
        table[:, groups[group]] = rows[order][:, groups[group]]
        yield answer(model, table)


@settings(max_examples=40)
@given(
    kind=kinds,
    seed=seeds,
    n_draws=st.integers(1, 90),
    groups=st.lists(st.sets(st.integers(0, 4)).map(sorted), min_size=1, max_size=5),
    most_leaves=most_leaves,
    max_bytes=st.sampled_from([1, 5_000, 10**8]),
    n_threads=n_threads,
)
def test_any_draws_of_any_groups_in_any_order(kind, seed, n_draws, groups, **options):
    model, rows = fitted(kind, seed)
    rng = np.random.default_rng(seed)
    n = len(rows)
    draws = [(int(rng.integers(len(groups))), rng.integers(n, size=n))]
    draws += [
        (int(rng.integers(len(groups))), rng.permutation(n)) for _ in range(n_draws - 1)
    ]
    ours = replayed(model, rows, groups, draws, **options)
    assert same_bits(ours, by_predict(model, rows, groups, draws))


def test_shares_that_add_up_to_one_but_for_the_last_digit_are_left_as_they_are():
    """scikit-learn 1.9 says shares of some rows that no division by a sum gives."""
    forest = RandomForestClassifier(3, max_leaf_nodes=MOST_LEAVES, random_state=1)
    draws = [(0, np.arange(2))]
    for seed in (100150, *range(20)):
        model, rows = large(forest, n_rows=2, seed=seed)
        ours = replayed(model, rows, [[]], draws)
        assert same_bits(ours, by_predict(model, rows, [[]], draws))


@pytest.mark.parametrize("max_leaf_nodes", [None, 9])
def test_no_bit_depends_on_threads_or_on_what_is_held_at_once(max_leaf_nodes):
    options = {"max_leaf_nodes": max_leaf_nodes, "random_state": 1}
    model, rows = large(RandomForestClassifier(5, **options), 3000)
    draws = draws_of(len(rows), 3)
    alone = list(replayed(model, rows, ALONE, draws))
    numbers = [{"n_threads": n} for n in (2, 3, 7)]
    for options in (*numbers, {"max_bytes": 1}, {"max_bytes": 400_000}):
        assert same_bits(replayed(model, rows, ALONE, draws, **options), alone)


def test_a_walk_of_many_rows_can_be_stopped_between_them(monkeypatch):
    monkeypatch.setattr(module, "BLOCKS_ALONE", 2)
    model, rows = large(RandomForestRegressor(2, random_state=1), 6 * module.MOST_ROWS)
    n_walked, walk = [], module._walk_rows

    def noted(task, sums, first, last, block):
        n_walked.append(last - first)
        walk(task, sums, first, last, block)

    monkeypatch.setattr(module, "_walk_rows", noted)
    list(replayed(model, rows, ALONE, draws_of(len(rows), 1)))
    assert sum(n_walked) == len(rows)
    assert max(n_walked) == 2 * module.MOST_ROWS


@pytest.mark.parametrize(("max_leaf_nodes", "is_walked"), [(32, False), (33, True)])
def test_trees_of_more_leaves_than_a_set_has_are_walked(
    monkeypatch, max_leaf_nodes, is_walked
):
    options = {"max_leaf_nodes": max_leaf_nodes, "random_state": 1}
    model, rows = large(RandomForestRegressor(2, **options))
    assert most_leaves_of(pack(model)) == max_leaf_nodes
    walks, walk = [], module._walk_rows
    monkeypatch.setattr(
        module, "_walk_rows", lambda *own: walks.append(own) or walk(*own)
    )
    draws = draws_of(len(rows), 2)
    ours = replayed(model, rows, ALONE, draws)
    assert same_bits(ours, by_predict(model, rows, ALONE, draws))
    assert bool(walks) == is_walked


def test_a_tree_of_one_leaf_answers_with_it_and_no_draws_are_no_predictions():
    rows = np.arange(12.0).reshape(4, 3)
    model = DecisionTreeRegressor().fit(rows, [2.0, 2.0, 2.0, 2.0])
    ours = replayed(model, rows, [[0]], [(0, np.array([3, 2, 1, 0]))])
    assert same_bits(ours, [np.full((4, 1), 2.0)])
    assert list(replayed(model, rows, [[0]], [])) == []


def points_of(rows, columns, n_points, seed):
    """Return values that rows have, between them and beyond, in any order."""
    rng = np.random.default_rng(seed)
    points = np.stack([rng.choice(rows[:, j], n_points) for j in columns], axis=1)
    beyond = rng.choice([-np.inf, -1.0, 0.0, 0.5, 100.0], points.shape)
    is_beyond = (rng.random(points.shape) < 0.3) & np.isfinite(beyond)
    return np.where(is_beyond, beyond, points)


@settings(max_examples=40)
@given(
    kind=kinds,
    seed=seeds,
    columns=st.sets(st.integers(0, 4), min_size=1, max_size=3).map(sorted),
    n_points=st.sampled_from([1, 2, 33]),
    has_missing=st.booleans(),
    most_leaves=most_leaves,
    n_threads=n_threads,
)
def test_any_settings_of_any_columns(
    kind, seed, columns, n_points, has_missing, **options
):
    model, rows = fitted(kind, seed)
    points = points_of(rows, columns, n_points, seed)
    if kind in TAKES_MISSING:
        points[0] = np.nan
        rows = rows if has_missing else np.nan_to_num(rows)
    lenders = np.zeros((n_points, N_FEATURES))
    lenders[:, columns] = points
    options["lenders"] = pack(model).bins(lenders)
    draws = [(0, np.full(len(rows), at)) for at in range(n_points)]
    answers = []
    for point in points:
        table = rows.copy()
        table[:, columns] = point
        answers.append(answer(model, table))
    assert same_bits(replayed(model, rows, [columns], draws, **options), answers)
