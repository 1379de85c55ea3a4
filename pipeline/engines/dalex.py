"""DALEX, asked for losses under permutation and for profiles."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from importance_audit.r_bridge import dalex

from ..methods.effects import EFFECTS, EffectMethod
from ..methods.effects.local_profiles import (
    check_steps,
    nearness,
    profile_grid,
    rows_of,
    width_of,
)
from ..methods.effects.partial_dependence import (
    Grid,
    Scale,
    grid_of,
    is_predicted,
    with_gaps,
)
from ..methods.importance import METHODS, Method
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.errors import NotApplicable, quote
from .questions import classes_of, outputs, refuse

Curve = tuple[npt.NDArray[Any], Floats]


def dalex_parts(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> dalex.Parts:
    """Return all that ``DALEX::model_parts`` measures, the losses on the last axis.

    Parameters and raises as in `importance.permutation.permutation`; `NotApplicable`
    too if rows are weighted, a round has one row only, or a group has a name that
    DALEX keeps for itself.

    Returns
    -------
    importance_audit.r_bridge.dalex.Parts
        `permuted` (n_groups, n_repeats, n_losses); `full` and `y_permuted`, which is
        `importance.permutation.permuted_target`'s partner, (n_repeats, n_losses).
    """
    refuse("DALEX", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    for name in dalex.FULL, dalex.Y_PERMUTED:
        if name in data.groups:
            raise NotApplicable(
                f"DALEX reserves the name {quote(name)} for its own use."
            )
    if min(n_rows or data.n_samples, data.n_samples) == 1:
        # R's sample(5) is sample(1:5): it draws more, and all after it something else.
        raise NotApplicable("DALEX permutes a single target as if it were a count.")
    draws = {"seed": seed, "n_repeats": n_repeats, "n_rows": n_rows}
    of_losses = [
        dalex.parts(
            data.X,
            data.y,
            model.predict,
            groups=data.groups,
            loss=loss,
            draws=draws,
            classes=classes_of(model),
        )
        for loss in model.losses
    ]
    return dalex.Parts(
        *(np.stack(part, axis=-1) for part in zip(*of_losses, strict=True))
    )


def dalex_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 10,
    n_rows: int | None = None,
    on_target: Callable[[Floats], None] | None = None,
) -> tuple[Floats, Floats]:
    """Return the losses of ``DALEX::model_parts``: `permuted` and `full` of its parts.

    `on_target` is told `y_permuted`. All else as in `dalex_parts`.
    """
    parts = dalex_parts(model, data, seed=seed, n_repeats=n_repeats, n_rows=n_rows)
    if on_target is not None:
        on_target(parts.y_permuted)
    return parts.permuted, parts.full


def dalex_curve(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
) -> Curve:
    """Return the profile of ``DALEX::model_profile`` over all rows, on our grid.

    Parameters, returns and raises as in `effects.partial_dependence`.
    """
    del seed
    _check(data, "partial_dependence")
    points = grid_of(data.X[feature], grid=grid, n_grid=n_grid)
    is_measured = is_predicted(model, data.X, feature, points)
    curves = [
        dalex.profile(data.X, predict, feature=feature, grid=points[is_measured])
        for predict in outputs(model, scale)
    ]
    return points, with_gaps(np.stack(curves, axis=1), is_measured)


def dalex_conditional_profile(
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
    """Return ``DALEX::model_profile(type = "conditional")``, on our grid.

    Parameters, returns and raises as in `effects.local_profiles.conditional_profile`;
    `NotApplicable` too if rows are weighted, or the feature is missing in one.
    """
    _check_local(data, feature, "conditional", n_rows)
    points = profile_grid(data, feature, grid=grid, n_grid=n_grid)
    options = {"kind": "conditional", "span": span, "seed": seed, "n_rows": n_rows}
    values = _local(model, data, feature, points, scale, options)
    # DALEX says 0 where there is no row to say anything.
    is_near = _is_near(data, feature, points, options)
    return points, np.where(is_near[:, np.newaxis], values, np.nan)


def dalex_accumulated_profile(
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
    """Return ``DALEX::model_profile(type = "accumulated")``, on our grid.

    Parameters, returns and raises as in `effects.local_profiles.accumulated_profile`;
    `NotApplicable` too if rows are weighted, or the feature is missing in one.
    """
    _check_local(data, feature, "accumulated", n_rows)
    points = profile_grid(data, feature, grid=grid, n_grid=n_grid)
    options = {"kind": "accumulated", "span": span, "seed": seed, "n_rows": n_rows}
    # DALEX counts a step that no row is near to as none.
    check_steps(feature, points, _is_near(data, feature, points, options))
    return points, _local(model, data, feature, points, scale, options)


def _local(
    model: FittedModel,
    data: Dataset,
    feature: str,
    points: npt.NDArray[Any],
    scale: Scale,
    options: Mapping[str, Any],
) -> Floats:
    """Return a profile of the rows that lie near, (n_grid, n_outputs)."""
    curves = [
        dalex.profile(data.X, predict, feature=feature, grid=points, **options)
        for predict in outputs(model, scale)
    ]
    return np.stack(curves, axis=1)


def _is_near(
    data: Dataset, feature: str, points: npt.NDArray[Any], options: Mapping[str, Any]
) -> npt.NDArray[np.bool_]:
    """Return whether any of the rows drawn is near each point, (n_grid,)."""
    rows = rows_of(data, feature, seed=options["seed"], n_rows=options["n_rows"])
    width = width_of(points, options["span"])
    return np.asarray(nearness(rows.X[feature], points, width).any(axis=1))


def _check(data: Dataset, method: str, *, n_rows: int | None = None) -> None:
    """Refuse rows that DALEX gives no profile."""
    refuse("DALEX", method, data, n_rows=n_rows)
    for name in dalex.PROFILE_COLUMNS:
        if name in data.features:
            raise NotApplicable(
                f"DALEX reserves the name {quote(name)} for its own use."
            )


def _check_local(data: Dataset, feature: str, kind: str, n_rows: int | None) -> None:
    """Refuse rows that DALEX gives no profile of those that lie near."""
    _check(data, f"{kind}_profile", n_rows=n_rows)
    if data.X[feature].hasnans:
        raise NotApplicable(
            f"Column {quote(feature)} must have a value in every row for a {kind} "
            "profile of DALEX; some are missing."
        )


IMPORTANCE: dict[str, Method] = {
    "permutation": METHODS["permutation"]._replace(function=dalex_permutation),
}
CURVES: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=dalex_curve),
    "conditional_profile": EFFECTS["conditional_profile"]._replace(
        function=dalex_conditional_profile
    ),
    "accumulated_profile": EFFECTS["accumulated_profile"]._replace(
        function=dalex_accumulated_profile
    ),
}
