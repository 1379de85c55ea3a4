"""Accumulated local effects: changes of the prediction where the rows are.

The trees of a model replay the moves as they replay permutations, all features in one
walk: at an end of its interval, a row gets the value of a point. The predictions equal
those of predict to the last bit, unless threads of the library add the trees in any
order; those of the first feature are compared with predict.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import DataError, ModelError, NotApplicable, quote
from ...records.execution import n_threads
from ..trees.fitted import NO_BINS
from ..trees.router import REFUSED, Reading, Router
from .partial_dependence import SCALES, Scale, as_column, check_scale

Index = npt.NDArray[np.int64]


class Moves(NamedTuple):
    """The rows that are moved, and the intervals of the grid they are moved over.

    Attributes
    ----------
    points : ndarray of shape (n_grid,)
        The grid, as values that the column can hold.
    row, interval : ndarray of shape (n_moves,)
        The row is predicted at ``points[interval]`` and at ``points[interval + 1]``.
    parts : tuple of slice
        Moves in each of which a row occurs once.
    """

    points: npt.NDArray[Any]
    row: Index
    interval: Index
    parts: tuple[slice, ...]


def ale(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Literal["quantile", "unique"] | tuple[float, ...] = "quantile",
    n_grid: int = 51,
    scale: Scale = "native",
) -> tuple[npt.NDArray[Any], Floats]:
    r"""Return the accumulated local effects of one feature.

    With :math:`f` the model, :math:`g` the scale, :math:`z_0 < \dots < z_K` the grid
    and :math:`N_k` the rows in :math:`(z_{k-1}, z_k]`, the first also those at
    :math:`z_0`, the effect [1]_ is

    .. math::
        \mathrm{ALE}_j(z_m) = \sum_{k \le m} \frac{1}{|N_k|} \sum_{i \in N_k}
            \bigl[g(f(z_k, x_{i,-j})) - g(f(z_{k-1}, x_{i,-j}))\bigr] - c,

    a straight line between the points. The constant :math:`c` makes the mean over the
    rows zero, a number counted as the middle of its interval. All means are weighted
    by the row weights.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called twice, or its trees are used.
    data : Dataset
        The rows, each moved to both ends of its interval, with their weights; rows
        where the feature is missing are not moved.
    feature : str
        A column of ``data.X``.
    seed : int
        Not used: nothing is drawn.
    grid : {"quantile", "unique"} or tuple of float, default "quantile"
        The grid of a number. "quantile": quantiles (type 1, so values of the data) at
        equally spaced probabilities, without duplicates. "unique": every value of a
        row. Numbers: exactly these points; rows outside them are not moved. A category
        has the levels that some row has, in level order; a row at a level is moved to
        both neighbours.
    n_grid : int, default 51
        Number of points of "quantile".
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.

    Returns
    -------
    grid : ndarray of shape (n_grid,)
        Floats, or the levels as text in an object array.
    values : ndarray of shape (n_grid, n_outputs)
        The curve, one column per entry of ``model.outputs``.

    Raises
    ------
    NotApplicable
        If the column has less than two values, no row lies between two points of the
        grid, or the model has no such scale or cannot predict some level.

    Warnings
    --------
    The order of the levels of a category decides at which levels each row is predicted,
    and with dependent features the shape of the curve. Intervals with few rows are
    estimated roughly. A flat curve does not mean that a feature is ignored.

    References
    ----------
    .. [1] Apley and Zhu (2020). Visualizing the effects of predictor variables in
       black box supervised learning models. Journal of the Royal Statistical Society
       B 82(4), 1059-1086. doi:10.1111/rssb.12377

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> grid, values = ale(linear_model(2, 0), normal_data(), "x1", seed=1, n_grid=3)
    >>> bool(abs(np.ptp(values) - 2 * np.ptp(grid)) < 1e-9)
    True
    """
    del seed
    of_feature = partial(moves_of, model, data, grid=grid, n_grid=n_grid, scale=scale)
    moves = of_feature(feature)

    steps = _change_by_trees(model, data, feature, of_feature)
    if steps is None:
        ends = _predict_ends(model, data, feature, moves)
        steps = _change(model, data, scale, moves, *ends)
    points, row, interval, _ = moves
    column, is_category = data.X[feature], points.dtype == object
    values = np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])
    at_rows, rows = ((values[1:] + values[:-1]) / 2)[interval], row
    if is_category:
        rows = _present(data, feature)
        place = {level: at for at, level in enumerate(points)}
        at_rows = values[[place[level] for level in column.iloc[rows]]]
    values -= np.average(at_rows, axis=0, weights=data.weights[rows])
    return points if is_category else points.astype(np.float64), values


def moves_of(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    grid: Literal["quantile", "unique"] | tuple[float, ...],
    n_grid: int,
    scale: Scale,
) -> Moves:
    """Return the rows that are moved, and the intervals they are moved over.

    Parameters and raises are those of `ale`.
    """
    check_scale(model, scale)
    column, present = data.X[feature], _present(data, feature)
    if column.iloc[present].nunique() < 2:
        raise NotApplicable(
            f"Column {quote(feature)} must have two values for accumulated local "
            f"effects; it has {column.iloc[present].nunique()}."
        )
    if is_category(column):
        return _between_levels(column, present)
    return _between_numbers(column, present, grid, n_grid)


def _present(data: Dataset, feature: str) -> Index:
    """Return the positions of the rows that have a value and a positive weight."""
    return np.flatnonzero(data.X[feature].notna().to_numpy() & (data.weights > 0))


def _between_numbers(
    column: pd.Series, present: Index, grid: Any, n_grid: int
) -> Moves:
    """Return the points of the grid, and each row in the interval it lies in."""
    numbers = column.iloc[present].to_numpy(dtype=np.float64)
    if grid == "unique":
        points = np.unique(numbers)
    elif grid == "quantile":
        # The smallest value that a share k / (n_grid - 1) of the rows does not exceed,
        # in integers: a rounded share can miss it by one row, as in R 4.2.
        needed = -(-np.arange(n_grid) * len(numbers) // (n_grid - 1))
        points = np.unique(np.sort(numbers)[np.maximum(needed, 1) - 1])
    else:
        points = np.unique(np.array(grid, dtype=np.float64))
    if len(points) < 2:  # whole numbers above 2**53
        raise NotApplicable(
            f"Column {quote(column.name)} must have two values that differ as float64 "
            f"for accumulated local effects; all are {points[0]}."
        )
    interval = np.maximum(np.searchsorted(points, numbers) - 1, 0)
    is_inside = (points[0] <= numbers) & (numbers <= points[-1])
    ends = interval[is_inside]
    empty = np.setdiff1d(np.arange(len(points) - 1), ends)
    if len(empty):
        low, high = points[empty[0]], points[empty[0] + 1]
        raise NotApplicable(
            f"Column {quote(column.name)} must have a row between all points of the "
            f"grid for accumulated local effects; it has none from {low} to {high}."
        )
    return Moves(points, present[is_inside], ends, (slice(None),))


def _between_levels(column: pd.Series, present: Index) -> Moves:
    """Return the levels that rows have, and moves of each row to both neighbours."""
    codes, rank = np.unique(column.cat.codes.iloc[present], return_inverse=True)
    levels = np.array(column.cat.categories, dtype=object)[codes]
    has_next, has_last = rank < len(codes) - 1, rank > 0
    row = np.concatenate([present[has_next], present[has_last]])
    interval = np.concatenate([rank[has_next], rank[has_last] - 1])
    n_next = int(has_next.sum())
    return Moves(levels, row, interval, (slice(n_next), slice(n_next, None)))


def _predict_ends(
    model: FittedModel, data: Dataset, feature: str, moves: Moves
) -> tuple[Floats, Floats]:
    """Return predictions at both ends; refuse a level that the model cannot predict."""
    ends = []
    for end in (moves.interval, moves.interval + 1):
        X = data.X.iloc[moves.row].copy()
        X[feature] = as_column(moves.points[end], data.X[feature])
        try:
            ends.append(model.predict(X))
        except DataError as error:
            if moves.points.dtype != object:
                raise
            raise NotApplicable(str(error)) from error
    return ends[0], ends[1]


def _change(
    model: FittedModel,
    data: Dataset,
    scale: Scale,
    moves: Moves,
    low: Floats,
    high: Floats,
) -> Floats:
    """Return the mean change over the moves of each interval, from both ends."""
    ends = [SCALES[scale](model, end).reshape(len(end), -1) for end in (low, high)]
    weights = data.weights[moves.row]
    total = np.bincount(moves.interval, weights)
    changes = (ends[1] - ends[0]).T
    sums = [np.bincount(moves.interval, weights * column) for column in changes]
    return np.stack(sums, axis=1) / total[:, np.newaxis]


def _change_by_trees(
    model: FittedModel, data: Dataset, feature: str, moves_of_feature: partial[Moves]
) -> Floats | None:
    """Return the change of a feature; None if predict is to be used."""
    router = Router(model)
    reading = router.reading(data.X, 2 * len(data.features))
    if reading is None:
        return None
    key = ref(data), *moves_of_feature.keywords.values()
    if key not in reading.kept:
        try:
            changes = _changes(model, router, reading, data, moves_of_feature)
        except (DataError, ModelError):  # a moved row is refused
            router.report("unread", REFUSED)
            return None
        if changes is None:
            return None
        reading.kept[key] = changes
    change: Floats | None = reading.kept[key][feature]
    if change is not None:
        router.report(reading.basis)
    return change


def _changes(
    model: FittedModel,
    router: Router,
    reading: Reading,
    data: Dataset,
    moves_of_feature: partial[Moves],
) -> dict[str, Floats | None] | None:
    """Return the changes of all features by the trees; None if predict differs.

    All are moved in one walk, to bins of the points that the grids have. A feature
    whose change is refused has None; predict then refuses it again.
    """
    moves_of_all: dict[str, Moves] = {}
    asked = {name: column.array[:1] for name, column in data.X.items()}
    for name in data.features:
        try:
            moves_of_all[name] = moves = moves_of_feature(name)
        except NotApplicable:
            continue
        asked[name] = as_column(moves.points, data.X[name])
    place = np.arange(max(map(len, asked.values())))
    rows = pd.DataFrame(
        {name: at.take(np.minimum(place, len(at) - 1)) for name, at in asked.items()}
    )
    points = reading.trees.bins(rows)
    if points is None:
        router.report("unread", NO_BINS)
        return None

    def draws() -> Iterator[tuple[int, Index]]:
        for what, moves in enumerate(moves_of_all.values()):
            for part in moves.parts:
                for end in (0, 1):
                    order = np.zeros(data.n_samples, dtype=np.int64)
                    order[moves.row[part]] = moves.interval[part] + end
                    yield what, order

    predictions = reading.trees.replay(
        reading.bins,
        [(name,) for name in moves_of_all],
        draws(),
        lenders=points,
        n_threads=n_threads(),
    )
    by_feature: dict[str, Floats | None] = {}
    for name, moves in moves_of_all.items():
        parts = [
            (next(predictions)[moves.row[part]], next(predictions)[moves.row[part]])
            for part in moves.parts
        ]
        ends = [np.concatenate(end) for end in zip(*parts, strict=True)]
        if not by_feature:
            theirs = np.stack(_predict_ends(model, data, name, moves))
            rounding = reading.trees.rounding
            if not router.accepts(reading, "moved", np.stack(ends), theirs, rounding):
                return None
        try:
            scale = moves_of_feature.keywords["scale"]
            by_feature[name] = _change(model, data, scale, moves, *ends)
        except NotApplicable:
            by_feature[name] = None
    return by_feature
