"""The mean Shapley value of the rows at each value of one feature."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, quote
from .partial_dependence import Scale
from .shapley_values import Game, check_players, enumerate_coalitions, score_of

OTHERWISE = "Use curve 'partial_dependence'."


def mean_shapley(
    model: FittedModel,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    grid: Literal["quantile", "unique"] = "quantile",
    n_grid: int = 51,
    scale: Scale = "native",
) -> tuple[npt.NDArray[np.object_] | Floats, Floats]:
    r"""Return the mean Shapley value of the rows at each value of one feature.

    With :math:`\phi_{ij}` the Shapley value of feature *j* in row *i*, as in
    `importance.shapley` with algorithm "exact" and all rows as background, and
    :math:`N_z` the rows at :math:`z`, the curve [1]_ is

    .. math:: S_j(z) = \sum_{i \in N_z} w_i \phi_{ij} \Big/ \sum_{i \in N_z} w_i.

    Of an additive model it is the partial dependence less its mean over the rows.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for ``2**p * n**2`` mixed rows, with *p* the
        number of columns it reads and *n* the number of rows of positive weight.
    data : Dataset
        The rows explained, which are the background as well, with their weights.
    feature : str
        A column of ``data.X``; the curve of one that `model` does not read is 0.
    seed : int
        Not used: nothing is drawn.
    grid : {"quantile", "unique"}, default "quantile"
        Which rows are averaged together. "unique": those of every value. "quantile":
        those of neighbouring values, in `n_grid` parts of about as many rows, plotted
        at their mean value; with at most `n_grid` values, those of every value. A
        category has the levels that some row has, in level order.
    n_grid : int, default 51
        Number of parts of "quantile".
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.

    Returns
    -------
    grid : ndarray of shape (n_grid,)
        Floats, or the levels as text in an object array.
    values : ndarray of shape (n_grid, n_outputs)
        The curve; its mean over the rows is 0 if the model is additive.

    Raises
    ------
    NotApplicable
        If the model reads more than 12 columns or has no such scale, or the column
        has no value.

    Warnings
    --------
    Differences between rows at one value average out: a feature that acts through
    interactions only has a flat curve. Absent columns are drawn independently of those
    that stay, so the model predicts rows that may not exist.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data(2, 0, n_samples=20)
    >>> grid, values = mean_shapley(linear_model(2, 0), data, "x1", seed=1)
    >>> bool(abs(values[:, 0] - 2 * grid).max() < 1e-9)
    True
    """
    del seed
    at, part = _parts(data, feature, n_grid if grid == "quantile" else None)
    rows = np.flatnonzero(data.X[feature].notna().to_numpy() & (data.weights > 0))
    score, n_outputs = score_of(model, scale), len(model.outputs)
    values = np.zeros((len(rows), n_outputs))
    if feature in model.features:
        check_players(model, len(model.features), "exact Shapley values", OTHERWISE)
        background = np.flatnonzero(data.weights > 0)
        shares = data.weights[background] / data.weights[background].sum()
        game = Game(score, data.X, model.features, rows, background, shares, n_outputs)
        of_columns = enumerate_coalitions(game, np.arange(len(model.features)))
        values = of_columns[:, model.features.index(feature)]
    total = np.bincount(part, data.weights[rows])
    sums = [np.bincount(part, data.weights[rows] * column) for column in values.T]
    return at, np.stack(sums, axis=1) / total[:, np.newaxis]


def _parts(
    data: Dataset, feature: str, most: int | None
) -> tuple[npt.NDArray[np.object_] | Floats, npt.NDArray[np.intp]]:
    """Return the points of the curve, and the point of each row with value and weight.

    A number has at most `most` points, each the mean of neighbouring values.
    """
    column = data.X[feature]
    there = column.notna().to_numpy() & (data.weights > 0)
    if not there.any():
        raise NotApplicable(
            f"Column {quote(feature)} must have a value for Shapley values; all "
            f"{len(column)} are missing."
        )
    if is_category(column):
        codes, part = np.unique(column.cat.codes[there], return_inverse=True)
        return np.array(column.cat.categories, dtype=object)[codes], part
    numbers, weights = column[there].to_numpy(dtype=np.float64), data.weights[there]
    distinct, part = np.unique(numbers, return_inverse=True)
    if most is None or len(distinct) <= most:
        return distinct, part
    share = np.cumsum(np.bincount(part, weights)) / weights.sum()
    joined = np.minimum(np.ceil(share * most - 1e-9) - 1, most - 1)
    part = np.unique(joined, return_inverse=True)[1][part]
    return np.bincount(part, weights * numbers) / np.bincount(part, weights), part
