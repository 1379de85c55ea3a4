"""Filters of all columns jointly, without a model: PCA and mRMR.

The value of a column depends on the other columns of the data, but not on which are
measured: every column of the data takes part, whatever `data.groups` contains.
"""

from typing import Annotated, Literal, NamedTuple

import numpy as np
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable
from ...records.value_rules import Range
from .data_only import (
    by_name,
    is_measurable,
    refuse_classes,
    refuse_constant_target,
    refuse_weights,
)
from .information import Measure, matrix_of


def pca(
    model: None, data: Dataset, *, seed: int, scaled: bool = True
) -> tuple[Floats, Floats]:
    r"""Return the loadings of the first principal component.

    With *C* the correlation of the columns, or their covariance, the loadings are the
    vector :math:`v` of length 1 for which :math:`v' C v`, the variance of the
    weighted sum of the columns, is largest [1]_ [2]_. Weights enter *C*.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        All numeric columns that vary and have no missing value take part, at least two;
        the target is not used.
    seed : int
        Not used: nothing is drawn.
    scaled : bool, default True
        Whether columns are scaled to variance 1. Otherwise the column with the largest
        variance dominates.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Loadings, whose squares add up to 1 over the columns that take part. The sign
        of a component is free: the loading of largest size is positive. NaN for a
        category, a constant or incomplete column, and a group of several columns.
    baseline : ndarray of shape (1, 1)
        Zero: the component does not use the column.

    Raises
    ------
    NotApplicable
        If fewer than two columns can take part, or there is no first component: two of
        them have the same variance.

    Warnings
    --------
    Columns that vary together need not matter: the target is not used, and a feature
    that resembles no other has a loading near zero, however much depends on it. Only
    linear dependence is considered.

    References
    ----------
    .. [1] Pearson (1901). On Lines and Planes of Closest Fit to Systems of Points in
       Space. Philosophical Magazine 2(11), 559-572. doi:10.1080/14786440109462720
    .. [2] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance, section 3. doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> data = normal_data(1, 1)
    >>> tied = data.X.assign(x2=data.X["x1"] + data.X["x2"])
    >>> from dataclasses import replace
    >>> raw, baseline = pca(None, replace(data, X=tied), seed=1)
    >>> raw[:, 0, 0].round(6).tolist()
    [0.707107, 0.707107]
    """
    counted = data.X[data.weights > 0]
    names = [
        name
        for name in data.X
        if not is_category(data.X[name])
        and is_measurable(data.X[name])
        and is_measurable(counted[name])
    ]
    if len(names) < 2:
        raise NotApplicable(
            "Data must have at least two columns of numbers that vary for method "
            f"'pca'; {len(names)} can take part. Leave the method out."
        )
    X = data.X[names].to_numpy(np.float64)
    matrix = np.cov(X, rowvar=False, aweights=data.weights)
    if scaled:
        spread = np.sqrt(np.diag(matrix))
        matrix = matrix / np.outer(spread, spread)
    variance, vectors = np.linalg.eigh(matrix)
    if variance[-1] - variance[-2] <= len(X) * np.finfo(float).eps * variance[-1]:
        raise NotApplicable(
            "Data must have one direction of largest variance for method 'pca'; "
            "two have the same. Leave the method out."
        )
    loadings = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
    loading_of = dict(zip(names, loadings.tolist(), strict=True))
    return by_name(data, loading_of)


