"""What the figures share: rows of names, panels, axis, baseline, interval, key.

A figure of rows is laid out in three steps: `name_column` for the names at the left,
`value_column` for the numbers at the right, `slots` for panels; `put_plot` then draws
axis and names of each, and says where its rows stand.

Numbers that are not finite have no place on an axis. An infinite one is an open
triangle at the end of the axis it lies beyond; NaN is drawn as nothing, and the text
of its row says so. An interval without two finite ends is not drawn.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, isfinite, isinf
from typing import NamedTuple, TypeAlias, TypeVar

from . import drawing, typeface
from .drawing import AXIS, BLUE, NAME, SMALL, SOFT, TITLE, WIDTH, Scale, Sheet

Panel = TypeVar("Panel")
Ticks: TypeAlias = tuple[Sequence[float], Sequence[str]]
Head: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

MOST_ROWS = 40
PAGE = 228.0  # millimetres: an A4 page less its furniture and the caption
HEAD = 4.4  # from the upper edge to a plot: one line of small text
FOOT = 9.4  # from an axis to the lower edge: tick labels and unit
SLACK = 1.08  # a browser may have to guess the typeface
NAME_LINE = 3.2  # from one line of a name to the next
_HEADING_LINES, _HEADING_LINE = 4, 3.5  # of the name of a panel, millimetres each
_NOTE_LINES, NOTE_LINE = 3, 2.9  # of the small words below it
NAME_LINES, _ROWS = 3, 202.0  # of a name in its column, and millimetres of all rows
_GAP = 3.0  # between names and plot
_BESIDE, _BETWEEN = 6.0, 3.6  # between panels side by side, and below each other
_OVER = 2.6  # how far a number may reach out of its axis: less than half of _BESIDE
NARROW = 34.0  # millimetres below which a panel shows no numbers


class Column(NamedTuple):
    """The names at the left edge.

    Attributes
    ----------
    names : tuple of tuple of str
        The lines of each name.
    plot : float
        Where the plot begins, in millimetres from the left end of the column.
    pitch : float
        Millimetres from row to row.
    """

    names: tuple[tuple[str, ...], ...]
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

    `is_first` of the panels side by side, `is_last` of those below each other.
    """

    left: float
    top: float
    right: float
    is_first: bool = True
    is_last: bool = True


def check(n_items: int, what: str, *, most: int = MOST_ROWS) -> None:
    """Refuse a figure without content, and one that no page holds.

    Raises
    ------
    ValueError
        If `n_items` is 0 or above `most`.
    """
    if not 1 <= n_items <= most:
        raise ValueError(f"{what} must number 1 to {most}; {n_items} were given.")


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
    most = max(
        n
        for n in range(1, NAME_LINES + 1)
        if n == 1 or len(names) * heights[n - 1] <= _ROWS
    )
    plot = min(max(needed, 33.0), widest if most > 1 else 1.5 * widest)
    lines = typeface.shortened(names, (plot - _GAP) / SLACK, NAME, lines=most)
    return Column(lines, plot, max(airy, heights[max(map(len, lines)) - 1]))


def value_column(texts: Sequence[str]) -> float:
    """Return the width of the numbers at the right edge, gap included."""
    return max(15.0, *(typeface.width(text, NAME) * SLACK + 4.0 for text in texts))


