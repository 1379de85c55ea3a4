"""Predictions of rows with columns permuted, for many permutations in one walk.

A row with another value in one column leaves its path only where a node splits by that
column. So the path of each row is walked once for each tree; at a node, the draws that
go the other way leave it and walk the subtree there. Each draw adds its leaves in the
order of the library, so its prediction is what predict gives for the permuted table, to
the last bit.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from .compiled import Loop
from .packing import Integers, Nodes, Packing, goes_left, nearby, nodes_for

MAX_BYTES = 256 * 2**20
MOST_DRAWS = 31
"""Draws of one group in one walk: each has a bit."""
MOST_ROWS, BLOCK_BYTES = 256, 2**20
"""Rows that walk one tree before the next is read, and what their sums may take."""

# The place of the only bit of a number below 2**32, by its product with a constant.
SPREAD = 0x077CB531
PLACES = np.zeros(32, dtype=np.int64)
PLACES[[(SPREAD << k & 0xFFFFFFFF) >> 27 for k in range(32)]] = np.arange(32)


def replay(
    packing: Packing,
    bins: Integers,
    groups: Sequence[Sequence[int]],
    draws: Iterable[tuple[int, npt.NDArray[Any]]],
    *,
    n_threads: int = 1,
    max_bytes: int = MAX_BYTES,
) -> Iterator[Floats]:
    """Yield the prediction of each draw, (n_rows, 1 or n_classes).

    Parameters
    ----------
    packing : Packing
    bins : ndarray of shape (n_features, n_rows)
        ``packing.bins`` of the rows.
    groups : sequence of sequence of int
        The columns that are permuted together.
    draws : iterable of (int, ndarray of shape (n_rows,))
        Which group is permuted, and the row from which each row is given its values. In
        any order; many at once take less time than few.
    n_threads : int, default 1
        The predictions do not depend on it.
    max_bytes : int, default 256 MiB
        Of the predictions and draws that are held together; one draw at least.
    """
    n_rows = bins.shape[1]
    at_once = max(1, max_bytes // (8 * (packing.n_outputs + 1) * max(1, n_rows)))
    nodes = nodes_for(packing, bins)
    rows = nearby(nodes, bins).astype(np.int32)
    used = {int(j) for j in np.unique(packing.feature) if j >= 0}
    columns = [[j for j in group if j in used] for group in groups]
    remaining = iter(draws)
    while batch := list(islice(remaining, at_once)):
        what = [group for group, _ in batch]
        orders = np.array([order for _, order in batch], dtype=np.int32)
        sums = np.empty((len(batch), n_rows, packing.n_outputs), packing.values.dtype)
        for layout in _layouts(columns, what, packing.n_features):
            start, depth = packing.start, packing.depth
            task = _Task(nodes, bins, rows, orders, layout, start, depth)
            _walk_all(task, sums, n_threads)
        yield from (packing.predicted(each) for each in sums)


class _Layout(NamedTuple):
    """Draws that are walked together, those of one group side by side.

    Attributes
    ----------
    draws : ndarray of shape (n_draws,)
        The place of each among all draws.
    permuting : ndarray of shape (n_features, 3)
        The first draw of the group that permutes a feature, which names the group, -1
        if none does; the first of the bins that its draws give to the feature; and the
        number of these draws.
    n_bins : int
        How many bins the draws give to a row.
    """

    draws: Integers
    permuting: Integers
    n_bins: int


def _layouts(
    groups: Sequence[Sequence[int]], what: Sequence[int], n_features: int
) -> Iterator[_Layout]:
    """Yield draws that can be walked together: each feature is of one group only.

    Draws of a group that no node uses all join the first walk.
    """
    walks: list[dict[int, list[int]]] = [{}]
    owners: list[dict[int, int]] = [{}]
    for draw, group in enumerate(what):
        for walk, owner in zip(walks, owners, strict=True):
            is_free = all(owner.get(j, group) == group for j in groups[group])
            is_short = len(walk.get(group, ())) < MOST_DRAWS or not groups[group]
            if is_free and is_short:
                break
        else:
            walk, owner = {}, {}
            walks.append(walk)
            owners.append(owner)
        walk.setdefault(group, []).append(draw)
        owner.update(dict.fromkeys(groups[group], group))
    for walk in walks:
        permuting = np.full((n_features, 3), -1, dtype=np.int32)
        n_placed, n_bins = 0, n_features
        for group, own in walk.items():
            for j in groups[group]:
                permuting[j] = n_placed, n_bins, len(own)
                n_bins += len(own)
            n_placed += len(own)
        draws = [draw for own in walk.values() for draw in own]
        yield _Layout(np.array(draws, dtype=np.int32), permuting, n_bins - n_features)


class _Task(NamedTuple):
    """What is walked.

    Attributes
    ----------
    rows : ndarray of int32, shape (n_rows,)
        The rows in the order in which they walk.
    orders : ndarray of int32, shape (n_draws, n_rows)
        The rows from which these are given values.
    """

    nodes: Nodes
    bins: Integers
    rows: Integers
    orders: Integers
    layout: _Layout
    start: Floats
    depth: int


def _walk_all(task: _Task, sums: Floats, n_threads: int) -> None:
    """Walk all rows, several parts of them at a time if there are threads."""
    n_rows = task.bins.shape[1]
    row_bytes = 8 * len(task.layout.draws) * len(task.start) + 4 * task.layout.n_bins
    block = min(max(BLOCK_BYTES // max(1, row_bytes), 16), MOST_ROWS)
    edges = [*range(0, n_rows, 4 * block), n_rows]
    if n_threads == 1 or len(edges) == 2:  # one part: a pool takes longer than it
        _walk_rows(task, sums, 0, n_rows, block)
        return
    with ThreadPoolExecutor(n_threads) as threads:
        parts = [
            threads.submit(_walk_rows, task, sums, first, last, block)
            for first, last in pairwise(edges)
        ]
        for part in parts:
            part.result()


@Loop
def _walk_rows(task: Any, sums: Floats, first: int, last: int, block: int) -> None:
    """Fill in the sums of some rows, block by block."""
    nodes, layout = task.nodes, task.layout
    n_draws, n_outputs = len(layout.draws), len(task.start)
    table, rules, permuting = nodes.table, nodes.rules, layout.permuting
    rows = np.empty((block, len(task.bins) + layout.n_bins), np.int32)
    on_path = np.full(n_draws, -1, np.int64)
    departures = np.empty((2 * task.depth + 2, 3), np.int64)
    arrivals = np.empty((n_draws, 2), np.int64)
    totals = np.empty((block, n_outputs, n_draws), sums.dtype)
    elsewhere = np.empty(n_draws, sums.dtype)
    for begin in range(first, last, block):
        own = task.rows[begin : min(begin + block, last)]
        n_rows = len(own)
        _read_block(task, own, rows)
        for k in range(n_outputs):
            totals[:, k] = task.start[k]
        for tree, root in enumerate(nodes.roots):
            target = nodes.targets[tree]
            for i in range(n_rows):
                row = rows[i]
                leaf, n = _walk_path(
                    table, rules, permuting, row, root, departures, on_path
                )
                n = _walk_subtrees(
                    table, rules, permuting, row, n, departures, arrivals
                )
                for k in range(nodes.values.shape[1]):
                    values, each = nodes.values[:, k], totals[i, target + k]
                    _add_leaves(values, leaf, arrivals, n, each, elsewhere)
        for at in range(n_draws):
            for i in range(n_rows):
                for k in range(n_outputs):
                    sums[layout.draws[at], own[i], k] = totals[i, k, at]


@Loop
def _read_block(task: Any, own: Integers, to: Integers) -> None:
    """Read the bins of the rows of a block, and those that the draws give them."""
    for j in range(len(task.bins)):
        bins = task.bins[j]
        for i in range(len(own)):
            to[i, j] = bins[own[i]]
        group, first_bin, n_drawn = task.layout.permuting[j]
        for k in range(n_drawn):
            order = task.orders[task.layout.draws[group + k]]
            for i in range(len(own)):
                to[i, first_bin + k] = bins[order[own[i]]]


@Loop
def _going_left(
    table: Integers, rules: Any, permuting: Integers, row: Integers, node: int
) -> np.int64:
    """Return which draws of the feature of a node go left there, as bits."""
    feature, bits = table[node, 0], np.int64(0)
    first, n_drawn = permuting[feature, 1], permuting[feature, 2]
    for k in range(n_drawn):
        bits |= np.int64(goes_left(table, rules, node, row[first + k])) << k
    return bits


@Loop
def _walk_path(
    table: Integers,
    rules: Any,
    permuting: Integers,
    row: Integers,
    root: int,
    departures: Integers,
    on_path: Integers,
) -> tuple[int, int]:
    """Return the leaf of a row, and at how many nodes draws left its path.

    `departures` gets the nodes they went to, their group, and which they are, as bits.
    """
    node, n_departures = root, 0
    while table[node, 0] >= 0:
        feature, right = table[node, 0], table[node, 3]
        is_left = goes_left(table, rules, node, row[feature])
        group = permuting[feature, 0]
        if group >= 0:
            leaving = _going_left(table, rules, permuting, row, node)
            leaving ^= -np.int64(is_left)  # every bit turned
            leaving &= on_path[group] & ((1 << permuting[feature, 2]) - 1)
            if leaving:
                departures[n_departures, 0] = right if is_left else node + 1
                departures[n_departures, 1] = group
                departures[n_departures, 2] = leaving
                on_path[group] ^= leaving
                n_departures += 1
        node = right + (node + 1 - right) * is_left  # no jump to be foreseen
    for k in range(n_departures):
        on_path[departures[k, 1]] = -1
    return node, n_departures


@Loop
def _walk_subtrees(
    table: Integers,
    rules: Any,
    permuting: Integers,
    row: Integers,
    n_departures: int,
    departures: Integers,
    arrivals: Integers,
) -> int:
    """Let the draws that left the path walk on; return how many they are.

    `arrivals` gets each of them and its leaf.
    """
    n_arrivals = 0
    while n_departures > 0:
        n_departures -= 1
        node, group = departures[n_departures, 0], departures[n_departures, 1]
        draws = departures[n_departures, 2]
        while table[node, 0] >= 0:
            feature, right = table[node, 0], table[node, 3]
            if permuting[feature, 0] != group:
                is_left = goes_left(table, rules, node, row[feature])
            else:
                left = draws & _going_left(table, rules, permuting, row, node)
                is_left = left != 0
                if is_left and left != draws:
                    departures[n_departures, 0] = right
                    departures[n_departures, 1] = group
                    departures[n_departures, 2] = draws ^ left
                    n_departures += 1
                    draws = left
            node = right + (node + 1 - right) * is_left
        while draws:
            lowest = draws & -draws
            draws ^= lowest
            place = PLACES[(lowest * SPREAD & 0xFFFFFFFF) >> 27]
            arrivals[n_arrivals, 0], arrivals[n_arrivals, 1] = group + place, node
            n_arrivals += 1
    return n_arrivals


@Loop
def _add_leaves(
    values: Floats,
    leaf: int,
    arrivals: Integers,
    n_arrivals: int,
    sums: Floats,
    elsewhere: Floats,
) -> None:
    """Add the leaf of the row to all draws, and theirs to those that left its path."""
    for at in range(n_arrivals):
        elsewhere[at] = sums[arrivals[at, 0]] + values[arrivals[at, 1]]
    own = values[leaf]
    for draw in range(len(sums)):
        sums[draw] += own
    for at in range(n_arrivals):
        sums[arrivals[at, 0]] = elsewhere[at]
