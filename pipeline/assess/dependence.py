"""Association between features: why a ranking may mislead. Not: what to say of it.

    number and number         Spearman's rank correlation, absolute
    category and category     Cramér's V
    number and category       correlation ratio: of the number, given the level

All lie between 0 and 1. The last two grow with the number of levels by chance alone,
and are corrected for it, so that they are 0 or near it where there is no association.
Rows count once, whatever their weight; a pair is judged on the rows that have both.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..data.column_types import is_category
from ..records.dataset_and_model import Dataset, Floats

Codes = npt.NDArray[np.intp]
STRIPE = 64
"""Columns whose ranks are multiplied with those of all others at a time."""
_LAST: WeakKeyDictionary[Dataset, tuple[tuple[str, ...], Floats]] = WeakKeyDictionary()


def associations_of(data: Dataset, names: Sequence[str]) -> Floats:
    """Return the `associations` of some columns of a dataset, read-only.

    An audit asks three times for the same ones; of thousands of columns they take
    longer than everything else that asks no model.
    """
    names = tuple(names)
    last, strength = _LAST.get(data, ((), None))
    if strength is None or last != names:
        whole = names == data.features  # then no copy
        strength = associations(data.X if whole else data.X[list(names)])
        strength.flags.writeable = False
        _LAST[data] = names, strength
    return strength


def associations(X: pd.DataFrame) -> Floats:
    """Return how strongly each two columns go together, (n_columns, n_columns).

    1 on the diagonal; 0 for a column that never varies, which foretells nothing.
    """
    strength = np.eye(X.shape[1])
    numbers = [k for k in range(X.shape[1]) if not is_category(X.iloc[:, k])]
    strength[np.ix_(numbers, numbers)] = _rank_correlations(X, numbers)
    levels = sorted({*range(X.shape[1])} - {*numbers})
    for a, b in (*combinations(levels, 2), *product(levels, numbers)):
        strength[a, b] = strength[b, a] = _of_levels(X.iloc[:, a], X.iloc[:, b])
    np.fill_diagonal(strength, 1.0)
    return strength


def clusters(strength: Floats, threshold: float) -> Iterator[list[int]]:
    """Yield sets of columns linked by pairs of at least this strength, in order."""
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
    """Return Spearman's correlations, absolute; 0 where a column never varies."""
    columns = [X.iloc[:, k] for k in numbers]
    if any(column.hasnans for column in columns):  # ranks depend on both columns
        some = X.iloc[:, list(numbers)].astype(float)
        return np.abs(np.nan_to_num(some.corr(method="spearman").to_numpy()))
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


def _of_levels(a: pd.Series, b: pd.Series) -> float:
    """Return the association of two columns of which one is a category at least."""
    both = (a.notna() & b.notna()).to_numpy()
    a, b = a[both], b[both]
    if is_category(a) and is_category(b):
        return _cramers_v(_codes(a), _codes(b))
    levels, numbers = (a, b) if is_category(a) else (b, a)
    return _correlation_ratio(_codes(levels), numbers.to_numpy(dtype=float))


def _codes(column: pd.Series) -> Codes:
    """Return the levels that rows have as 0, 1, … ."""
    return np.unique(column.cat.codes.to_numpy(), return_inverse=True)[1]


def _cramers_v(a: Codes, b: Codes) -> float:
    """Return Cramér's V, corrected as by Bergsma; 0 if either has one level only.

    Journal of the Korean Statistical Society 42 (2013). doi:10.1016/j.jkss.2012.10.002
    """
    n, shape = len(a), (a.max(initial=-1) + 1, b.max(initial=-1) + 1)
    if min(shape) < 2:
        return 0.0
    counts = np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1])
    counts = counts.reshape(shape)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    phi2 = ((counts - expected) ** 2 / expected).sum() / n
    rows, columns = shape
    excess = phi2 - (rows - 1) * (columns - 1) / (n - 1)
    most = min(k - 1 - (k - 1) ** 2 / (n - 1) for k in shape)
    return float(np.sqrt(np.clip(excess / most, 0, 1))) if most > 0 else 0.0


def _correlation_ratio(levels: Codes, numbers: Floats) -> float:
    """Return the root of the share of a number's variance between the levels.

    Variances are divided by their degrees of freedom: epsilon squared (Kelley 1935).
    """
    n, n_levels = len(levels), levels.max(initial=-1) + 1
    if n_levels < 2 or n <= n_levels or np.ptp(numbers) == 0:
        return 0.0
    means = np.bincount(levels, numbers) / np.bincount(levels)
    within = ((numbers - means[levels]) ** 2).sum() / (n - n_levels)
    total = numbers.var(ddof=1)
    return float(np.sqrt(max(0.0, 1 - within / total)))
