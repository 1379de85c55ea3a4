"""Predictions of permuted rows by trees of few leaves, as in boosting.

A row that goes right at a node cannot reach the leaves on the node's left; of the
leaves that remain, the first is that of the row. The nodes of one column exclude a set
of leaves, one bit each; permuting the column changes only this set. So no row walks:
sets are combined for many rows at once (QuickScorer, Lucchese et al. 2015,
doi:10.1145/2766462.2767733).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .compiled import Loop
from .packing import Integers, Packing, goes_left

MOST_LEAVES = 32
"""Most leaves of a tree, one bit each in a set; the last is never excluded."""

# A number with a single bit times this one has the position of the bit, permuted, in
# its highest five bits (a de Bruijn sequence).
SPREAD = 0x077CB531


class LeafSets(NamedTuple):
    """The inner nodes of all trees, those of one group of columns adjacent.

    Attributes
    ----------
    nodes : ndarray of int32, shape (n_inner, 4)
        The node, its feature, its cut, and the leaves on its left as bits.
    parts : ndarray of int32, shape (n_parts, 4)
        Tree by tree, the nodes of one group: the first, and the one after the last;
        the first draw of that group, and the number of its draws, 0 if there are none.
    first_parts : ndarray of int32, shape (n_trees + 1,)
        The first part of each tree, and the number of parts.
    values : ndarray of shape (n_trees, width, 32)
        The values of the leaves, each at the position that `_find_leaves` returns.
    """

    nodes: Integers
    parts: Integers
    first_parts: Integers
    values: Floats


def most_leaves_of(packing: Packing) -> int:
    """Return the largest number of leaves of a tree."""
    return int(np.add.reduceat(packing.feature < 0, packing.roots, dtype=int).max())


def leaf_sets(packing: Packing, permuting: Integers) -> LeafSets:
    """Return the sets of an ensemble whose trees have at most `MOST_LEAVES` leaves.

    `permuting` holds for each feature the first draw that permutes it, -1 if there is
    none, and as its last entry the number of these draws.
    """
    n_nodes, n_trees = len(packing.feature), len(packing.roots)
    is_leaf = packing.feature < 0
    sizes = np.diff([*packing.roots, n_nodes])
    tree = np.repeat(np.arange(n_trees), sizes)
    leaves_before = np.cumsum(is_leaf, dtype=np.int64) - is_leaf
    leaf = leaves_before - np.repeat(leaves_before[packing.roots], sizes)
    values = np.zeros((n_trees, packing.values.shape[1], 32), packing.values.dtype)
    places = np.uint32(1 << leaf[is_leaf]) * np.uint32(SPREAD) >> 27
    values[tree[is_leaf], :, places] = packing.values[is_leaf]

    inner = np.flatnonzero(~is_leaf)
    inner = inner[np.lexsort((permuting[packing.feature[inner], 0], tree[inner]))]
    feature = packing.feature[inner]
    left = (1 << leaf[packing.right[inner]]) - (1 << leaf[packing.left[inner]])
    nodes = np.stack([inner, feature, packing.cut[inner], left], axis=1)

    group = permuting[feature, 0]
    differs = np.diff(tree[inner], prepend=-1) | np.diff(group, prepend=-2)
    begin = np.flatnonzero(differs)
    end = np.append(begin[1:], len(inner))[: len(begin)]
    n_drawn = np.maximum(permuting[feature[begin], 2], 0)
    parts = np.stack([begin, end, group[begin], n_drawn], axis=1)
    first_parts = np.searchsorted(tree[inner[begin]], np.arange(n_trees + 1))
    nodes, parts, first_parts = (
        each.astype(np.int32) for each in (nodes, parts, first_parts)
    )
    return LeafSets(nodes, parts, first_parts, values)


@Loop
def read_block(task: Any, own: Integers, to: Integers) -> None:
    """Read the bins of the rows of a block, and those by which draws replace them."""
    for j in range(len(task.bins)):
        bins, lent = task.bins[j], task.lenders[j]
        for i in range(len(own)):
            to[i, j] = bins[own[i]]
        group, first_bin, n_drawn = task.layout.permuting[j]
        for k in range(n_drawn):
            order = task.orders[task.layout.draws[group + k]]
            for i in range(len(own)):
                to[i, first_bin + k] = lent[order[own[i]]]


@Loop
def add_leaves(task: Any, sums: Floats, first: int, last: int, block: int) -> None:
    """Fill in the sums of some rows, block by block.

    Its loops go over whole rows of arrays, in functions of their own, so that numba
    vectorises them.
    """
    sets, layout = task.sets, task.layout
    n_draws, n_outputs = len(layout.draws), len(task.start)
    bins = np.zeros((len(task.bins) + layout.n_bins, block), np.int32)
    excluded = np.empty((MOST_LEAVES + 1, block), np.int32)
    leaf = np.empty(block, np.int32)
    is_permuted = np.empty(n_draws, np.bool_)
    totals = np.empty((n_outputs, n_draws, block), sums.dtype)
    for begin in range(first, last, block):
        own = task.rows[begin : min(begin + block, last)]
        n_rows = len(own)
        read_block(task, own, bins.T)
        for k in range(n_outputs):
            totals[k] = task.start[k]
        for tree, target in enumerate(task.nodes.targets):
            _add_tree(
                sets,
                tree,
                task.ruled,
                layout.permuting,
                bins,
                excluded,
                leaf,
                is_permuted,
                totals[target:],
            )
        for at in range(n_draws):
            for i in range(n_rows):
                for k in range(n_outputs):
                    sums[layout.draws[at], own[i], k] = totals[k, at, i]


@Loop
def _add_tree(
    sets: Any,
    tree: int,
    ruled: Any,
    permuting: Integers,
    bins: Integers,
    excluded: Integers,
    leaf: Integers,
    is_permuted: npt.NDArray[np.bool_],
    totals: Floats,
) -> None:
    """Add the leaves of one tree to the totals of all draws.

    `excluded` is a buffer for the sets of each part, of all other parts, and of all.
    """
    parts = sets.parts[sets.first_parts[tree] : sets.first_parts[tree + 1]]
    by_others, now = excluded[-1], excluded[-2]
    is_permuted[:] = False
    for p, (begin, end, _, _) in enumerate(parts):
        excluded[p] = 0
        for node in sets.nodes[begin:end]:
            _exclude(ruled, node, bins[node[1]], excluded[p])
    for p, (begin, end, group, n_drawn) in enumerate(parts):
        by_others[:] = 0
        for other in range(len(parts)):
            if other != p:
                _join(by_others, excluded[other])
        for k in range(n_drawn):
            now[:] = by_others
            for node in sets.nodes[begin:end]:
                _exclude(ruled, node, bins[permuting[node[1], 1] + k], now)
            _find_leaves(now, leaf)
            is_permuted[group + k] = True
            for output, values in enumerate(sets.values[tree]):
                _add_at(values, leaf, totals[output, group + k])
    now[:] = 0
    for p in range(len(parts)):
        _join(now, excluded[p])
    _find_leaves(now, leaf)
    for output, values in enumerate(sets.values[tree]):
        own = values[leaf]
        for draw in range(len(is_permuted)):
            if not is_permuted[draw]:
                _add(own, totals[output, draw])


@Loop
def _exclude(ruled: Any, node: Integers, where: Integers, excluded: Integers) -> None:
    """Exclude the leaves on the left of a node for rows that go right there."""
    at, _, cut, left = node
    if ruled is None:
        for i in range(len(excluded)):
            excluded[i] |= left if where[i] > cut else 0
    else:
        table, rules = ruled
        for i in range(len(excluded)):
            excluded[i] |= 0 if goes_left(table, rules, at, where[i]) else left


@Loop
def _join(excluded: Integers, others: Integers) -> None:
    for i in range(len(excluded)):
        excluded[i] |= others[i]


@Loop
def _find_leaves(excluded: Integers, leaf: Integers) -> None:
    """Write the position of the first leaf that is not excluded."""
    for i in range(len(excluded)):
        first = np.uint32(~excluded[i] & (excluded[i] + 1))
        leaf[i] = np.uint32(first * SPREAD) >> 27


@Loop
def _add_at(values: Floats, leaf: Integers, totals: Floats) -> None:
    for i in range(len(leaf)):
        totals[i] += values[leaf[i]]


@Loop
def _add(own: Floats, totals: Floats) -> None:
    for i in range(len(own)):
        totals[i] += own[i]
