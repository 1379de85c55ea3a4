"""Where the numbers of a table stand, told once per column, and of which it is told."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..text.blocks import Cell, Part, Sentence, Styled, Table, Value, parts_of


@dataclass(frozen=True)
class Head:
    """The place of each number of a column; ``[]`` in it is for the row's number."""

    path: str
    derived: str


@dataclass(frozen=True)
class Traces:
    """What the heads of a table tell, and the number of each row; empty where none."""

    heads: tuple[Head | None, ...]
    rows: tuple[str, ...]


def traces(table: Table, path: Callable[[str], str]) -> Traces:
    """Return what heads and rows can tell of the places of a table's numbers.

    Parameters
    ----------
    table : Table
    path : callable
        Where a number of the view stands in the stored result: `ReportView.path`.

    Returns
    -------
    Traces
        A head speaks for its column if all numbers in it stand at one place, or differ
        by their last index alone and that is the number of their row.
    """
    heads: list[Head | None] = []
    numbers: dict[int, str] = {}
    for place in range(len(table.columns)):
        head, own = _heads_and_indices(table, place, path)
        if head and all(numbers.get(row, n) == n for row, n in own.items()):
            heads.append(head)
            numbers |= own
        else:
            heads.append(None)
    rows = tuple(numbers.get(row, "") for row in range(len(table.rows)))
    return Traces(tuple(heads), rows)


def _heads_and_indices(
    table: Table, place: int, path: Callable[[str], str]
) -> tuple[Head | None, dict[int, str]]:
    """Return the one place of a column's numbers, if it is one, and their indices."""
    heads: set[Head] = set()
    own: dict[int, str] = {}
    for row, line in enumerate(table.rows):
        for value in parts_of(line.cells[place], Value):
            stands = path(value.path)
            index = re.fullmatch(r"(.*\[)(\d+)(\].*)", stands)
            alone = index and line.cells[place].exact
            where = index[1] + index[3] if index and alone else stands
            heads.add(Head(where, value.derived))
            if index and alone:
                own[row] = index[2]
    return (heads.pop() if len(heads) == 1 else None), own


def light(table: Table) -> Table:
    """Return a table in which numbers made of others are plain text.

    In a long list they would take half of the page; the first rows of it stand in the
    report with them, and its file has all in full precision.
    """
    rows = (replace(r, cells=tuple(map(_light, r.cells))) for r in table.rows)
    return replace(table, rows=tuple(rows))


def _light(cell: Cell) -> Cell:
    return replace(cell, parts=_as_text(cell.parts))


def _as_text(parts: Sentence) -> Sentence:
    texts: list[Part] = []
    for part in parts:
        if isinstance(part, Value) and part.derived:
            texts.append(f"{part.text} {part.unit}" if part.unit else part.text)
        elif isinstance(part, Styled):
            texts.append(replace(part, parts=_as_text(part.parts)))
        else:
            texts.append(part)
    return tuple(texts)
