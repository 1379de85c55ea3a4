"""Parts of several figures: names at the left, panels in a grid, axis, baseline, rows.

A figure of rows is laid out by `name_column` (names at the left), `value_column`
(numbers at the right) and `slots` (panels). `put_rows` then draws the axis and the
names of each panel, and returns the `Rows` on which numbers are drawn. A figure with
two axes has a `Plot`.

An infinite number is drawn as an open triangle at the end of the axis; NaN is not
drawn, only reported in the text of its row. An interval without two finite ends is not
drawn.
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
"""The look of a number with its interval."""
THIN = Look(AXIS, 0.6)
"""The look of an axis and its ticks."""
MOST_ROWS = 40
"""Most rows that fit on a page."""
PAGE = 228.0  # millimetres: an A4 page less margins, header, footer and the caption
HEAD = 4.4  # from the upper edge to a plot: one line of small text
FOOT = 9.4  # from an axis to the lower edge: tick labels and unit
SLACK = 1.08  # factor on measured widths: a browser may use another typeface
NAME_LINE = 3.2  # from one line of a name to the next
_HEADING_LINES, _HEADING_LINE = 4, 3.5  # most lines of a panel's name; mm per line
_NOTE_LINES, NOTE_LINE = 3, 2.9  # the same for the small text below it
NAME_LINES, _ROWS = 3, 202.0  # most lines of a row's name; most mm of all rows
_GAP = 3.0  # between names and plot
_COLUMN_GAP, _LINE_GAP = 7.0, 3.6  # between panels side by side, and below each other
_OVERHANG = 3.25  # mm of a tick's text beyond its axis: less than half of _COLUMN_GAP
KEY_LINE = 4.2
_SAMPLE, _INDENT, _KEY_GAP = 7.0, 8.6, 5.0  # of an entry of a key: line, text, gap
_BOLD = 1.2  # ratio of the widths of bold and regular text, at most
NARROW = 34.0  # millimetres below which a panel shows no numbers


@dataclass(frozen=True)
class Row:
    """One feature: its estimate and interval, and the texts of its row.

    `low` and `high` are the ends of the interval. `text` is printed at the right edge,
    `title` is the tooltip. `cluster` counts from 0, -1 for none.
    """

    name: str
    estimate: float
    low: float = nan
    high: float = nan
    text: str = ""
    title: str = ""
    cluster: int = -1

    @property
    def numbers(self) -> tuple[float, ...]:
        """All numbers that are drawn in this row."""
        return (self.estimate, self.low, self.high)


class Column(NamedTuple):
    """Names at the left edge in lines, the left end of the plot, mm from row to row."""

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
    """The place of one panel: `left`, `right` and `top` edge of its rows.

    `is_first` is true for the leftmost of the panels side by side, `is_last` for the
    lowest of those below each other. The lines of the heading, and below them those of
    the note, are written above `top`.
    """

    left: float
    top: float
    right: float
    is_first: bool = True
    is_last: bool = True
    heading: Lines = ()
    note: Lines = ()


def wide(words: str, *, bold: bool = False) -> float:
    """Return the width of a small text in millimetres."""
    return typeface.width(words, SMALL, bold=bold) * SLACK


def widest(texts: Iterable[str]) -> float:
    """Return the width of the widest of some small texts in millimetres."""
    return max(map(wide, texts), default=0.0)


def name_column(
    names: Sequence[str], *, pitch: float = 0.0, widest: float = 62.0
) -> Column:
    """Return the column of these names, as wide and as high as they need.

    It is at least 33 mm and at most `widest` wide. A wider name gets two or three lines
    if all rows then still fit on a page; if not, the column may be 1.5 times `widest`.
    Names that do not fit are cut. With a `pitch` of 0, the height of a row follows from
    their number.
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

    `across` panels are side by side, or more where the figure would otherwise be higher
    than a page; the height may still exceed `PAGE`. A heading and its note are as wide
    as the panel less its `margin`. `rows` is the height of the rows of a panel, `head`
    the height above them without heading and note, `left` the width of the names at the
    left of each line of panels.
    """
    for n_wide in range(min(across, len(names)), len(names) + 1):
        width = (WIDTH - left - _COLUMN_GAP * (n_wide - 1)) / n_wide
        titles = headings(names, width - margin)
        room = (width - margin) / SLACK
        texts = notes or [""] * len(names)
        cut = typeface.shortened(texts, room, SMALL, lines=_NOTE_LINES)
        below = [lines if any(lines) else () for lines in cut]
        above = max(
            heading_height([title]) + NOTE_LINE * len(note)
            for title, note in zip(titles, below, strict=True)
        )
        pitch = head + above + rows + _LINE_GAP
        height = ceil(len(names) / n_wide) * pitch - _LINE_GAP + FOOT
        if height <= PAGE:
            break
    places = []
    for n, (title, note) in enumerate(zip(titles, below, strict=True)):
        x = left + (n % n_wide) * (width + _COLUMN_GAP)
        y = head + above + (n // n_wide) * pitch
        is_last = n + n_wide >= len(names)
        places.append(Slot(x, y, x + width, n % n_wide == 0, is_last, title, note))
    return places, height


class Plot(NamedTuple):
    """A plot with two axes, in the coordinates of the data."""

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
    """The rows of a panel: x in the numbers of the axis, y in millimetres."""

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
        """Upper edge of the first row and lower edge of the last."""
        return self.top, self.top + self.column.height

    def baseline(self, number: float, words: str) -> None:
        """Draw a dashed line at a number, with its label above."""
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
        """Draw one number: its mark, its interval, a hairline from `start`.

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
        """Draw a line between two finite numbers, with caps of `cap` mm up and down."""
        if isfinite(high - low) and low < high:
            span = self.scale.at(low), self.scale.at(high)
            self.sheet.line(span, (y, y), look, name="interval")
            if cap:
                ends = y - cap, y + cap
                self.sheet.uprights(span, ends, look._replace(width=0.8))

    def tooltip(self, y: float, title: str) -> None:
        """Give the row at `y` a tooltip, unless `title` is empty."""
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

    Names are written left of the first panel of a line, starting at `names_at`. Of
    panels below each other only the last has an axis; its label starts under the left
    end of the axis, or further left if it is too long. Without `ticks`, the axis has
    as many as fit.
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
    """Write the label of an axis, cut in the middle if it would extend past `right`."""
    ((text,),) = typeface.shortened([words], (right - left) / SLACK, SMALL)
    sheet.label(left, y, text)


