"""The loss of a model on training rows held out: out of bag, or in folds.

Claims use both, the check of the gap between losses the first.
Not: the evaluation of rankings in folds (`top_k`).
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from ..data.splits import folds_of
from ..methods.importance.out_of_bag import oob_prediction
from ..models.performance import Judged, constant
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable, quote
from ..records.execution import each
from ..records.losses import evaluate


def out_of_bag(model: FittedModel, loss: str) -> Judged:
    """Return the loss of a bagged ensemble on its training rows, out of bag.

    The prediction of a row is the mean of the members whose sample does not include it.
    The constant predictor is the mean, or the shares of the classes, of all these rows.

    Raises
    ------
    NotApplicable
        As `importance.out_of_bag.oob_prediction`.
    """
    train, predicted = oob_prediction(model)
    return _judged(loss, train, predicted, constant(model, train, train))


def out_of_bag_rows(model: FittedModel) -> tuple[Dataset, Floats] | None:
    """Return the training rows of a bagged ensemble and their predictions out of bag.

    None if the model is no bagged ensemble, or if its training rows are not known.
    """
    try:
        return oob_prediction(model)
    except NotApplicable:
        return None


def in_folds(
    model: FittedModel, loss: str, *, folds: int, repeats: int, seed: int
) -> Judged:
    """Return the cross-validated loss of a model on its training rows.

    Parameters
    ----------
    model : FittedModel
        Refitted, with its configuration, to all folds but one.
    loss : str
    folds, repeats : int
        Number of folds, and of repetitions with new folds.
    seed : int
        Of the audit, for the folds.

    Raises
    ------
    NotApplicable
        The audit did not fit the model, or there are fewer rows than folds.
    """
    train = model.train
    if train is None:
        raise NotApplicable(
            f"Model {quote(model.name)} cannot be cross-validated, because the audit "
            f"did not fit it. {model.remedy_for_refit}"
        )
    parts = [
        folds_of(train, folds, seed=seed, repeat=repeat) == fold
        for repeat in range(repeats)
        for fold in range(folds)
    ]
    (judged,) = model.asked_for((loss,))
    judge = partial(_left_out, judged.unfitted(), train, loss)
    losses = [(value, constant) for value, constant, _ in each(judge, parts)]
    value, of_constant = np.mean(losses, axis=0)
    return Judged(float(value), float(of_constant), loss)


def _left_out(
    model: FittedModel, train: Dataset, loss: str, is_out: npt.NDArray[np.bool_]
) -> Judged:
    """Return the loss on the rows `is_out` of a model refitted to all other rows."""
    fitted = model.refit(model.features, np.flatnonzero(~is_out))
    fit_rows, out = (
        train.part(train.features, np.flatnonzero(rows)) for rows in (~is_out, is_out)
    )
    return _judged(loss, out, fitted.predict(out.X), constant(model, fit_rows, out))


def _judged(loss: str, rows: Dataset, predicted: Floats, constant: Floats) -> Judged:
    value, of_constant = (
        float(evaluate((loss,), rows.y, each, rows.weights)[0])
        for each in (predicted, constant)
    )
    return Judged(value, of_constant, loss)
