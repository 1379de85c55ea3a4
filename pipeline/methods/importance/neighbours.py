"""The nearest rows of each row by some columns, and random draws from them.

`conditional` gives rows the values of near ones.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Floats
from ...records.r_rng import RStream
from .exchange import Index, numbers_of

Convention = Literal["standard", "xplainfi"]
TIE = 1e-12
"""Distances that differ by this share are tied; in xplainfi they must be equal."""
PERHAPS_TIED = 1e-9
"""Distances by a tree that differ by up to this share may be tied."""
BLOCK_BYTES = 2**21
"""Bytes of the distances that are held at a time, which fit a cache."""


class _Column(NamedTuple):
    """One column that rows are compared by.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, or the codes of levels.
    is_category : bool
    width : float
        The divisor of the difference of two numbers.
    """

    values: Floats
    is_category: bool
    width: float


@dataclass(frozen=True)
class Neighbours:
    """The rows near each of some rows; rows with equal values share a list.

    Attributes
    ----------
    lists : ndarray of shape (n_rows,)
        The list of each row.
    start : ndarray of shape (n_lists + 1,)
        Where each list begins in `members`, and where the last one ends.
    members : ndarray of shape (n_members,)
        Rows, in rising order within a list. A row is on its own list.
    keeps_itself : bool
        Whether a row is one of its own neighbours.
    """

    lists: Index
    start: Index
    members: Index
    keeps_itself: bool

    @property
    def counts(self) -> Index:
        """The number of neighbours of each row, (n_rows,)."""
        return np.diff(self.start)[self.lists] - (not self.keeps_itself)

    def drawn(self, generator: np.random.Generator) -> Index:
        """Return a neighbour of each row, all equally likely, (n_rows,)."""
        return self._at(generator.integers(self.counts))

    def replayed(self, r: RStream, n_repeats: int) -> Index:
        """Return the neighbours that xplainfi draws, (n_repeats, n_rows).

        It draws all repeats of a row, then those of the next one.
        """
        counts = self.counts
        bounds = np.flatnonzero(np.diff(counts, prepend=-1, append=-1))
        runs = [
            r.sample(int(counts[first]), int(last - first) * n_repeats, replace=True)
            for first, last in pairwise(bounds)
        ]
        places = np.concatenate(runs).reshape(len(counts), n_repeats)
        return np.stack([self._at(places[:, k]) for k in range(n_repeats)])

    def _at(self, places: Index) -> Index:
        """Return the neighbour of each row at a position among its neighbours."""
        places = self.start[self.lists] + places
        if not self.keeps_itself:
            n, n_lists = len(self.lists), len(self.start) - 1
            list_of = np.repeat(np.arange(n_lists), np.diff(self.start))
            itself = np.searchsorted(
                list_of * n + self.members, self.lists * n + np.arange(n)
            )
            places = places + (places >= itself)
        return self.members[places]


def nearest(
    others: pd.DataFrame, n_neighbours: int, *, convention: Convention = "standard"
) -> Neighbours:
    """Return the `n_neighbours` nearest rows of each row, and those tied with the last.

    Parameters
    ----------
    others : DataFrame of shape (n_rows, n_columns)
        The columns that rows are compared by, without missing values: by Euclidean
        distance, each column divided by its standard deviation; if one is a category,
        by Gower's, the mean over the columns of their differences: as a share of the
        range for numbers, 1 for different levels. Without columns all rows are tied.
    n_neighbours : int
        At least 1.
    convention : {"standard", "xplainfi"}
        "standard" excludes a row from its own neighbours, "xplainfi" counts it as the
        first of them.
    """
    n = len(others)
    keeps_itself = convention == "xplainfi" or n == 1
    size = min(n_neighbours + (not keeps_itself), n)
    by_gower = any(is_category(others[name]) for name in others)
    scaled = partial(_scaled, by_gower=by_gower, convention=convention)
    columns = [column for name in others if (column := scaled(others[name])).width > 0]
    first, lists = _distinct_rows(columns, n)
    near, is_tied = _by_tree(columns, first, size, by_gower)
    counts = np.full(len(first), size)
    tied = []
    rows = np.flatnonzero(is_tied)
    n_parts = math.ceil(8 * n * len(rows) / BLOCK_BYTES) or 1
    for some in np.array_split(rows, n_parts):  # parts whose distances fit a cache
        distances = _distances(columns, first[some], n, by_gower, convention)
        last = np.partition(distances, size - 1, axis=1)[:, size - 1 : size]
        within = distances <= (last if convention == "xplainfi" else last * (1 + TIE))
        counts[some] = within.sum(axis=1)
        tied.append(np.nonzero(within)[1])
    members = np.empty(counts.sum(), dtype=np.int64)
    of_tied = np.repeat(is_tied, counts)
    members[of_tied] = np.concatenate([near[:0].ravel(), *tied])
    members[~of_tied] = near[~is_tied].ravel()
    return Neighbours(lists, np.append(0, counts.cumsum()), members, keeps_itself)


def _scaled(column: pd.Series, *, by_gower: bool, convention: Convention) -> _Column:
    """Return a column with the divisor of its differences, 0 if it is constant.

    The divisor, and for xplainfi also the dividend, is rounded as in R, which adds long
    doubles one by one: among whole numbers, last bits can decide whether two distances
    are tied.
    """
    values = numbers_of(column)
    if by_gower:
        is_level = is_category(column)
        return _Column(values, is_level, 1.0 if is_level else float(np.ptp(values)))
    long = values.astype(np.longdouble)
    mean = np.float64(_sum(long) / len(long))
    squares = _sum((long - np.longdouble(mean)) ** 2)
    spread = float(np.sqrt(np.float64(squares / max(1, len(long) - 1))))
    if convention == "xplainfi" and spread > 0:
        return _Column((values - mean) / spread, is_category=False, width=1.0)
    return _Column(values, is_category=False, width=spread)


def _sum(numbers: npt.NDArray[np.longdouble]) -> np.longdouble:
    """Return a sum in the order of its terms; `numpy.sum` adds blocks."""
    return np.longdouble(np.add.accumulate(numbers)[-1])


def _distinct_rows(columns: list[_Column], n: int) -> tuple[Index, Index]:
    """Return one row for each set of equal rows, and the set of each row."""
    if not columns:
        return np.zeros(1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    table = np.stack([column.values for column in columns], axis=1)
    _, first, lists = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, lists.reshape(n)


def _by_tree(
    columns: list[_Column], rows: Index, size: int, by_gower: bool
) -> tuple[Index, npt.NDArray[np.bool_]]:
    """Return the nearest of all rows to some rows, and whether others may be tied.

    The nearest are of shape (n_some, size), in rising order. A tree finds them in less
    than a tenth of the time that all distances take, for up to ten columns.
    """
    from scipy.spatial import cKDTree

    scaled = []
    for values, is_level, width in columns:
        if is_level:  # two levels differ by a half in two indicators
            scaled += [(values == level) / 2 for level in np.unique(values)]
        else:
            scaled.append((values - values.mean()) / width)
    if not scaled:
        return np.zeros((len(rows), size), dtype=np.int64), np.ones(len(rows), bool)
    table = np.stack(scaled, axis=1)
    metric = 1 if by_gower else 2
    distances, near = cKDTree(table).query(table[rows], size + 1, p=metric)
    is_tied = distances[:, size] <= distances[:, size - 1] * (1 + PERHAPS_TIED)
    return np.sort(near[:, :size], axis=1), is_tied


def _distances(
    columns: list[_Column],
    rows: Index,
    n: int,
    by_gower: bool,
    convention: Convention,
) -> Floats:
    """Return the distances of some rows to all rows, (n_some, n).

    Columns are added in their order. For xplainfi they are added as in R, to the last
    bit: squares as long doubles, and in Gower's distance 1 less the differences.
    """
    as_in_r = convention == "xplainfi"
    is_long = as_in_r and not by_gower
    total = np.zeros((len(rows), n), dtype=np.longdouble if is_long else np.float64)
    for values, is_level, width in columns:
        gap = values[rows][:, np.newaxis] - values
        if not by_gower:
            gap /= width
            total += gap * gap
            continue
        share = (gap != 0).astype(float) if is_level else np.abs(gap) / width
        total += 1 - share if as_in_r else share
    if not by_gower:
        return np.sqrt(total.astype(float))
    mean = total / max(1, len(columns))
    return 1 - mean if as_in_r else mean
