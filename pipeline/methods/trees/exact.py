r"""The exact mean loss over all permutations of each feature.

In a random permutation, row *i* gets the value of *j* of any row *k* with the same
probability. If a loss is a mean over rows, its mean over all permutations is therefore
a mean over all pairs of rows, with :math:`\ell` the loss of a row:

.. math:: \frac{1}{\sum_i w_i} \sum_i w_i \frac1n \sum_k
   \ell\bigl(y_i, f(x_i \text{ with } x_{kj})\bigr).

Nothing is drawn. A row is evaluated at all values of *j* at once; see `steps`.
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
from .packing import Integers, Packing, nearby
from .steps import Walker, sort_changes, write_steps

COARSEST = 1e-10
"""Largest error of a score if leaves of very different size share its digits."""
MOST_PARTS, LEAST_ROWS = 16, 1024
"""Rows are divided into at most so many parts, of at least so many rows."""
OF_ERRORS: dict[RowLosses, int] = {squared_distances: 2, absolute_errors: 1}
"""Losses that are a power of the error, which `_add_powers` computes in its loop."""


class ExactLosses(NamedTuple):
    """Losses over all pairs of rows.

    Attributes
    ----------
    raw : ndarray of shape (n_features, n_losses)
    baseline : ndarray of shape (n_losses,)
        The loss without permutation, which features that no tree uses have exactly.
    own : ndarray of shape (n_losses, n_features, n_rows)
        By loss, the mean loss of each row over the values of all rows.
    lent : ndarray of shape (n_losses, n_features, n_rows)
        The weighted mean loss of all rows if they get the value of this row. It may
        be NaN if a loss is infinite somewhere.
    own_baseline : ndarray of shape (n_losses, n_rows)
        The loss of each unpermuted row.
    """

    raw: Floats
    baseline: Floats
    own: Floats
    lent: Floats
    own_baseline: Floats


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """The inputs that all parts of the rows share.

    Attributes
    ----------
    packing : Packing
    lattice : Lattice
    unit : float
        The value of 1 in the whole numbers of the lattice.
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
        """Whether every loss is a power of the error of a prediction that is a sum."""
        return (
            self.packing.link == "identity"
            and np.ndim(self.columns) == 0
            and all(each in OF_ERRORS for each in self.of_rows)
        )

    def losses(self, rows: Any, sums: npt.NDArray[np.int64]) -> list[Floats]:
        """Return each loss of these rows, given their sums as whole numbers."""
        predicted = self.packing.predicted(sums * self.unit)[:, self.columns]
        y = self.y[rows]
        with np.errstate(invalid="ignore"):
            return [np.asarray(each(y, predicted), float) for each in self.of_rows]


