"""Dates and times: parsing of texts, parts of dates, conversion to and from seconds.

The audit stores a column of dates as seconds since 1970-01-01, so that all code for
numeric columns works with it. A model that was fitted elsewhere gets the original
dates. A model that the audit fits is given parts of dates, never the seconds.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.dataset_and_model import ColumnType
from ..records.errors import DataError, in_short, listed, quote

MICROSECOND = 1000  # nanoseconds
UNIT = "seconds since 1970-01-01"
KINDS = ("datetime64", "datetime", "date")
"""Results of `pandas.api.types.infer_dtype` for columns of dates."""
ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
    r"(?:Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
YEARS = (1678, 2261)  # the first and last whole year of datetime64[ns]
PARTS: dict[str, Callable[[pd.DatetimeIndex], Any]] = {
    "year": lambda times: times.year,
    "quarter": lambda times: times.quarter,
    "month": lambda times: times.month,
    "week": lambda times: times.isocalendar().week,
    "day": lambda times: times.day,
    "dayofyear": lambda times: times.dayofyear,
    "weekday": lambda times: times.dayofweek + 1,
    "hour": lambda times: times.hour,
    "minute": lambda times: times.minute,
    "days": lambda times: (times - pd.Timestamp(1970, 1, 1)).days,
}
"""Each part of a date as a number, in the time zone of the column: weeks of ISO 8601,
weekdays from Monday 1 to Sunday 7, days since 1970-01-01."""


def is_dates(column: pd.Series) -> bool:
    """Return whether a column is of datetime64, with a time zone or without."""
    return bool(column.dtype.kind == "M")


def was_dates(kind: ColumnType | None) -> bool:
    """Return whether a column held dates before the audit converted it."""
    return kind is not None and kind.cells in KINDS


def from_values(column: pd.Series) -> pd.Series:
    """Return dates of a typed table as datetime64.

    Raises
    ------
    DataError
        If pandas cannot store them, or float64 seconds cannot represent them.
    """
    try:
        times = pd.to_datetime(column)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            "holds dates that pandas cannot store in one column. Use a single time "
            f"zone, and years from {YEARS[0]} to {YEARS[1]}. pandas says: "
            f"{in_short(str(error))}"
        ) from error
    if column.dtype == object and getattr(times.dt, "tz", None) is not None:
        raise DataError(
            "holds times with a time zone as objects. Convert them: "
            "pd.to_datetime(column)"
        )
    if not _from_seconds(seconds_of(times)).equals(pd.DatetimeIndex(_in_utc(times))):
        raise DataError(
            f"holds times with more digits than float64 keeps of {UNIT}. Round "
            'them: column.dt.round("ms")'
        )
    return times


def from_texts(cells: pd.Series, written: str) -> pd.Series:
    """Return texts as datetime64 without a time zone.

    An offset from UTC is dropped: the time is the local one, as written.

    Parameters
    ----------
    cells : Series of str
        NaN where a cell is missing.
    written : str
        The format for `datetime.strptime`; empty for ISO dates such as 2024-01-31 or
        2024-01-31T10:20.

    Raises
    ------
    DataError
        If a cell does not have the format, or offsets differ.
    """
    codes, words = pd.factorize(cells.astype(object))
    times = [_time(str(word), written) for word in words]
    wrong = [word for word, time in zip(words, times, strict=True) if time is None]
    if wrong:
        n_wrong = int(np.isin(codes, [i for i, t in enumerate(times) if not t]).sum())
        how = f"in the format {quote(written)}" if written else "such as 2024-01-31"
        remedy = "Correct the format" if written else 'Set format, such as "%d.%m.%Y",'
        raise DataError(
            f"holds {listed(wrong)} in {n_wrong} of {len(cells)} cells, where dates "
            f"{how}, of the years {YEARS[0]} to {YEARS[1]}, are expected. {remedy} "
            "under [[derived]], or add the markers of missing values to [data] "
            "missing_values."
        )
    offsets = {
        str(time.utcoffset()) if time.tzinfo else "none" for time in times if time
    }
    if len(offsets) > 1:
        raise DataError(
            "holds times with several offsets from UTC: "
            f"{listed(sorted(offsets))}. Use a single offset, or none."
        )
    naive = [time.replace(tzinfo=None) for time in times if time] + [pd.NaT]
    return pd.Series(pd.DatetimeIndex(naive)[codes])  # -1, a missing cell, is the last


def _time(word: str, written: str) -> datetime | None:
    """Return the time that a text states in a format, None if it does not match."""
    word = word.strip()
    try:
        if written:
            time = datetime.strptime(word, written)
        elif ISO.fullmatch(word):
            time = datetime.fromisoformat(word)
        else:
            return None
    except ValueError:
        return None
    return time if YEARS[0] <= time.year <= YEARS[1] else None


def as_years(column: pd.Series) -> pd.Series:
    """Return the years of a column of dates; other columns are returned unchanged."""
    return column.dt.year if is_dates(column) else column


def seconds_of(times: pd.Series) -> pd.Series:
    """Return dates as float64 seconds since 1970-01-01 in UTC, NaN if missing."""
    values = _in_utc(times)
    microseconds = values.view(np.int64) // MICROSECOND
    seconds = np.where(np.isnat(values), np.nan, microseconds / 1e6)
    return pd.Series(seconds, index=times.index, name=times.name)


def _in_utc(times: pd.Series) -> npt.NDArray[np.datetime64]:
    if times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    return times.to_numpy(dtype="datetime64[ns]")


def _from_seconds(seconds: pd.Series) -> pd.DatetimeIndex:
    is_missing = seconds.isna().to_numpy()
    microseconds = np.rint(seconds.to_numpy() * 1e6)
    whole = np.where(is_missing, 0, microseconds).astype(np.int64)
    times = (whole * MICROSECOND).view("datetime64[ns]")
    times[is_missing] = np.datetime64("NaT")
    return pd.DatetimeIndex(times)


def restored(seconds: pd.Series, kind: ColumnType) -> Any:
    """Return seconds as the dates that the column originally held."""
    times = _from_seconds(seconds)
    if kind.cells == "date":
        times = times.round("D")
    if kind.dtype != object:
        zone = getattr(kind.dtype, "tz", None)
        return times.tz_localize("UTC").tz_convert(zone) if zone else times
    cells = np.full(len(times), kind.missing[0] if kind.missing else pd.NaT, object)
    present = times.notna()
    values = times[present]
    cells[present] = values.date if kind.cells == "date" else values.to_pydatetime()
    return cells


def date_part(column: pd.Series, part: str) -> npt.NDArray[Any]:
    """Return a part of dates, in their own time zone.

    The result is int64, or float64 with NaN if dates are missing.
    """
    own = column.dt.tz_localize(None) if column.dt.tz is not None else column
    times = pd.DatetimeIndex(own.to_numpy(dtype="datetime64[ns]"))
    is_missing = times.isna()
    numbers = pd.Series(np.asarray(PARTS[part](times[~is_missing]), dtype=np.int64))
    if not is_missing.any():
        return numbers.to_numpy()
    cells = np.full(len(times), np.nan)
    cells[~is_missing] = numbers
    return cells
