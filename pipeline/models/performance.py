"""How well a model predicts, and how well a constant would. Not: importances."""

from collections.abc import Mapping
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
        Of the test rows.
    """

    losses: pd.DataFrame
    readings: pd.DataFrame
    prediction: Floats


ON_SCALE = {"class": OF_CLASS, "score": OF_ORDER}
"""By scale, the losses that it tells; others tell all."""


class Reading(NamedTuple):
    """A number that the trade reads, made of a loss: ``1 - slope * loss``."""

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
"""By task."""


def performance(
    model: FittedModel,
    train: Dataset | None,
    test: Dataset,
    *,
    seed: int,
    out_of_bag: tuple[Dataset, Floats] | None = None,
) -> Performance:
    """Return the losses of a model beside those of the constant predictor.

    The constant is the weighted mean of the target, or the weighted share of each
    class, on the training rows; where these are unknown it is that of the rows judged,
    the best constant in hindsight. Standard errors are the standard deviations
    (ddof 1) over 200 bootstrap resamples of the rows; the model stays as it is, and
    both predictors are judged on the same rows of each resample.

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)`` and ``losses``.
    train : Dataset or None
        The rows it was fitted on, if known.
    test : Dataset
    seed : int
        Names the stream; one stream per split and resample.
    out_of_bag : (Dataset, ndarray), optional
        The training rows of a bagged ensemble, and what the members that did not see
        a row predict of it.

    Returns
    -------
    losses : DataFrame
        One row per split ("train", "out_of_bag", "test") and loss. Columns: model,
        loss, split,
        n_samples, value (loss of the model), std_error, constant (loss of the constant
        predictor), difference (value - constant, below 0 if the model helps),
        difference_std_error. Resamples whose loss is not defined, such as an AUC of
        one class, are left out of a standard error; it is NaN if that is more than
        half of them.
    readings : DataFrame
        One row per split and reading of `READINGS`. Columns: model, reading, split,
        n_samples, value, std_error: that of the loss it is made of, times the slope;
        to first order, from what each row adds, where the model is not asked for that
        loss.
    prediction : ndarray
        Of the test rows.
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
        value, of_constant = _losses(model, data, both, np.arange(n))
        resampled = []
        for repeat in range(N_RESAMPLES):
            generator = stream(seed, "performance", f"{model.name}|{split}", repeat)
            drawn = generator.integers(n, size=n)
            resampled.append(_losses(model, data, both, drawn))
        values, constants = np.stack(resampled, axis=1)
        std_error = _std_of_defined(values)
        with np.errstate(invalid="ignore"):
            difference = value - of_constant
            of_difference = _std_of_defined(values - constants)
        rows += [
            {
                "model": model.name,
                "loss": loss,
                "split": split,
                "n_samples": n,
                "value": value[k],
                "std_error": std_error[k],
                "constant": of_constant[k],
                "difference": difference[k],
                "difference_std_error": of_difference[k],
            }
            for k, loss in enumerate(model.losses)
        ]
        errors = dict(zip(model.losses, std_error, strict=True))
        readings += _readings(model, data, prediction, errors, split=split)
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
    """Return how far two models are apart on the same rows, one row per shared loss.

    Parameters
    ----------
    model, other : FittedModel
    prediction, other_prediction : ndarray
        What each predicts of every row of `data`.
    data : Dataset

    Returns
    -------
    list of dict
        The rows of the frame `comparisons`. The standard error is that of the
        difference of what each row adds to the two losses, to first order; it is NaN
        of a loss of which that is not known.
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
    model: FittedModel,
    data: Dataset,
    prediction: Floats,
    errors: Mapping[str, float],
    *,
    split: str,
) -> list[dict[str, Any]]:
    """Return one row of the frame per reading.

    `errors` has the standard error of each loss of the model: an AUC whose error is
    not that of 1 - AUC, two lines further on, would puzzle every reader.
    """
    rows = []
    for name, loss, slope in READINGS[model.task]:
        if loss in model.instead or loss not in ON_SCALE.get(model.scale, (loss,)):
            continue
        answer, n = (data.y, prediction, data.weights), data.n_samples
        with np.errstate(over="ignore", invalid="ignore"):  # beyond floats: NaN
            value = 1 - slope * LOSSES[loss].function(*answer)
            error = errors.get(loss, np.nan)
            if loss not in errors:
                error = std_error_of(INFLUENCE[loss](*answer))
        rows.append(
            {
                "model": model.name,
                "reading": name,
                "split": split,
                "n_samples": n,
                "value": value,
                "std_error": slope * float(error),
            }
        )
    return rows


def constant(model: FittedModel, train: Dataset, data: Dataset) -> Floats:
    """Return the constant prediction for each row of `data`.

    The weighted mean of the target, or the weighted share of each class, on the rows
    of `train`: (n_samples,), or (n_samples, n_classes) if multiclass.
    """
    y = np.asarray(train.y)
    if model.task == "multiclass":
        y = y[:, np.newaxis] == np.arange(len(model.classes))  # (n_samples, n_classes)
    constant = np.average(y, axis=0, weights=train.weights)
    return np.broadcast_to(constant, (data.n_samples, *np.shape(constant)))


def _losses(
    model: FittedModel,
    data: Dataset,
    predictions: tuple[Floats, Floats],
    rows: npt.NDArray[np.intp],
) -> Floats:
    """Return the losses of two predictors on some rows, (2, n_losses)."""
    y, weights = data.y[rows], data.weights[rows]
    return np.stack(
        [evaluate(model.losses, y, each[rows], weights) for each in predictions]
    )


def _std_of_defined(losses: Floats) -> Floats:
    """Return the spread of the finite losses of all resamples, (n_losses,)."""
    defined = np.isfinite(losses)
    often = defined.sum(axis=0) * 2 >= len(losses)
    spread = np.full(losses.shape[1], np.nan)
    for k in np.flatnonzero(often):
        spread[k] = losses[defined[:, k], k].std(ddof=1)
    return spread
