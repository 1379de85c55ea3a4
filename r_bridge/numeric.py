"""Columns as numbers and back, for R functions that damage other types.

A category is sent as the code of its level, a boolean as 0 or 1.
"""

from typing import Any

import numpy as np
import pandas as pd

from .errors import RBridgeError, quote


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a frame as float64; NaN where a level is missing.

    Raises
    ------
    RBridgeError
        If a column holds neither numbers nor categories.
    """
    return pd.DataFrame({name: _numbers(name, frame[name]) for name in frame.columns})


def restored(numbers: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """Return rows in the form of `as_numbers` with the dtypes that `like` has."""
    return pd.DataFrame(
        {name: _column(numbers[name].to_numpy(), like[name]) for name in like.columns}
    )


def _numbers(name: Any, column: pd.Series) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "biuf":
        raise RBridgeError(
            f"Column {quote(name)} must hold numbers or categories to be sent as "
            f"numbers; its dtype is {column.dtype}. Convert it before."
        )
    return column.to_numpy(dtype=np.float64)


def _column(values: Any, like: pd.Series) -> Any:
    if not isinstance(like.dtype, pd.CategoricalDtype):
        return values.astype(like.dtype)
    codes = np.where(np.isnan(values), -1, values).astype(np.intp)
    return pd.Categorical.from_codes(codes, dtype=like.dtype)
