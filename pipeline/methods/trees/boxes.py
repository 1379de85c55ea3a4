"""The box of each leaf: the values that the comparisons on its path accept."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .compiled import Loop
from .packing import Integers, Packing, goes_left

Places = npt.NDArray[np.int64]


class Boxes(NamedTuple):
    """The boxes of all leaves, in preorder; features by their position in `used`.

    Attributes
    ----------
    used : ndarray of shape (n_used,)
        The features that some node compares.
    n_bins : ndarray of shape (n_used,)
        Number of bins of each, that of missing values included.
    table : ndarray of int32, shape (n_nodes, 4)
        As in `Nodes`.
    rules : tuple
        As in `Nodes`, never None.
    roots : ndarray of int32, shape (n_trees,)
    depth : int
    start : ndarray of shape (n_leaves + 1,)
        The sides of the box of leaf l are ``start[l]:start[l + 1]``, one for each
        feature on its path.
    feature : ndarray of shape (n_sides,)
    level : ndarray of shape (n_sides,)
        The level below the last comparison with the feature: the deepest comes first.
    run_start : ndarray of shape (n_sides + 1,)
        A side accepts the bins of the runs ``run_start[s]:run_start[s + 1]``.
    runs : ndarray of shape (n_runs, 2)
        The first bin, and the first bin after it that is not accepted.
    pair_start : ndarray of shape (n_leaves + 1,)
        The first pair of sides of each leaf: (0, 1), (0, 2), …, (1, 2), ….
    values : ndarray of shape (n_leaves, n_outputs)
        The contribution of a leaf to the predictions.
    """

    used: Places
    n_bins: Places
    table: Integers
    rules: Any
    roots: Integers
    depth: int
    start: Places
    feature: Integers
    level: Integers
    run_start: Places
    runs: Integers
    pair_start: Places
    values: Floats


def boxes_of(packing: Packing) -> Boxes:
    """Return the boxes of an ensemble's leaves."""
    is_leaf = packing.feature < 0
    used = np.flatnonzero(np.bincount(packing.feature[~is_leaf]))
    place = np.full(packing.n_features + 1, -1)
    place[used] = np.arange(len(used))
    own = place[packing.feature]  # leaves, of feature -1, get the last entry
    columns = (own, packing.cut, packing.left, packing.right)
    table = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.int32)
    missing_bins = packing.missing_bins[used]
    rules = (packing.missing_left, missing_bins, packing.sets)
    nodes = (table, rules, packing.categorical[used], packing.depth)
    n_leaves = int(is_leaf.sum())
    start, sides, runs = _sides(*nodes, n_leaves, int(missing_bins.max(initial=0)))
    n_own = np.diff(start)
    return Boxes(
        used=used,
        n_bins=missing_bins.astype(np.int64) + 1,
        table=table,
        rules=rules,
        roots=packing.roots,
        depth=packing.depth,
        start=start,
        feature=sides[:-1, 0].copy(),
        level=sides[:-1, 1].copy(),
        run_start=sides[:, 2].astype(np.int64),
        runs=runs,
        pair_start=np.append(0, np.cumsum(n_own * (n_own - 1) // 2)),
        values=_leaf_values(packing, is_leaf),
    )


def _leaf_values(packing: Packing, is_leaf: npt.NDArray[np.bool_]) -> Floats:
    """Return the contribution of each leaf to each output of the prediction."""
    leaves = np.flatnonzero(is_leaf)
    tree = np.searchsorted(packing.roots, leaves, side="right") - 1
    values = np.zeros((len(leaves), packing.n_outputs))
    for k in range(packing.values.shape[1]):
        at = packing.targets[tree] + k
        values[np.arange(len(leaves)), at] = packing.values[leaves, k]
    return values / packing.divisor


@Loop
def _narrow(
    table: Integers, rules: Any, path: Integers, level: int, last: Integers, box: Any
) -> int:
    """Write the bins of each numeric feature that a path accepts into `box`.

    They are the first bin, the first after the last, whether missing values are
    accepted, and the leaf ``path[level]``. `last` gets, for each feature of the path,
    the level below its last comparison, from the deepest up. Returns the number of
    these features.
    """
    n, leaf = 0, path[level]
    for below in range(level, 0, -1):
        node = path[below - 1]
        own, is_left = box[table[node, 0]], table[node, 2] == path[below]
        if own[3] != leaf:
            own[0], own[1], own[2], own[3] = 0, rules[1][table[node, 0]], 1, leaf
            last[n] = below
            n += 1
        if is_left:
            own[1] = min(own[1], table[node, 1] + 1)
        else:
            own[0] = max(own[0], table[node, 1] + 1)
        if rules[0][node] != is_left:
            own[2] = 0
    return n


@Loop
def _accepts(
    table: Integers, rules: Any, path: Integers, below: int, where: int
) -> bool:
    """Return whether all comparisons of a path with one feature accept a bin."""
    feature = table[path[below - 1], 0]
    for upper in range(below, 0, -1):
        node = path[upper - 1]
        if table[node, 0] == feature:
            is_left = table[node, 2] == path[upper]
            if goes_left(table, rules, node, where) != is_left:
                return False
    return True


@Loop
def _number_runs(box: Integers, missing: int, runs: Integers, n: int) -> int:
    """Write the runs that a side of numbers accepts into `runs`, from n on.

    Returns the number of runs then.
    """
    low, high = box[0], box[1]
    is_joined = box[2] == 1 and low < high == missing
    if low < high:
        runs[n, 0], runs[n, 1] = low, high + is_joined
        n += 1
    if box[2] == 1 and not is_joined:
        runs[n, 0], runs[n, 1] = missing, missing + 1
        n += 1
    return n


@Loop
def _category_runs(
    table: Integers, rules: Any, path: Integers, below: int, runs: Integers, n: int
) -> int:
    """Do the same as `_number_runs`, for a side of categories."""
    was = False
    for where in range(rules[1][table[path[below - 1], 0]] + 1):
        now = _accepts(table, rules, path, below, where)
        if now and not was:
            runs[n, 0] = where
            n += 1
        if now:
            runs[n - 1, 1] = where + 1
        was = now
    return n


@Loop
def _sides(
    table: Integers,
    rules: Any,
    categorical: Any,
    depth: int,
    n_leaves: int,
    most_bins: int,
) -> tuple[Places, Integers, Integers]:
    """Return `start`, the columns feature, level and run_start of sides, and `runs`."""
    level, start = np.zeros(len(table), np.int32), np.zeros(n_leaves + 1, np.int64)
    path, last = np.empty(depth + 1, np.int32), np.empty(depth + 1, np.int32)
    box = np.full((len(categorical), 4), -1, np.int32)
    sides = np.empty((8 * n_leaves + depth + 1, 3), np.int32)
    runs = np.empty((8 * n_leaves + most_bins + 2, 2), np.int32)
    n_sides, n_runs, leaf = 0, 0, 0
    for node in range(len(table)):
        path[level[node]] = node
        if table[node, 0] >= 0:
            level[table[node, 2]] = level[table[node, 3]] = level[node] + 1
            continue
        if n_sides + depth >= len(sides):
            sides = np.concatenate((sides, np.empty_like(sides)))
        for k in range(_narrow(table, rules, path, level[node], last, box)):
            if n_runs + most_bins + 2 > len(runs):
                runs = np.concatenate((runs, np.empty_like(runs)))
            feature, own = table[path[last[k] - 1], 0], sides[n_sides]
            own[0], own[1], own[2] = feature, last[k], n_runs
            if categorical[feature]:
                n_runs = _category_runs(table, rules, path, last[k], runs, n_runs)
            else:
                missing = rules[1][feature]
                n_runs = _number_runs(box[feature], missing, runs, n_runs)
            n_sides += 1
        leaf += 1
        start[leaf] = n_sides
    sides[n_sides] = -1, -1, n_runs
    return start, sides[: n_sides + 1], runs[:n_runs]
