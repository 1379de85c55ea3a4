"""Mean predictions along one feature, of the rows that lie near each value."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, listed, quote
from ...records.r_rng import RStream
from .partial_dependence import (
    SCALES,
    Grid,
    Scale,
    as_column,
    check_scale,
    grid_of,
)
from .predictions_at import predictions_at


def conditional_profile(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "quantile",
    n_grid: int = 101,
    scale: Scale = "native",
    span: float = 0.25,
    n_rows: int | None = None,
) -> tuple[npt.NDArray[Any], Floats]:
    r"""Return the mean prediction at each value of a grid, over the rows near it.

    With :math:`f` the model, :math:`g` the scale, :math:`w_i` the row weights, *R* the
    range of the grid and *h* the span, the profile [1]_ of feature *j* at :math:`v` is

    .. math::
        \mathrm{CP}_j(v) = \frac{\sum_i w_i\, k(x_{ij}, v)\, g(f(v, x_{i,-j}))}
                                {\sum_i w_i\, k(x_{ij}, v)},
        \qquad k(x, v) = \exp\Bigl(-\tfrac12 \bigl(\tfrac{x - v}{h R}\bigr)^2\Bigr),

    for a category :math:`k(x, v) = 1\{x = v\}`: the local-dependence profile, or M
    plot, of ``DALEX::model_profile(type = "conditional")``.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called.
    data : Dataset
        The rows averaged over, with their weights; rows where the feature is missing
        are left out.
    feature : str
        A column of ``data.X``.
    seed : int
        Seed of R's random numbers, from which `n_rows` are drawn.
    grid : {"even", "unique", "quantile"} or tuple of float, default "quantile"
        The grid of a number, as in `effects.partial_dependence`, in increasing order.
        A category is evaluated at every level that some row has, in level order.
    n_grid : int, default 101
        Number of points of "even" and "quantile"; by default the grid of DALEX.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    span : float, default 0.25
        Standard deviation of the kernel of a number, as a share of the range of the
        grid.
    n_rows : int, optional
        Number of rows averaged over, drawn as R's ``sample`` draws them after
        ``set.seed(seed)``; the grid is that of all rows. By default, or if there are
        fewer, all rows.

    Returns
    -------
    grid : ndarray of shape (n_grid,)
        Floats, or the levels as text in an object array.
    values : ndarray of shape (n_grid, n_outputs)
        The curve, one column per entry of ``model.outputs``; NaN where no row is near,
        as at a level that none of the drawn rows has. DALEX returns 0 there.

    Raises
    ------
    NotApplicable
        If the grid has less than two points, or the model no such scale.

    Warnings
    --------
    It shows which predictions go along with a value, whatever feature causes them: a
    feature that the model ignores has the profile of the features it is correlated
    with. The kernel does not narrow with more rows: the profile stays that of a
    neighbourhood.

    References
    ----------
    .. [1] Biecek and Burzykowski (2021). Explanatory Model Analysis, chapter 18.
       CRC Press. doi:10.1201/9780429027192

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data()
    >>> grid, values = conditional_profile(linear_model(2, 0), data, "x1", seed=1)
    >>> bool(abs(np.ptp(values) - 2 * np.ptp(grid)) < 1e-9)
    True
    """
    check_scale(model, scale)
    points = profile_grid(data, feature, grid=grid, n_grid=n_grid)
    rows = rows_of(data, feature, seed=seed, n_rows=n_rows)
    near = _near(model, rows, feature, points, scale, span)
    return points, np.concatenate([_means(values, counts) for values, counts in near])


def accumulated_profile(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "quantile",
    n_grid: int = 101,
    scale: Scale = "native",
    span: float = 0.25,
    n_rows: int | None = None,
) -> tuple[npt.NDArray[Any], Floats]:
    r"""Return the accumulated changes of the prediction along a grid, over near rows.

    With :math:`k` the kernel of `conditional_profile` and :math:`v_1 < \dots < v_K` the
    grid, the profile [1]_ of feature *j* is

    .. math::
        \mathrm{AP}_j(v_m) = c + \sum_{l=2}^{m}
            \frac{\sum_i w_i\, k(x_{ij}, v_l)
                  \bigl[g(f(v_l, x_{i,-j})) - g(f(v_{l-1}, x_{i,-j}))\bigr]}
                 {\sum_i w_i\, k(x_{ij}, v_l)},

    where *c* makes the mean over the points of the grid that of the predictions: the
    accumulated-local profile of ``DALEX::model_profile(type = "accumulated")``. `ale`
    is the same with the rows of an interval in place of a kernel.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called.
    data : Dataset
        As in `conditional_profile`.
    feature : str
        A column of ``data.X``.
    seed : int
        Seed of R's random numbers, from which `n_rows` are drawn.
    grid : {"even", "unique", "quantile"} or tuple of float, default "quantile"
        As in `conditional_profile`.
    n_grid : int, default 101
        Number of points of "even" and "quantile"; by default the grid of DALEX.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    span : float, default 0.25
        As in `conditional_profile`.
    n_rows : int, optional
        As in `conditional_profile`.

    Returns
    -------
    grid : ndarray of shape (n_grid,)
        Floats, or the levels as text in an object array.
    values : ndarray of shape (n_grid, n_outputs)
        The curve, one column per entry of ``model.outputs``.

    Raises
    ------
    NotApplicable
        If the grid has less than two points, no row is near one of them, or the model
        has no such scale.

    Warnings
    --------
    The kernel is wide, so rows far from a point are predicted there too, if with less
    weight than in partial dependence. The order of the levels of a category decides at
    which levels each row is predicted. A flat curve does not mean that a feature is
    ignored.

    References
    ----------
    .. [1] Biecek and Burzykowski (2021). Explanatory Model Analysis, chapter 18.
       CRC Press. doi:10.1201/9780429027192

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data()
    >>> grid, values = accumulated_profile(linear_model(2, 0), data, "x1", seed=1)
    >>> bool(abs(np.ptp(values) - 2 * np.ptp(grid)) < 1e-9)
    True
    """
    check_scale(model, scale)
    points = profile_grid(data, feature, grid=grid, n_grid=n_grid)
    rows = rows_of(data, feature, seed=seed, n_rows=n_rows)
    steps, last = [], None
    for values, counts in _near(model, rows, feature, points, scale, span):
        before = np.concatenate([values[:1] if last is None else last, values[:-1]])
        steps.append(_means(values - before, counts))
        last = values[-1:]
    changes = np.concatenate(steps)
    changes[0] = 0.0
    check_steps(feature, points, ~np.isnan(changes).any(axis=1))
    curve = np.cumsum(changes, axis=0)
    predicted = SCALES[scale](model, model.predict(rows.X)).reshape(rows.n_samples, -1)
    level = np.average(predicted, axis=0, weights=rows.weights)
    return points, curve - curve.mean(axis=0) + level


def rows_of(data: Dataset, feature: str, *, seed: int, n_rows: int | None) -> Dataset:
    """Return the rows that a profile averages over; see `conditional_profile`."""
    places = np.arange(data.n_samples)
    if n_rows is not None and n_rows < data.n_samples:
        places = RStream(seed).sample(data.n_samples, n_rows)
    places = places[data.X[feature].notna().to_numpy()[places]]
    X, y, weights = data.X.iloc[places], data.y[places], data.weights[places]
    return replace(data, X=X, y=y, weights=weights)


def profile_grid(
    data: Dataset, feature: str, *, grid: Grid, n_grid: int
) -> npt.NDArray[Any]:
    """Return the grid of a profile, (n_grid,); see `conditional_profile`."""
    column = data.X[feature]
    points = grid_of(data, feature, grid=grid, n_grid=n_grid)
    if is_category(column):
        points = points[np.isin(points, column[data.weights > 0].dropna().unique())]
    else:
        points = np.unique(points)
    if len(points) < 2:
        raise NotApplicable(
            f"Column {quote(feature)} must be asked at two values for a profile; its "
            f"grid has {len(points)}."
        )
    return points


def nearness(column: pd.Series, points: npt.NDArray[Any], width: float) -> Floats:
    """Return the kernel weight of each row at each point, (n_points, n_samples).

    `width` is the standard deviation of the kernel of a number.
    """
    if is_category(column):
        levels = column.astype(object).to_numpy()
        return np.asarray(levels == points[:, np.newaxis], dtype=np.float64)
    distance = column.to_numpy(dtype=np.float64) - points[:, np.newaxis]
    return np.asarray(np.exp(-((distance / width) ** 2) / 2))


def width_of(points: npt.NDArray[Any], span: float) -> float:
    """Return the standard deviation of the kernel on a grid; 1 for levels."""
    return 1.0 if points.dtype == object else float(span * np.ptp(points))


def _near(
    model: FittedModel,
    rows: Dataset,
    feature: str,
    points: npt.NDArray[Any],
    scale: Scale,
    span: float,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield predictions and their weights, some points at a time.

    Their shapes are (n_points, n_samples, n_outputs) and (n_points, n_samples).
    """
    width, start = width_of(points, span), 0
    column = rows.X[feature]
    settings = {feature: as_column(points, column)}
    for values in predictions_at(model, rows.X, settings, SCALES[scale]):
        here = points[start : start + len(values)]
        yield values, nearness(column, here, width) * rows.weights
        start += len(values)


def _means(values: Floats, counts: Floats) -> Floats:
    """Return weighted means at each point, (n_points, n_outputs); NaN if no weight."""
    total = counts.sum(axis=1)[:, np.newaxis]
    sums = np.einsum("kn,kno->ko", counts, values)
    return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)


def check_steps(
    feature: str, points: npt.NDArray[Any], is_near: npt.NDArray[np.bool_]
) -> None:
    """Refuse an accumulated profile if some step has no row near it."""
    unknown = points[1:][~is_near[1:]].tolist()
    if unknown:
        raise NotApplicable(
            f"Column {quote(feature)} must have a row near every point of the grid for "
            f"an accumulated profile; it has none near {listed(unknown)}."
        )
