"""Predictions of rows moved to both ends of their interval, from a model's trees.

At an end, a row has the value of another row, so the trees replay the moves as they
replay permutations, all features in one walk. The predictions equal those of predict to
the last bit, unless threads of the library add the trees in any order. Trees are used
if numba is installed, the model is an ensemble that can be read, and there are enough
predictions to make; those of the first feature are compared with predict.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import DataError, ModelError, NotApplicable
from ...records.execution import n_threads
from ..trees.packing import Integers
from ..trees.router import REFUSED, Reading, Router

Index = npt.NDArray[np.int64]

NO_ROW = "A point of its grid is the value of no row."


class Moves(NamedTuple):
    """The rows that are moved, and the intervals of the grid they are moved over.

    Attributes
    ----------
    points : ndarray of shape (n_grid,)
        The grid, as values that the column can hold.
    row, interval : ndarray of shape (n_moves,)
        The row is predicted at ``points[interval]`` and at ``points[interval + 1]``.
    """

    points: npt.NDArray[Any]
    row: Index
    interval: Index


class Question(NamedTuple):
    """A curve to compute for every feature.

    Attributes
    ----------
    options : hashable
        Distinguishes it from other curves of the same model and rows.
    moves_of : callable
        Returns the moves of a feature, or raises `NotApplicable`.
    predict : callable
        Returns the predictions of predict at both ends, given a feature and its moves.
    change : callable
        Returns the change that the curve needs, given moves and predictions at ends.
    """

    options: Hashable
    moves_of: Callable[[str], Moves]
    predict: Callable[[str, Moves], tuple[Floats, Floats]]
    change: Callable[[Moves, Floats, Floats], Floats]


def change_by_trees(
    model: FittedModel, data: Dataset, feature: str, question: Question
) -> Floats | None:
    """Return the change of a feature; None if predict is to be used."""
    router = Router(model)
    reading = router.reading(data.X, 2 * len(data.features))
    if reading is None:
        return None
    key = ref(data), question.options
    if key not in reading.kept:
        try:
            changes = _changes(router, reading, data, question)
        except (DataError, ModelError):  # a moved row is refused
            router.report("unread", REFUSED)
            return None
        if changes is None:
            return None
        reading.kept[key] = changes
    if feature not in reading.kept[key]:
        router.report("unread", NO_ROW)
        return None
    change: Floats | None = reading.kept[key][feature]
    if change is not None:
        router.report(reading.basis)
    return change


def _changes(
    router: Router, reading: Reading, data: Dataset, question: Question
) -> dict[str, Floats | None] | None:
    """Return the changes of all features by the trees; None if predict differs.

    A feature whose change is refused has None; predict then refuses it again.
    """
    by_feature: dict[str, Floats | None] = {}
    for feature, moves, *ends in _walked(reading, data, question):
        if not by_feature:
            ours, theirs = np.stack(ends), np.stack(question.predict(feature, moves))
            rounding = reading.trees.rounding
            if not router.accepts(reading, "moved", ours, theirs, rounding):
                return None
        try:
            by_feature[feature] = question.change(moves, *ends)
        except NotApplicable:
            by_feature[feature] = None
    return by_feature


def _walked(
    reading: Reading, data: Dataset, question: Question
) -> Iterator[tuple[str, Moves, Floats, Floats]]:
    """Yield the features that have moves, their moves and predictions at both ends."""
    waiting: deque[tuple[str, Moves, list[Index]]] = deque()

    def draws() -> Iterator[tuple[int, Integers]]:
        for what, feature in enumerate(data.features):
            try:
                moves = question.moves_of(feature)
            except NotApplicable:
                continue
            lenders = _rows_with(data.X[feature], moves)
            if lenders is None:
                continue
            again = pd.Series(moves.row).duplicated().to_numpy()
            parts = [np.flatnonzero(~again), np.flatnonzero(again)]
            waiting.append((feature, moves, [part for part in parts if len(part)]))
            for part in waiting[-1][2]:
                for end in (0, 1):
                    order = np.arange(data.n_samples, dtype=np.int32)
                    order[moves.row[part]] = lenders[moves.interval[part] + end]
                    yield what, order

    groups = [(feature,) for feature in data.features]
    ends: list[Floats] = []
    trees = reading.trees
    for end in trees.replay(reading.bins, groups, draws(), n_threads=n_threads()):
        ends.append(end)
        feature, moves, parts = waiting[0]
        if len(ends) == 2 * len(parts):
            low, high = (np.empty((len(moves.row), *end.shape[1:])) for _ in "lh")
            for at, part in enumerate(parts):
                low[part] = ends[2 * at][moves.row[part]]
                high[part] = ends[2 * at + 1][moves.row[part]]
            yield feature, moves, low, high
            waiting.popleft()
            ends = []


def _rows_with(column: pd.Series, moves: Moves) -> Index | None:
    """Return a row for each point that has its value; None if no row has some point."""
    rows = np.unique(moves.row)
    moved = column.iloc[rows]
    if moves.points.dtype != object:
        moved = moved.astype(moves.points.dtype)  # otherwise no number equals True
    codes, values = pd.factorize(moved)
    place = pd.Index(values).get_indexer(pd.Index(moves.points))
    first = rows[np.unique(codes, return_index=True)[1]]
    return None if (place < 0).any() else first[place]
