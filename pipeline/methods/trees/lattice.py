"""Trees and rows on one line of bins, with leaf values as whole numbers.

Differences of whole numbers cancel exactly, and no sum of them depends on its order.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .packing import Integers, Packing, nodes_for

BITS, MOST_DIGITS = 61, 1000
"""Binary digits of the largest sum: those of a double, and spare ones; and the most
digits after the point, for which two to their power is still a double."""


class Lattice(NamedTuple):
    """Trees and rows on one line of bins, feature after feature, without empty bins.

    Attributes
    ----------
    table : ndarray of int32, shape (n_nodes, 4)
        Feature, cut, left and right. A cut counts the distinct values up to it, unless
        it is negative, see `Packing`.
    values : ndarray of int64, shape (n_nodes, width)
    start : ndarray of int64, shape (n_outputs,)
    roots, targets : ndarray of int32, shape (n_trees,)
    rules : tuple or None
        As in `Nodes`, with the bins of this lattice.
    bins : ndarray of int32, shape (n_features, n_rows)
        The bin of every value, from 1 up; of a category its position.
    top : ndarray of int32, shape (n_features,)
        The bin of missing values, after all others.
    first : ndarray of int32, shape (n_features + 1,)
        The position on the line of each feature's bin 0, and the end of the line.
    below : ndarray of int32, shape (n_places,)
        Number of rows with a lower bin of the feature.
    """

    table: Integers
    values: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    roots: Integers
    targets: Integers
    rules: Any
    bins: Integers
    top: Integers
    first: Integers
    below: Integers


def lattice_for(packing: Packing, bins: Integers) -> tuple[Lattice, int]:
    """Return trees and rows on one line, and the binary digits after the point.

    A sum is its whole number divided by two to the power of these digits.
    """
    bins = bins.copy()
    nodes = nodes_for(packing, bins)
    table, rules, top = nodes.table, nodes.rules, packing.missing_bins
    below, numbers = [], []
    for j, own in enumerate(bins):
        counts = np.bincount(own, minlength=top[j] + 1)
        n_up_to = np.empty(0, dtype=np.int32)
        if not packing.categorical[j]:
            has_rows = counts[:-1] > 0
            n_up_to = np.cumsum(has_rows, dtype=np.int32)
            top[j] = n_up_to[-1] + 1
            own[:] = np.append(n_up_to, top[j])[own]
            counts = np.concatenate([[0], counts[:-1][has_rows], counts[-1:]])
        numbers.append(n_up_to)
        below.append(np.append(0, np.cumsum(counts)))
    first_number = np.append(0, np.cumsum([len(each) for each in numbers]))
    is_of_number = (table[:, 0] >= 0) & (table[:, 1] >= 0)
    feature, cut = table[is_of_number, :2].T
    table[is_of_number, 1] = np.concatenate(numbers)[first_number[feature] + cut]
    n_digits = _digits(packing)
    lattice = Lattice(
        table=table,
        values=_whole(packing.values, n_digits),
        start=_whole(packing.start, n_digits),
        roots=packing.roots,
        targets=packing.targets,
        rules=rules and (rules[0], top, rules[2]),
        bins=bins,
        top=top,
        first=np.append(0, np.cumsum([len(each) for each in below])).astype(np.int32),
        below=np.concatenate(below).astype(np.int32),
    )
    return lattice, n_digits


def _digits(packing: Packing) -> int:
    """Return the digits after the point for which no sum has more than `BITS`."""
    greatest = np.abs(packing.start)
    ends = np.append(packing.roots[1:], len(packing.feature))
    for root, end, target in zip(packing.roots, ends, packing.targets, strict=True):
        of_tree = np.abs(packing.values[root:end]).max(axis=0)
        greatest[target : target + len(of_tree)] += of_tree
    return min(BITS - math.frexp(float(greatest.max()))[1], MOST_DIGITS)


def _whole(values: Floats, n_digits: int) -> npt.NDArray[np.int64]:
    """Return numbers as whole numbers, `n_digits` binary digits after the point."""
    return np.rint(np.ldexp(values.astype(np.float64), n_digits)).astype(np.int64)
