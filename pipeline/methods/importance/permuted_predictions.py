"""Predictions of unpermuted and permuted rows, by predict or by the trees.

Both give the same numbers, to the last bit, unless threads of the library add the
trees in any order; then they are those of a single thread. The trees are used if numba
is installed, the model is an ensemble that can be read, and there are enough
predictions to make. They are compared with predict first, for all unpermuted rows and
some of a draw. Otherwise predict is called once for each draw.
"""

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...models.prediction import predict_unchanged
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.execution import each, n_threads
from ..trees.fitted import NUMBERS, is_trees_alone
from ..trees.router import Router
from ..trees.routes import ROWS_OF_CALL, WORTH
from .exchange import Index
from .permutation_draws import BASELINE, TARGET, Draw, Draws

FEWEST_HELD = 2 * WORTH // ROWS_OF_CALL
"""Draws for which trees are worth reading, whatever time they take."""
HELD_SECONDS = 1.0
"""Seconds of drawing before the draws are evaluated: a time limit loses the rest."""
HELD_BYTES = 256 * 2**20
NEW_VALUES = "Values that are drawn anew lie between those the trees were read for."
MOST_COMPARED = 500
"""Rows of a draw in which the trees are compared with predict, evenly spaced."""


class _Table(NamedTuple):
    """Some rows, copied once: columns are overwritten and restored.

    `memory` maps each column of plain numbers to the array that the frame itself reads.
    """

    rows: Index
    frame: pd.DataFrame
    memory: Mapping[Hashable, npt.NDArray[Any]]
    y: npt.NDArray[Any]
    weights: Floats


def table_of(data: Dataset, rows: Index, *, is_written: bool) -> _Table:
    """Return these rows; only if they are written, their columns of numbers can be."""
    is_whole = np.array_equal(rows, np.arange(data.n_samples))
    frame = data.X if is_whole else data.X.iloc[rows]
    memory: dict[Hashable, npt.NDArray[Any]] = {}
    if is_written:
        frame = frame.copy()
        for name, dtype in frame.dtypes.items():
            if isinstance(dtype, np.dtype) and dtype.kind in NUMBERS:
                memory[name] = frame[name].to_numpy()
                # a view; pandas 3 hands it out read-only
                memory[name].flags.writeable = True
    return _Table(rows, frame, memory, data.y[rows], data.weights[rows])


def predict(model: FittedModel, table: _Table) -> Floats:
    """Return the predictions of the table in its present state.

    predict gets a shallow copy: columns that it adds or replaces, and blocks that
    pandas may merge, are then not those of the table.
    """
    return model.predict(table.frame.copy(deep=False))


def predict_with(
    model: FittedModel, table: _Table, values: Mapping[str, Any]
) -> Floats:
    """Return the predictions with new values in some columns, and restore these.

    Values that do not fit the array of their column go into a shallow copy: those of
    categories, and negative ones in a column of unsigned numbers, for example.
    """
    memory = table.memory
    if any(n not in memory or memory[n].dtype != v.dtype for n, v in values.items()):
        frame = table.frame.copy(deep=False)
        for name, column in values.items():
            frame[name] = column
        return model.predict(frame)
    originals = {name: memory[name].copy() for name in values}
    for name, column in values.items():
        memory[name][:] = column
    try:
        return predict(model, table)
    finally:  # a worker may be used again after an error
        for name, column in originals.items():
            memory[name][:] = column


def predict_some(
    model: FittedModel,
    table: _Table,
    columns: tuple[str, ...],
    order: Index,
    at: Index,
) -> Floats:
    """Return the predictions of the rows at some positions with columns reordered."""
    frame = table.frame.iloc[at].copy()
    for name in columns:
        frame[name] = table.frame[name].array[order[at]]
    return model.predict(frame)


