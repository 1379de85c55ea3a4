"""A row's prediction as a step function of each of its features, from one walk.

Other values of feature *j* leave the row's path at the nodes on *j* and reach other
leaves; each of these stands for the row's own leaf between two bins.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .compiled import Loop
from .lattice import Lattice
from .packing import Integers, Packing, goes_left

BLOCK, FIRST_MOVES = 256, 4096
"""Rows that walk one tree after the other, while its nodes are at hand; and the room
for the moves of each at first, which is doubled where it is not enough."""
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_ONE = np.uint64(1)
_PLACES = np.zeros(64, dtype=np.int64)
_PLACES[[(int(_DE_BRUIJN) << bit) % 2**64 >> 58 for bit in range(64)]] = range(64)


class Steps(NamedTuple):
    """The step functions of some rows, feature by feature, steps from left to right.

    Only those (row, feature) are here whose prediction is not the same everywhere.

    Attributes
    ----------
    own : ndarray of int64, shape (n_rows, n_outputs)
        The sums of the rows as they are.
    sums : ndarray of int64, shape (n_steps, n_outputs)
    share : ndarray of shape (n_steps,)
        The share of all rows whose value lies on the step; steps without are left out.
    place : ndarray of int32, shape (n_steps,)
        Where the step begins on the line.
    start : ndarray of int64, shape (n_functions,)
        The first step of each function.
    row, feature : ndarray of int32, shape (n_functions,)
        What each is of.
    """

    own: npt.NDArray[np.int64]
    sums: npt.NDArray[np.int64]
    share: Floats
    place: Integers
    start: npt.NDArray[np.int64]
    row: Integers
    feature: Integers


class _Walk(NamedTuple):
    """What a walk through one tree needs.

    Attributes
    ----------
    reach : ndarray of int32, shape (n_features, 3)
        The bins, not missing, that are still on the row's path, from and to; and the
        end of them all.
    is_on : ndarray of bool, shape (n_places,)
        The same of categories and of missing values.
    waiting : ndarray of int32, shape (n_parts, 4)
        Node, feature, and the bins of it, from and to, that go on from there.
    room : ndarray of int64, shape (n_trees,)
        The most moves that a tree can make for a row.
    """

    reach: Integers
    is_on: npt.NDArray[np.bool_]
    waiting: Integers
    room: npt.NDArray[np.int64]


class _Moves(NamedTuple):
    """What other values of a feature add to the sums of the rows of a block.

    Attributes
    ----------
    number : ndarray of int64, shape (n_rows,)
    leaves : ndarray of int32, shape (n_rows, most, 4)
        The first output, the feature, and the bins of it, from and to.
    more : ndarray of int64, shape (n_rows, most, width)
    """

    number: npt.NDArray[np.int64]
    leaves: Integers
    more: npt.NDArray[np.int64]


@Loop
def _wait(waiting: Integers, n: int, node: int, j: int, begin: int, end: int) -> int:
    """Put these bins of a feature down to go on from a node; return how many wait."""
    waiting[n, 0], waiting[n, 1] = node, j
    waiting[n, 2], waiting[n, 3] = begin, end
    return n + 1


@Loop
def _end_of_part(
    table: Integers, rules: Any, node: int, begin: int, end: int, is_left: bool
) -> int:
    """Return where those bins end that go where the first of them goes."""
    cut = table[node, 1]
    if rules is None or (cut >= 0 and begin != rules[1][table[node, 0]]):
        return min(end, cut + 1) if is_left else end
    stop = begin + 1
    while stop < end and goes_left(table, rules, node, stop) == is_left:
        stop += 1
    return stop


@Loop
def _leave_single(
    table: Integers, rules: Any, singles: Any, node: int, is_left: bool, to: Any, n: int
) -> int:
    """Let the categories wait, or the missing values, that part from the row here."""
    first, is_on = singles
    j, other = table[node, 0], table[node, 3 if is_left else 2]
    missing = rules[1][j]
    begin = 0 if table[node, 1] < 0 else missing
    for stop in range(begin, missing + 2):
        parts = (
            stop <= missing
            and is_on[first[j] + stop]
            and goes_left(table, rules, node, stop) != is_left
        )
        if parts:
            is_on[first[j] + stop] = False
            continue
        if begin < stop:
            n = _wait(to, n, other, j, begin, stop)
        begin = stop + 1
    return n


@Loop
def _own_leaf(
    table: Integers, rules: Any, singles: Any, node: int, row: Any, reach: Any, to: Any
) -> Any:
    """Return the leaf of a row, and how many parts of features wait to go elsewhere."""
    n = 0
    while table[node, 0] >= 0:
        j, cut = table[node, 0], table[node, 1]
        is_left = goes_left(table, rules, node, row[j])
        if cut >= 0:
            begin, end = reach[j, 0], reach[j, 1]
            if is_left:
                begin = max(begin, cut + 1)
                reach[j, 1] = min(end, cut + 1)
            else:
                end = min(end, cut + 1)
                reach[j, 0] = max(begin, cut + 1)
            if begin < end:
                other = table[node, 3] if is_left else table[node, 2]
                n = _wait(to, n, other, j, begin, end)
        if rules is not None:
            n = _leave_single(table, rules, singles, node, is_left, to, n)
        node = table[node, 2] if is_left else table[node, 3]
    for part in range(n):
        j = to[part, 1]
        reach[j, 0], reach[j, 1] = 1, reach[j, 2]
        if rules is not None:
            first, is_on = singles
            is_on[first[j] + to[part, 2] : first[j] + to[part, 3]] = True
    return node, n


@Loop
def _other_leaves(
    table: Integers, rules: Any, row: Any, waiting: Integers, n: int, to: Any, m: int
) -> int:
    """Write which other leaves are reached, and by which bins; return their end."""
    while n > 0:
        n -= 1
        node, j = waiting[n, 0], waiting[n, 1]
        begin, end = waiting[n, 2], waiting[n, 3]
        while table[node, 0] >= 0:
            if table[node, 0] != j:
                is_left = goes_left(table, rules, node, row[table[node, 0]])
            else:
                is_left = goes_left(table, rules, node, begin)
                stop = _end_of_part(table, rules, node, begin, end, is_left)
                if stop < end:
                    n = _wait(waiting, n, node, j, stop, end)
                    end = stop
            node = table[node, 2] if is_left else table[node, 3]
        m = _wait(to, m, node, j, begin, end)
    return m


@Loop
def _walk_block(
    lattice: Any, rules: Any, rows: Integers, walk: Any, own: Any, moves: Any
) -> bool:
    """Write the sums of rows and all their moves; return whether there was room."""
    table, values, targets = lattice.table, lattice.values, lattice.targets
    reach, waiting, room = walk.reach, walk.waiting, walk.room
    number, leaves, more = moves.number, moves.leaves, moves.more
    singles = lattice.first, walk.is_on
    number[:] = 0
    own[:] = lattice.start
    for tree, root in enumerate(lattice.roots):
        for i in range(len(own)):
            row, to, m = rows[i], leaves[i], number[i]
            if m + room[tree] > len(to):
                return False
            leaf, n = _own_leaf(table, rules, singles, root, row, reach, waiting)
            end = _other_leaves(table, rules, row, waiting, n, to, m)
            number[i] = end
            for k in range(values.shape[1]):
                own[i, targets[tree] + k] += values[leaf, k]
                for e in range(m, end):
                    more[i, e, k] = values[to[e, 0], k] - values[leaf, k]
            for e in range(m, end):
                to[e, 0] = targets[tree]
    return True


@Loop
def _touched(first: Any, marks: Any, touched: Any) -> int:
    """List the places with marks, and the first place of each such feature."""
    n, j, end = 0, -1, 0
    for word in range(len(marks)):
        bits = marks[word]
        marks[word] = 0
        while bits != 0:
            lowest = bits & (~bits + _ONE)
            bits ^= lowest
            place = 64 * word + _PLACES[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            if place >= end:
                while first[j + 1] <= place:
                    j += 1
                end = first[j + 1]
                if place > first[j]:
                    touched[n] = first[j]
                    n += 1
            touched[n] = place
            n += 1
    touched[n] = first[-1]
    return n


@Loop
def _collect(lattice: Any, moves: Any, steps: Any) -> Any:
    """Make steps of the moves; return how many steps and how many functions."""
    first, below, n_rows = lattice.first, lattice.below, len(lattice.rows)
    sums, share, places = steps.sums, steps.share, steps.place
    n_outputs = sums.shape[1]
    differences = np.zeros((len(below), n_outputs), np.int64)
    marks = np.zeros((len(below) >> 6) + 1, np.uint64)
    touched = np.empty(len(below) + 1, np.int32)
    level = np.empty(n_outputs, np.int64)
    n, n_functions = 0, 0
    for i in range(len(steps.own)):
        _add_moves(first, moves, i, differences, marks)
        j, end = -1, 0
        for t in range(_touched(first, marks, touched)):
            place = touched[t]
            if place >= end:
                while first[j + 1] <= place:
                    j += 1
                end = first[j + 1]
                level[:] = steps.own[i]
                steps.row[n_functions], steps.feature[n_functions] = i, j
                steps.start[n_functions] = n
                n_functions += 1
            for k in range(n_outputs):
                level[k] += differences[place, k]
                differences[place, k] = 0
            n_below = below[touched[t + 1]] if touched[t + 1] < end else n_rows
            if n_below > below[place]:
                for k in range(n_outputs):
                    sums[n, k] = level[k]
                share[n] = (n_below - below[place]) / n_rows
                places[n] = place
                n += 1
    return n, n_functions


@Loop
def _add_moves(
    first: Integers, moves: Any, i: int, differences: Any, marks: Any
) -> None:
    """Write where the sums of a row rise and by how much, and mark these places."""
    leaves, more = moves.leaves, moves.more
    for m in range(moves.number[i]):
        target, j = leaves[i, m, 0], leaves[i, m, 1]
        begin, end = first[j] + leaves[i, m, 2], first[j] + leaves[i, m, 3]
        for k in range(more.shape[2]):
            differences[begin, target + k] += more[i, m, k]
            differences[end, target + k] -= more[i, m, k]
        marks[begin >> 6] |= _ONE << np.uint64(begin & 63)
        marks[end >> 6] |= _ONE << np.uint64(end & 63)


def _walk_for(packing: Packing, lattice: Lattice) -> _Walk:
    """Return what walks need, nothing written yet.

    Of a category, one part can wait for each of its places; of numbers, two for each
    node on the path of the row and one for each on the way to another leaf.
    """
    top = lattice.top
    n_categories = int(top[packing.categorical].sum()) + 1
    n_inner = np.add.reduceat(packing.feature >= 0, packing.roots, dtype=np.int64)
    return _Walk(
        reach=np.stack([np.ones_like(top), top, top], axis=1),
        is_on=np.ones(len(lattice.below), dtype=np.bool_),
        waiting=np.empty((3 * packing.depth + 2 * n_categories, 4), dtype=np.int32),
        room=n_inner + packing.depth + 2 * n_categories,
    )


def _moves_for(packing: Packing, most: int) -> _Moves:
    """Return room for so many moves of each row of a block."""
    return _Moves(
        number=np.zeros(BLOCK, dtype=np.int64),
        leaves=np.empty((BLOCK, most, 4), dtype=np.int32),
        more=np.empty((BLOCK, most, packing.values.shape[1]), dtype=np.int64),
    )


def _no_steps(n_steps: int, n_outputs: int) -> Steps:
    """Return room for so many steps."""
    return Steps(
        own=np.empty((BLOCK, n_outputs), dtype=np.int64),
        sums=np.empty((n_steps, n_outputs), dtype=np.int64),
        share=np.empty(n_steps),
        place=np.empty(n_steps, dtype=np.int32),
        start=np.empty(n_steps, dtype=np.int64),
        row=np.empty(n_steps, dtype=np.int32),
        feature=np.empty(n_steps, dtype=np.int32),
    )


class Walker:
    """Walks rows through all trees, in memory of its own: one for each thread.

    Parameters
    ----------
    packing : Packing
    lattice : Lattice
        Of this packing.
    """

    def __init__(self, packing: Packing, lattice: Lattice) -> None:
        self._packing, self._lattice = packing, lattice
        self._walk = _walk_for(packing, lattice)
        most = min(int(self._walk.room.sum()), FIRST_MOVES)
        self._moves = _moves_for(packing, most)
        self._steps = _no_steps(0, packing.n_outputs)

    def steps(self, rows: range) -> Iterator[Steps]:
        """Yield the step functions of rows that follow each other, block after block.

        The next block is written over the one before.
        """
        for at in range(rows.start, rows.stop, BLOCK):
            block = self._lattice.rows[at : min(at + BLOCK, rows.stop)]
            while not self._has_walked(block):
                most = 2 * self._moves.leaves.shape[1] + int(self._walk.room.max())
                self._moves = _moves_for(self._packing, most)
            yield self._collected(len(block))

    def _has_walked(self, block: Integers) -> bool:
        """Walk some rows; return whether there was room for their moves."""
        lattice, own = self._lattice, self._steps.own[: len(block)]
        is_done = _walk_block(
            lattice, lattice.rules, block, self._walk, own, self._moves
        )
        return bool(is_done)

    def _collected(self, n_rows: int) -> Steps:
        """Return the steps of the rows of a block that have been walked."""
        own = self._steps.own[:n_rows]
        # Each move begins a step and ends one; the first step of a feature is more.
        most = 2 * self._moves.number[:n_rows] + self._packing.n_features
        n_steps = int(np.minimum(most, len(self._lattice.below)).sum())
        if n_steps > len(self._steps.share):
            room = _no_steps(n_steps + n_steps // 4, self._packing.n_outputs)
            self._steps = room._replace(own=self._steps.own)
        steps = self._steps._replace(own=own)
        n_steps, n_functions = _collect(self._lattice, self._moves, steps)
        return Steps(
            own,
            steps.sums[:n_steps],
            steps.share[:n_steps],
            steps.place[:n_steps],
            steps.start[:n_functions],
            steps.row[:n_functions],
            steps.feature[:n_functions],
        )
