"""Weights of linear models: in their own units, or in standard deviations."""

from itertools import product
from math import factorial, prod
from typing import Literal

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from .insides import features_of_columns, is_of, refusal, sign_of
from .linear_terms import is_on_response, observed, terms_of, terms_within
from .method_result import each_group

STANDARDISED, RAW = "standardised_coefficient", "raw_weights"


def standardised_coefficient(
    model: FittedModel, data: Dataset, *, seed: int
) -> tuple[Floats, Floats]:
    r"""Return the coefficients of a linear model in standard deviations.

    For a feature with one term :math:`b_j \, \mathrm{sd}(x_j) / \mathrm{sd}(y)` [1]_,
    :math:`b_j \, \mathrm{sd}(x_j)` if the model is not linear in the response but on a
    link: log odds of the positive class, or the log of the mean. For several terms *T*
    (levels of a category, a polynomial, a group) it is the standard deviation of their
    sum, :math:`\mathrm{sd}(\sum_{k \in T} b_k x_k)`, which has no sign; for one term
    this is its absolute value.

    Parameters
    ----------
    model : FittedModel
        A linear model or linear support vector machine of scikit-learn, penalised or
        not, or results of statsmodels. Its coefficients and its training rows are
        used; standard deviations have the weights of these rows.
    data : Dataset
        Only ``data.groups`` is read.
    seed : int
        Not used: nothing is drawn.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Without unit, or on the link; 0 for a column the model does not read; NaN for a
        feature whose interactions are with features outside its group.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a feature without weight.

    Raises
    ------
    NotApplicable
        If the model is not linear, has coefficients per class, its training rows are
        not known, or its columns cannot be traced back to features.

    Warnings
    --------
    A coefficient holds the other features fixed, which dependent features cannot be:
    it can be large, or of the opposite sign, for a feature that hardly matters. A
    penalty distributes it arbitrarily between such features. Curvature is missed.

    References
    ----------
    .. [1] Bring (1994). How to Standardize Regression Coefficients. The American
       Statistician 48(3), 209-213. doi:10.1080/00031305.1994.10476059
    """
    terms = terms_of(model, STANDARDISED)
    rows = observed(model, STANDARDISED)
    unit = _spread(rows.y, rows.weights) if is_on_response(model) else 1.0

    def contribution(columns: tuple[str, ...]) -> float:
        at = terms_within(terms.features, columns)
        if at is None:
            return np.nan
        if len(at) == 1:
            k = int(at[0])
            spread = terms.estimate[k] * _spread(rows.terms[:, k], rows.weights)
        else:
            spread = _spread(rows.terms[:, at] @ terms.estimate[at], rows.weights)
        return spread / (unit or np.nan)

    return each_group(data, contribution)


def _spread(values: Floats, weights: Floats) -> float:
    """Return the weighted standard deviation; its divisor cancels in a ratio."""
    centred = values - np.average(values, weights=weights)
    return float(np.sqrt(np.average(centred * centred, weights=weights)))


