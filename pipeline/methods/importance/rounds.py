r"""Repeats where the order of features is open, as long as there is time.

All features get two repeats. Then, round after round, there are as many again as
before: of all features while that leaves time for as much again, of those whose place
is open when it does not. When no place of these is open, and there is time, the others
are given what they lack. The idea is that of sequential halving [1]_ and of sequential
tests of importance [2]_.

.. [1] Karnin, Koren and Somekh (2013). Almost Optimal Exploration in Multi-Armed
   Bandits. ICML, PMLR 28(3), 1238-1246.
.. [2] Hapfelmeier, Hornung and Haller (2023). Efficient permutation testing of variable
   importance measures by the example of random forests. Computational Statistics &
   Data Analysis 181, 107689. doi:10.1016/j.csda.2022.107689
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import attrgetter
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from ...records.ranking import LEVEL
from .permutation_draws import ROUND, Draw, Draws

FIRST = 2
"""Repeats that every feature gets: a spread needs two."""
SAFETY = 0.8
"""Of the time left, what all that follows may be expected to take."""
MANY = 2.0
"""Rounds of all features that there must be time for if all are to have another."""


@dataclass(kw_only=True, eq=False)
class Rounds:
    """How the repeats of one question are spread over features under a time limit.

    Parameters
    ----------
    is_short : bool
        Whether time is expected to be too short for all repeats of all features. If
        not, they are made in one round, and those that all features have are kept if
        time ends all the same.
    seconds_left : callable
        How long models may still be asked for this question.
    top_k : int
        The order of so many leading features is what repeats are for.
    resolution : float
        As a share of the largest mean, what nobody needs to tell from nothing.
    end : type of exception
        What a model raises that is asked after the time; repeats that all features
        have are kept.

    Attributes
    ----------
    counts : ndarray of int, shape (n_features,)
        How many repeats each feature has, the first ones; known at the end.
    is_open : ndarray of bool, shape (n_features,)
        Whose place could still change, by what was measured.
    """

    is_short: bool
    seconds_left: Callable[[], float]
    top_k: int
    resolution: float
    end: type[BaseException]
    counts: npt.NDArray[np.int64] = field(init=False)
    is_open: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.counts, self.is_open = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)

    def __enter__(self) -> None:
        """Take the end of the time for the end of the repeats; see `end`."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        has_first = len(self.counts) > 0 and int(self.counts.min()) >= FIRST
        return has_first and isinstance(error, self.end)

    def spread(
        self, draw_all: Callable[[], Draws], losses: Floats, baseline: Floats
    ) -> Draws:
        """Yield those draws that are to be asked, repeat by repeat.

        Parameters
        ----------
        draw_all : callable
            Returns all draws, the same each time, in an order in which each repeat
            ends before the next begins.
        losses : ndarray of shape (n_features, n_repeats)
            Permuted, written while this runs.
        baseline : ndarray of shape (n_repeats,)
            Unpermuted, likewise.

        Yields
        ------
        Draw
            `ROUND` before each round: what was yielded has to be answered by then.
        """
        n_features, n_repeats = losses.shape
        self.counts = np.zeros(n_features, dtype=np.int64)
        self.is_open = np.ones(n_features, dtype=bool)
        self._began, self._n_asked = time.perf_counter(), 0
        until = 0
        is_asked = self.is_open
        for repeat, of_repeat in groupby(draw_all(), key=attrgetter("repeat")):
            if repeat == until:
                yield Draw(repeat, ROUND, *_NO_ROWS)
                rise = losses - baseline
                until, is_asked = self._next_round(repeat, n_repeats, rise)
                if not is_asked.any():
                    break
            for draw in of_repeat:
                if draw.what < 0 or is_asked[draw.what]:
                    yield draw
        yield from self._make_up(draw_all)

    def _make_up(self, draw_all: Callable[[], Draws]) -> Draws:
        """Yield what rounds left out, as far as there is time once they are over."""
        yield Draw(0, ROUND, *_NO_ROWS)
        if np.ptp(self.counts) == 0:
            return
        for repeat, of_repeat in groupby(draw_all(), key=attrgetter("repeat")):
            is_asked = self.counts == repeat
            if not is_asked.any():
                continue
            if self._affordable() < is_asked.sum():
                return
            for draw in of_repeat:
                if draw.what < 0 or is_asked[draw.what]:
                    yield draw
            yield Draw(repeat, ROUND, *_NO_ROWS)

    def note(self, feature: int, repeat: int) -> None:
        """Take down that a feature was measured in a repeat."""
        self.counts[feature] = repeat + 1
        self._n_asked += 1

    def _next_round(
        self, n_made: int, n_repeats: int, rise: Floats
    ) -> tuple[int, npt.NDArray[np.bool_]]:
        """Return up to which repeat the next round goes, and who is asked in it."""
        if n_made == 0:
            n_first = FIRST if self.is_short else n_repeats
            return min(n_first, n_repeats), self.is_open
        is_asked = self.counts == n_made
        rest, affordable = n_repeats - n_made, self._affordable()
        if affordable >= rest * is_asked.sum():
            return n_repeats, is_asked
        self.is_open = open_places(
            rise, self.counts, top_k=self.top_k, resolution=self.resolution
        )
        n_more = min(n_made, rest)
        if affordable < MANY * n_more * is_asked.sum():
            is_open = self.is_open & is_asked
            if is_open.any() or not is_asked.all():
                is_asked = is_open
        n_asked = max(int(is_asked.sum()), 1)
        n_more = min(n_more, int(affordable / n_asked))
        if n_more == 0:  # of those with the widest intervals, as many as there is time
            _, half = _intervals(rise, self.counts)
            widest = np.argsort(-np.where(is_asked, half, -1.0), kind="stable")
            is_asked[widest[int(affordable) :]] = False
            n_more = 1
        return n_made + n_more, is_asked

    def _affordable(self) -> float:
        """Return how many more draws there is time for, by the pace until now."""
        pace = (time.perf_counter() - self._began) / max(self._n_asked, 1)
        return SAFETY * max(self.seconds_left(), 0.0) / max(pace, 1e-9)


