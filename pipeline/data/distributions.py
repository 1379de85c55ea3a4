"""Histograms of the features that have curves: counts only, no single rows."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..records.dataset_and_model import Dataset, Floats
from ..records.frames import FRAMES
from ..records.importance_record import Effect
from .column_types import is_category

BINS = 20
"""Largest number of bins of a numeric feature, as shown below a panel."""


def distributions_frame(
    datasets: Iterable[Dataset | None], curves: Iterable[Effect]
) -> pd.DataFrame:
    """Return the histogram of each feature that has a curve.

    Parameters
    ----------
    datasets : iterable of Dataset or None
        The rows of each split; None is skipped.
    curves : iterable of Effect
        Their features and splits are those of the histograms.

    Returns
    -------
    DataFrame
        One row per split, feature and bin of a number, or level of a category. Columns:
        split, feature, bin (from 1), low and high (ends of the bin, NaN for a level;
        only the last bin includes its upper end), level (empty for a bin), rows (their
        number), weight (the sum of their weights). Levels without rows have count 0.
        Missing values are in no bin: the frame ``columns`` counts them.
    """
    splits: dict[str, Dataset]
    splits = {data.split: data for data in datasets if data is not None}
    pairs = dict.fromkeys((curve.split, curve.feature) for curve in curves)
    rows = [
        {"split": split, "feature": feature, "bin": n, **counted}
        for split, feature in pairs
        if split in splits
        for n, counted in enumerate(_histogram(splits[split], feature), start=1)
    ]
    return FRAMES["distributions"].of(rows)


def _histogram(data: Dataset, feature: str) -> Iterator[dict[str, Any]]:
    """Yield the columns low, high, level, rows and weight for each bin or level."""
    is_present = data.X[feature].notna().to_numpy(dtype=bool)
    column, weights = data.X[feature][is_present], np.asarray(data.weights)[is_present]
    if is_category(column):
        codes, names = column.cat.codes.to_numpy(), column.cat.categories
        counts = (np.bincount(codes, w, len(names)) for w in (None, weights))
        for name, rows, weight in zip(names, *counts, strict=True):
            bounds = {"low": np.nan, "high": np.nan, "level": str(name)}
            yield {**bounds, "rows": int(rows), "weight": float(weight)}
    elif len(column):
        numbers = column.to_numpy(dtype=np.float64)
        edges = bins_of(numbers)
        counts = (np.histogram(numbers, edges, weights=w)[0] for w in (None, weights))
        for low, high, rows, weight in zip(edges, edges[1:], *counts, strict=False):
            bounds = {"low": float(low), "high": float(high), "level": ""}
            yield {**bounds, "rows": int(rows), "weight": float(weight)}


def bins_of(numbers: Floats) -> Floats:
    """Return the ends of at most `BINS` bins of equal width that hold all the numbers.

    If all numbers are whole, each bin covers the same number of whole numbers and ends
    half way between two of them; otherwise some bins would cover one more than their
    neighbours and look fuller. The last bin may extend beyond the largest number and
    look emptier. If all numbers are equal and not whole, there is one bin of width 0.
    """
    low, high = float(numbers.min()), float(numbers.max())
    is_whole = bool((numbers == np.trunc(numbers)).all())
    if is_whole and max(abs(low), abs(high)) < 2.0**52:  # above, float64 has no halves
        width = np.ceil((high - low + 1) / BINS)
        n_bins = int(np.ceil((high - low + 1) / width))
        return np.asarray(low - 0.5 + width * np.arange(n_bins + 1))
    if low == high:
        return np.array([low, high])
    share = np.linspace(0.0, 1.0, BINS + 1)
    return np.sort(low * (1 - share) + high * share)  # rounding may reverse two ends
