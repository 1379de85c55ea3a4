"""Records to Python values, in the parent: a copy, never a view of a block."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .channel import NA_INTEGER, Array, Record, read_texts

_SECONDS_OF = {
    "secs": 1,
    "mins": 60,
    "hours": 3600,
    "days": 86400,
    "weeks": 604800,
}
_MISSING_INTEGER64 = np.iinfo(np.int64).min


def unpack(record: Record, arrays: Sequence[Array]) -> Any:
    """Return the Python value of a record.

    Returns
    -------
    None, ndarray, ExtensionArray, dict, list or DataFrame
        NULL is None. Vectors are arrays, those of length 1 too, and lose their names:
        float64, int64, bool, object of str and None, datetime64, timedelta64; integer
        and logical vectors with NA are ``Int64`` and ``boolean`` arrays, factors
        Categoricals, times with a zone a DatetimeIndex. A matrix with column names is
        a DataFrame, any other array a Fortran-ordered ndarray, in which NA is NaN.
        Named lists are dicts, other lists lists.
    """
    word = record[0]
    if word == "null":
        return None
    if word == "list":
        values = [unpack(item, arrays) for item in record[2]]
        return (
            values if record[1] is None else dict(zip(record[1], values, strict=True))
        )
    if word == "frame":
        return _unpack_frame(record, arrays)
    if word == "array":
        return _unpack_array(record, arrays)
    return unpack_vector(record, arrays)


def unpack_vector(record: Record, arrays: Sequence[Array]) -> Any:
    """Return the array of a vector's record, a copy."""
    word, values = record[0], arrays[record[1]]
    if word == "double":
        # R's NA is a signalling NaN, which warns wherever it is computed with.
        copy = values.astype(np.float64)
        copy[np.isnan(copy)] = np.nan
        return copy
    if word == "factor":
        levels = read_texts(record[2], arrays)
        codes = np.maximum(values, 0) - 1
        return pd.Categorical.from_codes(codes, levels, ordered=record[3])
    if word == "character":
        texts = np.array([*read_texts(record[2], arrays), None], dtype=object)
        return texts[np.maximum(values, 0) - 1]
    if word == "integer64":
        return _with_missing(values.view(np.int64).copy(), _MISSING_INTEGER64)
    if word in {"integer", "logical"}:
        dtype = np.int64 if word == "integer" else np.bool_
        return _with_missing(values, NA_INTEGER, dtype)
    return _unpack_time(record, values)


def _with_missing(values: Array, na: int, dtype: Any = np.int64) -> Any:
    """Return the values, as a nullable array if the NA value is among them."""
    missing = values == na
    if not missing.any():
        return values.astype(dtype)
    present = np.where(missing, 0, values).astype(dtype)
    kind = pd.arrays.BooleanArray if dtype is np.bool_ else pd.arrays.IntegerArray
    return kind(present, missing)


def _unpack_time(record: Record, values: Array) -> Any:
    """Return dates, times and durations, whether R keeps them as double or integer."""
    word = record[0]
    missing = np.isnan(values) if values.dtype.kind == "f" else values == NA_INTEGER
    numbers = np.where(missing, 0.0, values)
    if word == "Date":
        days = np.floor(numbers).astype(np.int64).astype("M8[D]")
        days[missing] = np.datetime64("NaT")
        return days
    unit = _SECONDS_OF[record[2]] if word == "difftime" else 1
    micros = np.round(numbers * unit * 1e6).astype(np.int64)
    times = micros.astype("m8[us]" if word == "difftime" else "M8[us]")
    times[missing] = (
        np.timedelta64("NaT") if word == "difftime" else np.datetime64("NaT")
    )
    if word == "POSIXct" and record[2]:
        return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(record[2])
    return times


def _unpack_array(record: Record, arrays: Sequence[Array]) -> Any:
    _, vector, dim, dimnames = record
    values = unpack_vector(vector, arrays)
    if isinstance(values, pd.api.extensions.ExtensionArray):
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.reshape(values, dim, order="F")
    if len(dim) == 2 and dimnames[1] is not None:
        return pd.DataFrame(values, index=dimnames[0], columns=dimnames[1])
    return values


def _unpack_frame(record: Record, arrays: Sequence[Array]) -> pd.DataFrame:
    _, names, records, n_rows, row_names = record
    index = pd.RangeIndex(n_rows) if row_names is None else pd.Index(row_names)
    columns = {
        n: pd.Series(unpack_vector(item, arrays), index=index)
        for n, item in enumerate(records)
    }
    frame = pd.DataFrame(columns, index=index)
    frame.columns = pd.Index(names, dtype=object if not names else None)
    return frame
