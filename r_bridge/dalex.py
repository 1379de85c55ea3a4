"""Asks DALEX for losses under permutation and for profiles. Alone knows its words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import host

Floats = npt.NDArray[np.float64]
Predict = Callable[[pd.DataFrame], Floats]

# The losses DALEX defines exactly as we do, and its functions for them. It has others
# under names like ours that it defines otherwise.
OWN_LOSSES = {
    "rmse": "loss_root_mean_square",
    "sum_of_squares": "loss_sum_of_squares",
    "one_minus_auc": "loss_one_minus_auc",
    "dalex_cross_entropy": "loss_cross_entropy",
}
FULL, Y_PERMUTED = "_full_model_", "_baseline_"
PROFILE_COLUMNS = ("_vname_", "_label_", "_x_", "_yhat_", "_ids_")


class Parts(NamedTuple):
    """What one call of ``DALEX::model_parts`` measured, round by round.

    Attributes
    ----------
    permuted : ndarray of shape (n_groups, n_repeats)
        Loss with one group permuted; NaN where DALEX gave none.
    full : ndarray of shape (n_repeats,)
        Loss of the rows as they are, DALEX's ``_full_model_``.
    y_permuted : ndarray of shape (n_repeats,)
        Loss with the target shuffled, DALEX's ``_baseline_``.
    """

    permuted: Floats
    full: Floats
    y_permuted: Floats


def parts(
    frame: pd.DataFrame,
    y: npt.NDArray[Any],
    predict: Predict,
    *,
    groups: Mapping[str, Sequence[str]],
    loss: str,
    draws: Mapping[str, int | None],
    classes: Sequence[str] = (),
) -> Parts:
    """Ask DALEX for the loss of every group in every round.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, 0 and 1, or codes into `classes`.
    predict : callable
        Asked by R; ``(n_samples,)``, or one column per entry of `classes`.
    groups : mapping of str to sequence of str
        Columns permuted together, in the order they are drawn. No group may be
        called `FULL` or `Y_PERMUTED`.
    loss : str
        A key of `OWN_LOSSES`, or one of ours in losses.R.
    draws : mapping
        ``seed``, ``n_repeats``, and ``n_rows``: rows drawn per round, None for all.
    classes : sequence of str
        Names of the columns of a prediction, empty if it has none.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "dalex_parts",
        {
            "data": frame,
            "y": np.asarray(y, dtype=np.float64),
            "loss": loss,
            "own_loss": OWN_LOSSES.get(loss),
            "groups": {name: list(columns) for name, columns in groups.items()},
            "classes": list(classes) or None,
            **draws,
        },
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    table = pd.DataFrame(answer).pivot(index="feature", columns="round", values="loss")
    losses = table.reindex([*groups, FULL, Y_PERMUTED]).to_numpy(dtype=np.float64)
    return Parts(losses[:-2], losses[-2], losses[-1])


def profile(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    feature: str,
    grid: npt.NDArray[Any],
    kind: str = "partial",
    span: float = 0.25,
    seed: int = 1,
    n_rows: int | None = None,
) -> Floats:
    """Ask DALEX for a profile of one feature at each point of a grid, (n_grid,).

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    predict : callable
        Asked by R; ``(n_samples,)``.
    feature : str
        The column that is set.
    grid : ndarray of shape (n_grid,)
        Numbers, or levels as text.
    kind : {"partial", "conditional", "accumulated"}, default "partial"
        The mean prediction; of the rows near a point; or their changes added up.
    span : float, default 0.25
        What is near: the standard deviation of the kernel over the range of the grid.
    seed : int, default 1
    n_rows : int, optional
        Rows drawn, all by default.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    question = {"data": frame, "feature": feature, "grid": grid}
    values = host.current().call(
        "dalex_profile",
        question | {"type": kind, "span": span, "seed": seed, "n_rows": n_rows},
        predict=predict,
        schema_of=frame,
    )
    return np.asarray(values, dtype=np.float64)


def predictions(
    frame: pd.DataFrame, predict: Predict, *, classes: Sequence[str] = ()
) -> Floats:
    """Return what R is told when it asks `predict` about these rows.

    Parameters, shape and raises as in `predictions_and_draws`.
    """
    return predictions_and_draws(frame, predict, classes=classes)[0]


def predictions_and_draws(
    frame: pd.DataFrame,
    predict: Predict,
    *,
    classes: Sequence[str] = (),
    most: int = 10_000,
) -> tuple[Floats, int]:
    """Return what R is told when it asks `predict`, and what R's stream loses by it.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_features)
    predict : callable
    classes : sequence of str
        Names of the columns of a prediction, empty if it has none.
    most : int, default 10000
        Where the count of the draws ends.

    Returns
    -------
    predictions : ndarray of shape (n_samples,) or (n_samples, n_classes)
    draws : int
        How many random numbers were taken from R's stream.

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    answer = host.current().call(
        "predictions",
        {"data": frame, "most": most},
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    predicted = np.asarray(answer["predicted"], dtype=np.float64)
    return predicted, int(answer["n_draws"][0])
