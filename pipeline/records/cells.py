"""Texts in tables that a spreadsheet would run as formulas."""

import re

RUN = re.compile(r"'*[=+\-@\t\r]")
"""How a cell begins that a spreadsheet runs, with the apostrophes of an escaped one."""


def escaped(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run it.

    Examples
    --------
    >>> print(escaped("=1+1"), escaped("-1.5"), escaped("size"))
    '=1+1 -1.5 size
    """
    return f"'{text}" if RUN.match(text) and not _is_number(text) else text


def unescaped(text: str) -> str:
    """Return the text that `escaped` wrote so."""
    rest = text[1:]
    return rest if text[:1] == "'" and RUN.match(rest) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
