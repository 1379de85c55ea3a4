"""Trees as the readers return them, and the packing that is made of them."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .compiled import Loop
from .packing import EIGHT_BITS, Codes, Integers, Link, Packing


class Tree(NamedTuple):
    """One tree as stored by its library, nodes in any order, the root first.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        Negative at leaves.
    threshold : ndarray of shape (n_nodes,)
        A row goes left if its value is at most this one.
    left, right : ndarray of shape (n_nodes,)
        The nodes below.
    values : ndarray of shape (n_nodes, width)
        The contribution of a leaf.
    missing_left : ndarray of bool, shape (n_nodes,), or None
        Whether a row whose value is missing goes left; by default it goes right.
    categories_left : mapping of int to ndarray
        The categories that go left at nodes that split by category; infinity
        represents all unknown categories.
    target : int
        The first output that the tree adds to.
    """

    feature: npt.NDArray[Any]
    threshold: Floats
    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    values: Floats
    missing_left: npt.NDArray[np.bool_] | None = None
    categories_left: Mapping[int, Floats] = {}
    target: int = 0


def named_categories(trees: Iterable[Tree]) -> dict[int, Floats]:
    """Return the categories of each feature that occur in node sets, sorted."""
    sets: dict[int, list[Floats]] = {}
    for tree in trees:
        for node, members in tree.categories_left.items():
            sets.setdefault(int(tree.feature[node]), []).append(members)
    return {j: np.unique(np.concatenate(own)) for j, own in sets.items()}


def packed(
    trees: Sequence[Tree],
    *,
    n_features: int,
    start: Any,
    divisor: float = 1.0,
    link: Link = "identity",
    cast: type[np.float32] | type[np.float64] = np.float32,
    categories: Mapping[int, Floats] = MappingProxyType({}),
    slope: float = 1.0,
    codes: Codes = EIGHT_BITS,
    zero_is_missing: Iterable[int] = (),
    no_missing: Iterable[int] = (),
) -> Packing:
    """Return the packing of trees, which are added in their order.

    Other parameters are as in `Packing`.

    Parameters
    ----------
    trees : sequence of Tree
    categories : mapping of int to ndarray
        The known categories of each categorical feature, sorted.
    zero_is_missing : iterable of int
        The features whose missing values include zero.
    no_missing : iterable of int
        Features that may not be missing in any row, as the direction is unknown.
    """
    columns, threshold, categories_left, depth = _in_preorder(trees)
    feature = columns["feature"]
    cut = np.full(len(feature), -1, dtype=np.int32)
    thresholds = []
    for j in range(n_features):
        at = np.flatnonzero(feature == j)
        if j in categories:
            own = np.asarray(categories[j], dtype=np.float64)
            cut[at] = np.searchsorted(own, threshold[at])
        else:
            own, cut[at] = np.unique(threshold[at], return_inverse=True)
        thresholds.append(own)
    n_words = max((len(own) for own in thresholds), default=0) // 64 + 1
    sets = np.zeros((len(categories_left), n_words), dtype=np.uint64)
    for row, (node, members) in enumerate(categories_left.items()):
        cut[node] = -1 - row
        places = np.searchsorted(thresholds[feature[node]], members)
        for place in places.tolist():
            sets[row, place >> 6] |= np.uint64(1 << (place & 63))
    features = np.arange(n_features)
    return Packing(
        n_features=n_features,
        thresholds=tuple(thresholds),
        categorical=np.isin(features, list(categories)),
        cut=cut,
        **columns,
        sets=sets,
        targets=np.array([tree.target for tree in trees], dtype=np.int32),
        start=np.array(start, dtype=np.float64),
        divisor=divisor,
        link=link,
        cast=cast,
        no_missing=np.isin(features, list(no_missing)),
        depth=depth,
        slope=slope,
        codes=codes,
        zero_is_missing=np.isin(features, list(zero_is_missing)),
    )


def _in_preorder(
    trees: Sequence[Tree],
) -> tuple[dict[str, Any], Floats, dict[int, Floats], int]:
    """Return all nodes tree after tree, parents first and left before right.

    They are columns of `Packing`, with thresholds, the categories that go left, by
    node, and the greatest depth.
    """
    columns: dict[str, list[Any]] = {
        name: [] for name in ("feature", "left", "right", "missing_left", "values")
    }
    thresholds, categories_left, roots, depth = [], {}, [0], 0
    for tree in trees:
        is_inner, start = tree.feature >= 0, roots[-1]
        left, right = (
            np.where(is_inner, each, -1).astype(np.int32)
            for each in (tree.left, tree.right)
        )
        order, place, tree_depth = _preorder(left, right)
        missing = tree.missing_left
        below = is_inner[order]
        parts = {
            "feature": np.where(below, tree.feature[order], -1).astype(np.int32),
            "left": np.where(below, place[left[order]] + start, -1),
            "right": np.where(below, place[right[order]] + start, -1),
            "missing_left": np.zeros(len(order), bool)
            if missing is None
            else missing[order].astype(bool),
            "values": tree.values[order],
        }
        for name, part in parts.items():
            columns[name].append(part)
        thresholds.append(tree.threshold[order])
        for node, members in tree.categories_left.items():
            categories_left[int(place[node]) + start] = members
        roots.append(start + len(order))
        depth = max(depth, tree_depth)
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    for name in ("left", "right"):
        joined[name] = joined[name].astype(np.int32)
    joined["roots"] = np.array(roots[:-1], dtype=np.int32)
    return joined, np.concatenate(thresholds), categories_left, depth


@Loop
def _preorder(left: Integers, right: Integers) -> tuple[Integers, Integers, int]:
    """Return the nodes in preorder, the position of each in it, and the depth."""
    n_nodes = len(left)
    order, stack = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    place, level = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
    n_done, n_stacked, depth = 0, 1, 0
    stack[0] = 0
    while n_stacked > 0:
        n_stacked -= 1
        node = stack[n_stacked]
        order[n_done], place[node] = node, n_done
        n_done += 1
        depth = max(depth, level[node])
        if left[node] >= 0:
            level[left[node]] = level[right[node]] = level[node] + 1
            stack[n_stacked], stack[n_stacked + 1] = right[node], left[node]
            n_stacked += 2
    return order[:n_done], place, depth
