"""A row's prediction as a step function of each of its features, from its moves.

Each move stands for the row's own leaf between two places on the line of bins.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .compiled import Loop
from .lattice import Lattice
from .moves import MOST_ROWS, Moves, descent_for, lowest_place, moves_for, write_moves
from .packing import Integers, Packing

BLOCK, FIRST_MOVES = MOST_ROWS, 2048
"""Rows that go down the trees together; and the room for the moves of each at first,
which is doubled where it is not enough."""
_ONE = np.uint64(1)


class Steps(NamedTuple):
    """The step functions of some rows, feature by feature, steps from left to right.

    Only those (row, feature) are here whose prediction is not the same everywhere.

    Attributes
    ----------
    sums : ndarray of int64, shape (n_steps, n_outputs)
    n_donors : ndarray of int64, shape (n_steps,)
        How many rows have a value that lies on the step; steps without are left out.
    place : ndarray of int32, shape (n_steps,)
        Where the step begins on the line.
    start : ndarray of int64, shape (n_functions + 1,)
        The first step of each function, and the end of the last.
    row, feature : ndarray of int32, shape (n_functions,)
        What each is of.
    """

    sums: npt.NDArray[np.int64]
    n_donors: npt.NDArray[np.int64]
    place: Integers
    start: npt.NDArray[np.int64]
    row: Integers
    feature: Integers


class Line(NamedTuple):
    """What is written along the line for one row at a time, and is 0 in between.

    Attributes
    ----------
    differences : ndarray of int64, shape (n_places, n_outputs)
        How much more the sums are from a place on.
    marks : ndarray of uint64, shape (n_words,)
        A bit for each place that was written to.
    touched : ndarray of int32, shape (n_places + 1,)
        These places, and the first of each such feature.
    """

    differences: npt.NDArray[np.int64]
    marks: npt.NDArray[np.uint64]
    touched: Integers


def _line_for(lattice: Lattice, n_outputs: int) -> Line:
    """Return a line with nothing on it."""
    n_places = len(lattice.below)
    return Line(
        differences=np.zeros((n_places, n_outputs), dtype=np.int64),
        marks=np.zeros((n_places >> 6) + 1, dtype=np.uint64),
        touched=np.empty(n_places + 1, dtype=np.int32),
    )


def _steps_for(n_steps: int, n_outputs: int) -> Steps:
    """Return room for so many steps, and one to write to that is left out."""
    n_steps += 1
    return Steps(
        sums=np.empty((n_steps, n_outputs), dtype=np.int64),
        n_donors=np.empty(n_steps, dtype=np.int64),
        place=np.empty(n_steps, dtype=np.int32),
        start=np.empty(n_steps + 1, dtype=np.int64),
        row=np.empty(n_steps, dtype=np.int32),
        feature=np.empty(n_steps, dtype=np.int32),
    )


@Loop
def _add_moves(moves: Any, i: int, line: Any) -> None:
    """Write where the sums of a row rise and by how much, and mark these places."""
    differences, marks = line.differences, line.marks
    spans, increase = moves.spans, moves.more
    for m in range(moves.number[i]):
        begin, end, target = spans[i, m, 0], spans[i, m, 1], spans[i, m, 2]
        for k in range(increase.shape[2]):
            more = increase[i, m, k]
            differences[begin, target + k] += more
            differences[end, target + k] -= more
        marks[begin >> 6] |= _ONE << np.uint64(begin & 63)
        marks[end >> 6] |= _ONE << np.uint64(end & 63)


@Loop
def _touched(first: Any, line: Any) -> int:
    """List the places with marks, and the first place of each such feature."""
    marks, touched = line.marks, line.touched
    n, j, end = 0, -1, 0
    for word in range(len(marks)):
        bits = marks[word]
        marks[word] = 0
        while bits != 0:
            place = 64 * word + lowest_place(bits)
            bits &= bits - _ONE
            if place >= end:
                while first[j + 1] <= place:
                    j += 1
                end = first[j + 1]
                touched[n] = first[j]
                n += place > first[j]
            touched[n] = place
            n += 1
    touched[n] = first[-1]
    return n


@Loop
def write_steps(
    lattice: Any, moves: Any, i: int, line: Any, to: Any, at: tuple[int, int]
) -> tuple[int, int]:
    """Write the steps of a row after those there; return how many there are now.

    `at` and what is returned count steps and functions.
    """
    first, below, n_rows = lattice.first, lattice.below, len(lattice.rows)
    touched, differences, own = line.touched, line.differences, moves.own
    sums, n_donors, places = to.sums, to.n_donors, to.place
    rows, features, start = to.row, to.feature, to.start
    _add_moves(moves, i, line)
    (n, n_functions), j, end, last = at, -1, 0, 0
    for t in range(_touched(first, line)):
        place = touched[t]
        is_first = place >= end
        if is_first:
            while first[j + 1] <= place:
                j += 1
            end = first[j + 1]
            rows[n_functions], features[n_functions] = i, j
            start[n_functions] = n
            n_functions += 1
        for k in range(differences.shape[1]):
            before = own[i, k] if is_first else sums[last, k]
            sums[n, k] = before + differences[place, k]
            differences[place, k] = 0
        n_below = below[touched[t + 1]] if touched[t + 1] < end else n_rows
        n_donors[n] = n_below - below[place]
        places[n] = place
        last = n
        n += n_donors[n] > 0
    start[n_functions] = n
    return n, n_functions


@Loop
def _write_all(lattice: Any, moves: Any, n_rows: int, line: Any, to: Any) -> Any:
    """Write the steps of all rows of a block; return how many, and of functions."""
    at = 0, 0
    for i in range(n_rows):
        at = write_steps(lattice, moves, i, line, to, at)
    return at


class Walker:
    """Takes rows down all trees, in memory of its own: one for each thread.

    Parameters
    ----------
    packing : Packing
    lattice : Lattice
        Of this packing.

    Attributes
    ----------
    line : Line
    room : Steps
        Room for the steps of a block, or for those of any row of it.
    """

    def __init__(self, packing: Packing, lattice: Lattice) -> None:
        self._packing, self._lattice = packing, lattice
        self._descent = descent_for(packing, lattice)
        most = min(int(self._descent.room.sum()), FIRST_MOVES)
        self._moves = moves_for(packing, most)
        self.line = _line_for(lattice, packing.n_outputs)
        self.room = _steps_for(len(lattice.below), packing.n_outputs)

    def moves(self, rows: range) -> Iterator[Moves]:
        """Yield the moves of rows that follow each other, block after block.

        The next block is written over the one before.
        """
        for at in range(rows.start, rows.stop, BLOCK):
            block = self._lattice.rows[at : min(at + BLOCK, rows.stop)]
            while not self._has_room(block):
                most = 2 * self._moves.more.shape[1] + int(self._descent.room.max())
                self._moves = moves_for(self._packing, most)
            yield self._moves._replace(
                own=self._moves.own[: len(block)],
                number=self._moves.number[: len(block)],
            )

    def steps(self, moves: Moves) -> Steps:
        """Return the steps of the rows of a block."""
        # Each move begins a step and ends one; the first step of a feature is more.
        most = 2 * moves.number + self._packing.n_features
        n_steps = int(np.minimum(most, len(self._lattice.below)).sum())
        if n_steps >= len(self.room.n_donors):
            self.room = _steps_for(n_steps + n_steps // 4, self._packing.n_outputs)
        n_rows, room = len(moves.own), self.room
        n, n_functions = _write_all(self._lattice, moves, n_rows, self.line, room)
        return Steps(
            room.sums[:n],
            room.n_donors[:n],
            room.place[:n],
            room.start[: n_functions + 1],
            room.row[:n_functions],
            room.feature[:n_functions],
        )

    def _has_room(self, block: Integers) -> bool:
        """Write the moves of some rows; return whether there was room for them."""
        lattice = self._lattice
        return bool(
            write_moves(lattice, lattice.rules, block, self._descent, self._moves)
        )
