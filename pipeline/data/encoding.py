"""Encode the audited columns for an estimator.

Every audited feature is one raw column, which is encoded as one or more numbers.
"ordinal" is the position of a level in the declared order. "one_hot" is an indicator
for each level of the training rows except the first (R's treatment contrasts),
"one_hot_full" one for each level, so that a tree can split off the first as well. The
encoder of a model is not chosen here.

A model that was fitted elsewhere and reads the raw columns gets them in their original
types, not in those of the audit: texts as texts with their own missing value, nullable
columns as nullable, categories with their own levels.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.asker import remedy
from ..records.dataset_and_model import ColumnType, Floats
from ..records.errors import DataError, ModelError, did_you_mean, listed, quote, several
from . import dates
from .column_types import is_category, text_of

Kind = Literal["none", "ordinal", "one_hot", "one_hot_full"]


class Levels(NamedTuple):
    """The codes of the levels of one category.

    Attributes
    ----------
    declared : Index of length n_levels
        All levels, in order.
    is_placed : ndarray of bool, shape (n_levels + 1,)
        Whether a level can be encoded; the last entry is for a missing cell.
    codes : ndarray of shape (n_columns, n_levels + 1)
        The codes of each level; the ordinal code of a missing cell is NaN.
    """

    declared: pd.Index
    is_placed: npt.NDArray[np.bool_]
    codes: Floats


class Encoding(NamedTuple):
    """The encoding of a frame for an estimator.

    Attributes
    ----------
    kind : {"none", "ordinal", "one_hot", "one_hot_full"}
    features : tuple of str
        The columns that the estimator reads, in its order.
    levels : mapping of str to Levels
        The codes of each category in training; a category without an entry is encoded
        by its own declared levels.
    is_named : bool
        Whether the estimator gets a frame instead of an array.
    """

    kind: Kind
    features: tuple[str, ...]
    levels: Mapping[str, Levels]
    is_named: bool

    @property
    def encoded(self) -> tuple[str, ...]:
        """The feature of each encoded column."""
        widths = [
            len(self.levels[name].codes) if name in self.levels else 1
            for name in self.features
        ]
        return tuple(np.repeat(np.array(self.features, dtype=object), widths))

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The encoded columns; a one-hot column is a pair of feature and level."""
        if not self.kind.startswith("one_hot"):
            return self.features
        columns: list[Hashable] = []
        for name in self.features:
            own = self.levels.get(name)
            met = own.declared[own.codes.argmax(axis=1)] if own else ()
            columns += [(name, level) for level in met] if own else [name]
        return tuple(columns)


def has_category(X: pd.DataFrame) -> bool:
    """Return whether any column holds levels."""
    return any(isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes)


def learn(X: pd.DataFrame, kind: Kind, *, is_named: bool = False) -> Encoding:
    """Return the encoding of training rows; "none" leaves categories unchanged."""
    of_kind: dict[str, Callable[[pd.Series], Levels]] = {
        "ordinal": _ordinal,
        "one_hot": _one_hot,
        "one_hot_full": partial(_one_hot, n_dropped=0),
    }
    levels = {
        name: of_kind[kind](X[name])
        for name in X.columns
        if kind in of_kind and is_category(X[name])
    }
    return Encoding(kind, tuple(X.columns), levels, is_named)


def _is_present(column: pd.Series) -> npt.NDArray[np.bool_]:
    """Return whether each declared level occurs in a row, (n_levels,)."""
    codes = column.cat.codes.to_numpy()
    return np.isin(np.arange(len(column.cat.categories)), codes)


def _ordinal(column: pd.Series) -> Levels:
    """Return the positions of levels as codes; a missing cell stays missing."""
    codes = np.append(np.arange(len(column.cat.categories), dtype=np.float64), np.nan)
    return Levels(
        column.cat.categories, np.append(_is_present(column), True), codes[np.newaxis]
    )


def _one_hot(column: pd.Series, n_dropped: int = 1) -> Levels:
    """Return an indicator per level that occurs, without the first `n_dropped`."""
    is_present = _is_present(column)
    indicators = np.eye(len(is_present) + 1)[np.flatnonzero(is_present)[n_dropped:]]
    return Levels(column.cat.categories, np.append(is_present, False), indicators)


