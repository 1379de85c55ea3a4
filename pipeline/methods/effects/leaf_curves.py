"""Curves of y along one feature, from a partition of the rows into leaves.

Rows in one leaf have about equal values of all other features, so the change of y along
one feature within a leaf is the effect of that feature. Both functions need only the
leaf of each row, not the trees; the rows of several trees are concatenated.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats

Codes = npt.NDArray[np.int64]
Merge = Literal["published", "least_squares"]
PASSES = 3
"""Passes of the published merge through the leaves, at most, for one group."""


class LeafCurve(NamedTuple):
    """A curve, and the number of leaves that did not contribute to it.

    Attributes
    ----------
    grid : ndarray of shape (n_grid,)
        Values of the feature, or codes of levels, in rising order.
    values : ndarray of shape (n_grid,)
        The curve, in units of y.
    n_ignored : int
        Leaves with a single value of the feature, which show no difference.
    n_leaves : int
        All leaves, those ignored included.
    """

    grid: npt.NDArray[Any]
    values: Floats
    n_ignored: int
    n_leaves: int


class Cells(NamedTuple):
    """The mean of y per leaf and value, sorted by leaf, then by value; all (n_cells,).

    `leaf` and `code` count from 0 without gaps; `rows` is the number of rows of a cell.
    """

    leaf: Codes
    code: Codes
    mean: Floats
    rows: Floats


class Group(NamedTuple):
    """Levels compared by leaves, with their values and numbers of rows; (n,) each."""

    codes: Codes
    values: Floats
    rows: Floats


def in_unit(x: npt.NDArray[Any]) -> Floats:
    """Return columns moved near 0 and scaled to a range in [8, 16).

    The scale is a power of two and the shift a multiple of it, 0 unless a column is
    farther from 0 than it is wide, so nothing is rounded. This is needed because
    scikit-learn's trees read rows as float32, split no values within 1e-7, and no y of
    variance below 2e-16.
    """
    low, high = x.min(axis=0), x.max(axis=0)
    width = np.ldexp(1.0, np.frexp(high - low)[1])
    return np.asarray(16 * (x / width - np.trunc(np.clip(0, low, high) / width)))


def points_of(x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """Return the distinct values, in rising order, and the index of each row's value.

    Values that are equal to 9 decimals after `in_unit` count as one, the lowest.
    """
    values, code = np.unique(x, return_inverse=True)
    is_new = np.diff(np.round(in_unit(values), 9), prepend=-np.inf) > 0
    return values[is_new], np.cumsum(is_new)[code] - 1


def numeric_curve(
    x: Floats, y: Floats, leaf: Codes, *, min_slopes_per_x: int
) -> LeafCurve:
    r"""Return the cumulated mean slope of y along a numeric feature, 0 at the left.

    In each leaf, y is averaged per distinct x, and two neighbours have the slope
    :math:`(\bar y_{k+1} - \bar y_k) / (x_{k+1} - x_k)` on :math:`[x_k, x_{k+1})`. At
    each distinct x of all rows the slopes that cover it are averaged, where there are
    enough, and cumulated times the step to the next x.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Finite; values of `x` that `points_of` does not distinguish count as equal.
    leaf : ndarray of shape (n,)
        The leaf of each row, any integers.
    min_slopes_per_x : int
        Points that fewer slopes cover have no evidence.

    Returns
    -------
    LeafCurve
        It has only points with evidence to their left or right, possibly none. Where
        there is no evidence between two of them, the curve is flat.
    """
    distinct, code = points_of(x)
    cells = cells_of(code, y, leaf)
    within = cells.leaf[1:] == cells.leaf[:-1]
    start, stop = cells.code[:-1][within], cells.code[1:][within]
    slope = np.diff(cells.mean)[within] / (distinct[stop] - distinct[start])

    covering = _covering_sum(start, stop, np.ones(len(slope)), len(distinct))
    is_known = covering >= min_slopes_per_x
    total = _covering_sum(start, stop, slope, len(distinct))
    mean_slope = np.where(is_known, total / np.maximum(covering, 1), 0)
    steps = mean_slope[:-1] * np.diff(distinct)
    values = np.concatenate([np.zeros(1), np.cumsum(steps)])

    has_evidence = is_known | np.concatenate([[False], is_known[:-1]])
    with_evidence = values[has_evidence]
    return LeafCurve(
        distinct[has_evidence], with_evidence - with_evidence[:1], *_n_single(cells)
    )


def _covering_sum(start: Codes, stop: Codes, height: Floats, n_points: int) -> Floats:
    """Return the sum of the heights of the intervals [start, stop) over each point.

    Nothing is subtracted: a slope between two nearly equal x can be so steep that
    adding and subtracting it would leave its rounding error on all later points. So an
    interval is added to the few nodes of a binary tree that cover it, and a point
    takes the sum of the nodes above it.
    """
    n_leaves = 1 << (n_points - 1).bit_length()
    nodes = np.zeros(2 * n_leaves)
    low, high, n_nodes = start + n_leaves, stop + n_leaves, len(nodes)
    while len(low):
        is_right = (low & 1) == 1
        nodes[:n_nodes] += np.bincount(low[is_right], height[is_right], n_nodes)
        is_left = (high & 1) == 1
        nodes[:n_nodes] += np.bincount(high[is_left] - 1, height[is_left], n_nodes)
        low, high, n_nodes = (low + 1) >> 1, high >> 1, n_nodes // 2
        is_open = low < high
        low, high, height = low[is_open], high[is_open], height[is_open]
    n_nodes = 1
    while n_nodes < n_leaves:
        above = nodes[n_nodes : 2 * n_nodes]
        nodes[2 * n_nodes : 4 * n_nodes] += np.repeat(above, 2)
        n_nodes *= 2
    return nodes[n_leaves : n_leaves + n_points]


def categorical_curve(
    code: Codes, y: Floats, leaf: Codes, *, merge: Merge = "published"
) -> LeafCurve:
    r"""Return the value of each level relative to the others, up to one constant.

    In each leaf the mean of y per level is known up to a constant of the leaf.

    Parameters
    ----------
    code : ndarray of shape (n,)
        The level of each row, from 0.
    y : ndarray of shape (n,)
    leaf : ndarray of shape (n,)
        The leaf of each row, any integers.
    merge : {"published", "least_squares"}, default "published"
        How the leaves are combined.

        * "published": starting from the first leaf (its smallest mean is 0), each leaf
          that shares a level with those before it is shifted by the mean difference
          over the shared levels and averaged in, weighted by rows, in three passes at
          most; then the next group starts. The order of the leaves matters.
        * "least_squares": leaf and level effects of least squared error over the
          rows. No order matters.

        Groups of levels that share no leaf are placed by the difference of the means
        over their levels of the mean y per level, as if nothing else differed.

    Returns
    -------
    LeafCurve
        At the levels that some row has. `n_ignored` leaves have a single level; they
        move no level, but the published merge counts their rows as weights.
    """
    cells = cells_of(code, y, leaf)
    groups = list(_merge_leaves(cells) if merge == "published" else _fit_levels(cells))
    rows = np.bincount(code)
    marginal = np.bincount(code, y) / np.maximum(rows, 1)
    values = _place_groups(groups, marginal)
    level_codes = np.flatnonzero(rows)
    return LeafCurve(level_codes, values[level_codes], *_n_single(cells))


def cells_of(code: Codes, y: Floats, leaf: Codes) -> Cells:
    """Return the mean of y and the number of rows per leaf and code."""
    _, leaf = np.unique(leaf, return_inverse=True)
    n_codes = int(code.max()) + 1
    key = leaf * n_codes + code
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    count = np.diff(np.append(first, len(key))).astype(np.float64)
    mean = np.add.reduceat(y[order].astype(np.float64), first) / count
    return Cells(key[first] // n_codes, key[first] % n_codes, mean, count)


def _n_single(cells: Cells) -> tuple[int, int]:
    """Return the number of leaves with a single value, and the number of leaves."""
    values = np.bincount(cells.leaf)
    return int((values == 1).sum()), len(values)


def _merge_leaves(cells: Cells) -> Iterator[Group]:
    """Yield the groups of the published merge, in the order of their first leaves."""
    begins = np.flatnonzero(np.diff(cells.leaf, prepend=-1))
    above = cells.mean - np.minimum.reduceat(cells.mean, begins)[cells.leaf]
    # Leaves are small: Python's lists are several times faster than arrays here.
    code, rows = cells.code.tolist(), cells.rows.tolist()
    ends = [*begins.tolist(), len(code)]
    vectors = [
        list(zip(code[a:b], above[a:b].tolist(), rows[a:b], strict=True))
        for a, b in pairwise(ends)
    ]
    by_code = np.argsort(cells.code, kind="stable")
    ends_of_codes = np.cumsum(np.bincount(cells.code))[:-1]
    leaves_of = [part.tolist() for part in np.split(cells.leaf[by_code], ends_of_codes)]
    is_free = [True] * len(vectors)
    for first in range(len(vectors)):
        if is_free[first]:
            yield _grow_group(first, vectors, leaves_of, is_free)


def _grow_group(
    first: int,
    vectors: list[list[tuple[int, float, float]]],
    leaves_of: list[list[int]],
    is_free: list[bool],
) -> Group:
    """Return one group of the published merge, and mark its leaves as used."""
    merged: dict[int, tuple[float, float]] = {}
    queue, queued_leaves = [(1, first)], {first}
    # Each pass goes through the leaves in order and merges those that share a level
    # with the group. The queue holds just these leaves, by pass and number.
    while queue:
        turn, leaf = heappop(queue)
        if turn > PASSES:
            break
        is_free[leaf], vector = False, vectors[leaf]
        new = [code for code, _, _ in vector if code not in merged]
        gaps = [merged[code][0] - above for code, above, _ in vector if code in merged]
        shift = sum(gaps) / len(gaps) if gaps else 0.0  # over the shared levels
        for code, above, own in vector:
            value, weight = merged.get(code, (0.0, 0.0))
            total = weight + own
            merged[code] = (value * weight + (above + shift) * own) / total, total
        for other in chain.from_iterable(leaves_of[code] for code in new):
            if is_free[other] and other not in queued_leaves:
                queued_leaves.add(other)
                heappush(queue, (turn + (other < leaf), other))
    values, rows = np.array(list(merged.values())).T
    return Group(np.array(list(merged)), values, rows)


def _fit_levels(cells: Cells) -> Iterator[Group]:
    """Yield the groups of levels that leaves connect, with their fitted values.

    Leaf effects are eliminated analytically, which leaves a Laplacian of the levels;
    its solution is made unique by setting one level of each group to 0.
    """
    from scipy.sparse import coo_array, csc_array, diags
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import spsolve

    table = coo_array((cells.rows, (cells.leaf, cells.code))).tocsc()
    of_leaf, of_level = table.sum(axis=1), table.sum(axis=0)
    total = np.bincount(cells.leaf, cells.rows * cells.mean)
    residual = cells.mean - (total / of_leaf)[cells.leaf]
    right = np.bincount(cells.code, cells.rows * residual)
    shared = table.T @ diags(1 / of_leaf) @ table
    laplacian = csc_array(diags(of_level) - shared)

    _, group = connected_components(shared, directed=False)
    _, anchors = np.unique(group, return_index=True)
    free = np.setdiff1d(np.flatnonzero(of_level), anchors)
    values = np.zeros(len(of_level))
    if len(free):
        values[free] = spsolve(laplacian[free][:, free], right[free])
    for k in range(len(anchors)):
        codes = np.flatnonzero((group == k) & (of_level > 0))
        if len(codes):
            yield Group(codes, values[codes], of_level[codes])


def _place_groups(groups: list[Group], marginal: Floats) -> Floats:
    """Return all levels on one scale, (n_levels,); NaN for one in no group."""
    first = groups[0]
    level = marginal[first.codes].mean() - first.values.mean()
    total, count = np.zeros(len(marginal)), np.zeros(len(marginal))
    for group in groups:
        shift = marginal[group.codes].mean() - group.values.mean() - level
        total[group.codes] += (group.values + shift) * group.rows
        count[group.codes] += group.rows
    return np.where(count > 0, total / np.where(count > 0, count, 1), np.nan)
