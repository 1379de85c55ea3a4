"""What figures share: names at the left, panels in a grid, axis, baseline, rows.

A figure of rows is laid out by `name_column` (names at the left), `value_column`
(numbers at the right) and `slots` (panels); `put_rows` then draws the axis
and the names of each panel, and returns the `Rows` on which numbers have a place. A
figure with two axes has a `Plot`.

Numbers that are not finite have no place on an axis. An infinite one is an open
triangle at the end of the axis it lies beyond; NaN is drawn as nothing, and the text
of its row says so. An interval without two finite ends is not drawn.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite, isinf, nan
from typing import Any, NamedTuple, TypeAlias, TypeVar

from . import drawing, typeface
from .drawing import (
    AXIS,
    BLUE,
    FILL,
    HAIR,
    INK,
    NAME,
    SERIES,
    SMALL,
    SOFT,
    TITLE,
    WIDTH,
    Look,
    Scale,
    Sheet,
)

Panel = TypeVar("Panel")
Lines: TypeAlias = tuple[str, ...]
Ticks: TypeAlias = tuple[Sequence[float], Sequence[str]]

DOT = Look(BLUE, 1.1)
"""A number with its interval."""
THIN = Look(AXIS, 0.6)
"""An axis and its ticks."""
MOST_ROWS = 40
"""Most rows that a page holds."""
PAGE = 228.0  # millimetres: an A4 page less its furniture and the caption
HEAD = 4.4  # from the upper edge to a plot: one line of small text
FOOT = 9.4  # from an axis to the lower edge: tick labels and unit
SLACK = 1.08  # a browser may have to guess the typeface
NAME_LINE = 3.2  # from one line of a name to the next
_HEADING_LINES, _HEADING_LINE = 4, 3.5  # of the name of a panel, millimetres each
_NOTE_LINES, NOTE_LINE = 3, 2.9  # of the small words below it
NAME_LINES, _ROWS = 3, 202.0  # of a name in its column, and millimetres of all rows
_GAP = 3.0  # between names and plot
_BESIDE, _BETWEEN = 7.0, 3.6  # between panels side by side, and below each other
_OVER = 3.25  # how far a number may reach out of its axis: less than half of _BESIDE
KEY_LINE = 4.2
_SAMPLE, _PIECE, _APART = 7.0, 8.6, 5.0  # of a key: line, where its word begins, gap
_BOLD = 1.2  # bold words are at most so many times as wide
_SHADES = 40  # of a key of colours
NARROW = 34.0  # millimetres below which a panel shows no numbers


@dataclass(frozen=True)
class Row:
    """One feature: its number, what surrounds it, and how both are printed.

    `low` and `high` are the ends of its interval, `repeats` the single numbers behind
    it, `text` stands at the right edge, `title` under the pointer; `mark` is a sign at
    the end of the plot and `note` words in it. `cluster` counts from 0, -1 is none;
    `is_together` marks the members of a cluster measured together.
    """

    name: str
    estimate: float
    low: float = nan
    high: float = nan
    text: str = ""
    repeats: tuple[float, ...] = ()
    title: str = ""
    mark: str = ""
    note: str = ""
    cluster: int = -1
    is_together: bool = False

    @property
    def numbers(self) -> tuple[float, ...]:
        """Every number that is drawn of it."""
        return (self.estimate, self.low, self.high, *self.repeats)


class Column(NamedTuple):
    """Names at the left edge, in lines; where the plot begins; mm from row to row."""

    names: tuple[Lines, ...]
    plot: float
    pitch: float

    @property
    def height(self) -> float:
        """The height of all rows in millimetres."""
        return self.pitch * len(self.names)

    def places(self, top: float) -> tuple[float, ...]:
        """Return the middle of each row below `top`."""
        return tuple(top + self.pitch * (n + 0.5) for n in range(len(self.names)))


class Slot(NamedTuple):
    """The place of one panel: the rows lie between `left`, `right` and `top`.

    `is_first` of the panels side by side, `is_last` of those below each other. Its
    heading and the note below it stand in lines above `top`.
    """

    left: float
    top: float
    right: float
    is_first: bool = True
    is_last: bool = True
    heading: Lines = ()
    note: Lines = ()


def wide(words: str, *, bold: bool = False) -> float:
    """Return the room that small words need in millimetres."""
    return typeface.width(words, SMALL, bold=bold) * SLACK


def widest(texts: Iterable[str]) -> float:
    """Return the room that the longest of some small words needs."""
    return max(map(wide, texts), default=0.0)


def name_column(
    names: Sequence[str], *, pitch: float = 0.0, widest: float = 62.0
) -> Column:
    """Return the column for these names: as wide and as high as they need.

    It is 33 mm wide and may grow to `widest`; a wider name takes two or three lines
    where the page has the room for them, or else half as much width again. What that
    does not hold is cut. A `pitch` of 0 follows from the number of rows: airy for
    five, tight for thirty.
    """
    needed = max(typeface.width(name, NAME) for name in names) * SLACK + _GAP
    airy = pitch or min(6.4, max(4.6, 6.4 - 0.1 * (len(names) - 5)))
    # The height of a row by the lines of its name, as many as the page has room for.
    heights = [airy] + [(n + 0.4) * NAME_LINE for n in range(2, NAME_LINES + 1)]
    fitting = (n for n, high in enumerate(heights, 1) if len(names) * high <= _ROWS)
    most = max(fitting, default=1)
    plot = min(max(needed, 33.0), widest if most > 1 else 1.5 * widest)
    lines = typeface.shortened(names, (plot - _GAP) / SLACK, NAME, lines=most)
    return Column(lines, plot, max(airy, heights[max(map(len, lines)) - 1]))


def value_column(texts: Iterable[str]) -> float:
    """Return the width of the numbers at the right edge, gap included."""
    return max(15.0, *(typeface.width(text, NAME) * SLACK + 4.0 for text in texts))


def slots(
    names: Sequence[str],
    rows: float,
    *,
    left: float,
    head: float,
    across: int,
    margin: float = 0.0,
    notes: Sequence[str] = (),
) -> tuple[list[Slot], float]:
    """Return the places of panels, and the height of their figure.

    Panels stand `across` side by side, or as many more as it takes until a page
    holds them; the height says when none does. A heading and its note are as wide as
    the panel less its `margin`. `rows` is the height of the rows of a panel, `head`
    that of what stands above them, `left` the width of the names that each line of
    panels starts with.
    """
    for n_wide in range(min(across, len(names)), len(names) + 1):
        width = (WIDTH - left - _BESIDE * (n_wide - 1)) / n_wide
        titles = headings(names, width - margin)
        room = (width - margin) / SLACK
        texts = notes or [""] * len(names)
        cut = typeface.shortened(texts, room, SMALL, lines=_NOTE_LINES)
        below = [lines if any(lines) else () for lines in cut]
        above = max(
            heading_height([title]) + NOTE_LINE * len(note)
            for title, note in zip(titles, below, strict=True)
        )
        pitch = head + above + rows + _BETWEEN
        height = ceil(len(names) / n_wide) * pitch - _BETWEEN + FOOT
        if height <= PAGE:
            break
    places = []
    for n, (title, note) in enumerate(zip(titles, below, strict=True)):
        x = left + (n % n_wide) * (width + _BESIDE)
        y = head + above + (n // n_wide) * pitch
        is_last = n + n_wide >= len(names)
        places.append(Slot(x, y, x + width, n % n_wide == 0, is_last, title, note))
    return places, height


class Plot(NamedTuple):
    """Numbers across and numbers up, each with its place on the sheet."""

    sheet: Sheet
    x: Scale
    y: Scale

    def line(
        self, x: Iterable[float], y: Iterable[float], look: Look, *, name: str = ""
    ) -> None:
        """Draw a line through points, broken where one is not finite."""
        across, up = [*map(self.x.at, x)], [*map(self.y.at, y)]
        self.sheet.line(across, up, look, name=name)

    def box(self, x: tuple[float, float], y: tuple[float, float], **look: Any) -> None:
        """Draw a rectangle between two x and two y."""
        left, right = map(self.x.at, x)
        bottom, top = map(self.y.at, y)
        self.sheet.box((left, right), (bottom, top), **look)

    def mark(self, x: float, y: float, look: Look, **names: str) -> None:
        """Draw one mark."""
        self.sheet.mark(self.x.at(x), self.y.at(y), look, **names)


class Rows(NamedTuple):
    """The rows of a panel on its axis: numbers across, millimetres down."""

    sheet: Sheet
    scale: Scale
    column: Column
    top: float

    @property
    def places(self) -> tuple[float, ...]:
        """The middle of each row."""
        return self.column.places(self.top)

    @property
    def span(self) -> tuple[float, float]:
        """Where the first row begins and the last ends."""
        return self.top, self.top + self.column.height

    def baseline(self, number: float, words: str) -> None:
        """Draw the dashed line at a number, its words above it."""
        x, look = self.scale.at(number), Look(INK, 0.9, drawing.DASHED)
        self.sheet.uprights([x], self.span, look, name="baseline")
        left = max(0.0, min(x, self.scale.right - wide(words)))
        self.sheet.label(left, self.top - 2.0, words)

    def dot(
        self,
        y: float,
        number: float,
        low: float = nan,
        high: float = nan,
        *,
        look: Look = DOT,
        cap: float = 1.1,
        start: float = nan,
        name: str = "",
    ) -> None:
        """Draw one number: its mark, its interval, a hairline from the baseline.

        `cap` is half the height of the caps of the interval in millimetres.
        """
        if isinf(number):
            arrow, x = ">", self.scale.right
            if number < 0:
                arrow, x = "<", self.scale.left
            look = look._replace(mark=arrow, size=4.6)
            self.sheet.mark(x, y, look, name="beyond")
        elif isfinite(number):
            x = self.scale.at(number)
            if isfinite(start):
                hairline = self.scale.at(start), x
                self.sheet.line(hairline, (y, y), Look(HAIR, 0.7))
            self.interval(y, low, high, look=look, cap=cap)
            self.sheet.mark(x, y, look, name=name)

    def interval(
        self, y: float, low: float, high: float, *, look: Look = DOT, cap: float = 1.1
    ) -> None:
        """Draw a line between two finite numbers, its caps `cap` mm up and down."""
        if isfinite(high - low) and low < high:
            span = self.scale.at(low), self.scale.at(high)
            self.sheet.line(span, (y, y), look, name="interval")
            if cap:
                ends = y - cap, y + cap
                self.sheet.uprights(span, ends, look._replace(width=0.8))

    def tell(self, y: float, title: str) -> None:
        """Lay over a row what it tells under the pointer."""
        if title:
            half = self.column.pitch / 2
            ends = self.scale.left, self.scale.right
            self.sheet.box(ends, (y - half, y + half), title=title)


def put_rows(
    sheet: Sheet,
    column: Column,
    scale: Scale,
    slot: Slot,
    *,
    label: str = "",
    names_at: float = 0.0,
    ticks: Ticks | None = None,
) -> Rows:
    """Draw the axis of a panel and the names of its rows.

    Names stand at the left of the first panel of a line, their left end at `names_at`.
    Of panels below each other the last has the axis; its label stands under the left
    end, further left if it needs the room. `ticks` are as many as fit, if not given.
    """
    rows = Rows(sheet, scale, column, slot.top)
    numbers, texts = ticks or fitting_ticks(scale)
    sheet.uprights(map(scale.at, numbers), rows.span)
    if slot.is_last:
        bottom = slot.top + column.height
        foot(sheet, scale, bottom, numbers, texts)
        left = max(min(scale.left, WIDTH - wide(label)), 0.0)
        put_label(sheet, left, bottom + 7.6, label)
    if slot.is_first:
        for lines, y in zip(column.names, rows.places, strict=True):
            put_name(sheet, lines, names_at, y)
    return rows


def put_label(
    sheet: Sheet, left: float, y: float, words: str, *, right: float = WIDTH
) -> None:
    """Write what an axis shows, cut in the middle where it would pass `right`."""
    ((text,),) = typeface.shortened([words], (right - left) / SLACK, SMALL)
    sheet.label(left, y, text)


def foot(
    sheet: Sheet,
    scale: Scale,
    y: float,
    numbers: Sequence[float],
    texts: Sequence[str],
) -> None:
    """Draw the line of an axis with its ticks, their texts kept on the sheet."""
    sheet.line((scale.left, scale.right), (y, y), THIN, name="axis")
    sheet.uprights(map(scale.at, numbers), (y, y + 0.9), THIN)
    for number, text in zip(numbers, texts, strict=True):
        sheet.label(_tick_middle(scale, number, text), y + 3.2, text, anchor="center")


def upright(sheet: Sheet, x: Scale, y: Scale, *, most: int) -> None:
    """Draw the grid of an upright scale, and its numbers left of the plot."""
    numbers = drawing.ticks(y.low, y.high, most=most)
    sheet.levels((x.left, x.right), map(y.at, numbers))
    for number, text in zip(numbers, drawing.tick_texts(numbers), strict=True):
        sheet.label(x.left - 1.2, y.at(number), text, anchor="right")


def strip(
    sheet: Sheet,
    scale: Scale,
    ends: tuple[float, float],
    colour: Callable[[float], str],
    *,
    is_upright: bool,
) -> None:
    """Draw the shades of a key along a scale; `colour` is that of a share of it."""
    edges = [scale.left + scale.width * n / _SHADES for n in range(_SHADES + 1)]
    for n, span in enumerate(pairwise(edges)):
        face = colour((n + 0.5) / _SHADES)
        sides = (ends, span[::-1]) if is_upright else (span, ends)
        sheet.box(*sides, face=face, edge=face, width=0.25)


def fitting_ticks(scale: Scale, *, grouped: bool = True, whole: bool = False) -> Ticks:
    """Return as many ticks as stand apart on the scale, at most nine, and texts.

    They stand well apart, or where no two would, just so that none touches another.
    `whole` leaves out what is no whole number.
    """
    for least in (8.0, 0.0):
        for most in range(8, 1, -1):
            ticks = drawing.ticks(scale.low, scale.high, most=most)
            if whole:
                ticks = tuple(tick for tick in ticks if tick == int(tick))
            texts = drawing.tick_texts(ticks, grouped=grouped)
            # Neighbours keep their room.
            inside = [
                (tick, text)
                for tick, text in zip(ticks, texts, strict=True)
                if scale.left - _OVER <= scale.at(tick) - wide(text) / 2
                and scale.at(tick) + wide(text) / 2 <= scale.right + _OVER
            ]
            gap = max(widest(text for _, text in inside) + 1.8, least)
            middles = (_tick_middle(scale, *tick) for tick in inside)
            apart = all(right - left >= gap for left, right in pairwise(middles))
            if len(inside) > 1 and apart:
                return tuple(n for n, _ in inside), tuple(text for _, text in inside)
    # Numbers too wide for two of them on this axis: one says more than an overprint.
    ticks = drawing.ticks(scale.low, scale.high, most=2)[:1]
    return ticks, drawing.tick_texts(ticks, grouped=grouped)


def _tick_middle(scale: Scale, number: float, text: str) -> float:
    """Return where a tick's text stands: under it, unless it would leave the sheet."""
    return min(scale.at(number), WIDTH - typeface.width(text, SMALL) / 2)


