"""Partial dependence: the mean prediction as a function of one feature."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...data.encoding import held
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import DataError, ModelError, NotApplicable, quote
from ..trees.mean_predictions import TreeMeans, tree_means
from .predictions_at import MAX_BYTES, predict_at, predictions_at

Grid = Literal["even", "unique", "quantile"] | tuple[float, ...]
Scale = Literal["native", "link", "centred_logit"]

# Bytes of the curves of single rows that quartiles are computed from: 10 000 rows at
# 51 points, which determine a quartile to within one per cent of the rows.
MAX_BAND_BYTES = 2**22
QUARTILES = (0.25, 0.75)
WHOLE = "biu"  # numpy's kinds of whole numbers and booleans


def partial_dependence(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
    on_band: Callable[[Floats, Floats], None] | None = None,
) -> tuple[npt.NDArray[Any], Floats]:
    r"""Return the mean prediction with one feature set to each value of a grid.

    With :math:`f` the model, :math:`g` the scale and :math:`w_i` the row weights,
    the partial dependence [1]_ on feature *j* at :math:`v` is

    .. math:: \mathrm{PD}_j(v) = \sum_i w_i\, g(f(v, x_{i,-j})) / \sum_i w_i.

    The curve of a single row is :math:`c_i(v) = g(f(v, x_{i,-j}))`, its individual
    conditional expectation [2]_. The band around the curve contains the middle half of
    the centred curves: at each point the weighted quartiles over the rows of

    .. math:: c_i(v) - \bar c_i + \overline{\mathrm{PD}}_j,

    where a bar is the mean over the points of the grid that `model` can predict. Rows
    differ in level because of their other features, which does not concern feature
    *j*. Each curve is centred at its own mean, so there is no point at which all agree
    by construction. The band has no width where *j* has the same effect in all rows, as
    in an additive model, and the wider it is, the more *j* interacts with other
    features. It is not a confidence interval of the curve, and the curve, a mean, can
    leave it.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called, or its trees are used; without a band these can
        compute the mean alone: see `trees.mean_predictions` and `predictions_at`.
    data : Dataset
        The rows averaged over, with their weights.
    feature : str
        A column of ``data.X``.
    seed : int
        Not used: nothing is drawn.
    grid : {"even", "unique", "quantile"} or tuple of float, default "even"
        The points at which a numeric feature is evaluated; a category is evaluated at
        every declared level, in level order, whether or not a row has it. Rows in
        which the feature is missing are set to each point like all others.

        * "even": equally spaced from smallest to largest, as many points as there are
          distinct values (missing counts as one) and at most `n_grid`; truncated to
          whole numbers in integer columns. The grid of pdp and of ``vip::vi_firm``.
        * "unique": every distinct value.
        * "quantile": the distinct quantiles (type 7) at `n_grid` equally spaced
          probabilities; every distinct value in integer and boolean columns. With 101
          points the grid of ``DALEX::model_profile``.
        * numbers: exactly these points.

        Points of "even" and "quantile" are values that the column can hold: whole
        numbers even if values are missing, and whole days of dates without a time.
    n_grid : int, default 51
        Number of points of "even" and "quantile".
    scale : {"native", "link", "centred_logit"}, default "native"
        Transformation of every prediction before averaging.

        * "native": the response, or the probability.
        * "link": log p - log(1 - p) if binary, log p of each class if multiclass.
        * "centred_logit": log p of a class minus its mean over the classes, so half the
          logit if binary. The default of pdp for classifiers; as there, probabilities
          below 2^-52 count as 2^-52.
    on_band : callable, optional
        Called with the lower and the upper end of the band, each of the shape of
        `values`. A quartile that falls between two rows is their middle, and a weight
        counts as so many rows. If the curves of all rows take more than 4 megabytes,
        the band is computed from evenly spaced rows.

    Returns
    -------
    grid : ndarray of shape (n_grid,)
        Floats, or the levels as text in an object array.
    values : ndarray of shape (n_grid, n_outputs)
        The curve, one column per entry of ``model.outputs``; NaN at a declared level
        that no row has and `model` cannot predict, such as one it was not trained on.

    Raises
    ------
    ValueError
        If `grid` holds no number.
    NotApplicable
        If the model has no such scale, or the column no value.

    Warnings
    --------
    Setting a feature breaks its dependence on the others, so `model` predicts rows that
    cannot occur. A flat curve does not mean that a feature is ignored:
    opposite effects in two halves of the rows cancel in the mean.

    References
    ----------
    .. [1] Friedman (2001). Greedy function approximation: a gradient boosting
       machine. Annals of Statistics 29(5), 1189-1232. doi:10.1214/aos/1013203451
    .. [2] Goldstein, Kapelner, Bleich and Pitkin (2015). Peeking inside the black box:
       visualizing statistical learning with plots of individual conditional
       expectation. Journal of Computational and Graphical Statistics 24(1), 44-65.
       doi:10.1080/10618600.2014.907095

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data()
    >>> grid, values = partial_dependence(
    ...     linear_model(2, 0), data, data.features[0], seed=1, grid=(0, 1)
    ... )
    >>> float(round(values[1, 0] - values[0, 0], 9))
    2.0
    """
    del seed
    check_scale(model, scale)
    points = grid_of(data, feature, grid=grid, n_grid=n_grid)
    is_measured = is_predicted(model, data.X, feature, points)
    asked = as_column(points[is_measured], data.X[feature])
    of_band = np.arange(0)
    if on_band is not None:
        most = max(1, MAX_BAND_BYTES // (8 * len(points) * len(model.outputs)))
        n_kept = min(most, data.n_samples)
        of_band = np.arange(n_kept) * data.n_samples // n_kept  # evenly spaced
    settings, on_scale, curve = {feature: asked}, SCALES[scale], None
    if len(of_band) < data.n_samples:  # otherwise the band predicts all rows anyway
        trees = tree_means(model, data, scale, len(asked))
        curve = curve_of_trees(trees, model, data, feature, asked)
    if curve is None:
        means, of_rows = [], []
        for predictions in predictions_at(model, data.X, settings, on_scale):
            means.append(np.average(predictions, axis=1, weights=data.weights))
            of_rows.append(predictions.take(of_band, axis=1))
        curve = np.concatenate(means)
    elif on_band is not None:
        banded = _last_banded.get(data)
        if banded is None or len(banded) != len(of_band):
            banded = _last_banded[data] = data.X.iloc[of_band]
        of_rows = list(predictions_at(model, banded, settings, on_scale))
    if on_band is not None:
        centred = np.concatenate(of_rows)
        of_rows.clear()
        centred -= centred.mean(axis=0)
        weights = data.weights[of_band] if data.is_weighted else None
        quartiles = _quartiles(centred, weights) + curve.mean(axis=0)
        on_band(*(with_gaps(ends, is_measured) for ends in quartiles))
    return points, with_gaps(curve, is_measured)


def curve_of_trees(
    trees: TreeMeans | None,
    model: FittedModel,
    data: Dataset,
    feature: str,
    values: Any,
) -> Floats | None:
    """Return the curve at some values by the trees, (n_points, n_outputs).

    None if predict is to be used. The first curve is compared with the means of predict
    at the first and the last value.
    """
    if trees is None or not trees.reads_as_one(feature):
        return None
    curve = trees.curve(data.X, feature, values)
    if curve is None:
        return None
    ends = [0, len(values) - 1]
    ask = partial(predict_at, model, data.X, {feature: values[ends]})
    return curve if trees.accepts("curves", curve[ends], ask) else None


_last_banded: WeakKeyDictionary[Dataset, pd.DataFrame] = WeakKeyDictionary()
"""The rows of the last band: as the same object, they keep their cached bins."""


def _quartiles(curves: Floats, weights: Floats | None) -> Floats:
    """Return the quartiles over rows, (2, n_points, n_outputs); reorders `curves`.

    A quartile is the first value, in order, whose cumulated weight reaches the share;
    if it equals the share, the middle of that value and the next.
    """
    if weights is None:  # the same, in a third of the time
        return np.quantile(
            curves,
            QUARTILES,
            axis=1,
            method="averaged_inverted_cdf",
            overwrite_input=True,
        )
    quartiles = np.empty((2, curves.shape[0], curves.shape[2]))
    for point, at_point in enumerate(curves):
        for k, values in enumerate(at_point.T):
            order = np.argsort(values)
            upto = np.cumsum(weights[order])
            room = 1e-9 * upto[-1]  # sums of weights are rounded
            for n, share in enumerate(QUARTILES):
                first = np.searchsorted(upto, share * upto[-1] - room)
                last = np.searchsorted(upto, share * upto[-1] + room, side="right")
                quartiles[n, point, k] = values[order[[first, last]]].mean()
    return quartiles


def single_curves(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
) -> Iterator[tuple[npt.NDArray[Any], Floats]]:
    """Yield the curves of single rows, of which `partial_dependence` is the mean.

    Parameters and raises are those of `partial_dependence`.

    Yields
    ------
    grid : ndarray of shape (n_grid,)
    values : ndarray of shape (n_grid, n_rows, n_outputs)
        Some rows, in their order; NaN where `partial_dependence` is.
    """
    check_scale(model, scale)
    points = grid_of(data, feature, grid=grid, n_grid=n_grid)
    is_measured = is_predicted(model, data.X, feature, points)
    settings = {feature: as_column(points[is_measured], data.X[feature])}
    n_rows = max(1, MAX_BYTES // len(points))
    for start in range(0, data.n_samples, n_rows):
        X = data.X.iloc[start : start + n_rows]
        curves = list(predictions_at(model, X, settings, SCALES[scale]))
        yield points, with_gaps(np.concatenate(curves), is_measured)


def check_scale(model: FittedModel, scale: Scale) -> None:
    """Refuse a scale of probabilities for a model that predicts none."""
    is_number = model.task == "regression"
    if scale != "native" and (is_number or model.scale in ("class", "score")):
        why = "its task is 'regression'" if is_number else "it has none"
        raise NotApplicable(
            f"Model {quote(model.name)} must predict probabilities for scale "
            f"{scale!r}; {why}. Use scale 'native'."
        )


def grid_of(
    data: Dataset, feature: str, *, grid: Grid, n_grid: int
) -> npt.NDArray[Any]:
    """Return the grid of a column, (n_grid,); see `partial_dependence`."""
    column = data.X[feature]
    if is_category(column):
        return np.array(column.cat.categories, dtype=object)
    if not isinstance(grid, str):
        if not grid:
            raise ValueError("grid must hold at least one number; it is empty.")
        return np.array(grid, dtype=np.float64)

    numbers = np.sort(column.dropna().to_numpy(dtype=np.float64))
    if not len(numbers):
        raise NotApplicable(
            f"Column {quote(column.name)} must have a value to be set to; all "
            f"{len(column)} are missing."
        )
    distinct = np.unique(numbers)
    if grid == "unique" or (grid == "quantile" and column.dtype.kind in WHOLE):
        return distinct
    if grid == "quantile":
        points = _quantiles(numbers, n_grid)
    else:
        n_points = min(len(distinct) + int(column.hasnans), n_grid)
        points = np.linspace(distinct[0], distinct[-1], n_points)
    if column.dtype.kind in WHOLE or (column.hasnans and _are_whole(distinct)):
        points = np.trunc(points)
    return np.unique(held(points, data.types.get(feature)))


def is_predicted(
    model: FittedModel, X: pd.DataFrame, feature: str, points: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Return whether a model can predict each point of a grid, (n_grid,).

    Only a level that no row has can be without a prediction: a model that predicts the
    rows knows all others.
    """
    is_measured = np.ones(len(points), dtype=bool)
    column = X[feature]
    if is_category(column):
        for n in np.flatnonzero(~np.isin(points, column.dropna().unique())):
            level = as_column(points[n : n + 1], column)
            try:
                model.predict(X.iloc[:1].assign(**{feature: level}))
            except (DataError, ModelError):
                is_measured[n] = False
    return is_measured


