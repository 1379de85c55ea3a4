"""A row's prediction as a step function of each of its features, from its moves.

Each move replaces the row's own leaf between two places on the line of bins. The steps
of a block of rows are taken from left to right for all of them together, so each place
is visited once.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .compiled import Loop
from .lattice import Lattice
from .moves import Moves, Numbers, descent_for, moves_for, write_moves
from .packing import Integers, Packing

BLOCK = 1024
"""Rows that go down the trees together, 65 536 at most. Many share each node and each
place; more do not fit a processor's cache."""
FIRST_SPANS, FIRST_MOVERS = 2**15, 2**19
"""First sizes of the arrays of moves of a block, doubled where they are too small."""
MOST_SPANS, MOST_MOVERS = 2**21, 2**25
"""A block that needs more is halved, down to one row."""
MOST_STEPS = 2**14
"""Steps that are held together, and in addition those at one more place."""


class Steps(NamedTuple):
    """Steps of the rows of a block, from left to right.

    Attributes
    ----------
    place : ndarray of int32, shape (n_places,)
        The places on the line where steps begin; after the last of a feature, its end.
    start : ndarray of int32, shape (n_places + 1,)
        The first step at each place, and the end of the last.
    row : ndarray of uint16, shape (n_steps,)
        The row of each step, by its number in the block.
    sums : ndarray of int64, shape (n_steps, n_outputs)
        The sums of the row from this step to its next.
    """

    place: Integers
    start: Integers
    row: Numbers
    sums: npt.NDArray[np.int64]


class Line(NamedTuple):
    """The changes along the line, and the state at the present place.

    Attributes
    ----------
    change : ndarray of int32, shape (n_changes,)
        The spans from left to right: twice its number where a span begins, one more
        where it ends.
    n_before : ndarray of int32, shape (n_places + 2,)
        Number of changes before each place.
    sums : ndarray of int64, shape (n_outputs, n_rows)
        The sums of each row with the values at this place.
    listed : ndarray of int32, shape (n_rows,)
        The place since which each row is among those whose sums have changed.
    """

    change: Integers
    n_before: Integers
    sums: npt.NDArray[np.int64]
    listed: Integers


def _line_for(lattice: Lattice, moves: Moves) -> Line:
    """Return an empty line."""
    n_outputs, n_rows = moves.own.shape
    return Line(
        change=np.empty(2 * len(moves.spans), dtype=np.int32),
        n_before=np.empty(len(lattice.below) + 2, dtype=np.int32),
        sums=np.empty((n_outputs, n_rows), dtype=np.int64),
        listed=np.empty(n_rows, dtype=np.int32),
    )


@Loop
def sort_changes(moves: Any, line: Any) -> None:
    """Sort the changes of a block by their places, and list no row yet."""
    spans, change, n_before = moves.spans, line.change, line.n_before
    line.listed[:] = -1
    n_before[:] = 0  # stored two places further, then moved back by one
    for m in range(moves.n_spans):
        n_before[spans[m, 0] + 2] += 1
        n_before[spans[m, 1] + 2] += 1
    for place in range(1, len(n_before)):
        n_before[place] += n_before[place - 1]
    for m in range(moves.n_spans):
        for side in range(2):
            after = spans[m, side] + 1
            change[n_before[after]] = 2 * m + side
            n_before[after] += 1


@Loop
def write_steps(
    lattice: Any, moves: Any, line: Any, place: int, to: Any
) -> tuple[int, int, int]:
    """Write steps from a place on, until the buffer is full or the line ends.

    Return the next place, and the numbers of places and steps.
    """
    first, below, n_before = lattice.first, lattice.below, line.n_before
    sums, spans, movers, here = line.sums, moves.spans, moves.movers, moves.here
    n_all, most = lattice.bins.shape[1], len(to.row) - moves.n_rows
    n_places, n, begin, since, j = 0, 0, 0, place, -1
    while place < first[-1] and begin < most:
        while first[j + 1] <= place:
            j += 1
        if place == first[j]:
            if n_before[place] == n_before[first[j + 1]]:
                place = first[j + 1]  # nothing moves with this feature
                continue
            sums[:] = moves.own
        is_end = below[place] == n_all
        until = n_before[place if is_end else place + 1]
        for at in range(n_before[place], until):
            m, sign = line.change[at] >> 1, 1 - 2 * (line.change[at] & 1)
            tree, leaf, target = spans[m, 2], spans[m, 3], lattice.targets[spans[m, 2]]
            from_, to_ = np.uint64(spans[m, 4]), np.uint64(spans[m, 5])
            for k in range(here.shape[1]):
                value, of = lattice.values[leaf, k], sums[target + k]
                _add(movers, from_, to_, sign, value, here[tree, k], of)
            n = _list(movers, from_, to_, since, line.listed, to.row, n)
        if is_end:
            n = begin
        if is_end or (n > begin and below[place] < below[place + 1]):
            to.place[n_places], to.start[n_places] = place, begin
            n_places += 1
            for k in range(len(sums)):
                for s in range(begin, n):
                    to.sums[s, k] = sums[k, to.row[s]]
            begin, since = n, place + 1
        place = first[j + 1] if is_end else place + 1
    to.start[n_places] = n
    return place, n_places, n


