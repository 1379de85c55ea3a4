"""Joint partial dependence of two features, and the points with rows around them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import quote
from .partial_dependence import (
    SCALES,
    Grid,
    Scale,
    as_column,
    check_scale,
    grid_of,
    is_predicted,
)
from .predictions_at import predictions_at

Points = npt.NDArray[Any]


def surface(
    model: FittedModel,
    data: Dataset,
    features: tuple[str, ...],
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 20,
    scale: Scale = "native",
) -> tuple[Points, Points, Floats]:
    r"""Return the mean prediction with two features set to each pair of values.

    With :math:`f` the model, :math:`g` the scale and :math:`w_i` the row weights, the
    joint partial dependence [1]_ on features *j* and *k* is

    .. math:: \mathrm{PD}_{jk}(u, v) =
        \sum_i w_i\, g(f(u, v, x_{i,-jk})) / \sum_i w_i.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for all rows at every point of the joint grid.
    data : Dataset
        The rows averaged over, with their weights.
    features : tuple of str
        Two columns.
    seed : int
        Not used: nothing is drawn.
    grid, n_grid, scale
        As in `effects.partial_dependence`, for each of the two.

    Returns
    -------
    first, second : ndarray of shape (n_first,), (n_second,)
        The grids: floats, or the levels as text in an object array.
    values : ndarray of shape (n_first, n_second, n_outputs)
        NaN where a level is set that no row has and `model` cannot predict.

    Raises
    ------
    ValueError
        If `features` are not two columns, or `grid` holds no number.
    NotApplicable
        If the model has no such scale, or a column no value.

    Warnings
    --------
    `model` predicts pairs of values that cannot occur; `within` tells where rows lie.
    An interaction is the part of the surface that is not a sum of two curves.

    References
    ----------
    .. [1] Friedman (2001). Greedy function approximation: a gradient boosting
       machine. Annals of Statistics 29(5), 1189-1232. doi:10.1214/aos/1013203451

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data(2, 1)
    >>> first, second, values = surface(
    ...     linear_model(2, 1), data, ("x1", "x2"), seed=1, grid=(0.0, 1.0)
    ... )
    >>> values[:, :, 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    del seed
    if len(features) != 2 or len(set(features)) != 2:
        raise ValueError(f"features must be two columns; {quote(features)} was given.")
    check_scale(model, scale)
    first, second = (grid_of(data, f, grid=grid, n_grid=n_grid) for f in features)
    values = joint_dependence(model, data.X, data, features, (first, second), scale)
    return first, second, values


def joint_dependence(
    model: FittedModel,
    X: pd.DataFrame,
    rows: Dataset,
    features: tuple[str, ...],
    points: tuple[npt.NDArray[Any], ...],
    scale: Scale,
) -> Floats:
    """Return the joint partial dependence, (n_first, n_second, n_outputs).

    NaN where a level is set that the model cannot predict.
    """
    is_measured = [
        is_predicted(model, X, feature, at)
        for feature, at in zip(features, points, strict=True)
    ]
    places = np.ix_(*is_measured)
    pair = np.meshgrid(*(np.flatnonzero(at) for at in is_measured), indexing="ij")
    settings = {
        feature: as_column(at, X[feature])[at_pair.ravel()]
        for feature, at, at_pair in zip(features, points, pair, strict=True)
    }
    means = [
        np.average(block, axis=1, weights=rows.weights)
        for block in predictions_at(model, rows.X, settings, SCALES[scale])
    ]
    n_outputs = len(model.outputs)
    surface = np.full((*(len(at) for at in points), n_outputs), np.nan)
    surface[places] = np.concatenate(means).reshape(*pair[0].shape, n_outputs)
    return surface


def within(
    data: Dataset, features: tuple[str, ...], first: Points, second: Points
) -> npt.NDArray[np.bool_]:
    """Return whether rows lie around each point of a grid, (n_first, n_second).

    For two numbers, around means in the convex hull of the rows; for a number and a
    category, between the smallest and the largest number at that level; for two
    categories, at levels that some row has. Rows without a weight or a value are
    ignored.
    """
    by_level = [at.dtype == object for at in (first, second)]
    if by_level == [False, True]:
        return within(data, features[::-1], second, first).T
    X = data.X[list(features)][data.weights > 0].dropna()
    columns = [X[name] for name in features]
    if not by_level[0]:
        return _in_hull(
            [each.to_numpy(np.float64) for each in columns], [first, second]
        )
    inside = np.zeros((len(first), len(second)), dtype=bool)
    for n, level in enumerate(first):
        own = columns[1][(columns[0] == level).to_numpy()]
        if by_level[1]:
            inside[n] = np.isin(second, own.unique())
        elif len(own):
            inside[n] = (own.min() <= second) & (second <= own.max())
    return inside


def _in_hull(rows: list[Floats], grids: list[Points]) -> npt.NDArray[np.bool_]:
    """Return whether each point lies in the convex hull of the rows."""
    from scipy.spatial import ConvexHull, QhullError

    shape = len(grids[0]), len(grids[1])
    low = np.array([own.min() for own in rows])
    size = np.array([np.ptp(own) or 1.0 for own in rows])
    at = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 2)
    try:
        hull = ConvexHull((np.stack(rows, axis=1) - low) / size)
    except (QhullError, ValueError):  # all rows on one line: no hull
        return np.zeros(shape, dtype=bool)
    sides = (at - low) / size @ hull.equations[:, :2].T + hull.equations[:, 2]
    return np.asarray((sides <= 1e-9).all(axis=1).reshape(shape))
