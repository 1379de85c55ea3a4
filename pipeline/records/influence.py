"""Influence of each row on a loss: the values behind standard errors and intervals.

Every function here is ``influence(y, prediction, weights) -> (n_samples,)``, of the
same arrays as a loss. To first order, a resample that contains row *i* c_i times
changes the loss by ``sum(c * influence) / n``: the values have mean 0, the unit of the
loss, and their standard deviation over the square root of *n* is its standard error.
Not: the losses themselves.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from . import losses, ranked_losses
from .losses import Array, RowLosses

Influence: TypeAlias = Callable[[Array, Array, Array], Array]


def std_error_of(values: Array) -> float:
    """Return the standard error of a loss from influence values; NaN for one row."""
    n = len(values)
    return float(np.sqrt(np.square(values).sum() / (n * (n - 1)))) if n > 1 else np.nan


def _of_mean(of_rows: RowLosses, y: Array, prediction: Array, weights: Array) -> Array:
    """Return the influence on a weighted mean; a row without weight has none."""
    has_weight = weights > 0
    if prediction.ndim == 1 and has_weight.all():  # the same values, without copying
        return _about_mean(of_rows(y, prediction), weights)
    values = np.zeros(len(y))
    values[has_weight] = of_rows(y[has_weight], prediction[has_weight])
    return _about_mean(values, weights)


def _about_mean(values: Array, weights: Array) -> Array:
    """Return ``w (value - mean) / mean w``, for one finite value per row."""
    with np.errstate(divide="ignore", invalid="ignore"):  # infinite, or no weight: NaN
        mean = (weights * values).sum() / weights.sum()
        return np.asarray(weights * (values - mean) / weights.mean())


def _of_sum(of_rows: RowLosses, y: Array, prediction: Array, weights: Array) -> Array:
    """Return the influence on a weighted sum over a fixed number of rows."""
    terms = weights * of_rows(y, prediction)
    with np.errstate(invalid="ignore"):  # an infinite term
        return np.asarray(len(y) * (terms - terms.mean()))


def _rmse(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the influence on a root: that on the mean over twice the root."""
    root = losses.rmse(y, prediction, weights)
    of_mean = _of_mean(losses.squared_distances, y, prediction, weights)
    return of_mean / (2 * root) if root > 0 else of_mean


def _one_minus_r2(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the influence on a ratio; to first order the mean of y has none."""
    mean = np.full(len(y), (weights * y).sum() / weights.sum())
    spread = losses.mse(y, mean, weights)
    of_error = _of_mean(losses.squared_distances, y, prediction, weights)
    of_spread = _of_mean(losses.squared_distances, y, mean, weights)
    ratio = losses.one_minus_r2(y, prediction, weights)
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant target: NaN
        return np.asarray((of_error - ratio * of_spread) / spread)


def _one_minus_squared_correlation(
    y: Array, prediction: Array, weights: Array
) -> Array:
    """Return the influence on 1 - r^2, r the correlation of standardised columns."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant column: NaN
        shares = weights / weights.sum()
        centred = [v - (shares * v).sum() for v in (y, prediction)]
        a, b = (v / np.sqrt((shares * v * v).sum()) for v in centred)
        r = (shares * a * b).sum()
        return np.asarray(len(y) * shares * r * (r * (a * a + b * b) - 2 * a * b))


def _one_minus_auc(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the share of wrong pairs of each row minus that of all rows, scaled.

    The placement values of DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44,
    837-845, with weights; ties count half.
    """
    ranked = ranked_losses.ranked_weights(y, prediction, weights)
    place, positive, negative = ranked
    # The weight below a place, including half of the weight at it.
    below_positive = positive - np.diff(positive, prepend=0.0) / 2
    below_negative = negative - np.diff(negative, prepend=0.0) / 2
    is_one = y == 1
    with np.errstate(divide="ignore", invalid="ignore"):  # a class is absent: NaN
        wrong = np.where(
            is_one,
            1 - below_negative[place] / negative[-1],
            below_positive[place] / positive[-1],
        )
        of_class = np.where(is_one, positive[-1], negative[-1]) / len(y)
        loss = ranked_losses.share_of_wrong_pairs(ranked)
        return np.asarray(weights * (wrong - loss) / of_class)


def _one_minus_auc_ovr(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the mean over classes of the influence, each class against the rest."""
    columns = enumerate(prediction.T)
    values = [_one_minus_auc(y == k, column, weights) for k, column in columns]
    return np.mean(values, axis=0)


def _one_minus_auc_ovo(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the mean over pairs of classes of the influence, each on its own rows."""
    values = np.zeros(len(y))
    pairs = ranked_losses.class_pairs(y, prediction)
    for k, rows in pairs:
        if not rows.any():  # two classes are absent
            return np.full(len(y), np.nan)
        share = len(y) / max(rows.sum(), 1)
        of_pair = _one_minus_auc(y[rows] == k, prediction[rows, k], weights[rows])
        values[rows] += share * of_pair
    return values / len(pairs)


def _one_minus_youden(y: Array, prediction: Array, weights: Array) -> Array:
    """Return twice the influence on `one_minus_balanced_accuracy`."""
    return 2 * _one_minus_balanced_accuracy(y, prediction, weights)


def _one_minus_balanced_accuracy(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the mean influence on the shares missed, each on its own rows."""
    n_classes = 2 if prediction.ndim == 1 else prediction.shape[1]
    predicted = losses.predicted_class(prediction)
    values = np.zeros(len(y))
    for k in range(n_classes):
        is_wrong = (predicted == k) != (y == k)
        for at in (y == k, y != k):
            if not at.any():  # the loss is NaN, and there are no rows
                continue
            share = len(y) / at.sum()
            values[at] += share * _about_mean(is_wrong[at], weights[at])
    return values / (2 * n_classes)


def _one_minus_mean_recall(y: Array, prediction: Array, weights: Array) -> Array:
    """Return the mean influence on the share missed of each class, on its own rows."""
    is_missed = losses.misses(y, prediction)
    classes = np.unique(y[weights > 0])
    values = np.zeros(len(y))
    for at in (y == k for k in classes):
        share = len(y) / at.sum() / len(classes)
        values[at] = share * _about_mean(is_missed[at], weights[at])
    return values


INFLUENCE: dict[str, Influence] = {
    **{
        name: partial(_of_sum if name in losses.SUMS else _of_mean, of_rows)
        for name, of_rows in losses.OF_ROWS.items()
    },
    "rmse": _rmse,
    "one_minus_r2": _one_minus_r2,
    "one_minus_squared_correlation": _one_minus_squared_correlation,
    "one_minus_auc": _one_minus_auc,
    "one_minus_auc_ovo": _one_minus_auc_ovo,
    "one_minus_auc_ovr": _one_minus_auc_ovr,
    "one_minus_balanced_accuracy": _one_minus_balanced_accuracy,
    "one_minus_mean_recall": _one_minus_mean_recall,
    "one_minus_youden": _one_minus_youden,
}
"""Functions by loss. Two losses have no influence values: `one_minus_pr_auc`, where
other rows would move the points that straight lines join, and
`one_minus_average_precision`,
where they would move the steps."""
