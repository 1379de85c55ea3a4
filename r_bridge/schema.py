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
        # As one block, which pandas would create anyway, in twice the time.
        values = np.empty((len(records), n_rows))
        for row, column, item in zip(values, columns, records, strict=True):
            row[:] = _doubles(column, item)
        return pd.DataFrame(values.T, columns=like.columns.copy(), copy=False)
    restored = map(_restore_column, columns, records)
    frame = pd.DataFrame(dict(enumerate(restored)), index=pd.RangeIndex(n_rows))
    frame.columns = like.columns.copy()
    return frame


def _restore_column(column: pd.Series, record: Record) -> Any:
    """Return one column in its original dtype: floats, integers, bool or category."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _restore_factor(column, record)
    if column.dtype == bool:
        return _restore_booleans(column, record)
    if column.dtype.kind in "iu":
        return _restore_integers(column, record)
    return _doubles(column, record).astype(column.dtype)


_TEXT = frozenset({"character", "factor", "ordered"})
_NUMBERS = frozenset({"double", "integer"})


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
    numbers = _doubles(column, record)
    if np.isnan(numbers).any():
        raise _mismatch(column, "a missing value")
    limits = np.iinfo(dtype)
    # R may request a value that the data do not contain, such as a point of a grid.
    is_held = (numbers % 1 == 0) & (numbers >= limits.min) & (numbers <= limits.max)
    return numbers.astype(dtype) if is_held.all() else numbers


def _restore_booleans(column: pd.Series, record: Record) -> Any:
    word, values = record[:2]
    numbers = _doubles(column, ("integer" if word == "logical" else word, values))
    if np.isnan(numbers).any():
        raise _mismatch(column, "a missing value")
    others = numbers[~np.isin(numbers, (0, 1))]
    if others.size:
        raise _mismatch(column, repr(float(others[0])))
    return numbers.astype(bool)


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
