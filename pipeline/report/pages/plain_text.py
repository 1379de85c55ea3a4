"""What a finished page says, as lines: for a terminal, a comparison of two, a test."""

import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap

from .page_tree import INLINE, JOINT, Node, body_of, pieces_in

WIDTH = 88
GAP = 2
SILENT = {"script", "style", "colgroup"}
_NUMBER = re.compile(r"[-−–+<±≤]*[\d. ,∞–]*%?")


def page_lines(page: str | Node) -> list[str]:
    """Return what a page of ours says, in order and without its looks.

    A heading, a paragraph, an item of a list or the words for a figure is one line;
    so is a row of a table, a tab between its cells.
    """
    node = body_of(page) if isinstance(page, str) else page
    return list(filter(None, _lines(node)))


def to_text(page: str) -> str:
    """Return the sections of a page for a terminal, tables in columns."""
    (main,) = body_of(page).all("main")
    lines: list[str] = []
    for is_table, group in groupby(page_lines(main), lambda line: "\t" in line):
        if is_table:
            lines += [*_columns([line.split("\t") for line in group]), ""]
        else:
            lines += [part for line in group for part in (*wrap(line, WIDTH), "")]
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"


def _lines(node: Node) -> Iterator[str]:
    for is_inline, group in groupby(node.inside, _is_inline):
        if is_inline:
            yield _text(list(group))
            continue
        for item in group:
            assert isinstance(item, Node)
            if item.tag == "img":
                yield item.attributes.get("alt", "")
            elif item.tag == "tr":
                yield "\t".join(_text(cell.inside) for cell in item.all("th", "td"))
            elif item.tag not in SILENT:
                yield from _lines(item)


def _is_inline(item: str | Node) -> bool:
    return isinstance(item, str) or item.tag in INLINE


def _text(nodes: list[str | Node]) -> str:
    text = "".join(piece.text for piece in pieces_in(nodes)).replace(JOINT, "")
    return " ".join(text.split())


def _columns(rows: list[list[str]]) -> Iterator[str]:
    """Yield a head and rows, columns as wide as they need, numbers to the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    is_number = [all(map(_NUMBER.fullmatch, column[1:])) for column in columns]
    for place, row in enumerate(rows):
        sides = zip(row, widths, is_number, strict=True)
        padded = (c.rjust(w) if right else c.ljust(w) for c, w, right in sides)
        yield (" " * GAP).join(padded)
        if place == 0:
            yield "-" * (sum(widths) + GAP * (len(widths) - 1))
