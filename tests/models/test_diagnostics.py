"""What figures of performance are drawn from: ROC curve, calibration, residuals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, roc_auc_score
from tests.known_answers import level_data, level_model, logistic_model

from importance_audit.methods.known_answers import (
    binary_data,
    linear_model,
    normal_data,
)
from importance_audit.models import diagnostics
from importance_audit.models.diagnostics import (
    MOST_THRESHOLDS,
    QUANTILES,
    calibration_parts,
    diagnostic_rows,
    mean_parts,
    residual_parts,
    wilson,
)
from importance_audit.records.frames import FRAMES

SEEDS = st.integers(0, 2**31 - 1)


def scored(seed, n=300, *, digits=None):
    """Return outcomes, scores that tell of them, and whole weights from 1 to 3."""
    draw = np.random.default_rng(seed)
    score = draw.uniform(size=n)
    if digits is not None:
        score = score.round(digits)
    y = (draw.uniform(size=n) < score).astype(float)
    y[:2] = 0, 1
    return y, score, draw.integers(1, 4, size=n).astype(float)


def points(y, score, weights):
    """Return the false and the true rates of a curve."""
    rows = diagnostics.roc_curve(y, score, weights)
    return (
        np.array([row[name] for row in rows]) for name in ("false_rate", "true_rate")
    )


def table(rows):
    """Return rows as one array per column."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, digits=st.sampled_from([None, 1, 2]))
def test_the_area_under_a_curve_kept_in_full_is_the_auc_of_scikit_learn(seed, digits):
    y, score, weights = scored(seed, 150, digits=digits)
    false_rate, true_rate = points(y, score, weights)
    truth = roc_auc_score(y, score, sample_weight=weights)
    assert auc(false_rate, true_rate) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("n", [3000, 40_000])
def test_a_long_curve_has_at_most_200_points_and_nearly_its_area(n):
    y, score, weights = scored(1, n)
    false_rate, true_rate = points(y, score, weights)
    assert len(false_rate) <= MOST_THRESHOLDS
    assert (false_rate[0], true_rate[0]) == (0.0, 0.0)
    assert (false_rate[-1], true_rate[-1]) == (1.0, 1.0)
    truth = roc_auc_score(y, score, sample_weight=weights)
    assert abs(auc(false_rate, true_rate) - truth) < 0.0025


def test_at_each_threshold_the_rates_are_those_of_the_rows_at_or_above_it():
    y, score, weights = scored(5, 120, digits=1)
    for row in diagnostics.roc_curve(y, score, weights):
        for name, of_class in (("true_rate", y == 1), ("false_rate", y == 0)):
            above = weights[of_class & (score >= row["threshold"])].sum()
            assert row[name] == pytest.approx(above / weights[of_class].sum())
    ones = np.ones(5)
    assert diagnostics.roc_curve(ones, np.arange(5.0), ones) == []  # of one class


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, tens=st.integers(2, 30))
def test_tenths_without_ties_are_those_of_scikit_learn(seed, tens):
    y, score, _ = scored(seed, 10 * tens)
    ours = table(calibration_parts(y == 1, score, np.ones(len(y))))
    observed, predicted = calibration_curve(y, score, n_bins=10, strategy="quantile")
    np.testing.assert_allclose(ours["predicted"], predicted, rtol=1e-12)
    np.testing.assert_allclose(ours["observed"], observed, rtol=1e-12)
    assert ours["rows"].tolist() == [tens] * 10
    assert ours["hits"].sum() == y.sum()


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, digits=st.sampled_from([None, 1]))
def test_a_weight_counts_like_as_many_rows_alike(seed, digits):
    y, score, weights = scored(seed, 97, digits=digits)
    every = np.repeat(np.arange(97), weights.astype(int))
    rows = np.ones(len(every))
    names = ("weight", "lowest", "highest", "predicted", "observed")
    ours = table(calibration_parts(y == 1, score, weights))
    repeated = table(calibration_parts(y[every] == 1, score[every], rows))
    for name in names:
        np.testing.assert_allclose(ours[name], repeated[name], rtol=1e-9)
    curves = points(y, score, weights), points(y[every], score[every], rows)
    for each, other in zip(*curves, strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-9, atol=1e-12)


def test_tied_rows_share_a_tenth_and_none_is_empty():
    score = np.repeat([0.1, 0.2, 0.9], [60, 30, 10])
    ours = table(calibration_parts(score > 0.5, score, np.ones(100)))
    assert ours["rows"].tolist() == [60, 30, 10]
    assert ours["bin"].tolist() == [1, 2, 3]
    assert ours["lowest"].tolist() == ours["highest"].tolist() == [0.1, 0.2, 0.9]


