"""Changes of the sums of rows by other values of a feature, one descent per block.

Changing feature *j* alone moves a row to another leaf if all conditions on the path to
the leaf hold, except those on *j*. A block of rows goes down a tree together, as one
list. At each node, stretches of the list are the rows whose own path leads there, and
for each feature the rows that only this feature excludes; the node divides each stretch
in two. At a leaf, the rows left in a stretch of a feature move there with the values of
the feature that lead to the leaf.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .compiled import Loop
from .lattice import Lattice
from .packing import Integers, Packing, goes_left

Numbers = npt.NDArray[np.uint16]
OWN = -1
"""Replaces the feature of a stretch whose rows are on their own path."""


class Moves(NamedTuple):
    """Changes of the sums of the rows of a block by other values of a feature.

    Attributes
    ----------
    n_rows, n_spans : int
        Lengths in use; the arrays may be longer.
    own : ndarray of int64, shape (n_outputs, n_rows)
        The sums of the unchanged rows.
    here : ndarray of int64, shape (n_trees, width, n_rows)
        The contribution of the own leaf of each row to these sums.
    spans : ndarray of int32, shape (n_spans, 6)
        The places of values on the line, from and to, that move rows to another leaf;
        the tree and the leaf; and the positions of these rows in `movers`, from and to.
    movers : ndarray of uint16, shape (n_movers,)
        Rows by their number in the block.
    """

    n_rows: int
    n_spans: int
    own: npt.NDArray[np.int64]
    here: npt.NDArray[np.int64]
    spans: Integers
    movers: Numbers


class Descent(NamedTuple):
    """Working arrays of a descent; by level, the path from the root to the node.

    Attributes
    ----------
    node, n_done : ndarray of int32, shape (n_levels,)
        The node, and the number of its children that are done.
    rows : ndarray of uint16, shape (n_rows,)
        The list of the rows of the block, reordered at each node.
    n_stretches : ndarray of int32, shape (n_levels,)
    stretches : ndarray of int32, shape (n_levels, n_levels + 1, 4)
        A feature, `OWN` first; where its rows begin in the list, where those begin that
        go right at the node, and where they end.
    reach : ndarray of int32, shape (n_features, 2)
        The places of the numbers that lead to the node, from and to; not of categories
        or missing values.
    before : ndarray of int32, shape (n_levels, 2)
        The same for the node's feature, before the node.
    n_barred : ndarray of int32, shape (n_places,)
        Number of nodes of the path that exclude a category, or missing values.
    leaf : ndarray of int32, shape (n_rows,)
        The leaf of each row in the present tree.
    categorical : ndarray of bool, shape (n_features,)
    most_spans : int
        The most spans that a leaf can have.
    """

    node: Integers
    n_done: Integers
    rows: Numbers
    n_stretches: Integers
    stretches: Integers
    reach: Integers
    before: Integers
    n_barred: Integers
    leaf: Integers
    categorical: npt.NDArray[np.bool_]
    most_spans: int


def descent_for(packing: Packing, lattice: Lattice, n_rows: int) -> Descent:
    """Return empty working arrays for descents of so many rows."""
    n_levels, is_number = packing.depth + 2, ~packing.categorical
    begin, n_numbers = lattice.first[:-1] + 1, np.where(is_number, lattice.top - 1, 0)
    most_runs = int((lattice.top[packing.categorical] // 2).max(initial=0)) + 1
    return Descent(
        node=np.zeros(n_levels, dtype=np.int32),
        n_done=np.zeros(n_levels, dtype=np.int32),
        rows=np.zeros(n_rows, dtype=np.uint16),
        n_stretches=np.zeros(n_levels, dtype=np.int32),
        stretches=np.zeros((n_levels, n_levels + 1, 4), dtype=np.int32),
        reach=np.stack([begin, begin + n_numbers], axis=1).astype(np.int32),
        before=np.zeros((n_levels, 2), dtype=np.int32),
        n_barred=np.zeros(len(lattice.below), dtype=np.int32),
        leaf=np.zeros(n_rows, dtype=np.int32),
        categorical=packing.categorical,
        most_spans=(n_levels + 1) * (1 + most_runs),  # of numbers, and of others
    )


def moves_for(packing: Packing, n_rows: int, n_spans: int, n_movers: int) -> Moves:
    """Return empty arrays for the moves of a block."""
    width = packing.values.shape[1]
    return Moves(
        n_rows=n_rows,
        n_spans=0,
        own=np.empty((packing.n_outputs, n_rows), dtype=np.int64),
        here=np.empty((len(packing.roots), width, n_rows), dtype=np.int64),
        spans=np.empty((n_spans, 6), dtype=np.int32),
        movers=np.empty(n_movers, dtype=np.uint16),
    )


@Loop
def write_moves(
    lattice: Any,
    rules: Any,
    bins: Integers,
    descent: Any,
    to: Any,
    tree: int,
    n: tuple[int, int],
) -> tuple[int, tuple[int, int]]:
    """Write the sums and the moves of a block of rows, beginning with a tree.

    Parameters
    ----------
    bins : ndarray of int32, shape (n_features, n_rows)
        Of this block.
    n : tuple of int
        Numbers of spans and movers of the trees before.

    Returns
    -------
    tree : int
        The tree for which there is no room, or the number of trees.
    n : tuple of int
        Numbers of spans and movers of the trees before it.
    """
    own, here, n_rows, values = to.own, to.here, bins.shape[1], lattice.values
    if tree == 0:
        for k in range(len(own)):
            own[k] = lattice.start[k]
    while tree < len(lattice.roots):
        after = _descend(lattice, rules, bins, tree, descent, to, n)
        if after[0] < 0:
            break
        n, target = after, lattice.targets[tree]
        for k in range(here.shape[1]):
            for i in range(n_rows):
                here[tree, k, i] = values[descent.leaf[i], k]
                own[target + k, i] += here[tree, k, i]
        tree += 1
    return tree, n


@Loop
def _descend(
    lattice: Any,
    rules: Any,
    bins: Integers,
    tree: int,
    descent: Any,
    to: Any,
    n: tuple[int, int],
) -> tuple[int, int]:
    """Take a block of rows down a tree, node by node, and write its moves after `n`.

    Return the numbers of spans and movers then, -1 if there is no room for them.
    """
    table, node_at, n_done = lattice.table, descent.node, descent.n_done
    rows, reach, before = descent.rows, descent.reach, descent.before
    stretches, n_stretches = descent.stretches, descent.n_stretches
    n_rows = bins.shape[1]
    for i in range(n_rows):
        rows[i] = i  # independent of earlier trees and of the room
    level = 0
    node_at[0], n_done[0], n_stretches[0] = lattice.roots[tree], 0, 1
    stretches[0, 0, 0], stretches[0, 0, 1], stretches[0, 0, 3] = OWN, 0, n_rows
    while level >= 0:
        node, parts, n_parts = node_at[level], stretches[level], n_stretches[level]
        j, cut = table[node, 0], table[node, 1]
        if j < 0:
            n_spans, n_movers = n
            if n_spans + descent.most_spans > len(to.spans):
                return -1, -1
            if n_movers + n_rows > len(to.movers):
                return -1, -1
            if rules is not None:
                n_spans = _write_singles(lattice, descent, level, tree, n, to.spans)
            n = _write_leaf(descent, level, tree, to, (n_spans, n_movers))
            level -= 1
            continue
        child = n_done[level]
        n_done[level] += 1
        if child == 0:
            divide(table, rules, node, bins[j], parts, n_parts, rows)
        if rules is not None:
            _bar(lattice, rules, node, child, descent.n_barred)
        _narrow(reach, before, level, j, cut, lattice.first[j], child)
        if child == 2:
            level -= 1
            continue
        if rules is None and reach[j, 0] >= reach[j, 1]:
            continue  # no row has a value that leads there
        n_below = pass_on(parts, n_parts, j, child, stretches[level + 1])
        if n_below > 0:
            level += 1
            node_at[level], n_done[level] = table[node, 2 + child], 0
            n_stretches[level] = n_below
    return n


@Loop
def divide(
    table: Integers,
    rules: Any,
    node: int,
    bins: Integers,
    stretches: Integers,
    n: int,
    rows: Numbers,
) -> None:
    """Reorder stretches: rows that go left at a node before those that go right.

    Stretches of the node's feature stay: their rows may have any value of it.
    """
    j, cut = table[node, 0], table[node, 1]
    for k in range(n):
        if stretches[k, 0] == j:
            continue
        middle = np.uint64(stretches[k, 1])
        for at in range(middle, np.uint64(stretches[k, 3])):
            row = rows[at]
            if rules is None:
                is_left = bins[row] <= cut
            else:
                is_left = goes_left(table, rules, node, bins[row])
            rows[at], rows[middle] = rows[middle], row
            middle += np.uint64(is_left)
        stretches[k, 2] = middle


@Loop
def _narrow(
    reach: Integers,
    before: Integers,
    level: int,
    j: int,
    cut: int,
    first: int,
    child: int,
) -> None:
    """Restrict the numbers of a node's feature to a child; after both, restore all."""
    if child == 0:
        before[level, 0], before[level, 1] = reach[j, 0], reach[j, 1]
    begin, end, middle = before[level, 0], before[level, 1], first + cut + 1
    if cut >= 0 and child == 0:
        end = min(end, middle)
    if cut >= 0 and child == 1:
        begin = max(begin, middle)
    reach[j, 0], reach[j, 1] = begin, end


