"""A digest that identifies the predictions behind a number. Not: predicting."""

import hashlib
import math

import numpy as np

from ..records.dataset_and_model import Floats

DIGITS = 7
"""Significant digits of the largest prediction: far above differences between BLAS."""
LARGEST_POWER = 308
"""Largest power of ten that is a float."""


def predictions_sha256(predictions: Floats) -> str:
    r"""Return a digest of predictions, the same on every machine.

    With :math:`e = \lfloor \log_{10} \max_i |f(x_i)| \rfloor - 6`, each prediction is
    rounded to a multiple of :math:`10^e`, so that the largest has 7 digits. The digest
    is the SHA-256 of lines of UTF-8 text, each ended by one line feed. The first line
    is ``predictions``, the numbers of rows and of columns, and *e*. Each row follows as
    one line with its multiples, whole numbers, in the order of the columns. Items are
    separated by one space.

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
    Predictions that differ by less than half of :math:`10^e` usually have the same
    digest, except at the edge of rounding: if predictions differ by a share *d* of the
    largest, about :math:`10^6 d` to :math:`10^7 d` of the rows round differently. NaN
    and the infinities are written as Python writes them.
    """
    table = np.asarray(predictions, dtype=np.float64)
    table = table.reshape(len(table), -1)
    finite = np.abs(table[np.isfinite(table)])
    largest = float(finite.max(initial=0.0))
    exponent = int(np.floor(np.log10(largest))) - DIGITS + 1 if largest else 0
    with np.errstate(invalid="ignore"):
        # Only positive powers of ten are exact. The power for tiny numbers can exceed
        # the largest float, so it is taken in two parts.
        up = min(max(-exponent, 0), LARGEST_POWER)
        rest, down = max(-exponent - up, 0), max(exponent, 0)
        whole = table * 10.0**up * 10.0**rest / 10.0**down
    lines = [f"predictions {table.shape[0]} {table.shape[1]} {exponent}"]
    lines += map(" ".join, zip(*map(_digits, np.rint(whole).T), strict=True))
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _digits(column: Floats) -> list[str]:
    """Return whole numbers as text without a point, and without a sign at zero."""
    if np.isfinite(column).all():
        return list(map(str, column.astype(np.int64).tolist()))
    return [str(int(x)) if math.isfinite(x) else str(x) for x in column.tolist()]
