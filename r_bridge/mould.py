"""A frame whose memory is written anew for each call of predict, and then copied.

To assemble columns of several kinds takes pandas far longer than to copy a frame that
has them already, because a copy moves whole blocks. What predict gets is always the
copy: it may keep it or write into it, and no other call notices.

Not: judging what R sent. A mould casts what is plainly in order and leaves all else,
what must be refused too, to `schema.restore`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from r_bridge.channel import NA_INTEGER, Array, Record, read_texts
from r_bridge.schema import Column, Schema, fits, restore


class Restorer:
    """Restores one frame after another: what `restore` does, sooner.

    Parameters
    ----------
    schema : Schema
        Of all the frames.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._n_rows = -1
        self._mould: Mould | None = None

    def restore(self, record: Record, arrays: Sequence[Array]) -> pd.DataFrame:
        """Return a frame that nobody else holds; see `schema.restore`."""
        if self._mould is not None:
            frame = self._mould.cast(record, arrays)
            if frame is not None:
                return frame
        frame = restore(self._schema, record, arrays)
        # Frames of doubles are one block from the start. Others pay for a mould from
        # the third call of a length on.
        if not self._schema.is_float64:
            if len(frame) != self._n_rows:
                self._mould = None
            elif self._mould is None:
                self._mould = make_mould(self._schema, frame, record, arrays)
        self._n_rows = len(frame)
        return frame


class Part(NamedTuple):
    """Columns of a frame that lie in one array.

    Attributes
    ----------
    word : str
        The word of `channel` which their records begin with.
    places : tuple of int
        Where they are in the frame.
    rows : ndarray of shape (n_columns, n_rows)
        Their values, or codes: the frame's own memory.
    levels : bytes
        The levels of a factor as `channel` sends them; empty for numbers.
    n_levels : int
    """

    word: str
    places: tuple[int, ...]
    rows: Any
    levels: bytes
    n_levels: int


class Mould(NamedTuple):
    """A frame that is written to and copied, and what it expects.

    Attributes
    ----------
    frame : DataFrame
    names : list of str
    words : list of str
        What the record of each column begins with.
    parts : tuple of Part
    """

    frame: pd.DataFrame
    names: list[str]
    words: list[str]
    parts: tuple[Part, ...]

    def cast(self, record: Record, arrays: Sequence[Array]) -> pd.DataFrame | None:
        """Return a new frame with what R sent, or None if some of it is unusual."""
        _, names, records, n_rows, _ = record
        if n_rows != len(self.frame) or list(names) != self.names:
            return None
        if [item[0] for item in records] != self.words:
            return None
        for part in self.parts:
            items = [records[place] for place in part.places]
            values = [arrays[item[1]] for item in items]
            if any(array.size != n_rows for array in values):
                return None
            if part.word == "factor" and _levels(items[0], arrays) != part[3:]:
                return None
            if not _WRITE[part.word](part, values):
                return None
        return self.frame.copy(deep=True)


def make_mould(
    schema: Schema, frame: pd.DataFrame, record: Record, arrays: Sequence[Array]
) -> Mould | None:
    """Return a mould for frames like this one, which `restore` made of the record.

    None if there are no rows, or columns other than float64, integers and bool of
    numpy and categories, or if pandas keeps its columns in an unknown way.
    """
    _, names, records, n_rows, _ = record
    columns = zip(schema.columns, records, strict=True)
    if not n_rows or not all(_is_plain(*column, arrays) for column in columns):
        return None
    own = frame.copy(deep=True)
    parts = []
    for places, rows in _blocks(own):
        item = records[places[0]]
        levels = _levels(item, arrays) if item[0] == "factor" else (b"", 0)
        parts.append(Part(item[0], tuple(places), rows, *levels))
    if not all(_is_seen(part, own) for part in parts):
        return None
    return Mould(own, list(names), [item[0] for item in records], tuple(parts))


def _blocks(frame: pd.DataFrame) -> list[tuple[list[int], Any]]:
    """Return the arrays that own a frame's values, and the columns in each."""
    places_of: dict[int, list[int]] = {}
    views = [_values(frame, place) for place in range(frame.shape[1])]
    for place, view in enumerate(views):
        places_of.setdefault(id(view.base), []).append(place)
    blocks = []
    for places in places_of.values():
        owner: Any = views[places[0]].base
        rows = [] if owner is None else np.atleast_2d(owner)
        lie = [_where(views[place]) for place in places]
        is_known = lie == [_where(row) for row in rows] and owner.flags.writeable
        blocks.append((places, rows if is_known else None))
    return blocks


def _where(values: Array) -> tuple[Any, ...]:
    """Return which memory an array shows."""
    return (values.ctypes.data, values.strides, values.shape, values.dtype)


def _is_plain(column: Column, record: Record, arrays: Sequence[Array]) -> bool:
    """Return whether the values of a column can be written as R sends them."""
    dtype, word = column.dtype, record[0]
    if isinstance(dtype, pd.CategoricalDtype):
        return word == "factor" and (
            tuple(read_texts(record[2], arrays)) == column.levels
        )
    if not isinstance(dtype, np.dtype):
        return False
    return (
        dtype == np.float64 if word == "double" else dtype.kind in _KINDS.get(word, "")
    )


_KINDS = {"integer": "iu", "logical": "b"}


def _values(frame: pd.DataFrame, place: int) -> Array:
    """Return the values of a column, or the codes of a category, as a view."""
    column = frame.iloc[:, place]
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    return column.array.codes if is_category else column.to_numpy()


def _is_seen(part: Part, frame: pd.DataFrame) -> bool:
    """Return whether a frame shows what is written to its memory.

    A view of a copy would look the same, and every call would get the rows of the
    first. So it is tried out.
    """
    if part.rows is None:
        return False
    for mark in (0, 1):
        part.rows[:] = mark
        if not (_values(frame, part.places[0]) == mark).all():
            return False
    return True


def _levels(record: Record, arrays: Sequence[Array]) -> tuple[bytes, int]:
    place, count = record[2]
    return arrays[place].tobytes(), count


def _write_doubles(part: Part, values: Sequence[Array]) -> bool:
    for row, array in zip(part.rows, values, strict=True):
        row[:] = array
    missing = np.isnan(part.rows)
    if missing.any():
        part.rows[missing] = np.nan  # instead of R's NA, which warns
    return True


def _write_integers(part: Part, values: Sequence[Array]) -> bool:
    for row, array in zip(part.rows, values, strict=True):
        if array.min() == NA_INTEGER or not fits(array, row.dtype):
            return False
        row[:] = array
    return True


def _write_logicals(part: Part, values: Sequence[Array]) -> bool:
    for row, array in zip(part.rows, values, strict=True):
        if array.min() < 0 or array.max() > 1:
            return False
        row[:] = array
    return True


def _write_codes(part: Part, values: Sequence[Array]) -> bool:
    (row,) = part.rows
    (codes,) = values
    if codes.max() > part.n_levels:
        return False
    if codes.min() < 0:
        codes = np.maximum(codes, 0)  # NA is far below
    row[:] = codes
    row -= 1
    return True


_WRITE: dict[str, Callable[[Part, Sequence[Array]], bool]] = {
    "double": _write_doubles,
    "integer": _write_integers,
    "logical": _write_logicals,
    "factor": _write_codes,
}
