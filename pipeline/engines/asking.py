"""Calls of R packages: the data sent, the call, and the result as numbers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from importance_audit.r_bridge import host

from ..methods.effects.partial_dependence import (
    SCALES,
    Grid,
    Scale,
    check_scale,
    grid_of,
    is_predicted,
    with_gaps,
)
from ..records.dataset_and_model import Dataset, FittedModel, Floats, largest_gap
from ..records.errors import NotApplicable
from .known_defects import Question, defects_of

Curve = tuple[npt.NDArray[Any], Floats]
Predict = Callable[[pd.DataFrame], Floats]

BY_NAME = ("DALEX", "pdp", "vip", "xplainfi")
"""Engines that find columns of an R data frame by name."""
MOST_DRAWS = 10_000
"""Most random numbers that are counted during a prediction."""


def ask(
    function: str,
    frame: pd.DataFrame,
    predict: Predict,
    *,
    classes: Sequence[str] = (),
    **arguments: Any,
) -> Any:
    """Call a function in the R files of the bridge on rows.

    Parameters
    ----------
    function : str
        Its name.
    frame : DataFrame of shape (n_samples, n_features)
        Sent as its argument ``data``.
    predict : callable
        Called by R; returns ``(n_samples,)``, or one column per entry of `classes`.
    classes : sequence of str
        Names of the columns of a prediction, sent unless empty.
    **arguments
        Its other arguments, by name.

    Returns
    -------
    ndarray, or a dict if R returns a named list

    Raises
    ------
    importance_audit.r_bridge.errors.RBridgeError
    """
    if classes:
        arguments["classes"] = list(classes)
    answer = host.current().call(
        function,
        {"data": frame, **arguments},
        predict=predict,
        schema_of=frame,
        labels=tuple(classes),
    )
    if isinstance(answer, dict):
        return answer
    return np.asarray(answer, dtype=np.float64)


def ask_loss(
    function: str, model: FittedModel, data: Dataset, loss: str, **arguments: Any
) -> Any:
    """Call an R function with a loss and predict; `arguments` and result as in `ask`.

    `loss` is one of our losses in losses.R.
    """
    return ask(
        function,
        data.X,
        model.predict,
        classes=classes_of(model),
        y=np.asarray(data.y, dtype=np.float64),
        loss=loss,
        **arguments,
    )


def losses_and_full(answers: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the losses with a group permuted, and the unpermuted losses, by repeat.

    Parameters
    ----------
    answers : sequence of ndarray of shape (n_groups, n_repeats + 1)
        One for each loss; the last column is the loss without permutation.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, n_losses)
    baseline : ndarray of shape (n_repeats, n_losses)
    """
    losses = np.stack(answers, axis=-1)
    return losses[:, :-1], np.tile(losses[0, -1], (losses.shape[1] - 1, 1))


def curves(
    function: str,
    model: FittedModel,
    data: Dataset,
    feature: str,
    points: npt.NDArray[Any],
    scale: Scale,
    **arguments: Any,
) -> Floats:
    """Return the curve of each output from an R function, (n_points, n_outputs)."""
    answers = [
        ask(function, data.X, predict, feature=feature, grid=points, **arguments)
        for predict in outputs(model, scale)
    ]
    return np.stack(answers, axis=1)


def partial_dependence_by(
    engine: str,
    function: str,
    check: Callable[[Dataset, str], None] | None = None,
    **arguments: Any,
) -> Callable[..., Curve]:
    """Return an effect that calls an R function for partial dependence on our grid.

    Parameters, returns and raises as in `effects.partial_dependence`; weighted rows
    also raise `NotApplicable`.

    Parameters
    ----------
    engine, function : str
        A key of `ENGINES`, and the name of the R function.
    check : callable, optional
        ``check(data, feature)`` raises `NotApplicable` for data the package refuses.
    **arguments
        Its arguments other than the feature and the grid.
    """

    def curve(
        model: FittedModel,
        data: Dataset,
        feature: str,
        *,
        seed: int,
        grid: Grid = "even",
        n_grid: int = 51,
        scale: Scale = "native",
    ) -> Curve:
        del seed
        refuse(engine, "partial_dependence", data)
        if check is not None:
            check(data, feature)
        points = grid_of(data, feature, grid=grid, n_grid=n_grid)
        is_measured = is_predicted(model, data.X, feature, points)
        values = curves(
            function, model, data, feature, points[is_measured], scale, **arguments
        )
        return points, with_gaps(values, is_measured)

    return curve


def compare_predictions(model: FittedModel, data: Dataset) -> tuple[float, int]:
    """Return the difference of predictions in R and in Python, and R's random draws.

    The difference is `largest_gap` of the predictions. The second value is the number
    of random numbers that predicting takes from R's stream: unless it is 0, all later
    draws of an engine change.
    """
    ours = np.asarray(model.predict(data.X), dtype=np.float64)
    answer = host.current().call(
        "predictions",
        {"data": data.X, "most": MOST_DRAWS},
        predict=model.predict,
        schema_of=data.X,
        labels=classes_of(model),
    )
    r_predictions = np.asarray(answer["predicted"], dtype=np.float64)
    return largest_gap(ours, r_predictions), int(answer["n_draws"][0])


def refuse(engine: str, method: str, data: Dataset, **draws: int | None) -> None:
    """Raise `NotApplicable` if a known defect of the package prevents the computation.

    Also if a column has the empty name, which most R packages cannot look up by name.
    """
    if "" in data.features and engine in BY_NAME:
        raise NotApplicable(
            f"{engine} cannot be asked about a table with a column named '': R finds "
            "no column by an empty name. Rename it."
        )
    question = Question(
        engine=engine,
        method=method,
        n_features=len(data.groups),
        n_columns=len(data.features),
        n_samples=data.n_samples,
        is_weighted=data.is_weighted,
        **draws,  # type: ignore[arg-type]
    )
    for defect in defects_of(question, host.installed().get("packages", {})):
        if defect.effect == "refused":
            raise NotApplicable(defect.text)


def classes_of(model: FittedModel) -> tuple[str, ...]:
    """Return the names of the columns of a prediction; empty for a single number."""
    return model.classes if model.task == "multiclass" else ()


def outputs(model: FittedModel, scale: Scale) -> list[Predict]:
    """Return one predict function per output, with one number per row.

    The scale is applied here, before R averages.
    """
    check_scale(model, scale)

    def predict(X: pd.DataFrame, k: int) -> Floats:
        on_scale = SCALES[scale](model, model.predict(X))
        return on_scale.reshape(len(X), -1)[:, k].copy()

    return [partial(predict, k=k) for k in range(len(model.outputs))]
