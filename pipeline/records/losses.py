"""Losses of predictions: lower is better; rows can be weighted.

Every loss is a function ``loss(y, prediction, weights) -> float`` of arrays with one
entry per row. For a binary task `y` is 0 or 1 and `prediction` the probability of 1;
for a multiclass task `y` holds codes 0, 1, … and `prediction` one column per class.
Unit weights give the unweighted definition. Losses that depend only on the order of the
predictions are in `ranked_losses`. Not: the names of losses in R.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .extensions import OpenTable, is_in_force
from .ranked_losses import (
    one_minus_auc,
    one_minus_auc_ovo,
    one_minus_auc_ovr,
    one_minus_average_precision,
    one_minus_pr_auc,
)

Array = npt.NDArray[Any]
Evaluation: TypeAlias = Callable[[Array, Array, Array], float]
RowLosses: TypeAlias = Callable[[Array, Array], Array]
"""``of_rows(y, prediction) -> (n_samples,)``: the terms of the weighted mean."""
REGRESSION, BINARY, MULTICLASS = "regression", "binary", "multiclass"
SMALLEST = 2.0**-52
"""The smallest probability in `log_loss_clipped`."""
DALEX_SMALLEST = 1e-4
"""The smallest probability in `dalex_cross_entropy`."""


class Loss(NamedTuple):
    """One row of the table of losses.

    Attributes
    ----------
    function : callable
        ``function(y, prediction, weights) -> float``.
    tasks : tuple of str
        The tasks it is defined for.
    unit : str
        "y", "y^2", "%", "nats" or "1".
    label : str
        Its name in the report.
    formula : str
        With observation `y`, prediction `p`, weight `w` (1 if the data have none)
        and `p_y` the probability of the observed class.
    """

    function: Evaluation
    tasks: tuple[str, ...]
    unit: str
    label: str
    formula: str


def _mean(values: Array, weights: Array) -> float:
    """Return the weighted mean of one value per row."""
    return _per_weight(float((weights * values).sum()), weights)


def _mean_of(of_rows: RowLosses, y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of row losses, which are finite."""
    return _mean(of_rows(y, prediction), weights)


def _mean_of_weighted(
    of_rows: RowLosses, y: Array, prediction: Array, weights: Array
) -> float:
    """Return the weighted mean of row losses, rows without weight ignored."""
    has_weight = weights > 0
    values = of_rows(y[has_weight], prediction[has_weight])
    return _mean(values, weights[has_weight])


def _per_weight(total: float, weights: Array) -> float:
    """Return a sum divided by the total weight, NaN if no row has weight."""
    weight = float(weights.sum())
    return total / weight if weight > 0 else float("nan")


