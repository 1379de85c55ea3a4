"""Conversion of Python values to records and back, in the parent process.

Values without a counterpart in R are refused here, by name. Records are described in
`wire`; `r_values` converts them to R objects and back.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .errors import RBridgeError, quote
from .wire import NA_INTEGER, NA_REAL_BITS, Array, Record

_LARGEST_EXACT_INTEGER = 2**53
_SECONDS_OF = {
    "secs": 1,
    "mins": 60,
    "hours": 3600,
    "days": 86400,
    "weeks": 604800,
}
_MISSING_INTEGER64 = np.iinfo(np.int64).min


def pack(value: Any, *, subject: str) -> Record:
    """Return the record of a value.

    Parameters
    ----------
    value : None, bool, int, float, str, or a list, tuple or dict of values
        Lists and tuples of scalars become atomic vectors, other lists and dicts become
        R lists; an empty list has no type and becomes ``logical(0)``. Arrays of one or
        two dimensions, Series, Index and Categorical become vectors and matrices, a
        DataFrame becomes a data.frame without row names. NaN is sent as NA. Dates and
        times are refused: the audit holds them as numbers.
    subject : str
        Name of the value in messages.

    Raises
    ------
    RBridgeError
        If the value has no exact counterpart in R.
    """
    if value is None:
        return ("null",)
    if isinstance(value, pd.DataFrame):
        return _pack_frame(value, subject)
    if isinstance(value, Mapping):
        names = _checked_names(value, subject)
        inside = [f"{subject}, element {quote(name)}" for name in names]
        return ("list", names, _pack_each(value.values(), inside))
    if isinstance(value, np.ndarray) and value.ndim > 1:
        vector = pack(value.ravel(order="F"), subject=subject)
        return ("array", vector, value.shape, (None,) * value.ndim)
    if isinstance(value, list | tuple) and not all(map(_is_scalar, value)):
        inside = [f"{subject}, element {n + 1}" for n in range(len(value))]
        return ("list", None, _pack_each(value, inside))
    return _pack_column(_as_series(value, subject), subject)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping) and np.ndim(value) == 0


def _pack_each(values: Iterable[Any], subjects: Sequence[str]) -> tuple[Record, ...]:
    return tuple(
        pack(value, subject=subject)
        for value, subject in zip(values, subjects, strict=True)
    )


def _as_series(value: Any, subject: str) -> pd.Series:
    """Return a one-dimensional or scalar value as a Series of the same type."""
    if isinstance(value, pd.Series):
        return value
    if isinstance(value, pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(value, copy=False)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        native = value.astype(value.dtype.newbyteorder("="), copy=False)
        return pd.Series(native.astype(object) if value.dtype.kind == "U" else native)
    if _is_scalar(value):
        value = [value]
    if isinstance(value, list | tuple):
        return pd.Series(list(value), dtype=object)
    finding = f"a {type(value).__name__} was given"
    raise _refusal(subject, "be a value that R knows", finding)


def _pack_frame(frame: pd.DataFrame, subject: str) -> Record:
    names = _checked_names(frame.columns, subject)
    records = tuple(
        _pack_column(frame.iloc[:, n], f"{subject}, column {quote(name)}")
        for n, name in enumerate(names)
    )
    return ("frame", names, records, len(frame), None)


def _checked_names(names: Iterable[Hashable], subject: str) -> tuple[str, ...]:
    """Return names, refusing duplicates and names that R cannot hold."""
    labels = list(names)
    for name in labels:
        if not isinstance(name, str) or "\0" in name:
            raise _refusal(
                subject, "have text without NUL for names", f"{quote(name)} was found"
            )
    if len(set(labels)) < len(labels):
        twice = next(name for name in labels if labels.count(name) > 1)
        raise _refusal(
            subject, "name each column once", f"{quote(twice)} is given twice"
        )
    return tuple(str(name) for name in labels)


def _pack_column(column: pd.Series, subject: str) -> Record:
    """Return the record of a column, by its inferred type."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in _PACK and not isinstance(column.dtype, pd.SparseDtype):
        return _PACK[kind](column, subject)
    if column.dtype == object:
        raise _refusal(subject, "hold one type that R knows", f"{kind} was found")
    raise _refusal(subject, "have a type that R knows", f"{column.dtype} was found")


