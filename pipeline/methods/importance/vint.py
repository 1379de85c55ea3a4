"""Greenwell's interaction measure: how one feature's importance varies with another."""

from typing import Literal

import numpy as np

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ..effects.partial_dependence import Grid, Scale, check_scale, grid_of, rounding_of
from ..effects.surface import joint_dependence
from ..spreads import SPREADS, standard_deviation
from .h_statistic import columns_of, ratio
from .sampled_rows import Stream, repeated


def vint(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    stream: Stream = "numpy",
    n_repeats: int = 1,
    n_rows: int | None = 500,
    grid: Grid = "even",
    n_grid: int = 20,
    scale: Scale = "native",
    categorical_spread: Literal["quarter_range", "range"] = "quarter_range",
    standardised: bool = False,
) -> tuple[Floats, Floats]:
    r"""Return the variation of each feature's importance with the other of a pair.

    With :math:`\mathrm{PD}(a, b)` the joint partial dependence on a grid of values of
    both features, and :math:`\mathrm{imp}(a \mid b)` the spread of its curve over *a*
    at one *b*, as in `importance.partial_dependence` [1]_,

    .. math::
        I = \tfrac12 \Bigl(\mathrm{SD}_b\bigl[\mathrm{imp}(a \mid b)\bigr] +
            \mathrm{SD}_a\bigl[\mathrm{imp}(b \mid a)\bigr] \Bigr),

    each SD a sample standard deviation over the grid.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called for the rows at every point of the joint grid.
    data : Dataset
        The rows averaged over, with their weights; each group is a pair of columns.
    seed, stream, n_repeats, n_rows, scale
        As in `h_statistic`. The grid is that of all rows.
    grid, n_grid, categorical_spread
        As in `effects.partial_dependence`, with at most `n_grid` points for each of the
        two features.
    standardised : bool, default False
        Divide by the standard deviation of the joint curve. NaN where that is 0.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, n_outputs)
        In units of the scale, 1 if standardised; 0 if it does not exceed the rounding
        error of the means it is computed from, NaN for a feature of one value, or with
        a level that `model` cannot predict.
    baseline : ndarray of shape (n_repeats, n_outputs)
        Zero, which two additive features have exactly.

    Raises
    ------
    ValueError
        If `n_rows` is less than 2.
    NotApplicable
        If a group is not a pair, the model has no such scale, or a column no value.

    Warnings
    --------
    It detects that curves differ in size, not in shape: 0 for an interaction that
    leaves every conditional spread unchanged, such as the product of two signs. Every
    grid point has equal weight, however few rows lie near it.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A simple and effective model-based
       variable importance measure, section 3.2. arXiv:1805.04755.
       doi:10.48550/arXiv.1805.04755

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> data = normal_data().with_groups({"x1:x2": ("x1", "x2")})
    >>> raw, baseline = vint(linear_model(2, 1), data, seed=1)
    >>> raw.shape, bool((raw == baseline).all())
    ((1, 1, 1), True)
    """
    pairs = columns_of(data, (2,), "vint")
    check_scale(model, scale)

    def of_rows(rows: Dataset) -> Floats:
        values = []
        for pair in pairs:
            points = tuple(grid_of(data, f, grid=grid, n_grid=n_grid) for f in pair)
            surface = joint_dependence(model, data.X, rows, pair, points, scale)
            spread_of_first, spread_of_second = (
                SPREADS[
                    categorical_spread
                    if is_category(data.X[feature])
                    else "standard_deviation"
                ]
                for feature in pair
            )
            by_second = [spread_of_first(curve) for curve in surface.swapaxes(0, 1)]
            by_first = [spread_of_second(curve) for curve in surface]
            varies = (
                standard_deviation(np.stack(by_second))
                + standard_deviation(np.stack(by_first))
            ) / 2
            rounding = rounding_of(rows.n_samples, np.abs(surface).max(axis=(0, 1)))
            varies = np.where(varies <= rounding, 0.0, varies)
            if standardised:
                joint = standard_deviation(surface.reshape(-1, surface.shape[2]))
                varies = ratio(varies, joint)
            values.append(varies)
        return np.stack(values)

    return repeated(of_rows, data, seed, stream, n_repeats, n_rows)
