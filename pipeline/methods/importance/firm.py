"""FIRM: the spread of the expected score given a feature.

The estimators are in `firm_estimators` and `firm_moments`.
"""

from typing import Annotated, Literal

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from ...records.value_rules import Range
from ..effects.partial_dependence import Scale
from ..effects.shapley_values import score_of
from . import firm_moments
from .covariances import Covariance
from .firm_estimators import (
    ESTIMATORS,
    Conditional,
    Setting,
    feature_of,
    spread_of,
)
from .scores import numbers_of, slopes, weighing

Estimator = Conditional | Literal["gaussian", "signs"]


def firm(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    estimator: Estimator = "auto",
    scale: Scale = "native",
    standardised: bool = False,
    n_bins: Annotated[int, Range(least=2)] = 10,
    span: Annotated[float, Range(above=0, most=1)] = 2 / 3,
    covariance: Covariance = "ledoit_wolf",
) -> tuple[Floats, Floats]:
    r"""Return the spread of the expected score given each feature.

    With :math:`s` the score, that is the prediction on a scale, and :math:`f_j` a
    column, the feature importance ranking measure [1]_ is

    .. math::
        Q_j = \sqrt{\mathrm{Var}\, q_j(f_j(X))}, \qquad
        q_j(t) = E[s(X) \mid f_j(X) = t].

    The dependence of columns is kept: unlike in partial dependence, nothing is set to
    another value. So a column shares in the effects of all columns it is correlated
    with, and one the model does not read may matter. Estimators that know a direction
    return a sign; form "absolute" drops it, form "raw" shows it.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called once, and again for the slopes of "gaussian".
    data : Dataset
        The rows that expectations are taken over, with their weights; in an audit the
        reference rows, if ``[data] reference_rows`` is set. A group of several columns
        is one feature, whose value is the combination of theirs; only "discrete" has a
        result for it.
    seed : int
        Not used: nothing is drawn.
    estimator : default "auto"
        How :math:`q_j` and its spread are estimated. If an estimator does not suit a
        feature, the result is NaN.

        * "auto": depends on the column. "binary" if it has two values; "discrete" if it
          is a category or has at most `n_bins` values, or is a group of such columns
          (other groups give NaN); else "binned" with at least 30 rows per bin, or if
          values are missing; else "linear".
        * "discrete": the mean score of each value, weighted by its share. Missing is a
          value of its own.
        * "binary": :math:`(q_b - q_a) \sqrt{p_a p_b}`, *b* the larger value or the
          later level. Exact, signed.
        * "linear": slope of the regression of *s* on :math:`f_j` times the standard
          deviation of :math:`f_j`. Signed.
        * "binned": "discrete" in `n_bins` bins of equal weight; missing values have
          their own bin.
        * "lowess": the spread of a smooth curve over the rows.
        * "gaussian": assumes normal columns and *s* linear near their mean,
          :math:`\Sigma_{j\bullet} \nabla s(\mu) / \sqrt{\Sigma_{jj}}`. Signed. The
          gradient is that of linear and Gaussian-kernel estimators where they report
          it, else from central differences.
        * "signs": for columns of -1 and 1 and a linear score, from its weights. Signed.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    standardised : bool, default False
        Whether to divide by the standard deviation of the score, so that models are
        comparable.
    n_bins : int, default 10
        Number of bins for "binned".
    span : float, default 2/3
        Share of the rows in the neighbourhood of each point for "lowess".
    covariance : default "ledoit_wolf"
        How "gaussian" estimates :math:`\Sigma`: "sample"; "ledoit_wolf" and "oas" from
        scikit-learn; "schaefer_strimmer", which shrinks correlations to 0 [2]_;
        "corpcor", which also shrinks variances to their median, as R's
        ``corpcor::cov.shrink``, and so depends on the units of the columns. All others
        standardise the columns, shrink, and restore the variances.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, n_outputs)
        Signed where the estimator has a direction, in units of the scale.
    baseline : ndarray of shape (1, n_outputs)
        Zero, the value of a feature that is unrelated to the score.

    Raises
    ------
    NotApplicable
        If the model has no such scale, or lacks what the estimator needs.

    Warnings
    --------
    It is an association with the prediction, not what the model relies on: a column may
    have a value because of others. Means of few rows vary by chance, so "discrete",
    "binned" and "lowess" are above zero even for noise, by about
    ``sd(s) * sqrt((n_values - 1) / n_rows)``. "linear" and "gaussian" miss a curve
    that rises and falls. "gaussian" and "signs" also depend on the columns that the
    model reads, by their formulas.

    References
    ----------
    .. [1] Zien, Krämer, Sonnenburg and Rätsch (2009). The Feature Importance Ranking
       Measure. ECML PKDD, LNCS 5782, 694-709. doi:10.48550/arXiv.0906.4258
    .. [2] Schäfer and Strimmer (2005). A shrinkage approach to large-scale covariance
       matrix estimation. Statistical Applications in Genetics and Molecular Biology
       4(1), 32. doi:10.2202/1544-6115.1175

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = firm(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, float(round(raw[0, 0, 0], 9))
    ((2, 1, 1), 2.0)
    """
    score = score_of(model, scale)
    X, shares = weighing(data)
    scores = score(X)
    if estimator == "gaussian":
        of_groups = firm_moments.gaussian(
            model, data, X, shares, score=score, covariance=covariance
        )
    elif estimator == "signs":
        of_groups = firm_moments.signs(model, data, X, shares, score=score)
    else:
        of_groups = _conditional(data, scores, estimator, Setting(n_bins, span))
    return _answer(of_groups, scores, shares, standardised=standardised)


