"""Strata of rows that exchange the values of a feature, and orders within them."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...data.column_types import is_category
from ...records.dataset_and_model import Dataset, Floats
from ...records.errors import NotApplicable, quote
from ...records.streams import stream
from ..effects.leaf_curves import in_unit
from ..effects.stratpd import refuse_missing

Index = npt.NDArray[np.int64]


def leaves_of(data: Dataset, group: str, *, seed: int, min_samples_leaf: int) -> Index:
    """Return the leaf of each row, (n_samples,), in trees that predict a group.

    Two regression trees of all columns of the group on all other ``data.inputs`` are
    each fitted to one half of the rows, drawn at random, and applied to the other half:
    a tree separates the rows it was fitted to by chance too, and their values would
    then differ less within its leaves than those of other similar rows. Categories are
    predicted as one indicator per level, numbers scaled to variance 1; levels of the
    other columns are read in level order.

    Parameters
    ----------
    data : Dataset
        Without missing values.
    group : str
        A key of ``data.groups``.
    seed : int
        Selects the random stream, with the name of the group.
    min_samples_leaf : int
        Minimum number of rows per leaf, in the half a tree is fitted to.

    Raises
    ------
    NotApplicable
        If a value is missing, or a half has too few rows for two leaves.
    """
    from sklearn.tree import DecisionTreeRegressor

    columns = data.groups[group]
    rest = [numbers_of(data.X[name]) for name in data.inputs if name not in columns]
    if not rest:  # no other column: all rows are one leaf
        return np.zeros(data.n_samples, dtype=np.int64)
    if data.n_samples < 4 * min_samples_leaf:
        raise NotApplicable(
            f"Data {quote(data.name)} must have at least {4 * min_samples_leaf} rows "
            f"to be parted into two leaves by each of two halves; {data.n_samples} "
            "were given. Set min_samples_leaf lower."
        )
    refuse_missing(data, "leaves", in_use(data))
    others = in_unit(np.stack(rest, axis=1))
    targets = np.concatenate([_targets(data.X[name]) for name in columns], axis=1)
    draws = stream(seed, "leaves", group, 0)
    half = draws.permutation(data.n_samples) % 2
    leaf = np.empty(data.n_samples, dtype=np.int64)
    for k in (0, 1):
        tree = DecisionTreeRegressor(
            min_samples_leaf=min_samples_leaf, random_state=int(draws.integers(2**31))
        )
        tree.fit(others[half == k], targets[half == k])
        leaf[half != k] = 2 * tree.apply(others[half != k]) + k
    return leaf


def permuted_within(strata: Index, generator: np.random.Generator) -> Index:
    """Return, for each row, the row whose values it gets: each row is used once."""
    order = np.empty(len(strata), dtype=np.int64)
    order[np.argsort(strata, kind="stable")] = np.lexsort(
        (generator.random(len(strata)), strata)
    )
    return order


def drawn_within(strata: Index, generator: np.random.Generator) -> Index:
    """Return, for each row, the row whose values it gets: drawn with replacement.

    All rows of its stratum are equally likely, the row itself included.
    """
    _, code, counts = np.unique(strata, return_inverse=True, return_counts=True)
    first = np.cumsum(counts) - counts
    place = first[code] + generator.integers(counts[code])
    return np.argsort(code, kind="stable")[place]


def in_use(data: Dataset) -> list[str]:
    """Return the columns that models are given, and those that are measured."""
    measured = {column for columns in data.groups.values() for column in columns}
    return [name for name in data.X if name in measured or name not in data.unread]


def numbers_of(column: pd.Series) -> Floats:
    """Return a column as numbers, a category by the positions of its levels."""
    if is_category(column):
        return column.cat.codes.to_numpy(dtype=np.float64)
    return column.to_numpy(dtype=np.float64)


def indicators_of(column: pd.Series) -> Floats:
    """Return a category as one indicator per level, (n_samples, n_levels)."""
    codes = numbers_of(column)
    return np.asarray(codes[:, np.newaxis] == np.unique(codes), dtype=np.float64)


def _targets(column: pd.Series) -> Floats:
    """Return the target columns of a tree for a column, (n_samples, 1 or n_levels)."""
    if is_category(column):
        return indicators_of(column)
    numbers = numbers_of(column)
    return ((numbers - numbers.mean()) / (numbers.std() or 1.0))[:, np.newaxis]