def foot(
    sheet: Sheet,
    scale: Scale,
    y: float,
    numbers: Sequence[float],
    texts: Sequence[str],
) -> None:
    """Draw an axis with its ticks, whose texts do not leave the sheet."""
    sheet.line((scale.left, scale.right), (y, y), THIN, name="axis")
    sheet.uprights(map(scale.at, numbers), (y, y + 0.9), THIN)
    for number, text in zip(numbers, texts, strict=True):
        sheet.label(_tick_middle(scale, number, text), y + 3.2, text, anchor="center")


def upright(sheet: Sheet, x: Scale, y: Scale, *, most: int) -> None:
    """Draw the grid of a vertical scale, and its numbers left of the plot."""
    numbers = drawing.ticks(y.low, y.high, most=most)
    sheet.levels((x.left, x.right), map(y.at, numbers))
    for number, text in zip(numbers, drawing.tick_texts(numbers), strict=True):
        sheet.label(x.left - 1.2, y.at(number), text, anchor="right")


def fitting_ticks(scale: Scale, *, grouped: bool = True, whole: bool = False) -> Ticks:
    """Return as many ticks as fit without overlap, at most nine, and their texts.

    Neighbours are at least 8 mm apart, or closer where fewer than two would fit so.
    `whole` leaves out fractions.
    """
    for least in (8.0, 0.0):
        for most in range(8, 1, -1):
            ticks = drawing.ticks(scale.low, scale.high, most=most)
            if whole:
                ticks = tuple(tick for tick in ticks if tick == int(tick))
            texts = drawing.tick_texts(ticks, grouped=grouped)
            # No text may reach into the panel to the left or right.
            inside = [
                (tick, text)
                for tick, text in zip(ticks, texts, strict=True)
                if scale.left - _OVERHANG <= scale.at(tick) - wide(text) / 2
                and scale.at(tick) + wide(text) / 2 <= scale.right + _OVERHANG
            ]
            gap = max(widest(text for _, text in inside) + 1.8, least)
            middles = (_tick_middle(scale, *tick) for tick in inside)
            is_clear = all(right - left >= gap for left, right in pairwise(middles))
            if len(inside) > 1 and is_clear:
                return tuple(n for n, _ in inside), tuple(text for _, text in inside)
    # Two numbers would overlap on this axis: it gets one.
    ticks = drawing.ticks(scale.low, scale.high, most=2)[:1]
    return ticks, drawing.tick_texts(ticks, grouped=grouped)


