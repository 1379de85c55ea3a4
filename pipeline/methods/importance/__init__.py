"""The methods and their contract, documented once.

Every row of `METHODS` is called in one way:

    raw, baseline = method.function(model, data, seed=seed, **options)

A method that has more to say returns a `MethodResult`, which unpacks into these two.
`raw`, float64 of shape (n_groups, n_repeats, n_scores), is what was measured, one row
per entry of `data.groups`, in its order. `baseline`, (n_repeats, n_scores), is what a
feature that does not matter measures. There are as many scores as `model.losses` if
the unit is "loss", as `model.outputs` if it is "prediction", else one. NaN is no
answer. `NotApplicable` says in a whole sentence what a model cannot be asked.

Nothing that is given is changed, the same seed gives the same numbers, and a row
depends on its own columns only. An R stream is the exception: it is drawn in its
package's order, so a row also depends on the rows before it.

A method's options are its keyword-only arguments with defaults; see `options_of`. Some
have many, because each is part of what the number means. They stay arguments and are
not put into a record: configuration, schema and card read name, type, default and
explanation off the signature and its documentation, and there only. What an option does
with others inside a method may well be a record, such as `firm_estimators.Setting`.
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple

from ...records.dataset_and_model import Floats, Form
from ...records.extensions import OpenTable
from . import (
    coefficients,
    curve_magnitude,
    drop_column,
    filters,
    filters_joint,
    firm,
    h_statistic,
    impurity_oob,
    model_specific,
    networks,
    out_of_bag,
    partial_dependence,
    pd_importance,
    permutation,
    r_model_specific,
    random_subspace,
    rank_correlation,
    relief,
    sage,
    shapley,
    stratified,
    t_statistics,
    vint,
)
from .method_result import MethodResult

RESERVED = (
    *("seed", "stream", "form", "curves", "rows", "aggregator"),
    *("on_curve", "on_band", "keep", "row_tests", "segments"),
)
Of = Literal["features", "groups", "pairs"]


class Method(NamedTuple):
    """One row of the table of methods.

    Attributes
    ----------
    asks : {"predict", "refit", "estimator", "data"}
        What the method has access to.
    unit : {"loss", "prediction", "y", "1"}
        What its numbers are measured in.
    form : {"difference", "ratio", "raw", "absolute"}
        How an importance follows from `raw` and `baseline` unless the audit says so.
    function : callable
    seeded_as : str
        The method whose draws it repeats, empty if it has its own.
    curve : str
        The key of `effects.EFFECTS` whose curves it is taken from, empty if none; the
        usual one where it has an option `curve`.
    of : tuple of str
        What it can be asked of: "features", "groups", "pairs". What is measured of one
        column has no answer for a group.
    draws_rows : bool
        Whether rows are all it draws, and it takes all where there are no more than
        it would draw.
    """

    asks: Literal["predict", "refit", "estimator", "data"]
    unit: Literal["loss", "prediction", "y", "1"]
    form: Form
    function: Callable[..., MethodResult | tuple[Floats, Floats]]
    curve: str = ""
    seeded_as: str = ""
    of: tuple[Of, ...] = ("features", "groups")
    draws_rows: bool = False


_ALONE: tuple[Of, ...] = ("features",)
_OURS: dict[str, Method] = {
    "permutation": Method("predict", "loss", "difference", permutation.permutation),
    "partial_dependence": Method(
        "predict",
        "prediction",
        "difference",
        partial_dependence.partial_dependence,
        curve="partial_dependence",
        of=_ALONE,
    ),
    "impurity": Method("estimator", "1", "difference", model_specific.impurity),
    "impurity_oob": Method("estimator", "1", "difference", impurity_oob.impurity_oob),
    "t_statistic": Method("estimator", "1", "absolute", t_statistics.t_statistic),
    "standardised_coefficient": Method(
        "estimator", "1", "absolute", coefficients.standardised_coefficient
    ),
    "raw_weights": Method("estimator", "1", "absolute", coefficients.raw_weights),
    "oob_permutation": Method(
        "estimator", "loss", "difference", out_of_bag.oob_permutation
    ),
    "oob_permutation_scaled": Method(
        "estimator",
        "1",
        "difference",
        out_of_bag.oob_permutation_scaled,
        seeded_as="oob_permutation",
    ),
    "garson": Method("estimator", "1", "difference", networks.garson),
    "olden": Method("estimator", "1", "absolute", networks.olden),
    "model_specific": Method(
        "estimator", "1", "difference", r_model_specific.model_specific, of=_ALONE
    ),
    "drop_column": Method("refit", "loss", "difference", drop_column.drop_column),
    "permute_refit": Method("refit", "loss", "difference", drop_column.permute_refit),
    "shapley_refit": Method("refit", "loss", "difference", drop_column.shapley_refit),
    "random_subspace": Method(
        "refit", "loss", "difference", random_subspace.random_subspace
    ),
    "random_subspace_permutation": Method(
        "refit",
        "loss",
        "difference",
        random_subspace.random_subspace_permutation,
        seeded_as="random_subspace",
    ),
    "stratified_impact": Method(
        "data",
        "y",
        "difference",
        stratified.stratified_impact,
        curve="stratpd",
        of=_ALONE,
    ),
    "stratified_importance": Method(
        "data",
        "y",
        "difference",
        stratified.stratified_importance,
        curve="stratpd",
        of=_ALONE,
    ),
    "curve_impact": Method(
        "predict",
        "prediction",
        "difference",
        curve_magnitude.curve_impact,
        curve="partial_dependence",
        of=_ALONE,
    ),
    "curve_importance": Method(
        "predict",
        "prediction",
        "difference",
        curve_magnitude.curve_importance,
        curve="partial_dependence",
        of=_ALONE,
    ),
    "lowess_r2": Method("data", "1", "difference", filters.lowess_r2, of=_ALONE),
    "anova": Method("data", "1", "absolute", filters.anova, of=_ALONE),
    "auc": Method("data", "1", "difference", filters.auc, of=_ALONE),
    "spearman": Method("data", "1", "absolute", rank_correlation.spearman, of=_ALONE),
    "pca": Method("data", "1", "absolute", filters_joint.pca, of=_ALONE),
    "mrmr": Method("data", "1", "raw", filters_joint.mrmr, of=_ALONE),
    "relieff": Method("data", "1", "difference", relief.relieff, of=_ALONE),
    "firm": Method("predict", "prediction", "absolute", firm.firm),
    "firm_labels": Method("data", "y", "absolute", firm.firm_labels),
    "gradient_sensitivity": Method(
        "predict", "prediction", "difference", firm.gradient_sensitivity, of=_ALONE
    ),
    "shapley": Method("predict", "prediction", "difference", shapley.shapley),
    "sage": Method("predict", "loss", "difference", sage.sage),
    "h_statistic": Method(
        "predict",
        "prediction",
        "difference",
        h_statistic.h_statistic,
        of=("features", "pairs", "groups"),
        draws_rows=True,
    ),
    "vint": Method(
        "predict",
        "prediction",
        "difference",
        vint.vint,
        of=("pairs", "groups"),
        draws_rows=True,
    ),
    "pd_importance": Method(
        "predict",
        "prediction",
        "difference",
        pd_importance.pd_importance,
        draws_rows=True,
    ),
}
METHODS: dict[str, Method] = OpenTable("method", _OURS)


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of a method or an effect and their defaults.

    They are its keyword-only arguments that have a default, in their order, without
    those that the audit itself supplies (`RESERVED`).
    """
    return {
        name: parameter.default
        for name, parameter in signature(function).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY
        and parameter.default is not Parameter.empty
        and name not in RESERVED
    }
