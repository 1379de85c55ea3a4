"""Spreads of curves: closed forms."""

import numpy as np
import pytest

from pipeline.spreads import SPREADS, quarter_range, standard_deviation, value_range

CURVE = np.array([[0.0, 5.0], [3.0, 5.0], [6.0, 5.0]])  # a slope and a flat output


def test_three_even_steps_have_the_step_as_standard_deviation():
    assert standard_deviation(CURVE).tolist() == [3.0, 0.0]


@pytest.mark.parametrize("name", SPREADS)
def test_a_flat_curve_measures_exactly_zero(name):
    flat = np.tile(np.arange(1, 100) / 7.1, (51, 1))
    assert SPREADS[name](flat).tolist() == [0.0] * 99


@pytest.mark.filterwarnings("error")
def test_a_single_point_has_no_standard_deviation():
    assert np.isnan(standard_deviation(CURVE[:1])).tolist() == [True, True]


def test_the_range_is_largest_minus_smallest_of_each_output():
    assert value_range(CURVE[[1, 2, 0]]).tolist() == [6.0, 0.0]


def test_a_quarter_of_the_range_is_a_quarter_of_the_range():
    assert quarter_range(CURVE).tolist() == [1.5, 0.0]


@pytest.mark.parametrize("name", SPREADS)
def test_a_spread_ignores_a_shift_and_doubles_with_the_curve(name):
    spread = SPREADS[name]
    assert spread(2 * CURVE + 7).tolist() == (2 * spread(CURVE)).tolist()
