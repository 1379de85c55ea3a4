"""How far predictions are from the target: lower is better, rows can be weighted.

Every loss is a function ``loss(y, prediction, weights) -> float`` of arrays with one
entry per row. For a binary task `y` is 0 or 1 and `prediction` the probability of 1;
for a multiclass task `y` holds codes 0, 1, … and `prediction` one column per class.
Unit weights give the unweighted definition. Not: R's names for them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
REGRESSION, BINARY, MULTICLASS = "regression", "binary", "multiclass"
TIE = 1e-12
"""Scores in order are tied up to this share of the largest size."""
SMALLEST = 2.0**-52
"""The probability below which `log_loss_clipped` does not go."""


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

    function: Callable[[Array, Array, Array], float]
    tasks: tuple[str, ...]
    unit: str
    label: str
    formula: str


def _mean(values: Array, weights: Array) -> float:
    """Return the weighted mean of one number per row."""
    return _per_weight(float((weights * values).sum()), weights)


def _per_weight(total: float, weights: Array) -> float:
    """Return a sum per unit of weight, NaN if no row weighs anything."""
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


def mae(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of absolute errors."""
    return _mean(np.abs(y - prediction), weights)


def poisson_deviance(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of twice what a Poisson mean `y` is likelier than p.

    A prediction of 0, or below, for a count above 0 gives infinity. NaN if a target is
    negative.
    """
    from scipy.special import kl_div

    has_weight = weights > 0
    y, prediction = y[has_weight].astype(np.float64), prediction[has_weight]
    deviance = np.where(y < 0, np.nan, 2 * kl_div(y, prediction))
    return _mean(deviance, weights[has_weight])


def gamma_deviance(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of twice what a gamma mean `y` is likelier than p.

    A prediction of 0 or below gives infinity. NaN if a target is not above 0.
    """
    has_weight = weights > 0
    y, prediction = y[has_weight], prediction[has_weight]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = y / prediction
        deviance = np.where(prediction > 0, 2 * (ratio - 1 - np.log(ratio)), np.inf)
    return _mean(np.where(y > 0, deviance, np.nan), weights[has_weight])


def mape(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of errors in percent of the observed size.

    Infinite, or not a number, if a row that weighs something was observed to be 0.
    """
    has_weight = weights > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 100 * np.abs((y - prediction)[has_weight] / y[has_weight])
    return _mean(share, weights[has_weight])


def one_minus_r2(y: Array, prediction: Array, weights: Array) -> float:
    """Return the squared error over that of the mean; NaN of a constant target."""
    weight = float(weights.sum())
    if weight <= 0:
        return float("nan")
    mean = np.full(len(y), float((weights * y).sum()) / weight)
    total = sum_of_squares(y, mean, weights)
    error = sum_of_squares(y, prediction, weights)
    return error / total if total > 0 else float("nan")


def ties(ranked: Array) -> npt.NDArray[np.bool_]:
    """Return whether each score but the first is tied with the one before it.

    Neighbours that differ by at most `TIE` times the largest size are tied: last bits,
    which depend on the processor and the libraries, would decide their order otherwise.

    Parameters
    ----------
    ranked : ndarray of shape (n_samples,)
        Scores in rising or falling order.

    Returns
    -------
    ndarray of shape (n_samples - 1,)
    """
    size = np.abs(ranked[np.isfinite(ranked)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        near = np.abs(np.diff(ranked)) <= TIE * size
    return near | (ranked[1:] == ranked[:-1])


def one_minus_auc(y: Array, prediction: Array, weights: Array) -> float:
    """Return the share of pairs of a 1 and a 0 that are ranked the wrong way round.

    Predictions that are tied (see `ties`) count half, and a pair weighs the product of
    its weights, so 0.5 is a ranking that says nothing. NaN if one of the classes is
    absent.
    """
    order = np.argsort(prediction)
    ranked = prediction[order]
    last = np.append(np.flatnonzero(~ties(ranked)), len(ranked) - 1)
    positive = np.cumsum((weights * (y == 1))[order])[last]
    negative = np.cumsum((weights * (y != 1))[order])[last]
    pairs = positive[-1] * negative[-1]
    if pairs == 0:
        return float("nan")

    tied_positive = np.diff(positive, prepend=0.0)
    tied_negative = np.diff(negative, prepend=0.0)
    above = negative[-1] - negative
    return float((tied_positive * (above + tied_negative / 2)).sum() / pairs)


def one_minus_pr_auc(y: Array, prediction: Array, weights: Array) -> float:
    """Return one less the area under precision over recall, joined by straight lines.

    The curve starts at recall 0 with precision 1, and equal predictions are one point.
    A ranking that says nothing has about the share of zeros. NaN if there is no 1.
    """
    order = np.argsort(-prediction)
    ranked = prediction[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    positive = np.cumsum((weights * (y == 1))[order])[last]
    selected_weight = np.cumsum(weights[order])[last]
    if positive[-1] == 0:
        return float("nan")
    is_defined = selected_weight > 0
    recall = np.append(0.0, positive[is_defined] / positive[-1])
    precision = np.append(1.0, positive[is_defined] / selected_weight[is_defined])
    return float(1 - (np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum())


def _of_observed_class(y: Array, prediction: Array) -> Array:
    """Return the probability given to the class that was observed, (n_samples,)."""
    if prediction.ndim == 1:
        return np.where(y == 1, prediction, 1 - prediction)
    return np.asarray(prediction[np.arange(len(y)), y.astype(np.intp)])


def negative_log_likelihood(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted sum of -log p of the observed class, nothing clipped.

    A probability of 0 for what was observed gives infinity, unless the row weighs 0.
    """
    has_weight = weights > 0
    with np.errstate(divide="ignore"):
        surprise = -np.log(_of_observed_class(y, prediction)[has_weight])
    return float((weights[has_weight] * surprise).sum())


def log_loss(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of -log p of the observed class, nothing clipped."""
    return _per_weight(negative_log_likelihood(y, prediction, weights), weights)


def log_loss_clipped(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean of -log p of the observed class, p at least 2.2e-16.

    The least p is the step from 1 to the next float, :math:`2^{-52}`. A tree gives
    classes it did not meet in a leaf the probability 0: this loss stays finite there.
    """
    probability = np.maximum(_of_observed_class(y, prediction), SMALLEST)
    return _mean(-np.log(probability), weights)


def dalex_cross_entropy(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted sum of -log p of the observed class, p at least 0.0001.

    The loss that DALEX takes for multiclass models; it grows with the rows.
    """
    probability = np.maximum(_of_observed_class(y, prediction), 1e-4)
    return float((weights * -np.log(probability)).sum())


def brier(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted mean squared distance of probabilities from the outcome.

    Several classes: half the sum over classes, so that two classes given as two
    columns measure the same as one probability.
    """
    if prediction.ndim == 1:
        return mse(y, prediction, weights)
    outcome = np.eye(prediction.shape[1])[y.astype(np.intp)]  # (n_samples, n_classes)
    return _mean(((outcome - prediction) ** 2).sum(axis=1) / 2, weights)


def one_minus_accuracy(y: Array, prediction: Array, weights: Array) -> float:
    """Return the weighted share of rows whose predicted class is not the observed.

    Binary: 1 is predicted where its probability is at least 0.5. Multiclass: the most
    probable class, the first of equals.
    """
    return _mean(_predicted_class(prediction) != y, weights)


def one_minus_balanced_accuracy(y: Array, prediction: Array, weights: Array) -> float:
    """Return the mean share that is missed, of a class and of all others.

    Several classes: the mean over classes, each held against the rest. Classes are
    predicted as in `one_minus_accuracy`. NaN if a class was not observed.
    """
    n_classes = 2 if prediction.ndim == 1 else prediction.shape[1]
    predicted = _predicted_class(prediction)
    missed = []
    for k in range(n_classes):
        is_wrong = (predicted == k) != (y == k)
        missed += [_mean(is_wrong[at], weights[at]) for at in (y == k, y != k)]
    return float(np.mean(missed))


def _predicted_class(prediction: Array) -> Array:
    """Return the code of the class that is predicted, (n_samples,)."""
    if prediction.ndim == 1:
        return prediction >= 0.5
    return np.asarray(prediction.argmax(axis=1))


LOSSES: dict[str, Loss] = {
    "rmse": Loss(rmse, (REGRESSION,), "y", "RMSE", "√(Σ w (y − p)² / Σ w)"),
    "mse": Loss(mse, (REGRESSION,), "y^2", "MSE", "Σ w (y − p)² / Σ w"),
    "sum_of_squares": Loss(
        sum_of_squares, (REGRESSION,), "y^2", "sum of squares", "Σ w (y − p)²"
    ),
    "mae": Loss(mae, (REGRESSION,), "y", "MAE", "Σ w |y − p| / Σ w"),
    "poisson_deviance": Loss(
        poisson_deviance,
        (REGRESSION,),
        "y",
        "Poisson deviance",
        "Σ w 2(y log(y / p) − y + p) / Σ w",
    ),
    "gamma_deviance": Loss(
        gamma_deviance,
        (REGRESSION,),
        "1",
        "gamma deviance",
        "Σ w 2(y / p − 1 − log(y / p)) / Σ w",
    ),
    "mape": Loss(mape, (REGRESSION,), "%", "MAPE", "100 Σ w |y − p| / |y| / Σ w"),
    "one_minus_r2": Loss(
        one_minus_r2,
        (REGRESSION,),
        "1",
        "1 − R²",
        "Σ w (y − p)² / Σ w (y − mean y)²",
    ),
    "one_minus_auc": Loss(
        one_minus_auc,
        (BINARY,),
        "1",
        "1 − AUC",
        "share of pairs of a 1 and a 0 in the wrong order, ties (to 1e-12) half",
    ),
    "log_loss": Loss(
        log_loss, (BINARY, MULTICLASS), "nats", "log loss", "−Σ w log p_y / Σ w"
    ),
    "log_loss_clipped": Loss(
        log_loss_clipped,
        (BINARY, MULTICLASS),
        "nats",
        "log loss, clipped",
        "−Σ w log max(p_y, 2.2e-16) / Σ w; finite where a tree says p_y = 0",
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
        one_minus_accuracy,
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
    "one_minus_pr_auc": Loss(
        one_minus_pr_auc,
        (BINARY,),
        "1",
        "1 − PR AUC",
        "1 − area under precision over recall, from (0, 1), straight lines",
    ),
    "negative_log_likelihood": Loss(
        negative_log_likelihood,
        (BINARY, MULTICLASS),
        "nats",
        "negative log-likelihood",
        "−Σ w log p_y",
    ),
}


SCORERS = {
    "roc_auc": "one_minus_auc",
    "average_precision": "one_minus_pr_auc",
    "accuracy": "one_minus_accuracy",
    "balanced_accuracy": "one_minus_balanced_accuracy",
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "r2": "one_minus_r2",
    "neg_mean_squared_error": "mse",
    "neg_root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
    "neg_mean_absolute_percentage_error": "mape",
    "neg_mean_poisson_deviance": "poisson_deviance",
    "neg_mean_gamma_deviance": "gamma_deviance",
}
"""The loss for each scorer that scikit-learn names; a score there is better higher."""


def default_losses(task: str) -> tuple[str, ...]:
    """Return the keys of the losses that a task is judged by if nobody says."""
    return {
        REGRESSION: ("rmse",),
        BINARY: ("one_minus_auc",),
        MULTICLASS: ("log_loss_clipped",),
    }[task]


def evaluate(
    losses: tuple[str, ...], y: Array, prediction: Array, weights: Array
) -> npt.NDArray[np.float64]:
    """Return each loss of the same predictions, (n_losses,).

    Parameters
    ----------
    losses : tuple of str
        Keys of `LOSSES`.
    y : ndarray of shape (n_samples,)
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
    weights : ndarray of shape (n_samples,)
        Ones if every row counts the same.
    """
    return np.array([LOSSES[name].function(y, prediction, weights) for name in losses])
