"""Friedman's H: the part of a joint partial dependence that is not a sum."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import quote
from ..effects.partial_dependence import (
    SCALES,
    Scale,
    check_scale,
    curve_of_trees,
    rounding_of,
)
from ..effects.predictions_at import predictions_at
from ..trees.mean_predictions import TreeMeans, agrees, tree_means
from .drawn import Stream, draw_rows


class Dependence(NamedTuple):
    """The partial dependences on some columns and on all others, at the data rows.

    Attributes
    ----------
    own, others : ndarray of shape (n_samples, n_outputs)
        Not centred.
    predicted : ndarray of shape (n_samples, n_outputs)
        The prediction of each row.
    rounding : ndarray of shape (n_outputs,)
        What a sum of such means may miss by rounding.
    """

    own: Floats
    others: Floats
    predicted: Floats
    rounding: Floats


def h_statistic(
    model: FittedModel,
    data: Dataset,
    features: tuple[str, ...],
    *,
    seed: int,
    stream: Stream = "numpy",
    curves: Mapping[str, Dependence] | None = None,
    n_rows: int | None = 500,
    scale: Scale = "native",
) -> tuple[Floats, Floats]:
    r"""Return numerator and denominator of Friedman's H squared.

    With :math:`F_S` the partial dependence on the columns *S* at the data rows, minus
    its mean over them, :math:`F` the prediction minus its mean, and all means weighted
    by the row weights [1]_,

    .. math::
        H^2_{jk} = \frac{\sum_i w_i (F_{jk} - F_j - F_k)^2(x_i)}
                        {\sum_i w_i F_{jk}^2(x_i)},
        \qquad
        H^2_j = \frac{\sum_i w_i (F - F_j - F_{-j})^2(x_i)}{\sum_i w_i F^2(x_i)},

    .. math::
        H^2_{jkl} = \frac{\sum_i w_i
            (F_{jkl} - F_{jk} - F_{jl} - F_{kl} + F_j + F_k + F_l)^2(x_i)}
            {\sum_i w_i F_{jkl}^2(x_i)}.

    All sums are divided by that of the weights, so they are mean squares.

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)`` of up to ``n_rows**2`` rows per partial dependence.
    data : Dataset
        The rows, which are averaged over and at which the averages are compared.
    features : tuple of str
        Two or three columns, or one for its interaction with all others together.
    seed : int
        Names the stream.
    stream : {"numpy", "hstats"}, default "numpy"
        Draw order of the rows; "hstats" replays ``set.seed(seed); hstats(...)`` of R.
    curves : mapping of str to Dependence, optional
        Those of single columns, of `at_rows` on the same rows, so that all pairs need
        not ask for them again; what has none is asked.
    n_rows : int or None, default 500
        Rows drawn without replacement where there are more; None: all.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.

    Returns
    -------
    numerator : ndarray of shape (n_outputs,)
        The mean square of what interacts, in squared units of the scale; 0 if it is
        not larger than the rounding of the means it is the difference of.
    denominator : ndarray of shape (n_outputs,)
        The mean square of the joint dependence (of the prediction, for one column);
        0 likewise. The ratio is H squared.

    Raises
    ------
    ValueError
        If `n_rows` is less than 2, or `features` are not one, two or three columns.
    NotApplicable
        If the model has no such scale.

    Warnings
    --------
    The ratio hides how little two features matter: noise can lead it, and where
    features are correlated, it can exceed 1, for the model is asked about rows that
    cannot occur. Rank by the numerator.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Annals
       of Applied Statistics 2(3), 916-954. doi:10.1214/07-AOAS148

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> numerator, denominator = h_statistic(
    ...     linear_model(2, 1), normal_data(), ("x1", "x2"), seed=1
    ... )
    >>> float(numerator[0]), float(round(denominator[0], 9))
    (0.0, 5.0)
    """
    check_scale(model, scale)
    if not 1 <= len(set(features)) == len(features) <= 3:
        raise ValueError(
            f"features must be one, two or three columns; {quote(features)} was given."
        )
    rows = draw_rows(data, n_rows, seed=seed, stream=stream)
    curve_of = curves or {}
    dependence_of = {
        columns: (curve_of.get(columns[0]) if len(columns) == 1 else None)
        or at_rows(model, rows, columns, scale=scale)
        for size in range(1, len(features) + 1)
        for columns in combinations(features, size)
    }
    whole = dependence_of[features]
    if len(features) == 1:
        joint, residual = whole.predicted, whole.predicted - whole.own - whole.others
    else:
        joint, residual = whole.own, _not_of_parts(dependence_of)
    # The rounding is that of a residual of three curves.
    residual_rounding = whole.rounding * max(1, len(dependence_of) / 3)
    return (
        mean_square(residual, rows.weights, residual_rounding),
        mean_square(joint, rows.weights, whole.rounding),
    )


def _not_of_parts(dependence_of: Mapping[tuple[str, ...], Dependence]) -> Floats:
    """Return the joint curve without what any smaller set of its columns does.

    What a column does is in the curve of every set that holds it, hence the signs.
    """
    n_columns = max(map(len, dependence_of))
    return np.sum(
        [
            (-1) ** (n_columns - len(c)) * curve.own
            for c, curve in dependence_of.items()
        ],
        axis=0,
    )


def pairs_of_trees(
    model: FittedModel,
    data: Dataset,
    groups: Sequence[tuple[str, ...]],
    scale: Scale,
) -> dict[tuple[str, ...], tuple[Floats, Floats]]:
    """Return numerator and denominator of those pairs that the model's trees answer.

    As `h_statistic` on all rows; none if predict is to answer.
    """
    pairs = [columns for columns in groups if len(columns) == 2]
    trees = tree_means(model, data, scale, data.n_samples * len(pairs))
    if trees is None or not pairs:
        return {}
    first = data.X[pairs[0][0]].iloc[:2].array
    if curve_of_trees(trees, model, data, pairs[0][0], first) is None:
        return {}
    rounding = rounding_of(data.n_samples, trees.largest)
    squares = {}
    for pair in pairs:
        if not all(map(trees.reads_as_one, pair)):
            continue
        residual = trees.together(*pair)
        residual -= residual.mean(axis=0)
        joint = residual + trees.alone(pair[0]) + trees.alone(pair[1])
        squares[pair] = (
            mean_square(residual, data.weights, rounding),
            mean_square(joint, data.weights, rounding),
        )
    return squares


def at_rows(
    model: FittedModel, data: Dataset, columns: tuple[str, ...], *, scale: Scale
) -> Dependence:
    """Return the partial dependences on some columns and on all others, in one pass.

    With f(v, x_i) the prediction of row *i* whose `columns` are set as in row *v*, the
    mean over *i* is the one, that over *v* the other. Rows that are set alike are asked
    once; where there are many, the trees of the model may answer.
    """
    X, weights = data.X, data.weights
    first, point = _distinct(X[list(columns)])
    trees = tree_means(model, data, scale, len(first))
    exact = None if trees is None else _of_trees(trees, model, data, columns)
    if exact is not None:
        return exact
    share = np.bincount(point, weights=weights) / weights.sum()
    settings = {name: _values(X[name], first) for name in columns}
    own, others, largest = [], np.zeros(()), np.zeros(())
    predicted = np.full((data.n_samples, len(model.outputs)), np.nan)
    start = 0
    for block in predictions_at(model, X, settings, SCALES[scale]):
        places = slice(start, start + len(block))
        own.append(np.average(block, axis=1, weights=weights))
        others = others + np.tensordot(share[places], block, axes=1)
        largest = np.maximum(largest, np.abs(block).max(axis=(0, 1)))
        here = np.flatnonzero((point >= start) & (point < places.stop))
        predicted[here] = block[point[here] - start, here]
        start = places.stop
    # Three curves and their own means go into one residual: six.
    rounding = rounding_of(data.n_samples, largest)
    return Dependence(np.concatenate(own)[point], others, predicted, rounding)


def _of_trees(
    trees: TreeMeans, model: FittedModel, data: Dataset, columns: tuple[str, ...]
) -> Dependence | None:
    """Return what `at_rows` does as the trees give it.

    None if predict is to answer: the first time, both means of the first row are
    compared with its own.
    """
    own, others = trees.dependences(columns)
    if not trees.are_dependences_compared:
        X, names = data.X, list(columns)
        as_first = np.zeros(data.n_samples, dtype=int)
        set_as_first = X.assign(**{n: _values(X[n], as_first) for n in names})
        first_set = X.iloc[as_first].assign(**{n: X[n].array for n in names})
        predictions = [
            model.predict(rows).reshape(data.n_samples, -1)
            for rows in (set_as_first, first_set)
        ]
        means = np.stack([own[0], others[0]])
        if not agrees(model, data, means, np.stack(predictions)):
            return None
        trees.are_dependences_compared = True
    predicted = model.predict(data.X).reshape(data.n_samples, -1)
    return Dependence(
        own, others, predicted, rounding_of(data.n_samples, trees.largest)
    )


def _distinct(
    X: pd.DataFrame,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return a row of each combination of values, and the combination of each row."""
    codes = np.stack([pd.factorize(X[name])[0] for name in X], axis=1)
    _, first, point = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return first, point.reshape(-1)


def _values(column: pd.Series, places: npt.NDArray[np.int64]) -> Any:
    """Return the values of a column at some places, of its own type."""
    return column.iloc[places].values


def mean_square(values: Floats, weights: Floats, rounding: Floats) -> Floats:
    """Return the weighted variance, (n_outputs,); 0 if only rounding is left."""
    centred = values - np.average(values, axis=0, weights=weights)
    means = np.average(centred**2, axis=0, weights=weights)
    return np.where(np.sqrt(means) <= rounding, 0.0, means)
