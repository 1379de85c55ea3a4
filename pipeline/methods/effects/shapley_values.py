"""Shapley values of predictions, row by row.

The players are the columns a model reads, some of them perhaps joined into one. In a
coalition a row keeps the values of its players and takes the others from a row of the
background. `importance.shapley` turns the values into importances.
"""

from collections.abc import Callable, Iterator
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import FittedModel, Floats
from ...records.errors import NotApplicable, quote
from .partial_dependence import SCALES, Scale, check_scale

Score: TypeAlias = Callable[[pd.DataFrame], Floats]
Index: TypeAlias = npt.NDArray[np.intp]
Bits: TypeAlias = npt.NDArray[np.bool_]

# Bytes of mixed rows per call: enough to make the fixed cost of a call small, and few
# enough for a processor's cache.
MAX_BYTES = 2**22
MOST_PLAYERS = 12


class Game(NamedTuple):
    """A score of mixed rows, and the rows that are mixed.

    Attributes
    ----------
    score : callable
        ``score(X) -> (n_samples, n_outputs)``.
    X : DataFrame
        The rows that both explained and background rows are taken from.
    features : tuple of str
        The columns that are mixed.
    explained : ndarray of shape (n_explained,)
        Positions in `X`.
    background : ndarray of shape (n_background,)
        Positions in `X`.
    shares : ndarray of shape (n_background,)
        Weights of the background, which sum to one.
    n_outputs : int
    """

    score: Score
    X: pd.DataFrame
    features: tuple[str, ...]
    explained: Index
    background: Index
    shares: Floats
    n_outputs: int

    def score_coalitions(self, own: Bits, rows: Index, others: Index) -> Floats:
        """Return the score of rows with some values of others, (n_rows, n_outputs).

        `own` is (n_rows, n_features): whether a row keeps its own value.
        """
        place = np.where(own, rows[:, np.newaxis], others[:, np.newaxis])
        columns = {
            name: self.X[name].array.take(place[:, k])
            for k, name in enumerate(self.features)
        }
        return self.score(pd.DataFrame(columns))

    def batches(self, n_questions: int, rows_each: int) -> Iterator[slice]:
        """Yield slices of questions that are scored in one call."""
        each = self.X[list(self.features)].memory_usage(index=False).sum()
        per_row = max(1, int(each) // max(1, len(self.X)))
        size = max(1, MAX_BYTES // (per_row * rows_each))
        for start in range(0, n_questions, size):
            yield slice(start, min(start + size, n_questions))


def score_of(model: FittedModel, scale: Scale) -> Score:
    """Return the function ``X -> (n_samples, n_outputs)`` of a model on a scale.

    Raises
    ------
    NotApplicable
        If the model has no such scale; see `effects.partial_dependence`.
    """
    check_scale(model, scale)

    def score(X: pd.DataFrame) -> Floats:
        return SCALES[scale](model, model.predict(X)).reshape(len(X), -1)

    return score


def check_players(
    model: FittedModel, n_players: int, purpose: str, remedy: str
) -> None:
    """Refuse a model with too many players for all coalitions to be scored."""
    if n_players > MOST_PLAYERS:
        raise NotApplicable(
            f"Model {quote(model.name)} must read at most {MOST_PLAYERS} features or "
            f"groups for {purpose}, which take every subset of them; it reads "
            f"{n_players}. {remedy}"
        )


def sample_orders(
    game: Game, owner: Index, *, n_permutations: int, generator: np.random.Generator
) -> Floats:
    """Return estimates from random orders, (n_explained, n_players, n_outputs).

    Every row draws an order of the players and a row of the background. The values of
    the background row are replaced by those of the row in that order; a player's
    estimate is the change of the score at its turn. So the estimates of one order add
    up to the score of the row less that of the background row. `owner` is the player of
    each feature.
    """
    n, n_players = len(game.explained), int(owner.max()) + 1
    row = np.arange(n)
    total = np.zeros((n, n_players, game.n_outputs))
    for _ in range(n_permutations):
        turn = generator.random((n, n_players)).argsort(axis=1).argsort(axis=1)
        others = generator.choice(game.background, n, p=game.shares)
        scores = []
        for batch in game.batches(n_players + 1, n):
            step = np.arange(n_players + 1)[batch].repeat(n)
            many = len(step) // n
            own = np.tile(turn[:, owner], (many, 1)) < step[:, np.newaxis]
            score = game.score_coalitions(
                own, np.tile(game.explained, many), np.tile(others, many)
            )
            scores.append(score.reshape(many, n, -1))
        gains = np.diff(np.concatenate(scores), axis=0)
        total += gains[turn, row[:, np.newaxis]]
    return total / n_permutations


def enumerate_coalitions(game: Game, owner: Index) -> Floats:
    """Return the values over all coalitions, (n_explained, n_players, n_outputs).

    With q players, a coalition of s of them enters the value of each with the weight
    ``1 / (q comb(q - 1, s - 1))`` if it is a member, ``-1 / (q comb(q - 1, s))`` if
    not: the mean over all orders. It scores 2^q n_explained n_background rows.
    """
    n, q, size = len(game.explained), int(owner.max()) + 1, len(game.background)
    member = (np.arange(2**q)[:, np.newaxis] >> np.arange(q) & 1).astype(bool)
    joins = np.array([1 / (q * comb(q - 1, s)) for s in range(q)])
    s = member.sum(axis=1)[:, np.newaxis]
    weight = np.where(member, joins[s - 1], -joins[np.minimum(s, q - 1)])

    values = np.zeros((n, q, game.n_outputs))
    for batch in game.batches(2**q * n, size):
        coalition, row = np.divmod(np.arange(2**q * n)[batch], n)
        own = member[coalition][:, owner].repeat(size, axis=0)
        rows = game.explained[row].repeat(size)
        score = game.score_coalitions(own, rows, np.tile(game.background, len(row)))
        worth = game.shares @ score.reshape(len(row), size, -1)
        contributions = weight[coalition][:, :, np.newaxis] * worth[:, np.newaxis]
        np.add.at(values, row, contributions)
    return values
