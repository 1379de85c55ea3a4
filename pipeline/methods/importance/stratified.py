"""Mean distance of a StratPD curve from its zero: the effect of a feature on y."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import single_columns
from ...records.streams import stream as generator_of
from ..effects.leaf_curves import Codes, LeafCurve, Merge, points_of
from ..effects.stratpd import Strata, curve_of, table_of
from ..spreads import mean_magnitude

Resample = Literal["subsample", "bootstrap", "none"]
OnCurve = Callable[[int, str, LeafCurve], None]
SUBSAMPLE = 0.75


def stratified_impact(
    model: FittedModel | None,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    n_repeats: int = 10,
    resample: Resample = "subsample",
    n_trees: int = 1,
    min_samples_leaf: int | None = None,
    min_slopes_per_x: int = 5,
    merge: Merge = "published",
    on_curve: OnCurve | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the mean absolute effect of each feature on y, over its values.

    With :math:`\mathrm{PD}_j` the curve of `effects.stratpd` and :math:`U_j` the
    values it has a point at, the impact [1]_ of a number and of a category are

    .. math::
        I_j = \frac{1}{|U_j|} \sum_{z \in U_j} |\mathrm{PD}_j(z)|, \qquad
        I_j = \frac{1}{|U_j|} \sum_{z \in U_j}
              |\mathrm{PD}_j(z) - \overline{\mathrm{PD}}_j|.

    The zero of a number is its left-most value, that of a category the mean over its
    levels, so that no level is the reference.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        The rows, without missing values or unequal weights; ``data.groups`` names the
        features, one column each. All columns of ``data.X`` are held about equal, so
        a result depends on which there are, not on which are measured.
    seed : int
        Selects the random stream.
    stream : {"numpy"}
        Each trial has a stream of its own for its rows, the same for all features,
        and one per feature for its trees: more trials change no number.
    n_repeats : int, default 10
        Number of trials; 1 if `resample` is "none".
    resample : {"subsample", "bootstrap", "none"}, default "subsample"
        The rows of a trial: a sample of three quarters without replacement, a bootstrap
        sample, or all rows.
    n_trees : int, default 1
        Trees whose leaves are pooled; several are each fitted to a bootstrap sample.
    min_samples_leaf : int, optional
        Minimum number of rows per leaf: by default 15 for a numeric feature, 5 for a
        category.
    min_slopes_per_x : int, default 5
        For a numeric feature: number of leaves that must cover a value for it to count.
    merge : {"published", "least_squares"}, default "published"
        How the leaves of a categorical feature are combined: one after another, as in
        the paper, where the result depends on their order; or by least squares, where
        it does not.
    on_curve : callable, optional
        ``on_curve(repeat, feature, curve)`` is called with each curve.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, 1)
        The impact in units of y; NaN in a trial where no leaf shows a difference,
        such as for a constant column.
    baseline : ndarray of shape (n_repeats, 1)
        Zero, the impact of a flat curve.

    Raises
    ------
    ValueError
        If `n_repeats` is above 1 for `resample` "none".
    NotApplicable
        If a group has several columns, or the rows cannot be partitioned; see
        `effects.stratpd`.

    Warnings
    --------
    Noise makes every curve uneven, so even the value of an irrelevant feature is above
    zero, the more the fewer the rows. Trials share rows, so their spread understates
    the error over other data. The left-most value of a number is its zero.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> data = normal_data(2, 0, n_samples=500)
    >>> raw, baseline = stratified_impact(None, data, seed=1, n_repeats=3)
    >>> raw.shape, bool((raw[0] > 5 * raw[1]).all())
    ((2, 3, 1), True)
    """
    strata = Strata(n_trees, min_samples_leaf, min_slopes_per_x, merge)
    inputs = data, strata, resample, seed
    return _over_trials(*inputs, n_repeats=n_repeats, on_curve=on_curve, by_rows=False)


