"""How stable a ranking is: closed forms over ranks and over paired differences."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.made_records import made_importance

from importance_audit.assess.stability import (
    rank_interval,
    rank_rows,
    repeats_to_settle,
    settling_count,
    stability_rows,
    top_k_share,
)
from importance_audit.records.frames import FRAMES

SPREAD = np.array([-1.0, 1.0, -1.0, 1.0, 0.0])
"""Mean 0 and, with ddof 1, standard deviation 1."""


def record(*repeats, **fields):
    """Return an importance with these repeats of each of its features."""
    raw = np.array(repeats, dtype=float)
    names = tuple(f"x{n}" for n in range(len(raw)))
    importance = made_importance("model", names, raw[:, 0], repeats=raw.shape[1])
    return replace(importance, raw=raw, **{"stream": "numpy", **fields})


def ranked(*means):
    return record(*([mean] for mean in means))


# By tables of Student's t: 2.571 / sqrt(6) = 1.050, but 2.447 / sqrt(7) = 0.925, and
# 2 * 2.120 / sqrt(17) = 1.028, but 2 * 2.110 / sqrt(18) = 0.995.
@pytest.mark.parametrize(
    ("mean", "std", "count"),
    [(1.0, 1.0, 7), (-1.0, 1.0, 7), (1.0, 2.0, 18), (9.0, 1.0, 2), (1.0, 0.0, 2)],
)
def test_the_repeats_that_settle_follow_from_difference_and_spread(mean, std, count):
    assert settling_count(mean, std) == count


@pytest.mark.parametrize("difference", [1e-6, 1e-17])  # more than a machine integer
def test_far_fewer_differences_than_spread_need_the_square_of_their_ratio(difference):
    count = settling_count(difference, 1.0)
    assert count == pytest.approx(1.959964**2 / difference**2, rel=1e-6)


def test_neighbours_are_paired_by_repeat():
    noise = 100 * np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    counts = repeats_to_settle(record(noise, noise + 1 + SPREAD))
    assert counts[1] == settling_count(1.0, 1.0)
    assert np.isnan(counts[0])


def test_equal_features_are_not_told_apart_by_repeats():
    assert repeats_to_settle(record(SPREAD, SPREAD))[0] == np.inf


def test_what_is_not_drawn_is_settled_at_once():
    counts = repeats_to_settle(record([1.0], [2.0], [2.0], stream=""))
    np.testing.assert_array_equal(counts, [np.nan, np.inf, 1.0])


def test_a_single_repeat_settles_nothing_and_promises_nothing():
    assert np.isnan(repeats_to_settle(record([1.0], [2.0]))).all()


def test_what_has_no_finite_number_has_no_neighbour_to_be_told_from():
    rows = ([np.inf] * 5, SPREAD + 9, [np.nan] * 5, SPREAD * 2)
    counts = repeats_to_settle(record(*rows))
    np.testing.assert_array_equal(counts, [np.nan, 2.0, np.nan, np.nan])


def test_a_pooled_ratio_is_settled_by_the_delta_method():
    noise = 150 * np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    base = 1000 + noise - noise.mean()
    shape = {"form": "ratio", "aggregator": "pooled", "baseline": base}
    counts = repeats_to_settle(record(base, 3 * base + 2000 * SPREAD, **shape))
    assert counts[1] == settling_count(2.0, 2.0)


def test_rows_that_are_all_alike_leave_every_rank_where_it_is():
    ranks = np.tile([3.0, 1.0, 2.0], (40, 1))
    low, high = rank_interval(ranks)
    assert low.tolist() == high.tolist() == [3.0, 1.0, 2.0]
    assert top_k_share(ranks, 2).tolist() == [0.0, 1.0, 1.0]


def test_the_interval_leaves_out_a_fortieth_on_either_side():
    ranks = np.arange(1.0, 202.0)[:, np.newaxis]  # 201 resamples: ranks 1 to 201
    low, high = rank_interval(ranks)
    assert (low[0], high[0]) == (6.0, 196.0)


def test_features_that_are_tied_may_take_each_rank_that_they_share():
    """As `places` says of intervals that overlap, and `top_k_share` of a tie."""
    ranks = np.tile([1.0, 3.5, 3.5, 3.5, 3.5], (40, 1))  # ranks 2 to 5, averaged
    low, high = rank_interval(ranks)
    assert low.tolist() == [1.0, 2.0, 2.0, 2.0, 2.0]
    assert high.tolist() == [1.0, 5.0, 5.0, 5.0, 5.0]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_shares_of_the_first_sum_to_their_number(k):
    generator = np.random.default_rng(1)
    ranks = np.array([generator.permutation(7) + 1.0 for _ in range(30)])
    assert top_k_share(ranks, k).sum() == pytest.approx(k)
    assert top_k_share(np.full((9, 7), 4.0), k).tolist() == pytest.approx([k / 7] * 7)


def test_a_resample_without_a_number_is_left_out_and_counted():
    again = [ranked(1, 2, 3), ranked(np.nan, 2, 3), ranked(9, np.nan, 3)]
    again += [ranked(np.nan, 2, 3)]
    rows = stability_rows(ranked(3, 2, 1), again, record=4, top_k=1)
    stability = FRAMES["stability"].of(rows)
    assert stability["resamples"].tolist() == [2, 3, 4]
    assert stability["p_top_k"].tolist() == [0.5, 0.0, 0.75]
    assert stability["rank_low"].tolist() == [1.0, 2.0, 1.0]
    assert set(stability["record"]) == {4}


def test_a_feature_that_most_resamples_do_not_measure_has_no_interval():
    ranks = np.array([[1.0, np.nan], [1.0, np.nan], [2.0, 1.0]])
    assert np.isnan(rank_interval(ranks)[0]).tolist() == [False, True]
    assert np.isnan(top_k_share(ranks, 1)).tolist() == [False, True]


def test_without_resamples_there_is_what_more_repeats_would_do():
    stability = FRAMES["stability"].of(
        stability_rows(record(SPREAD, SPREAD + 1), [], record=0, top_k=3)
    )
    assert stability["resamples"].tolist() == [0, 0]
    assert stability[["rank_low", "rank_high", "p_top_k"]].isna().all(axis=None)
    assert stability["repeats_to_settle"].tolist()[1] == 2.0


def test_the_ranks_that_resamples_gave_are_counted_by_feature():
    again = [ranked(3.0, 2.0), ranked(3.0, 2.0), ranked(1.0, 2.0), ranked(1.0, 1.0)]
    rank_counts = FRAMES["resampled_ranks"].of(rank_rows(again, record=7))
    assert list(rank_counts.itertuples(index=False, name=None)) == [
        *((7, "x0", 1.0, 2), (7, "x0", 1.5, 1), (7, "x0", 2.0, 1)),
        *((7, "x1", 1.0, 1), (7, "x1", 1.5, 1), (7, "x1", 2.0, 2)),
    ]
