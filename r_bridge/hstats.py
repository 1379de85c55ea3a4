"""Asks hstats for losses, H and PD importance. Alone knows its words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host

Floats = npt.NDArray[np.float64]
Predict = Callable[[pd.DataFrame], Floats]

ROW_LOSSES = (
    *("mse", "mae", "poisson_deviance", "gamma_deviance"),
    *("log_loss", "log_loss_clipped", "brier", "one_minus_accuracy"),
)
"""Losses that are a mean over the rows; the others hstats cannot be asked."""


def permutation(
    frame: pd.DataFrame,
    y: npt.NDArray[Any],
    predict: Predict,
    *,
    groups: Mapping[str, Sequence[str]],
    loss: str,
    draws: Mapping[str, int],
    weights: Floats | None = None,
    classes: Sequence[str] = (),
) -> tuple[Floats, Floats]:
    """Ask hstats for the loss of every group in every repeat.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, 0 and 1, or codes into `classes`.
    predict : callable
        Asked by R; ``(n_samples,)``, or one column per entry of `classes`.
    groups : mapping of str to sequence of str
        Columns permuted together, in the order they are drawn.
    loss : str
        One of `ROW_LOSSES`.
    draws : mapping
        ``seed``, ``n_repeats``, and ``n_rows``: rows drawn once for all.
    weights : ndarray of shape (n_samples,), optional
    classes : sequence of str
        Names of the columns of a prediction, empty if it has none.

    Returns
    -------
    permuted : ndarray of shape (n_groups, n_repeats)
    full : float ndarray of shape ()
        Loss of the rows as they are.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "hstats_permutation",
        {
            "data": frame,
            "y": np.asarray(y, dtype=np.float64),
            "loss": loss,
            "groups": {name: list(columns) for name, columns in groups.items()},
            "weights": weights,
            "classes": list(classes) or None,
            **draws,
        },
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    losses = np.asarray(answer, dtype=np.float64)
    return losses[:, :-1], losses[0, -1]


def h_squared(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    groups: Mapping[str, Sequence[str]],
    seed: int,
    n_rows: int,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Ask hstats for Friedman's H squared of one, two or three columns.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
        Two columns or more.
    predict : callable
        Asked by R; ``(n_samples,)``.
    groups : mapping of str to sequence of str
        One column, two or three.
    seed : int
    n_rows : int
        Rows drawn where there are more.
    weights : ndarray of shape (n_samples,), optional

    Returns
    -------
    numerator, denominator : ndarray of shape (n_groups,)

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "hstats_h",
        {
            "data": frame,
            "groups": {name: list(columns) for name, columns in groups.items()},
            "seed": seed,
            "n_rows": n_rows,
            "weights": weights,
        },
        predict=predict,
        schema_of=frame,
    )
    values = np.asarray(answer, dtype=np.float64)
    return values[:, 0], values[:, 1]


def pd_importance(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    features: Sequence[str],
    seed: int,
    n_rows: int,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Ask hstats how much of the prediction all columns but one do not show.

    Parameters, raises and returns are those of `h_squared`, of single columns.
    """
    answer = host.current().call(
        "hstats_pd_importance",
        {
            "data": frame,
            "features": list(features),
            "seed": seed,
            "n_rows": n_rows,
            "weights": weights,
        },
        predict=predict,
        schema_of=frame,
    )
    values = np.asarray(answer, dtype=np.float64)
    return values[:, 0], values[:, 1]
