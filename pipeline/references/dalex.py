"""DALEX, asked for losses under permutation and for profiles."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.effects import EFFECTS, EffectMethod
from pipeline.effects.partial_dependence import (
    Grid,
    Scale,
    grid_of,
    is_predicted,
    with_gaps,
)
from pipeline.errors import NotApplicable
from pipeline.importance import METHODS, Method
from pipeline.records import Dataset, FittedModel, Floats
from pipeline.references.asking import classes_of, outputs, refuse
from r_bridge import dalex

Curve = tuple[npt.NDArray[Any], Floats]


def dalex_parts(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> dalex.Parts:
    """Return all that ``DALEX::model_parts`` measures, the losses on the last axis.

    Parameters and raises as in `importance.permutation.permutation`; `NotApplicable`
    too if rows are weighted, or a group has a name that DALEX keeps for itself.

    Returns
    -------
    r_bridge.dalex.Parts
        `permuted` (n_groups, n_repeats, n_losses); `full` and `y_permuted`, which is
        `importance.permutation.permuted_target`'s partner, (n_repeats, n_losses).
    """
    refuse("DALEX", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    for name in dalex.FULL, dalex.Y_PERMUTED:
        if name in data.groups:
            raise NotApplicable(f"DALEX keeps the name {name!r} for itself.")
    drawn = {"seed": seed, "n_repeats": n_repeats, "n_rows": n_rows}
    of_losses = [
        dalex.parts(
            data.X,
            data.y,
            model.predict,
            groups=data.groups,
            loss=loss,
            drawn=drawn,
            classes=classes_of(model),
        )
        for loss in model.losses
    ]
    return dalex.Parts(
        *(np.stack(part, axis=-1) for part in zip(*of_losses, strict=True))
    )


def dalex_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> tuple[Floats, Floats]:
    """Return the losses of ``DALEX::model_parts``: `permuted` and `full` of its parts.

    All else as in `dalex_parts`.
    """
    found = dalex_parts(model, data, seed=seed, n_repeats=n_repeats, n_rows=n_rows)
    return found.permuted, found.full


def dalex_curve(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
) -> Curve:
    """Return the profile of ``DALEX::model_profile`` over all rows, on our grid.

    Parameters, returns and raises as in `effects.partial_dependence`.
    """
    del seed
    refuse("DALEX", "partial_dependence", data)
    for name in dalex.PROFILE_COLUMNS:
        if name in data.features:
            raise NotApplicable(f"DALEX keeps the name {name!r} for itself.")
    points = grid_of(data.X[feature], grid=grid, n_grid=n_grid)
    known = is_predicted(model, data.X, feature, points)
    curves = [
        dalex.profile(data.X, predict, feature=feature, grid=points[known])
        for predict in outputs(model, scale)
    ]
    return points, with_gaps(np.stack(curves, axis=1), known)


IMPORTANCE: dict[str, Method] = {
    "permutation": METHODS["permutation"]._replace(function=dalex_permutation),
}
CURVES: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=dalex_curve),
}
