"""Predictions of rows with columns replaced by those of other rows, in one walk.

A draw permutes columns; if one row provides the values of all others, they are set, as
in individual conditional expectations. Trees of few leaves are evaluated by
`few_leaves`, which is faster; the others as follows. A row with another value in one
column leaves its path only at nodes that split by that column. So the path of each row
is walked once for each tree; at a node, the draws that go the other way leave it and
walk the subtree there. Each draw adds its leaves in the order of the library, so its
prediction equals that of predict for the changed table, to the last bit.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from ...records.execution import threads_of
from .compiled import Loop
from .few_leaves import (
    MOST_LEAVES,
    SPREAD,
    LeafSets,
    add_leaves,
    leaf_sets,
    most_leaves_of,
    read_block,
)
from .packing import Integers, Nodes, Packing, goes_left, nearby, nodes_for

Words = npt.NDArray[np.int64]

MAX_BYTES = 256 * 2**20
MOST_DRAWS = 31
"""Draws of one group in one walk, one bit each."""
MOST_ROWS, BLOCK_BYTES = 512, 2**21
"""Rows that walk one tree before the next is read, and the bytes of their sums."""
MOST_ALONE = 1024
"""Rows up to which a single thread walks all of them."""
BLOCKS_ALONE = 16
"""Blocks that a single thread walks between two checks for a stop, which take time."""
LEAF, MOST_BITS = -1, 63
"""The word of a leaf, and the most bits of a word, one less for the sign."""

# The position of the only bit of a number below 2**32, by its product with SPREAD.
PLACES = np.zeros(32, dtype=np.int64)
PLACES[[(SPREAD << k & 0xFFFFFFFF) >> 27 for k in range(32)]] = np.arange(32)


def replay(
    packing: Packing,
    bins: Integers,
    groups: Sequence[Sequence[int]],
    draws: Iterable[tuple[int, npt.NDArray[Any]]],
    *,
    lenders: Integers | None = None,
    n_threads: int = 1,
    max_bytes: int = MAX_BYTES,
    most_leaves: int = MOST_LEAVES,
) -> Iterator[Floats]:
    """Yield the prediction of each draw, (n_rows, 1 or n_classes).

    Parameters
    ----------
    packing : Packing
        One for which `reason_against` is empty.
    bins : ndarray of shape (n_features, n_rows)
        ``packing.bins`` of the rows.
    groups : sequence of sequence of int
        The columns that are replaced together.
    draws : iterable of (int, ndarray of shape (n_rows,))
        The group that is replaced, and the lender of each row's new values. In any
        order; many at once take less time than few.
    lenders : ndarray of shape (n_features, n_lenders), optional
        ``packing.bins`` of the lenders, the rows that values are taken from; by default
        the rows themselves, which a draw then permutes or resamples.
    n_threads : int, default 1
        The predictions do not depend on it.
    max_bytes : int, default 256 MiB
        Limit of the predictions and draws held together; at least one draw is held.
    most_leaves : int, default 32
        Trees with at most so many leaves are evaluated by `few_leaves` instead of a
        walk: at most 32. The predictions do not depend on it.
    """
    n_rows = bins.shape[1]
    at_once = max(1, max_bytes // (8 * (packing.n_outputs + 1) * max(1, n_rows)))
    bins = np.ascontiguousarray(bins)  # another order would be compiled anew
    lenders = bins if lenders is None else np.ascontiguousarray(lenders)
    nodes = nodes_for(packing, bins, lenders)
    words, parts = _words_of(packing)
    ruled = None if nodes.rules is None else (nodes.table, nodes.rules)
    has_few = most_leaves_of(packing) <= most_leaves
    rows = np.arange(n_rows) if has_few else nearby(nodes, bins)
    used = {int(j) for j in np.unique(packing.feature) if j >= 0}
    columns = [[j for j in group if j in used] for group in groups]
    remaining = iter(draws)
    while batch := list(islice(remaining, at_once)):
        group_of_draw = [group for group, _ in batch]
        orders = np.array([order for _, order in batch], dtype=np.int32)
        sums = np.empty((len(batch), n_rows, packing.n_outputs), packing.values.dtype)
        for layout in _layouts(columns, group_of_draw, packing.n_features):
            sets = leaf_sets(packing, layout.permuting) if has_few else None
            task = _Task(
                nodes=nodes,
                words=words,
                parts=parts,
                ruled=ruled,
                sets=sets,
                bins=bins,
                lenders=lenders,
                rows=rows.astype(np.int32),
                orders=orders,
                layout=layout,
                start=packing.start,
            )
            _walk_all(task, sums, n_threads)
        yield from (packing.predicted(each) for each in sums)


class _Layout(NamedTuple):
    """Draws that are walked together, those of one group adjacent.

    Attributes
    ----------
    draws : ndarray of shape (n_draws,)
        The position of each among all draws.
    permuting : ndarray of shape (n_features, 3)
        The first draw of the group that permutes a feature, which identifies the group,
        -1 if there is none; the first of the bins that its draws give to the feature;
        and the number of these draws.
    n_bins : int
        Number of bins that the draws give to a row.
    """

    draws: Integers
    permuting: Integers
    n_bins: int


def _layouts(
    groups: Sequence[Sequence[int]], group_of_draw: Sequence[int], n_features: int
) -> Iterator[_Layout]:
    """Yield draws that can be walked together: each feature is in one group only.

    Draws of a group without used features all join the first walk.
    """
    walks: list[dict[int, list[int]]] = [{}]
    owners: list[dict[int, int]] = [{}]
    for draw, group in enumerate(group_of_draw):
        for walk, owner in zip(walks, owners, strict=True):
            is_free = all(owner.get(j, group) == group for j in groups[group])
            is_short = len(walk.get(group, ())) < MOST_DRAWS or not groups[group]
            if is_free and is_short:
                break
        else:
            walk, owner = {}, {}
            walks.append(walk)
            owners.append(owner)
        walk.setdefault(group, []).append(draw)
        owner.update(dict.fromkeys(groups[group], group))
    for walk in walks:
        permuting = np.full((n_features, 3), -1, dtype=np.int32)
        n_placed, n_bins = 0, n_features
        for group, own in walk.items():
            for j in groups[group]:
                permuting[j] = n_placed, n_bins, len(own)
                n_bins += len(own)
            n_placed += len(own)
        draws = [draw for own in walk.values() for draw in own]
        yield _Layout(np.array(draws, dtype=np.int32), permuting, n_bins - n_features)


class _Parts(NamedTuple):
    """The positions of the parts of a node in its word, from the lowest bit.

    The parts are its feature, its cut, and the distance to its right child; the left
    child is the next node. A leaf has the word `LEAF`.

    Attributes
    ----------
    feature_bits, cut_bits : int
        Masks for the bits of a feature, and of a cut.
    cut_from, right_from : int
        The first bit of the cut, and of the distance.
    """

    feature_bits: int
    cut_bits: int
    cut_from: int
    right_from: int


def reason_against(packing: Packing) -> str:
    """Return in plain words why a packing cannot be replayed, empty if it can."""
    n_bits = sum(_bits_of(*_parts_of(packing)))
    if n_bits <= MOST_BITS:
        return ""
    return f"A node of its trees takes {n_bits} bits, and {MOST_BITS} can be read."


def _parts_of(packing: Packing) -> list[npt.NDArray[np.int64]]:
    """Return feature, cut and distance of each node, 0 where there is none."""
    distance = packing.right - np.arange(len(packing.right))
    is_leaf = packing.feature < 0
    parts = packing.feature, packing.cut, distance
    return [np.where(is_leaf, 0, np.maximum(own, 0)).astype(np.int64) for own in parts]


def _bits_of(*parts: npt.NDArray[np.int64]) -> list[int]:
    """Return the number of bits of each part of a word."""
    return [int(own.max()).bit_length() for own in parts]


def _words_of(packing: Packing) -> tuple[Words, _Parts]:
    """Return each node as one word, so that the nodes near a row fit the cache."""
    feature, cut, distance = parts = _parts_of(packing)
    feature_bits, cut_bits, _ = _bits_of(*parts)
    right_from = feature_bits + cut_bits
    words = feature | cut << feature_bits | distance << right_from
    words[packing.feature < 0] = LEAF
    ones = (1 << feature_bits) - 1, (1 << cut_bits) - 1
    return words, _Parts(*ones, feature_bits, right_from)


class _Task(NamedTuple):
    """The inputs of a walk.

    Attributes
    ----------
    words, parts
        The nodes as `_words_of` returns them.
    ruled : tuple or None
        The table of the nodes and their rules, if they have any.
    sets : LeafSets or None
        The sets if `few_leaves` is used, without a walk.
    rows : ndarray of int32, shape (n_rows,)
        The rows in the order in which they walk.
    orders : ndarray of int32, shape (n_draws, n_rows)
        By draw, the lenders of the rows' new values.
    """

    nodes: Nodes
    words: Words
    parts: _Parts
    ruled: tuple[Integers, Any] | None
    sets: LeafSets | None
    bins: Integers
    lenders: Integers
    rows: Integers
    orders: Integers
    layout: _Layout
    start: Floats


def _walk_all(task: _Task, sums: Floats, n_threads: int) -> None:
    """Walk all rows, in several parts at a time if there are threads."""
    n_rows = task.bins.shape[1]
    row_bytes = 8 * len(task.layout.draws) * len(task.start) + 4 * task.layout.n_bins
    block = min(max(BLOCK_BYTES // max(1, row_bytes), 16), MOST_ROWS)
    block = -(-n_rows // max(1, -(-n_rows // block)))  # as many rows in each
    edges = [*range(0, n_rows, block), n_rows]
    fill = _walk_rows if task.sets is None else add_leaves
    if n_rows <= MOST_ALONE:  # starting threads takes longer
        fill(task, sums, 0, n_rows, block)
        return
    if n_threads == 1:
        stops = [*edges[:-1:BLOCKS_ALONE], n_rows]
        for first, last in pairwise(stops):  # a request to stop is noticed in between
            fill(task, sums, first, last, block)
        return
    with threads_of(n_threads) as threads:
        parts = [
            threads.submit(fill, task, sums, first, last, block)
            for first, last in pairwise(edges)
        ]
        for part in parts:
            part.result()


@Loop
def _walk_rows(task: Any, sums: Floats, first: int, last: int, block: int) -> None:
    """Fill in the sums of some rows, block by block."""
    nodes, layout, permuting = task.nodes, task.layout, task.layout.permuting
    words, parts, ruled = task.words, task.parts, task.ruled
    n_draws, n_outputs = len(layout.draws), len(task.start)
    rows = np.empty((block, len(task.bins) + layout.n_bins), np.int32)
    on_path = np.full(n_draws, -1, np.int64)
    walkers = np.empty((2, n_draws + 1, 3), np.int64)
    arrivals = np.empty((n_draws, 2), np.int64)
    totals = np.empty((block, n_outputs, n_draws), sums.dtype)
    elsewhere = np.empty(n_draws, sums.dtype)
    for begin in range(first, last, block):
        own = task.rows[begin : min(begin + block, last)]
        n_rows = len(own)
        read_block(task, own, rows)
        for k in range(n_outputs):
            totals[:, k] = task.start[k]
        for tree, root in enumerate(nodes.roots):
            target = nodes.targets[tree]
            for i in range(n_rows):
                row = rows[i]
                leaf, n = _walk_path(
                    words, parts, permuting, ruled, row, root, walkers, on_path
                )
                n = _walk_subtrees(
                    words, parts, permuting, ruled, row, n, walkers, arrivals
                )
                for k in range(nodes.values.shape[1]):
                    values, each = nodes.values[:, k], totals[i, target + k]
                    _add_leaves(values, leaf, arrivals, n, each, elsewhere)
        for at in range(n_draws):
            for i in range(n_rows):
                for k in range(n_outputs):
                    sums[layout.draws[at], own[i], k] = totals[i, k, at]


@Loop
def _is_left(word: int, parts: Any, ruled: Any, node: int, where: int) -> bool:
    """Return whether a row whose bin is `where` goes left at a node."""
    if ruled is not None:
        table, rules = ruled
        return goes_left(table, rules, node, where)
    return bool(where <= (word >> parts.cut_from) & parts.cut_bits)


@Loop
def _going_left(
    word: int, parts: Any, permuting: Integers, ruled: Any, node: int, row: Integers
) -> np.int64:
    """Return the draws of a node's feature that go left there, as bits."""
    feature, bits = word & parts.feature_bits, np.int64(0)
    first, n_drawn = permuting[feature, 1], permuting[feature, 2]
    for k in range(n_drawn):
        is_left = _is_left(word, parts, ruled, node, row[first + k])
        bits |= np.int64(is_left) << k
    return bits


