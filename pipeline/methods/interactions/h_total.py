"""Friedman's H of a whole model: the part of the prediction that is not a sum."""

from collections.abc import Mapping

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import quote
from ..effects.partial_dependence import Scale, check_scale
from .drawn import Stream, draw_rows
from .h_statistic import Dependence, at_rows, mean_square


def h_total(
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
    r"""Return how much of the prediction is not the sum of the features' curves.

    With :math:`F` the prediction minus its mean over the rows, :math:`F_j` the partial
    dependence on *j* at the rows minus its mean, and all means weighted by the row
    weights [1]_,

    .. math::
        H^2 = \frac{\sum_i w_i \bigl(F - \sum_j F_j\bigr)^2(x_i)}
                   {\sum_i w_i F^2(x_i)}.

    Asked of all columns, it is the share of the prediction's variance that no curve of
    a single column shows.

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)`` of up to ``n_rows**2`` rows per feature.
    data : Dataset
        The rows, which are averaged over and at which the averages are compared.
    features : tuple of str
        Columns, each once. What others do by themselves counts as not shown.
    seed, stream, curves, n_rows, scale
        As in `h_statistic`.

    Returns
    -------
    numerator : ndarray of shape (n_outputs,)
        The mean square of what is not a sum, in squared units of the scale; 0 if it is
        not larger than the rounding of the means it is the difference of.
    denominator : ndarray of shape (n_outputs,)
        The mean square of the prediction; 0 likewise. The ratio is H squared.

    Raises
    ------
    ValueError
        If `n_rows` is less than 2, or `features` are none or name a column twice.
    NotApplicable
        If the model has no such scale.

    Warnings
    --------
    Where features are correlated, the model is asked about rows that cannot occur, and
    their sum may miss the prediction by more than that varies: it can exceed 1.

    References
    ----------
    .. [1] Friedman and Popescu (2008). Predictive learning via rule ensembles. Annals
       of Applied Statistics 2(3), 916-954. doi:10.1214/07-AOAS148

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> numerator, denominator = h_total(
    ...     linear_model(2, 1), normal_data(), ("x1", "x2"), seed=1
    ... )
    >>> float(numerator[0]), float(round(denominator[0], 9))
    (0.0, 5.0)
    """
    check_scale(model, scale)
    if not 1 <= len(set(features)) == len(features):
        raise ValueError(
            f"features must be columns, each once; {quote(features)} was given."
        )
    rows = draw_rows(data, n_rows, seed=seed, stream=stream)
    curve_of = curves or {}
    single = [
        curve_of.get(name) or at_rows(model, rows, (name,), scale=scale)
        for name in features
    ]
    predicted = single[0].predicted
    parts = np.sum([curve.own for curve in single], axis=0)
    rounding = np.max([curve.rounding for curve in single], axis=0)
    # The rounding is that of a residual of three curves.
    residual_rounding = rounding * max(1, (len(single) + 1) / 3)
    return (
        mean_square(predicted - parts, rows.weights, residual_rounding),
        mean_square(predicted, rows.weights, rounding),
    )
