"""A section of the report as lines for a terminal: the same words and numbers."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from ..text.blocks import Cell, Group, KeyValues, Section, Table, plain

WIDTH = 88
GAP = 2


def to_text(section: Section) -> str:
    """Return a section as plain text: sentences in lines, tables in columns.

    Figures are left out; numbers stand as the page rounds them.
    """
    lines = [f"{section.letter}  {section.title}", ""]
    if section.lede:
        lines += [*wrap(plain(section.lede), WIDTH), ""]
    for part in section.parts.values():
        for block in part if isinstance(part, tuple) else (part,):
            lines += _lines(block)
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"


def _lines(block: Any) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, KeyValues):
        yield from (f"{plain(label)}: {plain(text)}" for label, text in block.rows)
        yield ""
    elif isinstance(block, Group):
        yield plain(block.title)
        for inner in block.blocks:
            yield from _lines(inner)
    elif isinstance(block, tuple) and block:
        yield from wrap(plain(block), WIDTH)
        yield ""


def _table(table: Table) -> Iterator[str]:
    """Yield a caption, a head, rows in columns as wide as they need, and notes."""
    columns = [i for i, column in enumerate(table.columns) if column.kind != "bar"]
    heads = [plain(table.columns[i].label) for i in columns]
    rows = [[_text(row.cells[i]) for i in columns] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    is_number = [table.columns[i].kind == "number" for i in columns]

    def line(cells: list[str]) -> str:
        sides = zip(cells, widths, is_number, strict=True)
        padded = (c.rjust(w) if right else c.ljust(w) for c, w, right in sides)
        return (" " * GAP).join(padded)

    yield from wrap(plain(table.caption), WIDTH)
    yield line(heads)
    yield "-" * (sum(widths) + GAP * (len(widths) - 1))
    yield from (line(row) for row in rows)
    for note in table.notes:
        yield from wrap(plain(note), WIDTH)
    yield ""


def _text(cell: Cell) -> str:
    return plain(cell.parts)
