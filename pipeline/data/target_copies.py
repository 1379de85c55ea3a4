"""Columns that hold the target: equal to it, up to unit, or one-to-one with its values.

Not: how well a model predicts from them.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

ENOUGH = 30
"""Rows that could contradict a column below which it is not judged."""
OFF = 0.01
"""The share of such rows that may do so."""
CLOSE = 1e-9
"""How far apart, relative to the largest value, numbers may be that are the same."""


def holds_target(column: pd.Series, y: npt.NDArray[np.generic]) -> bool:
    """Return whether a column tells the target of nearly every row, and it the column.

    Rows of the most frequent target prove nothing, since a column that is nearly
    constant has them too; nor does the first row of any other value, which goes with
    whatever stands beside it. A target of more values than the root of its rows, such
    as one that is the same in all rows of a person, is compared with numbers only, up
    to unit: where rows repeat, any column is one-to-one with it. A missing cell is a
    value like any other.

    Parameters
    ----------
    column : Series of shape (n_samples,)
    y : ndarray of shape (n_samples,)
        Numbers, or codes of classes.
    """
    codes, values = pd.factorize(y)
    counts = np.bincount(codes)
    n_others = len(y) - int(counts.max(initial=0))
    n_proofs = n_others - (len(values) - 1)
    is_of_few = len(values) ** 2 <= len(y)
    if (
        is_of_few
        and n_proofs >= ENOUGH
        and _is_one_to_one(column, codes, OFF * n_proofs)
    ):
        return True
    is_number = pd.api.types.is_numeric_dtype
    return (is_number(column) and is_number(y)) and _is_affine(
        column.to_numpy(float, na_value=np.nan),
        y.astype(float),
        codes != counts.argmax() if len(y) else np.zeros(0, dtype=bool),
    )


def _is_one_to_one(
    column: pd.Series, codes: npt.NDArray[np.intp], most_off: float
) -> bool:
    """Return whether all but a few rows pair a value of each with one of the other."""
    own, values = pd.factorize(column, use_na_sentinel=False)
    n_values = int(codes.max()) + 1
    if abs(len(values) - n_values) > most_off:
        return False
    pairs, n_rows = np.unique(own * n_values + codes, return_counts=True)
    left, right = pairs // n_values, pairs % n_values
    by_size = np.argsort(n_rows)  # the last one that is written is the largest
    of_left, of_right = np.zeros(len(values), int), np.zeros(n_values, int)
    of_left[left[by_size]], of_right[right[by_size]] = by_size, by_size
    places = np.arange(len(pairs))
    is_pair = (of_left[left] == places) & (of_right[right] == places)
    return bool(n_rows[~is_pair].sum() <= most_off)


def _is_affine(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], tells: npt.NDArray[np.bool_]
) -> bool:
    """Return whether ``y = c + d x`` but for rounding, in nearly all rows with an x.

    The line is that of most neighbouring rows among those that tell.
    """
    is_there = np.isfinite(x) & np.isfinite(y)
    x, y, tells = x[is_there], y[is_there], tells[is_there]
    if tells.sum() < ENOUGH:
        return False
    run, rise = np.diff(x[tells]), np.diff(y[tells])
    if not run.any():
        return False
    slope = np.median(rise[run != 0] / run[run != 0])
    rest = y - slope * x
    size = np.abs(y).max() + np.abs(slope * x).max()
    is_off = np.abs(rest - np.median(rest[tells])) > CLOSE * size
    return bool(slope != 0 and is_off.sum() <= OFF * tells.sum())