def slots(
    names: Sequence[str],
    rows: float,
    *,
    left: float,
    head: float,
    across: int = 1,
    margin: float = 0.0,
    notes: Sequence[str] = (),
) -> tuple[tuple[Slot, ...], float, tuple[Head, ...]]:
    """Return the places of panels, the height of their figure, and their heads.

    Panels stand `across` side by side, or as many more as it takes until a page
    holds them; the height says when none does. A head is the lines of a name and
    those of the note below it, as wide as the panel.

    Parameters
    ----------
    names : sequence of str
        Of the panels.
    rows : float
        Height of the rows of one panel.
    left : float
        Width of the column of names that each line of panels starts with.
    head : float
        Height of what stands above the rows of a panel with one line of a name.
    across : int, default 1
    margin : float, default 0.0
        Millimetres at the right of a panel that its head may not use.
    notes : sequence of str, optional
        What stands below the name of each panel; may be empty.
    """
    n_panels, notes = len(names), notes or [""] * len(names)
    needed, above = 0.0, -1.0
    while needed > above:  # higher heads may make panels narrower, hence higher still
        above = needed
        pitch = head + above + rows + _BETWEEN
        for wide in range(min(across, n_panels), n_panels + 1):
            height = ceil(n_panels / wide) * pitch - _BETWEEN + FOOT
            if height <= PAGE:
                break
        width = (WIDTH - left - _BESIDE * (wide - 1)) / wide
        room = width - margin
        below = typeface.shortened(notes, room / SLACK, SMALL, lines=_NOTE_LINES)
        heads = tuple(
            (name, lines if note else ())
            for name, note, lines in zip(
                headings(names, room), notes, below, strict=True
            )
        )
        needs = [heading_height([name]) + NOTE_LINE * len(note) for name, note in heads]
        needed = max(above, *needs)
    places = []
    for n in range(n_panels):
        x = left + (n % wide) * (width + _BESIDE)
        y = head + above + (n // wide) * pitch
        places.append(Slot(x, y, x + width, n % wide == 0, n + wide >= n_panels))
    return tuple(places), height, heads


def put_plot(
    sheet: Sheet,
    column: Column,
    scale: Scale,
    slot: Slot,
    *,
    label: str = "",
    names_at: float = 0.0,
    ticks: Ticks | None = None,
) -> tuple[float, ...]:
    """Draw axis and names of a plot, and return the middle of each row.

    Names stand at the left of the first panel of a line, their left end at `names_at`;
    of panels below each other the last has the axis. `label` and `ticks` as in `axis`.
    """
    places, span = column.places(slot.top), (slot.top, slot.top + column.height)
    axis(sheet, scale, span, label=label, bare=not slot.is_last, ticks=ticks)
    if slot.is_first:
        for lines, y in zip(column.names, places, strict=True):
            put_name(sheet, lines, names_at, y)
    return places


def axis(
    sheet: Sheet,
    scale: Scale,
    span: tuple[float, float],
    *,
    label: str = "",
    bare: bool = False,
    ticks: Ticks | None = None,
) -> None:
    """Draw grid and axis of a plot that reaches from `span[0]` down to `span[1]`.

    The label stands under the left end, further left if it needs the room. `bare`
    leaves the grid only, for panels whose axis stands below another one. `ticks` are
    as many as fit, if they are not given.
    """
    numbers, texts = ticks or fitting_ticks(scale)
    sheet.uprights([scale.at(n) for n in numbers], span)
    if not bare:
        foot(sheet, scale, span[1], numbers, texts)
        left = max(min(scale.left, WIDTH - typeface.width(label, SMALL) * SLACK), 0.0)
        put_label(sheet, left, span[1] + 7.6, label)


def put_label(
    sheet: Sheet,
    left: float,
    y: float,
    words: str,
    *,
    right: float = WIDTH,
    lines: int = 1,
) -> None:
    """Write what an axis shows, cut in the middle where it would pass `right`.

    More than one of at most `lines` lines end above the name of a panel.
    """
    (texts,) = typeface.shortened([words], (right - left) / SLACK, SMALL, lines=lines)
    start = y if len(texts) == 1 else y - 0.4
    for line, text in enumerate(texts):
        sheet.label(left, start + 2.7 * line, text)


def foot(
    sheet: Sheet,
    scale: Scale,
    y: float,
    numbers: Sequence[float],
    texts: Sequence[str],
) -> None:
    """Draw the line of an axis with its ticks, their texts kept on the sheet."""
    places = [scale.at(number) for number in numbers]
    sheet.line((scale.left, scale.right), (y, y), colour=AXIS, name="axis")
    sheet.uprights(places, (y, y + 0.9), colour=AXIS, width=0.6)
    for number, text in zip(numbers, texts, strict=True):
        x = _tick_middle(scale, number, text)
        sheet.label(x, y + 3.2, text, anchor="center")


def upright(sheet: Sheet, x: Scale, y: Scale, *, most: int) -> None:
    """Draw the grid of an upright scale, and its numbers left of the plot."""
    numbers = drawing.ticks(y.low, y.high, most=most)
    places = [y.at(number) for number in numbers]
    sheet.levels((x.left, x.right), places)
    for place, text in zip(places, drawing.tick_texts(numbers), strict=True):
        sheet.label(x.left - 1.2, place, text, anchor="right")


def fitting_ticks(
    scale: Scale, *, grouped: bool = True, whole: bool = False
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return as many ticks as stand apart on the scale, at most nine, and texts.

    They stand well apart, or where no two would, just so that none touches another.
    `whole` leaves out what is no whole number.
    """
    for least in (8.0, 0.0):
        fitting: list[tuple[float, str]] = []
        for most in range(2, 9):
            ticks = drawing.ticks(scale.low, scale.high, most=most)
            if whole:
                ticks = tuple(tick for tick in ticks if tick == int(tick))
            texts = drawing.tick_texts(ticks, grouped=grouped)
            inside: list[tuple[float, str]] = []
            middles, widest = [], 0.0
            for tick, text in zip(ticks, texts, strict=True):
                wide, x = typeface.width(text, SMALL) * SLACK, scale.at(tick)
                left, right = x - wide / 2, x + wide / 2
                # Neighbours keep their room.
                if scale.left - _OVER <= left and right <= scale.right + _OVER:
                    inside.append((tick, text))
                    middles.append(_tick_middle(scale, tick, text))
                    widest = max(widest, wide)
            gap = max(widest + 1.8, least)
            apart = all(right - left >= gap for left, right in pairwise(middles))
            if len(inside) > 1 and apart:
                fitting = inside
            elif fitting:
                break
        if fitting:
            return tuple(n for n, _ in fitting), tuple(text for _, text in fitting)
    # Numbers too wide for two of them on this axis: one says more than an overprint.
    ticks = drawing.ticks(scale.low, scale.high, most=2)[:1]
    return ticks, drawing.tick_texts(ticks, grouped=grouped)


def _tick_middle(scale: Scale, number: float, text: str) -> float:
    """Return where a tick's text stands: under it, unless it would leave the sheet."""
    return min(scale.at(number), WIDTH - typeface.width(text, SMALL) / 2)


def baseline(
    sheet: Sheet, scale: Scale, number: float, span: tuple[float, float], label: str
) -> None:
    """Draw the dashed line of a model as it is, and its words above the plot."""
    x, wide = scale.at(number), typeface.width(label, SMALL) * SLACK
    sheet.line((x, x), span, width=0.9, dashes=drawing.DASHED, name="baseline")
    sheet.label(max(0.0, min(x, scale.right - wide)), span[0] - 2.0, label)


def interval(
    sheet: Sheet,
    scale: Scale,
    y: float,
    ends: tuple[float, float],
    *,
    colour: str = BLUE,
    width: float = 1.1,
    cap: float = 1.1,
) -> None:
    """Draw a line between two finite numbers, its caps `cap` mm up and down."""
    low, high = ends
    if not (isfinite(low) and isfinite(high) and low < high):
        return
    span = scale.at(low), scale.at(high)
    sheet.line(span, (y, y), colour=colour, width=width, name="interval")
    if cap:
        sheet.uprights(span, (y - cap, y + cap), colour=colour, width=0.8)


def beyond(
    sheet: Sheet, scale: Scale, y: float, number: float, *, colour: str = BLUE
) -> None:
    """Mark an infinite number at the end of the axis it lies beyond."""
    if isinf(number):
        shape, x = (">", scale.right) if number > 0 else ("<", scale.left)
        sheet.mark(x, y, shape, colour=colour, size=4.6, name="beyond")


def tell(sheet: Sheet, scale: Scale, row: tuple[float, float], title: str) -> None:
    """Lay over a row (its middle, its height) what it tells under the pointer."""
    y, height = row
    if title:
        ends = (scale.left, scale.right)
        sheet.box(ends, (y - height / 2, y + height / 2), title=title)


def put_name(sheet: Sheet, lines: Sequence[str], left: float, y: float) -> None:
    """Write the lines of one name around the middle of its row."""
    first = y - NAME_LINE * (len(lines) - 1) / 2
    for n, line in enumerate(lines):
        sheet.text(left, first + n * NAME_LINE, line)


def headings(
    names: Sequence[str], limit: float, *, most: int = _HEADING_LINES
) -> tuple[tuple[str, ...], ...]:
    """Return the lines of the names of panels, none wider than `limit` millimetres.

    All together, so that no two come out alike; a name is cut in the middle only
    where `most` lines do not hold it.
    """
    room = limit / (SLACK * 1.12)  # bold runs wider than the face it is measured in
    return typeface.shortened(names, room, TITLE, lines=most)


def is_whole(name: str, lines: Sequence[str]) -> bool:
    """Return whether lines hold all of a name; they drop spaces where they break."""
    return "".join(lines).replace(" ", "") == name.replace(" ", "")


def heading_height(headings: Sequence[Sequence[str]]) -> float:
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
    sheet: Sheet, items: Sequence[tuple[str, str, float, str]], right: float, y: float
) -> None:
    """Write marks and words (mark, colour, size, word) side by side up to `right`.

    For panels too tight to carry the words beside their marks.
    """
    for mark, colour, size, word in reversed(items):
        sheet.label(right, y, word, colour=word_colour(colour), anchor="right")
        right -= typeface.width(word, SMALL) * SLACK + 2.2
        sheet.mark(right, y, mark, colour=colour, size=size)
        right -= 5.0


def word_colour(colour: str) -> str:
    """Return the colour of a word: it needs more contrast than a third series."""
    return SOFT if colour == AXIS else colour


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
    return tuple(tuple(part) for part in parts)
