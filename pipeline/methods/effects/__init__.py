"""The table of curves, and the interface that all of them have.

Every row of `EFFECTS` is called in one way:

    grid, values = effect.function(model, data, feature, seed=seed, **options)

`grid`, (n_grid,), holds the points of the curve: floats, or the levels of a category as
text in an object array. `values`, float64 of shape (n_grid, n_outputs), is the curve,
one column per entry of `model.outputs`. `NotApplicable` explains in a whole sentence
why a model has no such curve. No argument is changed.

The options of an effect are its keyword-only arguments with defaults, rather than a
record: as with methods, configuration and card read them from the signature. `on_band`
is not an option. It is an argument of effects that compute curves of single rows: they
call it with the ends of a band around the curve, each of the shape of `values`.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy.typing as npt

from ...records.dataset_and_model import Floats
from . import ale, local_profiles, mean_shapley, partial_dependence, stratpd


class EffectMethod(NamedTuple):
    """One entry of `EFFECTS`.

    Attributes
    ----------
    asks : {"predict", "data"}
        The access that the effect needs.
    unit : {"prediction", "y"}
        The quantity that its values are measured in.
    function : callable
    """

    asks: Literal["predict", "data"]
    unit: Literal["prediction", "y"]
    function: Callable[..., tuple[npt.NDArray[Any], Floats]]


EFFECTS: dict[str, EffectMethod] = {
    "partial_dependence": EffectMethod(
        "predict", "prediction", partial_dependence.partial_dependence
    ),
    "ale": EffectMethod("predict", "prediction", ale.ale),
    "conditional_profile": EffectMethod(
        "predict", "prediction", local_profiles.conditional_profile
    ),
    "accumulated_profile": EffectMethod(
        "predict", "prediction", local_profiles.accumulated_profile
    ),
    "shapley": EffectMethod("predict", "prediction", mean_shapley.mean_shapley),
    "stratpd": EffectMethod("data", "y", stratpd.stratpd),
}
