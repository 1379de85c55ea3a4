"""What other values of a feature add to the sums of rows, from one descent of a block.

A row reaches another leaf through feature *j* alone if all conditions on the way to the
leaf hold, but those on *j*. A block has as many rows as a word has bits, so a descent
carries for each node a set of rows whose path it is on, and for each feature the set of
rows that only this feature keeps from it; what a node does to such a set is one
operation on a word. At a leaf, each row left in a set of a feature moves there with the
values of the feature that lead to the leaf.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .compiled import Loop
from .lattice import Lattice
from .packing import Integers, Packing, goes_left

MOST_ROWS = 64
"""Rows of a block: the bits of a set."""
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_NONE, _ONE = np.uint64(0), np.uint64(1)
_LARGEST = np.iinfo(np.int32).max
_PLACES = np.zeros(64, dtype=np.int64)
_PLACES[[(int(_DE_BRUIJN) << bit) % 2**64 >> 58 for bit in range(64)]] = range(64)


class Moves(NamedTuple):
    """What other values of a feature add to the sums of the rows of a block.

    Attributes
    ----------
    own : ndarray of int64, shape (n_rows, n_outputs)
        The sums of the rows as they are.
    number : ndarray of int64, shape (n_rows,)
    spans : ndarray of int32, shape (n_rows, most, 3)
        The places of these values on the line, from and to, and the first output.
    more : ndarray of int64, shape (n_rows, most, width)
    """

    own: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    spans: Integers
    more: npt.NDArray[np.int64]


class Descent(NamedTuple):
    """What a descent needs; by level, the path from the root to the present node.

    Attributes
    ----------
    node, n_done : ndarray of int32, shape (n_levels,)
        The node, and how many of its children are done.
    here, left : ndarray of uint64, shape (n_levels,)
        The rows whose path this is, and those that go left at the node.
    n_away : ndarray of int32, shape (n_levels,)
    feature, away : ndarray of int32 and uint64, shape (n_levels, n_levels + 1)
        The features that alone keep rows from the node, and the set of each.
    reach : ndarray of int32, shape (n_features, 2)
        The bins, not missing, that lead to the node, from and to.
    before : ndarray of int32, shape (n_levels, 2)
        These of the node's feature, before the node.
    n_barred : ndarray of int32, shape (n_places,)
        How many nodes of the path keep a category, or missing values, from the node.
    ranked : ndarray of int32, shape (n_features, MOST_ROWS)
        The bins of the block in rising order.
    up_to : ndarray of uint64, shape (n_features, MOST_ROWS + 1)
        The rows that have the first so many of them.
    leaf : ndarray of int32, shape (MOST_ROWS,)
    first_move : ndarray of int64, shape (MOST_ROWS,)
        The leaf of each row, and its first move to another one, in the present tree.
    categorical : ndarray of bool, shape (n_features,)
    room : ndarray of int64, shape (n_trees,)
        The most moves that a tree can make for a row.
    """

    node: Integers
    n_done: Integers
    here: npt.NDArray[np.uint64]
    left: npt.NDArray[np.uint64]
    n_away: Integers
    feature: Integers
    away: npt.NDArray[np.uint64]
    reach: Integers
    before: Integers
    n_barred: Integers
    ranked: Integers
    up_to: npt.NDArray[np.uint64]
    leaf: Integers
    first_move: npt.NDArray[np.int64]
    categorical: npt.NDArray[np.bool_]
    room: npt.NDArray[np.int64]


def descent_for(packing: Packing, lattice: Lattice) -> Descent:
    """Return what descents need, nothing written yet.

    Moves of a row through a feature to the leaves of a tree have no value in common, so
    they are at most one for each leaf, and for each category or missing value one more.
    """
    n_levels, n_features = packing.depth + 2, packing.n_features
    n_single = n_features + int(lattice.top[packing.categorical].sum())
    n_leaves = np.add.reduceat(packing.feature < 0, packing.roots, dtype=np.int64)
    return Descent(
        node=np.zeros(n_levels, dtype=np.int32),
        n_done=np.zeros(n_levels, dtype=np.int32),
        here=np.zeros(n_levels, dtype=np.uint64),
        left=np.zeros(n_levels, dtype=np.uint64),
        n_away=np.zeros(n_levels, dtype=np.int32),
        feature=np.zeros((n_levels, n_levels + 1), dtype=np.int32),
        away=np.zeros((n_levels, n_levels + 1), dtype=np.uint64),
        reach=np.stack([np.ones_like(lattice.top), lattice.top], axis=1),
        before=np.zeros((n_levels, 2), dtype=np.int32),
        n_barred=np.zeros(len(lattice.below), dtype=np.int32),
        ranked=np.zeros((n_features, MOST_ROWS), dtype=np.int32),
        up_to=np.zeros((n_features, MOST_ROWS + 1), dtype=np.uint64),
        leaf=np.zeros(MOST_ROWS, dtype=np.int32),
        first_move=np.zeros(MOST_ROWS, dtype=np.int64),
        categorical=packing.categorical,
        room=n_leaves + n_single,
    )


def moves_for(packing: Packing, most: int) -> Moves:
    """Return room for so many moves of each row of a block."""
    return Moves(
        own=np.empty((MOST_ROWS, packing.n_outputs), dtype=np.int64),
        number=np.zeros(MOST_ROWS, dtype=np.int64),
        spans=np.empty((MOST_ROWS, most, 3), dtype=np.int32),
        more=np.empty((MOST_ROWS, most, packing.values.shape[1]), dtype=np.int64),
    )


def nearby(lattice: Lattice) -> npt.NDArray[np.intp]:
    """Return an order of the rows in which neighbours take about the same way.

    Then the sets of a block are empty at most nodes. It is by leaves of two trees.
    """
    leaves = np.empty((2, len(lattice.rows)), dtype=np.int32)
    _write_leaves(lattice, lattice.rules, leaves)
    return np.lexsort(leaves)


@Loop
def _write_leaves(lattice: Any, rules: Any, to: Integers) -> None:
    """Write the leaves of all rows in the last tree, and in the first below them."""
    table, rows = lattice.table, lattice.rows
    for k, root in enumerate((lattice.roots[-1], lattice.roots[0])):
        for i in range(len(rows)):
            node = root
            while table[node, 0] >= 0:
                is_left = goes_left(table, rules, node, rows[i, table[node, 0]])
                node = table[node, 2] if is_left else table[node, 3]
            to[k, i] = node


@Loop
def lowest_place(bits: np.uint64) -> int:
    """Return the place of the lowest bit of a word that has one."""
    lowest = bits & (~bits + _ONE)
    return _PLACES[(lowest * _DE_BRUIJN) >> np.uint64(58)]


@Loop
def write_moves(
    lattice: Any, rules: Any, rows: Integers, descent: Any, to: Any
) -> bool:
    """Write the sums of a block of rows and all its moves; return if there was room."""
    values, own, number = lattice.values, to.own, to.number
    leaf, begin, spans, more = descent.leaf, descent.first_move, to.spans, to.more
    width = values.shape[1]
    _rank_block(rows, descent.ranked, descent.up_to)
    number[:] = 0
    own[:] = lattice.start
    descent.here[0] = ~_NONE >> np.uint64(MOST_ROWS - len(rows))
    descent.n_away[0] = 0
    for tree, root in enumerate(lattice.roots):
        target = lattice.targets[tree]
        begin[:] = number
        if begin.max() + descent.room[tree] > more.shape[1]:
            return False
        _descend(lattice, rules, rows, root, descent, to)
        for i in range(len(rows)):
            here = leaf[i]
            for k in range(width):
                own[i, target + k] += values[here, k]
            for m in range(begin[i], number[i]):
                there, spans[i, m, 2] = spans[i, m, 2], target
                for k in range(width):
                    more[i, m, k] = values[there, k] - values[here, k]
    return True


@Loop
def _rank_block(rows: Integers, ranked: Integers, up_to: Any) -> None:
    """Put the bins of each feature in order, and write which rows have the lowest."""
    order = np.empty(MOST_ROWS, np.int64)
    for j in range(len(ranked)):
        ranked[j] = _LARGEST
        for i in range(len(rows)):
            rank = i
            while rank > 0 and ranked[j, rank - 1] > rows[i, j]:
                ranked[j, rank], order[rank] = ranked[j, rank - 1], order[rank - 1]
                rank -= 1
            ranked[j, rank], order[rank] = rows[i, j], i
        up_to[j, 0] = _NONE
        for rank in range(len(rows)):
            up_to[j, rank + 1] = up_to[j, rank] | _ONE << np.uint64(order[rank])


@Loop
def _rows_up_to(ranked: Integers, up_to: Any, j: int, bin_: int) -> np.uint64:
    """Return the rows of the block whose bin of a feature is at most this one."""
    rank = 0
    for step in (32, 16, 8, 4, 2, 1):
        rank += step * (ranked[j, rank + step - 1] <= bin_)
    rank += ranked[j, rank] <= bin_
    return up_to[j, rank]


@Loop
def _rows_going_left(
    table: Integers, rules: Any, rows: Integers, node: int, ranked: Integers, up_to: Any
) -> np.uint64:
    """Return the rows of the block that go left at a node."""
    j, cut = table[node, 0], table[node, 1]
    if rules is None:
        return _rows_up_to(ranked, up_to, j, cut)
    left = _NONE
    if cut >= 0:
        left = _rows_up_to(ranked, up_to, j, cut)
        if rules[0][node]:
            left |= ~_rows_up_to(ranked, up_to, j, rules[1][j] - 1)
        return left
    for i in range(len(rows)):
        if goes_left(table, rules, node, rows[i, j]):
            left |= _ONE << np.uint64(i)
    return left


@Loop
def _descend(
    lattice: Any, rules: Any, block: Integers, root: int, descent: Any, to: Any
) -> None:
    """Take a block of rows down a tree, node by node, and write its moves."""
    table, node_at, n_done = lattice.table, descent.node, descent.n_done
    reach, before = descent.reach, descent.before
    here, left, n_away = descent.here, descent.left, descent.n_away
    ranked, up_to = descent.ranked, descent.up_to
    feature, away, leaf = descent.feature, descent.away, descent.leaf
    number, spans, first = to.number, to.spans, lattice.first
    level = 0
    node_at[0], n_done[0] = root, 0
    while level >= 0:
        node = node_at[level]
        j, cut = table[node, 0], table[node, 1]
        if j < 0:
            _write_leaf(here[level], node, leaf)
            for at in range(n_away[level]):
                f, rows = feature[level, at], away[level, at]
                begin, end = first[f] + reach[f, 0], first[f] + reach[f, 1]
                if rules is not None:
                    begin = _write_singles(lattice, descent, f, (node, rows), to)
                _write(begin, end, node, rows, number, spans)
            level -= 1
            continue
        child = n_done[level]
        n_done[level] += 1
        if child == 0:
            left[level] = _rows_going_left(table, rules, block, node, ranked, up_to)
            before[level, 0], before[level, 1] = reach[j, 0], reach[j, 1]
        if rules is not None:
            _bar(lattice, rules, node, child, descent.n_barred)
        if child == 2:
            reach[j, 0] = before[level, 0]
            level -= 1
            continue
        if cut >= 0:
            if child == 0:
                reach[j, 1] = min(before[level, 1], cut + 1)
            else:
                reach[j, 1] = before[level, 1]
                reach[j, 0] = max(before[level, 0], cut + 1)
            if rules is None and reach[j, 0] >= reach[j, 1]:
                continue  # no row has a value that leads there
        keep = ~left[level] if child else left[level]
        if _part(here, n_away, feature, away, keep, level, j):
            level += 1
            node_at[level], n_done[level] = table[node, 2 + child], 0


@Loop
def _bar(lattice: Any, rules: Any, node: int, child: int, n_barred: Integers) -> None:
    """Keep the categories, or the missing values, from a child that do not go there.

    Those that were kept from the child before are let in again.
    """
    j = lattice.table[node, 0]
    missing = rules[1][j]
    for bin_ in range(0 if lattice.table[node, 1] < 0 else missing, missing + 1):
        place = lattice.first[j] + bin_
        is_left = goes_left(lattice.table, rules, node, bin_)
        if child > 0:
            n_barred[place] -= is_left == (child == 2)
        if child < 2:
            n_barred[place] += is_left == (child == 1)


@Loop
def _part(
    here: Any, n_away: Any, feature: Any, away: Any, keep: Any, level: int, j: int
) -> bool:
    """Write the sets of a child; return whether they have any row.

    Rows on the path that go the other way are kept away by the node's feature; those
    that it keeps away already may have any value of it.
    """
    by_feature = here[level] & ~keep
    n = 0
    for at in range(n_away[level]):
        is_same = _NONE - np.uint64(feature[level, at] == j)
        rows = away[level, at]
        by_feature |= rows & is_same
        rows &= keep & ~is_same
        feature[level + 1, n] = feature[level, at]
        away[level + 1, n] = rows
        n += rows != _NONE
    feature[level + 1, n], away[level + 1, n] = j, by_feature
    n += by_feature != _NONE
    here[level + 1] = here[level] & keep
    n_away[level + 1] = n
    return n > 0 or here[level + 1] != _NONE


@Loop
def _write_leaf(rows: np.uint64, node: int, leaf: Integers) -> None:
    """Write that the paths of these rows end at a leaf."""
    while rows != _NONE:
        leaf[lowest_place(rows)] = node
        rows &= rows - _ONE


@Loop
def _write_singles(lattice: Any, descent: Any, j: int, which: Any, to: Any) -> int:
    """Write the moves with categories, or with missing values.

    Return where the others begin, which is where they end if there are none.
    """
    at, (begin, end) = lattice.first[j], descent.reach[j]
    missing = lattice.top[j]
    start = 0 if descent.categorical[j] else missing
    for stop in range(start, missing + 2):
        if stop <= missing and descent.n_barred[at + stop] == 0:
            continue
        if start < stop:
            _write(at + start, at + stop, *which, to.number, to.spans)
        start = stop + 1
    is_empty = descent.categorical[j] or begin >= end
    return at + (end if is_empty else begin)


@Loop
def _write(
    begin: int, end: int, leaf: int, rows: np.uint64, number: Any, spans: Any
) -> None:
    """Write that rows move to a leaf with the values between two places, if any."""
    if begin == end:
        return
    while rows != _NONE:
        i = lowest_place(rows)
        rows &= rows - _ONE
        m = number[i]
        spans[i, m, 0], spans[i, m, 1], spans[i, m, 2] = begin, end, leaf
        number[i] = m + 1