def _tick_middle(scale: Scale, number: float, text: str) -> float:
    """Return the middle of a tick's text: under the tick, but within the sheet."""
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

    A name that does not fit in `most` lines is cut in the middle. All names of a figure
    are passed together, so that no two are cut to the same text.
    """
    room = limit / (SLACK * 1.12)  # bold text is wider than the measured regular text
    return typeface.shortened(names, room, TITLE, lines=most)


def heading_height(headings: Iterable[Sequence[str]]) -> float:
    """Return the millimetres that the longest heading needs above its last line."""
    return _HEADING_LINE * (max(map(len, headings), default=1) - 1)


def put_heading(sheet: Sheet, place: tuple[float, float], lines: Sequence[str]) -> None:
    """Write the heading of a panel, its last line at `place`."""
    x, y = place
    for n, line in enumerate(lines, start=1):
        up = _HEADING_LINE * (len(lines) - n)
        sheet.text(x, y - up, line, size=TITLE, bold=True)


def put_value_label(sheet: Sheet, words: str, top: float) -> None:
    """Write the column head of the numbers at the right edge, above a plot."""
    sheet.label(WIDTH, top - 2.0, words, anchor="right")


def key(
    sheet: Sheet, entries: Sequence[tuple[str, Look]], *, top: float = 0.0
) -> float:
    """Draw the key: a sample of line and mark before each text; return its lower edge.

    Entries are side by side, in as many lines as they need. A text is cut in the middle
    only if it is wider than the sheet. The text of the leading series is bold.
    """
    x, y = 0.0, top + KEY_LINE / 2 - 0.5
    room = (WIDTH - _INDENT) / SLACK / _BOLD
    words = typeface.shortened([text for text, _ in entries], room, SMALL)
    for (_, look), (text,) in zip(entries, words, strict=True):
        width = _INDENT + wide(text, bold=True)
        if x and x + width > WIDTH:
            x, y = 0.0, y + KEY_LINE
        if look.width:
            sheet.line((x, x + _SAMPLE), (y, y), look, name="key")
        if look.mark:
            sheet.mark(x + _SAMPLE / 2, y, look, name="key")
        colour = SOFT if look.colour in (AXIS, FILL) else look.colour
        bold = look == SERIES[0]._replace(mark=look.mark)
        sheet.text(x + _INDENT, y, text, size=SMALL, colour=colour, bold=bold)
        x += width + _KEY_GAP
    return y + KEY_LINE / 2 + 0.5 if entries else top


def paged(
    panels: Sequence[Panel], fits: Callable[[Sequence[Panel]], bool]
) -> tuple[tuple[Panel, ...], ...]:
    """Return the panels in their order, divided into parts as long as `fits` allows."""
    parts: list[list[Panel]] = []
    for panel in panels:
        if parts and fits([*parts[-1], panel]):
            parts[-1].append(panel)
        else:
            parts.append([panel])
    return tuple(map(tuple, parts))
