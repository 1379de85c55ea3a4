"""Performance, calibration and importances in segments: rows by values of a column.

A model that is good on all rows may not be for one region, year or sex. Each segment is
evaluated as all rows are, with the same predictions. Not: the column (`data.read`), nor
the permuted losses in each segment (`methods.importance.segment_losses`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..data.column_types import is_category, text_of
from ..methods.importance.segment_losses import SegmentLosses
from ..models.diagnostics import calibration_rows
from ..records.dataset_and_model import Dataset, FittedModel, Floats
from ..records.frames import Row
from ..records.importance_record import Importance
from ..records.influence import INFLUENCE, std_error_of
from ..records.losses import LOSSES

LEAST_ROWS = 30
"""Least rows of positive weight of a segment that is evaluated."""
MOST_NUMBERS = 12
"""Most distinct numbers of a column of which each is a segment."""
MOST_SEGMENTS = 20
"""Most segments of a column; the rarest values share one segment."""
DIGITS = 4
"""Significant digits of the ends of a range, unless more are needed to differ."""

Kind = Literal["level", "range", "others", "missing"]
Places = npt.NDArray[np.int64]
Part = tuple[Kind, str, Places]


class Segment(NamedTuple):
    """Rows with one value, or one range of values, of a column.

    Attributes
    ----------
    column : str
    kind : {"level", "range", "others", "missing"}
        One value, a range of numbers, all rarer values together, or missing cells.
    level : str
        The value, the ends of the range, or the number of rarer values; empty if
        missing.
    rows : ndarray of shape (n_rows,)
        Places of the rows in the data.
    is_judged : bool
        Whether at least `LEAST_ROWS` of the rows have a positive weight.
    """

    column: str
    kind: Kind
    level: str
    rows: Places
    is_judged: bool

    @property
    def key(self) -> Row:
        """The key columns of the frames of segments."""
        return {"segment": self.column, "kind": self.kind, "level": self.level}


def segments_of(data: Dataset) -> tuple[Segment, ...]:
    """Return the segments of each column; every row is in one segment per column.

    They are in the order of levels or numbers. A column with more than `MOST_NUMBERS`
    numbers has the four quarters of the rows as segments. A column with more than
    `MOST_SEGMENTS` values has the most frequent ones, and one segment of all others.
    """
    return tuple(
        Segment(
            str(name),
            kind,
            level,
            rows,
            int((data.weights[rows] > 0).sum()) >= LEAST_ROWS,
        )
        for name in data.segments
        for kind, level, rows in _parts(data.segments[name])
        if len(rows)
    )


def performance_rows(
    model: FittedModel, data: Dataset, prediction: Floats, segments: Sequence[Segment]
) -> dict[str, list[Row]]:
    """Return the rows of `segment_performance` and `segment_calibration` of a model.

    Parameters
    ----------
    model : FittedModel
    data : Dataset
        The rows of the segments.
    prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Of these rows.
    segments : sequence of Segment
        The losses of those that are not judged are NaN.
    """
    quality, calibration = [], []
    for segment in segments:
        own = data.y[segment.rows], prediction[segment.rows], data.weights[segment.rows]
        key: Row = {"model": model.name, **segment.key}
        for loss in model.losses:
            value, error = _loss(loss, *own) if segment.is_judged else (np.nan, np.nan)
            judged: Row = {"loss": loss, "rows": len(segment.rows), "value": value}
            quality.append({**key, **judged, "std_error": error})
        if segment.is_judged:
            for row in calibration_rows(model, *own, n_parts=1):
                names = ("positive_class", "rows", "predicted", "observed")
                row = {name: row[name] for name in (*names, "low", "high")}
                row["rows"] = len(segment.rows)
                calibration.append({**key, **row})
    return {"segment_performance": quality, "segment_calibration": calibration}


def importance_rows(
    importance: Importance,
    losses: SegmentLosses,
    segments: Sequence[Segment],
    *,
    record: int,
) -> list[Row]:
    """Return the rows of `segment_importances` of one ranking.

    The importance of a feature in a segment is that in all rows, but of the losses of
    the segment only: values are still exchanged among all rows. The standard error is
    over other rows of the segment and other draws; the rows whose values are drawn are
    fixed.

    Parameters
    ----------
    importance : Importance
    losses : SegmentLosses
        From the same measurement.
    segments : sequence of Segment
        Those that are judged.
    record : int
        The place of `importance` in ``result.importances``.
    """
    rows = []
    k = losses.losses.index(importance.loss)
    for place, segment in enumerate(segments):
        n_repeats = importance.n_repeats
        part = replace(
            importance,
            raw=losses.permuted[place, :, :n_repeats, k],
            baseline=losses.unpermuted[place, :n_repeats, k],
        )
        error = losses.std_errors(place, importance.loss)
        error = np.where(np.isnan(error), np.nan, np.fmax(error, part.std_error))
        error[np.isnan(part.mean)] = np.nan  # a repeat has no row of the segment
        rows += [
            {"record": record, **segment.key, "feature": name}
            | {"mean": float(part.mean[j]), "std_error": float(error[j])}
            for j, name in enumerate(part.features)
        ]
    return rows


def _parts(column: pd.Series) -> list[Part]:
    """Return the kind, level and places of the rows of each segment of a column."""
    codes, values = pd.factorize(column, sort=True)  # -1 where a value is missing
    missing: Part = ("missing", "", np.flatnonzero(codes < 0))
    if is_category(column):
        present = set(values)
        values = [level for level in column.cat.categories if level in present]
        codes = pd.Categorical(column, categories=values).codes
    elif len(values) > MOST_NUMBERS and column.dtype.kind in "fiu":
        return [*_quarters(column.to_numpy(dtype=np.float64)), missing]
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    first = np.arange(len(values))
    if len(values) > MOST_SEGMENTS:
        first = np.sort(np.argsort(-counts, kind="stable")[: MOST_SEGMENTS - 1])
    parts: list[Part] = [
        ("level", text_of(values[i]), np.flatnonzero(codes == i)) for i in first
    ]
    rest = np.flatnonzero((codes >= 0) & ~np.isin(codes, first))
    return [*parts, ("others", str(len(values) - len(first)), rest), missing]


def _quarters(numbers: Floats) -> list[Part]:
    """Return the ranges between the quartiles; equal numbers are in one range."""
    known = np.sort(numbers[~np.isnan(numbers)])
    cuts = np.unique(np.quantile(known, (0.25, 0.5, 0.75), method="inverted_cdf"))
    part = np.searchsorted(cuts, numbers)  # a number at a cut is below it
    part[np.isnan(numbers)] = -1
    places = [np.flatnonzero(part == i) for i in range(len(cuts) + 1)]
    places = [rows for rows in places if len(rows)]
    ends = [(numbers[rows].min(), numbers[rows].max()) for rows in places]
    for digits in (DIGITS, 17):
        texts = [tuple(_short(end, digits) for end in pair) for pair in ends]
        if len({text for pair in texts for text in pair}) == len(set(np.ravel(ends))):
            break
    return [
        ("range", f"{low} to {high}", rows)
        for (low, high), rows in zip(texts, places, strict=True)
    ]


def _short(number: float, digits: int) -> str:
    """Return a number with so many significant digits; an integer with all of them."""
    is_short = not np.isfinite(number) or number == round(number)
    return text_of(number) if is_short else f"{number:.{digits}g}"


def _loss(
    name: str, y: Floats, prediction: Floats, weights: Floats
) -> tuple[float, float]:
    """Return a loss of some rows and its standard error, NaN if unknown."""
    error = np.nan
    with np.errstate(all="ignore"):  # NaN if a class is absent, or after an overflow
        value = float(LOSSES[name].function(y, prediction, weights))
        if name in INFLUENCE:
            error = std_error_of(INFLUENCE[name](y, prediction, weights))
    return value, error
