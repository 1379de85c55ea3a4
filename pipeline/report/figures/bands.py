"""The figure of bands: differences between two engines against what noise allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from . import parts, typeface
from .drawing import AXIS, BAND, BLUE, INK, RED, SMALL, Anchor, Scale, Sheet

_SHAPES = {
    "replayed": "●",
    "equivalent": "◆",
    "comparable": "▲",
    "disagrees": "■",
    "not compared": "○",
}
_Lines: TypeAlias = tuple[str, ...]
_Heads: TypeAlias = tuple[tuple[_Lines, _Lines], ...]
ENGINE_LINES, LINE = 3, 2.9  # at most so many, so many millimetres each


@dataclass(frozen=True)
class BandRow:
    """The difference between two engines on one feature.

    Attributes
    ----------
    name : str
    difference, half_width : float
        Zero is the middle of the band from -half_width to half_width.
    inside : bool
    text : str
    """

    name: str
    difference: float
    half_width: float
    inside: bool
    text: str


@dataclass(frozen=True)
class BandPanel:
    """One pair of engines.

    Attributes
    ----------
    title : str
        The model.
    verdict : str
        The word of the ladder.
    rows : tuple of BandRow
    engines : str
        The pair, on lines of its own; may be empty.
    """

    title: str
    verdict: str
    rows: tuple[BandRow, ...]
    engines: str = ""


def draw_bands(panels: Sequence[BandPanel], *, unit_label: str, salt: str) -> str:
    """Return differences between engines against their bands, as an SVG.

    One panel per pair on one axis: the grey band of each feature with its edges, a
    dot inside it, or outside a red square with its number; hollow and never red in a
    comparable pair. Panels that name the same features in the same order share one
    column of names.

    Parameters
    ----------
    panels : sequence of BandPanel
    unit_label : str
        What the axis shows, and its unit.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If a panel has no rows or more than 40, or if a page does not hold the
        panels; `paged_bands` divides them.
    """
    parts.check(len(panels), "The panels of a figure of bands", most=12)
    for panel in panels:
        parts.check(len(panel.rows), "The rows of a panel")
    columns, slots, height, heads = band_layout(panels)
    if not bands_fit(panels):
        raise ValueError(
            f"{len(panels)} panels with {len(panel.rows)} rows do not fit on a page. "
            "Divide them with paged_bands."
        )
    inset = 0.0 if slots[0].left else columns[0].plot
    width = slots[0].right - slots[0].left - inset
    end = band_limit(panels, width)
    fits = typeface.width(unit_label, SMALL) * parts.SLACK <= width

    sheet = Sheet()
    for n, (panel, column, slot) in enumerate(zip(panels, columns, slots, strict=True)):
        scale = Scale(-end, end, slot.left + inset, width)
        span = (slot.top, slot.top + column.height)
        # A label that reaches into the next panel is written once, under the first.
        label = unit_label if slot.is_first or fits else ""
        parts.axis(sheet, scale, span, label=label, bare=not slot.is_last)
        if slot.is_first or inset:
            parts.put_names(sheet, column, slot.top, left=slot.left if inset else 0.0)
        places = column.places(slot.top)
        for m, (row, y) in enumerate(zip(panel.rows, places, strict=True)):
            draw_band(
                sheet,
                row,
                scale,
                (y, column.pitch / 4),
                f"difference-{n}-{m}",
                is_judged=panel.verdict != "comparable",
            )
            title = f"{panel.title}, {panel.engines}, {row.name}: {row.text}"
            parts.tell(sheet, scale, (y, column.pitch), title)
        sheet.line((scale.at(0.0),) * 2, span, width=0.8, name="baseline")
        draw_band_head(sheet, panel, scale, slot.top, heads[n])
    return sheet.svg(height, salt=salt)


def paged_bands(panels: Sequence[BandPanel]) -> tuple[tuple[BandPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""
    return parts.paged(panels, bands_fit)


def draw_band(
    sheet: Sheet,
    row: BandRow,
    scale: Scale,
    middle: tuple[float, float],
    name: str,
    *,
    is_judged: bool,
) -> None:
    """Draw one feature around its middle (y, half the height of its band).

    What is not judged is hollow, and never red: leaving the band is no disagreement.
    """
    y, half = middle
    if isfinite(row.half_width):
        ends = scale.at(-row.half_width), scale.at(row.half_width)
        sheet.box(ends, (y - half, y + half), face=BAND, name=f"{name}-band")
        sheet.uprights(ends, (y - half, y + half), colour=AXIS, width=0.7)
    outside = RED if is_judged else INK
    colour = BLUE if row.inside else outside
    parts.beyond(sheet, scale, y, row.difference, colour=colour)
    if not isfinite(row.difference):
        return
    x = scale.at(row.difference)
    mark, size = ("o", 4.2) if row.inside else ("s", 4.8)
    mark = mark if is_judged else mark.upper()
    sheet.mark(x, y, mark, colour=colour, size=size, name=name)
    if not row.inside:
        outwards = 2.0 if row.difference > 0 else -2.0
        anchor: Anchor = "left" if outwards > 0 else "right"
        sheet.text(x + outwards, y, row.text, size=SMALL, colour=outside, anchor=anchor)


def bands_fit(panels: Sequence[BandPanel]) -> bool:
    _, slots, height, _ = band_layout(panels)
    wide_enough = slots[0].right - slots[0].left >= parts.NARROW
    return len(panels) <= 12 and height <= parts.PAGE and wide_enough


def band_layout(
    panels: Sequence[BandPanel],
) -> tuple[list[parts.Column], tuple[parts.Slot, ...], float, _Heads]:
    """Return names, place and lines of engines of each panel, and the height of all."""
    names = [[row.name for row in panel.rows] for panel in panels]
    shared = all(own == names[0] for own in names)
    pitch = min(5.6, max(4.4, 6.2 - 0.15 * len(max(names, key=len))))
    columns = [
        parts.name_column(own, pitch=pitch, widest=62.0 if shared else 33.0)
        for own in names
    ]
    across = (3 if len(panels) == 3 or len(panels) > 4 else 2) if shared else 2
    left, rows = columns[0].plot, max(column.height for column in columns)
    needed, head = 0.0, -1.0
    while needed > head:  # higher heads may make panels narrower, hence higher still
        head = needed
        slots, height = parts.slots(
            len(panels),
            rows,
            left=left if shared else 0.0,
            head=8.8 + head,
            across=across,
        )
        room = slots[0].right - slots[0].left - (0.0 if shared else left)
        titles = parts.headings([panel.title for panel in panels], room)
        heads = tuple(zip(titles, _engine_lines(panels, room), strict=True))
        needed = max(head, *(_above(*lines) for lines in heads))
    return columns, slots, height, heads


def _above(title: _Lines, engines: _Lines) -> float:
    """Return the height of a head above that of a title of one line."""
    return parts.heading_height([title]) + LINE * len(engines)


def _engine_lines(panels: Sequence[BandPanel], room: float) -> tuple[_Lines, ...]:
    """Return the engines of each panel as lines of at most `room` millimetres."""
    names = [panel.engines for panel in panels]
    lines = typeface.shortened(names, room / parts.SLACK, SMALL, lines=ENGINE_LINES)
    return tuple(own if name else () for name, own in zip(names, lines, strict=True))


def draw_band_head(
    sheet: Sheet, panel: BandPanel, scale: Scale, top: float, lines: tuple[_Lines, ...]
) -> None:
    """Write the model, the two engines and the verdict above a panel."""
    title, engines = lines
    y = top - 6.2 - LINE * len(engines)
    parts.put_heading(sheet, (scale.left, y), title)
    for line, text in enumerate(engines, start=1):
        sheet.text(scale.left, y + 0.5 + LINE * line, text, size=SMALL)
    verdict = f"{_SHAPES.get(panel.verdict, '')} {panel.verdict}".strip()
    colour = RED if panel.verdict == "disagrees" else parts.word_colour(AXIS)
    sheet.text(scale.left, top - 2.3, verdict, size=SMALL, colour=colour)


def band_limit(panels: Sequence[BandPanel], width: float) -> float:
    """Return the right end of the axis, with room for the numbers outside."""
    end = 0.0
    for row in (row for panel in panels for row in panel.rows):
        if isfinite(row.half_width):
            end = max(end, row.half_width)
        if isfinite(row.difference):
            words = 0.0 if row.inside else typeface.width(row.text, SMALL) + 3.0
            room = max(0.3, 1.0 - 2.0 * words * parts.SLACK / width)
            end = max(end, abs(row.difference) / room)
    return 1.06 * (end or 1.0)
