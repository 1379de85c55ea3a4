"""The exact partial dependence of every feature at every value, in one pass.

The effect of a feature on the mean prediction is a sum over leaves: a leaf contributes
its value for the rows in its box, and for those that only this feature excludes,
wherever the box accepts the value that the feature is set to.
"""

from typing import Any

import numpy as np

from ...records.dataset_and_model import Floats
from .boxes import Boxes, Places, boxes_of
from .compiled import Loop
from .counts import Counts, counts_of
from .packing import Integers, Packing

NOT_A_SUM = "Its predictions are not sums over its leaves, but a function of these."
IN_SINGLE_PRECISION = "Its library adds leaves in single precision."


def reason_against(packing: Packing) -> str:
    """Return why a mean prediction is not exactly a sum over leaves; empty if it is."""
    if packing.link != "identity":
        return NOT_A_SUM
    return IN_SINGLE_PRECISION if packing.values.dtype == np.float32 else ""


def curves_at_bins(
    packing: Packing, bins: Integers, *, n_threads: int = 1
) -> tuple[Floats, ...]:
    """Return the partial dependence of each feature at each bin, on unweighted rows.

    Parameters
    ----------
    packing : Packing
        One for which `reason_against` is empty.
    bins : ndarray of shape (n_features, n_rows)
        The rows averaged over.
    n_threads : int, default 1
        The curves do not depend on it.

    Returns
    -------
    tuple of ndarray of shape (n_bins, n_outputs)
        A feature that no node compares has the mean prediction in all its bins, so its
        curve is exactly flat.
    """
    boxes = boxes_of(packing)
    counts = counts_of(boxes, bins[boxes.used], n_threads=n_threads)
    return curves_of(packing, boxes, counts, bins.shape[1])


def curves_of(
    packing: Packing, boxes: Boxes, counts: Counts, n_rows: int
) -> tuple[Floats, ...]:
    """Return the curves of `curves_at_bins` from the counts of `n_rows` rows."""
    start = packing.start / packing.divisor
    mean = start + counts.inside @ boxes.values / n_rows
    curves = [np.tile(mean, (n, 1)) for n in packing.missing_bins + 1]
    first = np.append(0, np.cumsum(boxes.n_bins))
    own = np.zeros((first[-1], packing.n_outputs))
    for k in range(packing.n_outputs):
        values = np.ascontiguousarray(boxes.values[:, k])
        own[:, k] = _sums_at_bins(boxes, counts, values, first)
    for place, j in enumerate(boxes.used):
        curves[j] = start + own[first[place] : first[place + 1]] / n_rows
    return tuple(curves)


@Loop
def _sums_at_bins(boxes: Any, counts: Any, values: Floats, first: Places) -> Floats:
    """Return the sum over rows and leaves with each feature set to each of its bins."""
    start, feature, runs = boxes.start, boxes.feature, boxes.runs
    sums, without = np.zeros(first[-1]), np.zeros(len(first) - 1)
    total = 0.0
    for leaf in range(len(values)):
        inside = counts.inside[leaf]
        total += values[leaf] * inside
        for side in range(start[leaf], start[leaf + 1]):
            j = feature[side]
            without[j] -= values[leaf] * inside
            value = values[leaf] * (inside + counts.but_one[side])
            for run in range(boxes.run_start[side], boxes.run_start[side + 1]):
                sums[first[j] + runs[run, 0]] += value
                if first[j] + runs[run, 1] < first[j + 1]:
                    sums[first[j] + runs[run, 1]] -= value
    for j in range(len(without)):
        sums[first[j]] += total + without[j]
        for where in range(first[j] + 1, first[j + 1]):
            sums[where] += sums[where - 1]
    return sums
