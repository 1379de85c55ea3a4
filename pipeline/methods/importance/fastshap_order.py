"""Shapley values as R's fastshap samples them, draw by draw."""

import numpy as np

from ...records.dataset_and_model import Floats
from ...records.r_rng import RStream
from ..effects.shapley_values import Bits, Game, Index

# Distributes the error by variance; the constant is fastshap's.
ADJUSTMENT = 1e6


def explain(
    game: Game,
    columns: tuple[str, ...],
    *,
    n_permutations: int,
    r: RStream,
    adjust: bool = False,
    expected: Floats | None = None,
) -> Floats:
    """Return the Shapley values of some columns, (n_explained, n_columns, n_outputs).

    Parameters
    ----------
    game : Game
        ``game.features`` are all columns that are mixed, explained or not; all rows of
        ``game.background`` have equal weight.
    columns : tuple of str
        The columns to explain.
    n_permutations : int
        fastshap's `nsim`.
    r : RStream
        R's random stream, in its state at the call.
    adjust : bool, default False
        Whether to distribute f(x) less `expected` less the sum of the values, by the
        variances of the values over the rounds. A row with equal rounds has no such
        variance: as in fastshap it is not adjusted, and is NaN if it is the only row.
    expected : ndarray of shape (n_outputs,), optional
        The mean score of the background by default.

    Raises
    ------
    ValueError
        If there is no variance over the rounds.
    """
    if adjust and n_permutations < 2:
        raise ValueError(
            "n_permutations must be at least 2 for adjust = true; 1 was given."
        )
    every = rounds(game, columns, n_permutations=n_permutations, r=r)
    values = every.mean(axis=0)
    if not adjust:
        return values
    if expected is None:
        expected = game.score(game.X.iloc[game.background]).mean(axis=0)
    score = game.score(game.X.iloc[game.explained])
    gap = score - values.sum(axis=1) - expected
    variance = every.var(axis=0)
    largest = variance.max(axis=1, keepdims=True)
    if len(score) > 1:  # for a single row fastshap computes 0 / 0
        largest = np.where(largest == 0, 1, largest)
    with np.errstate(invalid="ignore"):
        part = ADJUSTMENT * variance / largest
    return values + gap[:, np.newaxis] * part / (1 + part.sum(axis=1, keepdims=True))


def rounds(
    game: Game, columns: tuple[str, ...], *, n_permutations: int, r: RStream
) -> Floats:
    """Return the values by round, (n_permutations, n_explained, n_columns, n_outputs).

    As in fastshap, a single row is scored `n_permutations` times in one round.
    """
    n, rows, n_rounds = len(game.explained), game.explained, n_permutations
    if n == 1:
        rows, n_rounds = rows.repeat(n_permutations), 1
    contributions = []
    for name in columns:
        own = [_difference(game, name, rows, r) for _ in range(n_rounds)]
        contributions.append(np.reshape(own, (n_permutations, n, -1)))
    return np.stack(contributions, axis=2)


def _difference(game: Game, name: str, rows: Index, r: RStream) -> Floats:
    """Return the gain of the score by one column in one round, (n_rows, n_outputs)."""
    n, n_columns, column = len(rows), len(game.features), game.features.index(name)
    size = len(game.background)
    others = game.background[r.sample(size, n, replace=True)]
    before = _coalitions(size, n_columns, r)[r.sample(size, n, replace=True)]
    own = np.insert(before, column, True, axis=1)
    with_it = game.score_coalitions(own, rows, others)
    own[:, column] = False
    return with_it - game.score_coalitions(own, rows, others)


def _coalitions(n: int, n_columns: int, r: RStream) -> Bits:
    """Return a mask of the other columns that precede one, (n, n_columns - 1).

    Their number is uniform from none to all; they are drawn without replacement. Rcpp's
    sampling truncates a uniform number to an index, without rejection.
    """
    others = n_columns - 1
    how_many = (n_columns * r.runif(n)).astype(np.intp)
    before = np.zeros((n, others), dtype=bool)
    before[how_many == others] = True
    rows = np.flatnonzero((how_many > 0) & (how_many < others))
    count = how_many[rows]
    uniform, start = r.runif(int(count.sum())), np.cumsum(count) - count
    left = np.tile(np.arange(others), (len(rows), 1))
    for at in range(int(count.max(initial=0))):
        on = np.flatnonzero(count > at)
        size = others - at
        place = (size * uniform[start[on] + at]).astype(np.intp)
        before[rows[on], left[on, place]] = True
        left[on, place] = left[on, size - 1]
    return before
