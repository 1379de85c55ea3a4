"""StratPD: how y changes along one feature among rows that are otherwise similar."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, FittedModel, Floats
from ...records.errors import NotApplicable, listed, quote
from ...records.streams import stream
from .leaf_curves import (
    Codes,
    LeafCurve,
    Merge,
    categorical_curve,
    in_unit,
    numeric_curve,
)

LEAF_OF_NUMBER, LEAF_OF_CATEGORY = 15, 5


class Table(NamedTuple):
    """Rows as trees read them.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_samples,)
        Numbers as floats, categories as integer codes of their levels.
    matrix : ndarray of shape (n_samples, n_features)
        The same `in_unit` as float32, which scikit-learn's trees do not copy.
    y : ndarray of shape (n_samples,)
    unread : mapping of str to tuple of str
        As in `Dataset`.
    """

    columns: dict[str, npt.NDArray[Any]]
    matrix: npt.NDArray[np.float32]
    y: Floats
    unread: Mapping[str, tuple[str, ...]]

    def taking(self, rows: Codes) -> "Table":
        """Return these rows, in this order."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Table(columns, self.matrix[rows], self.y[rows], self.unread)


class Strata(NamedTuple):
    """How rows are stratified and leaves combined: the options of `stratpd`."""

    n_trees: int = 1
    min_samples_leaf: int | None = None
    min_slopes_per_x: int = 5
    merge: Merge = "published"


def stratpd(
    model: FittedModel | None,
    data: Dataset,
    feature: str,
    *,
    seed: int,
    n_trees: int = 1,
    min_samples_leaf: int | None = None,
    min_slopes_per_x: int = 5,
    merge: Merge = "published",
) -> tuple[npt.NDArray[Any], Floats]:
    r"""Return the dependence of y on one feature with the others held about equal.

    A regression tree of y on all other columns :math:`x_{-j}` partitions the rows [1]_.
    Within its leaves only :math:`x_j` is left to explain y, so for a number

    .. math::
        \mathrm{PD}_j(z) = \sum_{u_k < z} \overline{s}(u_k)\,(u_{k+1} - u_k),

    with :math:`u_k` the distinct values and :math:`\overline{s}(u_k)` the mean over
    the leaves of the slope of y that covers :math:`u_k`; see
    `leaf_curves.numeric_curve`. For a category (CatStratPD) the means of y per level
    in each leaf are combined; see `leaf_curves.categorical_curve`. No model is used.
    For two classes y is the indicator of the positive class, an extension of ours.

    Parameters
    ----------
    model : None
        Not used.
    data : Dataset
        The rows, without missing values or unequal weights.
    feature : str
        A column of ``data.X``; the trees read all others, categories by the order of
        their levels, except derived columns and those `feature` is derived from.
    seed : int
        Breaks ties between equally good splits, and draws the rows of several trees.
    n_trees : int, default 1
        Trees whose leaves are pooled. A single tree is fitted to all rows, several
        trees to a bootstrap sample each; all rows pass through every tree.
    min_samples_leaf : int, optional
        Minimum number of rows per leaf: by default 15 for a numeric feature, 5 for a
        category.
    min_slopes_per_x : int, default 5
        For a numeric feature: number of leaves that must cover a value for it to count.
    merge : {"published", "least_squares"}, default "published"
        How the leaves of a categorical feature are combined: one after another, as in
        the paper, where the result depends on their order; or by least squares, where
        it does not.

    Returns
    -------
    grid : ndarray of shape (n_grid,)
        The distinct values with evidence to their left or right; or, as text in an
        object array, the levels that some row has.
    values : ndarray of shape (n_grid, 1)
        The curve in units of y: 0 at the left-most point of a number, mean 0 over the
        levels of a category.

    Raises
    ------
    NotApplicable
        If the target has more than two classes, rows are weighted, a value is
        missing, there are too few rows for two leaves, or no leaf shows a difference.

    Warnings
    --------
    A leaf holds the other features about equal, not equal: a feature that depends on
    them strongly within leaves is credited with their effects. Where there is no
    evidence between two values, the curve is flat. Groups of levels that share no leaf
    are placed by their mean y, as if nothing else differed.

    References
    ----------
    .. [1] Parr and Wilson (2019). Technical Report: Partial Dependence through
       Stratification. arXiv:1907.06698. doi:10.48550/arXiv.1907.06698

    Examples
    --------
    >>> from importance_audit.methods.known_answers import normal_data
    >>> data = normal_data(2, 0, noise=0.1, n_samples=500)
    >>> grid, values = stratpd(None, data, "x1", seed=1)
    >>> bool(values[-1, 0] - values[0, 0] > 1.5 * (grid[-1] - grid[0]))
    True
    """
    del model
    strata = Strata(n_trees, min_samples_leaf, min_slopes_per_x, merge)
    curve = curve_of(table_of(data, strata), feature, strata, seed=seed)
    column = data.X[feature]
    if not len(curve.grid):
        if column.nunique() < 2:
            raise NotApplicable(
                f"Column {quote(column.name)} must have two values for StratPD; it has "
                f"{column.nunique()}."
            )
        raise NotApplicable(
            f"Column {quote(column.name)} must vary in {min_slopes_per_x} leaves "
            "around some value for StratPD, and does so nowhere: "
            f"{curve.n_ignored} leaves hold one value. Set min_slopes_per_x or "
            "min_samples_leaf otherwise, or n_trees higher."
        )
    if not is_category(column):
        return curve.grid, curve.values[:, np.newaxis]
    levels = np.array(column.cat.categories, dtype=object)[curve.grid]
    return levels, curve.values[:, np.newaxis]


