"""One text that says which predictions a number rests on. Not: predicting."""

import hashlib
import math

import numpy as np

from ..records.dataset_and_model import Floats

DIGITS = 7
"""Of the largest prediction: far above what another BLAS changes."""
LARGEST_POWER = 308
"""Of ten, that is a float."""


def predictions_sha256(predictions: Floats) -> str:
    r"""Return the digest of predictions, the same wherever they are the same.

    With :math:`e = \lfloor \log_{10} \max_i |f(x_i)| \rfloor - 6`, each prediction is
    rounded to a multiple of :math:`10^e`, so that the largest has 7 digits. The digest
    is the SHA-256 of lines of UTF-8 text, each ended by one line feed: ``predictions``,
    the numbers of rows and of columns and *e*; then one line per row with its
    multiples, whole numbers, in the order of the columns; all parted by one space.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows,) or (n_rows, n_classes)
        In the order of the rows, and of the classes.

    Returns
    -------
    str
        64 hexadecimal digits.

    Warnings
    --------
    Predictions that differ by less than half of :math:`10^e` have one digest but for
    those at the edge of rounding: of rows whose predictions differ by a share *d* of
    the largest, about :math:`10^6 d` to :math:`10^7 d` fall on two sides of one. What
    is not finite is written as Python writes it.
    """
    table = np.asarray(predictions, dtype=np.float64)
    table = table.reshape(len(table), -1)
    finite = np.abs(table[np.isfinite(table)])
    largest = float(finite.max(initial=0.0))
    exponent = int(np.floor(np.log10(largest))) - DIGITS + 1 if largest else 0
    with np.errstate(invalid="ignore"):
        # Exact powers of ten on either side: 10.0**-3 is not one. The power for tiny
        # numbers can be larger than any float, so it is taken in two parts.
        up = min(max(-exponent, 0), LARGEST_POWER)
        rest, down = max(-exponent - up, 0), max(exponent, 0)
        whole = table * 10.0**up * 10.0**rest / 10.0**down
    lines = [f"predictions {table.shape[0]} {table.shape[1]} {exponent}"]
    lines += map(" ".join, zip(*map(_digits, np.rint(whole).T), strict=True))
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _digits(column: Floats) -> list[str]:
    """Return whole numbers without a point, and no sign at zero."""
    if np.isfinite(column).all():
        return list(map(str, column.astype(np.int64).tolist()))
    return [str(int(x)) if math.isfinite(x) else str(x) for x in column.tolist()]
