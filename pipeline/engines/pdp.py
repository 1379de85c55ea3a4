"""pdp, asked for partial dependence itself: by vip it is asked for its spread."""

from typing import Any

import numpy as np
import numpy.typing as npt

from importance_audit.r_bridge import pdp

from ..methods.effects import EFFECTS, EffectMethod
from ..methods.effects.partial_dependence import (
    Grid,
    Scale,
    grid_of,
    is_predicted,
    with_gaps,
)
from ..methods.importance import Method
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from .questions import outputs, refuse


def pdp_curve(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
) -> tuple[npt.NDArray[Any], Floats]:
    """Return the curve of ``pdp::partial`` over all rows, on our grid.

    Parameters, returns and raises as in `effects.partial_dependence`; weighted rows
    are refused too.
    """
    del seed
    refuse("pdp", "partial_dependence", data)
    points = grid_of(data.X[feature], grid=grid, n_grid=n_grid)
    is_measured = is_predicted(model, data.X, feature, points)
    curves = [
        pdp.partial(data.X, predict, feature=feature, grid=points[is_measured])
        for predict in outputs(model, scale)
    ]
    return points, with_gaps(np.stack(curves, axis=1), is_measured)


IMPORTANCE: dict[str, Method] = {}
CURVES: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=pdp_curve),
}
