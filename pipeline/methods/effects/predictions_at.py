"""Predictions of rows with columns set to values, by predict or by the trees.

Both give the same numbers, to the last bit, unless threads of the library add the
trees in any order. The trees are used if numba is installed, the model is an ensemble
that can be read, and there are enough predictions to make. They are compared with
predict at the lowest and the highest value, first in all rows, later in some.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pandas as pd

from ...models.prediction import MOST_COMPARED
from ...records.dataset_and_model import FittedModel, Floats
from ...records.execution import n_threads
from ..trees.fitted import NO_BINS, Trees
from ..trees.packing import Integers
from ..trees.router import Router

OnScale = Callable[[FittedModel, Floats], Floats]

# Bytes of stacked rows per call: enough to make the fixed cost of a call small, and few
# enough for a processor's cache and the model's own copies.
MAX_BYTES = 2**22
FEWEST_POINTS = 3
"""With fewer points, the comparison with predict would cost as much as it saves."""


def predictions_at(
    model: FittedModel,
    X: pd.DataFrame,
    settings: Mapping[str, Any],
    on_scale: OnScale,
) -> Iterator[Floats]:
    """Yield predictions (n_points, n_samples, n_outputs), some points at a time.

    `settings` maps columns to their new values: arrays of (n_points,), of their types.
    """
    n_points = len(next(iter(settings.values())))
    edges = [*range(0, n_points, _n_in_batch(X, n_points)), n_points]
    batches = _by_trees(model, X, settings, edges) or _by_predict(
        model, X, settings, edges
    )
    for prediction, (start, end) in zip(batches, pairwise(edges), strict=True):
        yield on_scale(model, prediction).reshape(end - start, len(X), -1)


def predict_at(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any]
) -> Floats:
    """Return predict's predictions at all points, (n_points, n_samples, n_outputs)."""
    n_points = len(next(iter(settings.values())))
    edges = [*range(0, n_points, _n_in_batch(X, n_points)), n_points]
    predictions = np.concatenate(list(_by_predict(model, X, settings, edges)))
    return predictions.reshape(n_points, len(X), -1)


def _n_in_batch(X: pd.DataFrame, n_points: int) -> int:
    """Return the number of points that are predicted in one call.

    `memory_usage` is slow for many columns, so numpy's types are summed up instead.
    """
    sizes = [dtype.itemsize for dtype in X.dtypes if isinstance(dtype, np.dtype)]
    is_plain = [isinstance(dtype, np.dtype) for dtype in X.dtypes]
    others = X.loc[:, np.logical_not(is_plain)].memory_usage(index=False).sum()
    n_bytes = len(X) * sum(sizes) + int(others)
    return max(1, min(n_points, MAX_BYTES // max(1, n_bytes)))


def _by_predict(
    model: FittedModel, X: pd.DataFrame, settings: Mapping[str, Any], edges: list[int]
) -> Iterator[Floats]:
    """Yield predict's predictions for each batch of points, points by rows.

    The rows are stacked once; between two calls only the set columns are written.
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
    """Replace the values of a column, in place.

    If pandas stores it as numbers of the same type, they are overwritten in their
    array: a new column would split the table's block, which every predict would join
    again.
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
    """Return the trees' predictions in batches; None if predict is to be used."""
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
    n_rows = MOST_COMPARED if "set" in reading.compared else len(X)
    rank = pd.factorize(next(iter(settings.values())), sort=True)[0]
    ends = [int(rank.argmin()), int(rank.argmax())]
    at_ends = {name: values[ends] for name, values in settings.items()}
    some = reading.bins[:, :n_rows], points[:, ends], (*settings,), [0, 2]
    (ours,) = _set_in_trees(reading.trees, *some)
    (theirs,) = _by_predict(model, X.iloc[:n_rows], at_ends, [0, 2])
    if not router.accepts(reading, "set", ours, theirs, reading.trees.rounding):
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
    """Yield the trees' predictions for each batch of points, points by rows."""
    n_rows, n_points = bins.shape[1], edges[-1]
    draws = ((0, np.broadcast_to(np.int32(at), n_rows)) for at in range(n_points))
    predictions = trees.replay(
        bins, [columns], draws, lenders=points, n_threads=n_threads()
    )
    for start, end in pairwise(edges):
        yield np.concatenate(list(islice(predictions, end - start)))
