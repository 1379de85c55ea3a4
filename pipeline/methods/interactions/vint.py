"""Greenwell's interaction measure: how one feature's importance varies with another."""

from typing import Literal

import numpy as np
import pandas as pd

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import quote
from ..effects.partial_dependence import Grid, Scale, check_scale, grid_of, rounding_of
from ..effects.surface import joint_dependence
from ..spreads import SPREADS, standard_deviation
from .drawn import Stream, draw_rows


def vint(
    model: FittedModel,
    data: Dataset,
    features: tuple[str, ...],
    *,
    seed: int,
    stream: Stream = "numpy",
    rows: Dataset | None = None,
    n_rows: int | None = 500,
    grid: Grid = "even",
    n_grid: int = 20,
    scale: Scale = "native",
    categorical_spread: Literal["quarter_range", "range"] = "quarter_range",
) -> tuple[Floats, Floats]:
    r"""Return how far the importance of each of two features varies with the other.

    With :math:`\mathrm{PD}(a, b)` the joint partial dependence on a grid of values of
    both features, and :math:`\mathrm{imp}(a \mid b)` the spread of its curve over *a*
    at one *b*, as in `importance.partial_dependence` [1]_,

    .. math::
        \mathrm{vint} = \tfrac12 \Bigl(
            \mathrm{SD}_b\bigl[\mathrm{imp}(a \mid b)\bigr] +
            \mathrm{SD}_a\bigl[\mathrm{imp}(b \mid a)\bigr] \Bigr),

    each SD a sample standard deviation over the grid.

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)`` of the rows at every point of the joint grid.
    data : Dataset
        The rows averaged over, with their weights; all of them define the grid.
    features : tuple of str
        Two columns.
    seed : int
        Names the stream.
    stream : {"numpy", "hstats"}, default "numpy"
        Draw order of the rows.
    rows : Dataset, optional
        Rows of `data` drawn already.
    n_rows : int or None, default 500
        Rows drawn without replacement where there are more; None: all.
    grid, scale
        As in `effects.partial_dependence`.
    n_grid : int, default 20
        Number of points per feature; 51 in vip, which had this measure until 0.3.2.
    categorical_spread : {"quarter_range", "range"}, default "quarter_range"
        As in `importance.partial_dependence`.

    Returns
    -------
    numerator : ndarray of shape (n_outputs,)
        The measure, in units of the scale; 0 if it is not larger than the rounding of
        the means it is taken from, NaN if a feature has one value only, or a level
        that `model` cannot predict.
    denominator : ndarray of shape (n_outputs,)
        The sample standard deviation of the joint curve over its grid.

    Raises
    ------
    ValueError
        If `n_rows` is less than 2, or `features` are not two columns.
    NotApplicable
        If the model has no such scale, or a column no value.

    Warnings
    --------
    Detects that curves differ in size, not in shape: 0 for an interaction that leaves
    every conditional spread as it is, such as the product of two signs. Every grid
    point counts the same, however few rows lie near it.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A simple and effective model-based
       variable importance measure, section 3.2. arXiv:1805.04755.
       doi:10.48550/arXiv.1805.04755

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> numerator, _ = vint(linear_model(2, 1), normal_data(), ("x1", "x2"), seed=1)
    >>> float(numerator[0])
    0.0
    """
    check_scale(model, scale)
    if len(set(features)) != 2 or len(features) != 2:
        raise ValueError(f"features must be two columns; {quote(features)} was given.")
    points = tuple(grid_of(data.X[f], grid=grid, n_grid=n_grid) for f in features)
    if rows is None:
        rows = draw_rows(data, n_rows, seed=seed, stream=stream)
    surface = joint_dependence(model, data.X, rows, features, points, scale)
    spreads = [
        SPREADS[
            categorical_spread
            if isinstance(data.X[feature].dtype, pd.CategoricalDtype)
            else "standard_deviation"
        ]
        for feature in features
    ]
    over_first = np.stack([spreads[0](curve) for curve in surface.swapaxes(0, 1)])
    over_second = np.stack([spreads[1](curve) for curve in surface])
    varies = (standard_deviation(over_first) + standard_deviation(over_second)) / 2
    rounding = rounding_of(rows.n_samples, np.abs(surface).max(axis=(0, 1)))
    varies = np.where(varies <= rounding, 0.0, varies)
    return varies, standard_deviation(surface.reshape(-1, surface.shape[2]))
