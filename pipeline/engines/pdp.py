"""pdp, asked for partial dependence itself: by vip it is asked for its spread."""

from ..methods.effects import EFFECTS, EffectMethod
from ..methods.effects.partial_dependence import Grid, Scale
from ..methods.importance import Method
from ..records.dataset_and_model import Dataset, FittedModel
from .asking import Curve, curve_on, refuse


def pdp_curve(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
) -> Curve:
    """Return the curve of ``pdp::partial`` over all rows, on our grid.

    Parameters, returns and raises as in `effects.partial_dependence`; weighted rows
    are refused too.
    """
    del seed
    refuse("pdp", "partial_dependence", data)
    return curve_on(grid, n_grid, "pdp_partial", model, data, feature, scale)


IMPORTANCE: dict[str, Method] = {}
CURVES: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=pdp_curve),
}
