"""Losses that depend only on the order of the predictions, and the rule for ties."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

TIE = 1e-12
"""Neighbouring scores are tied if they differ by at most this share of the larger."""
LAST_BITS = 4 * 2.0**-52
"""The smallest such share that can be distinguished from rounding, near 1."""


def ties(ranked: Array, *, near_one: bool = True) -> npt.NDArray[np.bool_]:
    """Return whether each score but the first is tied with the one before it.

    Neighbours are tied if they differ by at most `TIE` times the larger of the two:
    otherwise last bits, which depend on the processor and the libraries, would decide
    their order. The size of the other scores does not matter.

    Parameters
    ----------
    ranked : ndarray of shape (n_samples,)
        Scores in rising or falling order.
    near_one : bool, default True
        Whether scores between 0.5 and 1 may be probabilities. Then the difference of
        tied scores is also at most `TIE` times 1 - p, as for the other class, but
        always allows the `LAST_BITS` of rounding.

    Returns
    -------
    ndarray of shape (n_samples - 1,)
    """
    before, after = ranked[:-1], ranked[1:]
    tied = np.asarray(before == after)
    with np.errstate(invalid="ignore", over="ignore"):  # infinity less infinity
        gap = np.abs(after - before)
    largest = np.abs(ranked[np.isfinite(ranked)]).max(initial=0.0)
    # Only a few are this near; the bootstrap calls this thousands of times.
    near = np.flatnonzero((gap <= TIE * largest) & ~tied)
    if len(near):
        one, other = before[near], after[near]
        larger = np.maximum(np.abs(one), np.abs(other))
        allowed = TIE * larger
        if near_one:
            smaller = np.minimum(one, other)
            of_rest = np.maximum(TIE * (1 - smaller), LAST_BITS * larger)
            allowed = np.where((smaller > 0.5) & (larger <= 1), of_rest, allowed)
        tied[near] = gap[near] <= allowed
    return tied


class RankedWeights(NamedTuple):
    """Cumulative weights by rising score; tied scores share one place.

    Attributes
    ----------
    place : ndarray of shape (n_samples,)
        The place of each row, from 0.
    positive, negative : ndarray of shape (n_places,)
        The weight of the ones, and of the zeros, up to and at each place.
    """

    place: Array
    positive: Array
    negative: Array


def ranked_weights(y: Array, prediction: Array, weights: Array) -> RankedWeights:
    """Return the weights of both classes by rising prediction, ties as in `ties`."""
    order = np.argsort(prediction)
    is_last = np.ones(len(order), dtype=bool)
    np.logical_not(ties(prediction[order]), out=is_last[:-1])
    place = np.zeros(len(order), dtype=np.int64)
    place[order[1:]] = is_last[:-1].cumsum()
    is_one = y == 1
    positive = (weights * is_one)[order].cumsum()[is_last]
    negative = (weights * ~is_one)[order].cumsum()[is_last]
    return RankedWeights(place, positive, negative)


def one_minus_auc(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted share of pairs of a 1 and a 0 that are ranked wrongly.

    Tied predictions (see `ties`) count half, and the weight of a pair is the product of
    its weights; 0.5 is an uninformative ranking. NaN if one of the classes is absent.
    """
    return share_of_wrong_pairs(ranked_weights(y, prediction, weights))


def share_of_wrong_pairs(ranked: RankedWeights) -> float:
    """Return `one_minus_auc` of rows that are already ranked."""
    _, positive, negative = ranked
    pairs = positive[-1] * negative[-1] if len(positive) else 0  # there may be no rows
    if pairs == 0:
        return float("nan")

    # Faster than `np.diff` with prepend; the bootstrap calls this thousands of times.
    tied_positive, tied_negative = positive.copy(), negative.copy()
    tied_positive[1:] -= positive[:-1]
    tied_negative[1:] -= negative[:-1]
    above = negative[-1] - negative
    return float((tied_positive * (above + tied_negative / 2)).sum() / pairs)


def one_minus_auc_ovr(y: Array, prediction: Array, weights: Array) -> float:
    """Return the mean over classes of `one_minus_auc`, each against the rest."""
    return _against_the_rest(one_minus_auc, y, prediction, weights)


def _against_the_rest(
    loss: Callable[[Array, Array, Array], float],
    y: Array,
    prediction: Array,
    weights: Array,
) -> float:
    """Return the mean over classes of a binary loss, each class against the rest."""
    return float(
        np.mean([loss(y == k, p, weights) for k, p in enumerate(prediction.T)])
    )


def one_minus_auc_ovo(y: Array, prediction: Array, weights: Array) -> float:
    """Return the mean of `one_minus_auc` over all pairs of classes.

    For each pair the rows of both are ranked once by the probability of each. The
    frequency of a class does not matter. NaN if a class was not observed. Source: Hand
    and Till (2001), Machine Learning 45, 171-186, where it is 1 - M.
    """
    areas = [
        one_minus_auc(y[rows] == k, prediction[rows, k], weights[rows])
        for k, rows in class_pairs(y, prediction)
    ]
    return float(np.mean(areas))


def class_pairs(y: Array, prediction: Array) -> list[tuple[int, Array]]:
    """Return each class with the rows of it and one other class, (n_samples,)."""
    classes = range(prediction.shape[1])
    return [(k, (y == j) | (y == k)) for j in classes for k in classes if j != k]


def one_minus_pr_auc(y: Array, prediction: Array, weights: Array) -> float:
    """Return 1 minus the area under the precision-recall curve, linearly interpolated.

    The curve starts at recall 0 with precision 1; equal predictions are one point. An
    uninformative ranking has about the share of zeros. NaN if there is no 1. Several
    classes: the mean over classes, each against the rest.
    """
    if prediction.ndim == 2:
        return _against_the_rest(one_minus_pr_auc, y, prediction, weights)
    recall, precision = _precision_over_recall(y, prediction, weights)
    return float(1 - (np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum())


def one_minus_average_precision(y: Array, prediction: Array, weights: Array) -> float:
    """Return 1 minus the mean precision, weighted by the rise of recall.

    The area of `one_minus_pr_auc`, but under steps instead of straight lines. NaN if
    there is no 1. Several classes: the mean over classes, each against the rest.
    """
    if prediction.ndim == 2:
        return _against_the_rest(one_minus_average_precision, y, prediction, weights)
    recall, precision = _precision_over_recall(y, prediction, weights)
    return float(1 - (np.diff(recall) * precision[1:]).sum())


def _precision_over_recall(
    y: Array, prediction: Array, weights: Array
) -> tuple[Array, Array]:
    """Return recall from 0 and precision from 1, along falling predictions.

    Equal predictions are one point. NaN if there is no 1.
    """
    order = np.argsort(-prediction)
    ranked = prediction[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    positive = np.cumsum((weights * (y == 1))[order])[last]
    selected_weight = np.cumsum(weights[order])[last]
    is_defined = selected_weight > 0
    with np.errstate(invalid="ignore"):
        recall = np.append(0.0, positive[is_defined] / positive[-1])
    precision = np.append(1.0, positive[is_defined] / selected_weight[is_defined])
    return recall, precision
