"""How far a curve is from flat: one number per output, 0 for a flat curve.

A curve without a value somewhere has no spread: NaN.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..records.dataset_and_model import Floats


def standard_deviation(values: Floats) -> Floats:
    """Return the sample standard deviation (ddof 1) over the grid, (n_outputs,).

    `values` is a curve of shape (n_grid, n_outputs). Every grid point counts the same,
    however many rows lie near it. NaN for a single grid point.
    """
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    # The mean of equal numbers can miss them by a rounding error; that of zeros cannot,
    # so a flat curve measures exactly 0.
    return np.asarray((values - values[0]).std(axis=0, ddof=1))


def mean_absolute_deviation(values: Floats) -> Floats:
    """Return the mean distance from the mean over the grid, (n_outputs,).

    Not the median distance from the median. NaN for a single grid point.
    """
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    shifted = values - values[0]  # a flat curve measures exactly 0
    return np.asarray(np.abs(shifted - shifted.mean(axis=0)).mean(axis=0))


def median_absolute_deviation(values: Floats) -> Floats:
    """Return 1.4826 times the median distance from the median, (n_outputs,).

    The factor is that of R's ``mad``: of many normal values it is their standard
    deviation. 0 if more than half of the points are equal. NaN for a single grid point.
    """
    from scipy.stats import median_abs_deviation

    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(1.4826 * median_abs_deviation(values, axis=0))


def weighted_deviation(values: Floats, weights: Floats) -> Floats:
    """Return the standard deviation with weight `weights[k]` for point k, (n_outputs,).

    The divisor is the sum of the weights. NaN for a single grid point, or if all
    weights are 0.
    """
    if len(values) < 2 or not weights.any():
        return np.full(values.shape[1:], np.nan)
    shifted = values - values[0]  # a flat curve measures exactly 0
    centred = shifted - np.average(shifted, axis=0, weights=weights)
    return np.asarray(np.sqrt(np.average(centred**2, axis=0, weights=weights)))


def value_range(values: Floats) -> Floats:
    """Return the largest minus the smallest value of the curve, (n_outputs,)."""
    return np.asarray(np.ptp(values, axis=0))


def quarter_range(values: Floats) -> Floats:
    """Return a quarter of the range, (n_outputs,).

    The rule of thumb for a standard deviation (some thirty normal draws span four of
    them), which makes categories comparable with numbers in one ranking.
    """
    return value_range(values) / 4


def mean_magnitude(
    values: Floats,
    *,
    is_category: bool,
    weights: npt.ArrayLike | None = None,
    centred: bool = False,
) -> Floats:
    """Return the mean distance of a curve from its zero, (n_outputs,).

    Parameters
    ----------
    values : ndarray of shape (n_grid, n_outputs)
        A curve of at least one point.
    is_category : bool
        If true, the zero is the unweighted mean over the levels, so that no level is
        the reference; otherwise it is the left-most value.
    weights : ndarray of shape (n_grid,), optional
        The weight of each point, 1 by default.
    centred : bool, default False
        Whether the zero is the mean weighted by `weights`, whatever `is_category`.
    """
    if centred:
        zero = np.average(values, axis=0, weights=weights)
    else:
        zero = values.mean(axis=0) if is_category else values[0]
    return np.asarray(np.average(np.abs(values - zero), axis=0, weights=weights))


SPREADS: dict[str, Callable[[Floats], Floats]] = {
    "standard_deviation": standard_deviation,
    "mean_absolute_deviation": mean_absolute_deviation,
    "median_absolute_deviation": median_absolute_deviation,
    "range": value_range,
    "quarter_range": quarter_range,
}
