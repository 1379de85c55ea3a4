r"""The expected loss of every feature over all rows that may lend it values.

Permuted at random, row *i* is given the value of *j* of any row *k* with the same
chance. If a loss is a mean over rows, its mean over all permutations is therefore one
over all pairs of rows, with :math:`\ell` the loss of a row:

.. math:: \frac{1}{\sum_i w_i} \sum_i w_i \frac1n \sum_k
   \ell\bigl(y_i, f(x_i \text{ with } x_{kj})\bigr).

Nothing is drawn. A row is asked at all values of *j* at once: `steps`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable
from ...records.execution import threads_of
from ...records.losses import (
    LOSSES,
    OF_ROWS,
    SUMS,
    Array,
    RowLosses,
    absolute_errors,
    mse,
    squared_distances,
    why_no_mean,
)
from .compiled import Loop
from .lattice import Lattice, lattice_for
from .moves import Moves
from .packing import Packing, nearby
from .steps import Walker, sort_changes, write_steps

COARSEST = 1e-10
"""What a score may miss where leaves of very different size share their digits."""
MOST_PARTS, LEAST_ROWS = 16, 1024
"""Rows are answered in so many parts at most, of so many rows at least."""
OF_ERRORS: dict[RowLosses, int] = {squared_distances: 2, absolute_errors: 1}
"""Losses that are a power of the error: `_add_powers` need not leave the loop."""


class ExactLosses(NamedTuple):
    """Losses over all pairs of rows.

    Attributes
    ----------
    raw : ndarray of shape (n_features, n_losses)
    baseline : ndarray of shape (n_losses,)
        What a feature that no tree uses measures, exactly.
    own : ndarray of shape (n_losses, n_features, n_rows)
        By loss, the mean loss of each row over the values of all rows.
    lent : ndarray of shape (n_losses, n_features, n_rows)
        The weighted mean of the losses of all rows with the value of each row.
        Of a loss that is infinite somewhere it may be NaN.
    own_baseline : ndarray of shape (n_losses, n_rows)
        The loss of each row as it is.
    """

    raw: Floats
    baseline: Floats
    own: Floats
    lent: Floats
    own_baseline: Floats


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What every part of the rows is asked.

    Attributes
    ----------
    packing : Packing
    lattice : Lattice
    unit : float
        What one is worth of the whole numbers.
    columns : int or sequence of int
        As in `exact_losses`.
    y, weights : ndarray of shape (n_rows,)
    of_rows : tuple of callable
    """

    packing: Packing
    lattice: Lattice
    unit: float
    columns: int | Sequence[int]
    y: Array
    weights: Floats
    of_rows: tuple[RowLosses, ...]

    @property
    def is_of_errors(self) -> bool:
        """Whether every loss is a power of the error of one prediction, a sum."""
        return (
            self.packing.link == "identity"
            and np.ndim(self.columns) == 0
            and all(each in OF_ERRORS for each in self.of_rows)
        )

    def losses(self, rows: Any, sums: npt.NDArray[np.int64]) -> list[Floats]:
        """Return each loss of these rows if the trees add up to these numbers."""
        predicted = self.packing.predicted(sums * self.unit)[:, self.columns]
        y = self.y[rows]
        with np.errstate(invalid="ignore"):
            return [np.asarray(each(y, predicted), float) for each in self.of_rows]


def exact_losses(
    packing: Packing,
    rows: Any,
    y: Array,
    weights: Floats,
    losses: Sequence[str],
    *,
    columns: int | Sequence[int] = 0,
    n_threads: int = 1,
) -> ExactLosses:
    """Return the mean loss over all permutations of each feature.

    RMSE is the root of the exact mean squared error, which is not quite the mean of
    roots. Sums of leaves are exact to the last bit of a double; so a class that the
    library's own rounding decides in a tie may be the other one here.

    Parameters
    ----------
    packing : Packing
    rows : array-like of shape (n_rows, n_features)
        As the ensemble reads them. All of them lend values, whatever they weigh.
    y : ndarray of shape (n_rows,)
        As `records.losses` takes it.
    weights : ndarray of shape (n_rows,)
        They stay with their row and its target.
    losses : sequence of str
        Keys of `OF_ROWS`.
    columns : int or sequence of int, default 0
        The column of a prediction, or that of each class in the order of the codes.
    n_threads : int, default 1
        No number depends on it.

    Raises
    ------
    NotApplicable
        If a loss is no mean over rows, or scores diverge, which a link of probabilities
        hides.
    """
    kinds = tuple(dict.fromkeys(map(_of_rows, losses)))
    if packing.link == "identity":  # other columns are not needed
        needed = np.atleast_1d(columns)
        packing = replace(
            packing, values=packing.values[:, needed], start=packing.start[needed]
        )
        columns = 0 if np.ndim(columns) == 0 else range(len(needed))
    lattice, n_digits = lattice_for(packing, rows)
    if packing.link != "identity" and len(packing.roots) * 2.0**-n_digits > COARSEST:
        raise NotApplicable(
            "Some leaves are so large that the others lose digits when all are added "
            'exactly. Set draws = "sampled".'
        )
    order = nearby(lattice, lattice.bins)
    question = _Question(
        packing=packing,
        lattice=lattice._replace(bins=lattice.bins.take(order, axis=1)),
        unit=2.0**-n_digits,
        columns=columns,
        y=np.asarray(y)[order],
        weights=weights[order],
        of_rows=kinds,
    )
    baseline, own, line = _answered(question, n_threads)
    back = np.argsort(order)
    baseline, own = baseline[:, back], own[:, :, back]
    question = replace(question, lattice=lattice, y=np.asarray(y), weights=weights)
    at = [kinds.index(OF_ROWS[name]) for name in losses]
    return _summarised(question, losses, baseline[at], own[at], line[at])


