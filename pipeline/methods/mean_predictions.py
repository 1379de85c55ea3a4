"""The mean prediction of each model, on the rows and scales of its curves."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..records.dataset_and_model import Dataset, FittedModel
from ..records.importance_record import Effect
from .effects.partial_dependence import SCALES

CURVE = "partial_dependence"
"""The curve that is a mean prediction itself; others have a zero of their own."""


def mean_predictions(
    model: FittedModel, rows: Dataset, curves: Iterable[Effect]
) -> tuple[dict[str, Any], ...]:
    r"""Return the mean prediction per output of a model and scale of its curves.

    With :math:`f` the model, :math:`g` the scale and :math:`w_i` the row weights,

    .. math:: \sum_i w_i\, g(f(x_i)) / \sum_i w_i,

    what the partial dependence would be everywhere on a feature that `model` ignores.

    Parameters
    ----------
    model : FittedModel
    rows : Dataset
        The rows that the curves are taken over.
    curves : iterable of Effect
        Curves of this model; those without a mean prediction are passed over.

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


def _is_mean(effect: Effect) -> bool:
    return (effect.method, effect.engine) == (CURVE, "python")
