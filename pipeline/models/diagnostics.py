"""Data behind the performance figures: ROC curve, calibration, residuals.

All are computed in closed form from the rows, their weights and the predictions;
nothing is drawn at random. Rows without weight are left out; a row of weight 2 counts
like two equal rows. Not: losses and their standard errors (`performance`).
"""

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.frames import DECILES
from ..records.losses import predicted_class
from ..records.ranked_losses import ranked_weights
from ..records.ranking import LEVEL

MOST_THRESHOLDS = 200
"""Most points of a ROC curve; `roc_curve` states the error of thinning a longer one."""
MOST_PARTS, LEAST_ROWS = 20, 10
"""Most parts of the rows by rising prediction, and fewest rows of each."""
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
SLACK = 1e-9
"""Tolerance for rounding in sums of weights that decide between two parts."""

Places = npt.NDArray[np.int64]
Plain = dict[str, Any]


def diagnostic_rows(
    model: FittedModel, data: Dataset, prediction: Floats, *, split: str
) -> dict[str, list[Plain]]:
    """Return the rows of `roc`, `calibration` and `residuals` that apply to a task.

    Parameters
    ----------
    model : FittedModel
    data : Dataset
        The rows that were predicted.
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
    split : str
        The name of these rows in the frames.
    """
    keep = data.weights > 0
    own = data.y[keep], prediction[keep], data.weights[keep]
    who: Plain = {"model": model.name, "split": split}
    rows: dict[str, list[Plain]] = {}
    if model.task == "regression":
        rows["residuals"] = _labelled(who, residual_parts(*own))
    if model.task == "binary" and model.scale != "class":
        of_class = {**who, "positive_class": model.classes[1]}
        rows["roc"] = _labelled(of_class, roc_curve(*own))
    if parts := calibration_rows(model, *own, n_parts=DECILES):
        rows["calibration"] = _labelled(who, parts)
    return rows


def calibration_rows(
    model: FittedModel,
    y: Floats,
    prediction: Floats,
    weights: Floats,
    *,
    n_parts: int,
) -> list[Plain]:
    """Return mean predictions and mean observations in equal parts of the rows.

    Parameters
    ----------
    model : FittedModel
        If it predicts no probabilities, the list is empty.
    y, weights : ndarray of shape (n_samples,)
        At least one weight is positive.
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
    n_parts : int
        Number of parts, by rising prediction.

    Returns
    -------
    list of dict
        The columns of the frame `calibration` except model and split. For several
        classes: first the predicted class, with an empty name, then each class.
    """
    keep = weights > 0
    y, prediction, weights = y[keep], prediction[keep], weights[keep]
    if model.task == "regression":
        parts = mean_parts(y, prediction, weights, n_parts)
        return _labelled({"positive_class": ""}, parts)
    if model.scale in ("class", "score"):  # without probabilities
        return []
    judged = [(model.classes[-1], y == 1, prediction)]
    if model.task == "multiclass":
        judged = [("", predicted_class(prediction) == y, prediction.max(axis=1))]
        judged += [
            (name, y == k, prediction[:, k]) for k, name in enumerate(model.classes)
        ]
    return [
        {"positive_class": name, **part}
        for name, hit, probability in judged
        for part in calibration_parts(hit, probability, weights, n_parts)
    ]


def roc_curve(y: Floats, prediction: Floats, weights: Floats) -> list[Plain]:
    """Return the points of a ROC curve, from (0, 0) to (1, 1).

    Points on a straight line between their neighbours are left out. If more than 200
    remain, those nearest to even steps of the sum of both rates are kept; the error of
    the area under the curve is then less than 0.0025.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        1 for the positive class.
    prediction, weights : ndarray of shape (n_samples,)

    Returns
    -------
    list of dict
        threshold, false_rate, true_rate; empty if one of the classes is absent.
    """
    if not 0 < (y == 1).sum() < len(y):
        return []
    place, positive, negative = ranked_weights(y, prediction, weights)
    lowest = np.full(len(positive), np.inf)
    np.minimum.at(lowest, place, prediction)
    threshold = np.append(np.inf, lowest[::-1])
    true_rate, false_rate = (
        np.append(0.0, 1 - np.append(0.0, each[:-1])[::-1] / each[-1])
        for each in (positive, negative)
    )
    at = _corners(false_rate, true_rate)
    if len(at) > MOST_THRESHOLDS:
        along = (false_rate + true_rate)[at]
        steps = np.linspace(0.0, 2.0, MOST_THRESHOLDS)
        after = np.clip(np.searchsorted(along, steps), 1, len(at) - 1)
        is_nearer = steps - along[after - 1] < along[after] - steps
        at = at[np.unique(after - is_nearer)]
    return [
        {
            "threshold": float(threshold[i]),
            "false_rate": float(false_rate[i]),
            "true_rate": float(true_rate[i]),
        }
        for i in at
    ]


def _corners(x: Floats, y: Floats) -> Places:
    """Return the indexes of the points at which a path turns, and of both ends."""
    moves = np.append(True, (np.diff(x) != 0) | (np.diff(y) != 0))
    at = np.flatnonzero(moves)
    dx, dy = np.diff(x[at]), np.diff(y[at])
    turns = np.abs(dx[:-1] * dy[1:] - dx[1:] * dy[:-1]) > 1e-15
    return at[np.concatenate([[True], turns, [True]])]