def with_gaps(values: Floats, is_measured: npt.NDArray[np.bool_]) -> Floats:
    """Return a curve on the whole grid from some of its points, NaN at the others."""
    curve = np.full((len(is_measured), *values.shape[1:]), np.nan)
    curve[is_measured] = values
    return curve


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers == np.trunc(numbers)).all())


def _quantiles(ordered: Floats, n_grid: int) -> Floats:
    """Return type-7 quantiles of sorted numbers at `n_grid` even probabilities."""
    position = (len(ordered) - 1) * np.linspace(0, 1, n_grid)
    # A position that misses a number by a rounding error would add a second, nearly
    # equal point to the grid wherever that number ends a run of ties.
    nearest = np.rint(position)
    is_exact = np.isclose(position, nearest, rtol=0, atol=1e-9)
    position = np.where(is_exact, nearest, position)
    return np.interp(position, np.arange(len(ordered)), ordered)


def rounding_of(n_samples: int, largest: Floats) -> Floats:
    """Return a bound on the rounding error of a sum of six means of so many numbers.

    The error of a mean of n numbers is at most n roundings of the largest.
    """
    return np.asarray(6 * n_samples * np.finfo(np.float64).eps * largest)


def as_column(points: npt.NDArray[Any], column: pd.Series) -> Any:
    """Return points as an array of the column's type, floats if they do not fit."""
    whole = column.dtype.kind in WHOLE and _are_whole(points)
    keeps = is_category(column) or whole
    return pd.Series(points).astype(column.dtype if keeps else np.float64).values


def _link(model: FittedModel, prediction: Floats) -> Floats:
    """Return the logit if binary, the log of each probability if multiclass."""
    with np.errstate(divide="ignore"):
        linked = np.log(prediction)
        if model.task == "binary":
            linked = linked - np.log1p(-prediction)
    if not np.isfinite(linked).all():
        raise NotApplicable(
            f"Model {quote(model.name)} must give probabilities between 0 and 1 for "
            "scale 'link'; it gives exactly 0 or 1. Use scale 'native' or "
            "'centred_logit'."
        )
    return linked


def _centred_logit(model: FittedModel, prediction: Floats) -> Floats:
    """Return log p minus the mean of log p over the classes."""
    if model.task == "binary":
        prediction = np.stack([1 - prediction, prediction], axis=1)
    logs = np.log(np.maximum(prediction, np.finfo(np.float64).eps))
    centred = logs - logs.mean(axis=1, keepdims=True)
    return centred[:, 1] if model.task == "binary" else centred


SCALES: dict[str, Callable[[FittedModel, Floats], Floats]] = {
    "native": lambda _, prediction: prediction,
    "link": _link,
    "centred_logit": _centred_logit,
}
