"""Losses of a model that knows only some columns of each row.

The columns of a coalition of players keep their values; a sampler draws those of all
others, several times for each row, and predictions are averaged over these draws before
any loss is computed. `sage` chooses the players and computes importances.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.execution import each
from ...records.losses import evaluate
from ...records.streams import stream
from .permuted_predictions import predict, table_of
from .refits import Unit, columns_of

Index: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = Mapping[str, Any]
"""By column, (n_rows * n_draws,): the draws of a row are consecutive."""
Sampler: TypeAlias = Callable[[Unit, Index, Any], Values]
"""``sampler(known, rows, generator)``: values of the columns that are not `known`."""

MAX_BYTES = 2**22
"""Bytes of rows in one call: enough to make its fixed cost small, few for a cache."""
AT_ONCE = 32
"""Coalitions that a worker gets at a time: their common parts are prepared once."""


@dataclass(frozen=True)
class RowSampler:
    """A `Sampler` that gives every row the values of the same reference rows.

    Attributes
    ----------
    values : mapping of str to array
        By column, (n_draws,).
    """

    values: Values

    def __call__(self, known: Unit, rows: Index, generator: Any) -> Values:
        """Return the reference rows once for each row, whatever columns are known."""
        n_draws = len(next(iter(self.values.values())))
        place = np.tile(np.arange(n_draws), len(rows))
        rest = (name for name in self.values if name not in known)
        return {name: self.values[name].take(place) for name in rest}


@dataclass(frozen=True)
class Coalitions:
    """Coalitions of known columns, and the sampler of the other columns.

    A coalition is a number: player *k* is in it if its *k*-th binary digit is 1.

    Attributes
    ----------
    model : FittedModel
    rows : Dataset
        The rows that losses are measured on, with the columns that `model` reads.
    players : tuple of tuple of str
        The columns of each player; together all columns that `model` reads.
    sampler : callable
    shares : ndarray of shape (n_draws,)
        The weight of each draw of a row; they sum to one.
    seed : int
        Selects the streams of the draws, one for each set of known columns.
    """

    model: FittedModel
    rows: Dataset
    players: tuple[Unit, ...]
    sampler: Sampler
    shares: Floats
    seed: int

    @property
    def everyone(self) -> int:
        """The coalition of all players."""
        return 2 ** len(self.players) - 1

    @property
    def is_marginal(self) -> bool:
        """Whether draws do not depend on the known columns."""
        return isinstance(self.sampler, RowSampler)

    def losses(self, coalitions: Sequence[int]) -> Iterator[Floats]:
        """Yield the losses of each coalition, (n_losses,)."""
        places = range(0, len(coalitions), AT_ONCE)
        parts = [coalitions[at : at + AT_ONCE] for at in places]
        return chain.from_iterable(each(partial(losses_of, self), parts))

    def n_predictions(self, coalition: int) -> int:
        """Return the number of rows that are predicted for a coalition."""
        n_draws = 1 if coalition == self.everyone else len(self.shares)
        return self.rows.n_samples * n_draws


def losses_of(
    game: Coalitions, coalitions: Sequence[int], generator: Any = None
) -> list[Floats]:
    """Return the losses of each coalition, (n_losses,).

    Parameters
    ----------
    game : Coalitions
    coalitions : sequence of int
        Neighbours that differ in few columns take less time.
    generator : Generator or RStream, optional
        The generator of all draws, coalition by coalition, all rows at once. By
        default each coalition has a stream of its own.
    """
    model, rows, n_draws = game.model, game.rows, len(game.shares)
    known = [
        columns_of(model, [unit for k, unit in enumerate(game.players) if of >> k & 1])
        for of in coalitions
    ]
    generators = [generator] * len(known)
    if generator is None and not game.is_marginal:
        generators = [stream(game.seed, "values", "|".join(c), 0) for c in known]
    means = np.empty((len(known), rows.n_samples, len(model.outputs)))
    n_at_once = rows.n_samples
    if generator is None:
        n_bytes = int(rows.X.memory_usage(index=False).sum()) * n_draws
        n_at_once = max(1, MAX_BYTES * rows.n_samples // max(1, n_bytes))
    for start in range(0, rows.n_samples, n_at_once):
        at = np.arange(start, min(start + n_at_once, rows.n_samples))
        table = _Table(game, at)
        for place, columns in enumerate(known):
            if coalitions[place] != game.everyone:
                scores = table.predict(columns, generators[place])
                of_rows = scores.reshape(len(at), n_draws, -1)
                means[place, at] = np.einsum("ijk,j->ik", of_rows, game.shares)
    losses = []
    for place, coalition in enumerate(coalitions):
        prediction = means[place] if model.task == "multiclass" else means[place, :, 0]
        if coalition == game.everyone:
            prediction = model.predict(rows.X)
        losses.append(evaluate(model.losses, rows.y, prediction, rows.weights))
    return losses


class _Table:
    """Some rows, each repeated for its draws; columns are overwritten in place."""

    def __init__(self, game: Coalitions, rows: Index) -> None:
        self._game, self._rows = game, rows
        self._table = table_of(
            game.rows, rows.repeat(len(game.shares)), is_written=True
        )
        self._has_own = dict.fromkeys(self._table.frame, True)
        self._drawn = game.sampler((), rows, None) if game.is_marginal else {}

    def predict(self, known: Unit, generator: Any) -> Floats:
        """Return the prediction with all columns drawn except the known ones."""
        drawn = self._drawn or self._game.sampler(known, self._rows, generator)
        for name, has_own in self._has_own.items():
            is_known = name in known
            if has_own == is_known and (is_known or self._drawn):
                continue  # it has these values already
            if is_known:
                place = self._rows.repeat(len(self._game.shares))
                values = self._game.rows.X[name].array.take(place)
            else:
                values = drawn[name]
            if name in self._table.memory:
                self._table.memory[name][:] = values
            else:
                self._table.frame[name] = values
            self._has_own[name] = is_known
        return predict(self._game.model, self._table)


def row_sampler(data: Dataset, columns: Unit, rows: Index) -> RowSampler:
    """Return the sampler of some reference rows."""
    return RowSampler({name: data.X[name].array.take(rows) for name in columns})


def rows_for_model(model: FittedModel, data: Dataset, rows: Index) -> Dataset:
    """Return some rows with the columns that a model reads."""
    X = data.X[list(model.features)].iloc[rows].reset_index(drop=True)
    return replace(data, X=X, y=data.y[rows], weights=data.weights[rows])


def widened(rows: Dataset) -> Dataset:
    """Return rows with integers of 64 bits, as drawn values may not fit fewer."""
    kinds = {name: getattr(rows.X[name].dtype, "kind", "") for name in rows.X}
    types = {name: np.int64 for name, kind in kinds.items() if kind in ("i", "u")}
    return replace(rows, X=rows.X.astype(types))
