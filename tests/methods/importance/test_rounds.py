"""Under a time limit repeats go where the order is open, and no number else changes."""

from dataclasses import replace

import numpy as np
import pytest

from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.importance.rounds import FIRST, Rounds, open_places
from importance_audit.methods.importance.row_terms import RowTerms
from importance_audit.methods.known_answers import linear_model, normal_data

SLOPES = (3.0, 2.9, 1.0, 0.0, 0.0, 0.0)
DATA = normal_data(*SLOPES, n_samples=60)
N = len(SLOPES)


class Over(BaseException):
    """Time is over."""


class Clock:
    """Time that passes by one second with each prediction."""

    def __init__(self, monkeypatch, seconds):
        self.now, self.end = 0.0, seconds
        where = "importance_audit.methods.importance.rounds.time.perf_counter"
        monkeypatch.setattr(where, lambda: self.now)
        inner = linear_model(*SLOPES)

        def predict(X):
            self.now += 1
            if self.now > self.end + 5:
                raise Over
            return inner.predict(X)

        self.model = replace(inner, predict=predict)
        self.rounds = Rounds(
            is_short=True,
            seconds_left=lambda: self.end - self.now,
            top_k=2,
            resolution=0.1,
            end=Over,
        )


def measured(monkeypatch, seconds, n_repeats=32, **options):
    clock = Clock(monkeypatch, seconds)
    raw, baseline = permutation(
        clock.model,
        DATA,
        seed=1,
        n_repeats=n_repeats,
        rounds=clock.rounds,
        **options,
    )
    return raw, baseline, clock


@pytest.mark.parametrize("stream", ["numpy", "DALEX", "vip-0.4", "vip-0.5"])
@pytest.mark.parametrize("seconds", [20, 60, 120, 10_000])
def test_the_repeats_that_are_made_are_those_of_a_run_without_a_limit(
    monkeypatch, stream, seconds
):
    raw, baseline, clock = measured(monkeypatch, seconds, stream=stream)
    whole, whole_baseline = permutation(
        linear_model(*SLOPES), DATA, seed=1, n_repeats=32, stream=stream
    )
    counts = clock.rounds.counts
    assert counts.min() >= FIRST
    assert raw.shape[1] == counts.max() == len(baseline)
    for j, n in enumerate(counts):
        assert np.array_equal(raw[j, :n], whole[j, :n])
        assert np.isnan(raw[j, n:]).all()
    assert np.array_equal(baseline, whole_baseline[: len(baseline)])


def test_with_time_for_everything_everything_is_measured(monkeypatch):
    _, _, clock = measured(monkeypatch, 10_000)
    assert clock.rounds.counts.tolist() == [32] * N


def test_with_little_time_later_repeats_go_to_places_that_are_open(monkeypatch):
    _, _, clock = measured(monkeypatch, 110, n_repeats=64)
    counts = clock.rounds.counts
    assert counts[:2].min() > 3 * counts[2:].max()
    assert clock.now <= 110


def test_time_that_is_left_goes_to_what_lacks_repeats(monkeypatch):
    _, _, clock = measured(monkeypatch, 300, n_repeats=64)
    assert clock.rounds.counts[:2].tolist() == [64, 64]
    assert clock.rounds.counts[2:].min() > 30
    assert 200 < clock.now <= 300


def test_a_model_that_ends_the_time_in_a_repeat_leaves_those_before_it(monkeypatch):
    clock = Clock(monkeypatch, 30)
    clock.rounds.seconds_left = lambda: 1e6
    raw, _ = permutation(clock.model, DATA, seed=1, n_repeats=32, rounds=clock.rounds)
    assert clock.rounds.counts.sum() == np.isfinite(raw).sum() == 35 - 1
    assert np.ptp(clock.rounds.counts) == 1


def test_time_that_ends_before_the_first_repeats_is_no_answer(monkeypatch):
    clock = Clock(monkeypatch, 0)
    clock.rounds.seconds_left = lambda: 1e6
    with pytest.raises(Over):
        permutation(clock.model, DATA, seed=1, n_repeats=32, rounds=clock.rounds)


def test_row_terms_are_those_of_as_many_repeats(monkeypatch):
    kept: list[RowTerms] = []
    _, _, clock = measured(monkeypatch, 60, on_row_terms=kept.append)
    counts = clock.rounds.counts
    assert len(set(counts)) > 1
    for n in set(counts.tolist()):
        permutation(
            linear_model(*SLOPES),
            DATA,
            seed=1,
            n_repeats=n,
            on_row_terms=kept.append,
        )
        at = counts == n
        for name in kept[0].terms:
            for own, other in ((t.terms[name], t.noise[name]) for t in kept[-1:]):
                np.testing.assert_allclose(kept[0].terms[name][at], own[at], rtol=1e-12)
                np.testing.assert_allclose(
                    kept[0].noise[name][at], other[at], rtol=1e-12
                )


def places(*rows, top_k=2, resolution=0.1):
    rise = np.array(rows, dtype=float)
    counts = np.full(len(rise), rise.shape[1])
    return open_places(rise, counts, top_k=top_k, resolution=resolution).tolist()


def test_places_far_apart_are_settled():
    assert places((9, 9.1), (5, 5.1), (1, 1.1)) == [False] * 3


def test_places_that_overlap_are_open():
    assert places((9, 9.1), (8.95, 9.2), (1, 1.1)) == [True, True, False]


def test_what_cannot_lead_is_settled_whatever_its_neighbours_are():
    assert places((9, 9.1), (5, 5.1), (1, 1.1), (1.05, 1)) == [False] * 4


def test_two_that_may_do_nothing_are_settled_once_that_is_known_well_enough():
    nothing = (0.1, -0.1, 0.1, -0.1), (0.12, -0.1, 0.1, -0.1)
    assert places((9, 9.1, 9, 9.1), *nothing, top_k=3) == [False] * 3
    assert places((9, 9.1, 9, 9.1), *nothing, top_k=3, resolution=0.001) == [
        *(False, True, True)
    ]


def test_equal_repeats_settle_nothing_that_the_spread_of_others_leaves_open():
    rows = (3.0, 3.0), (2.9, 2.9), (5.0, 5.4), (8.0, 8.6)
    assert places(*rows, top_k=4)[:2] == [True, True]


def test_what_has_no_finite_mean_is_asked_no_more():
    assert places((np.inf, np.inf), (5, 5.1), (5, 5.2)) == [False, True, True]


def test_where_time_is_expected_to_be_enough_all_are_asked_in_one_round(monkeypatch):
    clock = Clock(monkeypatch, 30)
    clock.rounds.is_short = False
    raw, _ = permutation(clock.model, DATA, seed=1, n_repeats=32, rounds=clock.rounds)
    assert clock.rounds.counts.sum() == np.isfinite(raw).sum() == 35 - 1
    assert np.ptp(clock.rounds.counts) == 1
