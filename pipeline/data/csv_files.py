"""CSV files: where each cell lies, its text, and its number where it plainly is one.

A number is read to the last bit, as `float` reads it, but a column at a time: eight
digits are one word of 64 bits, and three multiplications make a number of them. What
is written otherwise (1e5, more than 19 digits) is read by `float`, and a file of
another build (blank lines, quotes within quotes) by the module `csv`, which also has
the words for what is wrong with it. What a text means is decided in `column_types`.
"""

import csv
import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..records.errors import DataError, quote, several, words
from .column_types import FLAGS, INTEGER, NUMBER, with_point

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
QUOTE, LINE, RETURN, ZERO, PLUS, MINUS = b'"\n\r0+-'
PADDING = b"0" * 24
"""Before the first cell, so that no window of digits begins before the bytes do."""
MOST_DIGITS = 19  # that surely fit into 64 bits
EXACT = 2**53  # up to here float64 holds every whole number
POWERS = np.array([10**n for n in range(MOST_DIGITS + 1)], dtype=np.uint64)
FLOAT_POWERS = POWERS.astype(np.float64)  # up to 10**22 float64 holds them
NEAR = 2.0**-10  # of the distance of two float64; a long double errs by a quarter of it
WINDOWS = np.array([2**64 - 2 ** (64 - 8 * n) for n in range(9)], dtype=np.uint64)
"""By number of digits: the bytes of a word that hold them, which are its last."""
ZEROS, ABOVE_NINE, HIGH_BITS, PAIRS, HUNDREDS, UNITS, TEN = np.array(
    [
        0x3030303030303030,
        0x4646464646464646,
        0x8080808080808080,
        0x000000FF000000FF,
        100 + (1_000_000 << 32),
        1 + (10_000 << 32),
        10,
    ],
    dtype=np.uint64,
)
BLOCK = 2**18
MOST_COMPARED = 64  # bytes of a text, up to which those that are equal are looked for
BELOW_HEADER = slice(1, None)
UTF8 = ("utf-8", "utf8", "utf-8-sig")
UTF16 = {BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
"""By the first two bytes. Without a mark the second, or the first, is NUL."""
Places = npt.NDArray[np.signedinteger[Any]]


class CsvTable(NamedTuple):
    """The cells of a CSV file.

    Attributes
    ----------
    frame : DataFrame
        A column of int64, float64 or bool where every cell plainly is such a value,
        float64 with NaN where some are empty; else of texts, NaN for an empty cell.
    texts : callable
        ``texts(name)`` returns a column as it is written.
    """

    frame: pd.DataFrame
    texts: Callable[[str], pd.Series]


class _Cells(NamedTuple):
    """The cells of a file, columns by lines: where each lies, and its number.

    `is_plain` says where the number is sure, `is_broken` where it has a decimal mark;
    neither is looked for in columns that are not among the `candidates`, since some
    cell of theirs is no number.
    """

    content: bytes
    candidates: Places
    starts: Places
    ends: Places
    numbers: npt.NDArray[np.float64]
    is_plain: npt.NDArray[np.bool_]
    is_broken: npt.NDArray[np.bool_]

    def texts(self, column: int, rows: Any = BELOW_HEADER) -> npt.NDArray[np.object_]:
        """Return cells of one column; those that are equal are read once."""
        starts, ends = self.starts[column, rows], self.ends[column, rows]
        codes, n_texts = _codes(self.content, ends, ends - starts)
        first = np.zeros(n_texts, dtype=np.intp)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        pairs = zip(starts[first].tolist(), ends[first].tolist(), strict=True)
        texts = np.array([self.content[i:j].decode() for i, j in pairs], dtype=object)
        return texts[codes]


def read_csv(
    name: str, content: bytes, *, separator: str, decimal: str, encoding: str
) -> CsvTable:
    """Return the cells of a CSV file; lines without any cell are left out.

    Parameters
    ----------
    name : str
        How a sentence names the file.
    content : bytes
    separator, decimal : str
        What stands between cells, and before the decimals of a number.
    encoding : str
        As Python names it; a byte order mark belongs to no cell.

    Raises
    ------
    DataError
        If the bytes are no text, or the text is no table.
    """
    content = _as_utf8(name, content, encoding)
    first = content.partition(b"\n")[0].strip(b'"\r ')
    if first.lower().startswith(b"sep=") and len(first) <= len(b"sep=;"):
        raise DataError(
            f"{name} begins with {quote(first.decode())}, a line for Excel, and not "
            "with the names of its columns. Remove that line, and set the separator "
            "beside the file unless it is a comma."
        )
    cells = _split_cells(content, separator.encode(), decimal.encode())
    if cells is None:
        header, rows = _parsed(name, content.decode(), separator)
        columns = zip(*rows, strict=True) if rows else [()] * len(header)
        frame = _frame([_series(list(column)) for column in columns], header)
        return CsvTable(frame, frame.__getitem__)
    header = [cells.texts(place, [0])[0] for place in range(len(cells.starts))]
    columns = [_column(cells, place, decimal) for place in range(len(header))]
    return CsvTable(_frame(columns, header), partial(_texts, cells, header))


def _texts(cells: _Cells, header: list[str], name: str) -> pd.Series:
    return _series(cells.texts(header.index(name))).rename(name)


def _as_utf8(name: str, content: bytes, encoding: str) -> bytes:
    if encoding.lower() in UTF8 and (
        own := UTF16.get(content[:2])
        or (content[1:2] == b"\0" and "utf-16-le")
        or (content[:1] == b"\0" and "utf-16-be")
    ):
        raise DataError(
            f'{name} is UTF-16, not UTF-8. Set encoding = "{own}" beside the file, or '
            "save it as UTF-8."
        )
    try:
        if encoding.lower() in UTF8:
            if not content.isascii():
                content.decode()
            return content.removeprefix(BOM_UTF8)
        return content.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = f"line {line} holds the byte 0x{content[error.start]:02x}"
        if encoding.lower() in UTF8:
            raise DataError(
                f"{name} is not UTF-8: {byte}. Save it as UTF-8, or set the encoding "
                'beside the file, such as encoding = "cp1252".'
            ) from error
        raise DataError(
            f"{name} cannot be read with encoding {quote(encoding)}: {byte}. Set the "
            f"one it was saved with. Python says: {error.reason}"
        ) from error
    except (LookupError, UnicodeError) as error:
        raise DataError(
            f"{name} cannot be read with encoding {quote(encoding)}. Set one that "
            f'Python knows, such as "utf-8" or "cp1252". Python says: {words(error)}'
        ) from error


def _parsed(name: str, text: str, separator: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the lines of any CSV file, or raise what is wrong."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = next((row for row in reader if row), [""])
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise DataError(
            f"{name} cannot be read as CSV: line {reader.line_num}: {error}."
        ) from error
    own = SEPARATORS.get(separator, repr(separator))
    if len(header) == 1:
        for sign, word in SEPARATORS.items():
            if sign in header[0]:
                key = '"\\t"' if sign == "\t" else f'"{sign}"'
                raise DataError(
                    f"{name} has {word}s but no {own} in its first line: "
                    f"{quote(header[0])}. Set separator = {key} beside the file, and "
                    'decimal = "," if its numbers are written like 1234,5.'
                )
    for place, (line, row) in enumerate(rows):
        if len(row) != len(header):
            remedy = (
                f"Quote cells that hold a {own}, or set another separator beside the "
                "file."
            )
            if len(row) > len(header) and (place == 0 or len(header) == 1):
                remedy = (
                    "The first line must name the columns: "
                    f"{quote(separator.join(header))} does not name all. Remove titles "
                    "above the names, and name the column that names rows."
                )
            raise DataError(
                f"{name}: line {line} has {several(len(row), 'cell')}, and the first "
                f"line {len(header)}. {remedy}"
            )
    return header, [row for _, row in rows]


def _split_cells(content: bytes, separator: bytes, decimal: bytes) -> _Cells | None:
    """Return the cells of a file, None unless every line has as many of them."""
    length = len(content)
    while content[length - 1 : length] in (b"\r", b"\n"):
        length -= 1
    content = b"".join((PADDING, memoryview(content)[:length], b"\n"))
    has_returns, has_quotes = b"\r" in content, b'"' in content
    if len(separator) != 1 or b"\0" in content:
        return None
    if has_returns and content.count(b"\r") != content.count(b"\r\n"):
        return None
    blocks: list[tuple[npt.NDArray[Any], ...]] = []
    candidates: Places | None = None
    stop = len(PADDING)
    while stop < len(content):
        start = stop  # blocks of whole lines, that the processor keeps at hand
        stop = content.rfind(b"\n", start, start + BLOCK) + 1
        stop = stop or content.index(b"\n", start) + 1
        while has_quotes and content.count(b'"', start, stop) % 2:
            stop = content.find(b"\n", stop) + 1
            if not stop:
                return None
        block = _block(content, start, stop, separator[0], decimal[0], candidates)
        if block is None or (blocks and len(block[0]) != len(blocks[0][0])):
            return None
        blocks.append(block)
        if candidates is None:
            cells = _Cells(content, np.arange(len(block[0])), *block)
            candidates = _candidates(cells, decimal.decode())
    parts = (np.concatenate(part, axis=1) for part in zip(*blocks, strict=True))
    return _Cells(content, np.array(candidates, dtype=np.int64), *parts)


def _candidates(cells: _Cells, decimal: str) -> Places:
    """Return the columns that may hold numbers alone, by their first other cell."""
    is_other = ~cells.is_plain & (cells.starts < cells.ends)
    is_other[:, 0] = False
    at = is_other.argmax(axis=1)
    return np.array(
        [
            column
            for column, line in enumerate(at)
            if not line or _is_number(cells.texts(column, [line])[0], decimal)
        ],
        dtype=np.int64,
    )


def _is_number(text: str, decimal: str) -> bool:
    return bool(NUMBER.fullmatch(with_point(text, decimal)))


def _block(
    content: bytes,
    start: int,
    stop: int,
    separator: int,
    decimal: int,
    candidates: Places | None,
) -> tuple[npt.NDArray[Any], ...] | None:
    """Return what `_Cells` holds, of some lines, in which every quote ends."""
    signs = np.frombuffer(content, np.uint8)
    block = signs[start:stop]
    is_mark = (block == separator) | (block == LINE)
    is_quote = block == QUOTE
    if is_quote.any():
        is_mark &= ~np.logical_xor.accumulate(is_quote)
    marks = np.flatnonzero(is_mark | (block == decimal)) + start
    at = np.flatnonzero(is_mark[marks - start])
    ends = marks[at]
    is_line = signs[ends] == LINE
    width = int(is_line.argmax()) + 1
    is_even = len(ends) % width == 0 and is_line.sum() == len(ends) // width
    if width == 1 or not is_even or not is_line[width - 1 :: width].all():
        return None
    before = marks[at - 1]  # of the first cell the last of all, which is its own end
    is_broken = (signs[before] == decimal) & (at > 0)
    points = np.where(is_broken, before, ends)
    starts = np.concatenate([[start], ends[:-1] + 1])
    ends = ends - (is_line & (signs[ends - 1] == RETURN))
    if is_quote.any():
        is_quoted = signs[starts] == QUOTE
        is_closed = (signs[ends - 1] == QUOTE) & (ends - starts > 1)
        # Two for each cell that begins with one: then none lies within a cell.
        if is_quote.sum() != 2 * is_quoted.sum() or not is_closed[is_quoted].all():
            return None
        starts, ends = starts + is_quoted, ends - is_quoted
    # A column at a time lies in one piece from here on.
    starts, ends, points, is_broken = (
        np.ascontiguousarray(part.reshape(-1, width).T)
        for part in (starts, ends, np.minimum(points, ends), is_broken)
    )
    numbers, is_plain = np.zeros(starts.shape), np.zeros(starts.shape, dtype=np.bool_)
    of = np.arange(width) if candidates is None else candidates
    parts = (part[of].ravel() for part in (starts, points, ends))
    read_numbers, is_sure = _read_numbers(content, *parts)
    numbers[of] = read_numbers.reshape(-1, starts.shape[1])
    is_plain[of] = is_sure.reshape(-1, starts.shape[1])
    place = np.int32 if len(content) < 2**31 else np.int64  # less to carry
    return starts.astype(place), ends.astype(place), numbers, is_plain, is_broken


def _frame(columns: list[pd.Series], header: list[str]) -> pd.DataFrame:
    """Return columns side by side, of which several may have one name."""
    frame = pd.DataFrame(dict(enumerate(columns)), copy=False)
    frame.columns = pd.Index(header, dtype=object)
    return frame


def _series(texts: Any) -> pd.Series:
    """Return texts as a column, NaN for an empty one."""
    cells = pd.Series(texts, dtype=object)
    is_empty = cells == ""
    return cells.mask(is_empty) if is_empty.any() else cells


def _column(cells: _Cells, place: int, decimal: str) -> pd.Series:
    """Return one column: numbers, or true and false, if every cell is one."""
    if place in cells.candidates:
        numbers = _numbers(cells, place, decimal)
        if numbers is not None:
            return pd.Series(numbers)
    texts = cells.texts(place)
    if len(texts) and set(texts) <= set(FLAGS):
        return pd.Series([FLAGS[text] for text in texts], dtype=bool)
    return _series(texts)


def _numbers(cells: _Cells, place: int, decimal: str) -> npt.NDArray[Any] | None:
    """Return the numbers of a column, None if some cell is none.

    None also for whole ones so large that float64 may not hold them: whether that
    matters is for `column_types` to say.
    """
    numbers, is_plain, is_broken = (part[place, 1:] for part in cells[4:])
    is_empty = cells.starts[place, 1:] == cells.ends[place, 1:]
    is_whole = not is_broken.any()
    others = np.flatnonzero(~is_plain & ~is_empty)
    texts = [with_point(text, decimal) for text in cells.texts(place, others + 1)]
    if not all(map(NUMBER.fullmatch, texts)):
        return None
    is_whole = is_whole and all(map(INTEGER.fullmatch, texts))
    numbers[others] = [float(text) for text in texts]
    if is_empty.any():
        numbers[is_empty] = np.nan
    if not is_whole or is_empty.all():
        return numbers if len(numbers) else None
    if not (np.abs(numbers[~is_empty]) < EXACT).all():
        return None
    return numbers if is_empty.any() else numbers.astype(np.int64)


def _read_numbers(
    content: bytes, starts: Places, points: Places, ends: Places
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers of cells, and where they are sure.

    They are where a cell is a sign, or none, and digits with at most one mark at
    `points`, which is the end of a cell without.
    """
    signs = np.frombuffer(content, np.uint8)
    first = signs[starts]
    is_negative = first == MINUS
    starts = starts + (is_negative | (first == PLUS))
    n_decimals = np.maximum(ends - points - 1, 0)
    n_digits = ends - starts - (points < ends)
    is_plain = (n_digits > 0) & (n_digits <= MOST_DIGITS)
    is_plain &= (points - starts < 2) | (signs[starts] != ZERO)  # 01 is a code
    n_decimals = np.minimum(n_decimals, MOST_DIGITS)
    whole, is_number = _digits(content, points, points - starts)
    decimals, is_fraction = _digits(content, ends, n_decimals)
    is_plain &= is_number & is_fraction
    digits = whole * POWERS[n_decimals] + decimals
    numbers, is_sure = _quotients(digits, n_decimals)
    np.negative(numbers, out=numbers, where=is_negative)
    return numbers, is_plain & is_sure


def _words(content: bytes) -> npt.NDArray[np.uint64]:
    """Return the eight bytes that begin at each place, the first the lowest."""
    return np.ndarray(len(content) - 7, "<u8", content, strides=(1,))


def _codes(
    content: bytes, ends: Places, lengths: Places
) -> tuple[npt.NDArray[np.intp], int]:
    """Return for each text the number of the first that is equal, and how many differ.

    Eight bytes are one word; no byte of a text is zero, so shorter ones differ too.
    Texts so long that this does not pay have numbers of their own.
    """
    longest = int(lengths.max(initial=0))
    if longest > MOST_COMPARED:
        return np.arange(len(ends)), len(ends)
    words = _words(content)
    codes, values = pd.factorize(words[ends - 8] & WINDOWS[np.minimum(lengths, 8)])
    n_codes = len(values)
    for done in range(8, longest, 8):
        window = WINDOWS[np.clip(lengths - done, 0, 8)]
        keys, values = pd.factorize(words[np.maximum(ends - done - 8, 0)] & window)
        codes, pairs = pd.factorize(codes * len(values) + keys)
        n_codes = len(pairs)
        if 2 * n_codes > len(ends):
            return np.arange(len(ends)), len(ends)
    return codes, n_codes


def _digits(
    content: bytes, ends: Places, lengths: Places
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return the numbers whose digits end somewhere, and whether all are digits.

    Of more than 24 digits they are those of the last 24.
    """
    words = _words(content)
    total, is_number = _word_digits(words[ends - 8], lengths)
    for done in (8, 16):
        at = np.flatnonzero(lengths > done)
        digits, is_digits = _word_digits(words[ends[at] - done - 8], lengths[at] - done)
        total[at] += digits * POWERS[done]
        is_number[at] &= is_digits
    return total, is_number


def _word_digits(
    word: npt.NDArray[np.uint64], lengths: Places
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return the numbers that the last bytes of words spell, and whether they do."""
    window = WINDOWS[np.minimum(lengths, 8)]
    word &= window
    word |= ZEROS & ~window  # what lies before the digits is read as zeros
    above = word + ABOVE_NINE
    word -= ZEROS
    above |= word
    is_number = (above & HIGH_BITS) == 0
    word = word * TEN + (word >> np.uint64(8))
    pairs = word & PAIRS
    pairs *= HUNDREDS
    word >>= np.uint64(16)
    word &= PAIRS
    word *= UNITS
    word += pairs
    word >>= np.uint64(32)
    return word, is_number


def _quotients(
    digits: npt.NDArray[np.uint64], n_decimals: Places
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return digits over powers of ten, and whether the last bit is sure.

    float64 divides exactly held numbers right. Others are divided with the more bits
    of a long double, where they are there: the result, rounded once more, is right
    unless it lay too near the middle between two float64, or a quarter where these
    lie closer on one side.
    """
    numbers = digits.astype(np.float64) / FLOAT_POWERS[n_decimals]
    is_sure = digits <= EXACT
    hard = np.flatnonzero(~is_sure)
    if len(hard) and np.finfo(np.longdouble).nmant >= 63:
        exact = digits[hard].astype(np.longdouble)
        exact /= POWERS[n_decimals[hard]].astype(np.longdouble)
        numbers[hard] = exact.astype(np.float64)
        step = np.spacing(np.abs(numbers[hard]))
        gap = np.abs(exact - numbers[hard]).astype(np.float64) / step
        is_sure[hard] = (np.abs(gap - 0.5) > NEAR) & (np.abs(gap - 0.25) > NEAR)
    return numbers, is_sure
