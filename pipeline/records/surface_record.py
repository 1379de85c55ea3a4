"""The record of a surface: the prediction as a function of two features."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .dataset_and_model import Floats
from .importance_record import Measured


@dataclass(frozen=True, kw_only=True, eq=False)
class Surface(Measured):
    """One surface: the mean prediction with two features set to each pair of values.

    Attributes
    ----------
    features : tuple of str
        The two features.
    kinds : tuple of {"number", "category"}
        The kind of each feature.
    first_grid : ndarray of shape (n_first,)
        Values of the first feature: floats, or levels as text.
    second_grid : ndarray of shape (n_second,)
    values : ndarray of shape (n_first, n_second)
        The surface, in `unit`; NaN at a level that the model cannot predict.
    within : ndarray of bool of shape (n_first, n_second)
        Whether there are rows near the point; see `effects.surface.within`.
    """

    features: tuple[str, str]
    kinds: tuple[Literal["number", "category"], Literal["number", "category"]]
    first_grid: npt.NDArray[Any]
    second_grid: npt.NDArray[Any]
    values: Floats
    within: npt.NDArray[np.bool_]
