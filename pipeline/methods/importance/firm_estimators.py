"""Estimators of the conditional expected score, each for one feature.

Every entry of `ESTIMATORS` is called as ``estimate(feature, scores, shares, setting)``
and returns (n_outputs,): the standard deviation of the score's expectation given the
feature, or NaN if the estimator does not apply. Shares are row weights that sum to one.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Floats
from ...records.errors import NotApplicable
from .lowess import lowess as smoothed

Conditional = Literal["auto", "discrete", "binary", "linear", "binned", "lowess"]
# With fewer, the mean of a bin is noise and a straight line is better.
ROWS_PER_BIN = 30


class Feature(NamedTuple):
    """The value of one feature in every row.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,)
        The position of each row's value among the distinct ones; missing is the last.
    n_values : int
        Number of distinct values, missing included.
    is_missing : ndarray of bool, shape (n_samples,)
    numbers : ndarray of shape (n_samples,) or None
        The values, if they are numbers.
    most : int
        The most distinct values of a single numeric column, 0 if there is none.
    """

    codes: npt.NDArray[np.intp]
    n_values: int
    is_missing: npt.NDArray[np.bool_]
    numbers: Floats | None
    most: int


class Setting(NamedTuple):
    """The options of the estimators.

    Attributes
    ----------
    n_bins : int
    span : float
    """

    n_bins: int
    span: float


Estimate: TypeAlias = Callable[[Feature, Floats, Floats, Setting], Floats]


def feature_of(X: pd.DataFrame, columns: Sequence[str]) -> Feature:
    """Return a column, or several combined into one value."""
    each = [_codes_of(X[name]) for name in columns]
    together = np.stack([codes for codes, _ in each], axis=1)
    distinct, codes = np.unique(together, axis=0, return_inverse=True)
    numbers = each[0][1] if len(each) == 1 else None
    is_missing = (together == _MISSING).any(axis=1)
    most = max(len(np.unique(c)) if x is not None else 0 for c, x in each)
    return Feature(codes.reshape(-1), len(distinct), is_missing, numbers, most)


_MISSING = np.iinfo(np.int64).max


def _codes_of(column: pd.Series) -> tuple[npt.NDArray[np.int64], Floats | None]:
    """Return the position of each value among the distinct ones, and the numbers."""
    if is_category(column):
        codes = column.cat.codes.to_numpy().astype(np.int64)
        return np.where(codes < 0, _MISSING, codes), None
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    codes = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    return np.where(np.isnan(numbers), _MISSING, codes), numbers


def spread_of(scores: Floats, shares: Floats) -> Floats:
    """Return the standard deviation of scores over the rows, (n_outputs,).

    The mean of equal numbers can miss them by a rounding error; that of zeros cannot.
    """
    centred = scores - scores[0]
    centred = centred - shares @ centred
    return np.asarray(np.sqrt(shares @ centred**2))


def discrete(f: Feature, scores: Floats, shares: Floats, setting: Setting) -> Floats:
    """Spread of the mean scores by value; missing counts as one more value."""
    if f.n_values < 2:
        return _no_value(scores)
    means, p = _means(f.codes, f.n_values, scores, shares)
    return spread_of(means, p)


def binary(f: Feature, scores: Floats, shares: Floats, setting: Setting) -> Floats:
    """(q_b - q_a) sqrt(p_a p_b), b the larger value or the later level; eq. (10)."""
    if f.n_values != 2 or f.is_missing.any():
        return _no_value(scores)
    means, p = _means(f.codes, 2, scores, shares)
    return np.asarray((means[1] - means[0]) * np.sqrt(p[0] * p[1]))


def linear(f: Feature, scores: Floats, shares: Floats, setting: Setting) -> Floats:
    """Slope of the regression of the score on the feature times the feature's SD."""
    if f.numbers is None or f.n_values < 2 or f.is_missing.any():
        return _no_value(scores)
    x = f.numbers - shares @ f.numbers
    return np.asarray((shares * x) @ (scores - scores[0]) / np.sqrt(shares @ x**2))


def binned(f: Feature, scores: Floats, shares: Floats, setting: Setting) -> Floats:
    """Spread of the means in bins of equal weight; missing values have a bin.

    A value belongs to the bin that contains the middle of its weight in the order of
    all values. So only the order counts, and equal values share a bin.
    """
    if f.numbers is None or f.n_values < 2:
        return _no_value(scores)
    p = np.bincount(f.codes, shares * ~f.is_missing, f.n_values)
    p = p / p.sum()
    middle = np.cumsum(p) - p / 2
    bins = np.minimum((middle * setting.n_bins).astype(np.intp), setting.n_bins - 1)
    codes = np.where(f.is_missing, setting.n_bins, bins[f.codes])
    means, share = _means(codes, setting.n_bins + 1, scores, shares)
    return spread_of(means, share)


def lowess(f: Feature, scores: Floats, shares: Floats, setting: Setting) -> Floats:
    """Spread of local linear fits over the nearest rows, evaluated at every row.

    Without robustness iterations: the mean of the score is sought, not its median.
    """
    if f.numbers is None or f.n_values < 2 or f.is_missing.any():
        return _no_value(scores)
    if np.ptp(shares) > 1e-12 * shares.max():
        raise NotApplicable(
            "Rows must count the same for estimator 'lowess'; they are weighted. "
            "Use estimator 'binned'."
        )
    curves = [
        smoothed(f.numbers, y, fraction=setting.span, n_robust=0, step=0.01)
        for y in scores.T
    ]
    return spread_of(np.stack(curves, axis=1), shares)


def auto(f: Feature, scores: Floats, shares: Floats, setting: Setting) -> Floats:
    """The estimator that suits the column; see `firm.firm`."""
    if f.n_values == 2 and not f.is_missing.any():
        return binary(f, scores, shares, setting)
    if f.numbers is None and f.most > setting.n_bins:
        return _no_value(scores)  # nearly every row would be a value of its own
    if f.numbers is None or f.n_values <= setting.n_bins:
        return discrete(f, scores, shares, setting)
    is_scarce = len(scores) < ROWS_PER_BIN * setting.n_bins
    estimate = linear if is_scarce and not f.is_missing.any() else binned
    return estimate(f, scores, shares, setting)


ESTIMATORS: dict[str, Estimate] = {
    "auto": auto,
    "discrete": discrete,
    "binary": binary,
    "linear": linear,
    "binned": binned,
    "lowess": lowess,
}


def _means(
    codes: npt.NDArray[np.intp], n_values: int, scores: Floats, shares: Floats
) -> tuple[Floats, Floats]:
    """Return mean scores (n_present, n_outputs) and shares of the values present.

    Scores are taken relative to the first row, so that equal ones give equal means.
    """
    p = np.asarray(np.bincount(codes, shares, n_values), dtype=np.float64)
    is_present = p > 0
    sums = [np.bincount(codes, shares * y, n_values) for y in (scores - scores[0]).T]
    return np.stack(sums, axis=1)[is_present] / p[is_present, np.newaxis], p[is_present]


def _no_value(scores: Floats) -> Floats:
    return np.full(scores.shape[1], np.nan)
