"""A result as one Excel file: a worksheet for each table of `as_csv`, and an index.

This is the only module that writes Excel files. Without openpyxl no file is written.
"""

import io
import re
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from .as_csv import cell, rows_of
from .frames import FRAMES
from .result import AuditResult
from .undated_zip import undated

INDEX = "index"
MOST_ROWS = 100_000
"""Most rows of one worksheet; the CSV file has all. Excel allows ten times as many."""
LONGEST_NAME = 31
"""Most characters of the name of a worksheet."""
LONGEST = 32_767
"""Most characters that Excel stores in one cell."""
MEANINGS = {
    "importances": "Every importance: one row per feature and repeat.",
    "effects": "Every curve: one row per point.",
    "surfaces": "Every surface of two features: one row per point.",
    "findings": "Every finding, with its evidence as JSON.",
}
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def workbook(result: AuditResult) -> bytes | None:
    """Return all tables of a result that have rows, as the bytes of one Excel file.

    Names and sentences are stored as text, which Excel never evaluates: text that
    begins like a formula gets an apostrophe in front, as in the CSV files. Numbers are
    stored as numbers; NaN and the infinities are stored as words.

    Parameters
    ----------
    result : AuditResult

    Returns
    -------
    bytes or None
        Identical for the same result and version of openpyxl; None without openpyxl.
    """
    try:
        from openpyxl import Workbook
    except ImportError:
        return None
    book = Workbook(write_only=True)
    index = book.create_sheet(INDEX)
    contents: list[Sequence[Any]] = [("sheet", "file", "rows", "content")]
    for file, table in rows_of(result).items():
        lines = iter(table)
        head, rows = next(lines), list(islice(lines, MOST_ROWS + 1))
        if not rows:
            continue
        name = PurePosixPath(file).stem
        _fill(book.create_sheet(name[:LONGEST_NAME]), head, rows)
        meaning = MEANINGS.get(name) or FRAMES[name].meaning
        more = f"first {MOST_ROWS}; {file} has all"
        n_rows = len(rows) if len(rows) <= MOST_ROWS else more
        contents.append((name[:LONGEST_NAME], file, n_rows, meaning))
    _fill(index, contents[0], contents[1:])
    started = datetime.fromisoformat(str(result.run.volatile["started"]))
    about = book.properties
    about.creator, about.title = "importance-audit", _text(result.run.audit)
    about.created = about.modified = started.replace(tzinfo=None, microsecond=0)
    file_ = io.BytesIO()
    book.save(file_)
    return undated(file_.getvalue(), {"docProps/core.xml": _with_one_date})


def _fill(sheet: Any, head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table; its header row is frozen."""
    from openpyxl.styles import Font

    sheet.freeze_panes = "A2"
    names = [_text_cell(sheet, cell(name)) for name in head]
    for name in names:
        name.font = Font(bold=True)
    sheet.append(names)
    for row in rows[:MOST_ROWS]:
        sheet.append([_value(sheet, value) for value in row])


def _value(sheet: Any, value: Any) -> Any:
    """Return the worksheet cell or plain value that stores `value`; text stays text.

    openpyxl reads "#N/A" as an error and "=" as a formula. Text that begins like these
    becomes a typed cell, which costs several times as much as a plain value.
    """
    plain = cell(value)
    if isinstance(plain, str):
        return _text_cell(sheet, plain) if plain[:1] in ("#", "=") else _text(plain)
    number = getattr(plain, "item", lambda: plain)()  # numpy scalars to Python numbers
    return number if isinstance(number, bool | int | float) else _text(number)


def _text_cell(sheet: Any, text: str) -> Any:
    """Return a cell of type text."""
    from openpyxl.cell import WriteOnlyCell

    written = WriteOnlyCell(sheet, value=_text(text))
    written.data_type = "s"
    return written


def _text(value: Any) -> str | None:
    """Return a value as text that Excel can store: legal characters, cut if long."""
    if value is None:
        return None
    text = _ILLEGAL.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _with_one_date(core: bytes) -> bytes:
    """Return docProps/core.xml with its creation date as the date of modification.

    Newer versions of openpyxl write the time of saving there.
    """
    created = re.search(rb"<dcterms:created[^>]*>([^<]*)", core)
    day = created[1] if created else b""
    return _MODIFIED.sub(lambda found: found[1] + day, core)
