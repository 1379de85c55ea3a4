"""Rows moved to the ends of the interval they lie in, predicted by a model's trees.

There a row has a value of another row, so that the trees answer as they replay
permutations, all features in one walk: what predict gives, to the last bit, unless
threads of the library add the trees in any order. They answer where numba is there, the
model is an ensemble that can be read, and enough is asked; the first feature that is
moved is compared with predict.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import DataError, ModelError, NotApplicable
from ...records.execution import n_threads
from ..trees import compiled
from ..trees.fitted import NO_BINS, Trees, not_of_trees, report_difference, trees_of
from ..trees.packing import Integers
from ..trees.replay import reason_against
from ..trees.routes import Route, is_worth_reading, report_route

Index = npt.NDArray[np.int64]

MOST_ASKED = 64
"""Rows that predict is asked about to see that the estimator is still the same."""
REFUSED = "It does not predict every row."
NO_ROW = "A point of its grid is the value of no row."


class Moves(NamedTuple):
    """Which rows are moved over which interval of the grid.

    Attributes
    ----------
    points : ndarray of shape (n_grid,)
        The grid, as values that the column can hold.
    row, interval : ndarray of shape (n_moves,)
        The row is asked at ``points[interval]`` and at ``points[interval + 1]``.
    """

    points: npt.NDArray[Any]
    row: Index
    interval: Index


class Question(NamedTuple):
    """What is asked of every feature.

    Attributes
    ----------
    options : hashable
        What tells it from others about the same model and rows.
    moves_of : callable
        Returns the moves of a feature, or raises `NotApplicable`.
    predict : callable
        Returns what predict gives at both ends of moves, by feature and moves.
    change : callable
        Returns what is kept of these predictions, by moves and both ends.
    """

    options: Hashable
    moves_of: Callable[[str], Moves]
    predict: Callable[[str, Moves], tuple[Floats, Floats]]
    change: Callable[[Moves, Floats, Floats], Floats]


class _Changes(NamedTuple):
    """What the trees gave, and what predict gave then for the first rows.

    None of a feature whose change was refused: predict is asked, and refused again.
    """

    by_feature: Mapping[str, Floats | None]
    first: Floats
    rounding: float


_Answer: TypeAlias = _Changes | Route
_known: WeakKeyDictionary[
    FittedModel, WeakKeyDictionary[Dataset, dict[Hashable, _Answer]]
] = WeakKeyDictionary()


def change_by_trees(
    model: FittedModel, data: Dataset, feature: str, question: Question
) -> Floats | None:
    """Return the change of a feature; None if predict is to answer."""
    answer = _changes_or_route(model, data, question)
    if isinstance(answer, Route):
        report_route(model, answer.basis, answer.reason)
        return None
    if feature not in answer.by_feature:
        report_route(model, "unread", NO_ROW)
        return None
    change = answer.by_feature[feature]
    if change is not None:
        report_route(model, "rounding" if answer.rounding else "identical")
    return change


def _changes_or_route(model: FittedModel, data: Dataset, question: Question) -> _Answer:
    """Return the changes of all features, or why predict is to answer."""
    if reason := not_of_trees(model):
        return Route(model.name, "unread", reason)
    if not is_worth_reading(2 * len(data.features), data.n_samples):
        return Route(model.name, "few")
    by_options = _known.setdefault(model, WeakKeyDictionary()).setdefault(data, {})
    known = by_options.get(question.options)
    if isinstance(known, Route):
        return known
    try:
        first = model.predict(data.X.iloc[:MOST_ASKED])
        if known is None or (np.abs(known.first - first) > known.rounding).any():
            by_options[question.options] = _read(model, data, question, first)
    except (DataError, ModelError):  # it may be a row that is not moved
        return Route(model.name, "unread", REFUSED)
    return by_options[question.options]


def _read(
    model: FittedModel, data: Dataset, question: Question, first: Floats
) -> _Answer:
    """Return what the trees of a model say of all features, if they can be read."""
    if not compiled.available():
        return Route(model.name, "no_numba")
    trees = trees_of(model, data.X)
    if isinstance(trees, str):
        return Route(model.name, "unread", trees)
    bins, reason = trees.bins(data.X), reason_against(trees.packing)
    if bins is None or reason:
        return Route(model.name, "unread", reason or NO_BINS)
    by_feature: dict[str, Floats | None] = {}
    is_first = True
    for feature, moves, low, high in _walked(trees, bins, data, question):
        if is_first:
            is_first = False
            asked = question.predict(feature, moves)
            missed = [np.abs(a - b) for a, b in zip(asked, (low, high), strict=True)]
            if not all((gap <= trees.rounding).all() for gap in missed):
                report_difference(model)
                return Route(model.name, "differ")
        try:
            by_feature[feature] = question.change(moves, low, high)
        except NotApplicable:
            by_feature[feature] = None
    return _Changes(by_feature, first, trees.rounding)


def _walked(
    trees: Trees, bins: Integers, data: Dataset, question: Question
) -> Iterator[tuple[str, Moves, Floats, Floats]]:
    """Yield the moves of each feature that has some, and both ends of them."""
    waiting: deque[tuple[str, Moves, list[Index]]] = deque()

    def draws() -> Iterator[tuple[int, Integers]]:
        for what, feature in enumerate(data.features):
            try:
                moves = question.moves_of(feature)
            except NotApplicable:
                continue
            lenders = _lenders(data.X[feature], moves)
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
    for answer in trees.replay(bins, groups, draws(), n_threads=n_threads()):
        ends.append(answer)
        feature, moves, parts = waiting[0]
        if len(ends) == 2 * len(parts):
            low, high = (np.empty((len(moves.row), *answer.shape[1:])) for _ in "lh")
            for at, part in enumerate(parts):
                low[part] = ends[2 * at][moves.row[part]]
                high[part] = ends[2 * at + 1][moves.row[part]]
            yield feature, moves, low, high
            waiting.popleft()
            ends = []


def _lenders(column: pd.Series, moves: Moves) -> Index | None:
    """Return a row that has each point, None if a point is the value of no row."""
    rows = np.unique(moves.row)
    moved = column.iloc[rows]
    if moves.points.dtype != object:
        moved = moved.astype(moves.points.dtype)  # else no number equals True
    codes, values = pd.factorize(moved)
    place = pd.Index(values).get_indexer(pd.Index(moves.points))
    first = rows[np.unique(codes, return_index=True)[1]]
    return None if (place < 0).any() else first[place]
