"""How far the partial dependence of a feature is from flat. Not: the curve itself."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from pipeline.effects import partial_dependence as effect
from pipeline.effects.partial_dependence import Grid, Scale
from pipeline.errors import NotApplicable, listed
from pipeline.records import Dataset, FittedModel, Floats
from pipeline.spreads import SPREADS


def partial_dependence(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    curves: Mapping[str, tuple[Any, Floats]] | None = None,
    grid: Grid = "even",
    n_grid: int = 51,
    scale: Scale = "native",
    categorical_spread: Literal["quarter_range", "range"] = "quarter_range",
) -> tuple[Floats, Floats]:
    r"""Return the spread of each feature's partial dependence.

    With :math:`\mathrm{PD}_j` the curve of `effects.partial_dependence` at the grid
    points :math:`v_1, \dots, v_K` [1]_,

    .. math::
        I_j = \sqrt{\frac{1}{K-1} \sum_k
              \Bigl(\mathrm{PD}_j(v_k) - \overline{\mathrm{PD}}_j\Bigr)^2}
        \quad\text{for numbers,}\qquad
        I_j = \tfrac14 \Bigl(\max_k \mathrm{PD}_j(v_k) -
              \min_k \mathrm{PD}_j(v_k)\Bigr)
        \quad\text{for categories.}

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)``, unless `curves` answers.
    data : Dataset
        The rows averaged over; ``data.groups`` names the features, one column each.
    seed : int
        Not used: nothing is drawn.
    curves : mapping of str to (grid, values), optional
        Curves already measured with the same options, used as they are; a feature
        without one is asked.
    grid, n_grid, scale
        As in `effects.partial_dependence`. The grid decides the number: a feature
        with a far-off value is asked there as often as where its rows lie.
    categorical_spread : {"quarter_range", "range"}, default "quarter_range"
        A quarter of the range, as in ``vip::vi_firm``, or the range itself, as in the
        first text of the paper (2017).

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, n_outputs)
        The spread, in units of the scale; NaN for a number asked at one point only,
        and for a category with a level that `model` cannot predict: the spread over
        the other levels would be another quantity.
    baseline : ndarray of shape (1, n_outputs)
        Zero, the spread of a flat curve: what an ignored feature measures.

    Raises
    ------
    NotApplicable
        If a group has several columns, or the model no such scale.

    Warnings
    --------
    Measures main effects only: a feature that acts through an interaction alone may
    measure zero. Every grid point counts the same, however few rows lie near it.

    References
    ----------
    .. [1] Greenwell, Boehmke and McCarthy (2018). A simple and effective model-based
       variable importance measure. arXiv:1805.04755.
       doi:10.48550/arXiv.1805.04755

    Examples
    --------
    >>> from pipeline.known_answers import linear_model, normal_data
    >>> raw, baseline = partial_dependence(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, bool((raw[1] == baseline).all())
    ((2, 1, 1), True)
    """
    known = curves or {}
    spreads = []
    for group, columns in data.groups.items():
        feature = _only_column(group, columns)
        _, values = known.get(feature) or effect.partial_dependence(
            model, data, feature, seed=seed, grid=grid, n_grid=n_grid, scale=scale
        )
        is_category = isinstance(data.X[feature].dtype, pd.CategoricalDtype)
        spread = categorical_spread if is_category else "standard_deviation"
        spreads.append(SPREADS[spread](values))
    raw = np.stack(spreads)[:, np.newaxis, :]
    return raw, np.zeros(raw.shape[1:])


def _only_column(group: str, columns: tuple[str, ...]) -> str:
    """Return the column of a group of one."""
    if len(columns) != 1:
        raise NotApplicable(
            f"Group {group!r} must have one column for method 'partial_dependence', "
            f"but it has {len(columns)}: {listed(columns)}. Ask for its columns one "
            "by one."
        )
    return columns[0]
