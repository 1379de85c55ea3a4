"""How a table is set by what stands in it: widths, size of type. Not: any renderer.

For renderers that break a word where a column is too narrow for it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..figures.typeface import MM_PER_POINT, width
from .page_tree import JOINT, Node, Piece, pieces_in

MONO_EM = 0.602
"""Of a character of the monospaced face, in em."""
MARGINS = 2.4
"""Millimetres of a column that no text may use."""
NUMBERS = 40.0
"""Millimetres up to which a cell of numbers is one line."""
_BLANK, _LINE = re.compile(r"[ \n]"), re.compile(r"\n")
_BLANK_OR_JOINT = re.compile(rf"[ \n{JOINT}]")


class Text(NamedTuple):
    """What one cell says, of which kind it is, and whether it is of the head."""

    pieces: list[Piece]
    is_number: bool
    is_head: bool


class Needs(NamedTuple):
    """What one column asks for, in millimetres, its margins included.

    Attributes
    ----------
    broken, whole : float
        The least that holds every word where names break, and where they do not.
    lines : float
        The least that breaks no line below the head.
    heads : float
        The least that breaks no line of the head.
    """

    broken: float
    whole: float
    lines: float
    heads: float


class Layout(NamedTuple):
    """How a table is set: widths in millimetres, style and size of its type."""

    widths: tuple[float, ...]
    style: str
    points: float
    is_turned: bool


def cells_of(row: Node, *, is_head: bool) -> list[Text]:
    """Return the cells of a row, bars left out."""
    cells = []
    for cell in row.all("td", "th"):
        pieces = pieces_in(cell.inside)
        if is_head:
            pieces = [piece._replace(look=piece.look | {"b"}) for piece in pieces]
        if "b" not in cell.classes:
            cells.append(Text(pieces, "n" in cell.classes, is_head))
    return cells


def shares_of(table: Node, n_columns: int) -> list[float]:
    """Return the shares of the columns of a table, bars left out."""
    shares = [
        float(match[1])
        for column in table.all("col")
        if (match := re.search(r"([\d.]+)%", column.attributes["style"]))
    ]
    if not shares:
        return [1.0] * n_columns
    row = next(table.all("tr"))
    is_bar = ("b" in cell.classes for cell in row.all("td", "th"))
    return [s for s, bar in zip(shares, is_bar, strict=True) if not bar]


def layout_of(
    rows: Sequence[Sequence[Text]],
    shares: Sequence[float],
    rooms: tuple[float, float],
    styles: Sequence[tuple[str, float]],
) -> Layout:
    """Return how a table is set so that no word of it is broken.

    Parameters
    ----------
    rows : sequence of sequences of Text
    shares : sequence of float
        How the columns share what none of them needs.
    rooms : tuple of float
        Millimetres across the page, and across the page turned.
    styles : sequence of (str, float)
        Styles with their points, the largest first. The page is turned where none
        fits; where turning does not help, each column has its share of what all need.
    """
    by_size = [(s, size, _needs_of_all(rows, size)) for s, size in styles]
    for room in rooms:
        for style, points, needs in by_size:
            if widths := fitting(needs, shares, room):
                return Layout(widths, style, points, room != rooms[0])
    least = [need.broken for need in needs]
    widths = tuple(rooms[0] * need / sum(least) for need in least)
    return Layout(widths, style, points, is_turned=False)


def fitting(
    needs: Sequence[Needs], shares: Sequence[float], room: float
) -> tuple[float, ...] | None:
    """Return widths that add up to the room and break no word, or None.

    Names stay whole in as many columns as the room bears. What is left then goes to
    the columns whose lines break, the narrowest first; to those whose heads do; and
    last by the `shares`.
    """
    widths = [need.broken for need in needs]
    left = room - sum(widths)
    if left < 0:
        return None
    for n in sorted(range(len(needs)), key=lambda n: needs[n].whole - needs[n].broken):
        if (more := needs[n].whole - widths[n]) <= left:
            widths[n], left = needs[n].whole, left - more
    levelled = _level(widths, [need.lines for need in needs], room)
    levelled = _level(levelled, [need.heads for need in needs], room)
    left = max(0.0, room - sum(levelled))
    both = zip(levelled, shares, strict=True)
    return tuple(wide + left * share / sum(shares) for wide, share in both)


def widest(pieces: Sequence[Piece], points: float) -> float:
    """Return the width of the longest word, names whole."""
    return _widest(pieces, points, _BLANK)


def needs_of(cells: Iterable[Text], points: float) -> Needs:
    """Return what a column of these cells asks for, set in type of this size."""
    broken = whole = lines = heads = 0.0
    for cell in cells:
        line = _widest(cell.pieces, points, _LINE)
        is_one = cell.is_number and not cell.is_head and line <= NUMBERS
        word = line if is_one else _widest(cell.pieces, points, _BLANK)
        part = line if is_one else _widest(cell.pieces, points, _BLANK_OR_JOINT)
        broken, whole = max(broken, part), max(whole, word)
        lines = max(lines, word if cell.is_head else line)
        heads = max(heads, line if cell.is_head else 0.0)
    return Needs(*(MARGINS + need for need in (broken, whole, lines, heads)))


def _needs_of_all(rows: Sequence[Sequence[Text]], points: float) -> list[Needs]:
    return [needs_of(column, points) for column in zip(*rows, strict=True)]


def _level(least: Sequence[float], most: Sequence[float], room: float) -> list[float]:
    """Return widths between least and most, raised to one level that fills the room."""

    def at(level: float) -> list[float]:
        both = zip(least, most, strict=True)
        return [max(low, min(high, level)) for low, high in both]

    low, high = 0.0, room
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(at(middle)) <= room else (low, middle)
    return at(low)


def _widest(pieces: Sequence[Piece], points: float, ends: re.Pattern[str]) -> float:
    """Return the width of the longest part of a text between two ends."""
    most = current = 0.0
    for piece in pieces:
        first, *more = ends.split(piece.text)
        current += _width(first, piece, points)
        most = max(most, current)
        for part in more:
            current = _width(part, piece, points)
            most = max(most, current)
    return most


def _width(text: str, piece: Piece, points: float) -> float:
    shown = text.replace(JOINT, "")
    if "code" in piece.look:
        return MONO_EM * len(shown) * points * MM_PER_POINT
    return width(shown, points, bold="b" in piece.look)
