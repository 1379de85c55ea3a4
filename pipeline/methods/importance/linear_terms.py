"""The terms of linear predictors: scikit-learn's columns, statsmodels' formulas."""

import ast
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import FittedModel, Floats
from ...records.errors import quote
from .insides import features_of_columns, is_of, refusal, sign_of, training_rows

LINEAR = ("sklearn.linear_model.", "sklearn.svm.", "sklearn.discriminant_analysis.")
LOG_LINKED = ("PoissonRegressor", "GammaRegressor", "TweedieRegressor")


class Terms(NamedTuple):
    """The terms of a linear predictor, its constant left out.

    Attributes
    ----------
    features : tuple of frozenset of str
        The features of each term: one, or several in an interaction.
    estimate : ndarray of shape (n_terms,)
        The coefficient of each term; a positive one favours the positive class.
    """

    features: tuple[frozenset[str], ...]
    estimate: Floats


class Observed(NamedTuple):
    """The rows that a linear predictor was fitted on.

    Attributes
    ----------
    terms : ndarray of shape (n_samples, n_terms)
    y, weights : ndarray of shape (n_samples,)
    """

    terms: Floats
    y: Floats
    weights: Floats


def of_columns(names: Sequence[str]) -> tuple[frozenset[str], ...]:
    """Return the features of terms that are made of one feature each."""
    return tuple(frozenset({name}) for name in names)


def terms_of(model: FittedModel, method: str) -> Terms:
    """Return the terms of a linear model of scikit-learn or statsmodels.

    Raises
    ------
    NotApplicable
        If the model is not linear, has a coefficient per class, or unknown features.
    """
    results = results_of(model)
    if results is not None:
        at, features = slopes_of(model, results, method)
        return Terms(features, _vector(model, results.params, method)[at])
    estimator = model.estimator
    if not is_of(estimator, LINEAR) or not hasattr(estimator, "coef_"):
        raise refusal(model, "be linear in its columns", method)
    coefficients = estimator.coef_
    if hasattr(coefficients, "toarray"):
        coefficients = coefficients.toarray()
    estimate = _vector(model, coefficients, method)
    names = features_of_columns(model, len(estimate), method)
    return Terms(of_columns(names), sign_of(model) * estimate)


def observed(model: FittedModel, method: str) -> Observed:
    """Return the rows a linear model was fitted on, one column per term."""
    results = results_of(model)
    if results is None:
        train, matrix = training_rows(model, method)
        y = np.array(train.y, dtype=np.float64)
        return Observed(matrix, y, train.weights)
    at, _ = slopes_of(model, results, method)
    y = np.array(results.model.endog, dtype=np.float64)
    weights = np.ones(len(y))
    # A generalised linear model keeps its working weights under "weights".
    is_general = hasattr(results.model, "family")
    for kind in ("freq_weights", "var_weights") if is_general else ("weights",):
        values = getattr(results.model, kind, None)
        weights = weights * (1.0 if values is None else np.asarray(values, dtype=float))
    return Observed(design_of(results)[:, at], y, weights)


def is_on_response(model: FittedModel) -> bool:
    """Return whether the linear predictor is a prediction of the target itself."""
    if model.task != "regression":
        return False
    results = results_of(model)
    if results is None:
        kind = type(model.estimator).__name__
        link = getattr(model.estimator, "link", "log")
        is_identity = link == "identity" or (
            link == "auto" and model.estimator.power <= 0
        )
        return kind not in LOG_LINKED or is_identity
    family = getattr(results.model, "family", None)
    if family is not None:
        return type(family.link).__name__.lower() == "identity"
    return type(results.model).__module__.startswith("statsmodels.regression.")


def results_of(model: FittedModel) -> Any:
    """Return the statsmodels results of a model, None if it has none."""
    inner = getattr(model.estimator, "_results", model.estimator)
    is_results = is_of(inner, ("statsmodels.",)) and hasattr(inner, "params")
    return model.estimator if is_results else None


def design_of(results: Any) -> Floats:
    """Return the design matrix of statsmodels, the constant included."""
    return np.asarray(results.model.exog, dtype=np.float64)


def slopes_of(
    model: FittedModel, results: Any, method: str
) -> tuple[npt.NDArray[np.intp], tuple[frozenset[str], ...]]:
    """Return the columns of statsmodels' design that are terms, and their features."""
    names = list(results.model.exog_names)
    varies = np.ptp(design_of(results), axis=0) > 0
    at = np.flatnonzero([v or names[k] in model.features for k, v in enumerate(varies)])
    if hasattr(results.model.data.orig_exog, "columns"):
        return at, tuple(_traced(model, names[k], method) for k in at)
    if len(at) == len(model.features):  # an array: its names are positions
        return at, of_columns(model.features)
    raise refusal(
        model,
        f"say which feature each of its {len(at)} columns was made from",
        method,
        finding=f"names {len(model.features)}",
        remedy="Fit it with a formula.",
    )


def _traced(model: FittedModel, name: str, method: str) -> frozenset[str]:
    """Return the features in the name of a column, such as "x1:C(g)[T.b]"."""
    sources = {name} if name in model.features else _words(name) & set(model.features)
    if sources:
        return frozenset(sources)
    raise refusal(
        model,
        "be made of features",
        method,
        finding=f"has a column {quote(name)} that names none",
        remedy="Fit it with a formula of its features.",
    )


def _words(name: str) -> set[str]:
    """Return the names in a term of a formula; empty if it cannot be parsed."""
    try:
        tree = ast.parse(re.sub(r"\[.*?\]", "", name).replace(":", ","), mode="eval")
    except SyntaxError:
        return set()
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):  # Q("a name with spaces")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Q":
            names |= {str(part.value) for part in node.args if hasattr(part, "value")}
    return names


def _vector(model: FittedModel, coefficients: Any, method: str) -> Floats:
    """Return one coefficient per term."""
    values = np.array(coefficients, dtype=np.float64)
    if values.ndim == 1 or 1 in values.shape[:1]:
        return values.reshape(-1)
    raise refusal(
        model,
        "have one coefficient per term",
        method,
        finding=f"has {values.shape[0]} sets of them",
    )


def terms_within(
    features: Sequence[frozenset[str]], columns: Sequence[str]
) -> npt.NDArray[np.intp] | None:
    """Return the terms made of these columns; None if one also has other columns."""
    names = set(columns)
    places = [k for k, term in enumerate(features) if term & names]
    if any(not features[k] <= names for k in places):
        return None
    return np.array(places, dtype=np.intp)