def calibration_parts(
    hit: npt.NDArray[np.bool_],
    probability: Floats,
    weights: Floats,
    n_parts: int = DECILES,
) -> list[Plain]:
    """Return mean probabilities and observed shares in equal parts of the rows.

    Rows are ordered by probability; tied rows (see `ties`) belong to the same part,
    which contains the middle of their weight, so that fewer than `n_parts` may result.

    Parameters
    ----------
    hit : ndarray of shape (n_samples,)
        Whether a row is of the class that `probability` refers to.
    probability, weights : ndarray of shape (n_samples,)
    n_parts : int

    Returns
    -------
    list of dict
        The columns of the frame `calibration` from `bin` on. The interval of a weighted
        share uses the effective number of rows, (Σw)² / Σw².
    """
    parts = []
    for at, part in _equal_parts(probability, weights, n_parts):
        weight = weights[at]
        observed = float(np.average(hit[at], weights=weight))
        low, high = wilson(observed, float(weight.sum() ** 2 / (weight**2).sum()))
        parts.append(
            {
                **part,
                "hits": int(hit[at].sum()),
                "predicted": float(np.average(probability[at], weights=weight)),
                "observed": observed,
                "low": low,
                "high": high,
            }
        )
    return parts


def mean_parts(
    y: Floats, prediction: Floats, weights: Floats, n_parts: int = DECILES
) -> list[Plain]:
    """Return mean predictions and mean targets in equal parts of the rows.

    Rows are ordered by prediction, tied rows as in `calibration_parts`.

    Parameters
    ----------
    y, prediction, weights : ndarray of shape (n_samples,)
    n_parts : int

    Returns
    -------
    list of dict
        The columns of the frame `calibration` from `bin` on; `hits` is NaN. low, high:
        the mean prediction plus the 95 % t interval of the mean residual, with the
        effective number of rows, (Σw)² / Σw². They are NaN for a single row.
    """
    from scipy.special import stdtrit

    parts = []
    for at, part in _equal_parts(prediction, weights, n_parts):
        weight, residual = weights[at], y[at] - prediction[at]
        total, n = weight.sum(), float(weight.sum() ** 2 / (weight**2).sum())
        predicted = float(np.average(prediction[at], weights=weight))
        mean = float(np.average(residual, weights=weight))
        half = np.nan
        if n > 1 + SLACK:
            # Scaled by the largest residual: squares of 1e300 are not finite.
            size = np.abs(residual).max() or 1.0
            shares = weight / total * (residual - mean) / size
            quantile = stdtrit(n - 1, (1 + LEVEL) / 2)
            half = float(quantile * np.sqrt((shares**2).sum() * n / (n - 1)) * size)
        parts.append(
            {
                **part,
                "hits": np.nan,
                "predicted": predicted,
                "observed": predicted + mean,
                "low": predicted + mean - half,
                "high": predicted + mean + half,
            }
        )
    return parts


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share among `n` rows.

    Wilson, E. B. (1927): Probable inference, the law of succession, and statistical
    inference. Journal of the American Statistical Association 22, 209-212.
    """
    z2 = NormalDist().inv_cdf((1 + LEVEL) / 2) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def residual_parts(y: Floats, prediction: Floats, weights: Floats) -> list[Plain]:
    """Return statistics of the residuals in at most 20 equal parts of the rows.

    Rows are ordered by prediction.

    Parameters
    ----------
    y, prediction, weights : ndarray of shape (n_samples,)

    Returns
    -------
    list of dict
        The columns of the frame `residuals` from `bin` on. A quantile is the smallest
        residual with that share of the weight at or below it; where the share is met
        exactly, the mean of that residual and the next.
    """
    n_parts = min(MOST_PARTS, max(1, len(y) // LEAST_ROWS))
    residual = y - prediction
    parts = []
    for at, part in _equal_parts(prediction, weights, n_parts):
        parts.append(
            {
                **part,
                "fitted": float(np.average(prediction[at], weights=weights[at])),
                "mean": float(np.average(residual[at], weights=weights[at])),
                **_quantiles(residual[at], weights[at]),
            }
        )
    return parts


def _equal_parts(
    values: Floats, weights: Floats, n_parts: int
) -> Iterator[tuple[Places, Plain]]:
    """Yield the row indexes and the description of each part by rising value.

    No part is empty. Tied rows belong to the part that contains the middle of their
    weight.
    """
    if not len(values):
        return
    place, first, rest = ranked_weights(np.ones(len(values)), values, weights)
    upto = first + rest
    middle = upto - np.diff(upto, prepend=0.0) / 2
    part = np.floor(n_parts * middle / upto[-1] + SLACK).astype(np.int64)
    of_row = np.minimum(part, n_parts - 1)[place]
    for number, code in enumerate(np.unique(of_row), start=1):
        at = np.flatnonzero(of_row == code)
        yield (
            at,
            {
                "bin": number,
                "rows": len(at),
                "weight": float(weights[at].sum()),
                "lowest": float(values[at].min()),
                "highest": float(values[at].max()),
            },
        )


def _quantiles(values: Floats, weights: Floats) -> Plain:
    """Return weighted quantiles: the inverse of the ECDF, averaged at its steps."""
    order = np.argsort(values)
    ranked, upto = values[order], np.cumsum(weights[order])
    quantiles: Plain = {}
    for name, share in QUANTILES.items():
        wanted, slack = share * upto[-1], SLACK * upto[-1]
        first = int(np.searchsorted(upto, wanted - slack))
        after = min(int(np.searchsorted(upto, wanted + slack)), len(ranked) - 1)
        quantiles[name] = float((ranked[first] + ranked[after]) / 2)
    return quantiles


def _labelled(who: Plain, rows: list[Plain]) -> list[Plain]:
    return [{**who, **row} for row in rows]
