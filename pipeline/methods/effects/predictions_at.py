"""Predictions of rows with columns set to values, by predict or by the trees.

Both give the same numbers, to the last bit, unless threads of the library add the
trees in any order. The trees answer where numba is there, the model is an ensemble
that can be read, and enough is asked; they are compared with predict at the ends of
what is set, in all rows the first time and in some rows after that.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
import pandas as pd

from ...records.dataset_and_model import FittedModel, Floats
from ...records.execution import n_threads
from ..trees import compiled
from ..trees.fitted import NO_BINS, Trees, not_of_trees, report_difference, trees_of
from ..trees.ice import sums_at
from ..trees.packing import Integers
from ..trees.routes import Route, is_worth_reading, report_route

OnScale = Callable[[FittedModel, Floats], Floats]

# Stacked rows per call: enough to make the fixed cost of a call small, little enough
# to stay in a processor's cache and out of the way of the model's own copies.
MAX_BYTES = 2**22
# What trees predict in one walk.
MAX_WALK_BYTES = 2**26
FEWEST_POINTS = 3
"""Fewer cost as much as to compare them."""
MOST_COMPARED = 64
"""Rows that are compared again, to see that the estimator is still the same."""


def predictions_at(
    model: FittedModel,
    X: pd.DataFrame,
    settings: Mapping[str, Any],
    on_scale: OnScale,
) -> Iterator[Floats]:
    """Yield predictions (n_points, n_samples, n_outputs), some points at a time.

    `settings` holds what is set: arrays of (n_points,), by column, of its type.
    """
    n_points = len(next(iter(settings.values())))
    edges = [*range(0, n_points, _n_in_batch(X, n_points)), n_points]
    answers = _by_trees(model, X, settings, edges) or _by_predict(
        model, X, settings, edges
    )
    for prediction, (start, end) in zip(answers, pairwise(edges), strict=True):
        yield on_scale(model, prediction).reshape(end - start, len(X), -1)


def predict_at(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any]
) -> Floats:
    """Return what predict gives at all points, (n_points, n_samples, n_outputs)."""
    n_points = len(next(iter(settings.values())))
    edges = [*range(0, n_points, _n_in_batch(X, n_points)), n_points]
    predictions = np.concatenate(list(_by_predict(model, X, settings, edges)))
    return predictions.reshape(n_points, len(X), -1)


def _n_in_batch(X: pd.DataFrame, n_points: int) -> int:
    """Return how many points are asked in one call."""
    return max(1, min(n_points, MAX_BYTES // max(1, _n_bytes(X))))


def _by_predict(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any], edges: list[int]
) -> Iterator[Floats]:
    """Yield what predict gives between two edges of the points, points by rows.

    The rows are stacked once and only the set columns are written between two calls.
    """
    n_samples, n_stacked = len(X), edges[1] - edges[0]
    stacked = X.take(np.tile(np.arange(n_samples), n_stacked))
    for start, end in pairwise(edges):
        if end - start < n_stacked:
            stacked = stacked.iloc[: (end - start) * n_samples].copy()
        for name, values in settings.items():
            _set(stacked, name, values[start:end].repeat(n_samples))
        yield model.predict(stacked)


def _n_bytes(X: pd.DataFrame) -> int:
    """Return what `memory_usage` says, which asks each of many columns for long."""
    plain = [isinstance(dtype, np.dtype) for dtype in X.dtypes]
    sizes = [dtype.itemsize for dtype in X.dtypes if isinstance(dtype, np.dtype)]
    others = X.loc[:, np.logical_not(plain)].memory_usage(index=False).sum()
    return len(X) * sum(sizes) + int(others)


def _set(frame: pd.DataFrame, name: str, values: Any) -> None:
    """Give a column of a frame of our own other values.

    Where pandas keeps it as plain numbers of their type they are written where it lies:
    a new column would part the table, which every predict then puts together again.
    """
    column = frame[name]
    if isinstance(column.dtype, np.dtype) and column.dtype == values.dtype:
        memory = column.to_numpy()
        memory.flags.writeable = True  # a view; pandas 3 hands it out read-only
        memory[:] = values
    else:
        frame[name] = values


class _Reading(NamedTuple):
    """The trees of a model, and rows on which they gave what predict gives.

    Attributes
    ----------
    trees : Trees
    rows : weakref.ref of DataFrame
    bins : ndarray of shape (n_features, n_rows)
    """

    trees: Trees
    rows: Callable[[], pd.DataFrame | None]
    bins: Integers


_readings: WeakKeyDictionary[FittedModel, _Reading | Route] = WeakKeyDictionary()
"""A route: predict answers from now on."""


def _by_trees(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any], edges: list[int]
) -> Iterator[Floats] | None:
    """Return what the trees give in batches; None if predict is to answer."""
    if edges[-1] < FEWEST_POINTS:
        return None
    reading = _reading_or_route(model, X, settings, edges[-1])
    if isinstance(reading, Route):
        report_route(model, reading.basis, reading.reason)
        return None
    points = _points(reading.trees, X, settings)
    if points is None:
        report_route(model, "unread", NO_BINS)
        return None
    report_route(model, "identical" if reading.trees.is_ordered else "rounding")
    return _walked(reading.trees, reading.bins, points, edges)


def _reading_or_route(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any], n_points: int
) -> _Reading | Route:
    """Return the trees that answer, or why predict is to.

    Of an estimator that was fitted again, the trees are read again.
    """
    if reason := not_of_trees(model):
        return Route(model.name, "unread", reason)
    known = _readings.get(model)
    if isinstance(known, Route):
        return known
    if not is_worth_reading(n_points, len(X)):
        return Route(model.name, "few")
    reading, n_compared = known, MOST_COMPARED
    if known is not None and known.rows() is not X:
        reading, n_compared = _placed(known.trees, X), len(X)
    if reading is None or not _agrees(model, X, settings, reading, n_compared):
        _readings[model] = _read(model, X, settings)
        return _readings[model]
    _readings[model] = reading
    return reading


def _read(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any]
) -> _Reading | Route:
    """Return the trees of a model on some rows, or why predict answers for it."""
    if not compiled.available():
        return Route(model.name, "no_numba")
    trees = trees_of(model, X)
    if isinstance(trees, str):
        return Route(model.name, "unread", trees)
    reading = _placed(trees, X)
    if reading is None:
        return Route(model.name, "unread", NO_BINS)
    if not _agrees(model, X, settings, reading, len(X)):
        report_difference(model)
        return Route(model.name, "differ")
    return reading


def _placed(trees: Trees, X: pd.DataFrame) -> _Reading | None:
    """Return trees with rows to walk them, None if the rows have no bins."""
    bins = trees.bins(X)
    return None if bins is None else _Reading(trees, ref(X), bins)


def _points(
    trees: Trees, X: pd.DataFrame, settings: Mapping[str, Any]
) -> dict[int, Integers] | None:
    """Return the bins of the points by the column that is set; None if they have none.

    A feature may be several columns of the trees.
    """
    n_points = len(next(iter(settings.values())))
    bins = trees.bins(X.iloc[np.zeros(n_points, dtype=int)].assign(**settings))
    if bins is None:
        return None
    return {at: bins[at] for at, name in enumerate(trees.features) if name in settings}


def _agrees(
    model: FittedModel,
    X: pd.DataFrame,
    settings: Mapping[str, Any],
    reading: _Reading,
    n_rows: int,
) -> bool:
    """Return whether the trees give what predict gives for the first so many rows.

    At the least and the greatest point.
    """
    rank = pd.factorize(next(iter(settings.values())), sort=True)[0]
    ends = {name: own[[rank.argmin(), rank.argmax()]] for name, own in settings.items()}
    points = _points(reading.trees, X, ends)
    if points is None:
        return True  # and predict answers
    edges = [0, 1, 2]
    ours = _walked(reading.trees, reading.bins[:, :n_rows], points, edges)
    theirs = _by_predict(model, X.iloc[:n_rows], ends, edges)
    return all(
        (np.abs(own - asked) <= reading.trees.rounding).all()
        for own, asked in zip(ours, theirs, strict=True)
    )


def _walked(
    trees: Trees, bins: Integers, points: Mapping[int, Integers], edges: list[int]
) -> Iterator[Floats]:
    """Yield what the trees predict between two edges of the points, points by rows."""
    packing, batches = trees.packing, [*pairwise(edges)]
    point_bytes = 8 * bins.shape[1] * packing.n_outputs
    n_at_once = max(1, MAX_WALK_BYTES // max(1, point_bytes * edges[1]))
    for at in range(0, len(batches), n_at_once):
        together = batches[at : at + n_at_once]
        first, last = together[0][0], together[-1][1]
        settings = np.stack([own[first:last] for own in points.values()])
        sums = sums_at(packing, bins, [*points], settings, n_threads=n_threads())
        for start, end in together:
            own = sums[start - first : end - first].reshape(-1, packing.n_outputs)
            answer = packing.predicted(own)[:, trees.columns]
            yield np.asarray(answer, dtype=np.float64)
