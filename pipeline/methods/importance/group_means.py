"""Tests of group means: F, Welch's F and H, as statistic, as t or as p-value."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats

Codes = npt.NDArray[np.int64]
Test = Literal["equal_variances", "welch", "kruskal_wallis"]


class GroupTest(NamedTuple):
    """A test statistic, its degrees of freedom, and the direction of the difference.

    `below` is infinite for H, which has one number of degrees of freedom; `direction`
    is 1 or -1 if the second of two groups has the higher or the lower mean, else NaN.
    """

    value: float
    above: float
    below: float
    direction: float = np.nan


def _direction(mean: Floats) -> float:
    """Return 1 or -1 if the second of two means is above or below the first."""
    return 1.0 - 2.0 * (mean[1] < mean[0]) if len(mean) == 2 else np.nan


def _moments(values: Floats, codes: Codes, weights: Floats) -> Floats:
    """Return weight, mean and squared deviations of each group, (3, n_parts)."""
    values = values - values.mean()  # far from zero the squares would cancel
    weight = np.bincount(codes, weights)
    mean = np.bincount(codes, weights * values) / weight
    within = np.bincount(codes, weights * (values - mean[codes]) ** 2)
    return np.array([weight, mean, within])


def _equal_variances(values: Floats, codes: Codes, weights: Floats) -> GroupTest:
    """Return the F statistic of the analysis of variance."""
    weight, mean, within = _moments(values, codes, weights)
    above, below = len(mean) - 1, len(values) - len(mean)
    between = weight @ (mean - weight @ mean / weight.sum()) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(between / above, within.sum() / below if below else np.nan)
    return GroupTest(float(value), above, below, _direction(mean))


def _welch(values: Floats, codes: Codes, weights: Floats) -> GroupTest:
    """Return Welch's F, each group with its own variance."""
    size, mean, within = _moments(values, codes, weights)
    n_parts = len(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = size * (size - 1) / within
        share = precision / precision.sum()
        unsure = ((1 - share) ** 2 / (size - 1)).sum() / (n_parts**2 - 1)
        between = precision @ (mean - share @ mean) ** 2 / (n_parts - 1)
        value = between / (1 + 2 * (n_parts - 2) * unsure)
        below = 1 / (3 * unsure)
    return GroupTest(float(value), n_parts - 1, float(below), _direction(mean))


def _kruskal_wallis(values: Floats, codes: Codes, weights: Floats) -> GroupTest:
    """Return H, corrected for ties."""
    from scipy.stats import kruskal

    if np.ptp(values) == 0:
        return GroupTest(np.nan, np.nan, np.inf)
    parts = [values[codes == code] for code in range(codes.max() + 1)]
    return GroupTest(float(kruskal(*parts).statistic), len(parts) - 1, np.inf)


TESTS: dict[str, Callable[[Floats, Codes, Floats], GroupTest]] = {
    "equal_variances": _equal_variances,
    "welch": _welch,
    "kruskal_wallis": _kruskal_wallis,
}


def statistic_of(test: GroupTest, statistic: str) -> float:
    """Return the statistic itself, its signed root, or -log10 of its p-value."""
    from scipy.stats import chi2, f

    if statistic == "statistic":
        return test.value
    if statistic == "t":
        return float(test.direction * np.sqrt(test.value))
    if np.isinf(test.below):
        logarithm = chi2.logsf(test.value, test.above)
    else:
        logarithm = f.logsf(test.value, test.above, test.below)
    return float(-logarithm / np.log(10))
