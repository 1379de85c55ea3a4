"""The columns of frames for predict: restored in every call, differences refused.

R permutes, repeats and replaces values, but must not change types. `restore` converts a
frame from R so that a model cannot distinguish it from a part of the original.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .errors import RBridgeError, quote
from .python_values import unpack_vector
from .wire import NA_INTEGER, Array, Record


def restore(like: pd.DataFrame, record: Record) -> pd.DataFrame:
    """Return a data.frame of R with the names, order, dtypes and levels of `like`.

    Whole numbers return to integer columns in any type of R. An integer column with
    fractions from R (a grid between two values) becomes float64: rounding would change
    the values to predict.

    Raises
    ------
    RBridgeError
        If a column is missing, added, moved or of another type, or a level is new.
    """
    _, names, records, n_rows, _ = record
    if list(names) != list(like.columns):
        raise _difference(names, list(like.columns))
    columns = [like.iloc[:, n] for n in range(len(names))]
    if columns and all(column.dtype == np.float64 for column in columns):
        # As one block, which pandas would create anyway.
        values = np.empty((len(records), n_rows))
        for row, column, item in zip(values, columns, records, strict=True):
            row[:] = _doubles(column, item)
        return pd.DataFrame(values.T, columns=like.columns.copy(), copy=False)
    restored = map(_restore_column, columns, records)
    frame = pd.DataFrame(dict(enumerate(restored)), index=pd.RangeIndex(n_rows))
    frame.columns = like.columns.copy()
    return frame


def _restore_column(column: pd.Series, record: Record) -> Any:
    """Return one column in its original dtype."""
    dtype, word = column.dtype, record[0]
    if isinstance(dtype, pd.CategoricalDtype):
        return _restore_factor(column, record)
    kind = "O" if isinstance(dtype, pd.StringDtype) else dtype.kind
    if kind == "f":
        numbers = _doubles(column, record)
        is_numpy = isinstance(dtype, np.dtype)
        return numbers.astype(dtype) if is_numpy else pd.array(numbers, dtype=dtype)
    if kind in "iu":
        return _restore_integers(column, record)
    if kind == "b":
        return _restore_booleans(column, record)
    if kind == "M" and word == "POSIXct":
        return _restore_times(dtype, record)
    if kind == "m" and word == "difftime":
        return pd.Series(unpack_vector(record)).astype(dtype)
    if kind == "O" and word in _WORDS_OF_OBJECTS.get(_object_type(column), _TEXT):
        return _restore_objects(column, record)
    raise _refusal(column, record)


def _object_type(column: pd.Series) -> str:
    """Return the type of the values in a column of objects."""
    return str(pd.api.types.infer_dtype(column, skipna=True))


_TEXT = frozenset({"character", "factor", "ordered"})
_NUMBERS = frozenset({"double", "integer"})
_WORDS_OF_OBJECTS = {
    "boolean": frozenset({"logical"}),
    "integer": _NUMBERS,
    "floating": _NUMBERS,
    "mixed-integer-float": _NUMBERS,
    "decimal": _NUMBERS,
    "date": frozenset({"Date"}),
    "empty": frozenset({"logical"}),
}


def _doubles(column: pd.Series, record: Record) -> Array:
    """Return numbers as a float64 array, missing ones as NaN."""
    if record[0] not in _NUMBERS:
        raise _refusal(column, record)
    values = record[1]
    missing = np.isnan(values) if record[0] == "double" else values == NA_INTEGER
    copy = values.astype(np.float64)
    if missing.any():
        copy[missing] = np.nan
    return copy


def _restore_integers(column: pd.Series, record: Record) -> Any:
    dtype = column.dtype
    if record[0] == "integer" and isinstance(dtype, np.dtype):
        values = record[1]
        if not (values == NA_INTEGER).any() and fits(values, dtype):
            return values.astype(dtype)
    numbers = _doubles(column, record)
    present = numbers[~np.isnan(numbers)]
    if len(present) < len(numbers) and isinstance(dtype, np.dtype):
        raise _mismatch(column, "a missing value")
    if (present % 1 != 0).any() or not fits(present, dtype):
        return numbers
    if isinstance(dtype, np.dtype):
        return numbers.astype(dtype)
    return pd.array(numbers, dtype="Int64").astype(dtype)


def fits(values: Array, dtype: Any) -> bool:
    """Return whether an integer dtype can represent all of some whole numbers.

    R may request a value that the data do not contain, such as a point of a grid.
    """
    limits = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    return not values.size or bool(
        values.min() >= limits.min and values.max() <= limits.max
    )


def _restore_booleans(column: pd.Series, record: Record) -> Any:
    if record[0] not in {"logical", *_NUMBERS}:
        raise _refusal(column, record)
    word = "double" if record[0] == "double" else "integer"
    numbers = _doubles(column, (word, record[1]))
    missing = np.isnan(numbers)
    if not np.isin(numbers[~missing], (0, 1)).all():
        other = numbers[~missing & ~np.isin(numbers, (0, 1))][0]
        raise _mismatch(column, repr(float(other)))
    if isinstance(column.dtype, np.dtype):
        if missing.any():
            raise _mismatch(column, "a missing value")
        return numbers.astype(bool)
    return pd.arrays.BooleanArray(numbers == 1, missing).astype(column.dtype)


def _restore_times(dtype: Any, record: Record) -> pd.Series:
    values = pd.Series(unpack_vector(record))
    is_aware = getattr(values.dtype, "tz", None) is not None
    zone = getattr(dtype, "tz", None)
    if zone is None:
        return values.astype(dtype)
    if not is_aware:
        values = values.dt.tz_localize("UTC")
    return values.dt.tz_convert(zone).astype(dtype)


def _restore_factor(column: pd.Series, record: Record) -> Any:
    """Return a Categorical with the original categories, matched by their text."""
    if record[0] not in _TEXT:
        raise _refusal(column, record)
    levels, own = list(record[2]), [str(level) for level in column.cat.categories]
    codes = np.maximum(record[1], 0) - 1  # NA is far below 0
    if levels != own:
        code_of = {level: n for n, level in enumerate(own)}
        new = [n for n in np.unique(codes[codes >= 0]) if levels[n] not in code_of]
        if new:
            raise _mismatch(column, f"the new level {quote(levels[new[0]])}")
        codes = np.array([*(code_of.get(level, -1) for level in levels), -1])[codes]
    return pd.Categorical.from_codes(codes, dtype=column.dtype)


def _restore_objects(column: pd.Series, record: Record) -> Any:
    """Return text, or Python objects of a single type, None where missing."""
    values = pd.Series(unpack_vector(record))
    if isinstance(column.dtype, pd.StringDtype):
        return values.astype(object).astype(column.dtype)
    if _object_type(column) == "date":
        values = values.dt.date
    objects = values.astype(object)
    return objects.where(values.notna(), None)


def _difference(names: Sequence[str], expected: Sequence[str]) -> RBridgeError:
    """Return the error for columns that are missing, added or moved."""
    missing = [name for name in expected if name not in names]
    new = [name for name in names if name not in expected]
    misplaced = [a for a, b in zip(names, expected, strict=False) if a != b]
    if missing:
        finding = f"{quote(missing[0])} is missing"
    elif new:
        finding = f"{quote(new[0])} is new"
    else:
        finding = f"{quote(misplaced[0])} is in another place"
    return RBridgeError(
        f"R changed the {len(expected)} columns that it was given for predict: "
        f"{finding}."
    )


def _refusal(column: pd.Series, record: Record) -> RBridgeError:
    return _mismatch(column, f"a value of type {record[0]}")


def _mismatch(column: pd.Series, finding: str) -> RBridgeError:
    return RBridgeError(
        f"Column {quote(column.name)} must be {column.dtype} in every call of "
        f"predict; R sent {finding}."
    )


def check_prediction(
    prediction: Any, n_rows: int, labels: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return predictions as float64 of shape (n_rows,) or (n_rows, n_labels).

    Raises
    ------
    RBridgeError
        If they are not numbers, of another shape, or not all finite.
    """
    kind = type(prediction).__name__
    try:
        values = np.asarray(prediction)
    except ValueError as error:
        raise _wrong_answer(
            "numbers", f"{kind} of uneven shape was returned"
        ) from error
    if values.dtype.kind not in "fiub":
        raise _wrong_answer("numbers", f"{kind} of type {values.dtype} was returned")
    shape = (n_rows, len(labels)) if labels else (n_rows,)
    if values.shape != shape:
        raise _wrong_answer(f"shape {shape}", f"shape {values.shape} was returned")
    answer = values.astype(np.float64)
    n_bad = int(np.count_nonzero(~np.isfinite(answer)))
    if n_bad:
        raise _wrong_answer("finite numbers", f"{n_bad} of {answer.size} are not")
    return answer


def _wrong_answer(rule: str, finding: str) -> RBridgeError:
    return RBridgeError(f"predict must return {rule}; {finding}.")
