"""Asks pdp for partial dependence. Alone knows its words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host

Floats = npt.NDArray[np.float64]
Predict = Callable[[pd.DataFrame], Floats]


def partial(
    frame: pd.DataFrame, predict: Predict, *, feature: str, grid: npt.NDArray[Any]
) -> Floats:
    """Ask pdp for the mean prediction at each point of a grid, (n_grid,).

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    predict : callable
        Asked by R; ``(n_samples,)``.
    feature : str
        The column that is set.
    grid : ndarray of shape (n_grid,)
        Numbers, or levels as text.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    values = host.current().call(
        "pdp_partial",
        {"data": frame, "feature": feature, "grid": grid},
        predict=predict,
        schema_of=frame,
    )
    return np.asarray(values, dtype=np.float64)
