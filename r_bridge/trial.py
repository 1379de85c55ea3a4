"""A round trip to R and back: columns of every type, a callback, a draw."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host


class Trial(NamedTuple):
    """What came back.

    Attributes
    ----------
    data : DataFrame
    predictions : ndarray of shape (n_samples,)
    sample : ndarray of shape (n_samples,)
        ``sample(n)`` after ``set.seed(seed)``, from 0 on.
    """

    data: pd.DataFrame
    predictions: npt.NDArray[np.float64]
    sample: npt.NDArray[np.int64]


def frame() -> pd.DataFrame:
    """Return rows whose columns are of every type a model may read, odd names too."""
    return pd.DataFrame(
        {
            "size (m²)": [0.1, -0.0, np.nan, 5e-324, 1e308],
            "if": np.arange(5),
            "flag": [True, False, True, True, False],
            "kind": pd.Categorical(list("vuvvu"), ["w", "v", "u"]),
            "grade": pd.Categorical(list("lhlmm"), list("lmh"), ordered=True),
            "text": ["a", "£", "", "価格", None],
            "day": pd.to_datetime(
                ["1969-12-31", "2000-02-29", None, *["2026-01-01"] * 2]
            ),
        }
    )


def trial(
    data: pd.DataFrame, predict: Callable[[pd.DataFrame], Any], *, seed: int
) -> Trial:
    """Send rows to R, let R predict them, and return what came back.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    BaseException
        What `predict` raised.
    """
    answer = host.current().call(
        "trial", {"data": data, "seed": seed}, predict=predict, schema_of=data
    )
    return Trial(answer["data"], answer["predictions"], answer["sample"])
