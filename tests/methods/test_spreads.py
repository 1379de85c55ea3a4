"""Spreads of curves: closed forms."""

from functools import partial

import numpy as np
import pytest

from importance_audit.methods.spreads import (
    SPREADS,
    mean_absolute_deviation,
    mean_magnitude,
    median_absolute_deviation,
    quarter_range,
    standard_deviation,
    value_range,
    weighted_deviation,
)

CURVE = np.array([[0.0, 5.0], [3.0, 5.0], [6.0, 5.0]])  # a slope and a flat output


@pytest.mark.parametrize(
    ("spread", "curve", "truth"),
    [
        (standard_deviation, CURVE, [3, 0]),
        (value_range, CURVE[[1, 2, 0]], [6, 0]),
        (quarter_range, CURVE, [1.5, 0]),
        # Mean 2, deviations 2, 2, 2, 6; the median is 0 off itself.
        (mean_absolute_deviation, [[0], [0], [0], [8]], [3]),
        # Median 5, distances 0, 2, 4, 5, 95, whose median is 4.
        (median_absolute_deviation, [[0], [1], [5], [7], [100]], [4 * 1.4826]),
    ],
)
def test_a_spread_has_its_closed_form(spread, curve, truth):
    assert spread(np.array(curve, dtype=float)).tolist() == truth


OF_ROWS = {"weighted": partial(weighted_deviation, weights=np.arange(51) / 7.1)}


@pytest.mark.parametrize("spread", (SPREADS | OF_ROWS).values())
def test_a_flat_curve_measures_exactly_zero(spread):
    flat = np.tile(np.arange(1, 100) / 7.1, (51, 1))
    assert spread(flat).tolist() == [0.0] * 99


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "spread", [standard_deviation, mean_absolute_deviation, median_absolute_deviation]
)
def test_a_single_point_has_no_deviation(spread):
    assert np.isnan(spread(CURVE[:1])).tolist() == [True, True]


def test_a_weight_is_as_good_as_that_many_points():
    weights = np.array([3.0, 0, 1])
    repeated = CURVE[[0, 0, 0, 2]].std(axis=0)
    assert weighted_deviation(CURVE, weights) == pytest.approx(repeated, rel=1e-15)


@pytest.mark.filterwarnings("error")
def test_points_that_do_not_count_have_no_weighted_deviation():
    for curve, weights in ((CURVE[:1], np.ones(1)), (CURVE, np.zeros(3))):
        assert np.isnan(weighted_deviation(curve, weights)).tolist() == [True, True]


@pytest.mark.parametrize("name", SPREADS)
def test_a_spread_ignores_a_shift_and_doubles_with_the_curve(name):
    spread = SPREADS[name]
    assert spread(2 * CURVE + 7).tolist() == (2 * spread(CURVE)).tolist()


@pytest.mark.parametrize("curve", [[0, 1, 1, 1], [-1, 0, 0, 0], [7, 8, 8, 8]])
def test_no_level_is_the_reference_of_a_mean_magnitude(curve):
    assert mean_magnitude(np.array(curve) * 1.0, is_category=True) == 3 / 8


def test_a_number_counts_from_its_left_most_value():
    # The mean of (k / 2)**2 over k = 0, ..., 6, and of k / 2.
    x = np.arange(7) / 2
    curves = np.stack([x**2 + 4, x - 9], axis=1)
    assert mean_magnitude(curves, is_category=False).tolist() == [91 / 28, 1.5]


def test_a_centred_magnitude_is_the_area_around_the_mean():
    # y = x1**2 + x2 on [0, 3]: areas 4 sqrt(3) and 2.25, by the midpoint rule, whose
    # error is below (h / 2) max|slope| times the length.
    h = 3 / 30_000
    x = np.arange(h / 2, 3, h)
    magnitudes = mean_magnitude(
        np.stack([x**2, x], axis=1), is_category=False, centred=True
    )
    assert 3 * magnitudes == pytest.approx([4 * np.sqrt(3), 2.25], abs=h / 2 * 6 * 3)


def test_weights_count_the_points_but_move_the_zero_of_no_level():
    curve, weights = np.array([0.0, 1, 1, 1]), np.array([5, 1, 1, 1])
    magnitude = mean_magnitude(curve, is_category=True, weights=weights)
    assert magnitude == pytest.approx((5 * 0.75 + 3 * 0.25) / 8)
    centred = mean_magnitude(curve, is_category=True, weights=weights, centred=True)
    assert centred == pytest.approx((5 * 3 / 8 + 3 * 5 / 8) / 8)
