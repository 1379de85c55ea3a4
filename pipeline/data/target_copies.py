"""Columns that hold the target: a linear function of it, or one-to-one with its values.

How well a model predicts from them does not matter here.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

ENOUGH = 30
"""A column is judged only if at least so many rows could contradict it."""
OFF = 0.01
"""Largest share of these rows that may contradict it."""
CLOSE = 1e-9
"""Numbers that differ by no more than this part of the largest value are equal."""


def holds_target(column: pd.Series, y: npt.NDArray[np.generic]) -> bool:
    """Return whether column and target determine each other in nearly every row.

    Rows of the most frequent target are no evidence, since a nearly constant column
    agrees with them as well. Neither is the first row of any other value, since it
    agrees with any value in the same row. If the target has more distinct values than
    the square root of the number of rows, such as one that is the same in all rows of a
    person, only a linear relation to a numeric column is tested: where rows repeat, any
    column is one-to-one with such a target. A missing cell counts as a value.

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
    """Return whether the values are one-to-one in all but `most_off` rows."""
    own, values = pd.factorize(column, use_na_sentinel=False)
    n_values = int(codes.max()) + 1
    if abs(len(values) - n_values) > most_off:
        return False
    pairs, n_rows = np.unique(own * n_values + codes, return_counts=True)
    left, right = pairs // n_values, pairs % n_values
    by_size = np.argsort(n_rows)  # the most frequent pair is written last and stays
    of_left, of_right = np.zeros(len(values), int), np.zeros(n_values, int)
    of_left[left[by_size]], of_right[right[by_size]] = by_size, by_size
    places = np.arange(len(pairs))
    is_pair = (of_left[left] == places) & (of_right[right] == places)
    return bool(n_rows[~is_pair].sum() <= most_off)


def _is_affine(
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    is_proof: npt.NDArray[np.bool_],
) -> bool:
    """Return whether ``y = c + d x`` up to rounding in nearly all rows with an x.

    The slope is the median slope between neighbouring rows of those marked `is_proof`.
    """
    is_finite = np.isfinite(x) & np.isfinite(y)
    x, y, is_proof = x[is_finite], y[is_finite], is_proof[is_finite]
    if is_proof.sum() < ENOUGH:
        return False
    run, rise = np.diff(x[is_proof]), np.diff(y[is_proof])
    if not run.any():
        return False
    slope = np.median(rise[run != 0] / run[run != 0])
    rest = y - slope * x
    size = np.abs(y).max() + np.abs(slope * x).max()
    is_off = np.abs(rest - np.median(rest[is_proof])) > CLOSE * size
    return bool(slope != 0 and is_off.sum() <= OFF * is_proof.sum())
