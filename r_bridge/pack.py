"""Python values as records, in the parent: what cannot cross is refused here, by name.

The records are those of `channel`; `to_r.build` makes R objects of them.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from .channel import NA_INTEGER, NA_REAL_BITS, Array, Record, append_texts
from .errors import RBridgeError, quote

_LARGEST_EXACT_INTEGER = 2**53


def pack(value: Any, arrays: list[Array], *, subject: str) -> Record:
    """Return the record of a value and append its arrays.

    Parameters
    ----------
    value : None, bool, int, float, str, date, or a list, tuple or dict of values
        Lists and tuples of scalars become atomic vectors, other lists and dicts become
        R lists; an empty list has no type and becomes ``logical(0)``. Arrays of one or
        two dimensions, Series, Index and Categorical become vectors and matrices, a
        DataFrame becomes a data.frame without row names. NaN is sent as NA.
    arrays : list of ndarray
        Is appended to.
    subject : str
        How messages call the value.

    Raises
    ------
    RBridgeError
        If the value has no exact counterpart in R.
    """
    if value is None:
        return ("null",)
    if isinstance(value, pd.DataFrame):
        return _pack_frame(value, arrays, subject)
    if isinstance(value, Mapping):
        names = _checked_names(value, subject)
        inside = [f"{subject}, element {quote(name)}" for name in names]
        return ("list", names, _pack_each(value.values(), arrays, inside))
    if isinstance(value, np.ndarray) and value.ndim > 1:
        vector = pack(value.ravel(order="F"), arrays, subject=subject)
        return ("array", vector, value.shape, (None,) * value.ndim)
    if isinstance(value, list | tuple) and not all(map(_is_scalar, value)):
        inside = [f"{subject}, element {n + 1}" for n in range(len(value))]
        return ("list", None, _pack_each(value, arrays, inside))
    return _pack_column(_as_series(value, subject), arrays, subject)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping) and np.ndim(value) == 0


def _pack_each(
    values: Iterable[Any], arrays: list[Array], subjects: Sequence[str]
) -> tuple[Record, ...]:
    return tuple(
        pack(value, arrays, subject=subject)
        for value, subject in zip(values, subjects, strict=True)
    )


def _as_series(value: Any, subject: str) -> pd.Series:
    """Return any one-dimensional or scalar value as a Series that keeps its type."""
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
    raise _refusal(
        subject, "be a value that R knows", f"a {_type_name(value)} was given"
    )


def _pack_frame(frame: pd.DataFrame, arrays: list[Array], subject: str) -> Record:
    names = _checked_names(frame.columns, subject)
    records = tuple(
        _pack_column(frame.iloc[:, n], arrays, f"{subject}, column {quote(name)}")
        for n, name in enumerate(names)
    )
    return ("frame", names, records, len(frame), None)


def _checked_names(names: Iterable[Hashable], subject: str) -> tuple[str, ...]:
    """Return names that R can hold, each once."""
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


def _pack_column(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    """Return the record of one column, chosen by its dtype."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _pack_factor(column, arrays, subject)
    if isinstance(dtype, pd.StringDtype):
        return _pack_character(column, arrays, subject)
    kind = "" if isinstance(dtype, _NO_COUNTERPART) else dtype.kind
    pack_kind = _PACK_KIND.get(kind)
    if pack_kind is None:
        raise _refusal(subject, "have a type that R knows", f"{dtype} was found")
    return pack_kind(column, arrays, subject)


