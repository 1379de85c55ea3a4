"""FIRM from moments: normal columns by slopes, columns of -1 and 1 by weights."""

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from ..effects.shapley_values import Score
from .covariances import Covariance, covariance_of
from .firm_estimators import spread_of
from .scores import linear_slopes, numbers_of, numbers_read, slopes

FOR = "estimators 'gaussian' and 'signs'", "estimator 'auto'"


def gaussian(
    model: FittedModel,
    data: Dataset,
    X: pd.DataFrame,
    shares: Floats,
    *,
    score: Score,
    covariance: Covariance,
) -> Floats:
    r"""Return the first-order FIRM of normal columns, (n_groups, n_outputs).

    .. math:: Q_j = \Sigma_{j\bullet} \nabla s(\mu) / \sqrt{\Sigma_{jj}},

    eq. (9) of the paper with its sign. :math:`\Sigma` is that of the columns the model
    reads, and of *j* if it is not one of them. NaN for a group of several columns
    and for a column that is not all numbers or does not vary.

    Raises
    ------
    NotApplicable
        If the model reads a category or a missing value, or has no slope there.
    """
    matrix = numbers_read(model, X, *FOR)
    at = pd.DataFrame([shares @ matrix], columns=list(model.features))
    each = slopes(model, score, data, at=at, columns=model.features)
    gradient = np.concatenate(list(each))
    if not gradient.any() and spread_of(score(X), shares).any():
        raise NotApplicable(
            f"Model {quote(model.name)} must have a slope at the mean row for "
            "estimator 'gaussian'; it has none there although its predictions vary. "
            "Use estimator 'auto'."
        )
    covariances = covariance_of(matrix, shares, covariance)
    values = []
    for columns in data.groups.values():
        numbers = numbers_of(X, columns)
        if numbers is None or len(columns) != 1 or np.ptp(numbers) == 0:
            values.append(np.full(gradient.shape[1], np.nan))
            continue
        if columns[0] in model.features:
            j, sigma = model.features.index(columns[0]), covariances
        else:
            j = len(model.features)
            sigma = covariance_of(np.hstack([matrix, numbers]), shares, covariance)
        values.append(sigma[j, : len(gradient)] @ gradient / np.sqrt(sigma[j, j]))
    return np.stack(values)


def signs(
    model: FittedModel, data: Dataset, X: pd.DataFrame, shares: Floats, *, score: Score
) -> Floats:
    r"""Return the FIRM of columns of -1 and 1 under a linear score.

    With :math:`w` the weights and :math:`p_\pm` the shares of the two values,
    :math:`Q = M^\top X w`, where for column *j* and row *i* of share :math:`h_i`

    .. math:: M_{ij} = h_i \frac{(p_- - p_+) + x_{ij}}{2 \sqrt{p_+ p_-}}.

    This is eq. (11) with the sign of its first term as in eq. (10): the printed sign
    would add a multiple of the score's constant. Shape (n_groups, n_outputs); NaN for a
    group of several columns and for a column of other values.

    Raises
    ------
    NotApplicable
        If the score is not linear in the columns, or they hold other numbers.
    """
    matrix = numbers_read(model, X, *FOR)
    weights = linear_slopes(model, X, score(X))
    if weights is None:
        raise NotApplicable(
            f"Model {quote(model.name)} must be linear in its columns for estimator "
            "'signs'; it reports no weights that give its predictions. Use "
            "estimator 'binary'."
        )
    if not np.isin(matrix, (-1, 1)).all():
        raise NotApplicable(
            f"Model {quote(model.name)} must read columns of -1 and 1 for estimator "
            "'signs'; it reads other numbers. Use estimator 'binary'."
        )
    linear = matrix @ weights
    values = []
    for columns in data.groups.values():
        numbers = numbers_of(X, columns)
        if numbers is None or set(np.unique(numbers)) != {-1, 1} or len(columns) != 1:
            values.append(np.full(weights.shape[1], np.nan))
            continue
        x = numbers[:, 0]
        plus, minus = shares @ (x > 0), shares @ (x < 0)
        column = shares * (minus - plus + x) / (2 * np.sqrt(plus * minus))
        values.append(column @ linear)
    return np.stack(values)