def put_name(sheet: Sheet, lines: Sequence[str], left: float, y: float) -> None:
    """Write the lines of one name around the middle of its row."""
    first = y - NAME_LINE * (len(lines) - 1) / 2
    for n, line in enumerate(lines):
        sheet.text(left, first + n * NAME_LINE, line)


def headings(
    names: Sequence[str], limit: float, *, most: int = _HEADING_LINES
) -> tuple[Lines, ...]:
    """Return the lines of the names of panels, none wider than `limit` millimetres.

    All together, so that no two come out alike; a name is cut in the middle only
    where `most` lines do not hold it.
    """
    room = limit / (SLACK * 1.12)  # bold runs wider than the face it is measured in
    return typeface.shortened(names, room, TITLE, lines=most)


def heading_height(headings: Iterable[Sequence[str]]) -> float:
    """Return the millimetres that the longest of these takes above a single line."""
    return _HEADING_LINE * (max(map(len, headings), default=1) - 1)


def put_heading(sheet: Sheet, place: tuple[float, float], lines: Sequence[str]) -> None:
    """Write the name of a panel, the last of its lines at `place`."""
    x, y = place
    for n, line in enumerate(lines, start=1):
        up = _HEADING_LINE * (len(lines) - n)
        sheet.text(x, y - up, line, size=TITLE, bold=True)


