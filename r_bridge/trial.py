"""A round trip to R and back: columns of every type, a callback, a draw."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host


class Trial(NamedTuple):
    """The values that returned.

    Attributes
    ----------
    data : DataFrame
    predictions : ndarray of shape (n_samples,)
    sample : ndarray of shape (n_samples,)
        ``sample(n)`` after ``set.seed(seed)``, starting at 0.
    """

    data: pd.DataFrame
    predictions: npt.NDArray[np.float64]
    sample: npt.NDArray[np.int64]


def frame() -> pd.DataFrame:
    """Return rows with a column of every type that a model may use, and odd names."""
    return pd.DataFrame(
        {
            "size (m²)": [0.1, -0.0, np.nan, 5e-324, 1e308],
            "if": np.arange(5),
            "flag": [True, False, True, True, False],
            "kind": pd.Categorical(list("vuvvu"), ["w", "v", "u"]),
            "grade": pd.Categorical(list("lhlmm"), list("lmh"), ordered=True),
            "odd": pd.Categorical(["a", "£", "", "価格", None]),
        }
    )


def trial(
    data: pd.DataFrame, predict: Callable[[pd.DataFrame], Any], *, seed: int
) -> Trial:
    """Send rows to R, predict them from R, and return the results.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    BaseException
        The exception of `predict`.
    """
    answer = host.current().call(
        "trial", {"data": data, "seed": seed}, predict=predict, schema_of=data
    )
    return Trial(answer["data"], answer["predictions"], answer["sample"])
