"""Importance reported by a fitted model of R, read from its parts by our own R code."""

from typing import Any

import numpy as np
import pandas as pd

from importance_audit.r_bridge.model_specific import ModelReport, own_numbers
from importance_audit.r_bridge.r_models import RModel

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import listed, quote
from .insides import refusal
from .linear_terms import Terms, terms_within
from .method_result import MethodResult, each_group
from .t_statistics import Estimates, wald

METHOD = "model_specific"
OF_PYTHON = (
    "What Python models say of themselves is measured by 'impurity', 't_statistic', "
    "'standardised_coefficient', 'raw_weights', 'oob_permutation', 'garson', 'olden'."
)


def model_specific(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    type: str = "",  # noqa: A002 (R's name)
) -> MethodResult:
    r"""Return the importance that a fitted model of R reports, by its class.

    * lm, glm: "stat", :math:`|b_j| / \mathrm{se}(b_j)`, for several terms of a feature
      the :math:`\sqrt F` of their Wald test as in `t_statistics.t_statistic`; "raw",
      :math:`|b_j|`.
    * randomForest: "%IncMSE" or "MeanDecreaseAccuracy", the mean rise of a tree's error
      out of its bag when the feature is shuffled, in standard errors over the trees,
      or, with " unscaled" after the name, in its own unit; "IncNodePurity" or
      "MeanDecreaseGini", the mean decrease of impurity [1]_.
    * ranger: what it was fitted with: "impurity", "impurity_corrected", "permutation".
    * gbm: "relative.influence", the decrease of the loss at the splits on the feature,
      in percent of that of all [2]_.
    * rpart: "GoodnessOfSplit", the decrease of impurity at the splits taken on the
      feature, and at surrogate splits as far as they agree.
    * nnet: "olden", signed, and for one output without skipping connections "garson",
      as in `networks`.
    * earth: "nsubsets", the number of subsets of the pruning that contain the feature;
      "rss" and "gcv", the summed decreases over these subsets, as a root in percent of
      the greatest.

    Parameters
    ----------
    model : FittedModel
        Its ``estimator`` is a model of R, whose parts are read.
    data : Dataset
        The names and levels of the columns; rows are not read.
    seed : int
        Not used: nothing is drawn.
    type : str, default ""
        One of the quantities of the class; "" is the first one listed above, and for a
        randomForest the first one it has stored.

    Returns
    -------
    raw : ndarray of shape (n_features, 1, 1)
        In units of the quantity; 0 for a feature that the model does not use. NaN for
        one whose numbers cannot be combined: several dummies or other terms (except for
        "stat"), interactions with another feature, an offset, a coefficient that the
        rows do not determine.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a feature that the model does not use.

    Raises
    ------
    NotApplicable
        If the model is not one of R, its class reports no importance or not this
        quantity, or a term cannot be traced back to columns.

    Warnings
    --------
    Each class has its own quantities: numbers of two classes, or of two quantities,
    cannot be compared. They are computed on the training rows.

    References
    ----------
    .. [1] Breiman (2001). Random Forests. Machine Learning 45, 5-32.
       doi:10.1023/A:1010933404324
    .. [2] Friedman (2001). Greedy function approximation: a gradient boosting machine.
       Annals of Statistics 29(5), 1189-1232. doi:10.1214/aos/1013203451
    """
    own = report_of(model, data, type)
    return MethodResult(*by_feature(model, own, data), quantity=own.type)


def report_of(model: FittedModel, data: Dataset, type: str) -> ModelReport:  # noqa: A002 (R's name)
    """Return the report of a model, with the columns of every term."""
    if not isinstance(model.estimator, RModel):
        raise refusal(model, "be a fitted model of R", METHOD, remedy=OF_PYTHON)
    own = own_numbers(model.estimator, type)
    if isinstance(own, str):
        rule, finding, remedy = LACKS[own]
        kind = model.estimator.r_class[0]
        raise refusal(
            model, rule, METHOD, finding=finding.format(kind=kind), remedy=remedy
        )
    if not isinstance(own, ModelReport):
        kind = model.estimator.r_class[0]
        raise refusal(
            model,
            "be asked for what its class knows",
            METHOD,
            finding=f"was asked for type {type!r}",
            remedy=f"A {kind} like this one knows {listed(own)}.",
        )
    if not own.columns:
        columns = tuple(_sources_of(model, term, data.X) for term in own.terms)
        own = own._replace(columns=columns)
    return own


LACKS: dict[str, tuple[str, str, str]] = {
    "reader": (
        "be one of lm, glm, randomForest, ranger, gbm, rpart, nnet and earth",
        "is a {kind}",
        "",
    ),
    "importance": (
        "have stored its importance",
        "was fitted with importance = 'none'",
        "Fit it with importance = 'impurity' or 'permutation'.",
    ),
    "splits": ("have a split", "has none", ""),
    "hidden units": ("have hidden units", "is a {kind} without", ""),
}
"""Rule, finding and remedy for a model that reports nothing about its columns."""


def by_feature(
    model: FittedModel, own: ModelReport, data: Dataset
) -> tuple[Floats, Floats]:
    """Return the numbers of features from those of terms, NaN if there is none."""
    raw, baseline = each_group(data, lambda columns: _of_feature(own, columns[0]))
    if len(raw) and np.isnan(raw).all():
        raise refusal(
            model,
            "have a feature whose terms make one number",
            METHOD,
            finding=f"has the terms {listed(own.terms)}",
        )
    return raw, baseline


def _of_feature(own: ModelReport, feature: str) -> float:
    term_columns = tuple(frozenset(columns) for columns in own.columns)
    at = terms_within(term_columns, (feature,))
    if at is None or feature in own.offsets:
        return np.nan
    if len(at) < 2:
        return float(own.values[at].sum())
    if own.estimate is None or own.covariance is None:
        return np.nan
    terms = Terms(term_columns, own.estimate)
    estimates = Estimates(terms, own.covariance, np.isfinite(own.estimate))
    return wald(estimates, (feature,), is_root=True)


def _sources_of(model: FittedModel, term: str, X: pd.DataFrame) -> tuple[str, ...]:
    """Return the column after which R named a term: its name, or with a level."""
    bare = term.removeprefix("`").removesuffix("`")
    if bare in X.columns:
        return (bare,)
    sources = tuple(name for name in X.columns if bare in _dummies(name, X[name]))
    if len(sources) == 1:
        return sources
    rule = "have terms that are columns or dummies of one"
    raise refusal(model, rule, METHOD, finding=f"has {quote(term)}")


def _dummies(name: Any, column: pd.Series) -> set[str]:
    """Return the names that R gives to the dummies of a column."""
    if not is_category(column):
        return {f"{name}TRUE"} if column.dtype == bool else set()
    return {f"{name}{level}" for level in column.cat.categories} | {
        f"`{name}`{level}" for level in column.cat.categories
    }