def put_value_label(sheet: Sheet, words: str, top: float) -> None:
    """Write the head of the numbers at the right edge, above a plot."""
    sheet.label(WIDTH, top - 2.0, words, anchor="right")


def key(
    sheet: Sheet, entries: Sequence[tuple[str, Look]], *, top: float = 0.0
) -> float:
    """Write words, each after its piece of line and its mark; return where they end.

    As many stand side by side as a line of the sheet holds; a word is cut in the
    middle only where a line does not hold it alone. That of the leading series is bold.
    """
    x, y = 0.0, top + KEY_LINE / 2 - 0.5
    room = (WIDTH - _PIECE) / SLACK / _BOLD
    words = typeface.shortened([text for text, _ in entries], room, SMALL)
    for (_, look), (text,) in zip(entries, words, strict=True):
        width = _PIECE + wide(text, bold=True)
        if x and x + width > WIDTH:
            x, y = 0.0, y + KEY_LINE
        if look.width:
            sheet.line((x, x + _SAMPLE), (y, y), look, name="key")
        if look.mark:
            sheet.mark(x + _SAMPLE / 2, y, look, name="key")
        colour = SOFT if look.colour in (AXIS, FILL) else look.colour
        bold = look == SERIES[0]._replace(mark=look.mark)
        sheet.text(x + _PIECE, y, text, size=SMALL, colour=colour, bold=bold)
        x += width + _APART
    return y + KEY_LINE / 2 + 0.5 if entries else top


def paged(
    panels: Sequence[Panel], fits: Callable[[Sequence[Panel]], bool]
) -> tuple[tuple[Panel, ...], ...]:
    """Return the panels in their order, each part as long as it fits."""
    parts: list[list[Panel]] = []
    for panel in panels:
        if parts and fits([*parts[-1], panel]):
            parts[-1].append(panel)
        else:
            parts.append([panel])
    return tuple(map(tuple, parts))
