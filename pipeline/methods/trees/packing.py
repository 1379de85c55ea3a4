"""Ensembles of trees as arrays, in one form for all libraries.

Every feature has one list of thresholds for the whole ensemble, so a row is represented
by its bins, and a node compares whole numbers. The leaves of a row are added in the
order of the library: sums and predictions equal the library's to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...models.lightgbm_text import NEARLY_ZERO
from ...records.dataset_and_model import Floats
from ...records.frozen import Frozen
from .compiled import Loop
from .links import LINKS_OF_BOOSTING

Integers: TypeAlias = npt.NDArray[np.int32]
Link = Literal[
    "identity",
    "exp",
    "logistic",
    "softmax",
    "softmax_by_row",
    "softmax_by_logsumexp",
    "exp_in_c",
    "sigmoid",
    "sigmoid_in_c",
    "two_classes",
    "two_classes_in_c",
    "softmax_in_c",
    "softmax_of_r",
    "signed_square",
]


class Codes(NamedTuple):
    """How a library reads the numbers of a categorical feature.

    Attributes
    ----------
    most : float
        The highest number that is not read as another category.
    is_truncated : bool
        Whether numbers between -1 and 0 are category 0.
    is_exact : bool
        Whether a number is only the category that it equals, and unknown if there is
        none; otherwise it is the category of its whole part.
    is_unknown_missing : bool
        Whether unknown categories go where missing values go; otherwise they have a bin
        of their own after all categories.
    """

    most: float = np.inf
    is_truncated: bool = False
    is_exact: bool = False
    is_unknown_missing: bool = True


EIGHT_BITS = Codes(most=255)
"""scikit-learn before 1.4 reads a category as a number of eight bits."""


def _logistic(sums: Floats) -> Floats:
    """Return the probabilities of two classes from the score of the second."""
    from scipy.special import expit

    positive = expit(sums[:, 0])
    return np.column_stack([1 - positive, positive])


def _softmax(ordered: Callable[[Floats], Floats], sums: Floats) -> Floats:
    """Return probabilities; numpy adds up their total in memory order."""
    scores = ordered(sums)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _softmax_by_logsumexp(sums: Floats) -> Floats:
    """Return probabilities as gradient boosting does before scikit-learn 1.4."""
    from scipy.special import logsumexp

    total = logsumexp(sums, axis=1, keepdims=True)
    return np.asarray(np.nan_to_num(np.exp(sums - total)))


LINKS: dict[str, Callable[[Floats], Floats]] = {
    "identity": np.asarray,
    "exp": np.exp,
    "logistic": _logistic,
    "softmax": partial(_softmax, np.asfortranarray),  # of histogram boosting
    "softmax_by_row": partial(_softmax, np.ascontiguousarray),
    "softmax_by_logsumexp": _softmax_by_logsumexp,
    **LINKS_OF_BOOSTING,
}
"""From the sums of rows, (n, n_outputs), to predictions, a column per class."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Packing(Frozen):
    """An ensemble of trees, nodes in preorder, tree after tree.

    Attributes
    ----------
    n_features : int
        Number of columns of the rows.
    thresholds : tuple of ndarray
        For each feature, the distinct thresholds of all nodes, sorted; for a
        categorical feature, its known categories.
    categorical : ndarray of bool, shape (n_features,)
    feature, cut, left, right : ndarray of int32, shape (n_nodes,)
        A row goes left if its bin is at most `cut`. `feature` is -1 at leaves. A
        negative `cut` belongs to a categorical feature: the row goes left if its bin is
        in ``sets[-1 - cut]``.
    missing_left : ndarray of bool, shape (n_nodes,)
        Whether a row whose value is missing goes left.
    sets : ndarray of uint64, shape (n_sets, n_words)
        A bit for each bin.
    values : ndarray of shape (n_nodes, width)
        Contributions of a leaf to `width` outputs; float32 if the library adds in it.
    roots : ndarray of int32, shape (n_trees,)
    targets : ndarray of int32, shape (n_trees,)
        The first output that a tree adds to: 0, or its class in boosting of classes,
        which has one tree per class and `width` 1.
    start : ndarray of shape (n_outputs,)
        The initial sums, to which leaves are added tree by tree.
    divisor : float
        The divisor of the sums: the number of trees of a forest, or 1.
    slope : float
        The factor of the quotient.
    link : Link
        The key in `LINKS` of the function from the product to the prediction.
    codes : Codes
        How numbers of categorical features are read.
    zero_is_missing : ndarray of bool, shape (n_features,)
        Whether zero is among a feature's missing values, as LightGBM allows.
    cast : dtype
        The type to which the library converts rows first, float32 or float64.
    no_missing : ndarray of bool, shape (n_features,)
        Whether the trees have no direction for a missing value of a feature.
    depth : int
        The most comparisons from a root to a leaf.
    """

    n_features: int
    thresholds: tuple[Floats, ...]
    categorical: npt.NDArray[np.bool_]
    feature: Integers
    cut: Integers
    left: Integers
    right: Integers
    missing_left: npt.NDArray[np.bool_]
    sets: npt.NDArray[np.uint64]
    values: Floats
    roots: Integers
    targets: Integers
    start: Floats
    divisor: float
    link: Link
    cast: type[np.float32] | type[np.float64]
    no_missing: npt.NDArray[np.bool_]
    depth: int
    zero_is_missing: npt.NDArray[np.bool_]
    slope: float = 1.0
    codes: Codes = EIGHT_BITS

    @property
    def n_outputs(self) -> int:
        """The number of sums of a row."""
        return len(self.start)

    @property
    def missing_bins(self) -> Integers:
        """The bin of each feature's missing values, the highest, (n_features,)."""
        return np.array([len(t) + 1 for t in self.thresholds], dtype=np.int32)

    def can_place(self, rows: npt.NDArray[Any]) -> bool:
        """Return whether no category is read as another, nor a missing value lost."""
        is_other = rows[:, self.categorical] > self.codes.most
        return not (is_other.any() or np.isnan(rows[:, self.no_missing]).any())

    def bins(self, rows: Any) -> Integers:
        """Return the bin of every value, (n_features, n_rows).

        The bin of a number is the number of thresholds below it, so `x <= t[c]` is
        ``bin <= c``; that of a category its position among those known. Missing values
        have the bin ``missing_bins``; for unknown categories see `Codes`.
        """
        columns = np.asarray(rows).T
        bins = np.empty(columns.shape, dtype=np.int32)
        for j, (as_given, thresholds) in enumerate(
            zip(columns, self.thresholds, strict=True)
        ):  # by column: a copy of a large table is large
            column = as_given.astype(self.cast).astype(np.float64)
            is_missing = np.isnan(column)
            if self.zero_is_missing[j]:
                is_missing |= np.abs(column) <= NEARLY_ZERO
            if self.categorical[j]:
                codes = column if self.codes.is_exact else np.trunc(column)
                is_unknown = ~np.isin(codes, thresholds)
                if not (self.codes.is_exact or self.codes.is_truncated):
                    is_unknown |= column < 0
                column = np.where(is_unknown, np.inf, codes)
                if self.codes.is_unknown_missing:
                    is_missing |= is_unknown
            bins[j] = np.searchsorted(thresholds, column, side="left")
            bins[j, is_missing] = len(thresholds) + 1
        return bins

    def predicted(self, sums: Floats) -> Floats:
        """Return the predictions for the sums of rows, (n_rows, 1 or n_classes)."""
        scores = np.ascontiguousarray(sums / self.divisor)
        return LINKS[self.link](scores if self.slope == 1 else self.slope * scores)


