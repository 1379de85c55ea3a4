"""Asks xplainfi for losses and for SAGE. Alone knows its words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host

Floats = npt.NDArray[np.float64]
Predict = Callable[[pd.DataFrame], Floats]
TESTED = ("value", "p_value", "estimate", "std_error")
"""What its own test says of a group: the statistic, p-value, mean or median difference,
and standard error, NaN of another statistic than t."""


def permutation(
    frame: pd.DataFrame,
    y: npt.NDArray[Any],
    predict: Predict,
    *,
    groups: Mapping[str, Sequence[str]],
    loss: str,
    draws: Mapping[str, Any],
    test: str = "",
    classes: Sequence[str] = (),
) -> tuple[Floats, Floats, Floats]:
    """Ask xplainfi for the loss of every group in every repeat.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, 0 and 1, or codes into `classes`.
    predict : callable
        Asked by R; ``(n_samples,)``, or one column per entry of `classes`.
    groups : mapping of str to sequence of str
        Columns asked together. They are drawn in the order of their names; the columns
        of a group together given the others, else each by itself.
    loss : str
        One of ours in losses.R.
    draws : mapping
        ``seed``, ``n_repeats``, ``within``, one of "none", "gaussian" or "neighbours",
        and ``n_neighbours``, among which xplainfi counts the row itself.
    test : {"", "t", "wilcoxon", "binomial"}
        Its own one-sided test of the losses of the rows, which `loss` must have then.
    classes : sequence of str
        Names of the columns of a prediction, empty if it has none.

    Returns
    -------
    permuted : ndarray of shape (n_groups, n_repeats)
    full : float ndarray of shape ()
        Loss of the rows as they are.
    table : ndarray of shape (n_groups, 4)
        Of the test: its columns are `TESTED`; (n_groups, 0) without one.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "xplainfi_permutation",
        {
            "data": frame,
            "y": np.asarray(y, dtype=np.float64),
            "loss": loss,
            "groups": {name: list(columns) for name, columns in groups.items()},
            "test": test or None,
            "classes": list(classes) or None,
            **draws,
        },
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    by_name = sorted(groups, key=str.encode)
    losses = np.asarray(answer, dtype=np.float64)
    losses = losses[[by_name.index(name) for name in groups]]
    n_repeats = int(draws["n_repeats"])
    return losses[:, :n_repeats], losses[0, n_repeats], losses[:, n_repeats + 1 :]


def sage(
    frame: pd.DataFrame,
    y: npt.NDArray[Any],
    predict: Predict,
    *,
    loss: str,
    draws: Mapping[str, Any],
    classes: Sequence[str] = (),
) -> Floats:
    """Ask xplainfi for what every feature adds to the reduction of the loss.

    Parameters
    ----------
    frame, y, predict, loss, classes
        As in `permutation`; every column of `frame` is a player.
    draws : mapping
        ``seed``, ``n_repeats``, ``background`` ("rows" or "gaussian"),
        ``n_background`` and ``tolerance``, 0 for all orders.

    Returns
    -------
    ndarray of shape (n_features, n_orders)
        In the order of the columns; fewer orders than ``n_repeats`` if R stopped.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "xplainfi_sage",
        {
            "data": frame,
            "y": np.asarray(y, dtype=np.float64),
            "loss": loss,
            "classes": list(classes) or None,
            **draws,
        },
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    by_name = sorted(frame, key=str.encode)
    gains = np.asarray(answer, dtype=np.float64).reshape(-1, len(by_name))
    return gains[:, [by_name.index(name) for name in frame]].T


def refits(
    y: npt.NDArray[Any],
    n_fitted: int,
    predict: Predict,
    *,
    groups: Sequence[Sequence[int]],
    n_columns: int,
    loss: str,
    test: str = "",
    classes: Sequence[str] = (),
) -> tuple[Floats, float, Floats]:
    """Ask xplainfi for the loss of a model fitted without each group of columns.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Of the rows that are fitted, and then of those that judge.
    n_fitted : int
    predict : callable
        Asked by R for all rows of one fit: ``row`` is a place in `y`, from 1,
        ``is_fitted`` says whether it is fitted or judges, and ``without`` which of
        `groups` leaves, from 1; 0 is none. Answers for rows that are fitted are not
        read.
    groups : sequence of sequence of int
        Places of columns, from 0; no two alike.
    n_columns : int
    loss, test, classes
        As in `permutation`.

    Returns
    -------
    without : ndarray of shape (n_groups,)
    full : float
        Loss of the model fitted with all columns.
    table : ndarray of shape (n_groups, 4)
        As in `permutation`.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    rows = {"row": np.int64(), "is_fitted": np.bool_(), "without": np.int64()}
    answer = host.current().call(
        "xplainfi_refits",
        {
            "y": np.asarray(y, dtype=np.float64),
            "n_fitted": n_fitted,
            "n_columns": n_columns,
            "loss": loss,
            "groups": [[place + 1 for place in places] for places in groups],
            "test": test or None,
            "classes": list(classes) or None,
        },
        predict=predict,
        schema_of=pd.DataFrame([rows]),
        labels=tuple(classes),
    )
    n, numbers = len(groups), np.asarray(answer, dtype=np.float64)
    table = numbers[n + 1 :].reshape(len(TESTED) if test else 0, n).T
    return numbers[:n], float(numbers[n]), table
