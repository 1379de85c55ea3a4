"""Asks vip for permutation scores, FIRM and Shapley. Alone knows vip's two lines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host
from .numeric import as_numbers, restored

Floats = npt.NDArray[np.float64]
Predict = Callable[[pd.DataFrame], Floats]

NEWEST_LINE = (0, 5)


def stream_of(version: str) -> str:
    """Return the order in which a version of vip draws.

    "vip-0.4" draws the rows of a subsample once and keeps them, "vip-0.5" draws them
    anew in every repeat; so, it is taken, do all that are newer.
    """
    major, minor = (int(number) for number in version.split(".")[:2])
    newest = min((major, minor), NEWEST_LINE)
    return f"vip-{newest[0]}.{newest[1]}"


def permute(
    frame: pd.DataFrame,
    y: npt.NDArray[Any],
    predict: Predict,
    *,
    features: Sequence[str],
    loss: str,
    options: Mapping[str, Any],
    classes: Sequence[str] = (),
) -> Floats:
    """Ask vip for the score of every feature in every repeat.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, 0 and 1, or codes into `classes`.
    predict : callable
        Asked by R; ``(n_samples,)``, or one column per entry of `classes`.
    features : sequence of str
        Columns permuted, in the order they are drawn.
    loss : str
        One of ours in losses.R.
    options : mapping
        ``seed``, ``n_repeats``, ``n_rows`` (None for all), and ``form``, "difference"
        or "ratio": how a score holds a loss against the loss of nothing permuted.
    classes : sequence of str
        Names of the columns of a prediction, empty if it has none.

    Returns
    -------
    ndarray of shape (n_features, n_repeats)

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    scores = host.current().call(
        "vip_permute",
        {
            "data": frame,
            "y": np.asarray(y, dtype=np.float64),
            "features": list(features),
            "loss": loss,
            "classes": list(classes) or None,
            **options,
        },
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    return np.asarray(scores, dtype=np.float64)


def firm(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    feature: str,
    grid: npt.NDArray[Any],
    divisor: float = 4.0,
) -> tuple[float, Floats]:
    """Ask vip how far a partial dependence is from flat, and for the curve itself.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    predict : callable
        Asked by R; ``(n_samples,)``.
    feature : str
        The column that is set.
    grid : ndarray of shape (n_grid,)
        Numbers, or levels as text.
    divisor : float, default 4
        What the range over categories is divided by; numbers get the standard
        deviation.

    Returns
    -------
    importance : float
    values : ndarray of shape (n_grid,)

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "vip_firm",
        {
            "data": frame,
            "feature": feature,
            "grid": grid,
            "divisor": divisor,
        },
        predict=predict,
        schema_of=frame,
    )
    values = np.asarray(answer["values"], dtype=np.float64)
    return float(answer["importance"][0]), values


def shap(
    frame: pd.DataFrame, predict: Predict, *, options: Mapping[str, Any]
) -> Floats:
    """Ask vip, which asks fastshap, for mean absolute Shapley values.

    The rows cross as numbers, since fastshap keeps seven digits of anything else.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
        The rows explained, and those that stand in for absent columns.
    predict : callable
        Asked by R for mixed rows of the columns of `frame`; ``(n_samples,)``.
    options : mapping
        ``seed``, ``n_repeats``, ``n_permutations`` (fastshap's `nsim`), ``adjust``.

    Returns
    -------
    ndarray of shape (n_features, n_repeats)

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    numbers = as_numbers(frame)
    scores = host.current().call(
        "vip_shap",
        {"data": numbers, **options},
        predict=lambda rows: predict(restored(rows, frame)),
        schema_of=numbers,
    )
    return np.asarray(scores, dtype=np.float64)
