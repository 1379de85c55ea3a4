"""Numbers on a page: no zero that is none, no digit the spread does not bear."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importance_audit.report.text.number_text import (
    MAX_DECIMALS,
    decimals,
    end_text,
    interval_text,
    lone,
    method_words,
    number,
    percent,
    plain_number,
    rank_text,
    rounded_up,
    significant,
    unit_text,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@pytest.mark.parametrize(
    ("errors", "places"),
    [([48.0], 0), ([4.8], 1), ([0.48], 2), ([0.99, 4.8, 0.1], 2), ([1e-12], 6)],
)
def test_a_column_shows_two_digits_of_the_median_standard_error(errors, places):
    assert decimals([563.7, 1.2], errors) == places


def test_errors_that_are_no_spread_are_not_counted():
    assert decimals([563.7], [0.0, math.nan, math.inf, 4.8]) == 1


@pytest.mark.parametrize(
    ("values", "places"), [([0.61], 4), ([281.9, 7.3], 1), ([5637], 0), ([], 0)]
)
def test_where_nothing_is_drawn_the_largest_value_has_four_digits(values, places):
    assert decimals(values) == places


@pytest.mark.parametrize(
    ("clear", "places"),
    [([], 0), ([1000.0], 0), ([0.004], 3), ([-0.06, 0.004], 3), ([4e-7], 0), ([0], 0)],
)
def test_what_noise_does_not_explain_shows_its_first_digit_within_six(clear, places):
    assert decimals([1000.0, 0.004, 4e-7], [20.0], clear) == places


@given(st.lists(st.floats(1e-6, 1e6), min_size=1))
def test_nothing_clear_of_noise_is_printed_as_less_than_something(values):
    places = decimals(values, [20.0], values)
    assert not any("<" in number(value, places) for value in values)


@pytest.mark.parametrize(
    ("value", "least", "text"),
    [
        (1179.642, 0, "1\u202f180"),
        (256.3712, 0, "256.4"),
        (0.14882, 0, "0.1488"),
        (0.004, 0, "0.004000"),
        (256.3712, 3, "256.371"),
        (3.2e-9, 2, "3.2e−9"),
        (0.0, 0, "0"),
    ],
)
def test_a_number_in_a_sentence_has_four_digits_of_its_own(value, least, text):
    assert lone(value, least=least) == text


@given(FINITE.filter(bool), st.integers(0, MAX_DECIMALS))
def test_what_is_not_zero_never_prints_as_zero(value, places):
    assert any(digit in number(value, places) for digit in "123456789")


@given(FINITE, st.integers(0, MAX_DECIMALS))
def test_the_minus_is_a_minus(value, places):
    assert "-" not in number(value, places)
    assert number(value, places).count("−") == (value < 0)


def test_small_values_say_on_which_side_of_zero_they_are():
    assert number(0.0004, 2) == "< 0.01"
    assert number(-0.0004, 2) == "> −0.01"
    assert number(0.0, 2) == "0.00"


def test_an_end_of_an_interval_is_a_number_and_no_bound():
    ends = [-0.00003, -0.0004, 0.0004, 0.0, -0.004, -1.0, math.nan, -math.inf]
    assert [end_text(end, 2) for end in ends] == [
        *("−0.00003", "−0.0004", "0.0004", "0.00", "−0.004", "−1.00", "–", "−∞"),
    ]


def test_what_was_not_measured_is_a_dash_and_infinity_a_sign():
    assert number(math.nan, 2) == "–"
    assert (number(math.inf, 2), number(-math.inf, 2)) == ("∞", "−∞")


def test_a_sign_is_shown_where_it_is_asked_for():
    assert number(30.8, 1, sign=True) == "+30.8"
    assert number(0.0, 1, sign=True) == "0.0"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.314, "31"), (0.0314, "3.1"), (0.05, "5"), (1.0, "100"), (-0.5, "−50")],
)
def test_shares_are_whole_percentages_where_one_decimal_says_no_more(share, text):
    assert percent(share) == f"{text}\u202f%"


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.7e-15, "2.7e−15"), (1e-12, "1.0e−12"), (0.0, "0"), (644.2, "644"), (2, "2")],
)
def test_a_lone_number_is_short_in_any_size(value, text):
    assert significant(value) == text


def test_values_of_the_data_are_not_grouped():
    assert plain_number(1920) == "1920"
    assert plain_number(-0.25) == "−0.25"
    assert plain_number(-0.0) == "0"


def test_ranks_and_places_read_as_in_a_table():
    assert (rank_text(2.0), rank_text(2.5), rank_text(math.nan)) == ("2", "2.5", "–")
    assert interval_text(4, 5) == "4–5"
    assert interval_text(1, 1) == "1"
    assert interval_text(math.nan, 1) == "–"


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("y", "EUR"),
        ("y^2", "(EUR)²"),
        ("1", ""),
        ("nats", "nats"),
        ("response", "EUR"),
        ("centred_logit", "centred logit"),
    ],
)
def test_units_are_those_of_the_target_where_they_are_its_powers(unit, text):
    assert unit_text(unit, "EUR") == text


@pytest.mark.parametrize(
    ("needed", "text"),
    [(7, 7), (99, 99), (101, 110), (147_754, 150_000), (996, 1000), (1000, 1000)],
)
def test_a_number_rounded_up_is_never_less_and_has_two_digits(needed, text):
    assert rounded_up(needed) == text


def test_a_method_of_an_audits_own_is_the_function_it_is():
    assert method_words("partial_dependence") == "partial dependence"
    assert method_words("my_module:my_method") == "my_method"