def _pack_double(column: pd.Series, subject: str) -> Record:
    del subject
    values = np.array(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return ("double", _with_na(values, np.isnan(values)))


def _pack_integer(column: pd.Series, subject: str) -> Record:
    missing = column.isna().to_numpy(dtype=bool)
    present = column[~missing].to_numpy(dtype=object)
    low, high = (min(present), max(present)) if len(present) else (0, 0)
    if low < -_LARGEST_EXACT_INTEGER or high > _LARGEST_EXACT_INTEGER:
        extreme = high if high > _LARGEST_EXACT_INTEGER else low
        raise _refusal(
            subject, "hold integers up to 2**53", f"{int(extreme)} was found"
        )
    fits = low > NA_INTEGER and high < 2**31
    values = np.zeros(len(column), np.int32 if fits else np.float64)
    values[~missing] = present
    word = "integer" if fits else "double"
    return (word, _with_na(values, missing))


def _pack_logical(column: pd.Series, subject: str) -> Record:
    del subject
    missing = column.isna().to_numpy(dtype=bool)
    values = np.zeros(len(column), np.int32)
    values[~missing] = column[~missing].to_numpy(dtype=bool)
    return ("logical", _with_na(values, missing))


def _pack_factor(column: pd.Series, subject: str) -> Record:
    levels = [str(level) for level in column.cat.categories]
    if len(set(levels)) < len(levels):
        twice = next(level for level in levels if levels.count(level) > 1)
        raise _refusal(
            subject,
            "have levels that differ as text",
            f"{quote(twice)} is given twice",
        )
    codes = column.cat.codes.to_numpy(dtype=np.int32) + np.int32(1)
    word = "ordered" if column.cat.ordered else "factor"
    return (word, _with_na(codes, codes == 0), _checked_texts(levels, subject))


def _pack_character(column: pd.Series, subject: str) -> Record:
    codes, distinct = pd.factorize(column)
    codes = codes.astype(np.int32) + np.int32(1)
    texts = _checked_texts([str(text) for text in distinct], subject)
    return ("character", _with_na(codes, codes == 0), texts)


_PACK: dict[str, Callable[[pd.Series, str], Record]] = {
    "floating": _pack_double,
    "mixed-integer-float": _pack_double,
    "integer": _pack_integer,
    "boolean": _pack_logical,
    "empty": _pack_logical,
    "categorical": _pack_factor,
    "string": _pack_character,
}
"""Packing functions by the type that pandas infers."""


def _with_na(values: Array, missing: Array) -> Array:
    """Return the array with R's NA where `missing`; R's NaN is another value."""
    if values.dtype == np.float64:
        values.view(np.int64)[missing] = NA_REAL_BITS
    else:
        values[missing] = NA_INTEGER
    return values


def _checked_texts(texts: list[str], subject: str) -> list[str]:
    """Return texts, refusing those that R cannot hold."""
    try:
        "\0".join(texts).encode()
    except UnicodeEncodeError as error:
        raise _refusal(subject, "hold valid Unicode", str(error)) from error
    if any("\0" in text for text in texts):
        raise _refusal(subject, "hold text without NUL", "a NUL character was found")
    return texts


def _refusal(subject: str, rule: str, finding: str) -> RBridgeError:
    return RBridgeError(f"{subject} must {rule}; {finding}.")


def unpack(record: Record) -> Any:
    """Return the Python value of a record.

    Returns
    -------
    None, ndarray, ExtensionArray, dict, list or DataFrame
        NULL is None. Vectors become arrays, even of length 1, and lose their names:
        float64, int64, bool, object of str and None, datetime64, timedelta64. Integer
        and logical vectors with NA become ``Int64`` and ``boolean`` arrays, factors
        Categoricals, times with a zone a DatetimeIndex. A matrix with column names
        becomes a DataFrame, any other array a Fortran-ordered ndarray with NaN for NA.
        Named lists become dicts, other lists lists.
    """
    word = record[0]
    if word == "null":
        return None
    if word == "list":
        values = [unpack(item) for item in record[2]]
        return (
            values if record[1] is None else dict(zip(record[1], values, strict=True))
        )
    if word == "frame":
        return _unpack_frame(record)
    if word == "array":
        return _unpack_array(record)
    return unpack_vector(record)


def unpack_vector(record: Record) -> Any:
    """Return the array in the record of a vector, as a copy."""
    word, values = record[0], record[1]
    if word == "double":
        # R's NA is a signalling NaN, which raises warnings in computations.
        copy = values.astype(np.float64)
        copy[np.isnan(copy)] = np.nan
        return copy
    if word in {"factor", "ordered"}:
        codes = np.maximum(values, 0) - 1
        return pd.Categorical.from_codes(codes, record[2], ordered=word == "ordered")
    if word == "character":
        texts = np.array([*record[2], None], dtype=object)
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
    """Return dates, times and durations, stored by R as double or integer."""
    word = record[0]
    missing = np.isnan(values) if values.dtype.kind == "f" else values == NA_INTEGER
    numbers = np.where(missing, 0.0, values)
    if word == "Date":
        days = np.floor(numbers).astype(np.int64).astype("M8[D]")
        days[missing] = np.datetime64("NaT")
        return days
    unit = _SECONDS_OF[record[2][0]] if word == "difftime" else 1
    micros = np.round(numbers * unit * 1e6).astype(np.int64)
    times = micros.astype("m8[us]" if word == "difftime" else "M8[us]")
    times[missing] = (
        np.timedelta64("NaT") if word == "difftime" else np.datetime64("NaT")
    )
    zone = record[2][:1] if word == "POSIXct" else []
    if zone and zone[0]:
        return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone[0])
    return times


def _unpack_array(record: Record) -> Any:
    _, vector, dim, dimnames = record
    values = unpack_vector(vector)
    if isinstance(values, pd.api.extensions.ExtensionArray):
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.reshape(values, dim, order="F")
    if len(dim) == 2 and dimnames[1] is not None:
        return pd.DataFrame(values, index=dimnames[0], columns=dimnames[1])
    return values


def _unpack_frame(record: Record) -> pd.DataFrame:
    _, names, records, n_rows, row_names = record
    index = pd.RangeIndex(n_rows) if row_names is None else pd.Index(row_names)
    columns = {
        n: pd.Series(unpack_vector(item), index=index) for n, item in enumerate(records)
    }
    frame = pd.DataFrame(columns, index=index)
    frame.columns = pd.Index(names, dtype=object if not names else None)
    return frame