@Loop
def _add(
    movers: Numbers, first: Any, last: Any, sign: int, value: int, here: Any, sums: Any
) -> None:
    """Replace the own leaf of movers by another, or undo it if `sign` is -1."""
    for at in range(first, last):
        sums[movers[at]] += sign * (value - here[movers[at]])


@Loop
def _list(
    movers: Numbers, first: Any, last: Any, since: int, listed: Any, to: Any, n: int
) -> int:
    """List movers that are not listed since a place; return the length of the list."""
    for at in range(first, last):
        row = movers[at]
        to[n] = row
        n += listed[row] < since
        listed[row] = since
    return n


class Walker:
    """Takes rows down all trees, with working arrays of its own: one per thread.

    Parameters
    ----------
    packing : Packing
    lattice : Lattice
        Of this packing.

    Attributes
    ----------
    line : Line
    buffer : Steps
        Holds some of the steps of a block.
    """

    def __init__(self, packing: Packing, lattice: Lattice) -> None:
        self._packing, self._lattice = packing, lattice
        self._n_rows = min(BLOCK, lattice.bins.shape[1])
        self._descent = descent_for(packing, lattice, self._n_rows)
        self._moves = moves_for(packing, self._n_rows, FIRST_SPANS, FIRST_MOVERS)
        self.line = _line_for(lattice, self._moves)
        n_outputs, n_rows = self._moves.own.shape
        n_steps, n_places = MOST_STEPS + n_rows + 1, len(lattice.below)
        self.buffer = Steps(
            place=np.empty(n_places, dtype=np.int32),
            start=np.empty(n_places + 1, dtype=np.int32),
            row=np.empty(n_steps, dtype=np.uint16),
            sums=np.empty((n_steps, n_outputs), dtype=np.int64),
        )
        self._typed: dict[Loop, Callable[..., Any]] = {}

    def call(self, loop: Loop, *arguments: Any) -> Any:
        """Call a loop whose arguments have the same types in every block.

        For tuples of so many arrays, numba needs longer to find the types than a loop
        needs for a block of small trees.
        """
        if loop not in self._typed:
            self._typed[loop] = loop.typed(*arguments)
        return self._typed[loop](*arguments)

    def moves(self, rows: range) -> Iterator[Moves]:
        """Yield the moves of consecutive rows, block after block.

        Each block overwrites the one before.
        """
        at, size = rows.start, BLOCK
        while at < rows.stop:
            bins = self._lattice.bins[:, at : min(at + size, rows.stop)].copy()
            n_spans = self._written(bins)
            if n_spans is None:
                size = bins.shape[1] // 2
                continue
            at += bins.shape[1]
            yield self._moves._replace(n_rows=bins.shape[1], n_spans=n_spans)

    def _written(self, bins: Integers) -> int | None:
        """Write the moves of a block; return its spans, or None if it is to be halved.

        Whether it is halved does not depend on the buffer that earlier blocks needed.
        """
        lattice, n_rows = self._lattice, bins.shape[1]
        tree, n = 0, (0, 0)
        while True:
            moves = self._moves
            if n_rows > 1:
                moves = moves._replace(
                    spans=moves.spans[:MOST_SPANS], movers=moves.movers[:MOST_MOVERS]
                )
            arguments = lattice, lattice.rules, bins, self._descent, moves, tree, n
            tree, n = self.call(write_moves, *arguments)
            if tree == len(lattice.roots):
                return n[0]
            # The descent stopped in the middle of the tree.
            self._descent = descent_for(self._packing, lattice, self._n_rows)
            is_most = len(self._moves.spans) >= MOST_SPANS
            if n_rows > 1 and is_most and len(self._moves.movers) >= MOST_MOVERS:
                return None
            self._double_arrays()

    def _double_arrays(self) -> None:
        """Double the spans or the movers, some sixteen of which belong to a span."""
        spans, movers = self._moves.spans, self._moves.movers
        if len(movers) >= 16 * len(spans):
            spans = np.concatenate([spans, np.empty_like(spans)])
        else:
            movers = np.concatenate([movers, np.empty_like(movers)])
        self._moves = self._moves._replace(spans=spans, movers=movers)
        self.line = _line_for(self._lattice, self._moves)

    def steps(self, moves: Moves) -> Iterator[Steps]:
        """Yield the steps of the rows of a block, some at a time.

        Each part overwrites the one before.
        """
        lattice, line, buffer, place = self._lattice, self.line, self.buffer, 0
        self.call(sort_changes, moves, line)
        while place < len(lattice.below):
            arguments = lattice, moves, line, place, buffer
            place, n_places, n = self.call(write_steps, *arguments)
            yield Steps(
                buffer.place[:n_places],
                buffer.start[: n_places + 1],
                buffer.row[:n],
                buffer.sums[:n],
            )