def _pack_double(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    del subject
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        values = column.to_numpy().astype(np.float64)  # asking pandas takes far longer
    else:
        values = np.array(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return ("double", _append(arrays, _with_na(values, np.isnan(values))))


def _pack_integer(column: pd.Series, arrays: list[Array], subject: str) -> Record:
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
    return (word, _append(arrays, _with_na(values, missing)))


def _pack_logical(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    del subject
    missing = column.isna().to_numpy(dtype=bool)
    values = np.zeros(len(column), np.int32)
    values[~missing] = column[~missing].to_numpy(dtype=bool)
    return ("logical", _append(arrays, _with_na(values, missing)))


def _pack_factor(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    levels = [str(level) for level in column.cat.categories]
    if len(set(levels)) < len(levels):
        twice = next(level for level in levels if levels.count(level) > 1)
        raise _refusal(
            subject,
            "have levels that differ as text",
            f"{quote(twice)} is given twice",
        )
    codes = column.cat.codes.to_numpy(dtype=np.int32) + np.int32(1)
    place = _append(arrays, _with_na(codes, codes == 0))
    ordered = bool(column.cat.ordered)
    return ("factor", place, _append_texts(arrays, levels, subject), ordered)


def _pack_character(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    codes, distinct = pd.factorize(column)
    codes = codes.astype(np.int32) + np.int32(1)
    place = _append(arrays, _with_na(codes, codes == 0))
    return ("character", place, _append_texts(arrays, list(distinct), subject))


def _pack_date(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    del subject
    missing = column.isna().to_numpy(dtype=bool)
    days = np.zeros(len(column))
    days[~missing] = np.array(list(column[~missing]), dtype="M8[D]").astype(np.int64)
    return ("Date", _append(arrays, _with_na(days, missing)))


def _pack_time(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    zone = getattr(column.dtype, "tz", None)
    if zone is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    seconds = _seconds(column.to_numpy(), subject)
    return ("POSIXct", _append(arrays, seconds), "" if zone is None else str(zone))


def _pack_duration(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    place = _append(arrays, _seconds(column.to_numpy(), subject))
    return ("difftime", place, "secs")


def _pack_object(column: pd.Series, arrays: list[Array], subject: str) -> Record:
    """Return the record of a column whose values alone say what it holds."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "empty":
        return _pack_logical(column, arrays, subject)
    if kind in {"datetime", "datetime64"}:
        return _pack_column(pd.to_datetime(column), arrays, subject)
    if kind in {"timedelta", "timedelta64"}:
        return _pack_duration(pd.to_timedelta(column), arrays, subject)
    pack_inferred = _PACK_INFERRED.get(kind)
    if pack_inferred is None:
        raise _refusal(subject, "hold one type that R knows", f"{kind} was found")
    return pack_inferred(column, arrays, subject)


_Packer: TypeAlias = Callable[[pd.Series, list[Array], str], Record]
_NO_COUNTERPART = (pd.SparseDtype, pd.PeriodDtype, pd.IntervalDtype)
_PACK_KIND: dict[str, _Packer] = {
    "f": _pack_double,
    "i": _pack_integer,
    "u": _pack_integer,
    "b": _pack_logical,
    "M": _pack_time,
    "m": _pack_duration,
    "O": _pack_object,
}
_PACK_INFERRED: dict[str, _Packer] = {
    "string": _pack_character,
    "boolean": _pack_logical,
    "integer": _pack_integer,
    "floating": _pack_double,
    "mixed-integer-float": _pack_double,
    "decimal": _pack_double,
    "date": _pack_date,
}


def _seconds(values: Array, subject: str) -> Array:
    """Return times or durations in seconds, exact to the microsecond."""
    kind = values.dtype.kind
    micros = values.astype(f"{kind}8[us]")
    missing = np.isnat(micros)
    if not (micros.astype(values.dtype) == values)[~missing].all():
        raise _refusal(subject, "be exact to the microsecond", "nanoseconds were found")
    return _with_na(micros.astype(np.int64) / 1e6, missing)


def _with_na(values: Array, missing: Array) -> Array:
    """Return the array with R's NA where `missing`; R's NaN is another value."""
    if values.dtype == np.float64:
        values.view(np.int64)[missing] = NA_REAL_BITS
    else:
        values[missing] = NA_INTEGER
    return values


def _append(arrays: list[Array], array: Array) -> int:
    arrays.append(array)
    return len(arrays) - 1


def _append_texts(
    arrays: list[Array], texts: Sequence[str], subject: str
) -> tuple[int, int]:
    """Append texts that R can hold."""
    try:
        appended = append_texts(texts, arrays)
    except UnicodeEncodeError as error:
        raise _refusal(subject, "hold valid Unicode", str(error)) from error
    if any("\0" in text for text in texts):
        raise _refusal(subject, "hold text without NUL", "a NUL character was found")
    return appended


def _type_name(value: Any) -> str:
    return type(value).__name__


def _refusal(subject: str, rule: str, finding: str) -> RBridgeError:
    return RBridgeError(f"{subject} must {rule}; {finding}.")