def _of_rows(name: str) -> RowLosses:
    """Return what a loss is the mean of."""
    if name in OF_ROWS:
        return OF_ROWS[name]
    raise NotApplicable(
        f"{why_no_mean(name, LOSSES[name].label)}, so pairs of rows do not tell its "
        'mean over all permutations. Choose another loss, or draws = "sampled".'
    )


def _answered(question: _Question, n_threads: int) -> tuple[Floats, Floats, Floats]:
    """Answer for all rows, as `_part` does for some."""
    n_rows = len(question.y)
    size = max(-(-n_rows // MOST_PARTS), LEAST_ROWS)
    ranges = [range(at, min(at + size, n_rows)) for at in range(0, n_rows, size)]
    n_threads = min(n_threads, len(ranges))
    shares = [ranges[k::n_threads] for k in range(n_threads)]
    parts: list[Any] = [None] * len(ranges)
    if n_threads == 1:
        parts = _parts(question, ranges)
    else:
        with threads_of(n_threads) as pool:
            for k, share in enumerate(pool.map(partial(_parts, question), shares)):
                parts[k::n_threads] = share
    baseline, own = (np.concatenate([p[k] for p in parts], axis=-1) for k in (0, 1))
    return baseline, own, np.sum([part[2] for part in parts], axis=0)


def _parts(question: _Question, ranges: list[range]) -> list[Any]:
    """Answer for the rows that one thread is given, part by part."""
    walker = Walker(question.packing, question.lattice)
    return [_part(question, walker, rows) for rows in ranges]


def _part(
    question: _Question, walker: Walker, rows: range
) -> tuple[Floats, Floats, Floats]:
    """Answer for some rows.

    Returns
    -------
    baseline : ndarray of shape (n_losses, n_part)
    own : ndarray of shape (n_losses, n_features, n_part)
    line : ndarray of shape (n_losses, n_places)
        How much more, from each place on the line of bins on, the weighted losses of
        the rows add up to if they are given a value that lies there.
    """
    n_losses, n_features = len(question.of_rows), question.packing.n_features
    baseline = np.empty((n_losses, len(rows)))
    own = np.empty((n_losses, n_features, len(rows)))
    line = np.zeros((n_losses, len(question.lattice.below)))
    done = 0
    for moves in walker.moves(rows):
        now = slice(done, done + moves.n_rows)
        at = slice(rows.start + now.start, rows.start + now.stop)
        done = now.stop
        as_is = np.array(question.losses(at, moves.own[:, : moves.n_rows].T))
        baseline[:, now] = as_is
        means = np.repeat(as_is[:, np.newaxis], n_features, axis=1)
        n_below = np.zeros(as_is.shape, dtype=np.int64)
        front = _Front(as_is, as_is.copy(), n_below, np.zeros(as_is.shape))
        add = _add_errors if question.is_of_errors else _add_steps
        add(question, walker, moves, at, _Block(front, means, line))
        own[:, :, now] = means
    return baseline, own, line


class _Front(NamedTuple):
    """How far the means of the rows of a block have come, from left to right.

    Attributes
    ----------
    as_is : ndarray of shape (n_losses, n_rows)
        The losses of the rows as they are.
    loss : ndarray of shape (n_losses, n_rows)
        Those on the step where a row is.
    n_below : ndarray of int64, shape (n_losses, n_rows)
        How many rows have a value below this step; 0 before the first.
    total : ndarray of shape (n_losses, n_rows)
        What the losses with the values of these rows add up to.
    """

    as_is: Floats
    loss: Floats
    n_below: npt.NDArray[np.int64]
    total: Floats


class _Block(NamedTuple):
    """What is made of a block of rows.

    Attributes
    ----------
    front : _Front
    means : ndarray of shape (n_losses, n_features, n_rows)
        The mean loss of each row over the values of a feature, once these are passed.
    line : ndarray of shape (n_losses, n_places)
        As in `_part`, of all blocks.
    """

    front: _Front
    means: Floats
    line: Floats


def _add_steps(
    question: _Question, walker: Walker, moves: Moves, at: slice, to: _Block
) -> None:
    """Put in the means over the steps of any loss, and add the steps to the line."""
    weights = question.weights[at]
    for steps in walker.steps(moves):
        rows = at.start + steps.row.astype(np.intp)
        for k, loss in enumerate(question.losses(rows, steps.sums)):
            n_places = len(steps.place)
            _add_means(question.lattice, steps, n_places, loss, weights, k, to)


def _add_errors(
    question: _Question, walker: Walker, moves: Moves, at: slice, to: _Block
) -> None:
    """Do the same for powers of errors, block by block in one loop."""
    powers = np.array([OF_ERRORS[each] for each in question.of_rows])
    asked = question.y[at].astype(np.float64), question.weights[at], powers
    scale = question.unit, question.packing.divisor
    lines = question.lattice, moves, walker.line, walker.room
    walker.call(_add_powers, *lines, asked, scale, to)


@Loop
def _add_powers(
    lattice: Any,
    moves: Any,
    line_of_block: Any,
    steps: Any,
    asked: Any,
    scale: Any,
    to: Any,
) -> None:
    """Replace the losses of rows by their means, if losses are powers of errors."""
    (y, weights, powers), (unit, divisor) = asked, scale
    loss, place = np.empty(len(steps.row)), 0
    sort_changes(moves, line_of_block)
    while place < len(lattice.below):
        place, n_places, n = write_steps(lattice, moves, line_of_block, place, steps)
        for k in range(len(powers)):
            for s in range(n):
                error = y[steps.row[s]] - steps.sums[s, 0] * unit / divisor
                loss[s] = error * error if powers[k] == 2 else abs(error)
            _add_means(lattice, steps, n_places, loss, weights, k, to)


@Loop
def _add_means(
    lattice: Any,
    steps: Any,
    n_places: int,
    losses: Floats,
    weights: Floats,
    k: int,
    to: Any,
) -> None:
    """Take one of the losses of rows on over some steps, and add these to the line.

    Where a feature ends, its means are written. Rows that weigh nothing add nothing to
    the line, be their loss infinite.
    """
    front, means, line = to.front, to.means, to.line
    as_is, before, n_all, j = front.as_is[k], front.loss[k], lattice.bins.shape[1], -1
    n_below, total = front.n_below[k], front.total[k]
    for at in range(n_places):
        place = steps.place[at]
        here, rise = lattice.below[place], line[k, place]
        for s in range(steps.start[at], steps.start[at + 1]):
            row, loss = steps.row[s], losses[s]
            if here > 0:  # no value is below, and 0 times infinity is not 0
                total[row] += (here - n_below[row]) * before[row]
            if weights[row] > 0:
                rise += weights[row] * (loss - before[row])
            before[row], n_below[row] = loss, here
        line[k, place] = rise
        if here < n_all:
            continue
        while lattice.first[j + 1] <= place:
            j += 1
        for row in range(len(weights)):
            if n_below[row] > 0:  # another row has another value
                rest = (n_all - n_below[row]) * before[row]
                means[k, j, row] = (total[row] + rest) / n_all
            before[row], n_below[row], total[row] = as_is[row], 0, 0.0


def _summarised(
    question: _Question,
    losses: Sequence[str],
    baseline: Floats,
    own: Floats,
    line: Floats,
) -> ExactLosses:
    """Return the losses of all rows, from those of each."""
    lattice, weights = question.lattice, question.weights
    weighs = weights > 0
    w = weights[weighs]
    total = w.sum()
    means = [[_mean(w, each[weighs]) for each in of] for of in own]
    as_is = [_mean(w, each[weighs]) for each in baseline]
    lent = np.empty_like(own)
    for k, of_loss in enumerate(line):
        for j, first in enumerate(lattice.first[:-1]):
            with np.errstate(invalid="ignore"):
                more = np.cumsum(of_loss[first : lattice.first[j + 1]])
            lent[k, j] = as_is[k] + more[lattice.bins[j]] / total
    finish = [partial(_loss, name, question.y, weights) for name in losses]
    return ExactLosses(
        raw=np.array(
            [[f(m) for m in of] for f, of in zip(finish, means, strict=True)]
        ).T,
        baseline=np.array([f(m) for f, m in zip(finish, as_is, strict=True)]),
        own=own,
        lent=lent,
        own_baseline=baseline,
    )


def _mean(weights: Floats, values: Floats) -> float:
    """Return a weighted mean, NaN if nothing weighs anything."""
    total = float(weights.sum())
    return float((weights * values).sum()) / total if total > 0 else float("nan")


def _loss(name: str, y: Array, weights: Floats, mean: float) -> float:
    """Return a loss that follows from the mean of what rows add to it."""
    if name == "rmse":
        return float(np.sqrt(mean))
    if name == "one_minus_r2":
        spread = mse(y, np.full(len(y), np.average(y, weights=weights)), weights)
        return mean / spread if spread > 0 else float("nan")
    return mean * float(weights.sum()) if name in SUMS else mean