def firm_labels(
    model: FittedModel | None,
    data: Dataset,
    *,
    seed: int,
    estimator: Conditional = "auto",
    standardised: bool = False,
    n_bins: Annotated[int, Range(least=2)] = 10,
    span: Annotated[float, Range(above=0, most=1)] = 2 / 3,
) -> tuple[Floats, Floats]:
    r"""Return the spread of the expected target given each feature, without a model.

    The measure of `firm` [1]_ with the target as the score, for a binary target the
    indicator of the positive class. Of a column of numbers, with estimator "linear",
    it is :math:`\mathrm{cor}(x_j, y)\, \mathrm{sd}(y)`, which is also what `firm`
    gives for ordinary least squares on the rows it was fitted on.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        The rows, their target and their weights.
    seed : int
        Not used: nothing is drawn.
    estimator, standardised, n_bins, span
        As in `firm`.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Signed where the estimator has a direction, in units of the target.
    baseline : ndarray of shape (1, 1)
        Zero, the value of a feature that is unrelated to the target.

    Raises
    ------
    NotApplicable
        If the target has more than two classes.

    Warnings
    --------
    As for `firm`. Information that features have only jointly is missed.

    References
    ----------
    .. [1] Zien, Krämer, Sonnenburg and Rätsch (2009). The Feature Importance Ranking
       Measure. ECML PKDD, LNCS 5782, 694-709. doi:10.48550/arXiv.0906.4258

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> raw, baseline = firm_labels(None, normal_data(2, -1), seed=1)
    >>> raw[:, 0, 0].round(9).tolist()
    [2.0, -1.0]
    """
    if data.task == "multiclass":
        raise NotApplicable(
            f"Target {quote(data.target)} must be a number or have two classes for "
            f"method 'firm_labels'; it has {len(data.classes)}. Ask for FIRM of a "
            "model, which has one score per class."
        )
    _, shares = weighing(data)
    y = data.y[data.weights > 0].astype(np.float64)[:, np.newaxis]
    of_groups = _conditional(data, y, estimator, Setting(n_bins, span))
    return _answer(of_groups, y, shares, standardised=standardised)


def gradient_sensitivity(
    model: FittedModel, data: Dataset, *, seed: int, scale: Scale = "native"
) -> tuple[Floats, Floats]:
    r"""Return the root mean squared slope of the score times the feature's spread.

    .. math::
        I_j = \sqrt{E\bigl[(\partial s / \partial x_j)^2\bigr]\, \mathrm{Var}\, x_j},

    eq. (3) of [1]_, after [2]_. It measures direct effects on the score; the comparison
    with `firm` shows what a column owes to others: for uncorrelated columns and a
    linear score the two are equal.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called twice per feature unless its estimator is linear or
        has a Gaussian kernel, whose slopes are known.
    data : Dataset
        The rows averaged over, with their weights; one column per group.
    seed : int
        Not used: nothing is drawn.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, n_outputs)
        In units of the scale; NaN for a group of several columns, a category, a
        boolean, or a column with a missing value or without variation.
    baseline : ndarray of shape (1, n_outputs)
        Zero, which an ignored feature has exactly.

    Raises
    ------
    NotApplicable
        If the model predicts in steps (trees, neighbours), or has no such scale.

    Warnings
    --------
    A step function that is not recognised as such, such as a forest behind a plain
    function, has no slope, and its values are chance.

    References
    ----------
    .. [1] Zien, Krämer, Sonnenburg and Rätsch (2009). The Feature Importance Ranking
       Measure. ECML PKDD, LNCS 5782, 694-709. doi:10.48550/arXiv.0906.4258
    .. [2] Friedman (2001). Greedy function approximation: a gradient boosting
       machine. Annals of Statistics 29(5), 1189-1232. doi:10.1214/aos/1013203451

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = gradient_sensitivity(linear_model(2, 0), normal_data(), seed=1)
    >>> raw[:, 0, 0].round(6).tolist()
    [2.0, 0.0]
    """
    score = score_of(model, scale)
    X, shares = weighing(data)
    single = [c[0] for c in data.groups.values() if len(c) == 1]
    columns = [
        name
        for name in single
        if (own := numbers_of(X, [name])) is not None and np.ptp(own) > 0
    ]
    values: dict[tuple[str, ...], Floats] = {}
    each = slopes(model, score, data, at=X, columns=columns)
    for name, slope in zip(columns, each, strict=True):
        x = X[name].to_numpy(dtype=np.float64)[:, np.newaxis]
        values[(name,)] = np.sqrt(shares @ slope**2) * spread_of(x, shares)
    none = np.full(len(model.outputs), np.nan)
    raw = np.stack([values.get(c, none) for c in data.groups.values()])
    return raw[:, np.newaxis, :], np.zeros((1, raw.shape[1]))


def _conditional(
    data: Dataset, scores: Floats, estimator: Conditional, setting: Setting
) -> Floats:
    """Return one number per group and output, (n_groups, n_outputs)."""
    X, shares = weighing(data)
    estimate = ESTIMATORS[estimator]
    features = (feature_of(X, columns) for columns in data.groups.values())
    return np.stack([estimate(f, scores, shares, setting) for f in features])


def _answer(
    of_groups: Floats, scores: Floats, shares: Floats, *, standardised: bool
) -> tuple[Floats, Floats]:
    """Return raw and baseline, divided by the score's spread if `standardised`."""
    if standardised:  # NaN for a constant score
        spread = spread_of(scores, shares)
        of_groups = of_groups / np.where(spread > 0, spread, np.nan)
    return of_groups[:, np.newaxis, :], np.zeros((1, of_groups.shape[1]))
