"""Association between features, and sets of linked features. Not: findings about them.

    number and number         Spearman's rank correlation, absolute
    category and category     Cramér's V
    number and category       correlation ratio: of the number, given the level

All are between 0 and 1. The last two grow with the number of levels by chance alone.
They are corrected for it, so that they are about 0 if there is no association. Rows
count once, whatever their weight; of a pair of columns, the rows with both values are
used.
"""

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..data.column_types import is_category
from ..records.dataset_and_model import Dataset, Floats

STRIPE = 64
"""Columns per matrix product of ranks."""
_LAST: WeakKeyDictionary[Dataset, tuple[tuple[str, ...], Floats]] = WeakKeyDictionary()


def associations_of(data: Dataset, names: Sequence[str]) -> Floats:
    """Return the `associations` of some columns of a dataset, read-only and cached.

    An audit needs the same ones three times. For thousands of columns they take longer
    than all other computations without predictions.
    """
    names = tuple(names)
    last, strength = _LAST.get(data, ((), None))
    if strength is None or last != names:
        is_all = names == data.features  # then no copy
        strength = associations(data.X if is_all else data.X[list(names)])
        strength.flags.writeable = False
        _LAST[data] = names, strength
    return strength


def associations(X: pd.DataFrame) -> Floats:
    """Return the association of each two columns, (n_columns, n_columns).

    It is 1 on the diagonal, and 0 for a constant column with any other.
    """
    strength = np.eye(X.shape[1])
    numbers = [k for k in range(X.shape[1]) if not is_category(X.iloc[:, k])]
    strength[np.ix_(numbers, numbers)] = _rank_correlations(X, numbers)
    levels = sorted({*range(X.shape[1])} - {*numbers})
    codes = [X.iloc[:, k].cat.codes.to_numpy() for k in levels]
    # Indicators of the levels, (n_rows, n_levels); 0 for a missing cell.
    marks = [
        np.asarray(own[:, np.newaxis] == np.unique(own[own >= 0]), dtype=float)
        for own in codes
    ]
    table = X.iloc[:, numbers].to_numpy(dtype=np.float64)
    every = np.concatenate([np.empty((len(X), 0)), *marks], axis=1)
    ends = np.cumsum([0, *(each.shape[1] for each in marks)])
    for place, (a, own) in enumerate(zip(levels, marks, strict=True)):
        ratios = _correlation_ratios(own, table)
        strength[a, numbers] = strength[numbers, a] = ratios
        counts = own.T @ every[:, ends[place] :]
        for b, start, end in zip(
            levels[place:], ends[place:-1], ends[place + 1 :], strict=True
        ):
            part = slice(start - ends[place], end - ends[place])
            strength[a, b] = strength[b, a] = _cramers_v(counts[:, part])
    np.fill_diagonal(strength, 1.0)
    return strength


def clusters(strength: Floats, threshold: float) -> Iterator[list[int]]:
    """Yield the connected sets of columns, linked by pairs of at least `threshold`.

    Sets have at least two columns and are in the order of their first columns.
    """
    is_left = np.ones(len(strength), dtype=bool)
    for start in range(len(strength)):
        if not is_left[start]:
            continue
        is_left[start] = False
        queue, cluster = [start], [start]
        while queue:
            is_near = is_left & (strength[queue.pop()] >= threshold)
            near = np.flatnonzero(is_near).tolist()
            is_left[near] = False
            queue += near
            cluster += near
        if len(cluster) > 1:
            yield sorted(cluster)


def _rank_correlations(X: pd.DataFrame, numbers: Sequence[int]) -> Floats:
    """Return Spearman's correlations, absolute; 0 for a constant column."""
    columns = [X.iloc[:, k] for k in numbers]
    has_gaps = np.array([column.hasnans for column in columns], dtype=bool)
    if has_gaps.any():
        return _with_gaps(X.iloc[:, list(numbers)], has_gaps)
    ranks = np.empty((len(X), len(columns)), order="F")
    for k, column in enumerate(columns):
        ranks[:, k] = column.rank()
        ranks[:, k] -= ranks[:, k].mean()
    n_rows, n_columns = ranks.shape
    correlations = np.empty((n_columns, n_columns))
    for first in range(0, n_columns, STRIPE):  # each pair once
        these, others = slice(first, first + STRIPE), slice(first, None)
        products = ranks[:, others].T @ np.ascontiguousarray(ranks[:, these])
        correlations[others, these] = products
        correlations[these, others] = products.T
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations *= np.divide(1, n_rows - 1)
        spread = np.sqrt(correlations.diagonal())
        correlations /= spread[:, np.newaxis]
        correlations /= spread
    np.nan_to_num(correlations, copy=False)
    np.clip(correlations, -1, 1, out=correlations)
    return np.abs(correlations, out=correlations)


