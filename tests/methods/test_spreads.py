"""Spreads of curves: closed forms."""

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


def test_three_even_steps_have_the_step_as_standard_deviation():
    assert standard_deviation(CURVE).tolist() == [3.0, 0.0]


@pytest.mark.parametrize("name", SPREADS)
def test_a_flat_curve_measures_exactly_zero(name):
    flat = np.tile(np.arange(1, 100) / 7.1, (51, 1))
    assert SPREADS[name](flat).tolist() == [0.0] * 99


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "spread", [standard_deviation, mean_absolute_deviation, median_absolute_deviation]
)
def test_a_single_point_has_no_deviation(spread):
    assert np.isnan(spread(CURVE[:1])).tolist() == [True, True]


def test_the_mean_absolute_deviation_is_taken_around_the_mean():
    # Of 0, 0, 0, 8: mean 2, deviations 2, 2, 2, 6; the median is 0 off itself.
    assert mean_absolute_deviation(np.array([[0.0], [0], [0], [8]])).tolist() == [3.0]


def test_the_median_absolute_deviation_is_taken_around_the_median():
    # Of 0, 1, 5, 7, 100: median 5, distances 0, 2, 4, 5, 95, whose median is 4.
    curve = np.array([[0.0], [1], [5], [7], [100]])
    assert median_absolute_deviation(curve).tolist() == [4 * 1.4826]


def test_a_weight_is_as_good_as_that_many_points():
    weights = np.array([3.0, 0, 1])
    repeated = CURVE[[0, 0, 0, 2]].std(axis=0)
    assert weighted_deviation(CURVE, weights) == pytest.approx(repeated, rel=1e-15)


@pytest.mark.filterwarnings("error")
def test_points_that_do_not_count_have_no_weighted_deviation():
    for curve, weights in ((CURVE[:1], np.ones(1)), (CURVE, np.zeros(3))):
        assert np.isnan(weighted_deviation(curve, weights)).tolist() == [True, True]


def test_a_flat_curve_has_no_weighted_deviation_from_its_mean():
    flat = np.tile(np.arange(1, 100) / 7.1, (51, 1))
    deviations = weighted_deviation(flat, np.arange(51) / 7.1)
    assert deviations.tolist() == [0.0] * 99


def test_the_range_is_largest_minus_smallest_of_each_output():
    assert value_range(CURVE[[1, 2, 0]]).tolist() == [6.0, 0.0]


def test_a_quarter_of_the_range_is_a_quarter_of_the_range():
    assert quarter_range(CURVE).tolist() == [1.5, 0.0]


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


def test_a_spike_raises_the_standard_deviation_more_than_the_mean_magnitude():
    flat = np.ones((50, 1))
    spiked = flat + np.eye(50)[:, [20]]
    rise = mean_magnitude(spiked, is_category=False)
    assert rise == pytest.approx(1 / 50)
    assert standard_deviation(spiked) == pytest.approx(np.sqrt(1 / 50))
