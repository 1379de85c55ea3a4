"""Trees of R's ranger, randomForest, gbm and rpart, from the fields of their objects.

A factor is read as R's codes, 1 for its first level.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from importance_audit.r_bridge.r_models import RModel
from importance_audit.r_bridge.tree_tables import tree_tables

from ...records.dataset_and_model import Floats
from .ensemble import Tree, packed
from .packing import Codes, Link, Packing

Array = npt.NDArray[Any]
Tables = Mapping[str, Any]

MOST_RANGER_LEVELS = 63
"""ranger stores no sets for a factor with more levels."""
GBM_LINKS: dict[str, tuple[float, Link]] = {
    "bernoulli": (1.0, "logistic"),
    "adaboost": (2.0, "logistic"),
    "poisson": (1.0, "exp_in_c"),
    "multinomial": (1.0, "softmax_of_r"),
}
"""By distribution: the factor of scores, whose product is exact, and their link."""
NOT_LEFT_OR_RIGHT = (
    "At a split by a factor, some level goes neither left nor right: R looks at other "
    "columns, or goes no further."
)


def _ranger(tables: Tables) -> Packing | str:
    """Read a forest that predicts numbers, or shares of classes."""
    left, right, split = (tables[name] for name in ("left", "right", "split"))
    is_leaf = (left == 0) & (right == 0)
    column = np.where(is_leaf, -1, tables["column"]).astype(int)
    values = split[:, np.newaxis]
    if tables["shares"] is not None:
        order = tables["class_order"] - 1
        values = np.zeros((len(split), len(order)))
        values[is_leaf] = tables["shares"].reshape(-1, len(order))[:, order]
    n_levels = np.where(tables["is_ordered"], 1, MOST_RANGER_LEVELS)
    left_sets = _sets(column, split, n_levels, bit=False)
    nodes = Tree(column, split, left, right, values, None, left_sets)
    return _forest(nodes, tables["n_nodes"], n_levels)


def _random_forest(tables: Tables) -> Packing | str:
    """Read a forest that predicts numbers, or whose trees have one vote each."""
    is_leaf, split, leaf = (tables[name] for name in ("is_leaf", "split", "leaf"))
    columns = tables["columns"].astype(int)
    column = np.where(is_leaf, -1, columns[tables["variable"] - 1])
    values = leaf[:, np.newaxis]
    if tables["n_classes"] is not None:
        values = np.eye(1 + tables["n_classes"][0])[leaf.astype(int), 1:]
    n_levels = np.ones(len(columns), dtype=int)
    n_levels[columns] = tables["n_levels"]
    left_sets = _sets(column, split, n_levels, bit=True)
    below = tables["left"] - 1, tables["right"] - 1
    nodes = Tree(column, split, *below, values, None, left_sets)
    return _forest(nodes, tables["n_nodes"], n_levels)


def _gbm(tables: Tables) -> Packing | str:
    """Read boosted trees, whose nodes have a third child for missing values.

    It is omitted if no training row had a missing value and no set lacks a level.
    """
    column, split = tables["column"].astype(int), tables["split"]
    n_nodes, n_levels = tables["n_nodes"], tables["n_levels"]
    third = tables["third"].astype(int)
    is_inner = column >= 0
    weight = tables["weight"]
    ways: dict[int, Array] = {}  # of levels: -1 left, 1 right, 0 to the third child
    if len(of_sets := np.flatnonzero(is_inner & (n_levels[column] > 1))):
        sets = np.split(tables["ways"], np.cumsum(tables["n_ways"])[:-1])
        ways = {node: sets[int(split[node])] for node in of_sets.tolist()}
    left_sets, there = (
        {k: np.flatnonzero(np.isin(own, to)) + 1.0 for k, own in ways.items()}
        for to in ((-1,), (-1, 1))
    )
    # A third child of no rows has the weight of all rows of its parent.
    is_empty = weight[third + _roots(n_nodes)] == weight
    has_third = not is_empty[is_inner].all() or any(
        (own == 0).any() for own in ways.values()
    )
    # gbm goes left below the split, and counts levels from 0.
    threshold = np.nextafter(split + tables["is_factor"][column], -np.inf)
    factor, link = GBM_LINKS.get(tables["distribution"][0], (1.0, "identity"))
    start, values = factor * tables["start"], factor * split[:, np.newaxis]
    below = tables["left"].astype(int), tables["right"].astype(int)
    nodes = Tree(column, threshold, *below, values, None, left_sets)
    if has_third:
        nodes = _with_third(nodes, third, n_nodes, there)
        n_nodes = 2 * n_nodes
    return packed(
        n_features=len(n_levels),
        trees=_trees(nodes, n_nodes, len(start)),
        start=start,
        link=link,
        cast=np.float64,
        codes=Codes(),
        categories=_categories(n_levels),
        no_missing=() if has_third else range(len(n_levels)),
    )


def _with_third(
    nodes: Tree, third: Array, n_nodes: Array, there: Mapping[int, Floats]
) -> Tree:
    """Return each node as two: a test for missing values, and the split.

    Parameters
    ----------
    nodes : Tree
        The nodes of all trees.
    third : ndarray of shape (n_nodes,)
        The child to which a row goes whose value is missing.
    n_nodes : ndarray of shape (n_trees,)
    there : mapping of int to ndarray
        The levels that the split sends left or right, by node.
    """
    own = np.arange(len(third)) - _roots(n_nodes)
    first, second = slice(None, None, 2), slice(1, None, 2)
    left, right, threshold = (np.repeat(each, 2) for each in (*nodes[2:4], nodes[1]))
    left[first], left[second] = 2 * own + 1, 2 * nodes.left
    right[first], right[second] = 2 * third, 2 * nodes.right
    threshold[first] = np.inf
    split_sets = {2 * node + 1: sets for node, sets in nodes.categories_left.items()}
    return Tree(
        np.repeat(nodes.feature, 2),
        threshold,
        left,
        right,
        np.repeat(nodes.values, 2, axis=0),
        None,
        split_sets | {2 * node: sets for node, sets in there.items()},
    )


def _rpart(tables: Tables) -> Packing | str:
    """Read one tree; rows below a split go left, or right, as the split specifies.

    Without surrogates, missing values and levels that no row of the node had go with
    the majority of its rows.
    """
    is_inner = tables["is_inner"].astype(bool)
    column = np.where(is_inner, tables["column"], -1).astype(int)
    low, high = tables["low"].astype(int) - 1, tables["high"].astype(int) - 1
    is_low_left = tables["n_levels"] != 1
    excess = tables["n_rows"][low] - tables["n_rows"][high]
    is_settled = (excess != 0) & ~tables["has_surrogates"].astype(bool)
    is_settled &= is_inner & bool(tables["follows_majority"][0])
    n_levels = np.ones(tables["n_columns"][0], dtype=int)
    n_levels[column[is_inner]] = np.abs(tables["n_levels"][is_inner])
    nodes = Tree(
        column,
        np.nextafter(tables["split"], -np.inf),
        np.where(is_low_left, low, high),
        np.where(is_low_left, high, low),
        np.asarray(tables["leaf"], dtype=float).reshape(len(column), -1),
        (excess > 0) == is_low_left,
    )
    sets = _rpart_sets(tables, nodes, n_levels, is_settled)
    if isinstance(sets, str):
        return sets
    return packed(
        n_features=len(n_levels),
        trees=[nodes._replace(categories_left=sets)],
        start=[0.0] * nodes.values.shape[1],
        cast=np.float64,
        codes=Codes(),
        categories=_categories(n_levels),
        no_missing=column[is_inner & ~is_settled],
    )


def _rpart_sets(
    tables: Tables, nodes: Tree, n_levels: Array, is_settled: Array
) -> dict[int, Floats] | str:
    """Return the levels that go left by node, or why some have no direction.

    Parents come before their children.
    """
    sets: dict[int, Floats] = {}
    missing_left = np.asarray(nodes.missing_left)
    reaching: dict[int, dict[int, Array]] = {0: {}}
    for node in np.flatnonzero(nodes.feature >= 0).tolist():
        j, at = nodes.feature[node], reaching[node]
        to_left = to_right = at
        if n_levels[j] > 1:
            ways = tables["ways"][int(tables["split"][node]) - 1, : n_levels[j]]
            is_there = at.get(j, np.ones(n_levels[j], dtype=bool))
            is_left = (ways == 1) | ((ways == 2) & missing_left[node])
            if (is_there & (ways == 2)).any() and not is_settled[node]:
                return NOT_LEFT_OR_RIGHT
            sets[node] = np.flatnonzero(is_left) + 1.0
            to_left = at | {j: is_there & is_left}
            to_right = at | {j: is_there & ~is_left}
        reaching[int(nodes.left[node])] = to_left
        reaching[int(nodes.right[node])] = to_right
    return sets


def _forest(nodes: Tree, n_nodes: Array, n_levels: Array) -> Packing:
    """Return the mean of trees that accept no missing values."""
    return packed(
        n_features=len(n_levels),
        trees=_trees(nodes, n_nodes),
        start=[0.0] * nodes.values.shape[1],
        divisor=float(len(n_nodes)),
        cast=np.float64,
        codes=Codes(),
        categories=_categories(n_levels),
        no_missing=range(len(n_levels)),
    )


def _trees(nodes: Tree, n_nodes: Array, n_targets: int = 1) -> list[Tree]:
    """Return the trees of consecutive nodes; inner nodes get the value 0.

    Trees add to the targets in turn.
    """
    ends = np.cumsum(n_nodes)
    first = ends - n_nodes
    values = np.where(nodes.feature[:, np.newaxis] < 0, nodes.values, 0.0)
    sets: list[dict[int, Floats]] = [{} for _ in ends]
    of_tree = np.searchsorted(ends, list(nodes.categories_left), side="right")
    for tree, node in zip(of_tree, nodes.categories_left, strict=True):
        sets[tree][int(node - first[tree])] = nodes.categories_left[node]
    parts = [slice(begin, end) for begin, end in zip(first, ends, strict=True)]
    return [
        Tree(
            feature=nodes.feature[part],
            threshold=nodes.threshold[part],
            left=nodes.left[part],
            right=nodes.right[part],
            values=values[part],
            categories_left=sets[k],
            target=k % n_targets,
        )
        for k, part in enumerate(parts)
    ]


def _roots(n_nodes: Array) -> Array:
    """Return the position of the root of each node's tree."""
    return np.repeat(np.cumsum(n_nodes) - n_nodes, n_nodes)