@Loop
def _walk_path(
    words: Words,
    parts: Any,
    permuting: Integers,
    ruled: Any,
    row: Integers,
    root: int,
    walkers: Integers,
    on_path: Integers,
) -> tuple[int, int]:
    """Return the leaf of a row, and the number of nodes where draws left its path.

    `walkers` gets the nodes they went to, their group, and the draws, as bits.
    """
    node, n_walkers = root, 0
    word = words[node]
    while word != LEAF:
        feature, right = word & parts.feature_bits, word >> parts.right_from
        is_left = _is_left(word, parts, ruled, node, row[feature])
        group = permuting[feature, 0]
        if group >= 0:
            leaving = _going_left(word, parts, permuting, ruled, node, row)
            leaving ^= -np.int64(is_left)  # every bit turned
            leaving &= on_path[group] & ((1 << permuting[feature, 2]) - 1)
            if leaving:
                walkers[0, n_walkers, 0] = node + (right if is_left else 1)
                walkers[0, n_walkers, 1] = group
                walkers[0, n_walkers, 2] = leaving
                on_path[group] ^= leaving
                n_walkers += 1
        node += right + (1 - right) * is_left  # no branch to predict
        word = words[node]
    for k in range(n_walkers):
        on_path[walkers[0, k, 1]] = -1
    return node, n_walkers


