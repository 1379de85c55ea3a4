"""Predictions of rows with columns set to values, by predict or by the trees.

Both give the same numbers, to the last bit, unless threads of the library add the
trees in any order. The trees answer where numba is there, the model is an ensemble
that can be read, and enough is asked; they are compared with predict at the ends of
what is set, in all rows the first time and in some rows after that.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pandas as pd

from ...records.dataset_and_model import FittedModel, Floats
from ...records.execution import n_threads
from ..trees.fitted import NO_BINS, Trees
from ..trees.packing import Integers
from ..trees.router import MOST_ASKED, Router

OnScale = Callable[[FittedModel, Floats], Floats]

# Stacked rows per call: enough to make the fixed cost of a call small, little enough
# to stay in a processor's cache and out of the way of the model's own copies.
MAX_BYTES = 2**22
FEWEST_POINTS = 3
"""Fewer cost as much as to compare them."""


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
    """Return how many points are asked in one call.

    `memory_usage` of all takes long where there are many columns.
    """
    sizes = [dtype.itemsize for dtype in X.dtypes if isinstance(dtype, np.dtype)]
    is_plain = [isinstance(dtype, np.dtype) for dtype in X.dtypes]
    others = X.loc[:, np.logical_not(is_plain)].memory_usage(index=False).sum()
    n_bytes = len(X) * sum(sizes) + int(others)
    return max(1, min(n_points, MAX_BYTES // max(1, n_bytes)))


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


def _by_trees(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any], edges: list[int]
) -> Iterator[Floats] | None:
    """Return what the trees give in batches; None if predict is to answer."""
    if edges[-1] < FEWEST_POINTS:
        return None
    router = Router(model)
    reading = router.reading(X, edges[-1])
    if reading is None:
        return None
    as_set = X.iloc[np.zeros(edges[-1], dtype=int)].assign(**settings)
    points = reading.trees.bins(as_set)
    if points is None:
        router.report("unread", NO_BINS)
        return None
    n_rows = MOST_ASKED if "set" in reading.compared else len(X)
    rank = pd.factorize(next(iter(settings.values())), sort=True)[0]
    ends = [int(rank.argmin()), int(rank.argmax())]
    at_ends = {name: values[ends] for name, values in settings.items()}
    some = reading.bins[:, :n_rows], points[:, ends], (*settings,), [0, 2]
    (ours,) = _set_in_trees(reading.trees, *some)
    (theirs,) = _by_predict(model, X.iloc[:n_rows], at_ends, [0, 2])
    if not router.agrees(reading, "set", ours, theirs, reading.trees.rounding):
        return None
    router.report(reading.basis)
    return _set_in_trees(reading.trees, reading.bins, points, (*settings,), edges)


def _set_in_trees(
    trees: Trees,
    bins: Integers,
    points: Integers,
    columns: tuple[str, ...],
    edges: list[int],
) -> Iterator[Floats]:
    """Yield what the trees predict between two edges of the points, points by rows."""
    n_rows, n_points = bins.shape[1], edges[-1]
    draws = ((0, np.broadcast_to(np.int32(at), n_rows)) for at in range(n_points))
    answers = trees.replay(
        bins, [columns], draws, lenders=points, n_threads=n_threads()
    )
    for start, end in pairwise(edges):
        yield np.concatenate(list(islice(answers, end - start)))
