"""DALEX: losses under permutation, and profiles."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..methods.effects.local_profiles import (
    check_steps,
    nearness,
    profile_grid,
    rows_of,
    width_of,
)
from ..methods.effects.partial_dependence import Grid, Scale
from ..methods.importance.method_result import MethodResult
from ..records.dataset_and_model import Dataset, FittedModel
from ..records.errors import NotApplicable, quote
from .asking import Curve, ask_loss, curves, partial_dependence_by, refuse

# Losses with the same definition in DALEX, and its functions for them. Other losses of
# DALEX have names like ours, but different definitions.
OWN_LOSSES = {
    "rmse": "loss_root_mean_square",
    "sum_of_squares": "loss_sum_of_squares",
    "one_minus_auc": "loss_one_minus_auc",
    "dalex_cross_entropy": "loss_cross_entropy",
}
FULL, Y_PERMUTED = "_full_model_", "_baseline_"
PROFILE_COLUMNS = ("_vname_", "_label_", "_x_", "_yhat_", "_ids_")


def dalex_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> MethodResult:
    """Return the losses of ``DALEX::model_parts``, repeat by repeat.

    Parameters, returns and raises as in `importance.permutation.permutation`; NaN where
    DALEX returns no value. `NotApplicable` too if rows are weighted, a repeat uses a
    single row, or a group has a name that DALEX reserves. Its losses with the target
    permuted are compared with `importance.permutation.permuted_target`.
    """
    refuse("DALEX", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    _refuse_names((FULL, Y_PERMUTED), data.groups)
    if min(n_rows or data.n_samples, data.n_samples) == 1:
        # R's sample(5) is sample(1:5): it draws more numbers, and shifts the stream.
        raise NotApplicable("DALEX permutes a single target as if it were a count.")
    question: dict[str, Any] = {"groups": data.groups, "seed": seed}
    question |= {"n_repeats": n_repeats, "n_rows": n_rows}
    tables = []
    for loss in model.losses:
        question["own_loss"] = OWN_LOSSES.get(loss)
        answer = ask_loss("dalex_parts", model, data, loss, **question)
        table = pd.DataFrame(answer).pivot(
            index="feature", columns="round", values="loss"
        )
        tables.append(table.reindex([*data.groups, FULL, Y_PERMUTED]))
    losses = np.stack(tables, axis=-1).astype(np.float64)
    return MethodResult(losses[:-2], losses[-2], y_permuted=losses[-1])


def _local_profile(kind: Literal["conditional", "accumulated"]) -> Callable[..., Curve]:
    """Return an effect: ``DALEX::model_profile`` of one type, on our grid.

    Its parameters, returns and raises are those of `effects.local_profiles`;
    `NotApplicable` too if rows are weighted, or a row lacks the feature.
    """

    def profile(
        model: FittedModel,
        data: Dataset,
        feature: str,
        *,
        seed: int,
        grid: Grid = "quantile",
        n_grid: int = 101,
        scale: Scale = "native",
        span: float = 0.25,
        n_rows: int | None = None,
    ) -> Curve:
        refuse("DALEX", f"{kind}_profile", data, n_rows=n_rows)
        _refuse_names(PROFILE_COLUMNS, data.features)
        if data.X[feature].hasnans:
            raise NotApplicable(
                f"Column {quote(feature)} must have a value in every row for a {kind} "
                "profile of DALEX; some are missing."
            )
        points = profile_grid(data, feature, grid=grid, n_grid=n_grid)
        rows = rows_of(data, feature, seed=seed, n_rows=n_rows)
        is_near = nearness(rows.X[feature], points, width_of(points, span)).any(axis=1)
        if kind == "accumulated":  # DALEX counts a step without near rows as 0
            check_steps(feature, points, is_near)
        draws = {"type": kind, "span": span, "seed": seed, "n_rows": n_rows}
        values = curves("dalex_profile", model, data, feature, points, scale, **draws)
        if kind == "conditional":  # DALEX returns 0 where no row is near
            values = np.where(is_near[:, np.newaxis], values, np.nan)
        return points, values

    return profile


def _refuse_names(reserved: Iterable[str], names: Collection[str]) -> None:
    """Refuse names that DALEX reserves."""
    for name in reserved:
        if name in names:
            raise NotApplicable(
                f"DALEX reserves the name {quote(name)} for its own use."
            )


dalex_curve = partial_dependence_by(
    "DALEX",
    "dalex_profile",
    lambda data, _: _refuse_names(PROFILE_COLUMNS, data.features),
    type="partial",
    seed=1,
)
dalex_conditional_profile = _local_profile("conditional")
dalex_accumulated_profile = _local_profile("accumulated")

IMPORTANCE = {"permutation": dalex_permutation}
CURVES = {
    "partial_dependence": dalex_curve,
    "conditional_profile": dalex_conditional_profile,
    "accumulated_profile": dalex_accumulated_profile,
}
