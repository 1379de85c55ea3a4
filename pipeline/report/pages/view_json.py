"""A view as JSON text: what every block says, one line each, for people to compare."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..sections.lists import Index
from ..text.blocks import (
    Badge,
    Card,
    Entry,
    Figure,
    Group,
    KeyValues,
    Link,
    Name,
    Section,
    Styled,
    Table,
    Value,
    plain,
)

TEXT = (str, Value, Name, Link, Badge, Styled)


def lines_of(head: Mapping[str, str], sections: tuple[Section, ...]) -> str:
    """Return texts of the page, then of each block, as a JSON list of small objects.

    Parameters
    ----------
    head : mapping of str to str
        What stands above the sections.
    sections : tuple of Section

    Returns
    -------
    str
        One object per line in the order of the page: a section, a part of it, the head
        of a table or figure, a row. Numbers are texts as printed; drawings, and rows
        that a table leaves out, are not in it.
    """
    items = [dict(head), *(item for section in sections for item in _section(section))]
    lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    return f"[\n{lines}\n]\n"


def _section(section: Section) -> Iterator[dict[str, Any]]:
    head = {"section": section.letter, "title": section.title}
    yield {**head, "lede": plain(section.lede)}
    for name, part in section.parts.items():
        yield {"part": name}
        yield from _block(part)


def _block(block: Any) -> Iterator[dict[str, Any]]:
    """Yield what a block says: its head, then what is inside it."""
    if isinstance(block, TEXT):
        yield {"text": plain((block,))}
    elif isinstance(block, tuple) and block and all(isinstance(p, TEXT) for p in block):
        yield {"text": plain(block)}
    elif isinstance(block, tuple):
        for item in block:
            yield from _block(item)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, KeyValues):
        yield {"facts": block.id, "title": plain(block.title)}
        yield from ({"row": [plain(a), plain(b)]} for a, b in block.rows)
    elif isinstance(block, Figure):
        texts = {"headline": plain(block.headline), "caption": plain(block.caption)}
        yield {
            "figure": block.id,
            "drawn by": block.draw.__name__,
            "alt": block.alt,
            **texts,
        }
    elif isinstance(block, Index):
        yield {"list": block.title}
        yield from ({"row": [item.place, plain(item.head)]} for item in block.items)
    else:
        yield from _with_title(block)


def _with_title(block: Card | Group | Entry) -> Iterator[dict[str, Any]]:
    """Yield what a block with an id and a title says, and what stands below it."""
    yield {block.kind: block.id, "title": plain(block.title)}
    if isinstance(block, Entry):
        yield {"text": f"{block.number} {block.label}: {plain(block.summary)}"}
    below = block.blocks if isinstance(block, Group) else (block.facts,)
    yield from _block(tuple(item for item in below if item is not None))


def _table(table: Table) -> Iterator[dict[str, Any]]:
    yield {
        "table": table.id,
        "caption": plain(table.caption),
        "columns": [plain(column.label) for column in table.columns],
        "notes": [plain(note) for note in table.notes],
        "rows in all": len((table.everything or table).rows),
    }
    for row in table.rows:
        yield {"row": [plain(cell.parts) for cell in row.cells]}
