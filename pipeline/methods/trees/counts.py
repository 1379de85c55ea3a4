"""Numbers of rows in the box of each leaf, or outside it in one or two features.

Rows are bits, 64 to a word: one pass down a tree keeps, for each level, the rows that
the feature of a comparison excludes. If a tree has so many leaves that few rows are
near any of them, rows are lists instead, which go down only where they have rows.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.execution import threads_of
from .boxes import Boxes, Places
from .compiled import Loop
from .moves import OWN, divide, pass_on
from .packing import Integers, goes_left, nearby

Words = npt.NDArray[np.uint64]

MOST_WORDS = 192
"""Words of one block of rows: its sets of all levels fit a processor's cache."""
MAX_BYTES = 2**26
"""Most bytes of the sets of first rows of one block, (words, words) per feature."""


MOST_LEAVES = 2048
"""Mean number of leaves of a tree up to which rows are bits."""
BLOCK = 4096
"""Rows of one list."""


class Counts(NamedTuple):
    """Numbers of rows.

    Attributes
    ----------
    inside : ndarray of shape (n_leaves,)
        Rows in the box.
    but_one : ndarray of shape (n_sides,)
        Rows outside it in the feature of this side only.
    but_two : ndarray of shape (n_pairs,)
        Rows outside it in the features of these two sides only; empty if not counted.
    """

    inside: Places
    but_one: Places
    but_two: Places


def counts_of(
    boxes: Boxes,
    bins: Integers,
    *,
    pairs: bool = False,
    lists: bool | None = None,
    n_threads: int = 1,
) -> Counts:
    """Count rows leaf by leaf.

    Parameters
    ----------
    boxes : Boxes
    bins : ndarray of shape (n_used, n_rows)
        The rows; only the features in `boxes.used`.
    pairs : bool, default False
        Whether to count the rows that lie outside in exactly two features.
    lists : bool, optional
        Whether rows are lists, which count no pairs; by default if trees have more
        than `MOST_LEAVES` leaves. The counts do not depend on it.
    n_threads : int, default 1
        The counts do not depend on it.
    """
    if lists is None:
        lists = not pairs and len(boxes.values) > MOST_LEAVES * len(boxes.roots)
    if lists:
        add, n_in_block = partial(_add_list, boxes), BLOCK
        bins = bins.take(nearby(boxes, bins), axis=1)
    else:
        add, n_in_block = partial(_add_bits, boxes), _n_bits(boxes, bins, n_threads)
    starts = range(0, bins.shape[1], n_in_block)

    def count(own: Sequence[int]) -> Counts:
        counts = Counts(
            np.zeros(len(boxes.start) - 1, np.int64),
            np.zeros(len(boxes.feature), np.int64),
            np.zeros(boxes.pair_start[-1] if pairs else 0, np.int64),
        )
        for begin in own:
            add(np.ascontiguousarray(bins[:, begin : begin + n_in_block]), counts)
        return counts

    with threads_of(n_threads) as threads:
        parts = list(
            threads.map(count, [starts[k::n_threads] for k in range(n_threads)])
        )
    for part in parts[1:]:
        for total, own in zip(parts[0], part, strict=True):
            total += own
    return parts[0]