def _with_gaps(X: pd.DataFrame, has_gaps: npt.NDArray[np.bool_]) -> Floats:
    """Return Spearman's correlations of columns with missing cells, absolute.

    The ranks of two columns are those among the rows with both values.
    """
    X = X.astype(np.float64)
    whole, gaps = np.flatnonzero(~has_gaps), np.flatnonzero(has_gaps)
    strength = np.zeros((len(has_gaps),) * 2)
    strength[np.ix_(whole, whole)] = _rank_correlations(X, whole.tolist())
    among = np.abs(np.nan_to_num(X.iloc[:, gaps].corr(method="spearman").to_numpy()))
    strength[np.ix_(gaps, gaps)] = among
    for k in gaps:
        rows = X.iloc[:, k].notna().to_numpy()
        if not rows.any():
            continue
        own = X.iloc[rows, k].rank().to_numpy()
        ranks = X.iloc[rows, whole].rank().to_numpy()
        own, ranks = own - own.mean(), ranks - ranks.mean(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt((own @ own) * np.square(ranks).sum(axis=0))
            both = np.abs(np.nan_to_num(own @ ranks / spread))
        strength[k, whole] = strength[whole, k] = np.minimum(both, 1.0)
    return strength


def _cramers_v(counts: Floats) -> float:
    """Return Cramér's V with the correction of Bergsma; 0 if a column has one level.

    `counts` is the contingency table, (n_levels, n_other_levels).

    Journal of the Korean Statistical Society 42 (2013). doi:10.1016/j.jkss.2012.10.002
    """
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    shape, n = counts.shape, counts.sum()
    if min(shape) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    phi2 = ((counts - expected) ** 2 / expected).sum() / n
    rows, columns = shape
    excess = phi2 - (rows - 1) * (columns - 1) / (n - 1)
    most = min(k - 1 - (k - 1) ** 2 / (n - 1) for k in shape)
    return float(np.sqrt(np.clip(excess / most, 0, 1))) if most > 0 else 0.0


def _correlation_ratios(marks: Floats, table: Floats) -> Floats:
    """Return the root of the share of each number's variance between the levels.

    Variances are sums of squares over degrees of freedom: the share is epsilon squared
    (Kelley 1935).

    Parameters
    ----------
    marks : ndarray of shape (n_rows, n_levels)
        Indicators of the levels.
    table : ndarray of shape (n_rows, n_columns)
        Numbers, NaN if missing.
    """
    has_level = marks.any(axis=1)
    marks, table = marks[has_level], table[has_level]
    is_there = ~np.isnan(table)
    n = is_there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = np.where(is_there, table, 0.0)
        centred -= np.where(is_there, centred.sum(axis=0) / n, 0.0)
        varies = (centred != 0).any(axis=0) & (
            np.where(is_there, table, np.inf).min(axis=0, initial=np.inf)
            < np.where(is_there, table, -np.inf).max(axis=0, initial=-np.inf)
        )
        counts = marks.T @ is_there
        means = np.where(counts > 0, (marks.T @ centred) / counts, 0.0)
        n_levels = (counts > 0).sum(axis=0)
        within = np.square(centred).sum(axis=0) - (counts * np.square(means)).sum(
            axis=0
        )
        total = np.square(centred).sum(axis=0) / (n - 1)
        share = 1 - np.maximum(within, 0.0) / (n - n_levels) / total
        is_known = (n_levels >= 2) & (n > n_levels) & varies
        return np.where(is_known, np.sqrt(np.maximum(share, 0.0)), 0.0)