def column_type(column: pd.Series, typed: pd.Series) -> ColumnType | None:
    """Return the original type of a column, None if the audit does not change it.

    Parameters
    ----------
    column : Series
        The original column.
    typed : Series
        The column in the types of the audit, dates as datetime64 or as seconds.
    """
    is_narrow = column.dtype in (np.float16, np.float32)  # points of grids are float64
    is_kept = column.dtype == typed.dtype and not dates.is_dates(typed)
    if is_kept and not is_narrow:
        return None
    missing = {repr(cell): cell for cell in column[column.isna()]}
    cells = pd.api.types.infer_dtype(column, skipna=True)
    return ColumnType(column.dtype, cells, tuple(missing.values()))


def restored(column: pd.Series, kind: ColumnType) -> pd.Series:
    """Return a column in its original type.

    If a number cannot be converted, such as 2.5 to an integer, the numbers stay.
    """
    if column.dtype == kind.dtype:
        return column
    cells = _restored_cells(column, kind)
    return pd.Series(cells, index=column.index, name=column.name, copy=False)


def _restored_cells(column: pd.Series, kind: ColumnType) -> Any:
    if dates.was_dates(kind):
        return dates.restored(column, kind)
    if is_category(column):
        return _restored_levels(column, kind)
    if kind.dtype != object:
        try:
            return column.astype(kind.dtype).array
        except (TypeError, ValueError):
            return column.array
    is_missing = column.isna().to_numpy()
    present = column[~is_missing]
    if kind.cells == "boolean" and present.isin([0, 1]).all():
        present = present.astype(bool)
    elif kind.cells == "integer" and (present == np.trunc(present)).all():
        present = present.astype(np.int64)
    cells = np.full(len(column), kind.missing[0] if kind.missing else np.nan, object)
    cells[~is_missing] = present.astype(object)
    return cells


def held(values: Floats, kind: ColumnType | None) -> Floats:
    """Return numbers rounded as a column of a type holds them, such as to days."""
    if kind is None:
        return values
    cells = pd.Series(_restored_cells(pd.Series(values), kind))
    if dates.was_dates(kind):
        cells = dates.seconds_of(pd.to_datetime(cells))
    return cells.to_numpy(dtype=np.float64)


def _restored_levels(column: pd.Series, kind: ColumnType) -> Any:
    """Return the original cells of a category."""
    texts, codes = column.cat.categories, column.cat.codes.to_numpy()
    if isinstance(kind.dtype, pd.CategoricalDtype):
        own = pd.Index([text_of(level) for level in kind.dtype.categories])
        if not own.equals(texts):  # factors returned by R may have other levels
            codes = np.append(own.get_indexer(texts), -1)[codes]
        return pd.Categorical.from_codes(codes, dtype=kind.dtype)
    cells = np.empty(len(texts) + 1, dtype=object)
    cells[:-1] = texts
    cells[-1] = kind.missing[0] if kind.missing else np.nan
    cells = cells[codes]  # the code of a missing cell is -1, the last place
    return cells if kind.dtype == object else pd.array(cells, dtype=kind.dtype)