def _n_bits(boxes: Boxes, bins: Integers, n_threads: int) -> int:
    """Return the number of rows of one set."""
    fitting = int((MAX_BYTES / 8 / max(1, len(boxes.used))) ** 0.5)
    of_each = -(-bins.shape[1] // (64 * n_threads))
    return 64 * max(1, min(MOST_WORDS, fitting, of_each))


def _add_bits(boxes: Boxes, bins: Integers, counts: Counts) -> None:
    """Add a block of rows, as bits, to the counts of all leaves."""
    first = np.append(0, np.cumsum(boxes.n_bins))
    _count_block(boxes, _in_order(bins, first), counts)


def _add_list(boxes: Boxes, bins: Integers, counts: Counts) -> None:
    """Add a block of rows, as a list, to the counts of the leaves near them."""
    leaf_of = (np.cumsum(boxes.table[:, 0] < 0) - 1).astype(np.int32)
    is_missing = (bins == boxes.rules[1][:, np.newaxis]).any()
    rules = boxes.rules if is_missing or len(boxes.rules[2]) else None
    for root in boxes.roots:
        _count_list(boxes, rules, bins, leaf_of, root, counts)


@Loop
def _count_list(
    boxes: Any, rules: Any, bins: Integers, leaf_of: Integers, root: int, counts: Any
) -> None:
    """Take a block of rows down one tree, as `moves` does, and count them at leaves."""
    table, n_levels = boxes.table, boxes.depth + 2
    rows = np.arange(bins.shape[1]).astype(np.uint16)
    node_at, n_done = np.zeros(n_levels, np.int32), np.zeros(n_levels, np.int32)
    n_stretches = np.zeros(n_levels, np.int32)
    stretches = np.zeros((n_levels, n_levels + 1, 4), np.int32)
    stretches[0, 0, 0], stretches[0, 0, 3] = OWN, len(rows)
    level, node_at[0], n_stretches[0] = 0, root, 1
    while level >= 0:
        node, parts, n_parts = node_at[level], stretches[level], n_stretches[level]
        j, child = table[node, 0], n_done[level]
        if j < 0:
            _count_stretches(boxes, leaf_of[node], parts[:n_parts], counts)
        if j < 0 or child == 2:
            level -= 1
            continue
        if child == 0:
            divide(table, rules, node, bins[j], parts, n_parts, rows)
        n_done[level] += 1
        n_below = pass_on(parts, n_parts, j, child, stretches[level + 1])
        if n_below > 0:
            level += 1
            node_at[level], n_done[level] = table[node, 2 + child], 0
            n_stretches[level] = n_below


@Loop
def _count_stretches(boxes: Any, leaf: int, stretches: Integers, counts: Any) -> None:
    """Add the rows in a leaf's box, and those that exactly one side excludes."""
    for k in range(len(stretches)):
        n, side = stretches[k, 3] - stretches[k, 1], boxes.start[leaf]
        if stretches[k, 0] == OWN:
            counts.inside[leaf] += n
            continue
        while boxes.feature[side] != stretches[k, 0]:
            side += 1
        counts.but_one[side] += n


class _Block(NamedTuple):
    """A block of rows, sorted by their bins, feature by feature.

    Attributes
    ----------
    n_rows : int
    order : ndarray of shape (n_used, n_rows)
        The rows by their bins.
    below : ndarray of shape (sum of n_bins + 1,)
        Number of rows below each bin; those of a feature begin at its `first`.
    first : ndarray of shape (n_used + 1,)
    leading : ndarray of shape (n_used, n_words + 1, n_words)
        The set of the first 0, 64, 128, … rows in order.
    """

    n_rows: int
    order: Integers
    below: Integers
    first: Places
    leading: Words


def _in_order(bins: Integers, first: Places) -> _Block:
    """Return a block of rows with their bins, (n_used, n_rows)."""
    n_used, n_rows = bins.shape
    n_words = (n_rows + 63) // 64
    block = _Block(
        n_rows=n_rows,
        order=np.argsort(bins, axis=1, kind="stable").astype(np.int32),
        below=np.zeros(first[-1] + 1, np.int32),
        first=first,
        leading=np.zeros((n_used, n_words + 1, n_words), np.uint64),
    )
    for j, own in enumerate(bins):
        n_bins = first[j + 1] - first[j]
        counts = np.bincount(own, minlength=n_bins)
        block.below[first[j] + 1 : first[j + 1]] = np.cumsum(counts)[:-1]
    _fill_leading(block)
    return block


@Loop
def _fill_leading(block: Any) -> None:
    """Fill in `block.leading`, the sets of the first rows."""
    order, leading = block.order, block.leading
    for j in range(len(order)):
        for word in range(1, leading.shape[1]):
            leading[j, word] = leading[j, word - 1]
            for k in range(64 * word - 64, min(64 * word, block.n_rows)):
                _add(leading[j, word], order[j, k])


@Loop
def _add(rows: Words, row: int) -> None:
    """Add a row to a set."""
    rows[row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@Loop
def _size(word: Any) -> Any:
    """Return the number of set bits of a word; compilers recognise this pattern."""
    one = np.uint64(1)
    pairs, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    eights, bytes_ = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    word = word - ((word >> one) & pairs)
    word = (word & fours) + ((word >> np.uint64(2)) & fours)
    word = (word + (word >> np.uint64(4))) & eights
    return (word * bytes_) >> np.uint64(56)


@Loop
def _add_bin(block: Any, feature: int, where: int, rows: Words) -> None:
    """Add the rows of one bin to a set."""
    here = block.first[feature] + where
    end = block.n_rows
    if here + 1 < block.first[feature + 1]:
        end = block.below[here + 1]
    for k in range(block.below[here], end):
        _add(rows, block.order[feature, k])


@Loop
def _fill_left(table: Integers, rules: Any, node: int, block: Any, rows: Words) -> None:
    """Make `rows` the set of all rows that would go left at a node."""
    feature, cut = table[node, 0], table[node, 1]
    missing = rules[1][feature]
    if cut >= 0:
        n_left = block.below[block.first[feature] + cut + 1]
        rows[:] = block.leading[feature, n_left >> 6]
        for k in range((n_left >> 6) << 6, n_left):
            _add(rows, block.order[feature, k])
    else:
        rows[:] = np.uint64(0)
        for where in range(missing):
            if goes_left(table, rules, node, where):
                _add_bin(block, feature, where, rows)
    if rules[0][node]:
        _add_bin(block, feature, missing, rows)


@Loop
def _n_common(rows: Words, others: Words) -> Any:
    """Return the number of rows in both sets; compilers vectorise this loop."""
    n = np.uint64(0)
    for w in range(len(rows)):
        n += _size(rows[w] & others[w])
    return np.int64(n)


@Loop
def _keep_out(
    rows: Words, before: Words, left: Words, everyone: Words, is_left: bool
) -> None:
    """Make `rows` those of `before` and those that go the other way than the path."""
    for w in range(len(rows)):
        rows[w] = before[w] | ((~left[w] & everyone[w]) if is_left else left[w])


@Loop
def _without(rows: Words, all_rows: Words, others: Words) -> None:
    """Make `rows` all rows except `others`."""
    for w in range(len(rows)):
        rows[w] = all_rows[w] & ~others[w]


@Loop
def _with_both(rows: Words, before: Words, one: Words, other: Words) -> None:
    """Make `rows` those of `before` and those that are in both `one` and `other`."""
    for w in range(len(rows)):
        rows[w] = before[w] | (one[w] & other[w])


@Loop
def _count_block(boxes: Any, block: Any, counts: Any) -> None:
    """Add the rows of a block to the counts of all leaves.

    For the nodes of a path, `outside` holds the rows outside the box in the feature of
    the last comparison, `left` the rows that would go left, and `one`, `two` and
    `three` the rows outside in at least one, two and three features.
    """
    table, n_words = boxes.table, block.leading.shape[2]
    everyone, new = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    for row in range(block.n_rows):
        _add(everyone, row)
    sets = np.zeros((5, boxes.depth + 1, n_words), np.uint64)
    outside, left, one, two, three = sets[0], sets[1], sets[2], sets[3], sets[4]
    level = np.zeros(len(table), np.int32)
    path = np.empty(boxes.depth + 1, np.int32)
    leaf = 0
    for node in range(len(table)):
        own = level[node]
        path[own] = node
        if own > 0:
            parent, upper = path[own - 1], own - 1
            while upper > 0 and table[path[upper - 1], 0] != table[parent, 0]:
                upper -= 1
            is_left = table[parent, 2] == node
            _keep_out(outside[own], outside[upper], left[own - 1], everyone, is_left)
            _without(new, outside[own], outside[upper])
            if len(counts.but_two) > 0:
                _with_both(three[own], three[own - 1], two[own - 1], new)
            _with_both(two[own], two[own - 1], one[own - 1], new)
            _with_both(one[own], one[own - 1], new, new)
        if table[node, 0] >= 0:
            _fill_left(table, boxes.rules, node, block, left[own])
            level[table[node, 2]] = level[table[node, 3]] = own + 1
        else:
            counts.inside[leaf] += block.n_rows - _n_common(one[own], one[own])
            _without(one[own], one[own], two[own])
            _without(two[own], two[own], three[own])
            _count_leaf(boxes, leaf, outside, one[own], two[own], new, counts)
            leaf += 1


@Loop
def _count_leaf(
    boxes: Any,
    leaf: int,
    outside: Any,
    one: Words,
    two: Words,
    work: Words,
    counts: Any,
) -> None:
    """Add the rows outside exactly one side of a leaf, and outside exactly two."""
    pair, end = boxes.pair_start[leaf], boxes.start[leaf + 1]
    for side in range(boxes.start[leaf], end):
        rows = outside[boxes.level[side]]
        counts.but_one[side] += _n_common(one, rows)
        if len(counts.but_two) > 0:
            for w in range(len(rows)):
                work[w] = two[w] & rows[w]
            for other in range(side + 1, end):
                common = _n_common(work, outside[boxes.level[other]])
                counts.but_two[pair] += common
                pair += 1