@Loop
def pass_on(stretches: Integers, n: int, j: int, child: int, to: Integers) -> int:
    """Write the stretches of a child that have rows; return their number.

    Rows on their own path that go the other way are excluded by the node's feature;
    rows that it excludes already may have any value of it.
    """
    m = 0
    for k in range(n):
        feature, begin = stretches[k, 0], stretches[k, 1]
        middle, end = stretches[k, 2], stretches[k, 3]
        first, last = (begin, middle) if child == 0 else (middle, end)
        if feature == j:
            first, last = begin, end
        to[m, 0], to[m, 1], to[m, 3] = feature, first, last
        m += first < last
        if feature == OWN:
            first, last = (middle, end) if child == 0 else (begin, middle)
            to[m, 0], to[m, 1], to[m, 3] = j, first, last
            m += first < last
    return m


@Loop
def _bar(lattice: Any, rules: Any, node: int, child: int, n_barred: Integers) -> None:
    """Count the categories, or missing values, that do not go to a child as excluded.

    Those excluded from the child before are no longer counted.
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
def _write_leaf(
    descent: Any, level: int, tree: int, to: Any, n: tuple[int, int]
) -> tuple[int, int]:
    """Write the rows whose own leaf this is, and those that move there by numbers."""
    stretches, leaf, rows = descent.stretches[level], descent.node[level], descent.rows
    reach, spans, movers, (n_spans, n_movers) = descent.reach, to.spans, to.movers, n
    for k in range(descent.n_stretches[level]):
        j, first = stretches[k, 0], n_movers
        if j == OWN:
            for at in range(stretches[k, 1], stretches[k, 3]):
                descent.leaf[rows[at]] = leaf
            continue
        for at in range(stretches[k, 1], stretches[k, 3]):
            movers[n_movers] = rows[at]
            n_movers += 1
        if reach[j, 0] < reach[j, 1]:
            spans[n_spans, 0], spans[n_spans, 1] = reach[j, 0], reach[j, 1]
            spans[n_spans, 2], spans[n_spans, 3] = tree, leaf
            spans[n_spans, 4], spans[n_spans, 5] = first, n_movers
            n_spans += 1
    return n_spans, n_movers


@Loop
def _write_singles(
    lattice: Any, descent: Any, level: int, tree: int, n: Any, spans: Integers
) -> int:
    """Write the rows that move to a leaf by categories, or by missing values.

    `_write_leaf` writes these movers. Return the number of spans then.
    """
    below, stretches, (n_spans, last) = lattice.below, descent.stretches[level], n
    for k in range(descent.n_stretches[level]):
        j = stretches[k, 0]
        if j == OWN:
            continue
        first, last = last, last + stretches[k, 3] - stretches[k, 1]
        at, missing = lattice.first[j], lattice.top[j]
        start = 0 if descent.categorical[j] else missing
        for stop in range(start, missing + 2):
            if stop <= missing and descent.n_barred[at + stop] == 0:
                continue
            if below[at + start] < below[at + stop]:  # some row has such a value
                spans[n_spans, 0], spans[n_spans, 1] = at + start, at + stop
                spans[n_spans, 2], spans[n_spans, 3] = tree, descent.node[level]
                spans[n_spans, 4], spans[n_spans, 5] = first, last
                n_spans += 1
            start = stop + 1
    return n_spans
