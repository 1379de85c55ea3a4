"""Tests of importances reject what is true about as often as they say, not the rest.

Of all tests and over more tables: python -m tests.assess.sizes 2000. Here a share of
5 % lies between 0.5 and 10.5 % over 200 tables, and below 13.3 % over 75, in 99.9 % of
cases.
"""

from functools import partial

import pytest
from tests.assess import sizes

ONCE = partial(sizes.of_permutation, n_repeats=1)


@pytest.mark.slow
def test_permuting_noise_once_is_rejected_by_every_test_as_often_as_it_says():
    shares = sizes.rates(ONCE, 200)
    assert set(shares.index) == {"t", "wilcoxon", "sign", "fisher"}
    assert shares.between(0.005, 0.105).all()


def test_the_mean_over_repeats_keeps_t_and_random_signs_but_not_the_sign_test():
    shares = sizes.rates(partial(sizes.of_permutation, n_repeats=10), 75)
    assert (shares[["t", "fisher"]] <= 0.133).all()
    assert shares["sign"] > 0.2


@pytest.mark.slow
def test_what_stands_in_for_another_is_found_among_all_rows_and_less_within_leaves():
    stand_in = partial(ONCE, correlation=0.8)
    among, within = (
        sizes.rates(partial(stand_in, within=name), 75)["t"]
        for name in ("none", "leaves")
    )
    assert among > 0.2
    assert within < among / 1.5


def test_what_matters_is_found():
    assert (sizes.rates(partial(ONCE, b2=0.5), 25) > 0.8).all()
