"""Friedman's H: the part of a joint partial dependence that is not a sum."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, listed, quote
from ..effects.partial_dependence import (
    SCALES,
    Scale,
    check_scale,
    curve_of_trees,
    rounding_of,
)
from ..effects.predictions_at import predictions_at
from ..trees.mean_predictions import TreeMeans, tree_means
from .sampled_rows import Stream, repeated

Columns = tuple[str, ...]


class Dependence(NamedTuple):
    """The partial dependences on some columns and on all others, at the data rows.

    Attributes
    ----------
    own, others : ndarray of shape (n_samples, n_outputs)
        Not centred.
    predicted : ndarray of shape (n_samples, n_outputs)
        The prediction of each row.
    rounding : ndarray of shape (n_outputs,)
        Bound on the rounding error of a sum of such means.
    """

    own: Floats
    others: Floats
    predicted: Floats
    rounding: Floats


def h_statistic(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Stream = "numpy",
    n_repeats: int = 1,
    n_rows: int | None = 500,
    scale: Scale = "native",
    standardised: bool = False,
) -> tuple[Floats, Floats]:
    r"""Return the part of the prediction that is due to interactions.

    With :math:`F_S` the partial dependence on the columns *S* at the data rows, minus
    its mean over them, :math:`F` the prediction minus its mean, and all means weighted
    by the row weights, the value of a pair is the root mean square of the part of its
    joint curve that is not a sum of its two curves, that of one column the same for the
    column and all others, and that of three columns the root mean square of the part
    that no two of them explain [1]_,

    .. math::
        I_{jk} = \sqrt{E\,(F_{jk} - F_j - F_k)^2}, \qquad
        I_j = \sqrt{E\,(F - F_j - F_{-j})^2},

    .. math::
        I_{jkl} = \sqrt{E\,(F_{jkl} - F_{jk} - F_{jl} - F_{kl} + F_j + F_k + F_l)^2},

    the roots of the numerators of Friedman's H squared. Its denominators are
    :math:`E\,F_{jk}^2`, :math:`E\,F^2` and :math:`E\,F_{jkl}^2`.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for up to ``n_rows**2`` rows per pair and per
        column, or its trees are used; see `trees.mean_predictions` and
        `effects.predictions_at`.
    data : Dataset
        The rows that are averaged over, and at which the averages are evaluated; each
        group is one column, a pair or three.
    seed : int
        Selects the random stream.
    stream : {"numpy", "hstats"}, default "numpy"
        Draw order of the rows; "hstats" replays ``set.seed(seed); hstats(...)`` of R
        and has one repeat.
    n_repeats : int, default 1
        Number of samples of rows; if all rows are used, all repeats are equal.
    n_rows : int or None, default 500
        Rows of one repeat, sampled without replacement if there are more; None: all.
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    standardised : bool, default False
        Divide by the root mean square of the joint curve, or of :math:`F` for one
        column: Friedman's H. NaN where that is 0.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, n_outputs)
        In units of the scale, 1 if standardised; 0 if it does not exceed the rounding
        error of the means it is the difference of.
    baseline : ndarray of shape (n_repeats, n_outputs)
        Zero, which a column without interactions has exactly.

    Raises
    ------
    ValueError
        If `n_rows` is less than 2.
    NotApplicable
        If a group has more than three columns, or the model no such scale.

    Warnings
    --------
    Standardised, the largest values can be noise: features that hardly matter have a
    small divisor. With correlated features, the model predicts rows that cannot occur,
    and the standardised value can exceed 1.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Annals
       of Applied Statistics 2(3), 916-954. doi:10.1214/07-AOAS148

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = h_statistic(linear_model(2, 1), normal_data(), seed=1)
    >>> raw.shape, bool((raw == baseline).all())
    ((2, 1, 1), True)
    """
    groups = columns_of(data, (1, 2, 3), "h_statistic")
    check_scale(model, scale)

    def of_rows(rows: Dataset) -> Floats:
        squares_of = pairs_of_trees(model, rows, groups, scale)
        once = lru_cache(maxsize=2048)  # a curve of 500 rows and 3 outputs has 36 kB
        dependence_on = once(partial(at_rows, model, rows, scale=scale))
        values = []
        for columns in groups:
            squares = squares_of.get(columns) or h_squared(
                columns, dependence_on, rows.weights
            )
            numerator, denominator = np.sqrt(squares)
            values.append(ratio(numerator, denominator) if standardised else numerator)
        return np.stack(values)

    return repeated(of_rows, data, seed, stream, n_repeats, n_rows)


def h_squared(
    columns: Columns, dependence_on: Callable[[Columns], Dependence], weights: Floats
) -> tuple[Floats, Floats]:
    """Return numerator and denominator of Friedman's H squared, each (n_outputs,).

    They are mean squares, 0 where only rounding is left. The curve of a set of columns
    contains the effects of its subsets, hence the signs.
    """
    subsets = [
        subset
        for size in range(1, len(columns) + 1)
        for subset in combinations(columns, size)
    ]
    curves = [dependence_on(subset) for subset in subsets]
    whole = curves[-1]
    if len(columns) == 1:
        joint, residual = whole.predicted, whole.predicted - whole.own - whole.others
    else:
        signs = [(-1) ** (len(columns) - len(subset)) for subset in subsets]
        parts = [sign * curve.own for sign, curve in zip(signs, curves, strict=True)]
        joint, residual = whole.own, np.sum(parts, axis=0)
    # The rounding is that of a residual of three curves.
    residual_rounding = whole.rounding * max(1, len(curves) / 3)
    return (
        mean_square(residual, weights, residual_rounding),
        mean_square(joint, weights, whole.rounding),
    )


def pairs_of_trees(
    model: FittedModel,
    data: Dataset,
    groups: Sequence[Columns],
    scale: Scale,
) -> dict[Columns, tuple[Floats, Floats]]:
    """Return numerator and denominator of the pairs that the model's trees can compute.

    They are those of `h_squared` on all rows; empty if predict is to be used.
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
    model: FittedModel, data: Dataset, columns: Columns, *, scale: Scale
) -> Dependence:
    """Return the partial dependences on some columns and on all others, in one pass.

    With f(v, x_i) the prediction of row *i* whose `columns` are set as in row *v*, the
    mean over *i* is the first, that over *v* the second. Rows with equal `columns` are
    predicted once; if there are many, the trees of the model may be used.
    """
    X, weights = data.X, data.weights
    codes = np.stack([pd.factorize(X[name])[0] for name in columns], axis=1)
    _, first, point = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    point = point.reshape(-1)  # numpy 2.0 returns a column
    trees = tree_means(model, data, scale, len(first))
    exact = None if trees is None else _of_trees(trees, model, data, columns)
    if exact is not None:
        return exact
    share = np.bincount(point, weights=weights) / weights.sum()
    settings = {name: X[name].iloc[first].values for name in columns}
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
    trees: TreeMeans, model: FittedModel, data: Dataset, columns: Columns
) -> Dependence | None:
    """Return the result of `at_rows` from the trees.

    None if predict is to be used. The first result is compared with predict, by both
    means of the first row.
    """
    own, others = trees.dependences(columns)

    def of_first_row() -> Floats:
        X, as_first = data.X, np.zeros(data.n_samples, dtype=int)
        set_as_first = X.assign(**{n: X[n].iloc[as_first].values for n in columns})
        first_set = X.iloc[as_first].assign(**{n: X[n].array for n in columns})
        both = map(model.predict, (set_as_first, first_set))
        return np.stack([each.reshape(data.n_samples, -1) for each in both])

    means = np.stack([own[0], others[0]])
    if not trees.accepts("dependences", means, of_first_row):
        return None
    predicted = model.predict(data.X).reshape(data.n_samples, -1)
    return Dependence(
        own, others, predicted, rounding_of(data.n_samples, trees.largest)
    )


def mean_square(values: Floats, weights: Floats, rounding: Floats) -> Floats:
    """Return the weighted variance, (n_outputs,); 0 if only rounding is left."""
    centred = values - np.average(values, axis=0, weights=weights)
    means = np.average(centred**2, axis=0, weights=weights)
    return np.where(np.sqrt(means) <= rounding, 0.0, means)


def columns_of(data: Dataset, sizes: tuple[int, ...], method: str) -> list[Columns]:
    """Return the columns of each group; refuse groups of another size."""
    for group, columns in data.groups.items():
        if len(columns) not in sizes:
            rule = "two columns" if sizes == (2,) else "one to three columns"
            raise NotApplicable(
                f"Group {quote(group)} must have {rule} for method {method!r}; it has "
                f'{len(columns)}: {listed(columns)}. Ask of = "pairs".'
            )
    return list(data.groups.values())


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return a ratio, NaN where the denominator is 0."""
    unknown = np.full_like(denominator, np.nan)
    return np.divide(numerator, denominator, out=unknown, where=denominator > 0)
