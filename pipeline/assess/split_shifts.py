"""Shifts of the columns between the training and the evaluation rows.

Not: the statistic (`data.shifts`), nor an approved run (`runs.baseline`).
"""

import numpy as np

from ..data.quantiles import exact_sketches
from ..data.shifts import shifts
from ..records.dataset_and_model import Dataset
from ..records.frames import Row


def split_shift_rows(train: Dataset, test: Dataset, *, limit: float) -> list[Row]:
    """Return one row of the frame `split_shifts` per feature, and one of the target.

    Parameters
    ----------
    train, test : Dataset
    limit : float
        The population stability index above which a column has moved, see
        `data.shifts.shifts`.

    Returns
    -------
    list of dict
        In descending order of `largest_index`.
    """
    before, after = exact_sketches(train), exact_sketches(test)
    pairs = {
        ("test", *key): (before[key], new)
        for key, new in after.items()
        if key in before
    }
    rows = [
        {
            "column": shift.column,
            "role": shift.role,
            "psi": shift.statistic,
            "noise": shift.noise,
            "verdict": shift.verdict,
            "missing_train": shift.missing_old,
            "missing_test": shift.missing_new,
            "missing_psi": shift.missing_statistic,
            "missing_noise": shift.missing_noise,
            "missing_verdict": shift.missing_verdict,
        }
        for shift in shifts(pairs, limit=limit)
    ]
    return sorted(rows, key=lambda row: -largest_index(row))


def largest_index(row: Row) -> float:
    """Return the larger index, of values or missing cells; NaN counts as 0."""
    return float(np.nanmax([row["psi"], row["missing_psi"], 0.0]))


def moved(row: Row) -> bool:
    """Return whether values or missing cells moved beyond limit and chance."""
    return "moved" in (row["verdict"], row["missing_verdict"])
