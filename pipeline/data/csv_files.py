"""CSV files: the texts of their cells; `column_types` derives the types from them."""

import csv
import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

import numpy as np
import pandas as pd

from ..records.errors import DataError, quote, several, words

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
UTF8 = ("utf-8", "utf8", "utf-8-sig")
UTF16 = {BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
"""By the byte order mark, the first two bytes of the file."""


def read_csv(
    name: str, content: bytes, *, separator: str, encoding: str
) -> pd.DataFrame:
    """Return the cells of a CSV file as texts, NaN for an empty cell.

    Lines without any cell are left out.

    Parameters
    ----------
    name : str
        The name of the file in messages.
    content : bytes
    separator : str
        The character between two cells.
    encoding : str
        Its name in Python. A byte order mark is left out.

    Returns
    -------
    DataFrame of object
        Several columns may have the same name.

    Raises
    ------
    DataError
        If the bytes cannot be decoded, or the text is not a table.
    """
    content = as_utf8(name, content, encoding)
    first = content[:80].partition(b"\n")[0].strip(b'"\r ')
    if first.lower().startswith(b"sep=") and len(first) <= len(b"sep=;"):
        raise DataError(
            f"{name} begins with {quote(first.decode())}, a line for Excel, and not "
            "with the names of its columns. Remove that line, and set the separator "
            "beside the file unless it is a comma."
        )
    # One cell may be as long as the whole file.
    csv.field_size_limit(max(len(content), csv.field_size_limit()))
    # str.splitlines would also break lines at U+2028 and similar characters.
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    own = SEPARATORS.get(separator, repr(separator))
    texts: list[str] = []
    last = 0  # line of the last row
    try:
        header = next((row for row in reader if row), [""])
        others = [sign for sign in SEPARATORS if len(header) == 1 and sign in header[0]]
        if others:
            key = '"\\t"' if others[0] == "\t" else f'"{others[0]}"'
            raise DataError(
                f"{name} has {SEPARATORS[others[0]]}s but no {own} in its first line: "
                f"{quote(header[0])}. Set separator = {key} beside the file, and "
                'decimal = "," if its numbers are written like 1234,5.'
            )
        last = reader.line_num
        for row in reader:
            if row and len(row) != len(header):
                remedy = (
                    f"Quote cells that hold a {own}, or set another separator beside "
                    "the file (init: --separator)."
                )
                if len(row) > len(header) and (not texts or len(header) == 1):
                    remedy = (
                        "The first line must name the columns: "
                        f"{quote(separator.join(header))} does not name all. Remove "
                        "titles above the names, and name the column that names rows."
                    )
                raise DataError(
                    f"{name}: line {reader.line_num} has {several(len(row), 'cell')}, "
                    f"and the first line {len(header)}. {remedy}"
                )
            texts += row
            last = reader.line_num
    except csv.Error as error:
        begins = f" The row begins in line {last + 1}"
        hint = f"{begins}; does a quotation mark lack its pair?"
        raise DataError(
            f"{name} cannot be read as CSV: line {reader.line_num}: {error}."
            f"{hint * (reader.line_num > last + 1)}"
        ) from error
    cells = np.array(texts, dtype=object).reshape(-1, len(header))
    cells[cells == ""] = np.nan
    return pd.DataFrame(cells, columns=pd.Index(header, dtype=object), dtype=object)


def utf16_of(content: bytes) -> str:
    """Return the UTF-16 encoding that the first bytes show, empty if it is not UTF-16.

    Without a byte order mark, one of the first two bytes is NUL.
    """
    if content[:2] in UTF16:
        return UTF16[content[:2]]
    if content[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if content[:1] == b"\0" else ""


def line_of(content: bytes, place: int, word: str, *, separator: str) -> int:
    """Return the number of the first line, from 1, with `word` in column `place`."""
    lines = io.StringIO(content.decode(), newline="")
    reader, line = csv.reader(lines, delimiter=separator), 0
    for row in reader:
        if place < len(row) and row[place] == word:
            return line + 1
        line = reader.line_num
    return line


def as_utf8(name: str, content: bytes, encoding: str) -> bytes:
    """Return the text of a file in UTF-8, without a byte order mark.

    Raises
    ------
    DataError
        If the file has another encoding, or Python knows no encoding of that name.
    """
    if encoding.lower() in UTF8 and (own := utf16_of(content)):
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
        if b"\0" in content:
            raise DataError(
                f"{name} is not a text file: it holds NUL bytes. Save it as CSV."
            ) from error
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
