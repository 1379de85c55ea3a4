"""Dependences on columns and on all others: the means of what predict gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.trees.small_ensembles import fitted, kinds, seeds
from tests.methods.trees.test_replay import (
    MODELS,
    assert_same_bits,
    predictions_of_settings,
)
from tests.methods.trees.test_replay import fitted as fitted_model

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.dependences import dependences

pytestmark = pytest.mark.needs_numba


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
    predictions = predictions_of_settings(model, rows, columns, rows[:, columns])
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
