"""Friedman's H of pairs, exactly and on all rows, from the rows near each leaf.

Only leaves whose box has a side for both features of a pair contribute to their joint
effect: a rectangle of bins of their joint partial dependence, and a strip of each
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
    """The rectangles of leaves in two features, one pair of features after another.

    There is one for each run of bins that a leaf accepts in the first feature and each
    that it accepts in the second.

    Attributes
    ----------
    first : ndarray of shape (n_used**2 + 1,)
        The entries of the features a < b are those from ``first[a * n_used + b]`` on.
    table : ndarray of shape (n_entries, 8)
        The leaf; the first bin and that after the last for a and for b; and the numbers
        of rows in its box if a, b, or both are set. The numbers for a and for b are in
        the first rectangle of a run only. Reading in this order is faster than leaf by
        leaf.
    """

    first: Places
    table: Integers


class _Ranked(NamedTuple):
    """The rows, ranked by their values of one feature.

    Attributes
    ----------
    below : ndarray of shape (n_bins + 1,)
        Number of bins below this one that hold a row.
    rank : ndarray of shape (n_rows,)
        That number for the bin of each row.
    order : ndarray of shape (n_rows,)
    n : int
        Number of bins that hold a row.
    """

    below: Integers
    rank: Integers
    order: Places
    n: int


class Pairs:
    """Joint effects of every two features of an ensemble, on unweighted rows.

    Parameters
    ----------
    packing : Packing
        One for which `partial_dependence.reason_against` is empty.
    bins : ndarray of shape (n_features, n_rows)
        The rows that are averaged over, and at which the averages are evaluated.
    n_threads : int, default 1
        No number depends on it.
    """

    def __init__(self, packing: Packing, bins: Integers, *, n_threads: int = 1) -> None:
        self._boxes, self._bins = boxes_of(packing), bins
        self._counts = counts_of(
            self._boxes, bins[self._boxes.used], pairs=True, n_threads=n_threads
        )
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
        first, end = self._entries.first[pair : pair + 2]
        if first == end:
            return beyond
        here, sides = self._entries.table[first:end], (self._ranked(a), self._ranked(b))
        for output in range(values.shape[1]):
            own = np.ascontiguousarray(values[:, output])
            beyond[:, output] = _together(here, own, *sides)
        return beyond

    def _rank(self, place: int) -> _Ranked:
        """Return the rows ranked by a feature, given its position in `used`."""
        bins = self._bins[self._boxes.used[place]]
        holds = np.bincount(bins, minlength=self._boxes.n_bins[place]) > 0
        below = np.append(0, np.cumsum(holds)).astype(np.int32)
        order = np.argsort(bins, kind="stable")
        return _Ranked(below, below[bins], order, int(below[-1]))


@Loop
def _entries_of(boxes: Boxes, counts: Counts) -> Any:
    """Return the entries of all pairs of features."""
    n_used, run_start = len(boxes.used), boxes.run_start
    first = np.zeros(n_used * n_used + 1, np.int64)
    place, table = first, np.empty((0, 8), np.int32)
    for fills in range(2):
        for leaf in range(len(boxes.values)):
            pair, end = boxes.pair_start[leaf], boxes.start[leaf + 1]
            for side in range(boxes.start[leaf], end):
                for other in range(side + 1, end):
                    a, b = boxes.feature[side], boxes.feature[other]
                    key = min(a, b) * n_used + max(a, b)
                    if fills == 0:
                        n_runs = run_start[side + 1] - run_start[side]
                        n_runs *= run_start[other + 1] - run_start[other]
                        first[key + 1] += n_runs
                    else:
                        sides = (side, other) if a < b else (other, side)
                        _enter(boxes, counts, leaf, sides, pair, table, place, key)
                    pair += 1
        if fills == 0:
            first = np.cumsum(first)
            place, table = first[:-1].copy(), np.empty((first[-1], 8), np.int32)
    return _Entries(first, table)


@Loop
def _enter(
    boxes: Any,
    counts: Any,
    leaf: int,
    sides: Any,
    pair: int,
    table: Integers,
    place: Places,
    key: int,
) -> None:
    """Put the rectangles of a leaf in two features into the table."""
    inside, runs, run_start = counts.inside[leaf], boxes.runs, boxes.run_start
    if_a, if_b = counts.but_one[sides[0]], counts.but_one[sides[1]]
    if_both = inside + if_a + if_b + counts.but_two[pair]
    first_a, first_b = run_start[sides[0]], run_start[sides[1]]
    for run_a in range(first_a, run_start[sides[0] + 1]):
        for run_b in range(first_b, run_start[sides[1] + 1]):
            own = table[place[key]]
            own[0], own[1], own[2] = leaf, runs[run_a, 0], runs[run_a, 1]
            own[3], own[4] = runs[run_b, 0], runs[run_b, 1]
            own[5] = inside + if_a if run_b == first_b else 0
            own[6] = inside + if_b if run_a == first_a else 0
            own[7] = if_both
            place[key] += 1


@Loop
def _together(here: Integers, values: Floats, a: Any, b: Any) -> Any:
    """Return the joint effect of two features at each row, for one output.

    The corners at each rank of a form a linked list: `last` has the last one, `chain`
    the one before each.
    """
    strip_a, strip_b = np.zeros(a.n + 1), np.zeros(b.n + 1)
    last, n = np.full(a.n + 1, -1, np.int32), 0
    chain = np.empty((4 * len(here), 2), np.int32)  # the corner before, the rank of b
    height_of = np.empty(4 * len(here))
    for entry in range(len(here)):
        own = here[entry]
        value = values[own[0]]
        low_b, high_b = b.below[own[3]], b.below[own[4]]
        strip_b[low_b] += value * own[6]
        strip_b[high_b] -= value * own[6]
        height = value * own[7]
        for end in range(2):
            at_a, sign = a.below[own[1 + end]], 1.0 - 2.0 * end
            strip_a[at_a] += sign * (value * own[5])
            if at_a == a.n:
                continue  # no row lies beyond
            for at_b, turn in ((low_b, sign), (high_b, -sign)):
                if at_b < b.n:
                    chain[n, 0], chain[n, 1] = last[at_a], at_b
                    height_of[n], last[at_a] = turn * height, n
                    n += 1
    strip_a, strip_b = np.cumsum(strip_a), np.cumsum(strip_b)

    sums = np.empty(len(a.order))
    heights = np.zeros(b.n + 2)
    swept = 0
    for row in a.order:
        while swept <= a.rank[row]:
            corner = last[swept]
            while corner >= 0:
                _add_from(heights, chain[corner, 1], height_of[corner])
                corner = chain[corner, 0]
            swept += 1
        strips = strip_a[a.rank[row]] + strip_b[b.rank[row]]
        sums[row] = _sum_upto(heights, b.rank[row]) - strips
    return sums / len(sums)


@Loop
def _add_from(heights: Floats, rank: int, height: float) -> None:
    """Add to the heights from a rank on, in a Fenwick tree."""
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