def _categories(n_levels: Array) -> dict[int, Floats]:
    """Return the codes of columns with more than one level, by column."""
    return {
        int(j): np.arange(1.0, n_levels[j] + 1) for j in np.flatnonzero(n_levels > 1)
    }


def _sets(
    column: Array, split: Floats, n_levels: Array, *, bit: bool
) -> dict[int, Floats]:
    """Return the levels that go left by node, from bits that a double holds.

    Parameters
    ----------
    column, split : ndarray of shape (n_nodes,)
        The lowest bit of a split is that of the first level.
    n_levels : ndarray of shape (n_columns,)
        Above 1 where splits are sets.
    bit : bool
        The bit of a level that goes left.
    """
    members: dict[tuple[int, int], Floats] = {}
    sets = {}
    for node in np.flatnonzero((column >= 0) & (n_levels[column] > 1)).tolist():
        n, bits = key = int(n_levels[column[node]]), int(split[node])
        if key not in members:
            levels = [k + 1.0 for k in range(n) if bool(bits >> k & 1) == bit]
            members[key] = np.array(levels)
        sets[node] = members[key]
    return sets


_packings: WeakKeyDictionary[RModel, Packing] = WeakKeyDictionary()
"""Reading a large forest takes seconds, and a model of R never changes."""


def _read(read: Callable[[Tables], Packing | str], model: RModel) -> Packing | str:
    """Return the packing of a model, whose tables are read from R once."""
    if model in _packings:
        return _packings[model]
    tables = tree_tables(model)
    packing = tables if isinstance(tables, str) else read(tables)
    if isinstance(packing, Packing):
        _packings[model] = packing
    return packing


READERS: dict[str, Callable[[Any], Packing | str]] = {
    "R.ranger": partial(_read, _ranger),
    "R.randomForest": partial(_read, _random_forest),
    "R.gbm": partial(_read, _gbm),
    "R.rpart": partial(_read, _rpart),
}
"""From the class of a model of R to its reader."""
