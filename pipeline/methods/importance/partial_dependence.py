"""Spread of the partial dependence of each feature."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import single_columns
from ..effects import partial_dependence as effect
from ..effects.partial_dependence import Grid, Scale, single_curves
from ..spreads import SPREADS, weighted_deviation

Spread = Literal[
    "standard_deviation",
    "mean_absolute_deviation",
    "median_absolute_deviation",
    "data_weighted",
]
OfCurves = Literal["mean", "individual"]


def partial_dependence(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    curves: Mapping[str, tuple[Any, Floats]] | None = None,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
    categorical_spread: Literal["quarter_range", "range"] = "quarter_range",
    spread: Spread = "standard_deviation",
    of_curves: OfCurves = "mean",
) -> tuple[Floats, Floats]:
    r"""Return the spread of each feature's partial dependence.

    With :math:`\mathrm{PD}_j` the curve of `effects.partial_dependence` at the grid
    points :math:`v_1, \dots, v_K` [1]_,

    .. math::
        I_j = \sqrt{\frac{1}{K-1} \sum_k
              \Bigl(\mathrm{PD}_j(v_k) - \overline{\mathrm{PD}}_j\Bigr)^2}
        \quad\text{for numbers,}\qquad
        I_j = \tfrac14 \Bigl(\max_k \mathrm{PD}_j(v_k) -
              \min_k \mathrm{PD}_j(v_k)\Bigr)
        \quad\text{for categories.}

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called, except for features in `curves`.
    data : Dataset
        The rows averaged over; ``data.groups`` names the features, one column each.
    seed : int
        Not used: nothing is drawn.
    curves : mapping of str to (grid, values), optional
        Curves already computed with the same options; others are computed. They are
        not used for individual curves.
    grid, n_grid, scale
        As in `effects.partial_dependence`. The grid affects the result: an outlier
        adds points where few rows lie.
    categorical_spread : {"quarter_range", "range"}, default "quarter_range"
        For a categorical feature: a quarter of the range, as in ``vip::vi_firm``, or
        the range itself, as in the first version of the paper (2017).
    spread : str, default "standard_deviation"
        For a numeric feature.

        * "standard_deviation": the sample standard deviation above.
        * "mean_absolute_deviation": the mean distance from the mean over the grid
          points.
        * "median_absolute_deviation": 1.4826 times the median distance from the median
          over the grid points, as R's ``mad``. For a straight line it exceeds the
          standard deviation; a curve that is flat over more than half of its points
          measures 0.
        * "data_weighted": the standard deviation over the rows, each counted with its
          weight at the grid point nearest to its value (the lower one in a tie). The
          divisor is the sum of the weights. Rows where the feature is missing are not
          counted.
    of_curves : {"mean", "individual"}, default "mean"
        "mean" takes the spread of the mean curve. "individual" takes the spread of the
        curve of each row, :math:`f(v_k, x_{i,-j})`, and averages over the rows with
        their weights. Then opposite effects do not cancel.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, n_outputs)
        The spread, in units of the scale; NaN for a number with one grid point or
        without any value, and for a category with a level that `model` cannot predict:
        the spread over the other levels would be another quantity.
    baseline : ndarray of shape (1, n_outputs)
        Zero, the spread of a flat curve, which an ignored feature has.

    Raises
    ------
    NotApplicable
        If a group has several columns, or the model no such scale.

    Warnings
    --------
    The mean curve shows main effects only: the importance of a feature that acts only
    through interactions may be zero. Every grid point has equal weight, however few
    rows lie near it, unless rows are counted. The mean over individual curves is at
    least the spread of their mean, and is large by noise alone for a model that fits
    noise.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A simple and effective model-based
       variable importance measure. arXiv:1805.04755.
       doi:10.48550/arXiv.1805.04755

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = partial_dependence(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, bool((raw[1] == baseline).all())
    ((2, 1, 1), True)
    """
    curve_of = curves or {}
    spreads = []
    for feature in single_columns(data.groups, "method 'partial_dependence'"):
        is_level = is_category(data.X[feature])
        if not is_level and data.X[feature].isna().all():
            spreads.append(np.full(len(model.outputs), np.nan))
            continue
        how = categorical_spread if is_level else spread
        options: dict[str, Any] = {"grid": grid, "n_grid": n_grid, "scale": scale}
        if of_curves == "individual":
            of_rows = []
            for points, values in single_curves(model, data, feature, **options):
                flat = values.reshape(len(points), -1)
                own = _spread(how, flat, points, data, feature)
                of_rows.append(own.reshape(values.shape[1:]))
            each = np.concatenate(of_rows)
            spreads.append(np.average(each, axis=0, weights=data.weights))
            continue
        points, values = curve_of.get(feature) or effect.partial_dependence(
            model, data, feature, seed=seed, **options
        )
        spreads.append(_spread(how, values, points, data, feature))
    raw = np.stack(spreads)[:, np.newaxis, :]
    return raw, np.zeros(raw.shape[1:])


def _spread(
    how: str, values: Floats, points: npt.NDArray[Any], data: Dataset, feature: str
) -> Floats:
    """Return the spread of curves of one feature at these points, (n_curves,)."""
    if how != "data_weighted":
        return SPREADS[how](values)
    is_there = data.X[feature].notna().to_numpy()
    x = data.X[feature][is_there].to_numpy(dtype=np.float64)
    order = np.argsort(points, kind="stable")
    middles = (points[order][1:] + points[order][:-1]) / 2
    nearest = order[np.searchsorted(middles, x)]
    rows = np.bincount(nearest, data.weights[is_there], minlength=len(points))
    return weighted_deviation(values, rows.astype(np.float64))