def exact_losses(
    packing: Packing,
    bins: Integers,
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
    library decides by rounding in a tie can differ here.

    Parameters
    ----------
    packing : Packing
    bins : ndarray of shape (n_features, n_rows)
        ``packing.bins`` of the rows, which all provide values, whatever their weight.
    y : ndarray of shape (n_rows,)
        As `records.losses` takes it.
    weights : ndarray of shape (n_rows,)
        They stay with their row and its target in every permutation.
    losses : sequence of str
        Keys of `OF_ROWS`.
    columns : int or sequence of int, default 0
        The column of a prediction, or that of each class in the order of the codes.
    n_threads : int, default 1
        No number depends on it.

    Raises
    ------
    NotApplicable
        If a loss is not a mean over rows, or if scores behind a link of probabilities
        are so large that sums lose digits.
    """
    kinds = tuple(dict.fromkeys(map(_of_rows, losses)))
    if packing.link == "identity":  # other columns are not needed
        needed = np.atleast_1d(columns)
        packing = replace(
            packing, values=packing.values[:, needed], start=packing.start[needed]
        )
        columns = 0 if np.ndim(columns) == 0 else range(len(needed))
    lattice, n_digits = lattice_for(packing, bins)
    if packing.link != "identity" and len(packing.roots) * 2.0**-n_digits > COARSEST:
        raise NotApplicable(
            "Some leaves are so large that the others lose digits when all are added "
            'exactly. Set draws = "sampled".'
        )
    order = nearby(lattice, lattice.bins)
    inputs = _Inputs(
        packing=packing,
        lattice=lattice._replace(bins=lattice.bins.take(order, axis=1)),
        unit=2.0**-n_digits,
        columns=columns,
        y=np.asarray(y)[order],
        weights=weights[order],
        of_rows=kinds,
    )
    baseline, own, line = _losses_of_all(inputs, n_threads)
    back = np.argsort(order)
    baseline, own = baseline[:, back], own[:, :, back]
    inputs = replace(inputs, lattice=lattice, y=np.asarray(y), weights=weights)
    at = [kinds.index(OF_ROWS[name]) for name in losses]
    return _summarised(inputs, losses, baseline[at], own[at], line[at])


def _of_rows(name: str) -> RowLosses:
    """Return the row losses of which a loss is the mean."""
    if name in OF_ROWS:
        return OF_ROWS[name]
    raise NotApplicable(
        f"{why_no_mean(name, LOSSES[name].label)}, so pairs of rows do not tell its "
        'mean over all permutations. Choose another loss, or draws = "sampled".'
    )


def _losses_of_all(inputs: _Inputs, n_threads: int) -> tuple[Floats, Floats, Floats]:
    """Return the results of `_losses_of_rows` for all rows."""
    n_rows = len(inputs.y)
    size = max(-(-n_rows // MOST_PARTS), LEAST_ROWS)
    ranges = [range(at, min(at + size, n_rows)) for at in range(0, n_rows, size)]
    n_threads = min(n_threads, len(ranges))
    shares = [ranges[k::n_threads] for k in range(n_threads)]
    parts: list[Any] = [None] * len(ranges)
    if n_threads == 1:
        parts = _losses_of_ranges(inputs, ranges)
    else:
        with threads_of(n_threads) as pool:
            for k, share in enumerate(
                pool.map(partial(_losses_of_ranges, inputs), shares)
            ):
                parts[k::n_threads] = share
    baseline, own = (np.concatenate([p[k] for p in parts], axis=-1) for k in (0, 1))
    return baseline, own, np.sum([part[2] for part in parts], axis=0)


def _losses_of_ranges(inputs: _Inputs, ranges: list[range]) -> list[Any]:
    """Return the results of `_losses_of_rows` for each range, of one thread."""
    walker = Walker(inputs.packing, inputs.lattice)
    return [_losses_of_rows(inputs, walker, rows) for rows in ranges]


def _losses_of_rows(
    inputs: _Inputs, walker: Walker, rows: range
) -> tuple[Floats, Floats, Floats]:
    """Return the losses of some rows.

    Returns
    -------
    baseline : ndarray of shape (n_losses, n_part)
    own : ndarray of shape (n_losses, n_features, n_part)
    line : ndarray of shape (n_losses, n_places)
        Change, at each place on the line of bins, of the sum of the weighted losses of
        the rows, as a function of the value that they are given.
    """
    n_losses, n_features = len(inputs.of_rows), inputs.packing.n_features
    baseline = np.empty((n_losses, len(rows)))
    own = np.empty((n_losses, n_features, len(rows)))
    line = np.zeros((n_losses, len(inputs.lattice.below)))
    done = 0
    for moves in walker.moves(rows):
        now = slice(done, done + moves.n_rows)
        at = slice(rows.start + now.start, rows.start + now.stop)
        done = now.stop
        unchanged = np.array(inputs.losses(at, moves.own[:, : moves.n_rows].T))
        baseline[:, now] = unchanged
        means = np.repeat(unchanged[:, np.newaxis], n_features, axis=1)
        n_below = np.zeros(unchanged.shape, dtype=np.int64)
        running = _RunningMeans(
            unchanged, unchanged.copy(), n_below, np.zeros(unchanged.shape)
        )
        add = _add_errors if inputs.is_of_errors else _add_steps
        add(inputs, walker, moves, at, _Block(running, means, line))
        own[:, :, now] = means
    return baseline, own, line


class _RunningMeans(NamedTuple):
    """Running means of the losses of a block of rows, from left to right.

    Attributes
    ----------
    unchanged : ndarray of shape (n_losses, n_rows)
        The losses of the unpermuted rows.
    loss : ndarray of shape (n_losses, n_rows)
        The losses on the current step of each row.
    n_below : ndarray of int64, shape (n_losses, n_rows)
        Number of rows with a value below this step; 0 before the first.
    total : ndarray of shape (n_losses, n_rows)
        The sum of the losses with the values of these rows.
    """

    unchanged: Floats
    loss: Floats
    n_below: npt.NDArray[np.int64]
    total: Floats


class _Block(NamedTuple):
    """Results for a block of rows.

    Attributes
    ----------
    running : _RunningMeans
    means : ndarray of shape (n_losses, n_features, n_rows)
        The mean loss of each row over the values of a feature, once it is complete.
    line : ndarray of shape (n_losses, n_places)
        As in `_losses_of_rows`, of all blocks.
    """

    running: _RunningMeans
    means: Floats
    line: Floats


def _add_steps(
    inputs: _Inputs, walker: Walker, moves: Moves, at: slice, to: _Block
) -> None:
    """Add the steps of any losses to the means and to the line."""
    weights = inputs.weights[at]
    for steps in walker.steps(moves):
        rows = at.start + steps.row.astype(np.intp)
        for k, loss in enumerate(inputs.losses(rows, steps.sums)):
            n_places = len(steps.place)
            _add_means(inputs.lattice, steps, n_places, loss, weights, k, to)


def _add_errors(
    inputs: _Inputs, walker: Walker, moves: Moves, at: slice, to: _Block
) -> None:
    """Do the same as `_add_steps` for powers of errors, in one loop per block."""
    powers = np.array([OF_ERRORS[each] for each in inputs.of_rows])
    row_data = inputs.y[at].astype(np.float64), inputs.weights[at], powers
    scale = inputs.unit, inputs.packing.divisor
    lines = inputs.lattice, moves, walker.line, walker.buffer
    walker.call(_add_powers, *lines, row_data, scale, to)


@Loop
def _add_powers(
    lattice: Any,
    moves: Any,
    line_of_block: Any,
    steps: Any,
    row_data: Any,
    scale: Any,
    to: Any,
) -> None:
    """Add the steps of losses that are powers of errors to the means and the line."""
    (y, weights, powers), (unit, divisor) = row_data, scale
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
    """Update the running means of one loss by some steps, and add these to the line.

    The means of a feature are written at its end. Rows of weight 0 add nothing to the
    line, even if their loss is infinite.
    """
    running, means, line = to.running, to.means, to.line
    unchanged, before = running.unchanged[k], running.loss[k]
    n_below, total = running.n_below[k], running.total[k]
    n_all, j = lattice.bins.shape[1], -1
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
            before[row], n_below[row], total[row] = unchanged[row], 0, 0.0


def _summarised(
    inputs: _Inputs,
    losses: Sequence[str],
    baseline: Floats,
    own: Floats,
    line: Floats,
) -> ExactLosses:
    """Return the results for all rows, from those of each row."""
    lattice, weights = inputs.lattice, inputs.weights
    weighs = weights > 0
    w = weights[weighs]
    total = w.sum()
    means = [[_mean(w, each[weighs]) for each in of] for of in own]
    unchanged = [_mean(w, each[weighs]) for each in baseline]
    lent = np.empty_like(own)
    for k, of_loss in enumerate(line):
        for j, first in enumerate(lattice.first[:-1]):
            with np.errstate(invalid="ignore"):
                more = np.cumsum(of_loss[first : lattice.first[j + 1]])
            lent[k, j] = unchanged[k] + more[lattice.bins[j]] / total
    finish = [partial(_loss, name, inputs.y, weights) for name in losses]
    return ExactLosses(
        raw=np.array(
            [[f(m) for m in of] for f, of in zip(finish, means, strict=True)]
        ).T,
        baseline=np.array([f(m) for f, m in zip(finish, unchanged, strict=True)]),
        own=own,
        lent=lent,
        own_baseline=baseline,
    )


def _mean(weights: Floats, values: Floats) -> float:
    """Return a weighted mean, NaN if all weights are 0."""
    total = float(weights.sum())
    return float((weights * values).sum()) / total if total > 0 else float("nan")


def _loss(name: str, y: Array, weights: Floats, mean: float) -> float:
    """Return a loss, given the mean of its row losses."""
    if name == "rmse":
        return float(np.sqrt(mean))
    if name == "one_minus_r2":
        spread = mse(y, np.full(len(y), np.average(y, weights=weights)), weights)
        return mean / spread if spread > 0 else float("nan")
    return mean * float(weights.sum()) if name in SUMS else mean
