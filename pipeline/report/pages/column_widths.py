"""Widths of the columns of a printed table, similar to those a browser would choose.

WeasyPrint 57 computes widths for `table-layout: auto`, but takes up to three times as
long for a report, and breaks short words in narrow columns.
"""

from collections.abc import Sequence
from itertools import pairwise

from ..figures.typeface import width
from ..text.blocks import Badge, Cell, Column, Table, plain

PAGE, SIZE, GAP = 174.0, 7.7, 3.0
"""Width of a page in mm, font size of its tables in points, mm between two columns."""
LONGEST_WORD = 32.0
"""Most millimetres of a word that is not broken."""
SHORT = 22.0
"""Most millimetres of a cell that stays in one line if there is room."""
LONGEST_LINE = 110.0
"""Most millimetres that a cell may claim for its column."""
SLACK = 1.0
"""Millimetres by which a column is wider than its longest word."""
SHAPE = 5.0
"""Millimetres of the shape before a verdict, which is bold and never broken."""


def column_widths(table: Table) -> tuple[float, ...]:
    """Return the width of each column in percent of the width of the page.

    A column has its least width, that of its longest word or short cell. The rest of
    the page is divided in proportion to the additional width of the longest cell of
    each column. If room is short, heads are broken before cells.
    """
    room = PAGE - GAP * (len(table.columns) - 1)
    needs = _all_needs(table, SHORT)
    if sum(least for least, _ in needs) > room:
        needs = _all_needs(table, 0.0)
    heads = [width(plain(column.label), SIZE) for column in table.columns]
    wide = [max(most, head) for (_, most), head in zip(needs, heads, strict=True)]
    least, most = (sum(ends) for ends in zip(*needs, strict=True))
    if sum(wide) <= room:
        shares = wide
    else:
        part = min(1.0, max(0.0, room - least) / ((most - least) or 1.0))
        shares = [low + part * (high - low) for low, high in needs]
    scale = room / (sum(shares) or 1.0)
    widths = [scale * share + GAP for share in shares]
    widths[-1] -= GAP
    return tuple(round(100 * one / PAGE, 2) for one in widths)


def _all_needs(table: Table, short: float) -> list[tuple[float, float]]:
    """Return the least width of each column, and the width that breaks no cell."""
    needs = [
        _needs(column, [row.cells[n] for row in table.rows], short)
        for n, column in enumerate(table.columns)
    ]
    for n, (left, column) in enumerate(pairwise(table.columns), start=1):
        # Right-aligned numbers would touch a left-aligned text.
        if left.kind == "number" and column.kind != "number":
            needs[n] = (needs[n][0] + GAP, needs[n][1] + GAP)
    return needs


def _needs(column: Column, cells: Sequence[Cell], short: float) -> tuple[float, float]:
    """Return the least width of a column, and the width that breaks no cell."""
    words = plain(column.label).split(" ")  # not at no-break spaces
    least = most = _longest(words)
    for cell in cells:
        text = plain(cell.parts)
        is_bold = any(isinstance(part, Badge) for part in cell.parts)
        is_number = column.kind == "number" and not cell.is_words
        whole = width(text, SIZE, bold=is_bold)
        whole += SHAPE if is_bold else SLACK * (not is_number)
        if is_bold or is_number or whole <= short:
            least = max(least, whole)
        else:
            least = max(least, _longest(text.split(" ")))
        most = max(most, min(whole, LONGEST_LINE))
    return least, max(least, most)


def _longest(words: Sequence[str]) -> float:
    longest = max((width(word, SIZE) for word in words), default=0.0)
    return min(LONGEST_WORD, longest + SLACK)
