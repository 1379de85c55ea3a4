"""Coefficients in standard errors: t, z, and the Wald F."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from .insides import is_of, refusal
from .linear_terms import (
    Observed,
    Terms,
    design_of,
    is_on_response,
    observed,
    results_of,
    slopes_of,
    terms_of,
    terms_within,
)
from .method_result import each_group

METHOD = "t_statistic"
# In standard errors: the largest next step of Newton's method that is accepted.
CONVERGED = 0.01
Mask = npt.NDArray[np.bool_]


class Estimates(NamedTuple):
    """The terms of a fit, and the covariance of their estimates.

    Attributes
    ----------
    terms : Terms
    covariance : ndarray of shape (n_terms, n_terms)
    is_estimable : ndarray of bool, shape (n_terms,)
        Whether the rows determine a coefficient: not if its column is a combination of
        others.
    """

    terms: Terms
    covariance: Floats
    is_estimable: Mask


def t_statistic(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    several_terms: Literal["root_f", "f"] = "root_f",
) -> tuple[Floats, Floats]:
    r"""Return the t or z statistic of each feature of a model without penalty.

    For a feature with one term :math:`b_j / \mathrm{se}(b_j)`, with its sign [1]_. Of
    *q* terms *T* (levels of a category, a polynomial, a group) the Wald test of all:

    .. math:: F = \frac{1}{q} b_T^\top V_T^{-1} b_T,

    with *V* the covariance of the estimates; for one term :math:`F = t^2`, so that
    :math:`\sqrt F` is on the scale of :math:`|t|`.

    Parameters
    ----------
    model : FittedModel
        LinearRegression, LogisticRegression (without penalty), PoissonRegressor,
        GammaRegressor or TweedieRegressor (``alpha = 0``) of scikit-learn, fitted by
        the audit: *V* is :math:`\varphi (X^\top W X)^{-1}` of the training rows, as R's
        `lm` and `glm` have it, their weights included. Or results of statsmodels, whose
        own covariance is taken.
    data : Dataset
        Only ``data.groups`` is read.
    seed : int
        Not used: nothing is drawn.
    several_terms : {"root_f", "f"}, default "root_f"
        The statistic for a feature with several terms; "f" is not on the scale of the
        others.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Signed for one term. NaN if nothing is tested: a column the model does not read,
        a coefficient that the rows do not determine, since its column is a combination
        of others, a feature whose interactions are with features outside its group.
    baseline : ndarray of shape (1, 1)
        Zero: an estimate of zero.

    Raises
    ------
    NotApplicable
        If the model is none of these, penalised, constrained, not converged, of several
        classes, has no more rows than coefficients, or unknown training rows.

    Warnings
    --------
    It measures how certain a coefficient is, not its size: with enough rows, every
    feature whose effect is not exactly zero exceeds any limit. Dependent features have
    large standard errors. These assume that the model is right, and that features were
    not selected on these rows. z falls to zero if a feature separates the classes.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A Simple and Effective Model-Based
       Variable Importance Measure. doi:10.48550/arXiv.1805.04755
    """
    estimates = _estimates(model)
    is_root = several_terms == "root_f"
    return each_group(data, lambda columns: wald(estimates, columns, is_root=is_root))


def wald(estimates: Estimates, columns: tuple[str, ...], *, is_root: bool) -> float:
    """Return the statistic of the terms of some columns, NaN if they have no test."""
    at = terms_within(estimates.terms.features, columns)
    if at is None or not len(at) or not estimates.is_estimable[at].all():
        return np.nan
    b = estimates.terms.estimate[at]
    V = estimates.covariance[np.ix_(at, at)]
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(at) == 1:
            return float(b[0] / np.sqrt(V[0, 0]))
        scale = np.sqrt(np.diag(V))  # terms in their own units: far better conditioned
        b, V = b / scale, V / np.outer(scale, scale)
    if not np.isfinite(V).all():
        return np.nan
    F = float(b @ np.linalg.solve(V, b)) / len(at)
    return float(np.sqrt(F)) if is_root else F


def _estimates(model: FittedModel) -> Estimates:
    """Return the estimates of a model that was fitted without penalty."""
    results = results_of(model)
    if results is not None:
        return _of_results(model, results)
    family = _family(model)
    terms = terms_of(model, METHOD)
    rows = observed(model, METHOD)
    constant = np.ones((len(rows.y), int(bool(model.estimator.fit_intercept))))
    k = constant.shape[1]
    b = np.append(np.ravel(model.estimator.intercept_)[:k], terms.estimate)
    rows = rows._replace(terms=np.hstack([constant, rows.terms]))
    V, is_estimable = _covariance(model, family, rows, b)
    return Estimates(terms, V[k:, k:], is_estimable[k:])


def _covariance(
    model: FittedModel, family: Any, rows: Observed, b: Floats
) -> tuple[Floats, Mask]:
    """Return the covariance of coefficients, and whether the rows determine each."""
    X, w = rows.terms, rows.weights
    n_free = int((w > 0).sum()) - len(b)
    if n_free < 1:
        rule, finding = "have fewer coefficients than training rows", f"has {len(b)}"
        raise refusal(model, rule, METHOD, finding=finding)
    mean, slope = family.link.inverse(X @ b), family.link.inverse_deriv(X @ b)
    residual, variance = rows.y - mean, family.variance(mean)
    inverse, is_estimable = inverse_of(X, w * slope**2 / variance)
    dispersion = 1.0
    if getattr(family, "var_power", 1) != 1:  # of classes and counts it is 1
        dispersion = float((w * residual**2 / variance).sum()) / n_free
    V = dispersion * inverse
    step = inverse @ (X.T @ (w * residual * slope / variance))
    std_error = np.sqrt(np.diag(V))
    allowed = CONVERGED * std_error + 1e-9 * np.abs(b).max(initial=0.0)
    if not (np.abs(step) <= allowed)[is_estimable].all():
        raise refusal(
            model,
            "be fitted until its likelihood is greatest",
            METHOD,
            finding="can still be bettered by more than a hundredth of a standard "
            "error",
            remedy="Set a smaller tol and a greater max_iter, or use another solver.",
        )
    return V, is_estimable


def inverse_of(X: Floats, weights: Floats) -> tuple[Floats, Mask]:
    """Return the inverse of X'WX, and whether it determines each coefficient.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_coefficients)
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    inverse : ndarray of shape (n_coefficients, n_coefficients)
        The generalised inverse if columns are linearly dependent.
    is_estimable : ndarray of bool, shape (n_coefficients,)
    """
    A = np.sqrt(weights)[:, np.newaxis] * X
    length = np.sqrt((A * A).sum(axis=0))
    length[length == 0] = 1.0
    _, s, Vt = np.linalg.svd(A / length, full_matrices=False)
    is_nonzero = s > max(X.shape) * np.finfo(float).eps * s[0]
    root = (Vt[is_nonzero].T / s[is_nonzero]) / length[:, np.newaxis]
    # A unit vector outside the kept directions is not determined by the rows.
    is_estimable = (Vt[is_nonzero] ** 2).sum(axis=0) > 1 - 1e-9
    return root @ root.T, is_estimable


def _of_results(model: FittedModel, results: Any) -> Estimates:
    """Return the estimates of statsmodels with their own covariance."""
    kind = type(getattr(results, "_results", results)).__name__
    is_penalised = kind.startswith(("Regularized", "L1"))
    if is_penalised or getattr(results, "regularized", False):
        raise refusal(model, "be fitted without a penalty", METHOD, remedy=PENALTY)
    terms = terms_of(model, METHOD)
    at, _ = slopes_of(model, results, METHOD)
    covariance = np.asarray(results.cov_params(), dtype=np.float64)[np.ix_(at, at)]
    X = design_of(results)
    _, is_estimable = inverse_of(X, np.ones(len(X)))
    return Estimates(terms, covariance, is_estimable[at])


PENALTY = "Use method 'standardised_coefficient'."


def _family(model: FittedModel) -> Any:
    """Return the family of a model without penalty, as statsmodels has it."""
    from statsmodels.genmod import families

    estimator: Any = model.estimator
    kind = type(estimator).__name__
    if not is_of(estimator, ("sklearn.linear_model.",)) or kind not in KINDS:
        raise refusal(model, "be a least-squares or generalised linear model", METHOD)
    if model.task == "multiclass":
        finding = f"has {len(model.classes)} classes"
        raise refusal(model, "have two classes at most", METHOD, finding=finding)
    if kind == "LinearRegression":
        is_free = not estimator.positive
    elif kind == "LogisticRegression":
        penalty = getattr(estimator, "penalty", "")  # from 1.8 on C = inf means "none"
        is_free = penalty in (None, "none") or np.isinf(estimator.C)
        is_free = is_free and estimator.class_weight is None
    else:
        is_free = estimator.alpha == 0
    if not is_free:
        raise refusal(
            model,
            "be fitted without a penalty, a constraint or class weights",
            METHOD,
            finding=f"is a {kind} with one",
            remedy=PENALTY,
        )
    if kind == "LogisticRegression":
        return families.Binomial()
    link = (families.Gaussian() if is_on_response(model) else families.Poisson()).link
    power = estimator.power if kind == "TweedieRegressor" else POWERS[kind]
    return families.Tweedie(link, var_power=power)


POWERS = {"LinearRegression": 0, "PoissonRegressor": 1, "GammaRegressor": 2}
"""The variance of the target is proportional to this power of its mean."""
KINDS = (*POWERS, "LogisticRegression", "TweedieRegressor")
