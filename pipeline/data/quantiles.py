"""A sketch of the distribution of every column, to compare stored runs.

The weights of rows are ignored. `shifts` compares two sketches; histograms of features
that have curves are in `distributions`.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import Dataset, Floats
from ..records.frames import FRAMES
from .column_types import is_category

FRAME = FRAMES["quantiles"]

MOST_VALUES = 50
"""Numeric columns with at most so many distinct values keep all of them."""
PARTS = 100
"""Other numeric columns keep their quantiles at 0, 1/100, …, 1."""
Counts = npt.NDArray[np.int64]


class Sketch(NamedTuple):
    """The distribution of one column of one split, in short.

    Attributes
    ----------
    kind : {"number", "category", "missing"}
        "missing" if all cells of a numeric column are missing.
    values : ndarray
        Ascending and distinct; empty for a category.
    below, upto : ndarray
        Numbers of rows with a value less than each of `values`, and with a value less
        than or equal to it.
    levels : mapping of str to int
        Number of rows of each level, empty for a number.
    known, missing : int
        Numbers of cells with and without a value.
    """

    kind: str
    values: Floats
    below: Counts
    upto: Counts
    levels: dict[str, int]
    known: int
    missing: int


def quantiles_frame(datasets: Iterable[Dataset | None]) -> pd.DataFrame:
    """Return a sketch of each column of each set of rows, and of its target.

    A numeric column with at most 50 distinct values keeps all of them, others the order
    statistics at 0, 1/100, …, 1, which are values of rows, never interpolated. The
    numbers of rows below, at and above a kept value are exact. Less than 1/100 of the
    rows lies between two neighbouring values, so the share of rows below any number
    between them is known to 1/200 if half of these rows are counted.

    Parameters
    ----------
    datasets : iterable of Dataset or None
        None is skipped. The target of reference rows is not read.

    Returns
    -------
    DataFrame
        Columns: split; column; role, "feature" or "target"; kind, "number", "category"
        or "missing"; place, the number of rows at or below the value, or the position
        of the level from 1; value, NaN for a level; level, empty for a number; rows,
        the number of rows with this value or between it and the next, or with this
        level, which may be 0. The last row of each column is of kind "missing", with
        place 0, and counts the missing cells.
    """
    parts = [
        (data.split, name, role, *part)
        for data in datasets
        if data is not None
        for name, role, column in _columns(data)
        for part in _parts(column)
    ]
    if not parts:
        return FRAME.of()
    lengths = [len(rows) for *_, rows in parts]
    columns = {
        name: np.repeat(np.array([part[i] for part in parts], dtype=object), lengths)
        for i, name in enumerate(FRAME.columns[:4])
    }
    for i, name in enumerate(FRAME.columns[4:], start=4):
        columns[name] = np.concatenate([part[i] for part in parts])
    return pd.DataFrame(columns, columns=list(FRAME.columns))


def sketches(frame: pd.DataFrame) -> dict[tuple[str, str, str], Sketch]:
    """Return the sketches stored in a frame, by split, role and column."""
    if frame.empty:
        return {}
    keys = [frame[name].to_numpy(dtype=object) for name in ("split", "role", "column")]
    ends = np.flatnonzero(frame["kind"].to_numpy(dtype=object) == "missing")
    starts = np.concatenate([[0], ends[:-1] + 1])
    place, rows = (frame[name].to_numpy(dtype=np.int64) for name in ("place", "rows"))
    values = frame["value"].to_numpy(dtype=np.float64)
    kinds, levels = frame["kind"].tolist(), frame["level"].tolist()
    by_column = {}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        own = slice(start, end)
        by_column[tuple(key[end] for key in keys)] = _sketch(
            kinds[start], place[own], values[own], levels[own], rows[own], rows[end]
        )
    return by_column  # type: ignore[return-value]


def exact_sketches(data: Dataset) -> dict[tuple[str, str], Sketch]:
    """Return sketches that keep all distinct values, by role and column."""
    exact = {}
    for name, role, column in _columns(data):
        own, (*_, n_missing) = _parts(column, is_exact=True)
        exact[role, name] = _sketch(*own, n_missing[0])
    return exact


def _sketch(
    kind: str,
    place: Counts,
    values: Floats,
    levels: Iterable[str],
    rows: Counts,
    missing: int,
) -> Sketch:
    """Return a sketch from the rows of a frame; the last one only gives `missing`."""
    is_levels = kind == "category"
    kept = slice(0) if is_levels else slice(None)
    return Sketch(
        kind=kind if len(rows) else "missing",
        values=values[kept],
        below=(np.cumsum(rows) - rows)[kept],
        upto=place[kept],
        levels=dict(zip(levels, rows.tolist(), strict=True)) if is_levels else {},
        known=int(rows.sum()),
        missing=int(missing),
    )


def _columns(data: Dataset) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield the name, the role and the cells of each column."""
    for name in data.features:
        yield name, "feature", data.X[name]
    if data.split != "reference":
        y = pd.Series(data.y)
        if data.classes:
            y = pd.Series(pd.Categorical.from_codes(data.y.astype(int), data.classes))
        yield data.target, "target", y


_Part = tuple[str, Counts, Floats, npt.NDArray[np.object_], Counts]


def _parts(column: pd.Series, *, is_exact: bool = False) -> Iterator[_Part]:
    """Yield the rows of one sketch: kind, places, values, levels and rows."""
    if is_category(column):
        names = column.cat.categories.to_numpy(dtype=object)
        counts = np.bincount(column.cat.codes.to_numpy() + 1, minlength=len(names) + 1)
        place, missing = np.arange(1, len(names) + 1), int(counts[0])
        yield "category", place, np.full(len(names), np.nan), names, counts[1:]
    else:
        numbers = column.dropna().to_numpy(dtype=np.float64)
        missing, n = len(column) - len(numbers), len(numbers)
        values, counts = np.unique(numbers, return_counts=True)
        upto = np.cumsum(counts)
        if len(values) > MOST_VALUES and not is_exact:
            at = -(-n * np.arange(PARTS + 1) // PARTS)  # n·j/100, rounded up
            keep = np.unique(np.searchsorted(upto, np.maximum(at, 1)))
            below = (upto - counts)[keep]
            values, upto, counts = values[keep], upto[keep], np.diff(below, append=n)
        yield "number", upto, values, np.full(len(values), "", dtype=object), counts
    nothing = np.array([""], dtype=object)
    yield "missing", np.array([0]), np.array([np.nan]), nothing, np.array([missing])