def test_the_interval_of_a_share_is_that_of_wilson():
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263 and 0 of 20.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_residuals_in_one_part_have_the_quantiles_of_numpy(seed):
    draw = np.random.default_rng(seed)
    y, weights = draw.normal(size=19), draw.integers(1, 4, size=19)
    (part,) = residual_parts(y, np.zeros(19), weights.astype(float))
    every = np.repeat(y, weights)
    truth = np.quantile(every, [*QUANTILES.values()], method="averaged_inverted_cdf")
    assert [part[name] for name in QUANTILES] == pytest.approx(truth.tolist())
    assert part["mean"] == pytest.approx(every.mean())


@pytest.mark.parametrize(("n", "parts"), [(5, 1), (20, 2), (199, 19), (5000, 20)])
def test_residuals_come_in_equal_parts_of_ten_rows_or_more(n, parts):
    draw = np.random.default_rng(n)
    fitted = draw.normal(size=n)
    ours = table(residual_parts(fitted + 2.0, fitted, np.ones(n)))
    assert len(ours["rows"]) == parts
    assert ours["rows"].sum() == n
    assert ours["rows"].max() - ours["rows"].min() <= 1
    assert (ours["highest"][:-1] <= ours["lowest"][1:]).all()
    np.testing.assert_allclose(ours["q50"], 2.0)


@pytest.mark.parametrize(
    ("model", "data", "frames"),
    [
        (linear_model(2, 0), normal_data(2, 0), ["residuals", "calibration"]),
        (logistic_model(1, 0), binary_data(), ["roc", "calibration"]),
        (level_model(0.8), level_data(), ["calibration"]),
    ],
    ids=["regression", "binary", "multiclass"],
)
def test_each_task_has_its_frames_and_their_columns(model, data, frames):
    rows = diagnostic_rows(model, data, model.predict(data.X), split="test")
    assert list(rows) == frames
    for name, of_frame in rows.items():
        assert set(of_frame[0]) == set(FRAMES[name].columns)
        assert {row["split"] for row in of_frame} == {"test"}


def test_rows_without_weight_are_left_out():
    data, model = normal_data(2, 0), linear_model(1, 1)
    weights = (np.arange(200) < 120).astype(float)
    half = replace(data, X=data.X[:120], y=data.y[:120], weights=weights[:120])
    weighted, cut = (
        diagnostic_rows(model, each, model.predict(each.X), split="test")
        for each in (replace(data, weights=weights), half)
    )
    assert weighted == cut


def test_each_class_of_several_and_the_predicted_one_are_judged_by_their_probability():
    data, model = level_data(), level_model(0.8)
    prediction = model.predict(data.X)
    rows = diagnostic_rows(model, data, prediction, split="test")["calibration"]
    of_predicted = [rows[0][name] for name in ("positive_class", "rows", "observed")]
    assert of_predicted == ["", data.n_samples, 1.0]
    assert rows[0]["predicted"] == pytest.approx(0.8)
    for k, name in enumerate(model.classes):
        own = [row for row in rows if row["positive_class"] == name]
        assert [row["predicted"] for row in own] == pytest.approx([0.1, 0.8])
        assert [row["observed"] for row in own] == [0.0, 1.0]
        assert sum(row["hits"] for row in own) == (data.y == k).sum()


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_the_interval_of_a_mean_is_that_of_a_t_test_of_the_residuals(seed):
    draw = np.random.default_rng(seed)
    fitted = np.repeat(draw.normal(size=3), 12)
    y = fitted + draw.normal(size=36)
    for part in mean_parts(y, fitted, np.full(36, 2.5)):
        own = y[fitted == part["lowest"]]
        ends = ttest_1samp(own, 0.0).confidence_interval(0.95)
        assert (part["low"], part["high"]) == pytest.approx((ends.low, ends.high))
        assert part["observed"] == pytest.approx(own.mean())


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_interval_of_a_mean_moves_with_the_unit_of_the_target(unit):
    draw = np.random.default_rng(4)
    fitted, weights = draw.normal(size=30), draw.uniform(1, 3, size=30)
    y = fitted + draw.normal(size=30)
    one, other = (mean_parts(y * k, fitted * k, weights) for k in (1.0, unit))
    for name in ("low", "observed", "high"):
        moved = [part[name] / unit for part in other]
        assert moved == pytest.approx([part[name] for part in one])


@pytest.mark.parametrize("weights", [[1.0, 1e-20], [1.0]])
def test_one_row_that_has_all_the_weight_has_no_interval(weights):
    n = len(weights)
    (part,) = mean_parts(np.arange(n) + 0.0, np.zeros(n), np.array(weights))
    assert part["rows"] == n
    assert np.isnan([part["low"], part["high"]]).all()