_NO_ROWS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


def open_places(
    rise: Floats,
    counts: npt.NDArray[np.int64],
    *,
    top_k: int,
    resolution: float,
) -> npt.NDArray[np.bool_]:
    """Return whose place among the leading features, or into them, is open.

    A place is settled if the interval of a feature lies below those of all that lead,
    or is apart from those of its neighbours in the order of the means. Two neighbours
    that may both be without effect, in intervals narrower than `resolution` of the
    largest mean, are settled as such.

    It decides where repeats go, and nothing else: with two repeats a spread is hardly
    known, so the median spread is the least that is taken, and normal quantiles with
    Bonferroni's correction stand for those of Student's t.

    Parameters
    ----------
    rise : ndarray of shape (n_features, n_repeats)
        What repeats measured above the baseline.
    counts : ndarray of shape (n_features,)
        How many of them, the first ones, each feature has; 2 at least.
    top_k : int
    resolution : float

    Returns
    -------
    ndarray of bool, shape (n_features,)
        False for what has no finite mean.
    """
    mean, half = _intervals(rise, counts)
    low, high = mean - half, mean + half
    order = np.argsort(-mean, kind="stable")[: int(np.isfinite(mean).sum())]
    is_open = np.zeros(len(mean), dtype=bool)
    if not len(order):
        return is_open
    may_lead = high >= low[order[:top_k]].min()
    is_nothing = (low <= 0) & (half <= resolution * np.abs(mean[order]).max())
    for one, other in pairwise(order):
        if low[one] <= high[other] and not (is_nothing[one] and is_nothing[other]):
            is_open[[one, other]] = True
    return is_open & may_lead


def _intervals(rise: Floats, counts: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return mean and half-width of each feature; -inf and 0 if it is not finite."""
    parts = [own[:n] for own, n in zip(rise, counts, strict=True)]
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        mean = np.array([part.mean() for part in parts])
        spread = np.array([part.std(ddof=1) for part in parts])
    is_known = np.isfinite(mean) & np.isfinite(spread)
    if is_known.any():
        spread = np.maximum(spread, np.median(spread[is_known]))
    quantile = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / len(parts))
    half = quantile * spread / np.sqrt(counts)
    return np.where(is_known, mean, -np.inf), np.where(is_known, half, 0.0)
