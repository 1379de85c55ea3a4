"""Friedman's H of ensembles, held against joint curves of the library's predictions."""

from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.ensemble import GradientBoostingRegressor

from importance_audit.methods.importance.h_statistic import at_rows, h_squared
from importance_audit.methods.trees import pack
from importance_audit.methods.trees.pairs import Pairs
from importance_audit.models.fit import wrap
from importance_audit.records.dataset_and_model import Dataset

from .small_ensembles import UNUSED, brute_force, fitted, kinds, seeds

pytestmark = pytest.mark.needs_numba


def pairs_of(model, rows):
    packing = pack(model)
    return Pairs(packing, packing.bins(rows))


def centred(values):
    return values - values.mean(axis=0)


@pytest.mark.slow
@settings(max_examples=20)
@given(kind=kinds, seed=seeds)
def test_what_two_do_together_is_the_joint_curve_without_the_single_ones(kind, seed):
    model, rows = fitted(kind, seed)
    pairs = pairs_of(model, rows)
    single = {
        j: brute_force(model, rows, [{j: row[j]} for row in rows]) for j in range(5)
    }
    for j, k in combinations(range(5), 2):
        joint = brute_force(model, rows, [{j: row[j], k: row[k]} for row in rows])
        theirs = centred(joint - single[j] - single[k])
        scale = np.abs(joint).max()
        for ours in (pairs.together(j, k), pairs.together(k, j)):
            np.testing.assert_allclose(
                centred(ours), theirs, rtol=0, atol=1e-12 * scale
            )
        np.testing.assert_allclose(
            pairs.alone(j), single[j], rtol=0, atol=1e-12 * scale
        )


@settings(max_examples=10)
@given(seed=seeds)
def test_the_mean_squares_are_those_of_any_model(seed):
    model, rows = fitted("forest", seed)
    names = list("abcde")
    data = Dataset(
        name="rows",
        X=pd.DataFrame(rows, columns=names),
        y=np.zeros(len(rows)),
        task="regression",
        weights=np.ones(len(rows)),
        groups={},
        split="test",
        target="y",
        sha256="",
    )
    wrapped = wrap(
        lambda X: model.predict(X.to_numpy()),
        name="m",
        task="regression",
        features=names,
    )
    pairs = pairs_of(model, rows)
    dependence_on = partial(at_rows, wrapped, data, scale="native")
    for j, k in combinations(range(5), 2):
        squares = h_squared((names[j], names[k]), dependence_on, data.weights)
        beyond = centred(pairs.together(j, k))
        joint = beyond + centred(pairs.alone(j)) + centred(pairs.alone(k))
        ours = [(values**2).mean(axis=0) for values in (beyond, joint)]
        np.testing.assert_allclose(ours, squares, rtol=1e-9, atol=1e-20)


@settings(max_examples=10)
@given(kind=kinds, seed=seeds)
def test_a_feature_that_no_node_compares_interacts_exactly_0(kind, seed):
    pairs = pairs_of(*fitted(kind, seed))
    assert all((pairs.together(j, UNUSED) == 0).all() for j in range(UNUSED))


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
