"""One-sided tests of differences per row: closed forms, enumeration, edges."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from importance_audit.assess.paired_tests import (
    FLIPS,
    sign_flip_test,
    sign_test,
    signs_of,
    t_test,
    wilcoxon_test,
)

SMALL = np.array([0.5, -0.3, 1.1, 2.0, -0.1, 0.7, 0.9, -1.3])
EVERY = np.array([*product([1.0, -1.0], repeat=len(SMALL))])


def flipped(differences):
    return sign_flip_test(differences, signs_of(1, "x", len(differences)))


ALL = [t_test, wilcoxon_test, sign_test, flipped]


def test_t_of_three_differences_has_the_p_value_worked_out_by_hand():
    one = t_test(np.array([1.0, 2.0, 3.0]))
    t = 2 * np.sqrt(3)
    assert one.value == pytest.approx(t)
    assert one.p_value == pytest.approx(0.5 - t / (2 * np.sqrt(t**2 + 2)))
    half = 4.302652729911275 / np.sqrt(3)
    assert (one.low, one.high) == pytest.approx((2 - half, 2 + half))


def test_overlap_adds_the_held_out_rows_over_the_fitted_ones_to_the_variance():
    plain, corrected = t_test(SMALL), t_test(SMALL, overlap=0.25)
    variance = SMALL.var(ddof=1)
    assert plain.std_error == pytest.approx(np.sqrt(variance / 8))
    assert corrected.std_error == pytest.approx(np.sqrt(variance * (1 / 8 + 0.25)))


def test_the_signed_rank_sum_has_the_distribution_of_all_signs():
    rank = np.argsort(np.argsort(np.abs(SMALL))) + 1
    one = wilcoxon_test(SMALL)
    assert one.value == rank[SMALL > 0].sum()
    sums = (EVERY > 0) @ rank
    assert one.p_value == pytest.approx((sums >= one.value).mean(), rel=1e-12)


@pytest.mark.parametrize("n", [49, 50])
def test_the_exact_and_the_normal_p_value_of_signed_ranks_are_near(n):
    d = np.random.default_rng(n).normal(0.2, size=n)
    with_a_zero = wilcoxon_test(np.append(d, 0.0))  # always by the normal distribution
    assert with_a_zero.value == wilcoxon_test(d).value
    assert with_a_zero.p_value == pytest.approx(wilcoxon_test(d).p_value, abs=2e-3)
    assert (with_a_zero.p_value == wilcoxon_test(d).p_value) == (n == 50)


def test_ties_share_their_rank_and_narrow_the_variance_to_that_of_random_signs():
    d = np.array([1.0, 1, -1, 2, 2, -3, 4, 4, 4, 5])
    rank = np.array([2, 2, 2, 4.5, 4.5, 6, 8, 8, 8, 10])
    z = (rank[d > 0].sum() - 55 / 2 - 0.5) / np.sqrt((rank**2).sum() / 4)
    assert wilcoxon_test(d).p_value == pytest.approx(norm.sf(z), rel=1e-12)


def test_the_sign_test_counts_heads_and_a_zero_is_none():
    d = np.array([1.0, 2, 3, -1, 0])
    assert sign_test(d).value == 3
    assert sign_test(d).p_value == pytest.approx((10 + 5 + 1) / 32)


def test_all_signs_give_the_exact_p_value_of_the_randomisation_test():
    means = EVERY @ SMALL / len(SMALL)
    r = (means >= SMALL.mean() - 1e-12).sum()
    one = sign_flip_test(SMALL, [EVERY[:100], EVERY[100:]])
    assert one.p_value == pytest.approx((r + 1) / (len(EVERY) + 1))
    assert one.value == pytest.approx(SMALL.mean())


def test_random_signs_are_drawn_as_often_as_said_however_many_rows():
    for n in (3, 2**20 + 1):
        first = next(iter(signs_of(1, "x", n)))
        assert set(np.unique(first)) == {-1.0, 1.0}
    blocks = [block.shape for block in signs_of(1, "x", 1000)]
    assert sum(rows for rows, _ in blocks) == FLIPS
    assert len(blocks) > 1


@pytest.mark.parametrize("test", ALL)
def test_a_feature_that_changes_no_loss_has_p_value_1(test):
    assert test(np.zeros(30)).p_value == 1.0


@pytest.mark.parametrize("test", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_one_difference_that_is_no_number_leaves_no_p_value(test, bad):
    assert np.isnan(test(np.append(SMALL, bad)).p_value)
    assert np.isnan(test(np.empty(0)).p_value)


@pytest.mark.parametrize("test", ALL)
def test_the_unit_of_a_loss_changes_no_p_value_and_a_fall_is_never_significant(test):
    d = SMALL + 0.5
    assert test(1e-9 * d).p_value == pytest.approx(test(d).p_value, rel=1e-9)
    assert test(d).p_value < 0.1
    assert test(-d).p_value > 0.9


def test_equal_differences_have_no_t_since_nothing_varies():
    assert np.isnan(t_test(np.full(9, 0.1)).p_value)
    assert np.isnan(t_test(np.ones(1)).p_value)


@pytest.mark.parametrize("test", [wilcoxon_test, sign_test])
def test_what_differs_by_rounding_is_equal(test):
    d = np.array([1.0, 1, -1, 2, 2, -3, 0, 0])
    noise = 1e-15 * np.array([1, -2, 3, -1, 2, 1, 4, -4])
    assert test(d + noise) == test(d)


def test_how_large_the_largest_difference_is_makes_no_others_equal():
    """Exact: of the sums of {1, 2, 3} under random signs, three of eight reach 4."""
    one = wilcoxon_test(np.array([2e-4, -(2e-4 + 7e-16), 1.0]))
    assert (one.value, one.p_value) == (4.0, 3 / 8)


def test_sizes_of_differences_near_one_are_no_probabilities():
    d = np.array([0.999999, -0.999999 * (1 - 1e-13), 2.0])
    assert wilcoxon_test(d) == wilcoxon_test(np.array([1.0, -1.0, 2.0]))
