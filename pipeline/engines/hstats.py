"""hstats: losses under permutation, Friedman's H and PD importance; weights allowed."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..methods.effects.partial_dependence import Scale, rounding_of
from ..methods.importance.h_statistic import columns_of, ratio
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable, quote
from ..records.losses import loss_label
from .asking import ask, ask_loss, losses_and_full, outputs

ROW_LOSSES = (
    *("mse", "mae", "poisson_deviance", "gamma_deviance"),
    *("log_loss", "log_loss_clipped", "brier", "one_minus_accuracy"),
)
"""Losses that are a mean over the rows; hstats supports no others."""


def hstats_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> tuple[Floats, Floats]:
    """Return the losses of ``hstats::perm_importance``, repeat by repeat.

    Parameters, returns and raises as in `importance.permutation.permutation`, drawn in
    the order "hstats". `NotApplicable` too if a loss is not a mean over the rows:
    hstats needs one value per row. The root of the RMSE is taken here.
    """
    for reason in refused_losses(model.losses).values():
        raise NotApplicable(reason)
    question = {"groups": data.groups, "n_repeats": n_repeats}
    question |= _draw_options(data, seed, n_rows)
    answers = []
    for loss in model.losses:
        row_loss = "mse" if loss == "rmse" else loss
        answer = ask_loss("hstats_permutation", model, data, row_loss, **question)
        answers.append(np.sqrt(answer) if loss == "rmse" else answer)
    return losses_and_full(answers)


def refused_losses(losses: Iterable[str]) -> dict[str, str]:
    """Return the losses that hstats does not support, each with the reason."""
    rule = "hstats needs losses that are means over the rows"
    return {
        name: f"{rule}; {quote(loss_label(name))} is not such a loss."
        for name in losses
        if name != "rmse" and name not in ROW_LOSSES
    }


def hstats_h_statistic(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_rows: int | None = 500,
    scale: Scale = "native",
    standardised: bool = False,
) -> tuple[Floats, Floats]:
    """Return the roots of the numerators of ``hstats::hstats``, or its H.

    Parameters, returns and raises as in `importance.h_statistic.h_statistic`, drawn in
    the order "hstats"; `NotApplicable` too if the rows have a single column.
    """
    groups = columns_of(data, (1, 2, 3), "h_statistic")
    _refuse_one_column(data)
    question = {"groups": data.groups, **_draw_options(data, seed, n_rows)}
    # Up to seven curves go into one residual, three into one rounding.
    n_curves = np.array([{1: 3, 2: 3, 3: 7}[len(columns)] for columns in groups])
    return _roots("hstats_h", question, model, data, scale, standardised, n_curves)


def hstats_pd_importance(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_rows: int | None = 500,
    scale: Scale = "native",
    standardised: bool = False,
) -> tuple[Floats, Floats]:
    """Return the roots of the numerators of ``hstats::pd_importance``, or the ratios.

    Parameters, returns and raises as in `importance.pd_importance.pd_importance`, drawn
    in the order "hstats"; `NotApplicable` too if the rows have a single column, or a
    group has several.
    """
    for group, columns in data.groups.items():
        if len(columns) > 1:
            raise NotApplicable(
                "hstats takes one column at a time for method 'pd_importance'; "
                f"group {quote(group)} has {len(columns)}. Measure features instead."
            )
    _refuse_one_column(data)
    features = [column for (column,) in data.groups.values()]
    question = {"features": features, **_draw_options(data, seed, n_rows)}
    return _roots("hstats_pd_importance", question, model, data, scale, standardised)


def _refuse_one_column(data: Dataset) -> None:
    """Refuse rows with a single column."""
    if len(data.X.columns) < 2:
        raise NotApplicable("hstats needs at least two columns; there is one.")


def _draw_options(data: Dataset, seed: int, n_rows: int | None) -> dict[str, Any]:
    """Return the arguments for drawing and weighting rows."""
    return {
        "seed": seed,
        "n_rows": n_rows or data.n_samples,
        "weights": data.weights if data.is_weighted else None,
    }


def _roots(
    function: str,
    question: dict[str, Any],
    model: FittedModel,
    data: Dataset,
    scale: Scale,
    standardised: bool,
    n_curves: npt.ArrayLike = 3,
) -> tuple[Floats, Floats]:
    """Return roots of mean squares, or their ratios; 0 if only rounding is left.

    `n_curves` is the number of curves in a residual, by group.
    """
    roots = []
    for predict in outputs(model, scale):
        numerator, denominator = np.sqrt(ask(function, data.X, predict, **question)).T
        rounding = rounding_of(data.n_samples, np.abs(predict(data.X)).max())
        numerator[numerator <= rounding * np.asarray(n_curves) / 3] = 0
        denominator[denominator <= rounding] = 0
        roots.append(ratio(numerator, denominator) if standardised else numerator)
    raw = np.stack(roots, axis=1)[:, np.newaxis, :]
    return raw, np.zeros(raw.shape[1:])


IMPORTANCE = {
    "permutation": hstats_permutation,
    "h_statistic": hstats_h_statistic,
    "pd_importance": hstats_pd_importance,
}