def mrmr(
    model: None,
    data: Dataset,
    *,
    seed: int,
    measure: Measure = "binned",
    scheme: Literal["difference", "quotient"] = "difference",
    n_bins: Annotated[int, Range(least=2)] = 5,
) -> tuple[Floats, Floats]:
    r"""Return the order of features by high relevance and low redundancy.

    Features are chosen one by one. With *S* those chosen so far and *I* a measure of
    association, the next is the one with the largest [1]_

    .. math::
        I(x_j; y) - \frac{1}{|S|} \sum_{i \in S} I(x_j; x_i) ,

    relevance less redundancy, or with the largest quotient of the two. The first is
    the one of largest relevance.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        Every column that varies and has no missing value is a candidate, whichever are
        measured; all rows have equal weight.
    seed : int
        Not used: nothing is drawn.
    measure : {"binned", "gaussian", "gaussian_ranks", "spearman"}
        The mutual information of binned values, for numbers, categories and classes;
        that of normal variables, :math:`-\frac12 \log(1 - r^2)`, with *r* the
        correlation of the values (as in R's mRMRe) or of their ranks; or the absolute
        rank correlation itself [2]_. All but the first need numeric columns.
    scheme : {"difference", "quotient"}
        Relevance minus redundancy, or divided by it.
    n_bins : int, default 5
        Number of bins for a numeric column, with about equally many rows; a column with
        no more distinct values than that keeps its values.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Ranks only: the number of candidates for the one chosen first, 1 for the one
        chosen last. Only the sign of a difference of two such numbers has a meaning. Of
        two candidates with equal scores, the more relevant is chosen, then the first by
        name. NaN for columns that are no candidates, and for groups of several columns.
    baseline : ndarray of shape (1, 1)
        Zero: never chosen.

    Raises
    ------
    NotApplicable
        If rows differ in weight, the target is constant, or it has more than two
        classes and the measure is not "binned".

    Warnings
    --------
    Of two dependent features one comes early and the other late, and a tiny difference
    may decide which. A feature that matters only together with another is missed.
    Mutual information of bins is too large with few rows.

    References
    ----------
    .. [1] Peng, Long and Ding (2005). Feature Selection Based on Mutual Information.
       IEEE TPAMI 27(8), 1226-1238. doi:10.1109/TPAMI.2005.159
    .. [2] Tsanas, Little and McSharry (2010). A simple filter benchmark for feature
       selection. Named by Parr, Wilson and Hamrick (2020),
       doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> raw, baseline = mrmr(None, normal_data(1, 0, 3), seed=1, measure="gaussian")
    >>> raw[:, 0, 0].tolist()
    [2.0, 1.0, 3.0]
    """
    refuse_weights(data, "mrmr")
    refuse_constant_target(data, "mrmr")
    if data.task == "multiclass" and measure != "binned":
        refuse_classes(data, "mrmr", "Set measure = 'binned'.")
    names = sorted(
        name
        for name in data.X
        if is_measurable(data.X[name])
        and (measure == "binned" or not is_category(data.X[name]))
    )
    is_class = data.task != "regression" and measure == "binned"
    target = pd.Series(pd.Categorical(data.y) if is_class else data.y)
    columns = [target, *(data.X[name] for name in names)]
    order = mrmr_order(matrix_of(columns, measure, n_bins), scheme)
    score_of = {
        names[k]: float(len(names) - place) for place, k in enumerate(order.which)
    }
    return by_name(data, score_of)


class MrmrOrder(NamedTuple):
    """Candidates in the order they were chosen, and the score each had then."""

    which: list[int]
    scores: list[float]


def mrmr_order(association: Floats, scheme: str) -> MrmrOrder:
    """Return the order of mRMR from an association matrix, the target first."""
    relevance, between = association[0, 1:], association[1:, 1:]
    left = list(range(len(relevance)))
    which: list[int] = []
    scores: list[float] = []
    redundancy = np.zeros(len(relevance))
    while left:
        score = relevance[left]
        if which:
            score = _score(relevance[left], redundancy[left] / len(which), scheme)
        best = left[np.lexsort((np.array(left), -relevance[left], -score))[0]]
        scores.append(float(score[left.index(best)]))
        which.append(best)
        left.remove(best)
        redundancy = redundancy + between[best]
    return MrmrOrder(which, scores)


def _score(relevance: Floats, redundancy: Floats, scheme: str) -> Floats:
    """Return relevance minus redundancy, or divided by it; copies come last.

    A candidate without relevance scores 0 by any quotient.
    """
    copies = np.isinf(redundancy)
    with np.errstate(invalid="ignore", divide="ignore"):
        if scheme == "difference":
            return np.where(copies, -np.inf, relevance - redundancy)
        quotient = np.where(relevance == 0, 0.0, relevance / redundancy)
    return np.where(copies, 0.0, quotient)
