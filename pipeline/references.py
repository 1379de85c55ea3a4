"""Who else measures it: rows like those of METHODS and EFFECTS that ask R.

An engine is a table: the same key in two tables is the same question to two engines.
Every argument that decides a number is given; no default of an R package does. What
a package cannot be asked raises `NotApplicable`. Not: R code, type conversion.
"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.effects import EFFECTS, EffectMethod
from pipeline.effects.partial_dependence import (
    SCALES,
    Grid,
    Scale,
    grid_of,
    is_predicted,
    with_gaps,
)
from pipeline.errors import NotApplicable
from pipeline.importance import METHODS, Method
from pipeline.known_defects import Question, defects_of, version_numbers
from pipeline.records import Dataset, FittedModel, Floats, Form
from r_bridge import dalex, host, vip

Curve = tuple[npt.NDArray[Any], Floats]

# Older versions were never held against our numbers.
FLOORS = {"vip": "0.4.0", "DALEX": "2.5.3"}


class EngineInfo(NamedTuple):
    """Who an engine is, and whether it can be asked here.

    Attributes
    ----------
    name : str
        A key of `ENGINES`.
    available : bool
    version : str
        Of its package; empty if not available.
    stream : str
        The order it draws in: "numpy", "vip-0.4", "vip-0.5" or "DALEX"; empty if not
        available.
    reason : str
        Why it is not available, or what to know although it is; else empty.
    """

    name: str
    available: bool
    version: str
    stream: str
    reason: str


def describe_engine(name: str) -> EngineInfo:
    """Return whether an engine, a key of `ENGINES`, can be asked here."""
    if name == "python":
        return EngineInfo(name, True, _own_version(), "numpy", "")
    found = host.installed()
    if found.get("reason"):
        return EngineInfo(name, False, "", "", str(found["reason"]))
    version, floor = found["packages"].get(name, ""), FLOORS[name]
    if not version or version_numbers(version) < version_numbers(floor):
        has = f"has no package {name!r}"
        if version:
            has = f"has {name} {version}, and {floor} is the oldest asked"
        if name in found["broken"]:
            has = f"cannot load package {name!r} ({found['broken'][name]})"
        reason = f"R {found['r_version']} {has}. Run: importance-audit install-r"
        return EngineInfo(name, False, "", "", reason)
    if name == "DALEX":
        return EngineInfo(name, True, version, "DALEX", "")
    return EngineInfo(name, True, version, *vip.stream_of(version))


def _own_version() -> str:
    """Return the version of this distribution, "unknown" in a bare checkout."""
    try:
        return distribution_version("importance-audit")
    except PackageNotFoundError:
        return "unknown"


def loss_source(engine: str, loss: str) -> str:
    """Return in words whose code computes a loss when an engine is asked."""
    if engine == "python":
        return "ours, in Python"
    if engine == "DALEX" and loss in dalex.OWN_LOSSES:
        return f"DALEX::{dalex.OWN_LOSSES[loss]}"
    return "ours, written again in R"


def same_predictions(model: FittedModel, data: Dataset) -> float:
    """Return how far what R is told about these rows is from what the model says.

    The largest relative difference: 0 if all predictions are equal.
    """
    ours = np.asarray(model.predict(data.X), dtype=np.float64)
    theirs = dalex.predictions(data.X, model.predict, classes=_classes_of(model))
    scale = np.maximum(np.abs(ours), np.abs(theirs))
    differs = ours != theirs
    return float(np.max(np.abs(ours - theirs)[differs] / scale[differs], initial=0.0))


def vip_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    form: Form = "difference",
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> tuple[Floats, Floats]:
    """Return the scores of ``vip::vi_permute``, and what makes them the values.

    Parameters
    ----------
    model, data, seed, n_repeats, n_rows
        As in `importance.permutation.permutation`, drawn in the installed vip's order.
    form : {"difference", "ratio"}, default "difference"
        How a score holds a loss against that of nothing permuted.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
    baseline : ndarray of shape (n_repeats, n_losses)
        0 or 1: the scores are finished.

    Raises
    ------
    NotApplicable
        If vip has no answer: groups, weights, another form.
    """
    if form not in ("difference", "ratio"):
        raise NotApplicable(
            f"vip gives differences and ratios only, and the form asked is {form!r}."
        )
    features = _features_of(data)
    _refuse("vip", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    asked = {"seed": seed, "n_repeats": n_repeats, "n_rows": n_rows, "form": form}
    scores = [
        vip.permute(
            data.X,
            data.y,
            model.predict,
            features=features,
            loss=loss,
            asked=asked,
            classes=_classes_of(model),
        )
        for loss in model.losses
    ]
    raw = np.stack(scores, axis=2)
    return raw, np.full(raw.shape[1:], float(form == "ratio"))


def vip_partial_dependence(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
    categorical_spread: Literal["quarter_range", "range"] = "quarter_range",
) -> tuple[Floats, Floats]:
    """Return the importances of ``vip::vi_firm`` on our grid.

    Parameters, returns and raises as in
    `importance.partial_dependence.partial_dependence`; weighted rows are refused too.
    """
    del seed
    divisor = 4 if categorical_spread == "quarter_range" else 1
    ask = partial(_firm, grid=grid, n_grid=n_grid, scale=scale, divisor=divisor)
    raw = np.stack([ask(model, data, name).importances for name in _features_of(data)])
    return raw[:, np.newaxis, :], np.zeros((1, raw.shape[1]))


def vip_curve(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
) -> Curve:
    """Return the curve that ``vip::vi_firm`` takes from ``pdp::partial``, on our grid.

    Parameters, returns and raises as in `effects.partial_dependence`.
    """
    del seed
    found = _firm(model, data, feature, grid=grid, n_grid=n_grid, scale=scale)
    return found.points, found.values


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
    too if rows are weighted, or a group has a name that DALEX keeps for itself.

    Returns
    -------
    r_bridge.dalex.Parts
        `permuted` (n_groups, n_repeats, n_losses); `full` and `y_permuted`, which is
        `importance.permutation.permuted_target`'s partner, (n_repeats, n_losses).
    """
    _refuse("DALEX", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    for name in dalex.FULL, dalex.Y_PERMUTED:
        if name in data.groups:
            raise NotApplicable(f"DALEX keeps the name {name!r} for itself.")
    drawn = {"seed": seed, "n_repeats": n_repeats, "n_rows": n_rows}
    of_losses = [
        dalex.parts(
            data.X,
            data.y,
            model.predict,
            groups=data.groups,
            loss=loss,
            drawn=drawn,
            classes=_classes_of(model),
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
) -> tuple[Floats, Floats]:
    """Return the losses of ``DALEX::model_parts``: `permuted` and `full` of its parts.

    All else as in `dalex_parts`.
    """
    found = dalex_parts(model, data, seed=seed, n_repeats=n_repeats, n_rows=n_rows)
    return found.permuted, found.full


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
    _refuse("DALEX", "partial_dependence", data)
    for name in dalex.PROFILE_COLUMNS:
        if name in data.features:
            raise NotApplicable(f"DALEX keeps the name {name!r} for itself.")
    points = grid_of(data.X[feature], grid=grid, n_grid=n_grid)
    known = is_predicted(model, data.X, feature, points)
    curves = [
        dalex.profile(data.X, predict, feature=feature, grid=points[known])
        for predict in _outputs(model, scale)
    ]
    return points, with_gaps(np.stack(curves, axis=1), known)


class _Firm(NamedTuple):
    """Of shape (n_grid,), (n_grid, n_outputs) and (n_outputs,)."""

    points: npt.NDArray[Any]
    values: Floats
    importances: Floats


def _firm(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    grid: Grid,
    n_grid: int,
    scale: Scale,
    divisor: float = 4,
) -> _Firm:
    """Ask vip about one feature, once per output."""
    _refuse("vip", "partial_dependence", data)
    if "pdp" not in host.installed().get("packages", {}):
        raise NotApplicable(
            "vip takes its curves from R package 'pdp', and R has none. "
            "Run: importance-audit install-r"
        )
    points = grid_of(data.X[feature], grid=grid, n_grid=n_grid)
    known = is_predicted(model, data.X, feature, points)
    found = [
        vip.firm(data.X, predict, feature=feature, grid=points[known], divisor=divisor)
        for predict in _outputs(model, scale)
    ]
    importances, values = zip(*found, strict=True)
    spread = np.where(known.all(), importances, np.nan)
    return _Firm(points, with_gaps(np.stack(values, axis=1), known), spread)


def _refuse(engine: str, method: str, data: Dataset, **drawn: int | None) -> None:
    """Raise if the package has a fault that keeps it from answering."""
    question = Question(
        engine=engine,
        method=method,
        n_features=len(data.groups),
        n_columns=len(data.features),
        is_weighted=data.is_weighted,
        **drawn,  # type: ignore[arg-type]
    )
    for defect in defects_of(question, host.installed().get("packages", {})):
        if defect.effect == "refused":
            raise NotApplicable(defect.text)


def _features_of(data: Dataset) -> tuple[str, ...]:
    """Return the one column of every group."""
    if any(len(columns) != 1 for columns in data.groups.values()):
        raise NotApplicable("vip has no groups: it permutes single features only.")
    return tuple(columns[0] for columns in data.groups.values())


def _classes_of(model: FittedModel) -> tuple[str, ...]:
    """Return the names of the columns of a prediction, none if it is one number."""
    return model.classes if model.task == "multiclass" else ()


def _outputs(
    model: FittedModel, scale: Scale
) -> list[Callable[[pd.DataFrame], Floats]]:
    """Return one function per output, which predicts it as one number per row.

    The scale is applied here, before R averages.
    """
    if scale != "native" and model.task == "regression":
        raise NotApplicable(
            f"Model {model.name!r} must predict probabilities for scale {scale!r}, "
            "but its task is 'regression'. Use scale 'native'."
        )

    def predict(X: pd.DataFrame, k: int) -> Floats:
        on_scale = SCALES[scale](model, model.predict(X))
        return on_scale.reshape(len(X), -1)[:, k].copy()

    return [partial(predict, k=k) for k in range(len(model.outputs))]


VIP: dict[str, Method] = {
    "permutation": METHODS["permutation"]._replace(function=vip_permutation),
    "partial_dependence": METHODS["partial_dependence"]._replace(
        function=vip_partial_dependence
    ),
}
VIP_EFFECTS: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=vip_curve),
}
DALEX: dict[str, Method] = {
    "permutation": METHODS["permutation"]._replace(function=dalex_permutation),
}
DALEX_EFFECTS: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=dalex_curve),
}
ENGINES: dict[str, dict[str, dict[str, Any]]] = {
    "python": {"importance": METHODS, "effects": EFFECTS},
    "vip": {"importance": VIP, "effects": VIP_EFFECTS},
    "DALEX": {"importance": DALEX, "effects": DALEX_EFFECTS},
}
