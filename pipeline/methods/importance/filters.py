"""Filters: one column against the target, without a model."""

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, listed, quote
from ...records.losses import one_minus_auc
from ...records.value_rules import Range
from .data_only import (
    each_column,
    refuse_classes,
    refuse_constant_target,
    refuse_weights,
    rows_of_classes,
)
from .group_means import TESTS, Test, statistic_of
from .lowess import lowess


def lowess_r2(
    model: None,
    data: Dataset,
    *,
    seed: int,
    fraction: Annotated[float, Range(above=0, most=1)] = 2 / 3,
    n_robust: Annotated[int, Range(least=0)] = 3,
    step: Annotated[float, Range(least=0, below=1)] = 0.01,
) -> tuple[Floats, Floats]:
    r"""Return the share of the target's variance that a smooth curve explains.

    With :math:`\hat y` the target smoothed by robust locally weighted lines over one
    feature (LOWESS [1]_, `lowess.lowess`), the pseudo-:math:`R^2` [2]_ is

    .. math:: R^2 = 1 - \sum_i (y_i - \hat y_i)^2 \Big/ \sum_i (y_i - \bar y)^2 .

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        A numeric target; all rows have equal weight.
    seed : int
        Not used: nothing is drawn.
    fraction : float, default 2/3
        Share of the rows in the neighbourhood of a point, which decides how smooth the
        curve is.
    n_robust : int, default 3
        Number of robustness iterations, in which rows far from the curve are
        downweighted.
    step : float, default 0.01
        Share of the feature's range over which the curve is interpolated linearly; 0
        fits a line at every value.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        At most 1; below 0 where the robust curve is worse than the mean. NaN for a
        category, a constant or incomplete column, and a group of several columns.
    baseline : ndarray of shape (1, 1)
        Zero: the mean explains nothing. A flexible curve explains a little of any
        noise, the more the smaller `fraction`.

    Raises
    ------
    NotApplicable
        If the target is a class or constant, or rows differ in weight.

    Warnings
    --------
    It considers one feature at a time, so it misses effects through interactions only,
    and counts information that dependent features share twice. It is computed on the
    rows the curve was fitted to.

    References
    ----------
    .. [1] Cleveland (1979). Robust Locally Weighted Regression and Smoothing
       Scatterplots. JASA 74(368), 829-836. doi:10.1080/01621459.1979.10481038
    .. [2] Kuhn and Johnson (2013). Applied Predictive Modeling, chapter 18.
       doi:10.1007/978-1-4614-6849-3

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> raw, baseline = lowess_r2(None, normal_data(2, 0, noise=0.0), seed=1)
    >>> bool(raw[0] > 0.999), bool(abs(raw[1]) < 0.1)
    (True, True)
    """
    refuse_classes(data, "lowess_r2", "Use auc or anova.")
    refuse_constant_target(data, "lowess_r2")
    refuse_weights(data, "lowess_r2")
    y = data.y - data.y.mean()  # centred, so rounding errors are small
    total = (y**2).sum()

    def share(column: pd.Series) -> float:
        if is_category(column):
            return np.nan
        x = column.to_numpy(np.float64)
        curve = lowess(x, y, fraction=fraction, n_robust=n_robust, step=step)
        return float(1 - ((y - curve) ** 2).sum() / total)

    return each_column(data, share)


def anova(
    model: None,
    data: Dataset,
    *,
    seed: int,
    test: Test = "equal_variances",
    statistic: Literal["statistic", "t", "minus_log10_p"] = "statistic",
) -> tuple[Floats, Floats]:
    r"""Return the difference of group means, relative to the spread within groups.

    The levels of a categorical feature divide a numeric target into groups, or the
    classes of the target divide a numeric feature. With *K* groups of weight
    :math:`W_k` and mean :math:`m_k`, and the mean *m* of all *n* rows [1]_,

    .. math::
        F = \frac{\sum_k W_k (m_k - m)^2 / (K - 1)}
                 {\sum_k \sum_{i \in k} w_i (x_i - m_k)^2 / (n - K)} ,

    for two groups the square of Student's *t*.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        Its weights are used with equal variances; rows of weight 0 do not count.
    seed : int
        Not used: nothing is drawn.
    test : {"equal_variances", "welch", "kruskal_wallis"}
        The *F* test above; Welch's, with a variance for each group [2]_; or the
        Kruskal-Wallis test of the ranks, with *H* instead of *F*.
    statistic : {"statistic", "t", "minus_log10_p"}
        *F* or *H*; the signed root of *F* for two groups, positive if the second level
        or class is higher; or :math:`-\log_{10} p`, the only choice that puts features
        with different numbers of levels on one scale.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        NaN if feature and target are both numeric or both categorical, for a constant
        or incomplete column, a group of several columns, a *t* of other than two
        groups, and too few rows for the test. Infinite for an *F* without variation
        within groups, and for a p-value too small to be represented.
    baseline : ndarray of shape (1, 1)
        Zero: equal means. Chance alone gives an *F* about 1.

    Raises
    ------
    NotApplicable
        If rows differ in weight and the test is not that of equal variances.
    ValueError
        If `statistic` is "t" for ranks.

    Warnings
    --------
    It compares means only: groups that differ only in spread or shape are missed. It
    grows with the number of rows: it measures how certain a difference is, not its
    size.

    References
    ----------
    .. [1] Kuhn and Johnson (2013). Applied Predictive Modeling, chapter 18.
       doi:10.1007/978-1-4614-6849-3
    .. [2] Welch (1951). On the Comparison of Several Mean Values. Biometrika 38(3/4),
       330-336. doi:10.1093/biomet/38.3-4.330

    Examples
    --------
    >>> from importance_audit.methods.known_answers import binary_data
    >>> raw, _ = anova(None, binary_data(), seed=1, statistic="t")
    >>> bool(raw[0] > 10), bool(abs(raw[1]) < 3)
    (True, True)
    """
    if test == "kruskal_wallis" and statistic == "t":
        raise ValueError(
            "statistic must be 'statistic' or 'minus_log10_p' for test "
            "'kruskal_wallis'; 't' was given."
        )
    if test != "equal_variances":
        refuse_weights(data, "anova", "Set test = 'equal_variances'.")
    measure = TESTS[test]

    def difference(column: pd.Series) -> float:
        is_level, is_class = is_category(column), data.task != "regression"
        if is_level == is_class:
            return np.nan
        is_counted = data.weights > 0
        parts = column.cat.codes.to_numpy() if is_level else data.y
        values = data.y if is_level else column.to_numpy()
        codes = np.unique(parts[is_counted], return_inverse=True)[1]
        if codes.max() < 1:
            return np.nan
        weights = data.weights[is_counted]
        outcome = measure(values[is_counted].astype(np.float64), codes, weights)
        return statistic_of(outcome, statistic)

    return each_column(data, difference)


