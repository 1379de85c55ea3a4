"""The box of each leaf: what the comparisons on its path accept, feature by feature."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .compiled import Loop
from .packing import Integers, Packing, goes_left

Places = npt.NDArray[np.int64]


class Boxes(NamedTuple):
    """The boxes of all leaves, in preorder; features by their place in `used`.

    Attributes
    ----------
    used : ndarray of shape (n_used,)
        The features that some node compares.
    n_bins : ndarray of shape (n_used,)
        The bins of each, that of missing values included.
    table : ndarray of int32, shape (n_nodes, 4)
        As in `Nodes`.
    rules : tuple
        As in `Nodes`, never None.
    depth : int
    start : ndarray of shape (n_leaves + 1,)
        The sides of the box of leaf l are ``start[l]:start[l + 1]``, one for each
        feature on its path.
    feature : ndarray of shape (n_sides,)
    run_start : ndarray of shape (n_sides + 1,)
        A side accepts the bins of the runs ``run_start[s]:run_start[s + 1]``.
    runs : ndarray of shape (n_runs, 2)
        The first bin, and the first bin after it that is not accepted.
    pair_start : ndarray of shape (n_leaves + 1,)
        The first pair of sides of each leaf: (0, 1), (0, 2), …, (1, 2), ….
    values : ndarray of shape (n_leaves, n_outputs)
        What a leaf adds to the predictions.
    """

    used: Places
    n_bins: Places
    table: Integers
    rules: Any
    depth: int
    start: Places
    feature: Integers
    run_start: Places
    runs: Integers
    pair_start: Places
    values: Floats


def boxes_of(packing: Packing) -> Boxes:
    """Return the boxes of an ensemble's leaves."""
    is_leaf = packing.feature < 0
    used = np.unique(packing.feature[~is_leaf]).astype(np.int64)
    own = np.where(is_leaf, -1, np.searchsorted(used, packing.feature))
    columns = (own, packing.cut, packing.left, packing.right)
    table = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.int32)
    missing_bins = packing.missing_bins[used]
    rules = (packing.missing_left, missing_bins, packing.sets)
    nodes = (table, rules, packing.categorical[used], packing.depth)
    n_leaves = int(is_leaf.sum())
    start, no_side, no_run = np.zeros(n_leaves + 1, np.int64), *_room(0, 0)
    n_sides, n_runs = _find_sides(*nodes, start, no_side, no_run, False)
    side, runs = _room(n_sides, n_runs)
    _find_sides(*nodes, start, side, runs, True)
    n_own = np.diff(start)
    return Boxes(
        used=used,
        n_bins=missing_bins.astype(np.int64) + 1,
        table=table,
        rules=rules,
        depth=packing.depth,
        start=start,
        feature=side[:-1, 0].astype(np.int32),
        run_start=side[:, 1].copy(),
        runs=runs,
        pair_start=np.append(0, np.cumsum(n_own * (n_own - 1) // 2)),
        values=_leaf_values(packing, is_leaf),
    )


def _room(n_sides: int, n_runs: int) -> tuple[Places, Integers]:
    """Return where the feature and the first run of each side go, and the runs."""
    return np.zeros((n_sides + 1, 2), np.int64), np.empty((n_runs, 2), np.int32)


def _leaf_values(packing: Packing, is_leaf: npt.NDArray[np.bool_]) -> Floats:
    """Return what each leaf adds to each output of the prediction."""
    leaves = np.flatnonzero(is_leaf)
    tree = np.searchsorted(packing.roots, leaves, side="right") - 1
    values = np.zeros((len(leaves), packing.n_outputs))
    for k in range(packing.values.shape[1]):
        at = packing.targets[tree] + k
        values[np.arange(len(leaves)), at] = packing.values[leaves, k]
    return values / packing.divisor


@Loop
def splits_above(table: Integers, path: Integers, level: int, last: Integers) -> int:
    """Put into `last`, for each feature of a path, the level below its last comparison.

    From the deepest up; this is the order of the sides of a box. `path` holds the nodes
    of the levels 0 to `level`. Returns how many there are.
    """
    n = 0
    for below in range(level, 0, -1):
        feature = table[path[below - 1], 0]
        is_new = True
        for k in range(n):
            if table[path[last[k] - 1], 0] == feature:
                is_new = False
                break
        if is_new:
            last[n] = below
            n += 1
    return n


@Loop
def _accepts(
    table: Integers, rules: Any, path: Integers, below: int, where: int
) -> bool:
    """Return whether the comparisons of a path with one feature accept a bin."""
    feature = table[path[below - 1], 0]
    for upper in range(below, 0, -1):
        node = path[upper - 1]
        if table[node, 0] == feature:
            is_left = table[node, 2] == path[upper]
            if goes_left(table, rules, node, where) != is_left:
                return False
    return True


@Loop
def _interval(table: Integers, path: Integers, below: int, end: int) -> tuple[int, int]:
    """Return the bins below `end` that the comparisons with one feature accept."""
    feature, low, high = table[path[below - 1], 0], 0, end
    for upper in range(below, 0, -1):
        node = path[upper - 1]
        if table[node, 0] == feature:
            cut = table[node, 1]
            if table[node, 2] == path[upper]:
                high = min(high, cut + 1)
            else:
                low = max(low, cut + 1)
    return low, max(low, high)


@Loop
def _find_sides(
    table: Integers,
    rules: Any,
    categorical: Any,
    depth: int,
    start: Places,
    side: Places,
    runs: Integers,
    fills: bool,
) -> tuple[int, int]:
    """Return how many sides and runs there are; fill in what is known of them."""
    level = np.zeros(len(table), np.int32)
    path, last = np.empty(depth + 1, np.int32), np.empty(depth + 1, np.int32)
    n_sides, n_runs, leaf = 0, 0, 0
    for node in range(len(table)):
        path[level[node]] = node
        if table[node, 0] >= 0:
            level[table[node, 2]] = level[table[node, 3]] = level[node] + 1
            continue
        for k in range(splits_above(table, path, level[node], last)):
            feature = table[path[last[k] - 1], 0]
            missing = rules[1][feature]
            where, was = 0, False
            if fills:
                side[n_sides, 0], side[n_sides, 1] = feature, n_runs
            if not categorical[feature]:
                low, where = _interval(table, path, last[k], missing)
                if low < where:
                    if fills:
                        runs[n_runs, 0], runs[n_runs, 1] = low, where
                    n_runs += 1
                was = low < where == missing
                where = missing
            while where <= missing:
                now = _accepts(table, rules, path, last[k], where)
                if now and not was:
                    if fills:
                        runs[n_runs, 0] = where
                    n_runs += 1
                if now and fills:
                    runs[n_runs - 1, 1] = where + 1
                was = now
                where += 1
            n_sides += 1
        leaf += 1
        start[leaf] = n_sides
    if fills:
        side[n_sides, 1] = n_runs
    return n_sides, n_runs
