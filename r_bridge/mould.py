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

from .channel import NA_INTEGER, Array, Record, encode_texts, read_texts
from .pages import Pages
from .schema import Column, Schema, fits, restore, write_doubles


class Restorer:
    """Restores one frame after another: what `restore` does, sooner.

    Parameters
    ----------
    schema : Schema
        Of all the frames.
    keeps : bool, default False
        Whether a record may leave out columns that are those of the frame before.
    """

    def __init__(self, schema: Schema, *, keeps: bool = False) -> None:
        self._schema = schema
        self._keeps = keeps
        self._last: pd.DataFrame | None = None
        self._n_rows = -1
        self._is_plain = [False] * len(schema.columns)
        self._mould: Mould | Sheet | None = None

    def restore(self, record: Record, arrays: Sequence[Array]) -> pd.DataFrame:
        """Return a frame that nobody else holds; see `schema.restore`."""
        if self._mould is not None:
            frame = self._mould.cast(record, arrays)
            if frame is not None:
                return frame
            self._last = self._mould.frame
            self._mould = None
        frame = restore(self._schema, record, arrays, self._last)
        self._note(record, arrays)
        # The frames of one length pay for a mould from the third on, and at once where
        # the alternative is a copy to keep.
        if self._keeps or len(frame) == self._n_rows:
            self._mould = self._new_mould(frame)
        self._n_rows = len(frame)
        if self._mould is not None or not self._keeps:
            self._last = None
            return frame
        self._last = frame
        return frame.copy(deep=True)

    def _note(self, record: Record, arrays: Sequence[Array]) -> None:
        """Remember which columns R sends as they can be written."""
        columns = zip(self._schema.columns, record[2], strict=True)
        for n, (column, item) in enumerate(columns):
            if item is not None:
                self._is_plain[n] = _is_plain(column, item, arrays)

    def _new_mould(self, frame: pd.DataFrame) -> "Mould | Sheet | None":
        if not len(frame) or not all(self._is_plain):
            return None
        if self._schema.is_float64:
            return Sheet(self._schema, frame)
        return make_mould(self._schema, frame)


class Sheet:
    """Frames of float64 alone, whose memory is that of `pages`.

    Parameters
    ----------
    schema : Schema
    frame : DataFrame
        The first of them.
    """

    def __init__(self, schema: Schema, frame: pd.DataFrame) -> None:
        self._schema = schema
        self._names = [column.name for column in schema.columns]
        self._pages = Pages((frame.shape[1], len(frame)))
        self._n_rows = len(frame)
        self._pages.rows()[:] = frame.to_numpy().T

    @property
    def frame(self) -> pd.DataFrame:
        """The frame that was cast last."""
        values = self._pages.show()
        return pd.DataFrame(values.T, columns=self._schema.names, copy=False)

    def cast(self, record: Record, arrays: Sequence[Array]) -> pd.DataFrame | None:
        """Return a new frame with what R sent, or None if some of it is unusual."""
        _, names, records, n_rows, _ = record
        if n_rows != self._n_rows or list(names) != self._names:
            return None
        write_doubles(self._pages.rows(), self._schema, records, arrays)
        return self.frame


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
        What was cast last.
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
        words = [
            word if item is None else item[0]
            for word, item in zip(self.words, records, strict=True)
        ]
        if words != self.words:
            return None
        for part in self.parts:
            for place, row in zip(part.places, part.rows, strict=True):
                item = records[place]
                if item is None:
                    continue
                values = arrays[item[1]]
                if values.size != n_rows:
                    return None
                if part.word == "factor" and _levels(item, arrays) != part[3:]:
                    return None
                if not _WRITE[part.word](part, row, values):
                    return None
        return self.frame.copy(deep=True)


def make_mould(schema: Schema, frame: pd.DataFrame) -> Mould | None:
    """Return a mould for frames like this one, which `restore` made.

    None if it has no rows, or columns other than float64, integers and bool of numpy
    and categories, or if pandas keeps its columns in an unknown way.
    """
    columns = list(zip(schema.columns, frame.dtypes, strict=True))
    words = [_word(column) for column in schema.columns]
    if not len(frame) or not all(words):
        return None
    if any(column.dtype != dtype for column, dtype in columns):
        return None
    own = frame.copy(deep=True)
    parts = []
    for places, rows in _blocks(own):
        levels = schema.columns[places[0]].levels
        text = (encode_texts(levels).tobytes(), len(levels))
        parts.append(Part(words[places[0]], tuple(places), rows, *text))
    if not all(_is_seen(part, own) for part in parts):
        return None
    names = [column.name for column in schema.columns]
    return Mould(own, names, words, tuple(parts))


def _word(column: Column) -> str:
    """Return the word of `channel` for columns that can be written as R sends them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "factor"
    if not isinstance(column.dtype, np.dtype):
        return ""
    return "double" if column.dtype == np.float64 else _WORDS.get(column.dtype.kind, "")


_WORDS = {"i": "integer", "u": "integer", "b": "logical"}


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
    if record[0] != _word(column):
        return False
    return record[0] != "factor" or (
        tuple(read_texts(record[2], arrays)) == column.levels
    )


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
    before = part.rows.copy()
    for mark in (0, 1):
        part.rows[:] = mark
        if not (_values(frame, part.places[0]) == mark).all():
            return False
    part.rows[:] = before
    return True


def _levels(record: Record, arrays: Sequence[Array]) -> tuple[bytes, int]:
    place, count = record[2]
    return arrays[place].tobytes(), count


def _write_doubles(part: Part, row: Array, values: Array) -> bool:
    del part
    row[:] = values
    missing = np.isnan(row)
    if missing.any():
        row[missing] = np.nan  # instead of R's NA, which warns
    return True


def _write_integers(part: Part, row: Array, values: Array) -> bool:
    del part
    if values.min() == NA_INTEGER or not fits(values, row.dtype):
        return False
    row[:] = values
    return True


def _write_logicals(part: Part, row: Array, values: Array) -> bool:
    del part
    if values.min() < 0 or values.max() > 1:
        return False
    row[:] = values
    return True


def _write_codes(part: Part, row: Array, values: Array) -> bool:
    if values.max() > part.n_levels:
        return False
    if values.min() < 0:
        values = np.maximum(values, 0)  # NA is far below
    row[:] = values
    row -= 1
    return True


_WRITE: dict[str, Callable[[Part, Array, Array], bool]] = {
    "double": _write_doubles,
    "integer": _write_integers,
    "logical": _write_logicals,
    "factor": _write_codes,
}
