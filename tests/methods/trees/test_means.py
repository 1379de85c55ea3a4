"""Means of predictions from the rows near each leaf, held against the library."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from importance_audit.methods.trees import counts, pack
from importance_audit.methods.trees.dependences import dependences
from importance_audit.methods.trees.pairs import Pairs
from importance_audit.methods.trees.partial_dependence import (
    curves_at_bins,
    reason_against,
)

from .small_ensembles import (
    TAKES_MISSING,
    UNUSED,
    answer,
    brute_force,
    fitted,
    same_bits,
    seeds,
    sums,
)

pytestmark = pytest.mark.needs_numba

paths = st.sampled_from(
    [{}, {"MOST_LEAVES": 0}, {"MOST_LEAVES": 0, "BLOCK": 7}, {"MOST_WORDS": 1}]
)
"""Rows near leaves are counted as bits or as lists, all at once or in blocks."""
n_threads = st.sampled_from([1, 3])


def counted(path, ask, *arguments, **options):
    """Return what a function answers that counts rows in this way."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in path.items():
            patched.setattr(counts, name, value)
        return ask(*arguments, **options)


def assert_near(ours, theirs):
    assert ours.shape == theirs.shape
    atol = 1e-12 * np.abs(theirs).max()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)


@pytest.mark.slow
@settings(max_examples=25)
@given(kind=sums, seed=seeds, path=paths, n_threads=n_threads)
def test_curves_are_the_mean_predictions_of_the_library(kind, seed, path, n_threads):
    model, rows = fitted(kind, seed)
    rows = np.tile(rows, (3, 1))  # more than the 64 of one word
    packing = pack(model)
    bins = packing.bins(rows)
    curves = counted(path, curves_at_bins, packing, bins, n_threads=n_threads)
    assert (curves[UNUSED] == curves[UNUSED][0]).all()
    for j in range(rows.shape[1]):
        points = np.concatenate([rows[::3, j], [-9.0, 0.05, 9.0]])
        if kind not in TAKES_MISSING:
            points = points[~np.isnan(points)]
        changed = np.zeros((len(points), packing.n_features))
        changed[:, j] = points
        ours = curves[j][packing.bins(changed)[j]]
        assert_near(ours, brute_force(model, rows, [{j: point} for point in points]))


@pytest.mark.slow
@settings(max_examples=12)
@given(kind=sums, seed=seeds, path=paths, n_threads=n_threads)
def test_what_two_do_together_is_the_joint_curve_without_the_single_ones(
    kind, seed, path, n_threads
):
    model, rows = fitted(kind, seed)
    few, rows = rows, np.tile(rows, (3, 1))
    packing = pack(model)
    pairs = counted(path, Pairs, packing, packing.bins(rows), n_threads=n_threads)
    single = [
        brute_force(model, few, [{j: row[j]} for row in rows]) for j in range(UNUSED)
    ]
    for j, k in combinations(range(UNUSED), 2):
        joint = brute_force(model, few, [{j: row[j], k: row[k]} for row in few])
        joint = np.tile(joint, (3, 1))
        theirs = joint - single[j] - single[k]
        for ours in (pairs.together(j, k), pairs.together(k, j)):
            off = (ours - ours.mean(axis=0)) - (theirs - theirs.mean(axis=0))
            assert np.abs(off).max() <= 1e-12 * np.abs(joint).max()
        assert_near(pairs.alone(j), single[j])
    assert not any(pairs.together(j, UNUSED).any() for j in range(UNUSED))


def pairs_of(model, rows):
    packing = pack(model)
    return Pairs(packing, packing.bins(rows))


def test_a_sum_of_stumps_interacts_exactly_0():
    rows = np.random.default_rng(1).normal(size=(80, 3))
    model = GradientBoostingRegressor(max_depth=1, n_estimators=30)
    pairs = pairs_of(model.fit(rows, rows @ [1, 2, 3]), rows)
    assert all((pairs.together(j, k) == 0).all() for j, k in combinations(range(3), 2))


def test_a_product_of_two_signs_is_all_they_do():
    rows = np.array(list(product((-1.0, 1.0), repeat=3)))
    model, _ = fitted("tree", 1)
    pairs = pairs_of(model.fit(rows, rows[:, 0] * rows[:, 1]), rows)
    assert pairs.together(0, 1).ravel().tolist() == (rows[:, 0] * rows[:, 1]).tolist()
    assert not np.any(pairs.alone(0))


@settings(max_examples=20)
@given(
    kind=sums,
    seed=seeds,
    columns=st.sets(st.integers(0, 4), min_size=1, max_size=3).map(sorted),
)
def test_dependences_are_both_means_of_what_predict_gives(kind, seed, columns):
    model, rows = fitted(kind, seed)
    packing = pack(model)
    bins = packing.bins(rows)
    alone, both = (dependences(packing, bins, columns, n_threads=n) for n in (1, 3))
    assert same_bits(alone, both)
    predictions = []
    for row in rows:
        changed = rows.copy()
        changed[:, columns] = row[columns]
        predictions.append(answer(model, changed))
    allowed = 1e-12 * np.abs(predictions).max()
    for ours, axis in ((alone[0], 1), (alone[1], 0)):
        theirs = np.mean(predictions, axis=axis)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed)


def test_probabilities_of_boosting_are_no_sum_over_leaves_and_those_of_forests_are():
    rows = np.random.default_rng(1).normal(size=(40, 2))
    model = GradientBoostingClassifier(n_estimators=2).fit(rows, rows[:, 0] > 0)
    assert reason_against(pack(model)) == (
        "Its predictions are not sums over its leaves, but a function of these."
    )
    assert reason_against(pack(fitted("classes", 1)[0])) == ""
