"""The text of a rendered page in lines, for terminals, comparisons and tests."""

import re
from html.parser import HTMLParser
from itertools import groupby
from textwrap import wrap

WIDTH = 88
INLINE = {"a", "b", "bdi", "br", "code", "em", "i", "span", "strong", "sub", "wbr"}
_SILENT = re.compile(r"<(script|style)\b.*?</\1>", re.S)


class _Reader(HTMLParser):
    """Reader of the lines of well-formed HTML of the report."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._cells = [""]
        self._is_row = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """End the line at a new block; in a row, begin a cell."""
        self._end_at(tag)
        given = {name: value or "" for name, value in attrs}
        if tag == "tr":
            self._cells, self._is_row = [], True
        elif tag in ("th", "td"):
            self._cells.append("")
        elif tag == "br" or given.get("class") in ("line", "entry"):
            self.handle_data(" ")
        elif tag == "img":
            self.lines.append(given["alt"])

    def handle_endtag(self, tag: str) -> None:
        """End the line with its block."""
        self._end_at(tag)

    def handle_data(self, data: str) -> None:
        """Add a text to the line, in a row to its last cell."""
        if self._cells:
            self._cells[-1] += data

    def _end_at(self, tag: str) -> None:
        """End the line, unless the tag is part of a line or of a row."""
        if tag == "tr" or not (self._is_row or tag in INLINE):
            self.lines.append("\t".join(" ".join(c.split()) for c in self._cells))
            self._cells, self._is_row = [""], False


def page_lines(page: str, element: str = "body") -> list[str]:
    """Return the text of an element of a page in lines.

    A heading, a paragraph, an item of a list or the alternative text of a figure is one
    line; so is a row of a table, with tabs between its cells.
    """
    html = _SILENT.sub("", page)
    reader = _Reader()
    reader.feed(html[html.index(f"<{element}") : html.index(f"</{element}>")])
    reader.handle_endtag(element)
    return list(filter(None, reader.lines))


def to_text(page: str) -> str:
    """Return the sections of a page for a terminal, tables in columns."""
    lines: list[str] = []
    for is_table, group in groupby(page_lines(page, "main"), lambda line: "\t" in line):
        if is_table:
            lines += [*_columns([line.split("\t") for line in group]), ""]
        else:
            lines += [part for line in group for part in (*wrap(line, WIDTH), "")]
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"


def _columns(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table with aligned columns, a rule below its head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *lines = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    return [head, "-" * len(head), *lines]