def stratified_importance(
    model: FittedModel | None,
    data: Dataset,
    *,
    seed: int,
    stream: Literal["numpy"] = "numpy",
    n_repeats: int = 10,
    resample: Resample = "subsample",
    n_trees: int = 1,
    min_samples_leaf: int | None = None,
    min_slopes_per_x: int = 5,
    merge: Merge = "published",
    on_curve: OnCurve | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the mean absolute effect of each feature on y, over its rows.

    As `stratified_impact`, with each value counted as often as it occurs [1]_: with
    :math:`n_z` the rows at :math:`z`,

    .. math:: I_j = \sum_z n_z\, |\mathrm{PD}_j(z)| \Big/ \sum_z n_z,

    for a category :math:`|\mathrm{PD}_j(z) - \overline{\mathrm{PD}}_j|`, whose mean
    over the levels is not weighted.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        As in `stratified_impact`.
    seed : int
        Selects the random stream.
    stream : {"numpy"}
        As in `stratified_impact`.
    n_repeats : int, default 10
        Number of trials; 1 if `resample` is "none".
    resample : {"subsample", "bootstrap", "none"}, default "subsample"
        The rows of a trial: a sample of three quarters without replacement, a bootstrap
        sample, or all rows.
    n_trees : int, default 1
        Trees whose leaves are pooled; several are each fitted to a bootstrap sample.
    min_samples_leaf : int, optional
        Minimum number of rows per leaf: by default 15 for a numeric feature, 5 for a
        category.
    min_slopes_per_x : int, default 5
        For a numeric feature: number of leaves that must cover a value for it to count.
    merge : {"published", "least_squares"}, default "published"
        How the leaves of a categorical feature are combined: one after another, as in
        the paper, where the result depends on their order; or by least squares, where
        it does not.
    on_curve : callable, optional
        ``on_curve(repeat, feature, curve)`` is called with each curve.

    Returns
    -------
    raw : ndarray of shape (n_groups, n_repeats, 1)
        The importance in units of y; NaN in a trial where no leaf shows a difference,
        such as for a constant column.
    baseline : ndarray of shape (n_repeats, 1)
        Zero, the importance of a flat curve.

    Raises
    ------
    ValueError, NotApplicable
        As `stratified_impact`.

    Warnings
    --------
    As `stratified_impact`. Rows at values without evidence are not counted.

    References
    ----------
    .. [1] Parr, Wilson and Hamrick (2020). Nonparametric Feature Impact and
       Importance. arXiv:2006.04750. doi:10.48550/arXiv.2006.04750

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> data = normal_data(2, 0, n_samples=500)
    >>> raw, baseline = stratified_importance(None, data, seed=1, n_repeats=3)
    >>> raw.shape, bool((raw[0] > 5 * raw[1]).all())
    ((2, 3, 1), True)
    """
    strata = Strata(n_trees, min_samples_leaf, min_slopes_per_x, merge)
    inputs = data, strata, resample, seed
    return _over_trials(*inputs, n_repeats=n_repeats, on_curve=on_curve, by_rows=True)


def rows_at(x: npt.NDArray[Any], grid: npt.NDArray[Any]) -> Codes:
    """Return the number of rows at each point of a curve of `x`, (n_grid,)."""
    distinct, code = points_of(x)
    return np.bincount(code)[np.isin(distinct, grid)]


def _over_trials(
    data: Dataset,
    strata: Strata,
    resample: Resample,
    seed: int,
    *,
    n_repeats: int,
    on_curve: OnCurve | None,
    by_rows: bool,
) -> tuple[Floats, Floats]:
    """Return the mean magnitude of each curve in each trial, and the null values.

    It is over the points, or over the rows at the points.
    """
    if resample == "none" and n_repeats > 1:
        raise ValueError(
            f"n_repeats must be 1 for resample 'none'; {n_repeats} was given."
        )
    features = single_columns(data.groups, "a StratPD curve")
    n_rows = round(SUBSAMPLE * data.n_samples)
    n_drawn = n_rows if resample == "subsample" else data.n_samples
    every = table_of(data, strata, n_rows=n_drawn)
    raw = np.full((len(features), n_repeats, 1), np.nan)
    for repeat in range(n_repeats):
        table, draws = every, generator_of(seed, "rows", "", repeat)
        if resample == "bootstrap":
            table = every.taking(np.sort(draws.integers(len(every.y), size=n_drawn)))
        elif resample == "subsample":
            table = every.taking(np.sort(draws.permutation(len(every.y))[:n_drawn]))
        for k, feature in enumerate(features):
            curve = curve_of(table, feature, strata, seed=seed, repeat=repeat)
            if len(curve.grid):
                x = table.columns[feature]
                raw[k, repeat] = mean_magnitude(
                    curve.values,
                    is_category=np.issubdtype(x.dtype, np.integer),
                    weights=rows_at(x, curve.grid) if by_rows else None,
                )
            if on_curve is not None:
                on_curve(repeat, feature, curve)
    return raw, np.zeros((n_repeats, 1))
