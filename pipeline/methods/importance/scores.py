"""Slopes of a model's score, for importances such as FIRM.

A slope is taken from the fitted object if its formula reproduces the predictions on the
given rows, otherwise from central differences.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...data.encoding import held
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, listed, quote
from ..effects.shapley_values import Score

# In standard deviations: the error of a central difference decreases with the square of
# the step, rounding errors increase with its inverse.
STEP = 1e-4
OF_FEW_DIGITS = {"float16": 0.1, "float32": 5e-3}
# Relative: the logit of a probability near 1 has few digits; a formula that is not the
# model's differs by far more.
SAME = 1e-6
STEPWISE = (
    "sklearn.tree.",
    "sklearn.ensemble._forest.",
    "sklearn.ensemble._gb.",
    "sklearn.ensemble._hist_gradient_boosting.",
    "sklearn.ensemble._weight_boosting.",
    "sklearn.neighbors.",
    "xgboost.",
    "lightgbm.",
    "catboost.",
)


def weighing(data: Dataset) -> tuple[pd.DataFrame, Floats]:
    """Return the rows of positive weight, and their shares of the weight."""
    weighs = data.weights > 0
    X = data.X if weighs.all() else data.X.loc[weighs]
    return X, data.weights[weighs] / data.weights[weighs].sum()


def is_number(column: pd.Series) -> bool:
    """Return whether a column is numeric and not boolean."""
    kind = column.dtype
    is_numeric = pd.api.types.is_numeric_dtype(kind)
    return bool(is_numeric and not pd.api.types.is_bool_dtype(kind))


def numbers_of(X: pd.DataFrame, columns: Sequence[str]) -> Floats | None:
    """Return columns as (n_samples, n_columns), None unless all are complete numbers.

    A column with a missing value is not complete.
    """
    if not all(is_number(X[name]) for name in columns):
        return None
    parts = [X[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in columns]
    matrix = np.stack(parts, axis=1) if parts else np.empty((len(X), 0))
    return None if np.isnan(matrix).any() else matrix


def numbers_read(
    model: FittedModel, X: pd.DataFrame, what: str, instead: str
) -> Floats:
    """Return the columns a model reads as `numbers_of` does; refuse other columns."""
    matrix = numbers_of(X, model.features)
    if matrix is None:
        others = [name for name in model.features if numbers_of(X, [name]) is None]
        raise NotApplicable(
            f"Model {quote(model.name)} must read complete columns of numbers for "
            f"{what}; these are not: {listed(others)}. Use {instead}."
        )
    return matrix


def linear_slopes(model: FittedModel, X: pd.DataFrame, scores: Floats) -> Floats | None:
    """Return the weights of a linear score, (n_model_features, n_outputs), or None.

    They are the estimator's ``coef_``, if these reproduce the `scores` of the rows `X`
    up to a constant.
    """
    coefficients = getattr(model.estimator, "coef_", None)
    matrix = numbers_of(X, model.features)
    if coefficients is None or matrix is None:
        return None
    weights = np.atleast_2d(np.asarray(coefficients, dtype=np.float64)).T
    if weights.shape != (matrix.shape[1], scores.shape[1]):
        return None
    return weights if _differ_by_a_constant(scores, matrix @ weights) else None


def _differ_by_a_constant(one: Floats, other: Floats) -> bool:
    """Return whether two arrays differ by a constant in each column."""
    size = np.abs(one).max() + np.abs(other).max()
    return bool((np.ptp(one - other, axis=0) <= SAME * size).all())


def slopes(
    model: FittedModel,
    score: Score,
    data: Dataset,
    *,
    at: pd.DataFrame,
    columns: Sequence[str],
) -> Iterator[Floats]:
    """Yield the derivative of the score by each column, (len(at), n_outputs).

    It is computed by the formula of a linear or a Gaussian-kernel estimator if this
    reproduces the predictions; otherwise by central differences, with a step of 1e-4
    standard deviations, or more in a column of fewer digits.

    Parameters
    ----------
    model : FittedModel
    score : callable
        As returned by `score_of`.
    data : Dataset
        Rows on which formulas are checked, and whose spread gives the step.
    at : DataFrame
        The points, with the columns of ``data.X``.
    columns : sequence of str
        Numeric, without a missing value. Columns the model does not read have slope 0.

    Raises
    ------
    NotApplicable
        If the estimator is a step function: trees and neighbours.
    """
    _refuse_steps(model)
    by_formula = _slopes_by_formula(model, score, data.X, at)
    for name in columns:
        if name not in model.features:
            yield np.zeros((len(at), len(model.outputs)))
        elif by_formula is not None:
            yield by_formula[:, list(model.features).index(name)]
        else:
            yield _central_difference(score, data, at, name)


def _refuse_steps(model: FittedModel) -> None:
    """Refuse an estimator that is a step function, with slope 0 almost everywhere."""
    steps = getattr(model.estimator, "steps", None)
    last = steps[-1][1] if steps else model.estimator
    lineage = (f"{kind.__module__}." for kind in type(last).__mro__)
    if any(name.startswith(STEPWISE) for name in lineage):
        raise NotApplicable(
            f"Model {quote(model.name)} must have a score with slopes; a "
            f"{type(last).__name__} predicts in steps. Use FIRM with estimator 'auto'."
        )


def _slopes_by_formula(
    model: FittedModel, score: Score, X: pd.DataFrame, at: pd.DataFrame
) -> Floats | None:
    """Return slopes by a formula, (len(at), n_model_features, n_outputs), or None."""
    matrix, points = numbers_of(X, model.features), numbers_of(at, model.features)
    if matrix is None or points is None or model.estimator is None:
        return None
    scores = score(X)
    weights = linear_slopes(model, X, scores)
    if weights is not None:
        return np.broadcast_to(weights, (len(at), *weights.shape))
    expansion = _gaussian_kernel(model.estimator, matrix.shape[1])
    if expansion is None or scores.shape[1] != 1:
        return None
    centres, weight, gamma = expansion
    if not _differ_by_a_constant(scores, _kernel(matrix, centres, gamma) @ weight):
        return None
    # d/dx exp(-gamma |x - c|^2) = -2 gamma (x - c) k
    alpha = weight[:, 0] * _kernel(points, centres, gamma)
    slope = -2 * gamma * (alpha.sum(axis=1)[:, np.newaxis] * points - alpha @ centres)
    return slope[:, :, np.newaxis]


def _gaussian_kernel(estimator: Any, p: int) -> tuple[Floats, Floats, float] | None:
    """Return centres, their signed weights (n_centres, 1) and gamma, or None."""
    centres = getattr(estimator, "support_vectors_", getattr(estimator, "X_fit_", None))
    weights = getattr(estimator, "dual_coef_", None)
    if getattr(estimator, "kernel", "") != "rbf" or centres is None or weights is None:
        return None
    if centres.shape[1:] != (p,) or np.size(weights) != len(centres):
        return None
    given_gamma = 1 / p if estimator.gamma is None else estimator.gamma
    gamma = float(
        getattr(estimator, "_gamma", 0) if isinstance(given_gamma, str) else given_gamma
    )
    return np.asarray(centres), np.reshape(weights, (-1, 1)), gamma


def _kernel(points: Floats, centres: Floats, gamma: float) -> Floats:
    """Return exp(-gamma |x - c|^2), (n_points, n_centres)."""
    from scipy.spatial.distance import cdist

    return np.asarray(np.exp(-gamma * cdist(points, centres, "sqeuclidean")))


def _central_difference(
    score: Score, data: Dataset, at: pd.DataFrame, name: str
) -> Floats:
    """Return the difference quotient in one column, (len(at), n_outputs)."""
    kind, x = data.types.get(name), at[name].to_numpy(dtype=np.float64)
    share = OF_FEW_DIGITS.get(str(kind and kind.dtype).lower(), STEP)
    step = share * (data.X[name].to_numpy(dtype=np.float64).std() or 1.0)
    above = below = x
    while (above == below).any():  # the column may hold no numbers so close
        above, below = held(x + step, kind), held(x - step, kind)
        step *= 2
    doubled = at.take(np.tile(np.arange(len(at)), 2))
    doubled[name] = np.concatenate([above, below])
    up, down = np.split(score(doubled), 2)
    return np.asarray((up - down) / (above - below)[:, np.newaxis])