@Loop
def _walk_subtrees(
    words: Words,
    parts: Any,
    permuting: Integers,
    ruled: Any,
    row: Integers,
    n_walkers: int,
    walkers: Integers,
    arrivals: Integers,
) -> int:
    """Walk the draws that left the path to their leaves; return their number.

    All take a step before one takes the next, so that a processor can read several
    nodes at once. `arrivals` gets each of them and its leaf.
    """
    n_arrivals, now = 0, 0
    while n_walkers > 0:
        n_next, to = 0, 1 - now
        for at in range(n_walkers):
            node, group = walkers[now, at, 0], walkers[now, at, 1]
            draws, word = walkers[now, at, 2], words[node]
            if word == LEAF:
                while draws:
                    lowest = draws & -draws
                    draws ^= lowest
                    place = PLACES[(lowest * SPREAD & 0xFFFFFFFF) >> 27]
                    arrivals[n_arrivals, 0] = group + place
                    arrivals[n_arrivals, 1] = node
                    n_arrivals += 1
                continue
            feature, right = word & parts.feature_bits, word >> parts.right_from
            if permuting[feature, 0] != group:
                is_left = _is_left(word, parts, ruled, node, row[feature])
            else:
                left = draws & _going_left(word, parts, permuting, ruled, node, row)
                is_left = left != 0
                if is_left and left != draws:
                    walkers[to, n_next, 0] = node + right
                    walkers[to, n_next, 1] = group
                    walkers[to, n_next, 2] = draws ^ left
                    n_next += 1
                    draws = left
            walkers[to, n_next, 0] = node + right + (1 - right) * is_left
            walkers[to, n_next, 1] = group
            walkers[to, n_next, 2] = draws
            n_next += 1
        n_walkers, now = n_next, to
    return n_arrivals


@Loop
def _add_leaves(
    values: Floats,
    leaf: int,
    arrivals: Integers,
    n_arrivals: int,
    sums: Floats,
    elsewhere: Floats,
) -> None:
    """Add the row's leaf to draws on its path, and their own leaf to the others."""
    for at in range(n_arrivals):
        elsewhere[at] = sums[arrivals[at, 0]] + values[arrivals[at, 1]]
    own = values[leaf]
    for draw in range(len(sums)):
        sums[draw] += own
    for at in range(n_arrivals):
        sums[arrivals[at, 0]] = elsewhere[at]
