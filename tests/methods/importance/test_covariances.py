"""Shrinkage: corpcor's numbers, scikit-learn's own, and units that must not matter."""

import re

import numpy as np
import pytest
from sklearn.covariance import OAS, LedoitWolf
from tests.methods.recorded import recorded

from importance_audit.methods.importance.covariances import covariance_of

CORPCOR = recorded("corpcor")
# Its intensities are given by hand; ours are estimated.
BY_HAND = ("cov-shrink-fixed",)
CASES = [case for case in CORPCOR["cases"] if case["id"] not in BY_HAND]


def rows(n=60):
    return np.array(list(CORPCOR["columns"].values()), dtype=float).T[:n]


def covariance(matrix, kind):
    return covariance_of(matrix, np.full(len(matrix), 1 / len(matrix)), kind)


def correlation(sigma):
    sd = np.sqrt(np.diag(sigma))
    return sigma / sd / sd[:, np.newaxis]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shrinkage_is_that_of_corpcor(case):
    n = int(re.search(r"1:(\d+)", case["call"])[1])
    keeps_variances = case["options"].get("lambda.var") == 0
    kind = "schaefer_strimmer" if keeps_variances else "corpcor"
    estimate = covariance(rows(n), kind)
    if keeps_variances:  # whose divisor is n - 1
        estimate = estimate * n / (n - 1)
    if "values" in case["result"]:
        truth = list(case["result"]["values"].values())
        assert np.diag(estimate) == pytest.approx(truth, rel=1e-9)
        return
    if case["call"].startswith("corpcor::cor"):
        estimate = correlation(estimate)
    truth = np.array(case["result"]["matrix"]["values"])
    assert estimate == pytest.approx(truth, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("kind", "peer"), [("ledoit_wolf", LedoitWolf), ("oas", OAS)])
def test_shrinkage_is_scikit_learns_on_standardised_columns(kind, peer):
    X = rows(20)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    estimate = covariance(X, kind)
    assert correlation(estimate) == pytest.approx(peer().fit(standard).covariance_)
    assert np.diag(estimate) == pytest.approx(X.var(axis=0), rel=1e-12)


@pytest.mark.parametrize("kind", ["sample", "ledoit_wolf", "oas", "schaefer_strimmer"])
def test_a_column_in_other_units_changes_its_own_row_by_the_factor(kind):
    X, factor = rows(20), np.array([1, 1000, 1, 0.01, 1, 1, 1])
    estimate = covariance(X * factor, kind)
    truth = covariance(X, kind) * factor * factor[:, np.newaxis]
    assert estimate == pytest.approx(truth, rel=1e-9)


def test_a_row_of_weight_two_is_two_rows():
    X = rows(20)
    weights = np.arange(20) % 3
    weighted = covariance_of(X, weights / weights.sum(), "sample")
    repeated = np.cov(X.repeat(weights, axis=0).T, ddof=0)
    assert weighted == pytest.approx(repeated, rel=1e-9)


@pytest.mark.parametrize("kind", ["ledoit_wolf", "oas", "schaefer_strimmer"])
def test_a_constant_column_leaves_the_others_as_they_are(kind):
    X = rows(20)
    estimate = covariance(np.insert(X, 3, 5.0, axis=1), kind)
    assert estimate[3].tolist() == [0.0] * 8
    others = np.delete(np.delete(estimate, 3, axis=0), 3, axis=1)
    assert others == pytest.approx(covariance(X, kind), rel=1e-12)
