"""Part of the prediction that the partial dependence on all other columns misses."""

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ..effects.partial_dependence import Scale, check_scale
from .h_statistic import at_rows, mean_square, ratio
from .sampled_rows import Stream, repeated


def pd_importance(
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
    r"""Return the part of the prediction that the other columns do not explain.

    With :math:`F` the prediction minus its mean, and :math:`F_{-j}` the partial
    dependence on all columns but *j* at the data rows, minus its mean,

    .. math:: I_j = \sqrt{E\,(F - F_{-j})^2},

    the root of the numerator of hstats' ``pd_importance`` [1]_. It contains the effect
    of *j* by itself and its interactions with others; Friedman's H of one column [2]_
    contains the latter only.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for up to ``n_rows**2`` rows per group.
    data : Dataset
        The rows, with their weights. The columns of a group are left out together.
    seed : int
        Selects the random stream.
    stream, n_repeats, n_rows, scale
        As in `h_statistic`.
    standardised : bool, default False
        Divide by the root mean square of :math:`F`. hstats does so by default, for the
        square. NaN where that is 0.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, n_outputs)
        In units of the scale, 1 if standardised.
    baseline : ndarray of shape (n_repeats, n_outputs)
        Zero, which a column that is not read has exactly.

    Raises
    ------
    ValueError
        If `n_rows` is less than 2.
    NotApplicable
        If the model has no such scale, or stream "hstats" has more than one repeat.

    Warnings
    --------
    Joint effects of several columns count for each of them, so the squares add up to
    more than the variance of the prediction. With correlated features, the model
    predicts rows that cannot occur, and the standardised value can exceed 1.

    References
    ----------
    .. [1] Mayer (2024). hstats: Interaction statistics. R package 1.2.2.
    .. [2] Friedman and Popescu (2008). Predictive learning via rule ensembles. Annals
       of Applied Statistics 2(3), 916-954. doi:10.1214/07-AOAS148

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = pd_importance(linear_model(2, 0), normal_data(), seed=1)
    >>> [round(float(value), 9) for value in raw[:, 0, 0]], float(baseline[0, 0])
    ([2.0, 0.0], 0.0)
    """

    def of_rows(rows: Dataset) -> Floats:
        measured = []
        for columns in rows.groups.values():
            explained = at_rows(model, rows, columns, scale=scale)
            missing = explained.predicted - explained.others
            numerator, denominator = (
                np.sqrt(mean_square(values, rows.weights, explained.rounding))
                for values in (missing, explained.predicted)
            )
            measured.append(
                ratio(numerator, denominator) if standardised else numerator
            )
        return np.stack(measured)

    check_scale(model, scale)
    return repeated(of_rows, data, seed, stream, n_repeats, n_rows)
