"""Interactions as rows of a ranking: roots of mean squares, repeats over drawn rows."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, listed, quote
from ..effects.partial_dependence import Grid, Scale
from ..interactions import h_statistic as friedman
from ..interactions import vint as greenwell
from ..interactions.drawn import Stream, draw_rows


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
    r"""Return how much of the prediction only comes about jointly.

    With :math:`F_S` the centred partial dependence on the columns *S* at the data rows
    and :math:`F` the centred prediction, a pair measures the root mean square of what
    is not a sum of its two curves, one column that of what it does together with all
    others, and three columns that of what no two of them do [1]_,

    .. math::
        I_{jk} = \sqrt{E\,(F_{jk} - F_j - F_k)^2}, \qquad
        I_j = \sqrt{E\,(F - F_j - F_{-j})^2},

    .. math::
        I_{jkl} = \sqrt{E\,(F_{jkl} - F_{jk} - F_{jl} - F_{kl} + F_j + F_k + F_l)^2},

    the roots of the numerators of Friedman's H squared: see
    `interactions.h_statistic`.

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)`` of up to ``n_rows**2`` rows per pair and per column;
        its trees may answer, see `trees.mean_predictions` and `effects.predictions_at`.
    data : Dataset
        The rows, with their weights; each group is one column, a pair or three.
    seed : int
        Names the stream.
    stream : {"numpy", "hstats"}, default "numpy"
        Draw order of the rows; "hstats" has one repeat.
    n_repeats : int, default 1
        How often rows are sampled; if all rows are used, all repeats are equal.
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
        In units of the scale, 1 if standardised.
    baseline : ndarray of shape (n_repeats, n_outputs)
        Zero: what a column without interactions measures, exactly.

    Raises
    ------
    ValueError
        If `n_repeats` is less than 1 or `n_rows` less than 2.
    NotApplicable
        If a group has more than three columns, or the model no such scale.

    Warnings
    --------
    Standardised, noise can lead: features that hardly matter have little to divide by.
    Where features are correlated, the model is asked about rows that cannot occur.

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

    def of_rows(rows: Dataset) -> Floats:
        squares_of = friedman.pairs_of_trees(model, rows, groups, scale)
        others = [columns for columns in groups if columns not in squares_of]
        names = dict.fromkeys(name for columns in others for name in columns)
        curves = {
            name: friedman.at_rows(model, rows, (name,), scale=scale) for name in names
        }
        values = []
        for columns in groups:
            squares = squares_of.get(columns) or friedman.h_statistic(
                model, rows, columns, seed=seed, curves=curves, n_rows=None, scale=scale
            )
            numerator, denominator = np.sqrt(squares)
            values.append(ratio(numerator, denominator) if standardised else numerator)
        return np.stack(values)

    friedman.check_scale(model, scale)
    return repeated(of_rows, data, seed, stream, n_repeats, n_rows)


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
    r"""Return how far the importance of each feature of a pair varies with the other.

    With :math:`\mathrm{imp}(a \mid b)` the spread over a grid of *a* of the joint
    partial dependence at one *b* [1]_,

    .. math::
        I = \tfrac12 \Bigl(\mathrm{SD}_b\bigl[\mathrm{imp}(a \mid b)\bigr] +
            \mathrm{SD}_a\bigl[\mathrm{imp}(b \mid a)\bigr] \Bigr):

    see `interactions.vint`.

    Parameters
    ----------
    model : FittedModel
        Asked for ``predict(X)`` of the rows at every point of the joint grid.
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
        In units of the scale, 1 if standardised; NaN for a feature of one value, or
        with a level that `model` cannot predict.
    baseline : ndarray of shape (n_repeats, n_outputs)
        Zero: what two features that add up measure, exactly.

    Raises
    ------
    ValueError
        If `n_repeats` is less than 1 or `n_rows` less than 2.
    NotApplicable
        If a group is not a pair, the model has no such scale, or a column no value.

    Warnings
    --------
    It sees curves that differ in size, not in shape. Every grid point counts the same,
    however few rows lie near it.

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

    def of_rows(rows: Dataset) -> Floats:
        values = []
        for columns in pairs:
            numerator, denominator = greenwell.vint(
                model,
                data,
                columns,
                seed=seed,
                rows=rows,
                grid=grid,
                n_grid=n_grid,
                scale=scale,
                categorical_spread=categorical_spread,
            )
            values.append(ratio(numerator, denominator) if standardised else numerator)
        return np.stack(values)

    return repeated(of_rows, data, seed, stream, n_repeats, n_rows)


def repeated(
    of_rows: Callable[[Dataset], Floats],
    data: Dataset,
    seed: int,
    stream: Stream,
    n_repeats: int,
    n_rows: int | None,
) -> tuple[Floats, Floats]:
    """Return what is measured on each draw of rows, once if all are taken."""
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1; {n_repeats} was given.")
    if stream == "hstats" and n_repeats > 1:
        raise NotApplicable(
            f"Stream 'hstats' must have one repeat; n_repeats is {n_repeats}. "
            "Use the numpy stream."
        )
    values: list[Floats] = []
    for repeat in range(n_repeats):
        rows = draw_rows(data, n_rows, seed=seed, stream=stream, repeat=repeat)
        takes_all = n_rows is None or n_rows >= int((data.weights > 0).sum())
        values.append(values[0] if values and takes_all else of_rows(rows))
    raw = np.stack(values, axis=1)
    return raw, np.zeros(raw.shape[1:])


def columns_of(
    data: Dataset, sizes: tuple[int, ...], method: str
) -> list[tuple[str, ...]]:
    """Return the columns of each group, refused unless there are as many as asked."""
    for group, columns in data.groups.items():
        if len(columns) not in sizes:
            rule = "two columns" if sizes == (2,) else "one to three columns"
            raise NotApplicable(
                f"Group {quote(group)} must have {rule} for method {method!r}; it has "
                f'{len(columns)}: {listed(columns)}. Ask of = "pairs".'
            )
    return list(data.groups.values())


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return a ratio, NaN where there is nothing to divide by."""
    unknown = np.full_like(denominator, np.nan)
    return np.divide(numerator, denominator, out=unknown, where=denominator > 0)
