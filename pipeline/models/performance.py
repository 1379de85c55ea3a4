"""Losses of a model and of the constant predictor. Not: importances."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.frames import FRAMES
from ..records.influence import INFLUENCE, std_error_of
from ..records.losses import LOSSES, OF_CLASS, OF_ORDER, evaluate
from ..records.streams import stream
from .prediction import predict_unchanged

N_RESAMPLES = 200
"""Bootstrap resamples of the rows, for losses without influence values."""


class Judged(NamedTuple):
    """One loss of a model, and that of the constant predictor, on the same rows."""

    value: float
    constant: float
    loss: str = ""


class Performance(NamedTuple):
    """The frames `performance` and `readings` of one model, and its predictions.

    Attributes
    ----------
    losses, readings : DataFrame
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Predictions of the test rows.
    """

    losses: pd.DataFrame
    readings: pd.DataFrame
    prediction: Floats


ON_SCALE = {"class": OF_CLASS, "score": OF_ORDER}
"""By scale, the losses that it supports; other scales support all."""


class Reading(NamedTuple):
    """A customary measure that is linear in a loss: ``1 - slope * loss``."""

    name: str
    loss: str
    slope: float = 1.0


READINGS: dict[str, tuple[Reading, ...]] = {
    "regression": (Reading("r2", "one_minus_r2"),),
    "binary": (
        Reading("auc", "one_minus_auc"),
        Reading("gini", "one_minus_auc", 2.0),
    ),
    "multiclass": (Reading("accuracy", "one_minus_accuracy"),),
}
"""Readings by task."""


def performance(
    model: FittedModel,
    train: Dataset | None,
    test: Dataset,
    *,
    seed: int,
    out_of_bag: tuple[Dataset, Floats] | None = None,
) -> Performance:
    """Return the losses of a model and of the constant predictor.

    The constant is the weighted mean of the target, or the weighted share of each
    class, on the training rows. If these are unknown, it is that of the evaluated rows,
    the best constant in hindsight. Standard errors are over the sampling of rows, with
    both predictors fixed: to first order, from the influence of each row on a loss or
    on the difference of two losses (`INFLUENCE`), which is exact for a mean. For losses
    without influence values they are the standard deviations (ddof 1) over 200
    bootstrap resamples of the rows, the same resamples for all models.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` and ``losses`` are used.
    train : Dataset or None
        The training rows, if known.
    test : Dataset
    seed : int
        Seed of the bootstrap streams, one per split and resample.
    out_of_bag : (Dataset, ndarray), optional
        The training rows of a bagged ensemble, and the prediction for each row by the
        members that were not fitted on it.

    Returns
    -------
    losses : DataFrame
        One row per split ("train", "out_of_bag", "test") and loss. Columns: model,
        loss, split, n_samples, value (loss of the model), std_error, constant (loss of
        the constant predictor), difference (value - constant, below 0 if the model
        helps), difference_std_error. A standard error is NaN for one row, and for a
        loss that is not finite. Resamples with an undefined loss are left out; the
        standard error is NaN if they are more than half.
    readings : DataFrame
        One row per split and reading of `READINGS`. Columns: model, reading, split,
        n_samples, value, std_error: that of the loss times the slope.
    prediction : ndarray
        Predictions of the test rows.
    """
    rows: list[dict[str, Any]] = []
    readings: list[dict[str, Any]] = []
    predicted: dict[str, tuple[Dataset, Floats]] = {}
    if train is not None:
        predicted["train"] = train, model.predict(train.X)
    if out_of_bag is not None:
        predicted["out_of_bag"] = out_of_bag
    predicted["test"] = test, predict_unchanged(model, test.X)
    for split, (data, prediction) in predicted.items():
        n = data.n_samples
        both = prediction, constant(model, train or data, data)
        value, of_constant = _losses(model.losses, data, both, np.arange(n))
        errors: dict[str, tuple[float, float]] = {}
        with np.errstate(over="ignore", invalid="ignore"):  # beyond floats: NaN
            difference = value - of_constant
            for loss in model.losses:
                if loss in INFLUENCE:
                    own, other = (
                        INFLUENCE[loss](data.y, each, data.weights) for each in both
                    )
                    errors[loss] = std_error_of(own), std_error_of(own - other)
                    continue
                draws = (
                    stream(seed, "performance", split, repeat).integers(n, size=n)
                    for repeat in range(N_RESAMPLES)
                )
                drawn = [_losses((loss,), data, both, rows)[:, 0] for rows in draws]
                own, other = np.stack(drawn, axis=1)
                errors[loss] = _std_of_defined(own), _std_of_defined(own - other)
        rows += [
            {
                "model": model.name,
                "loss": loss,
                "split": split,
                "n_samples": n,
                "value": value[k],
                "std_error": errors[loss][0],
                "constant": of_constant[k],
                "difference": difference[k],
                "difference_std_error": errors[loss][1],
            }
            for k, loss in enumerate(model.losses)
        ]
        readings += _readings(model, data, prediction, split=split)
    return Performance(
        FRAMES["performance"].of(rows),
        FRAMES["readings"].of(readings),
        predicted["test"][1],
    )


def paired_differences(
    model: FittedModel,
    prediction: Floats,
    other: FittedModel,
    other_prediction: Floats,
    data: Dataset,
) -> list[dict[str, Any]]:
    """Return the differences in loss of two models on the same rows, by shared loss.

    Parameters
    ----------
    model, other : FittedModel
    prediction, other_prediction : ndarray
        Predictions of each for every row of `data`.
    data : Dataset

    Returns
    -------
    list of dict
        The rows of the frame `comparisons`. The standard error is that of the
        difference of the influence values of each row on the two losses, to first
        order; NaN for a loss without influence values.
    """
    rows = []
    n = data.n_samples
    for loss in (name for name in model.losses if name in other.losses):
        answers = [
            (data.y, each, data.weights) for each in (prediction, other_prediction)
        ]
        with np.errstate(over="ignore", invalid="ignore"):  # beyond floats: NaN
            first, second = (LOSSES[loss].function(*answer) for answer in answers)
            error = np.nan
            if loss in INFLUENCE:
                one, another = (INFLUENCE[loss](*answer) for answer in answers)
                error = std_error_of(one - another)
            difference = first - second
        rows.append(
            {
                "model_a": model.name,
                "model_b": other.name,
                "loss": loss,
                "split": "test",
                "n_samples": n,
                "difference": float(difference),
                "std_error": float(error),
            }
        )
    return rows


def _readings(
    model: FittedModel, data: Dataset, prediction: Floats, *, split: str
) -> list[dict[str, Any]]:
    """Return the rows of the frame `readings`."""
    rows = []
    for name, loss, slope in READINGS[model.task]:
        if loss in model.instead or loss not in ON_SCALE.get(model.scale, (loss,)):
            continue
        answer, n = (data.y, prediction, data.weights), data.n_samples
        with np.errstate(over="ignore", invalid="ignore"):  # beyond floats: NaN
            value = 1 - slope * LOSSES[loss].function(*answer)
            error = std_error_of(INFLUENCE[loss](*answer))
        rows.append(
            {
                "model": model.name,
                "reading": name,
                "split": split,
                "n_samples": n,
                "value": value,
                "std_error": slope * error,
            }
        )
    return rows


def constant(model: FittedModel, train: Dataset, data: Dataset) -> Floats:
    """Return the constant prediction, repeated for each row of `data`.

    The weighted mean of the target, or the weighted share of each class, on the rows
    of `train`: (n_samples,), or (n_samples, n_classes) if multiclass.
    """
    y = np.asarray(train.y)
    if model.task == "multiclass":
        y = y[:, np.newaxis] == np.arange(len(model.classes))  # (n_samples, n_classes)
    constant = np.average(y, axis=0, weights=train.weights)
    return np.broadcast_to(constant, (data.n_samples, *np.shape(constant)))


def _losses(
    losses: tuple[str, ...],
    data: Dataset,
    predictions: tuple[Floats, Floats],
    rows: npt.NDArray[np.intp],
) -> Floats:
    """Return the losses of two predictors on some rows, (2, n_losses)."""
    y, weights = data.y[rows], data.weights[rows]
    return np.stack([evaluate(losses, y, each[rows], weights) for each in predictions])


def _std_of_defined(losses: Floats) -> float:
    """Return the standard deviation of the finite losses, NaN if fewer than half."""
    finite = losses[np.isfinite(losses)]
    return float(finite.std(ddof=1)) if 2 * len(finite) >= len(losses) else np.nan
