"""Asks iml for losses under permutation, curves and H. Alone knows its words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host

Floats = npt.NDArray[np.float64]
Predict = Callable[[pd.DataFrame], Floats]


def permutation(
    frame: pd.DataFrame,
    y: npt.NDArray[Any],
    predict: Predict,
    *,
    groups: Mapping[str, Sequence[str]],
    loss: str,
    draws: Mapping[str, int],
) -> tuple[Floats, Floats]:
    """Ask iml for the loss of every group in every repeat.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
        Two columns or more.
    y : ndarray of shape (n_samples,)
        Numbers, or 0 and 1.
    predict : callable
        Asked by R; ``(n_samples,)``.
    groups : mapping of str to sequence of str
        Columns moved together.
    loss : str
        One of ours in losses.R.
    draws : mapping
        ``seed`` and ``n_repeats``.

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
        "iml_permutation",
        {
            "data": frame,
            "y": np.asarray(y, dtype=np.float64),
            "loss": loss,
            "groups": {name: list(columns) for name, columns in groups.items()},
            **draws,
        },
        predict=predict,
        schema_of=frame,
    )
    losses = np.asarray(answer, dtype=np.float64)
    return losses[:, :-1], losses[0, -1]


def curve(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    feature: str,
    grid: npt.NDArray[Any],
    method: Literal["pdp", "ale"],
) -> Floats:
    """Ask iml for a curve at each point of a grid, (n_grid,).

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
        Two columns or more.
    predict : callable
        Asked by R; ``(n_samples,)``.
    feature : str
        The column that is set.
    grid : ndarray of shape (n_grid,)
        Numbers, which hold all rows between them for "ale"; or levels as text, which
        some row has.
    method : {"pdp", "ale"}
        Partial dependence, or accumulated local effects.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    values = host.current().call(
        "iml_curve",
        {"data": frame, "feature": feature, "grid": grid, "method": method},
        predict=predict,
        schema_of=frame,
    )
    return np.asarray(values, dtype=np.float64)


def h(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    groups: Mapping[str, Sequence[str]],
    seed: int,
) -> Floats:
    """Ask iml for Friedman's H, the root, over all rows, (n_groups,).

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
        Two columns or more.
    predict : callable
        Asked by R; ``(n_samples,)``.
    groups : mapping of str to sequence of str
        One column, for what it shares with all others, or a pair.
    seed : int
        Of the order in which iml takes the rows.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    values = host.current().call(
        "iml_h",
        {
            "data": frame,
            "groups": {name: list(columns) for name, columns in groups.items()},
            "seed": seed,
        },
        predict=predict,
        schema_of=frame,
    )
    return np.asarray(values, dtype=np.float64)
