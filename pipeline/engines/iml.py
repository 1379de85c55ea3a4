"""iml: losses under permutation, curves and Friedman's H."""

from typing import Literal

import numpy as np

from ..methods.effects.ale import moves_of
from ..methods.effects.partial_dependence import Scale, rounding_of
from ..methods.importance.h_statistic import columns_of
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable, listed, quote
from .asking import (
    Curve,
    ask,
    ask_loss,
    curves,
    losses_and_full,
    outputs,
    partial_dependence_by,
    refuse,
)


def iml_permutation(
    model: FittedModel, data: Dataset, *, seed: int, n_repeats: int = 10
) -> tuple[Floats, Floats]:
    """Return the losses of ``iml::FeatureImp``, repeat by repeat.

    Parameters, returns and raises as in `importance.permutation.permutation`. The draws
    are equal in distribution, not replayed: iml keeps the feature in place and permutes
    the target and all other columns. `NotApplicable` too if rows are weighted, or a
    prediction is more than one number.
    """
    _refuse(data, "permutation")
    if model.task == "multiclass":
        raise NotApplicable(
            "iml passes one number per row to a loss, but a prediction of model "
            f"{quote(model.name)} has {len(model.classes)}."
        )
    question = {"groups": data.groups, "seed": seed, "n_repeats": n_repeats}
    return losses_and_full(
        [
            ask_loss("iml_permutation", model, data, loss, **question)
            for loss in model.losses
        ]
    )


def iml_ale(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Literal["quantile", "unique"] | tuple[float, ...] = "quantile",
    n_grid: int = 51,
    scale: Scale = "native",
) -> Curve:
    """Return the accumulated local effects of ``iml::FeatureEffect``, on our grid.

    Parameters, returns and raises as in `effects.ale`; `NotApplicable` too if rows are
    weighted, lack the feature, or lie outside the grid, because iml includes them.
    """
    del seed
    _refuse(data, "ale")
    moves = moves_of(model, data, feature, grid=grid, n_grid=n_grid, scale=scale)
    still = data.n_samples - len(np.unique(moves.row))
    if still:
        raise NotApplicable(
            f"iml moves every row, but {still} of {data.n_samples} have no value of "
            f"{quote(feature)} within the grid."
        )
    points, more = moves.points, {"method": "ale"}
    values = curves("iml_curve", model, data, feature, points, scale, **more)
    return points if points.dtype == object else points.astype(np.float64), values


def iml_h_statistic(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_rows: int | None = 500,
    scale: Scale = "native",
    standardised: bool = False,
) -> tuple[Floats, Floats]:
    """Return Friedman's H of ``iml::Interaction``.

    Parameters, returns and raises as in `importance.h_statistic.h_statistic`;
    `NotApplicable` too if rows are weighted or would be drawn, if a group has three
    columns, or if anything but the ratio is requested.
    """
    groups = columns_of(data, (1, 2, 3), "h_statistic")
    _refuse(data, "h_statistic")
    if not standardised:
        raise NotApplicable("iml computes H as a ratio only. Set standardised = true.")
    if any(len(columns) > 2 for columns in groups):
        raise NotApplicable("iml computes H for one or two columns only.")
    if n_rows is not None and n_rows < data.n_samples:
        raise NotApplicable(
            f"iml draws {n_rows} of {data.n_samples} rows in an order that is not "
            f"replayed here. Set n_rows = {data.n_samples}."
        )
    values = []
    for predict in outputs(model, scale):
        h = ask("iml_h", data.X, predict, groups=data.groups, seed=seed)
        predicted = predict(data.X)
        rounding = rounding_of(data.n_samples, np.abs(predicted).max())
        h[h * predicted.std() <= rounding] = 0
        values.append(h)
    raw = np.stack(values, axis=1)[:, np.newaxis, :]
    return raw, np.zeros(raw.shape[1:])


def _refuse(data: Dataset, method: str) -> None:
    """Raise `NotApplicable` if iml does not support these rows."""
    refuse("iml", method, data)
    if len(data.X.columns) < 2:
        raise NotApplicable("iml needs at least two columns; there is one.")
    empty = [name for name in data.features if data.X[name].isna().all()]
    if empty:
        raise NotApplicable(
            f"iml needs a value in some row of each column; {listed(empty)} has none."
        )


def _refuse_curve(data: Dataset, feature: str) -> None:
    """Refuse rows for which iml has no partial dependence."""
    _refuse(data, "partial_dependence")
    if data.X[feature].nunique(dropna=False) < 2:
        raise NotApplicable(
            f"iml does not accept column {quote(feature)}, which has one value."
        )


iml_partial_dependence = partial_dependence_by(
    "iml", "iml_curve", _refuse_curve, method="pdp"
)

IMPORTANCE = {"permutation": iml_permutation, "h_statistic": iml_h_statistic}
CURVES = {"partial_dependence": iml_partial_dependence, "ale": iml_ale}
