"""What every question to an R package is made of: columns, classes, refusals."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from importance_audit.r_bridge import dalex, host

from ..methods.effects.partial_dependence import SCALES, Scale, check_scale
from ..models.prediction import largest_gap
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable
from .known_defects import Question, defects_of

BY_NAME = ("DALEX", "pdp", "vip", "xplainfi")
"""Engines that take columns of a data frame of R by their names."""


@dataclass(kw_only=True)
class RowTests:
    """The test of the losses of rows that an engine makes in the same computation.

    Attributes
    ----------
    statistic : {"t", "wilcoxon", "sign", "fisher"}
        As in `assess.paired_tests`; always one-sided, for a rise.
    tables : dict of str to ndarray of shape (n_groups, 4)
        What the engine says, by loss; the columns are `r_bridge.xplainfi.TESTED`.
    reason : str
        Why it makes none that is of the same differences as ours.
    """

    statistic: str
    tables: dict[str, Floats] = field(default_factory=dict)
    reason: str = ""


def same_predictions(model: FittedModel, data: Dataset) -> float:
    """Return how far what R is told about these rows is from what the model says.

    As `largest_gap` of the predictions.
    """
    return compare_predictions(model, data)[0]


def compare_predictions(model: FittedModel, data: Dataset) -> tuple[float, int]:
    """Return `same_predictions`, and how many numbers R's stream lost by asking.

    Anything but 0 moves every draw of an engine after it.
    """
    ours = np.asarray(model.predict(data.X), dtype=np.float64)
    r_predictions, draws = dalex.predictions_and_draws(
        data.X, model.predict, classes=classes_of(model)
    )
    return largest_gap(ours, r_predictions), draws


def refuse(engine: str, method: str, data: Dataset, **draws: int | None) -> None:
    """Raise if the package has a fault that keeps it from answering.

    Or a column has the empty name, by which R finds none: hstats and iml do not ask so.
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


def features_of(data: Dataset) -> tuple[str, ...]:
    """Return the one column of every group."""
    if any(len(columns) != 1 for columns in data.groups.values()):
        raise NotApplicable("vip has no groups: it permutes single features only.")
    return tuple(columns[0] for columns in data.groups.values())


def classes_of(model: FittedModel) -> tuple[str, ...]:
    """Return the names of the columns of a prediction, none if it is one number."""
    return model.classes if model.task == "multiclass" else ()


def outputs(model: FittedModel, scale: Scale) -> list[Callable[[pd.DataFrame], Floats]]:
    """Return one function per output, which predicts it as one number per row.

    The scale is applied here, before R averages.
    """
    check_scale(model, scale)

    def predict(X: pd.DataFrame, k: int) -> Floats:
        on_scale = SCALES[scale](model, model.predict(X))
        return on_scale.reshape(len(X), -1)[:, k].copy()

    return [partial(predict, k=k) for k in range(len(model.outputs))]
