"""Rank correlation of each feature with the target."""

from typing import Literal

import numpy as np
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from .data_only import (
    each_column,
    refuse_classes,
    refuse_constant_target,
    refuse_weights,
)


def spearman(
    model: None,
    data: Dataset,
    *,
    seed: int,
    coefficient: Literal["spearman", "kendall"] = "spearman",
) -> tuple[Floats, Floats]:
    r"""Return the rank correlation of each feature with the target.

    With *r(x)* and *r(y)* the ranks of the rows, ties averaged, it is the correlation
    of the ranks [1]_,

    .. math:: \rho = \operatorname{cov}(r(x), r(y)) \big/
              \sqrt{\operatorname{var} r(x) \operatorname{var} r(y)} ,

    or, of the pairs of rows, *c* in the same order in both and *d* in opposite orders,
    Kendall's tau-b [2]_, with :math:`t_x` and :math:`t_y` tied in one only,

    .. math:: \tau = (c - d) \big/ \sqrt{(c + d + t_x)(c + d + t_y)} .

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        A numeric target or two classes, the second above the first; all rows have
        equal weight.
    seed : int
        Not used: nothing is drawn.
    coefficient : {"spearman", "kendall"}, default "spearman"
        Spearman's rho, or Kendall's tau, which compares pairs of rows.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, 1)
        From -1 to 1, with its sign; its size is the importance. NaN for a category, a
        constant or incomplete column, and a group of several columns.
    baseline : ndarray of shape (1, 1)
        Zero: no order in common.

    Raises
    ------
    NotApplicable
        If the target has more than two classes or is constant, or rows differ in
        weight.

    Warnings
    --------
    It measures rising and falling only: the correlation of a symmetric hill or valley
    is zero. Features that depend on each other have similar values, even if one of them
    would do.

    References
    ----------
    .. [1] Spearman (1904). The Proof and Measurement of Association between Two
       Things. American Journal of Psychology 15(1), 72-101. doi:10.2307/1412159
    .. [2] Kendall (1945). The Treatment of Ties in Ranking Problems. Biometrika 33(3),
       239-251. doi:10.1093/biomet/33.3.239

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> raw, _ = spearman(None, normal_data(-2, 0, noise=0.0), seed=1)
    >>> round(raw[0].item(), 12)
    -1.0
    """
    from scipy.stats import kendalltau, spearmanr

    statistic = {"spearman": spearmanr, "kendall": kendalltau}[coefficient]
    if data.task == "multiclass":
        refuse_classes(data, "spearman", "Use auc or anova.")
    refuse_constant_target(data, "spearman")
    refuse_weights(data, "spearman")

    def correlation(column: pd.Series) -> float:
        if is_category(column):
            return np.nan
        return float(statistic(column.to_numpy(np.float64), data.y)[0])

    return each_column(data, correlation)
