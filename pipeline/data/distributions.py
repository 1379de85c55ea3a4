"""Where the rows of curves lie along their features, counted: no row is told."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..records.dataset_and_model import Dataset, Floats
from ..records.frames import FRAMES
from ..records.importance_record import Effect
from .column_types import is_category

BINS = 20
"""Most bins of a number: enough for the foot of a panel."""


def distributions_frame(
    datasets: Iterable[Dataset | None], curves: Iterable[Effect]
) -> pd.DataFrame:
    """Return how many rows lie where along each feature that has a curve.

    Parameters
    ----------
    datasets : iterable of Dataset or None
        The rows of each split; None has none.
    curves : iterable of Effect
        They name the features, and the splits whose rows they are taken over.

    Returns
    -------
    DataFrame
        One row per split, feature and bin of a number, or level of a category. Columns:
        split, feature, bin (from 1), low and high (ends of the bin, NaN of a level; the
        last bin holds its upper end, no other does), level (empty of a bin), rows (how
        many), weight (the sum of theirs). Levels that no row has count 0. Missing
        values lie nowhere: the frame ``columns`` counts them.
    """
    splits: dict[str, Dataset]
    splits = {data.split: data for data in datasets if data is not None}
    pairs = dict.fromkeys((curve.split, curve.feature) for curve in curves)
    rows = [
        {"split": split, "feature": feature, "bin": n, **place}
        for split, feature in pairs
        if split in splits
        for n, place in enumerate(_places(splits[split], feature), start=1)
    ]
    return FRAMES["distributions"].of(rows)


def _places(data: Dataset, feature: str) -> Iterator[dict[str, Any]]:
    """Yield the bins or levels of one feature, in their order."""
    is_present = data.X[feature].notna().to_numpy(dtype=bool)
    column, weights = data.X[feature][is_present], np.asarray(data.weights)[is_present]
    if is_category(column):
        codes, names = column.cat.codes.to_numpy(), column.cat.categories
        counts = (np.bincount(codes, w, len(names)) for w in (None, weights))
        for name, rows, weight in zip(names, *counts, strict=True):
            place = {"low": np.nan, "high": np.nan, "level": str(name)}
            yield {**place, "rows": int(rows), "weight": float(weight)}
    elif len(column):
        numbers = column.to_numpy(dtype=np.float64)
        edges = bins_of(numbers)
        counts = (np.histogram(numbers, edges, weights=w)[0] for w in (None, weights))
        for low, high, rows, weight in zip(edges, edges[1:], *counts, strict=False):
            place = {"low": float(low), "high": float(high), "level": ""}
            yield {**place, "rows": int(rows), "weight": float(weight)}


def bins_of(numbers: Floats) -> Floats:
    """Return the ends of at most `BINS` equally wide bins that hold all the numbers.

    Of whole numbers each bin holds equally many, and ends half way between two: else
    some would hold one more than their neighbours, and look fuller. The last may reach
    beyond the largest number and look emptier. Other numbers that are all alike share
    one bin of no width.
    """
    low, high = float(numbers.min()), float(numbers.max())
    is_whole = bool((numbers == np.trunc(numbers)).all())
    if is_whole and max(abs(low), abs(high)) < 2.0**52:  # above, no halves exist
        width = np.ceil((high - low + 1) / BINS)
        n_bins = int(np.ceil((high - low + 1) / width))
        return np.asarray(low - 0.5 + width * np.arange(n_bins + 1))
    if low == high:
        return np.array([low, high])
    share = np.linspace(0.0, 1.0, BINS + 1)
    return np.sort(low * (1 - share) + high * share)  # rounding may swap two ends