def encode(
    encoding: Encoding,
    X: pd.DataFrame,
    model: str,
    types: Mapping[str, ColumnType] | None = None,
) -> Any:
    """Return the encoded rows for an estimator, as an array or a frame.

    Arrays are float64 in column-major order for every layout of `X`, so that the
    arithmetic of equal rows is the same. With `types`, the original types, arrays of
    texts are object and arrays of narrower floats keep their type. A frame is a copy,
    which the estimator may change.

    Raises
    ------
    ModelError
        If `X` lacks a column that `model` reads, or a column of dates would have to be
        encoded.
    DataError
        If a column holds neither numbers nor levels, or `model` was not trained on a
        level or on missing cells.
    """
    rows = selected(encoding.features, X, model)
    if encoding.kind != "none":
        refuse_dates(model, encoding.features, types or {})
    if encoding.kind == "none" and (encoding.is_named or types):
        frame, types = rows.copy(), types or {}
        for name, kind in types.items():
            frame[name] = restored(frame[name], kind)
        if encoding.is_named:
            return frame
        if any(
            kind.dtype == object or is_category(X[n]) or dates.was_dates(kind)
            for n, kind in types.items()
        ):
            return frame.to_numpy(dtype=object)
        if all(kind in (np.float16, np.float32) for kind in frame.dtypes):
            return np.asfortranarray(frame.to_numpy())
    try:
        if has_category(rows):
            columns = [_encoded(encoding, column, model) for _, column in rows.items()]
            matrix = np.concatenate(columns).T
        else:
            matrix = np.asfortranarray(rows.to_numpy(dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"A column of model {quote(model)} holds neither numbers nor declared "
            f"levels: {error}."
        ) from error
    if encoding.is_named:
        return pd.DataFrame(matrix, columns=list(encoding.features), index=X.index)
    return matrix


def refuse_dates(
    model: str, features: Iterable[str], types: Mapping[str, ColumnType]
) -> None:
    """Refuse a model that reads dates but can be given only numbers and levels.

    Raises
    ------
    ModelError
        If it reads dates; the message lists the columns.
    """
    dated = [name for name in features if dates.was_dates(types.get(name))]
    if dated:
        how = remedy(
            'Take parts of the dates under [[derived]], such as kind = "date_part", '
            'part = "month", and do not list the column itself under [data] features.',
            r="Fit the model to numbers made of the dates, such as as.numeric(date), "
            "and give data with these.",
            python="Fit the model to numbers made of the dates, such as .dt.month, "
            "and pass X with these.",
        )
        raise ModelError(
            f"Model {quote(model)} reads {listed(dated)}, which holds dates, and can "
            f"be given numbers and levels only. {how}"
        )


def selected(features: tuple[str, ...], X: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return the columns that a model reads; `X` itself if it has just these."""
    if tuple(X.columns) == features:
        return X
    absent = [name for name in features if name not in X.columns]
    if absent:
        raise ModelError(
            f"Model {quote(model)} reads {listed(absent)}, which the data do not have."
            f"{did_you_mean(absent[0], X.columns)}"
        )
    return X[list(features)]


def _encoded(encoding: Encoding, column: pd.Series, model: str) -> Floats:
    """Return the codes of one column, (n_columns, n_samples)."""
    if not is_category(column):
        return column.to_numpy(dtype=np.float64)[np.newaxis]
    if encoding.kind == "none":
        raise DataError(
            f"Column {quote(column.name)} is a category, and model {quote(model)} "
            "was fitted on an array of numbers. State how the model encodes it: "
            "encoder 'ordinal', or predict= with a function of the frame."
        )
    levels = encoding.levels.get(str(column.name)) or _ordinal(column)
    codes = codes_in(levels.declared, column, model)
    if not levels.is_placed[codes].all():
        strange = np.unique(codes[(codes >= 0) & ~levels.is_placed[codes]])
        if len(strange):
            placed = levels.declared[levels.is_placed[:-1]]
            raise unknown_levels(levels.declared[strange], column, placed, model)
        n_missing = int((codes < 0).sum())
        raise DataError(
            f"Column {quote(column.name)} has {several(n_missing, 'missing value')}, "
            f"for which the one-hot columns of model {quote(model)} have no category. "
            "Make missing values a separate level, or leave those rows out."
        )
    return levels.codes[:, codes]


def codes_in(
    declared: pd.Index, column: pd.Series, model: str
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return positions in the declared levels, -1 if missing, (n_samples,).

    Raises
    ------
    DataError
        If a cell holds another level.
    """
    codes, own = column.cat.codes.to_numpy(), column.cat.categories
    if own.equals(declared):
        return codes
    place = np.append(declared.get_indexer(own), -1)
    stray = np.unique(codes[(codes >= 0) & (place[codes] < 0)])
    if len(stray):
        raise unknown_levels(own[stray], column, declared, model)
    return np.asarray(place[codes])


def unknown_levels(
    levels: Any, column: pd.Series, known_levels: Any, model: str
) -> DataError:
    """Return the error for levels that no training row has."""
    return DataError(
        f"Column {quote(column.name)} holds {listed(levels)}, which model "
        f"{quote(model)} did not see in training; it knows {listed(known_levels)}. "
        "Train on rows that have it, or leave it out of the column's levels."
    )
