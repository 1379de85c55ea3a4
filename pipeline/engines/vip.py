"""vip: permutation, FIRM, Shapley, and model-specific importances of R models."""

from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from importance_audit.r_bridge import host
from importance_audit.r_bridge.model_specific import vip_numbers
from importance_audit.r_bridge.numeric import as_numbers, restored

from ..methods.effects.partial_dependence import (
    Grid,
    Scale,
    grid_of,
    is_predicted,
)
from ..methods.importance.method_result import MethodResult
from ..methods.importance.r_model_specific import by_feature, report_of
from ..records.dataset_and_model import Dataset, FittedModel, Floats, Form
from ..records.errors import NotApplicable
from .asking import (
    Predict,
    ask,
    ask_loss,
    outputs,
    partial_dependence_by,
    refuse,
)
from .availability import advice_on


def vip_permutation(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    form: Form = "difference",
    n_repeats: int = 10,
    n_rows: int | None = None,
) -> tuple[Floats, Floats]:
    """Return the scores of ``vip::vi_permute``, and the baselines that keep them as is.

    Parameters
    ----------
    model, data, seed, n_repeats, n_rows
        As in `importance.permutation.permutation`, drawn in the installed vip's order.
    form : {"difference", "ratio"}, default "difference"
        How the permuted loss is compared with the unpermuted loss.

    Returns
    -------
    raw : ndarray of shape (n_features, n_repeats, n_losses)
    baseline : ndarray of shape (n_repeats, n_losses)
        0 or 1, because the scores are already differences or ratios.

    Raises
    ------
    NotApplicable
        If vip does not support the request: groups, weights, another form.
    """
    if form not in ("difference", "ratio"):
        raise NotApplicable(
            f"vip computes differences and ratios only; the form requested is {form!r}."
        )
    features = features_of(data)
    refuse("vip", "permutation", data, n_repeats=n_repeats, n_rows=n_rows)
    question = {"features": list(features), "seed": seed, "n_repeats": n_repeats}
    question |= {"n_rows": n_rows, "form": form}
    scores = [
        ask_loss("vip_permute", model, data, loss, **question) for loss in model.losses
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
    features = features_of(data)
    refuse("vip", "partial_dependence", data)
    _refuse_without_pdp()
    predicts = outputs(model, scale)
    divisor = 4 if categorical_spread == "quarter_range" else 1
    raw = np.full((len(features), len(predicts)), np.nan)
    for place, feature in enumerate(features):
        points = grid_of(data, feature, grid=grid, n_grid=n_grid)
        if not is_predicted(model, data.X, feature, points).all():
            continue
        question: dict[str, Any] = {"feature": feature, "grid": points}
        answers = [
            ask("vip_firm", data.X, predict, divisor=divisor, **question)
            for predict in predicts
        ]
        raw[place] = [answer["importance"][0] for answer in answers]
    return raw[:, np.newaxis, :], np.zeros((1, raw.shape[1]))


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
    """Return the importances of ``vip::vi_shap``, computed by fastshap.

    Parameters and returns as in `importance.shapley.shapley` with algorithm "sampling"
    in the stream "fastshap". `adjust` multiplies rounding errors by a million, so that
    the engines differ by up to 1e-10 of the score.

    Raises
    ------
    NotApplicable
        If R lacks fastshap, rows are weighted, there are groups, or not all columns are
        requested.
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
    question: dict[str, Any] = {"seed": seed, "n_repeats": n_repeats, "adjust": adjust}
    question |= {"n_permutations": n_permutations}
    # fastshap keeps only seven digits unless all columns are numeric.
    numbers = as_numbers(data.X)
    scores = [
        ask(
            "vip_shap", numbers, partial(_predict_restored, predict, data.X), **question
        )
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
) -> MethodResult:
    """Return the importances of ``vip::vi_model``, computed in the R session.

    Parameters and returns as in `importance.r_model_specific.model_specific`, except
    that a feature with several terms has NaN: vip returns one number per term.

    Raises
    ------
    NotApplicable
        As there; also if vip refuses the model, or R lacks a package that vip needs.
    """
    del seed
    own = report_of(model, data, type)
    answer = vip_numbers(model.estimator, own.type)
    if isinstance(answer, str):
        raise NotApplicable(answer)
    values = np.array([answer.get(term, np.nan) for term in own.terms])
    alone = own._replace(values=values, estimate=None, covariance=None)
    return MethodResult(*by_feature(model, alone, data), quantity=own.type)


def features_of(data: Dataset) -> tuple[str, ...]:
    """Return the column of each group; groups must have one column."""
    if any(len(columns) != 1 for columns in data.groups.values()):
        raise NotApplicable("vip has no groups: it permutes single features only.")
    return tuple(columns[0] for columns in data.groups.values())


def _predict_restored(
    predict: Predict, like: pd.DataFrame, numbers: pd.DataFrame
) -> Floats:
    """Return predictions for rows that were sent as numbers."""
    return predict(restored(numbers, like))


def _refuse_without_pdp(*_: Any) -> None:
    """Refuse every curve if R lacks pdp, from which vip takes curves."""
    if "pdp" not in host.installed().get("packages", {}):
        raise NotApplicable(
            "vip takes its curves from R package 'pdp', which is not installed. "
            f"{advice_on('pdp')}"
        )


vip_curve = partial_dependence_by("vip", "vip_curve", _refuse_without_pdp)

IMPORTANCE = {
    "permutation": vip_permutation,
    "partial_dependence": vip_partial_dependence,
    "shapley": vip_shapley,
    "model_specific": vip_model_specific,
}
CURVES = {"partial_dependence": vip_curve}
