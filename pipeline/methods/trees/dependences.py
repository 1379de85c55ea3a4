"""Partial dependences on some columns and on all others, at the rows.

If a row is given these columns from another row, its path depends on the other row at
nodes that split by these columns, and on the row itself at all other nodes. So the
distinct values of the columns are listed once, as settings, with the nodes that each
reaches. A row then walks each tree once for all settings, down both sides of a node
that separates them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.dataset_and_model import Floats
from ...records.execution import threads_of
from .compiled import Loop
from .packing import Integers, Nodes, Packing, goes_left, nodes_for

PARTS = -2
"""Replaces the feature of a node that separates the settings."""


class _Walk(NamedTuple):
    """The nodes to walk, and the settings that reach them.

    Attributes
    ----------
    nodes : Nodes
        If all settings take one side of a node, both children are that side; if not,
        the feature is `PARTS`.
    segment : ndarray of shape (n_nodes,)
        The settings that reach a node are ``segments[s]:segments[s + 1]`` of `runs`.
    segments : ndarray of shape (n_segments + 1,)
    runs : ndarray of shape (n_runs, 2)
        The first of a run of adjacent settings, and the first after them.
    start : ndarray of shape (n_outputs,)
    depth : int
    """

    nodes: Nodes
    segment: Integers
    segments: npt.NDArray[np.int64]
    runs: Integers
    start: Floats
    depth: int


def dependences(
    packing: Packing, bins: Integers, columns: Sequence[int], *, n_threads: int = 1
) -> tuple[Floats, Floats]:
    """Return the partial dependences on some columns and on all others, at the rows.

    At row i, `own` is the mean over all rows of their predictions with the columns of
    row i, and `others` the mean of the predictions of row i with the columns of each
    row. In a walk, a leaf counts once for each row whose columns lead there.

    Parameters
    ----------
    packing : Packing
        One for which `partial_dependence.reason_against` is empty.
    bins : ndarray of shape (n_features, n_rows)
        ``packing.bins`` of the rows, which have equal weights.
    columns : sequence of int
    n_threads : int, default 1
        The dependences do not depend on it.

    Returns
    -------
    own, others : ndarray of shape (n_rows, n_outputs)
    """
    n_rows, nodes = bins.shape[1], nodes_for(packing, bins)
    settings, place = np.unique(bins[list(columns)], axis=1, return_inverse=True)
    place, n_settings = place.reshape(-1), settings.shape[1]
    row_of = np.full(packing.n_features, -1, dtype=np.int32)
    row_of[list(columns)] = np.arange(len(columns))
    table, segment, segments, runs = _reached(
        nodes, row_of, np.ascontiguousarray(settings)
    )
    nodes = nodes._replace(table=table)
    walk = _Walk(nodes, segment, segments, runs, packing.start, packing.depth)
    upto = np.append(0, np.cumsum(np.bincount(place, minlength=n_settings)))
    by_row = np.ascontiguousarray(bins.T)
    others = np.empty((n_rows, packing.n_outputs))
    edges = np.linspace(0, n_rows, n_threads + 1).astype(int).tolist()
    with threads_of(n_threads) as threads:
        parts = [
            threads.submit(_mean_rows, walk, by_row, upto, others, first, end)
            for first, end in pairwise(edges)
        ]
        n_reaching = np.sum([part.result() for part in parts], axis=0)
    own = _means_of_settings(walk, n_reaching, n_settings) / n_rows + packing.start
    return own[place] / packing.divisor, others / packing.divisor


@Loop
def _reached(nodes: Any, row_of: Integers, settings: Integers) -> Any:
    """Return table, segment, segments and runs of `_Walk`."""
    table, n_settings = nodes.table.copy(), settings.shape[1]
    segment = np.full(len(table), -1, np.int32)
    segments = np.zeros(2 * len(table) + 2, np.int64)
    runs = np.empty((64, 2), np.int32)
    runs[0, 0], runs[0, 1] = 0, n_settings
    segments[1], n_segments, n_runs = 1, 1, 1
    segment[nodes.roots] = 0
    buffer = np.empty((n_settings + 1, 2), np.int32)
    for node in range(len(table)):
        own = segment[node]
        if own < 0 or table[node, 0] < 0:
            continue
        left, right, row = table[node, 2], table[node, 3], row_of[table[node, 0]]
        segment[left] = segment[right] = own
        if row < 0:
            continue
        first, end = segments[own], segments[own + 1]
        for side in range(2):
            n = 0
            for run in range(first, end):
                was = False
                for at in range(runs[run, 0], runs[run, 1]):
                    where = settings[row, at]
                    now = goes_left(nodes.table, nodes.rules, node, where) != (
                        side == 1
                    )
                    if now and not was:
                        buffer[n, 0] = at
                        n += 1
                    if now:
                        buffer[n - 1, 1] = at + 1
                    was = now
            if n == 0:  # all go the other way
                table[node, 2] = table[node, 3] = right if side == 0 else left
                segment[left if side == 0 else right] = -1
                break
            if n_runs + n > len(runs):
                runs = np.concatenate((runs, np.empty((len(runs) + n, 2), np.int32)))
            runs[n_runs : n_runs + n] = buffer[:n]
            n_runs += n
            segment[left if side == 0 else right] = n_segments
            n_segments += 1
            segments[n_segments] = n_runs
        if table[node, 2] != table[node, 3]:
            table[node, 0] = PARTS
    return table, segment, segments[: n_segments + 1], runs[:n_runs]


@Loop
def _find_leaves(
    nodes: Any, row: Integers, root: int, stack: Integers, leaves: Integers
) -> int:
    """Write the leaves of one tree that a row reaches with any setting into `leaves`.

    Returns the number of leaves.
    """
    table, rules = nodes.table, nodes.rules
    stack[0], n_stacked, n_leaves = root, 1, 0
    while n_stacked > 0:
        n_stacked -= 1
        node = stack[n_stacked]
        feature = table[node, 0]
        while feature != -1:
            left, right = table[node, 2], table[node, 3]
            if feature == PARTS:
                stack[n_stacked] = right
                n_stacked += 1
                node = left
            else:
                is_left = goes_left(table, rules, node, row[feature])
                node = right + (left - right) * is_left  # no branch to predict
            feature = table[node, 0]
        leaves[n_leaves] = node
        n_leaves += 1
    return n_leaves


@Loop
def _mean_rows(
    walk: Any,
    rows: Integers,
    upto: npt.NDArray[np.int64],
    others: Floats,
    first: int,
    end: int,
) -> Any:
    """Fill in the means over all settings of some rows; return the rows per leaf.

    ``upto[s]`` is the number of rows with a setting below s.
    """
    nodes, values = walk.nodes, walk.nodes.values
    n_reaching = np.zeros(len(nodes.table), np.int64)
    shares = np.zeros(len(walk.segments) - 1)
    for segment in range(len(shares)):
        for run in range(walk.segments[segment], walk.segments[segment + 1]):
            shares[segment] += upto[walk.runs[run, 1]] - upto[walk.runs[run, 0]]
    shares /= upto[-1]
    leaves = np.empty(len(nodes.table), np.int32)
    stack = np.empty(walk.depth + 2, np.int32)
    others[first:end] = walk.start
    for tree, root in enumerate(nodes.roots):
        target = nodes.targets[tree]
        for i in range(first, end):
            for at in range(_find_leaves(nodes, rows[i], root, stack, leaves)):
                leaf = leaves[at]
                n_reaching[leaf] += 1
                share = shares[walk.segment[leaf]]
                for k in range(values.shape[1]):
                    others[i, target + k] += share * values[leaf, k]
    return n_reaching


@Loop
def _means_of_settings(walk: Any, n_reaching: Any, n_settings: int) -> Floats:
    """Return the sum over rows of the leaves of each setting."""
    nodes, values = walk.nodes, walk.nodes.values
    steps = np.zeros((n_settings + 1, len(walk.start)))
    tree = -1
    for node in range(len(nodes.table)):
        if tree + 1 < len(nodes.roots) and node == nodes.roots[tree + 1]:
            tree += 1
        if n_reaching[node] == 0:
            continue
        segment = walk.segment[node]
        for run in range(walk.segments[segment], walk.segments[segment + 1]):
            for k in range(values.shape[1]):
                value = n_reaching[node] * values[node, k]
                steps[walk.runs[run, 0], nodes.targets[tree] + k] += value
                steps[walk.runs[run, 1], nodes.targets[tree] + k] -= value
    for at in range(1, n_settings):
        steps[at] += steps[at - 1]
    return steps[:n_settings]