class Nodes(NamedTuple):
    """The arrays of a packing that loops read.

    Attributes
    ----------
    table : ndarray of int32, shape (n_nodes, 4)
        Feature, cut, left and right.
    values, roots, targets : ndarray
        As in `Packing`.
    rules : tuple or None
        ``missing_left``, ``missing_bins`` and ``sets``, if a row or a node needs them.
    """

    table: Integers
    values: Floats
    roots: Integers
    targets: Integers
    rules: Any


def nodes_for(packing: Packing, *bins: Integers) -> Nodes:
    """Return the arrays that loops read to walk rows of these bins."""
    columns = (packing.feature, packing.cut, packing.left, packing.right)
    missing = packing.missing_bins
    has_missing = (each == missing[:, np.newaxis] for each in bins)
    needs_rules = len(packing.sets) or any(each.any() for each in has_missing)
    return Nodes(
        np.stack(columns, axis=1),
        packing.values,
        packing.roots,
        packing.targets,
        (packing.missing_left, missing, packing.sets) if needs_rules else None,
    )


@Loop
def goes_left(table: Integers, rules: Any, node: int, where: int) -> bool:
    """Return whether a row whose bin is `where` goes left at a node."""
    cut = table[node, 1]
    if rules is not None:
        missing_left, missing_bins, sets = rules
        if where == missing_bins[table[node, 0]]:
            return bool(missing_left[node])
        if cut < 0:
            word = sets[-1 - cut, where >> 6]
            return bool((word >> np.uint64(where & 63)) & np.uint64(1))
    return bool(where <= cut)


@Loop
def _add_leaves(nodes: Any, rows: Integers, sums: Floats) -> None:
    """Add the leaves of each row to its sums, tree by tree."""
    table, values = nodes.table, nodes.values
    for tree, root in enumerate(nodes.roots):
        first = nodes.targets[tree]
        for i in range(rows.shape[0]):
            node = root
            while table[node, 0] >= 0:
                where = rows[i, table[node, 0]]
                is_left = goes_left(table, nodes.rules, node, where)
                node = table[node, 2] if is_left else table[node, 3]
            for k in range(values.shape[1]):
                sums[i, first + k] += values[node, k]


def predict(packing: Packing, rows: Any) -> Floats:
    """Return the output of the library's predict (or predict_proba), by row."""
    return predict_bins(packing, packing.bins(rows))


def predict_bins(packing: Packing, bins: Integers) -> Floats:
    """Return the output of `predict` for rows with these bins."""
    by_row = np.ascontiguousarray(bins.T)
    sums = np.tile(packing.start.astype(packing.values.dtype), (len(by_row), 1))
    _add_leaves(nodes_for(packing, bins), by_row, sums)
    return packing.predicted(sums)


def nearby(nodes: Any, bins: Integers) -> npt.NDArray[np.intp]:
    """Return an order of the rows in which neighbours take similar paths.

    Consecutive rows then read few nodes, which stay in the processor's cache. The order
    is by leaves of two trees.

    Parameters
    ----------
    nodes : Nodes or Lattice
    bins : ndarray of shape (n_features, n_rows)
        As `nodes` compares them.
    """
    leaves = np.empty((2, bins.shape[1]), dtype=np.int32)
    ends = nodes.roots[[-1, 0]]
    _write_leaves(nodes.table, nodes.rules, ends, bins, leaves)
    return np.lexsort(leaves)


@Loop
def _write_leaves(
    table: Integers, rules: Any, roots: Integers, bins: Integers, to: Integers
) -> None:
    """Write the leaves of all rows in some trees."""
    for k, root in enumerate(roots):
        for i in range(bins.shape[1]):
            node = root
            while table[node, 0] >= 0:
                is_left = goes_left(table, rules, node, bins[table[node, 0], i])
                node = table[node, 2] if is_left else table[node, 3]
            to[k, i] = node