def sum_of_squares(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted sum of squared errors."""
    error = y - prediction
    return float((weights * error * error).sum())


def mse(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of squared errors."""
    return _per_weight(sum_of_squares(y, prediction, weights), weights)


def rmse(y: Array, prediction: Array, weights: Array) -> float:
    """Return the square root of the weighted mean of squared errors."""
    return float(np.sqrt(mse(y, prediction, weights)))


def absolute_errors(y: Array, prediction: Array) -> Array:
    """Return the absolute error of each row."""
    return np.asarray(np.abs(y - prediction))


def poisson_deviances(y: Array, prediction: Array) -> Array:
    """Return the Poisson deviance of each row: twice (log L(y) - log L(p)).

    L is the likelihood of the target by its mean. A prediction of 0 or below, for a
    count above 0, gives infinity. NaN if the target is negative.
    """
    from scipy.special import kl_div

    return np.where(y < 0, np.nan, 2 * kl_div(y.astype(np.float64), prediction))


def gamma_deviances(y: Array, prediction: Array) -> Array:
    """Return the gamma deviance of each row: twice (log L(y) - log L(p)).

    L is the likelihood of the target by its mean. A prediction of 0 or below gives
    infinity. NaN if the target is not above 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = y / prediction
        deviance = np.where(prediction > 0, 2 * (ratio - 1 - np.log(ratio)), np.inf)
    return np.where(y > 0, deviance, np.nan)


def percent_errors(y: Array, prediction: Array) -> Array:
    """Return the absolute error of each row in percent of the absolute target.

    Infinite or NaN if the target is 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(100 * np.abs((y - prediction) / y))


def relative_errors(y: Array, prediction: Array) -> Array:
    """Return absolute errors over the absolute target, which is at least 2^-52.

    A row with target 0 counts its error times 4.5e15, as in the mean absolute
    percentage error of scikit-learn.
    """
    return absolute_errors(y, prediction) / np.maximum(np.abs(y), SMALLEST)


def one_minus_r2(y: Array, prediction: Array, weights: Array) -> float:
    """Return the squared error over that of the mean; NaN for a constant target."""
    weight = float(weights.sum())
    if weight <= 0:
        return float("nan")
    mean = np.full(len(y), float((weights * y).sum()) / weight)
    total = sum_of_squares(y, mean, weights)
    error = sum_of_squares(y, prediction, weights)
    return error / total if total > 0 else float("nan")


def one_minus_squared_correlation(y: Array, prediction: Array, weights: Array) -> float:
    """Return 1 minus the squared weighted correlation of target and prediction.

    It ignores a bias and a wrong scale, even a wrong sign; `one_minus_r2` does not.
    NaN if the target or the prediction is constant.
    """
    counts = weights > 0
    pair = np.stack([y[counts], prediction[counts]]).astype(np.float64)
    if not counts.any() or (np.ptp(pair, axis=1) == 0).any():
        return float("nan")
    centred = pair - np.average(pair, axis=1, weights=weights[counts], keepdims=True)
    moments = (weights[counts] * centred) @ centred.T
    return float(1 - moments[0, 1] ** 2 / (moments[0, 0] * moments[1, 1]))


def _of_observed_class(y: Array, prediction: Array) -> Array:
    """Return the predicted probability of the observed class, (n_samples,)."""
    if prediction.ndim == 1:
        return np.where(y == 1, prediction, 1 - prediction)
    return np.asarray(prediction[np.arange(len(y)), y.astype(np.intp)])


def surprises(y: Array, prediction: Array) -> Array:
    """Return -log p of the observed class of each row, infinity if p is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(_of_observed_class(y, prediction)))


def clipped_surprises(y: Array, prediction: Array, smallest: float = SMALLEST) -> Array:
    """Return -log p of the observed class of each row, p at least `smallest`.

    By default that is the distance from 1 to the next float. A tree predicts
    probability 0 for a class that is absent from a leaf: this loss stays finite there.
    """
    return np.asarray(-np.log(np.maximum(_of_observed_class(y, prediction), smallest)))


def negative_log_likelihood(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted sum of -log p of the observed class, without clipping.

    A probability of 0 for the observed class gives infinity, unless the weight is 0.
    """
    has_weight = weights > 0
    surprise = surprises(y[has_weight], prediction[has_weight])
    return float((weights[has_weight] * surprise).sum())


def log_loss(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of -log p of the observed class, without clipping."""
    return _per_weight(negative_log_likelihood(y, prediction, weights), weights)


def dalex_cross_entropy(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted sum of -log p of the observed class, p at least 0.0001.

    The default loss of DALEX for multiclass models; it grows with the number of rows.
    """
    surprise = clipped_surprises(y, prediction, DALEX_SMALLEST)
    return float((weights * surprise).sum())


def squared_distances(y: Array, prediction: Array) -> Array:
    """Return the squared error of each row: the terms of `brier` and `mse`."""
    if prediction.ndim == 1:
        return np.asarray((y - prediction) ** 2)
    outcome = np.eye(prediction.shape[1])[y.astype(np.intp)]  # (n_samples, n_classes)
    return np.asarray(((outcome - prediction) ** 2).sum(axis=1) / 2)


def brier(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean squared distance of probabilities from the outcome.

    Several classes: half the sum over classes, so that two classes as two columns give
    the same value as one probability.
    """
    if prediction.ndim == 1:
        return mse(y, prediction, weights)
    return _mean(squared_distances(y, prediction), weights)


def misses(y: Array, prediction: Array) -> Array:
    """Return whether the predicted class of each row differs from the observed one.

    The most probable class is predicted, the first in ties; in a binary task, 1 if its
    probability is above 0.5.
    """
    return np.asarray(predicted_class(prediction) != y)


def one_minus_balanced_accuracy(y: Array, prediction: Array, weights: Array) -> float:
    """Return the mean of the shares misclassified in a class and in all others.

    Several classes: the mean over classes, each against the rest. Classes are predicted
    as in `misses`. NaN if a class was not observed.
    """
    n_classes = 2 if prediction.ndim == 1 else prediction.shape[1]
    predicted = predicted_class(prediction)
    missed = []
    for k in range(n_classes):
        is_wrong = (predicted == k) != (y == k)
        missed += [_mean(is_wrong[at], weights[at]) for at in (y == k, y != k)]
    return float(np.mean(missed))


def one_minus_mean_recall(y: Array, prediction: Array, weights: Array) -> float:
    """Return the mean over classes of the misclassified share of their rows.

    Classes are predicted as in `misses`; classes without a weighted row do
    not count. NaN if there is no such row. In a binary task it equals
    `one_minus_balanced_accuracy`.
    """
    is_missed = misses(y, prediction)
    missed = [
        _mean(is_missed[at], weights[at]) for at in (y == k for k in np.unique(y))
    ]
    return float(np.mean([share for share in missed if not np.isnan(share)] or np.nan))


def one_minus_youden(y: Array, prediction: Array, weights: Array) -> float:
    """Return 1 minus Youden's J = sensitivity + specificity - 1, from 0 to 2.

    Twice `one_minus_balanced_accuracy`. Source: Youden (1950), Cancer 3, 32-35.
    """
    return 2 * one_minus_balanced_accuracy(y, prediction, weights)


def predicted_class(prediction: Array) -> Array:
    """Return the code of the predicted class, (n_samples,)."""
    if prediction.ndim == 1:
        return prediction > 0.5
    return np.asarray(prediction.argmax(axis=1))


_OURS: dict[str, Loss] = {
    "rmse": Loss(rmse, (REGRESSION,), "y", "RMSE", "√(Σ w (y − p)² / Σ w)"),
    "mse": Loss(mse, (REGRESSION,), "y^2", "MSE", "Σ w (y − p)² / Σ w"),
    "sum_of_squares": Loss(
        sum_of_squares, (REGRESSION,), "y^2", "sum of squares", "Σ w (y − p)²"
    ),
    "mae": Loss(
        partial(_mean_of, absolute_errors),
        (REGRESSION,),
        "y",
        "MAE",
        "Σ w |y − p| / Σ w",
    ),
    "poisson_deviance": Loss(
        partial(_mean_of_weighted, poisson_deviances),
        (REGRESSION,),
        "y",
        "Poisson deviance",
        "Σ w 2(y log(y / p) − y + p) / Σ w",
    ),
    "gamma_deviance": Loss(
        partial(_mean_of_weighted, gamma_deviances),
        (REGRESSION,),
        "1",
        "gamma deviance",
        "Σ w 2(y / p − 1 − log(y / p)) / Σ w",
    ),
    "mape": Loss(
        partial(_mean_of_weighted, percent_errors),
        (REGRESSION,),
        "%",
        "MAPE",
        "100 Σ w |y − p| / |y| / Σ w",
    ),
    "mean_relative_error": Loss(
        partial(_mean_of, relative_errors),
        (REGRESSION,),
        "1",
        "mean relative error",
        "Σ w |y − p| / max(|y|, 2^-52) / Σ w",
    ),
    "one_minus_r2": Loss(
        one_minus_r2,
        (REGRESSION,),
        "1",
        "1 − R²",
        "Σ w (y − p)² / Σ w (y − mean y)²",
    ),
    "one_minus_squared_correlation": Loss(
        one_minus_squared_correlation,
        (REGRESSION,),
        "1",
        "1 − squared correlation",
        "1 − cor(y, p)², weighted by w; forgives a bias and a wrong scale",
    ),
    "one_minus_auc": Loss(
        one_minus_auc,
        (BINARY,),
        "1",
        "1 − AUC",
        "share of pairs of a 1 and a 0 in the wrong order, ties (to 1e-12) half",
    ),
    "one_minus_auc_ovo": Loss(
        one_minus_auc_ovo,
        (MULTICLASS,),
        "1",
        "1 − AUC, pairs of classes",
        "mean over pairs of classes of 1 − AUC among their rows (Hand and Till)",
    ),
    "one_minus_auc_ovr": Loss(
        one_minus_auc_ovr,
        (MULTICLASS,),
        "1",
        "1 − AUC, class against rest",
        "mean over classes of 1 − AUC of the class against all others",
    ),
    "log_loss": Loss(
        log_loss, (BINARY, MULTICLASS), "nats", "log loss", "−Σ w log p_y / Σ w"
    ),
    "log_loss_clipped": Loss(
        partial(_mean_of, clipped_surprises),
        (BINARY, MULTICLASS),
        "nats",
        "clipped log loss",
        "−Σ w log max(p_y, 2^-52) / Σ w; finite where a tree says p_y = 0",
    ),
    "dalex_cross_entropy": Loss(
        dalex_cross_entropy,
        (MULTICLASS,),
        "nats",
        "cross-entropy (DALEX)",
        "−Σ w log max(p_y, 0.0001)",
    ),
    "brier": Loss(
        brier,
        (BINARY, MULTICLASS),
        "1",
        "Brier score",
        "Σ w (y − p)² / Σ w; several classes: half the sum over classes",
    ),
    "one_minus_accuracy": Loss(
        partial(_mean_of, misses),
        (BINARY, MULTICLASS),
        "1",
        "1 − accuracy",
        "Σ w 1{predicted class ≠ y} / Σ w; binary: cut at 0.5",
    ),
    "one_minus_balanced_accuracy": Loss(
        one_minus_balanced_accuracy,
        (BINARY, MULTICLASS),
        "1",
        "1 − balanced accuracy",
        "mean over classes of the share missed of a class and of all others",
    ),
    "one_minus_mean_recall": Loss(
        one_minus_mean_recall,
        (BINARY, MULTICLASS),
        "1",
        "1 − mean recall",
        "mean over the classes observed of the share missed of a class",
    ),
    "one_minus_youden": Loss(
        one_minus_youden,
        (BINARY, MULTICLASS),
        "1",
        "1 − Youden's J",
        "sum of the shares missed of a class and of all others, mean over classes",
    ),
    "one_minus_pr_auc": Loss(
        one_minus_pr_auc,
        (BINARY, MULTICLASS),
        "1",
        "1 − PR AUC",
        "1 − area under precision over recall, from (0, 1), straight lines; "
        "several classes: mean over classes against the rest",
    ),
    "one_minus_average_precision": Loss(
        one_minus_average_precision,
        (BINARY, MULTICLASS),
        "1",
        "1 − average precision",
        "1 − Σ precision × rise of recall, a step per score; several classes: mean "
        "over classes against the rest",
    ),
    "negative_log_likelihood": Loss(
        negative_log_likelihood,
        (BINARY, MULTICLASS),
        "nats",
        "negative log-likelihood",
        "−Σ w log p_y",
    ),
}
LOSSES: dict[str, Loss] = OpenTable("loss", _OURS)


OF_CLASS = (
    *("one_minus_accuracy", "one_minus_mean_recall"),
    *("one_minus_balanced_accuracy", "one_minus_youden"),
)
"""Losses that depend only on the predicted class."""
OF_ORDER = ("one_minus_auc", "one_minus_pr_auc", "one_minus_average_precision")
"""Binary losses that depend only on the order of the predictions."""
SUMS = ("sum_of_squares", "dalex_cross_entropy", "negative_log_likelihood")
"""Losses that grow with the number of rows."""
OF_ROWS: dict[str, RowLosses] = {
    "rmse": squared_distances,
    "mse": squared_distances,
    "sum_of_squares": squared_distances,
    "mae": absolute_errors,
    "poisson_deviance": poisson_deviances,
    "gamma_deviance": gamma_deviances,
    "mape": percent_errors,
    "mean_relative_error": relative_errors,
    "one_minus_r2": squared_distances,
    "log_loss": surprises,
    "log_loss_clipped": clipped_surprises,
    "dalex_cross_entropy": partial(clipped_surprises, smallest=DALEX_SMALLEST),
    "brier": squared_distances,
    "one_minus_accuracy": misses,
    "negative_log_likelihood": surprises,
}
"""By loss, its terms: the loss is their weighted mean, or for `SUMS` their sum.

RMSE is the root of the mean; 1 - R2 divides it by the mean squared deviation of y.
Losses that are not means over rows are not listed.
"""
NEEDS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "poisson_deviance": ("of 0 or more", lambda y: y >= 0),
    "gamma_deviance": ("above 0", lambda y: y > 0),
    "mape": ("other than 0", lambda y: y != 0),
    "mean_relative_error": ("other than 0", lambda y: y != 0),
}
"""Condition of some losses on each target, in words and as a function."""
_CLASSES = (BINARY, MULTICLASS)
SCORERS: dict[str, dict[str, str]] = {
    "roc_auc": {BINARY: "one_minus_auc"},
    "roc_auc_ovo": {BINARY: "one_minus_auc", MULTICLASS: "one_minus_auc_ovo"},
    "roc_auc_ovr": {BINARY: "one_minus_auc", MULTICLASS: "one_minus_auc_ovr"},
    "average_precision": dict.fromkeys(_CLASSES, "one_minus_average_precision"),
    "accuracy": dict.fromkeys(_CLASSES, "one_minus_accuracy"),
    "balanced_accuracy": dict.fromkeys(_CLASSES, "one_minus_mean_recall"),
    "neg_log_loss": dict.fromkeys(_CLASSES, "log_loss_clipped"),
    "neg_brier_score": {BINARY: "brier"},
    "r2": {REGRESSION: "one_minus_r2"},
    "neg_mean_squared_error": {REGRESSION: "mse"},
    "neg_root_mean_squared_error": {REGRESSION: "rmse"},
    "neg_mean_absolute_error": {REGRESSION: "mae"},
    "neg_mean_absolute_percentage_error": {REGRESSION: "mean_relative_error"},
    "neg_mean_poisson_deviance": {REGRESSION: "poisson_deviance"},
    "neg_mean_gamma_deviance": {REGRESSION: "gamma_deviance"},
}
"""By scorer of scikit-learn and by task, the equivalent loss.

Higher scores are better: the loss is minus the score, or 1 minus the score. A task is
missing if scikit-learn has no such score, or one that differs between its versions: the
Brier score of several classes.
"""


def why_no_mean(loss: str, name: str) -> str:
    """Return why `loss`, named `name`, has no losses of single rows."""
    if is_in_force("loss", loss):
        return f"{name} is a loss of your own, which gives one number for all rows"
    return f"{name} is no mean over rows"


def loss_label(loss: str) -> str:
    """Return the name of a loss in sentences; for user-defined ones, the function."""
    return LOSSES[loss].label if loss in LOSSES else loss.partition(":")[2]


def default_losses(task: str) -> tuple[str, ...]:
    """Return the keys of the default losses of a task."""
    return {
        REGRESSION: ("rmse",),
        BINARY: ("one_minus_auc",),
        MULTICLASS: ("log_loss_clipped",),
    }[task]


def evaluate(
    losses: tuple[str, ...], y: Array, prediction: Array, weights: Array
) -> npt.NDArray[np.float64]:
    """Return the values of several losses of the same predictions, (n_losses,).

    Parameters
    ----------
    losses : tuple of str
        Keys of `LOSSES`.
    y : ndarray of shape (n_samples,)
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
    weights : ndarray of shape (n_samples,)
        Ones if the rows are not weighted.
    """
    values = [LOSSES[name].function(y, prediction, weights) for name in losses]
    return np.array(values) + 0.0  # the negative of a score of 0 is 0, not -0
