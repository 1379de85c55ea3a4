"""Mean distance of a model's curve from its zero, after Parr, Wilson and Hamrick."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import single_columns
from ...records.value_rules import Range
from ..effects import EFFECTS
from ..effects.partial_dependence import Scale
from ..spreads import mean_magnitude

Curve = Literal[
    "partial_dependence",
    "ale",
    "conditional_profile",
    "accumulated_profile",
    "shapley",
]
Grid = Literal["quantile", "unique"]
Curves: TypeAlias = Mapping[str, tuple[Any, Floats]]


def curve_impact(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    curve: Curve = "partial_dependence",
    grid: Grid = "quantile",
    n_grid: Annotated[int, Range(least=2)] = 51,
    scale: Scale = "native",
    centred: bool = False,
    curves: Curves | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the mean absolute effect of each feature, on average over its values.

    With :math:`\mathrm{PD}_j` a curve of the model and :math:`U_j` the values of the
    rows, the impact [1]_ of a number and of a category are

    .. math::
        I_j = \frac{1}{|U_j|} \sum_{z \in U_j} |\mathrm{PD}_j(z) - \mathrm{PD}_j(z_0)|,
        \qquad
        I_j = \frac{1}{|U_j|} \sum_{z \in U_j}
              |\mathrm{PD}_j(z) - \overline{\mathrm{PD}}_j|.

    The zero of a number is the curve at its left-most value :math:`z_0`, that of a
    category the mean over its levels, so that no level is the reference.
    `stratified_impact` is the same measure of the data.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called.
    data : Dataset
        The rows of the curve, with their weights; ``data.groups`` names the features,
        one column each. Values and levels are those of rows with a weight.
    seed : int
        Not used: nothing is drawn.
    curve : str, default "partial_dependence"
        The curve of the model: "partial_dependence", "ale", "conditional_profile",
        "accumulated_profile" or "shapley".
    grid : {"quantile", "unique"}, default "quantile"
        The points at which a numeric feature is evaluated, with linear interpolation
        between them. "unique", every value, is the exact definition but needs more
        predictions.
    n_grid : int, default 51
        Number of points of "quantile".
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    centred : bool, default False
        Whether the curve of a numeric feature is also measured from its mean, so that
        no value is the reference.
    curves : mapping of str to (grid, values), optional
        Curves already computed with these options, by feature; others are computed.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, n_outputs)
        The impact in units of the scale; NaN for a column with one value.
    baseline : ndarray of shape (1, n_outputs)
        Zero, the impact of a flat curve, which an ignored feature has.

    Raises
    ------
    NotApplicable
        If a group has several columns, or the model no such scale or curve: "shapley"
        needs all coalitions of at most 12 columns.

    Warnings
    --------
    Opposite effects in two halves of the rows cancel in the curve. The left-most value
    of a number is its zero, however few rows have it. With dependent features,
    "partial_dependence" and "shapley" predict rows that cannot occur, "ale" and
    "accumulated_profile" depend on the order of the levels, and "conditional_profile"
    contains effects of correlated features.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = curve_impact(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, bool((raw[1] == baseline).all())
    ((2, 1, 1), True)
    """
    options = {"seed": seed, "grid": grid, "n_grid": n_grid, "scale": scale}
    return _magnitudes(
        model, data, curve, options, curves, centred=centred, by_rows=False
    )


def curve_importance(
    model: FittedModel,
    data: Dataset,
    *,
    seed: int,
    curve: Curve = "partial_dependence",
    grid: Grid = "quantile",
    n_grid: Annotated[int, Range(least=2)] = 51,
    scale: Scale = "native",
    centred: bool = False,
    curves: Curves | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the mean absolute effect of each feature, on average over the rows.

    As `curve_impact`, with each value counted as often as it occurs [1]_: with
    :math:`n_z` the weight of the rows at :math:`z`,

    .. math::
        I_j = \sum_z n_z\, |\mathrm{PD}_j(z) - \mathrm{PD}_j(z_0)| \Big/ \sum_z n_z,

    for a category :math:`|\mathrm{PD}_j(z) - \overline{\mathrm{PD}}_j|`, whose mean
    over the levels is not weighted. For an additive model, centred and evaluated at
    every value, it is the mean absolute Shapley value.

    Parameters
    ----------
    model : FittedModel
        Its ``predict(X)`` is called.
    data : Dataset
        As in `curve_impact`.
    seed : int
        Not used: nothing is drawn.
    curve : str, default "partial_dependence"
        The curve of the model: "partial_dependence", "ale", "conditional_profile",
        "accumulated_profile" or "shapley".
    grid : {"quantile", "unique"}, default "quantile"
        The points at which a numeric feature is evaluated, with linear interpolation
        between them. "unique", every value, is the exact definition but needs more
        predictions.
    n_grid : int, default 51
        Number of points of "quantile".
    scale : {"native", "link", "centred_logit"}, default "native"
        As in `effects.partial_dependence`.
    centred : bool, default False
        Whether curves are measured from their mean over the rows.
    curves : mapping of str to (grid, values), optional
        As in `curve_impact`.

    Returns
    -------
    raw : ndarray of shape (n_groups, 1, n_outputs)
        The importance in units of the scale; NaN for a column with one value.
    baseline : ndarray of shape (1, n_outputs)
        Zero, the importance of a flat curve, which an ignored feature has.

    Raises
    ------
    NotApplicable
        As `curve_impact`.

    Warnings
    --------
    As `curve_impact`.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import linear_model, normal_data
    >>> raw, baseline = curve_importance(linear_model(2, 0), normal_data(), seed=1)
    >>> raw.shape, bool((raw[1] == baseline).all())
    ((2, 1, 1), True)
    """
    options = {"seed": seed, "grid": grid, "n_grid": n_grid, "scale": scale}
    return _magnitudes(
        model, data, curve, options, curves, centred=centred, by_rows=True
    )


def _magnitudes(
    model: FittedModel,
    data: Dataset,
    curve: Curve,
    options: Mapping[str, Any],
    curves: Curves | None,
    *,
    centred: bool,
    by_rows: bool,
) -> tuple[Floats, Floats]:
    """Return the mean magnitude of each curve, over its values or over the rows."""
    magnitudes = []
    for feature in single_columns(data.groups, "a curve"):
        weights = pd.Series(data.weights, index=data.X.index)[data.weights > 0]
        of_rows = data.X[feature][data.weights > 0]
        # pandas 1.5 sorts observed levels by the row in which each comes first.
        counts = weights.groupby(of_rows, observed=True).sum().sort_index()
        if len(counts) < 2:
            magnitudes.append(np.full(len(model.outputs), np.nan))
            continue
        points, values = (curves or {}).get(feature) or EFFECTS[curve].function(
            model, data, feature, **options
        )
        if is_category(data.X[feature]):
            values = values[np.isin(points, counts.index)]
        else:
            at = counts.index.to_numpy(dtype=np.float64)
            lines = [np.interp(at, points, output) for output in values.T]
            values = np.stack(lines, axis=1)
        if len(values) < 2:
            magnitudes.append(np.full(values.shape[1:], np.nan))
            continue
        magnitude = mean_magnitude(
            values - values[0],  # a flat curve measures exactly 0
            is_category=is_category(data.X[feature]),
            weights=counts.to_numpy() if by_rows else None,
            centred=centred,
        )
        magnitudes.append(magnitude)
    raw = np.stack(magnitudes)[:, np.newaxis, :]
    return raw, np.zeros(raw.shape[1:])
