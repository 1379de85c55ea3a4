"""Mean predictions of models on the rows and scales of their curves.

The means are over the unchanged rows, or over the rows with one feature missing.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..records.dataset_and_model import Dataset, FittedModel
from ..records.importance_record import Effect
from .effects.partial_dependence import SCALES

CURVE = "partial_dependence"
"""The only curve whose level is that of the mean prediction."""


def mean_predictions(
    model: FittedModel, rows: Dataset, curves: Iterable[Effect]
) -> tuple[dict[str, Any], ...]:
    r"""Return the mean prediction per output of a model and scale of its curves.

    With :math:`f` the model, :math:`g` the scale and :math:`w_i` the row weights,

    .. math:: \sum_i w_i\, g(f(x_i)) / \sum_i w_i,

    the constant partial dependence of a feature that `model` ignores.

    Parameters
    ----------
    model : FittedModel
    rows : Dataset
        The rows that the curves are taken over.
    curves : iterable of Effect
        Curves of this model; those whose level is not a mean prediction are skipped.

    Returns
    -------
    tuple of dict
        Rows of the frame `mean_predictions`, with its columns.
    """
    curve_of = {
        effect.options["scale"]: effect for effect in curves if _is_mean(effect)
    }
    if not curve_of:
        return ()
    prediction = model.predict(rows.X)
    table: list[dict[str, Any]] = []
    for scale, effect in curve_of.items():
        on_scale = SCALES[scale](model, prediction).reshape(rows.n_samples, -1)
        means = np.average(on_scale, axis=0, weights=rows.weights)
        facts = {"model": model.name, "split": rows.split, "scale": effect.scale}
        table += (
            {**facts, "positive_class": name, "n_samples": rows.n_samples, "mean": mean}
            for name, mean in zip(model.outputs, means.tolist(), strict=True)
        )
    return tuple(table)


def missing_predictions(
    model: FittedModel, rows: Dataset, curves: Iterable[Effect]
) -> tuple[dict[str, Any], ...]:
    r"""Return the mean prediction with all cells of a feature missing.

    It is the point of the partial dependence at a missing value:

    .. math:: \sum_i w_i\, g(f(x_i^{j = \mathrm{missing}})) / \sum_i w_i.

    Parameters
    ----------
    model : FittedModel
        Its ``predict`` is called once for each feature that has missing cells.
    rows, curves
        As in `mean_predictions`.

    Returns
    -------
    tuple of dict
        Rows of the frame `missing_predictions`, with its columns: one per feature,
        scale and output. If the model does not predict missing cells, the mean is NaN
        and `reason` says why.
    """
    table: list[dict[str, Any]] = []
    scales: dict[str, dict[str, Effect]] = {}
    for effect in curves:
        if _is_mean(effect):
            of_feature = scales.setdefault(effect.feature, {})
            of_feature.setdefault(effect.options["scale"], effect)
    for feature, by_scale in scales.items():
        is_missing = rows.X[feature].isna().to_numpy(dtype=bool)
        if not is_missing.any():
            continue
        emptied, reason = rows.X.copy(), ""
        emptied[feature] = rows.X[feature].where(np.zeros(rows.n_samples, dtype=bool))
        prediction = np.full((rows.n_samples, len(model.outputs)), np.nan)
        try:
            prediction = model.predict(emptied)
        except Exception as error:  # a user's model can raise anything
            reason = str(error) or type(error).__name__
        if not reason and np.isnan(prediction).any():
            reason = "it returns no number for some rows"
        for scale, effect in by_scale.items():
            means = np.full(len(model.outputs), np.nan)
            if not reason:
                on_scale = SCALES[scale](model, prediction).reshape(rows.n_samples, -1)
                means = np.average(on_scale, axis=0, weights=rows.weights)
            table += (
                {
                    "model": model.name,
                    "feature": feature,
                    "positive_class": name,
                    "split": rows.split,
                    "scale": effect.scale,
                    "n_samples": rows.n_samples,
                    "n_missing": int(is_missing.sum()),
                    "share": float(np.average(is_missing, weights=rows.weights)),
                    "mean": mean,
                    "reason": reason,
                }
                for name, mean in zip(model.outputs, means.tolist(), strict=True)
            )
    return tuple(table)


def _is_mean(effect: Effect) -> bool:
    return (effect.method, effect.engine) == (CURVE, "python")
