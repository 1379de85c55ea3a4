"""Exact partial dependence of ensembles, held against the library's predictions."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.ensemble import GradientBoostingClassifier

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.partial_dependence import (
    curves_at_bins,
    reason_against,
)

from .small_ensembles import TAKES_MISSING, UNUSED, brute_force, fitted, kinds, seeds

pytestmark = pytest.mark.needs_numba


@pytest.mark.slow
@settings(max_examples=40)
@given(kind=kinds, seed=seeds)
def test_curves_are_the_mean_predictions_of_the_library(kind, seed):
    model, rows = fitted(kind, seed)
    packing = pack(model)
    curves = curves_at_bins(packing, packing.bins(rows))
    for j in range(rows.shape[1]):
        points = np.concatenate([rows[:, j], [-9.0, 0.05, 9.0]])
        if kind not in TAKES_MISSING:
            points = points[~np.isnan(points)]
        changed = np.zeros((len(points), packing.n_features))
        changed[:, j] = points
        ours = curves[j][packing.bins(changed)[j]]
        theirs = brute_force(model, rows, [{j: point} for point in points])
        assert ours.shape == theirs.shape
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * scale)


@settings(max_examples=20)
@given(kind=kinds, seed=seeds)
def test_a_feature_that_no_node_compares_is_exactly_flat(kind, seed):
    model, rows = fitted(kind, seed)
    packing = pack(model)
    curve = curves_at_bins(packing, packing.bins(rows))[UNUSED]
    assert (curve == curve[0]).all()
    np.testing.assert_allclose(
        curve[0], brute_force(model, rows, [{}])[0], rtol=0, atol=1e-12
    )


def test_probabilities_of_boosting_are_no_sum_over_leaves():
    rows = np.random.default_rng(1).normal(size=(40, 2))
    model = GradientBoostingClassifier(n_estimators=2).fit(rows, rows[:, 0] > 0)
    assert reason_against(pack(model)) == (
        "Its predictions are not sums over its leaves, but a function of these."
    )


def test_forests_are_sums_over_leaves():
    assert reason_against(pack(fitted("classes", 1)[0])) == ""