@dataclass(frozen=True)
class Permuted:
    """The predictions of a model for draws, with a table for each thread."""

    model: FittedModel
    data: Dataset
    groups: tuple[tuple[str, ...], ...]
    tables: dict[int, _Table] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the tables out of pickles."""
        return Permuted, (self.model, self.data, self.groups)

    def __call__(self, draw: Draw) -> Floats:
        """Return the prediction of a draw."""
        table = self.tables.get(get_ident())
        if table is None or not (
            draw.rows is table.rows or np.array_equal(draw.rows, table.rows)
        ):
            table = self.tables[get_ident()] = table_of(
                self.data, draw.rows, is_written=True
            )
        columns = self.groups[draw.what]
        values = draw.values
        if not values:  # those of other rows
            own = (table.memory.get(n, table.frame[n].array) for n in columns)
            values = tuple(column[draw.order] for column in own)
        return predict_with(self.model, table, dict(zip(columns, values, strict=True)))


def _by_trees(
    router: Router,
    permuted: Permuted,
    table: _Table,
    draws: Sequence[Draw],
    *,
    n_calls: int,
    is_first: bool,
) -> Iterator[Floats] | None:
    """Return the predictions of each draw, in order; None if predict is to be used.

    `n_calls` is the number of draws of these rows so far. The first predictions are
    compared with those of predict: all unpermuted rows, and some of the first draw.
    """
    if not draws:
        return None
    reason = NEW_VALUES if draws[0].values else ""
    reading = router.reading(table.frame, n_calls, reason=reason)
    if reading is None:
        return None
    pairs = [(draw.what, draw.order) for draw in draws]
    model, groups, n_rows = permuted.model, permuted.groups, len(table.rows)
    if is_first:  # one more draw, of no column: unpermuted rows
        pairs.insert(0, (len(groups), np.arange(n_rows)))
    trees = reading.trees
    replayed = trees.replay(reading.bins, (*groups, ()), pairs, n_threads=n_threads())
    if is_first:
        unpermuted, first = next(replayed), next(replayed)
        at = np.linspace(0, n_rows - 1, min(n_rows, MOST_COMPARED)).astype(int)
        columns, order = groups[draws[0].what], draws[0].order
        for kind, ours, theirs in (
            ("as is", unpermuted, predict_unchanged(model, table.frame)),
            ("drawn", first[at], predict_some(model, table, columns, order, at)),
        ):
            if not router.accepts(reading, kind, ours, theirs, trees.rounding):
                return None
        replayed = chain([first], replayed)
    router.report(reading.basis)
    return replayed


def answers(
    model: FittedModel, data: Dataset, draws: Draws
) -> Iterator[tuple[Draw, _Table, Floats]]:
    """Yield each draw, its rows, and the predictions for them.

    Draws of the target are skipped. Baselines of the same rows are predicted once.
    """
    unpermuted, rows_unpermuted = np.empty(0), None
    groups = tuple(data.groups.values())
    router, permuted, is_first = Router(model), Permuted(model, data, groups), True
    n_held = HELD_BYTES // (16 * max(1, data.n_samples))
    is_written = not is_trees_alone(model)  # steps may write to a table
    table = table_of(data, np.arange(data.n_samples), is_written=is_written)
    n_calls = 0
    for batch in _batches(draws, max(1, n_held)):
        if batch[0].rows is not table.rows:
            table = table_of(data, batch[0].rows, is_written=is_written)
            n_calls = 0
        if is_written:
            permuted.tables[get_ident()] = table
        permutations = [draw for draw in batch if draw.what != BASELINE]
        n_calls += len(permutations)
        predictions = _by_trees(
            router, permuted, table, permutations, n_calls=n_calls, is_first=is_first
        )
        is_first = is_first and predictions is None
        if predictions is None:
            predictions = each(permuted, permutations)
        for draw in batch:
            if draw.what != BASELINE:
                yield draw, table, next(predictions)
                continue
            if draw.rows is not rows_unpermuted:
                rows_unpermuted = draw.rows
                unpermuted = predict_unchanged(model, table.frame)
            yield draw, table, unpermuted


def _batches(draws: Draws, n_held: int) -> Iterator[list[Draw]]:
    """Yield draws of the same rows in batches, smaller for new values or slow draws."""
    batch: list[Draw] = []
    n_arrays, began = 0, time.monotonic()
    for draw in draws:
        if draw.what == TARGET:
            continue
        is_other = bool(batch) and draw.rows is not batch[0].rows
        is_slow = time.monotonic() - began > HELD_SECONDS
        is_slow = is_slow and len(batch) >= FEWEST_HELD
        if batch and (is_other or is_slow or n_arrays >= 2 * n_held):
            yield batch
            batch, n_arrays, began = [], 0, time.monotonic()
        batch.append(draw)
        n_arrays += 2 + len(draw.values)  # an order, a prediction, what is drawn
    if batch:
        yield batch
