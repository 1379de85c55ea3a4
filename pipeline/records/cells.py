"""Text in tables that a spreadsheet would evaluate as a formula."""

import re

RUN = re.compile(r"'*[=+\-@\t\r]")
"""Start of a cell that a spreadsheet evaluates, or of such a cell once escaped."""


def escaped(text: str) -> str:
    """Return a text, with an apostrophe in front if a spreadsheet would evaluate it.

    Examples
    --------
    >>> print(escaped("=1+1"), escaped("-1.5"), escaped("size"))
    '=1+1 -1.5 size
    """
    return f"'{text}" if RUN.match(text) and not _is_number(text) else text


def unescaped(text: str) -> str:
    """Return the text before `escaped`."""
    rest = text[1:]
    return rest if text[:1] == "'" and RUN.match(rest) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
