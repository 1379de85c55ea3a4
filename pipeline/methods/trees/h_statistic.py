"""Friedman's H of pairs, exactly and on all rows, from the rows near each leaf.

Only leaves whose box has a side for both features of a pair add to what the two do
together: a rectangle of bins of their joint partial dependence, and a strip of each
single one. One sweep over the rows sums the corners of the rectangles.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...records.dataset_and_model import Floats
from .boxes import Boxes, Places, boxes_of
from .compiled import Loop
from .counts import Counts, counts_of
from .packing import Integers, Packing
from .partial_dependence import curves_of


class _Entries(NamedTuple):
    """The leaves that have sides for two features, pair of features after pair.

    Attributes
    ----------
    first : ndarray of shape (n_used**2 + 1,)
        The entries of the features a < b are those from ``first[a * n_used + b]`` on.
    table : ndarray of shape (n_entries, 6)
        The leaf, its sides for a and b, and the rows that lie in its box wherever a,
        b, or both are set: read in order, which is faster than leaf by leaf.
    """

    first: Places
    table: Integers


class _Ranked(NamedTuple):
    """The rows by the values that they have of one feature.

    Attributes
    ----------
    below : ndarray of shape (n_bins + 1,)
        How many bins below this one hold a row.
    rank : ndarray of shape (n_rows,)
        That number for the bin of each row.
    order : ndarray of shape (n_rows,)
    n : int
        How many bins hold a row.
    """

    below: Integers
    rank: Integers
    order: Places
    n: int


class Pairs:
    """What every two features of an ensemble do together, on unweighted rows.

    Parameters
    ----------
    packing : Packing
        With no `partial_dependence.reason_against` it.
    bins : ndarray of shape (n_features, n_rows)
        The rows, which are averaged over and at which the averages are compared.
    """

    def __init__(self, packing: Packing, bins: Integers) -> None:
        self._boxes, self._bins = boxes_of(packing), bins
        self._counts = counts_of(self._boxes, bins[self._boxes.used], pairs=True)
        self._curves = curves_of(packing, self._boxes, self._counts, bins.shape[1])
        self._entries = _entries_of(self._boxes, self._counts)
        self._ranked = cache(self._rank)

    def alone(self, j: int) -> Floats:
        """Return the partial dependence on one feature at the rows.

        Shape (n_rows, n_outputs).
        """
        return np.asarray(self._curves[j][self._bins[j]])

    def together(self, j: int, k: int) -> Floats:
        """Return the joint partial dependence at the rows minus both single ones.

        Shape (n_rows, n_outputs), up to a constant; exactly 0 if no leaf has sides for
        both.
        """
        values, used = self._boxes.values, self._boxes.used
        beyond = np.zeros((self._bins.shape[1], values.shape[1]))
        if not np.isin((j, k), used).all():
            return beyond
        a, b = np.searchsorted(used, sorted((j, k))).tolist()
        pair = a * len(used) + b
        if self._entries.first[pair] == self._entries.first[pair + 1]:
            return beyond
        sides = (self._ranked(a), self._ranked(b))
        for output in range(values.shape[1]):
            own = np.ascontiguousarray(values[:, output])
            beyond[:, output] = _together(self._boxes, own, self._entries, pair, sides)
        return beyond

    def _rank(self, place: int) -> _Ranked:
        """Return the rows by their bins of a feature that is used."""
        bins = self._bins[self._boxes.used[place]]
        holds = np.bincount(bins, minlength=self._boxes.n_bins[place]) > 0
        below = np.append(0, np.cumsum(holds)).astype(np.int32)
        order = np.argsort(bins, kind="stable")
        return _Ranked(below, below[bins], order, int(below[-1]))


@Loop
def _entries_of(boxes: Boxes, counts: Counts) -> Any:
    """Return the entries of all pairs of features."""
    n_used = len(boxes.used)
    first = np.zeros(n_used * n_used + 1, np.int64)
    table = np.empty((boxes.pair_start[-1], 6), np.int32)
    for fills in range(2):
        place = first[:-1].copy()
        for leaf in range(len(boxes.values)):
            pair, end = boxes.pair_start[leaf], boxes.start[leaf + 1]
            for side in range(boxes.start[leaf], end):
                for other in range(side + 1, end):
                    a, b = boxes.feature[side], boxes.feature[other]
                    key = min(a, b) * n_used + max(a, b)
                    if fills == 1:
                        own, inside = table[place[key]], counts.inside[leaf]
                        sides = (side, other) if a < b else (other, side)
                        own[0], own[1], own[2] = leaf, sides[0], sides[1]
                        own[3] = inside + counts.but_one[sides[0]]
                        own[4] = inside + counts.but_one[sides[1]]
                        own[5] = own[3] + own[4] - inside + counts.but_two[pair]
                        place[key] += 1
                    else:
                        first[key + 1] += 1
                    pair += 1
        if fills == 0:
            first[:] = np.cumsum(first)
    return _Entries(first, table)


@Loop
def _together(boxes: Any, values: Floats, entries: Any, pair: int, sides: Any) -> Any:
    """Return what two features do together at each row, for one output.

    The corners at each rank of a are chains: the last one, and what came before each.
    """
    a, b = sides
    run_start, runs = boxes.run_start, boxes.runs
    here = entries.table[entries.first[pair] : entries.first[pair + 1]]
    strip_a, strip_b = np.zeros(a.n + 1), np.zeros(b.n + 1)
    last, n = np.full(a.n + 1, -1, np.int32), 0
    before, rank_b = (
        np.empty(len(here) * 4, np.int32),
        np.empty(len(here) * 4, np.int32),
    )
    height_of = np.empty(len(here) * 4)
    for entry in range(len(here)):
        value = values[here[entry, 0]]
        side_a, side_b = here[entry, 1], here[entry, 2]
        first_a, end_a = run_start[side_a], run_start[side_a + 1]
        first_b, end_b = run_start[side_b], run_start[side_b + 1]
        _add_strip(strip_a, a.below, runs[first_a:end_a], value * here[entry, 3])
        _add_strip(strip_b, b.below, runs[first_b:end_b], value * here[entry, 4])
        height = value * here[entry, 5]
        if n + 4 * (end_a - first_a) * (end_b - first_b) > len(before):
            more = len(before) + 4 * (end_a - first_a) * (end_b - first_b)
            before = np.append(before, np.empty(more, np.int32))
            rank_b = np.append(rank_b, np.empty(more, np.int32))
            height_of = np.append(height_of, np.empty(more))
        for corner_a in range(2 * first_a, 2 * end_a):
            at_a = a.below[runs[corner_a >> 1, corner_a & 1]]
            if at_a == a.n:
                continue  # no row lies beyond
            for corner_b in range(2 * first_b, 2 * end_b):
                at_b = b.below[runs[corner_b >> 1, corner_b & 1]]
                if at_b < b.n:
                    rank_b[n] = at_b
                    height_of[n] = -height if (corner_a ^ corner_b) & 1 else height
                    before[n], last[at_a] = last[at_a], n
                    n += 1
    strip_a, strip_b = np.cumsum(strip_a), np.cumsum(strip_b)

    sums = np.empty(len(a.order))
    heights = np.zeros(b.n + 2)
    swept = 0
    for row in a.order:
        while swept <= a.rank[row]:
            corner = last[swept]
            while corner >= 0:
                _add_from(heights, rank_b[corner], height_of[corner])
                corner = before[corner]
            swept += 1
        strips = strip_a[a.rank[row]] + strip_b[b.rank[row]]
        sums[row] = _sum_upto(heights, b.rank[row]) - strips
    return sums / len(sums)


@Loop
def _add_strip(strip: Floats, below: Integers, runs: Integers, height: float) -> None:
    """Add a height to the ranks of some runs; `strip` holds differences."""
    for run in range(len(runs)):
        strip[below[runs[run, 0]]] += height
        strip[below[runs[run, 1]]] -= height


@Loop
def _add_from(heights: Floats, rank: int, height: float) -> None:
    """Add to the heights from a rank on; a Fenwick tree keeps their sums."""
    place = rank + 1
    while place < len(heights):
        heights[place] += height
        place += place & -place


@Loop
def _sum_upto(heights: Floats, rank: int) -> float:
    """Return the height at a rank."""
    height, place = 0.0, rank + 1
    while place > 0:
        height += heights[place]
        place -= place & -place
    return height
