"""The table of methods, and the interface that all of them have.

Every entry of `METHODS` is called in one way:

    raw, baseline = method.function(model, data, seed=seed, **options)

A method with more results returns a `MethodResult`, which unpacks into these two.
`raw`, float64 of shape (n_groups, n_repeats, n_scores), has one row per entry of
`data.groups`, in its order. `baseline`, (n_repeats, n_scores), is the value of a
feature that does not matter. There are as many scores as `model.losses` if the unit is
"loss", as `model.outputs` if it is "prediction", else one. NaN means that there is no
value. `NotApplicable` explains in a whole sentence why a method cannot be applied.

No argument is changed, the same seed gives the same numbers, and a row of `raw` depends
on its own columns only. R streams are the exception: they are drawn in the order of
their package, so a row also depends on the rows before it.

The options of a method are its keyword-only arguments with defaults; see `options_of`.
Some methods have many, because each is part of the definition of the number. They stay
arguments and are not put into a record: configuration, schema and card read name, type,
default and explanation from the signature and its documentation only. Inside a method,
options may form a record, such as `firm_estimators.Setting`.
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
    """One entry of `METHODS`.

    Attributes
    ----------
    asks : {"predict", "refit", "estimator", "data"}
        The access that the method needs.
    unit : {"loss", "prediction", "y", "1"}
        The quantity that its numbers are measured in.
    form : {"difference", "ratio", "raw", "absolute"}
        How an importance follows from `raw` and `baseline`, unless the audit sets it.
    function : callable
    seeded_as : str
        The method whose draws it repeats, empty if it has its own.
    curve : str
        The key of `effects.EFFECTS` whose curves it is computed from, empty if none;
        the default one if it has an option `curve`.
    of : tuple of str
        What it can measure: "features", "groups", "pairs". A method for single columns
        has no value for a group.
    draws_rows : bool
        Whether it draws rows only, and uses all rows if there are no more than it would
        draw.
    """

    asks: Literal["predict", "refit", "estimator", "data"]
    unit: Literal["loss", "prediction", "y", "1"]
    form: Form
    function: Callable[..., MethodResult | tuple[Floats, Floats]]
    curve: str = ""
    seeded_as: str = ""
    of: tuple[Of, ...] = ("features", "groups")
    draws_rows: bool = False


_SINGLE: tuple[Of, ...] = ("features",)
_BUILT_IN: dict[str, Method] = {
    "permutation": Method("predict", "loss", "difference", permutation.permutation),
    "partial_dependence": Method(
        "predict",
        "prediction",
        "difference",
        partial_dependence.partial_dependence,
        curve="partial_dependence",
        of=_SINGLE,
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
        "estimator", "1", "difference", r_model_specific.model_specific, of=_SINGLE
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
        of=_SINGLE,
    ),
    "stratified_importance": Method(
        "data",
        "y",
        "difference",
        stratified.stratified_importance,
        curve="stratpd",
        of=_SINGLE,
    ),
    "curve_impact": Method(
        "predict",
        "prediction",
        "difference",
        curve_magnitude.curve_impact,
        curve="partial_dependence",
        of=_SINGLE,
    ),
    "curve_importance": Method(
        "predict",
        "prediction",
        "difference",
        curve_magnitude.curve_importance,
        curve="partial_dependence",
        of=_SINGLE,
    ),
    "lowess_r2": Method("data", "1", "difference", filters.lowess_r2, of=_SINGLE),
    "anova": Method("data", "1", "absolute", filters.anova, of=_SINGLE),
    "auc": Method("data", "1", "difference", filters.auc, of=_SINGLE),
    "spearman": Method("data", "1", "absolute", rank_correlation.spearman, of=_SINGLE),
    "pca": Method("data", "1", "absolute", filters_joint.pca, of=_SINGLE),
    "mrmr": Method("data", "1", "raw", filters_joint.mrmr, of=_SINGLE),
    "relieff": Method("data", "1", "difference", relief.relieff, of=_SINGLE),
    "firm": Method("predict", "prediction", "absolute", firm.firm),
    "firm_labels": Method("data", "y", "absolute", firm.firm_labels),
    "gradient_sensitivity": Method(
        "predict", "prediction", "difference", firm.gradient_sensitivity, of=_SINGLE
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
METHODS: dict[str, Method] = OpenTable("method", _BUILT_IN)


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
