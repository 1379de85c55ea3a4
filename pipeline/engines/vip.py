"""vip, asked for permutation, FIRM, Shapley, and what R models say of themselves."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from importance_audit.r_bridge import host, vip
from importance_audit.r_bridge.model_specific import vip_numbers

from ..methods.effects import EFFECTS, EffectMethod
from ..methods.effects.partial_dependence import (
    Grid,
    Scale,
    grid_of,
    is_predicted,
    with_gaps,
)
from ..methods.importance import METHODS, Method
from ..methods.importance.r_model_specific import by_feature, report_of
from ..records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ..records.errors import NotApplicable
from .availability import advice_on
from .questions import classes_of, features_of, outputs, refuse

Curve = tuple[npt.NDArray[Any], Floats]


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
            f"vip computes differences and ratios only; the form requested is {form!r}."
        )
    features = features_of(data)
    refuse("vip", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    options = {"seed": seed, "n_repeats": n_repeats, "n_rows": n_rows, "form": form}
    scores = [
        vip.permute(
            data.X,
            data.y,
            model.predict,
            features=features,
            loss=loss,
            options=options,
            classes=classes_of(model),
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
    raw = np.stack([ask(model, data, name).importances for name in features_of(data)])
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
    answer = _firm(model, data, feature, grid=grid, n_grid=n_grid, scale=scale)
    return answer.points, answer.values


def vip_shapley(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    n_repeats: int = 3,
    n_permutations: int = 10,
    scale: Scale = "native",
    adjust: bool = False,
) -> tuple[Floats, Floats]:
    """Return the importances of ``vip::vi_shap``, which asks fastshap.

    Parameters and returns as in `importance.shapley.shapley` with algorithm "sampling"
    in the stream "fastshap". `adjust` multiplies rounding by a million, so the sides
    differ by up to 1e-10 of the score.

    Raises
    ------
    NotApplicable
        If R has no fastshap, rows are weighted, there are groups, or not all columns
        are asked.
    """
    features = features_of(data)
    refuse("vip", "shapley", data)
    if features != tuple(data.X.columns):
        raise NotApplicable(
            "vip explains predictions by the requested columns only, but "
            f"{len(features)} of {len(data.X.columns)} are requested. Request all "
            "features."
        )
    if "fastshap" not in host.installed().get("packages", {}):
        raise NotApplicable(
            "vip takes Shapley values from R package 'fastshap', which is not "
            f"installed. {advice_on('fastshap')}"
        )
    options = {"seed": seed, "n_repeats": n_repeats, "n_permutations": n_permutations}
    scores = [
        vip.shap(data.X, predict, options=options | {"adjust": adjust})
        for predict in outputs(model, scale)
    ]
    raw = np.stack(scores, axis=2)
    return raw, np.zeros(raw.shape[1:])


def vip_model_specific(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    type: str = "",  # noqa: A002 (R's name)
    on_type: Callable[[str], None] | None = None,
) -> tuple[Floats, Floats]:
    """Return the importances of ``vip::vi_model``, asked where the model lives.

    Parameters and returns as in `importance.r_model_specific.model_specific`, except
    that a feature with several terms has NaN: vip gives one number for each of them.

    Raises
    ------
    NotApplicable
        As there; and if vip refuses the model, or R lacks a package that vip needs.
    """
    del seed
    own = report_of(model, data, type)
    if on_type is not None:
        on_type(own.type)
    answer = vip_numbers(model.estimator, own.type)
    if isinstance(answer, str):
        raise NotApplicable(answer)
    values = np.array([answer.get(term, np.nan) for term in own.terms])
    alone = own._replace(values=values, estimate=None, covariance=None)
    return by_feature(model, alone, data)


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
    refuse("vip", "partial_dependence", data)
    if "pdp" not in host.installed().get("packages", {}):
        raise NotApplicable(
            "vip takes its curves from R package 'pdp', which is not installed. "
            f"{advice_on('pdp')}"
        )
    points = grid_of(data.X[feature], grid=grid, n_grid=n_grid)
    is_measured = is_predicted(model, data.X, feature, points)
    answers = [
        vip.firm(
            data.X, predict, feature=feature, grid=points[is_measured], divisor=divisor
        )
        for predict in outputs(model, scale)
    ]
    importances, values = zip(*answers, strict=True)
    spread = np.where(is_measured.all(), importances, np.nan)
    return _Firm(points, with_gaps(np.stack(values, axis=1), is_measured), spread)


IMPORTANCE: dict[str, Method] = {
    "permutation": METHODS["permutation"]._replace(function=vip_permutation),
    "partial_dependence": METHODS["partial_dependence"]._replace(
        function=vip_partial_dependence
    ),
    "shapley": METHODS["shapley"]._replace(function=vip_shapley),
    "model_specific": METHODS["model_specific"]._replace(function=vip_model_specific),
}
CURVES: dict[str, EffectMethod] = {
    "partial_dependence": EFFECTS["partial_dependence"]._replace(function=vip_curve),
}
