"""Links as computed by XGBoost, LightGBM and R, in the precision of the sums.

numpy's exponential function differs from that of C, which they call, in the last bit.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ...records.dataset_and_model import Floats
from .compiled import Loop

Exponential = Callable[[Floats], Floats]
MOST_IN_SINGLE = 88.7
"""XGBoost limits exponents to this value, to avoid overflow."""


@Loop
def _powers(values: Floats) -> Floats:
    """Return C's exponential function of some numbers, in their own precision."""
    powers = np.empty_like(values)
    for i in range(len(values)):
        powers[i] = math.exp(values[i])
    return powers


def _exp_in_c(sums: Floats) -> Floats:
    """Return C's exponential function of sums, (n, n_outputs)."""
    return np.asarray(_powers(np.ravel(sums)).reshape(sums.shape))


def _sigmoid(exp: Exponential, sums: Floats) -> Floats:
    """Return the logistic function of each sum, (n, n_outputs)."""
    most = MOST_IN_SINGLE if sums.dtype == np.float32 else np.inf
    with np.errstate(over="ignore"):  # the probability is then 0
        return np.asarray(1 / (exp(np.minimum(-sums, most)) + 1))


def _two_classes(exp: Exponential, sums: Floats) -> Floats:
    """Return the probabilities of two classes from the score of the second."""
    second = _sigmoid(exp, sums)
    return np.column_stack([1 - second, second])


def _softmax_in_c(sums: Floats) -> Floats:
    """Return probabilities; their total is taken in double, class by class."""
    powers = _exp_in_c(sums - sums.max(axis=1, keepdims=True))
    totals = np.cumsum(powers, axis=1, dtype=np.float64)[:, -1:]
    return np.asarray(powers / totals.astype(sums.dtype))


def _softmax_of_r(sums: Floats) -> Floats:
    """Return probabilities as gbm does, whose totals R adds up in long doubles."""
    powers = _exp_in_c(sums)
    totals = np.cumsum(powers, axis=1, dtype=np.longdouble)[:, -1:]
    return np.asarray(powers / totals.astype(np.float64))


def _signed_square(sums: Floats) -> Floats:
    """Return the square of each sum with its sign, for targets fitted as roots."""
    return np.asarray(np.sign(sums) * sums**2)


LINKS_OF_BOOSTING: dict[str, Callable[[Floats], Floats]] = {
    "exp_in_c": _exp_in_c,
    "sigmoid": partial(_sigmoid, np.exp),
    "sigmoid_in_c": partial(_sigmoid, _exp_in_c),
    "two_classes": partial(_two_classes, np.exp),
    "two_classes_in_c": partial(_two_classes, _exp_in_c),
    "softmax_in_c": _softmax_in_c,
    "softmax_of_r": _softmax_of_r,
    "signed_square": _signed_square,
}
"""From the sums of rows, (n, n_outputs), to predictions, a column per class."""