def table_of(data: Dataset, strata: Strata, *, n_rows: int | None = None) -> Table:
    """Return the rows as trees read them; refuse data that StratPD cannot use.

    `n_rows` of them, all by default, are partitioned at a time.

    Raises
    ------
    NotApplicable
        As `stratpd`.
    """
    subject = f"Data {quote(data.name)}"
    if data.task == "multiclass":
        raise NotApplicable(
            f"{subject} must have a number or two classes as target for StratPD; "
            f"{len(data.classes)} were found. Audit one class against the others."
        )
    if data.is_weighted:
        raise NotApplicable(
            f"{subject} must have equal row weights for StratPD; they differ. "
            "Leave the method out, or audit without weights."
        )
    refuse_missing(data, "StratPD", data.X)
    n_parted = data.n_samples if n_rows is None else n_rows
    least = 2 * (strata.min_samples_leaf or LEAF_OF_NUMBER)
    if n_parted < least:
        raise NotApplicable(
            f"StratPD must part at least {least} rows into two leaves; {n_parted} "
            "were given. Set min_samples_leaf lower."
        )
    columns = {name: _numbers(data.X[name]) for name in data.X}
    matrix = in_unit(np.stack(list(columns.values()), axis=1)).astype(np.float32)
    return Table(columns, matrix, np.array(data.y, dtype=np.float64), data.unread)


def refuse_missing(data: Dataset, purpose: str, columns: Iterable[str]) -> None:
    """Refuse missing values in these columns, which `purpose` cannot handle."""
    missing = [name for name in columns if data.X[name].hasnans]
    if missing:
        raise NotApplicable(
            f"Data {quote(data.name)} must have no missing value for {purpose}; these "
            f"columns have some: {listed(missing)}. Fill or leave out what is missing."
        )


def curve_of(
    table: Table, feature: str, strata: Strata, *, seed: int, repeat: int = 0
) -> LeafCurve:
    """Return the curve of one feature, without a point if there is no evidence.

    `repeat` selects the random stream, together with `seed` and `feature`. The curve of
    a category has mean 0 over its levels.
    """
    x = table.columns[feature]
    is_category = np.issubdtype(x.dtype, np.integer)
    usual = LEAF_OF_CATEGORY if is_category else LEAF_OF_NUMBER
    # A derived column is held equal by holding its sources equal: a derived column
    # together with its sources would leave nothing to vary.
    own = {feature, *table.unread.get(feature, ())}
    others = table.matrix[
        :, [name not in own and not table.unread.get(name) for name in table.columns]
    ]
    draws = stream(seed, "tree", feature, repeat)
    least = strata.min_samples_leaf or usual
    leaf = _leaves(others, table.y, strata.n_trees, least, draws)

    x, y = np.tile(x, strata.n_trees), np.tile(table.y, strata.n_trees)
    if not is_category:
        return numeric_curve(x, y, leaf, min_slopes_per_x=strata.min_slopes_per_x)
    curve = categorical_curve(x, y, leaf, merge=strata.merge)
    if len(curve.grid) < 2:
        return curve._replace(grid=curve.grid[:0], values=curve.values[:0])
    return curve._replace(values=curve.values - curve.values.mean())


def _leaves(
    others: npt.NDArray[np.float32],
    y: Floats,
    n_trees: int,
    min_samples_leaf: int,
    draws: np.random.Generator,
) -> Codes:
    """Return the leaf of each row in each tree, (n_trees * n_samples,)."""
    from sklearn.tree import DecisionTreeRegressor

    if not others.shape[1]:  # no other feature: all rows are one leaf
        return np.repeat(np.arange(n_trees), len(y))
    y = in_unit(y)
    leaves: list[Codes] = []
    for _ in range(n_trees):
        tree = DecisionTreeRegressor(
            min_samples_leaf=min_samples_leaf, random_state=int(draws.integers(2**31))
        )
        rows = np.arange(len(y))
        if n_trees > 1:
            rows = draws.integers(len(y), size=len(y))
        tree.fit(others[rows], y[rows])
        first = leaves[-1].max() + 1 if leaves else 0
        leaves.append(tree.apply(others) + first)
    return np.concatenate(leaves)


def _numbers(column: pd.Series) -> npt.NDArray[Any]:
    """Return a category's codes as integers, anything else as floats."""
    if is_category(column):
        return column.cat.codes.to_numpy(dtype=np.int64)
    return column.to_numpy(dtype=np.float64)
