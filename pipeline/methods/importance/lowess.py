"""LOWESS: a line fitted around every point, with outliers downweighted.

Written out here because it reproduces R's `lowess` to 1e-11, and statsmodels does not:
if more rows share a value than a neighbourhood holds, or robust weights leave it too
few, statsmodels returns the target of a row unsmoothed.
"""

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats


def lowess(
    x: Floats, y: Floats, *, fraction: float, n_robust: int, step: float
) -> Floats:
    r"""Return the smoothed `y` at every `x`, (n_samples,).

    At :math:`x_0`, with *h* the distance to its *q*-th nearest row, a line is fitted
    with weights :math:`(1 - (|x - x_0|/h)^3)^3 \delta`, and evaluated at :math:`x_0`
    [1]_. The :math:`\delta` are 1 in the first round and
    :math:`(1 - (e / 6 \operatorname{med}|e|)^2)^2` of the residuals *e* in every
    further one.

    Parameters
    ----------
    x, y : ndarray of shape (n_samples,)
        In any order; `x` not constant.
    fraction : float
        Share of the rows in a neighbourhood: ``q = fraction * n_samples``, at least 2.
    n_robust : int
        Robustness iterations, after the first fit.
    step : float
        Share of the range of `x` within which the curve is interpolated linearly
        between two fitted points; 0 fits at every value.

    References
    ----------
    .. [1] Cleveland (1979). Robust Locally Weighted Regression and Smoothing
       Scatterplots. JASA 74(368), 829-836. doi:10.1080/01621459.1979.10481038
    """
    distinct, place = np.unique(x, return_inverse=True)
    points = distinct[_points(distinct, step * float(np.ptp(x)))]
    # 1e-7: a share such as 2/3 of 60 rows is 40 of them, despite rounding.
    n_near = min(max(int(fraction * len(x) + 1e-7), 2), len(x))
    weights = np.ones(len(x))
    for remaining in range(n_robust, -1, -1):
        lines = [_line_at(point, x, y, weights, n_near) for point in points]
        fitted = np.interp(distinct, points, lines)[place]
        residual = np.abs(y - fitted)
        scale = 6 * np.median(residual)
        if not remaining or scale < 1e-7 * residual.mean():
            break
        weights = _bell(residual, scale, power=2)
    return np.asarray(fitted)


def _points(distinct: Floats, step: float) -> npt.NDArray[np.int64]:
    """Return the values to fit at, each the last within `step` of the one before."""
    places = [0]
    while places[-1] < len(distinct) - 1:
        here = places[-1]
        reach = int(np.searchsorted(distinct, distinct[here] + step, side="right"))
        places.append(max(here + 1, reach - 1))
    return np.array(places)


def _bell(distance: Floats, width: float, *, power: int) -> Floats:
    """Return ``(1 - (distance/width)**power)**power``, 0 outside.

    Within a thousandth of the centre and of the edge it is exactly 1 and 0, as in
    Cleveland's own program.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(distance <= 0.001 * width, 0.0, distance / width)
    inside = distance <= 0.999 * width
    return np.asarray(np.where(inside, (1 - np.minimum(share, 1) ** power) ** power, 0))


def _line_at(point: float, x: Floats, y: Floats, weights: Floats, n_near: int) -> float:
    """Return the height at `point` of the line fitted around it."""
    distance = np.abs(x - point)
    width = np.partition(distance, n_near - 1)[n_near - 1]
    kernel = _bell(distance, width, power=3) * weights
    near = np.flatnonzero(kernel)
    if not len(near):  # all neighbours are outliers: take its first row
        return float(y[np.argmax(x == point)])
    extent = np.ptp(x)
    kernel, x, y = kernel[near] / kernel[near].sum(), x[near], y[near]
    centre = kernel @ x
    moment = kernel @ (x - centre) ** 2
    height = kernel @ y
    if np.sqrt(moment) <= 0.001 * extent:  # too narrow to have a slope
        return float(height)
    slope = kernel @ ((x - centre) * y) / moment
    return float(height + slope * (point - centre))