def auc(
    model: None,
    data: Dataset,
    *,
    seed: int,
    direction: Literal["either", "rising"] = "either",
    contrast: Literal["one_vs_rest", "one_vs_one"] = "one_vs_rest",
    summary: Literal["mean", "maximum"] = "mean",
    of_class: str = "",
) -> tuple[Floats, Floats]:
    r"""Return the area under the ROC curve of each feature alone.

    With rows *a* of one class and *b* of the other, the area under the ROC curve of a
    numeric feature *x* is

    .. math:: A = P(x_a > x_b) + \tfrac12 P(x_a = x_b),

    and `direction` "either" takes :math:`\max(A, 1 - A)`, because a feature that falls
    with the class is as informative as one that rises. More than two classes are
    contrasted one with all others [1]_, or by pairs [2]_.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        A target of classes; a pair of rows weighs the product of their weights.
    seed : int
        Not used: nothing is drawn.
    direction : {"either", "rising"}
        "either" replaces an area below 0.5 by its complement; "rising" keeps it.
    contrast : {"one_vs_rest", "one_vs_one"}
        Which classes are compared; the same for two classes.
    summary : {"mean", "maximum"}
        How the areas of several contrasts are combined. The maximum over pairs is that
        of ``caret::filterVarImp`` for three classes (with four or more it considers
        only some of the pairs); a maximum grows with the number of classes by chance.
    of_class : str, default ""
        Use only the contrasts of this class; all by default.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        Areas from 0 to 1; NaN for a category, a constant or incomplete column, and a
        group of several columns.
    baseline : ndarray of shape (1, 1)
        One half: a coin toss.

    Raises
    ------
    NotApplicable
        If the target is a number, or a class has no rows.
    ValueError
        If `of_class` is not a class.

    Warnings
    --------
    It considers order only: the area is about one half for a class between two others,
    and for any feature that acts through an interaction only. With "either", chance
    values lie above one half, the more so the fewer rows.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A simple and effective model-based
       variable importance measure, section 2.2. doi:10.48550/arXiv.1805.04755
    .. [2] Hand and Till (2001). A Simple Generalisation of the Area Under the ROC
       Curve. Machine Learning 45, 171-186. doi:10.1023/A:1010920819831

    Examples
    --------
    >>> from importance_audit.methods.known_answers import binary_data
    >>> raw, baseline = auc(None, binary_data(), seed=1)
    >>> raw[0].item(), baseline.item()
    (1.0, 0.5)
    """
    contrasts = _contrasts(data, contrast, of_class)

    def area(column: pd.Series) -> float:
        if is_category(column):
            return np.nan
        x = column.to_numpy(np.float64)
        areas = [
            1 - one_minus_auc(event[rows], x[rows], data.weights[rows])
            for event, rows in contrasts
        ]
        if direction == "either":
            areas = [max(value, 1 - value) for value in areas]
        return float(np.mean(areas) if summary == "mean" else np.max(areas))

    return each_column(data, area, null=0.5)


def _contrasts(
    data: Dataset, contrast: str, of_class: str
) -> list[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]:
    """Return, for each contrast, masks of its events and of the rows that take part."""
    classes = data.classes
    if data.task == "regression":
        raise NotApplicable(
            f"Target {quote(data.target)} must have classes for method 'auc'; it is a "
            "number. Use spearman or lowess_r2."
        )
    if of_class and of_class not in classes:
        raise ValueError(
            f"of_class must be one of {listed(classes)}; {quote(of_class)} was given."
        )
    is_of = rows_of_classes(data, "auc", at_least=1)
    codes = [k for k, name in enumerate(classes) if of_class in {"", name}]
    every = np.ones(len(data.y), dtype=bool)
    if len(classes) == 2:
        return [(is_of[1], every)]
    if contrast == "one_vs_rest":
        return [(is_of[k], every) for k in codes]
    pairs = [
        (low, high)
        for high in range(len(classes))
        for low in range(high)
        if low in codes or high in codes
    ]
    return [(is_of[high], is_of[low] | is_of[high]) for low, high in pairs]