def raw_weights(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    powers: Literal["one", "any"] = "one",
) -> tuple[Floats, Floats]:
    r"""Return the weights of a linear model, or of a polynomial kernel's monomials.

    The score of a linear machine is :math:`s(x) = \sum_j w_j x_j + b`, and
    :math:`w_j` is its weight of feature *j* [1]_. A support vector machine with the
    kernel :math:`(\gamma \langle x_i, x \rangle + c)^d` is a polynomial,

    .. math:: s(x) = \sum_{|m| \le d} w_m x^m + b, \quad
              w_m = \frac{d!}{(d - |m|)! \prod_j m_j!} \gamma^{|m|} c^{d - |m|}
                    \sum_i \alpha_i x_i^m,

    with :math:`\alpha_i` the signed dual coefficients. Then the value of a feature is
    the weight of :math:`x_j`, and that of a group the weight of its columns' product.

    Parameters
    ----------
    model : FittedModel
        A linear model or a support vector machine (linear or polynomial) of
        scikit-learn, or results of statsmodels.
    data : Dataset
        Only ``data.groups`` is read.
    seed : int
        Not used: nothing is drawn.
    powers : {"one", "any"}, default "one"
        For a polynomial kernel: the monomial with each column to the power of one, or
        the sum over all powers from one, which is the weight of the product if the
        columns are 0 or 1.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Signed, per unit of the feature, of the prediction or its link; 0 for a column
        the model does not read. NaN for a feature with several weights in a linear
        model (a category in one-hot columns, a group), which have no common unit.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a feature without weight.

    Raises
    ------
    NotApplicable
        If the model is neither linear nor polynomial (for other kernels there is only
        a projection whose meaning is unclear), has weights per class, or its columns
        cannot be traced back to features.

    Warnings
    --------
    A feature in larger units, such as kilometres instead of metres, has a larger
    weight: only features in the same unit can be compared. Effects through correlated
    features are left out.

    References
    ----------
    .. [1] Zien, Krämer, Sonnenburg and Rätsch (2009). The Feature Importance Ranking
       Measure. ECML PKDD, LNCS 5782. doi:10.1007/978-3-642-04174-7_45
    """
    if getattr(model.estimator, "kernel", None) == "poly":
        return _of_kernel(model, data, is_any=powers == "any")
    terms = terms_of(model, RAW)

    def weight(columns: tuple[str, ...]) -> float:
        at = terms_within(terms.features, columns)
        return np.nan if at is None or len(at) > 1 else terms.estimate[at].sum()

    return each_group(data, weight)


def _of_kernel(
    model: FittedModel, data: Dataset, *, is_any: bool
) -> tuple[Floats, Floats]:
    """Return the weight of the product of each group's columns, and the null value."""
    machine = model.estimator
    if not is_of(machine, ("sklearn.svm.",)) or len(machine.dual_coef_) != 1:
        raise refusal(model, "be a support vector machine with one score", RAW)
    names = features_of_columns(model, machine.support_vectors_.shape[1], RAW)
    dense = [
        part.toarray() if hasattr(part, "toarray") else part
        for part in (machine.support_vectors_, machine.dual_coef_)
    ]
    # gamma = "scale" is resolved while fitting; no public attribute holds it.
    gamma = machine._gamma if isinstance(machine.gamma, str) else machine.gamma
    kernel = int(machine.degree), float(gamma), float(machine.coef0)

    def weight(columns: tuple[str, ...]) -> float:
        at = [k for k, name in enumerate(names) if name in columns]
        if len(at) > len(set(columns)):
            return np.nan
        if set(columns) - set(names):
            return 0.0
        vectors, alpha = dense[0][:, at], dense[1][0]
        return sign_of(model) * monomial_weight(*kernel, vectors, alpha, is_any=is_any)

    return each_group(data, weight)


def monomial_weight(
    degree: int,
    gamma: float,
    constant: float,
    vectors: Floats,
    alpha: Floats,
    *,
    is_any: bool,
) -> float:
    """Return the weight of the product of the columns of some support vectors.

    Parameters
    ----------
    degree, gamma, constant
        Parameters of the kernel ``(gamma <x, x'> + constant) ** degree``.
    vectors : ndarray of shape (n_vectors, n_columns)
        The support vectors, restricted to the columns of the product.
    alpha : ndarray of shape (n_vectors,)
        Their signed dual coefficients.
    is_any : bool
        Whether to sum over all powers of each column from one.
    """
    n_columns = vectors.shape[1]
    highest = degree if is_any else 1
    total = 0.0
    for powers in product(range(1, highest + 1), repeat=n_columns):
        rest = degree - sum(powers)
        if rest < 0:
            continue
        ways = factorial(degree) / (factorial(rest) * prod(map(factorial, powers)))
        scale = ways * gamma ** sum(powers) * constant**rest
        total += scale * float(alpha @ np.prod(vectors ** np.array(powers), axis=1))
    return total
