"""The figure of bands: differences of two engines within or outside their bands."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from . import parts
from .drawing import AXIS, BAND, BLUE, INK, RED, SOFT, Anchor, Look, Scale, Sheet

_SHAPES = {
    "replayed": "●",
    "equivalent": "◆",
    "comparable": "▲",
    "disagrees": "■",
    "not compared": "○",
}
_MOST = 12


@dataclass(frozen=True)
class BandRow:
    """One feature: a difference, and the band from -half_width to half_width."""

    name: str
    difference: float
    half_width: float
    inside: bool
    text: str


@dataclass(frozen=True)
class BandPanel:
    """One pair of engines: model, verdict of the agreement, rows, names of the pair."""

    title: str
    verdict: str
    rows: tuple[BandRow, ...]
    engines: str = ""


def draw_bands(panels: Sequence[BandPanel], *, unit_label: str) -> Sheet:
    """Return differences between engines with their bands.

    One panel per pair, all on one axis. Each feature has a grey band and its
    difference: a dot if inside the band, a red square with its number if outside; in a
    comparable pair marks are hollow and never red. Panels with the same features in the
    same order share one column of names. `paged_bands` divides panels that do not fit
    on one page.
    """
    columns, slots, height = _layout(panels)
    inset = 0.0 if slots[0].left else columns[0].plot
    width = slots[0].right - slots[0].left - inset
    end = _limit(panels, width)
    fits = parts.wide(unit_label) <= width
    sheet = Sheet()
    for n, (panel, column, slot) in enumerate(zip(panels, columns, slots, strict=True)):
        scale = Scale(-end, end, slot.left + inset, width)
        # A label wider than its panel is written once, under the first.
        label = unit_label if slot.is_first or fits else ""
        names_at = slot.left if inset else 0.0
        plot = slot._replace(is_first=slot.is_first or inset > 0.0)
        # In a comparable pair, a difference outside the band is no disagreement.
        is_judged = panel.verdict != "comparable"
        outside = RED if is_judged else INK
        half = column.pitch / 4
        rows = parts.put_rows(
            sheet, column, scale, plot, label=label, names_at=names_at
        )
        for m, (row, y) in enumerate(zip(panel.rows, rows.places, strict=True)):
            name, sides = f"difference-{n}-{m}", (y - half, y + half)
            edges = scale.at(-row.half_width), scale.at(row.half_width)
            sheet.box(edges, sides, face=BAND, name=f"{name}-band")
            sheet.uprights(edges, sides, Look(AXIS, 0.7))
            colour = BLUE if row.inside else outside
            mark, size = ("o", 4.2) if row.inside else ("s", 4.8)
            mark = mark if is_judged else mark.upper()
            look = Look(colour, mark=mark, size=size)
            rows.dot(y, row.difference, look=look, name=name)
            if isfinite(row.difference) and not row.inside:
                anchor: Anchor = "left" if row.difference > 0 else "right"
                x = scale.at(row.difference) + (2.0 if anchor == "left" else -2.0)
                sheet.label(x, y, row.text, colour=outside, anchor=anchor)
            rows.tooltip(y, f"{panel.title}, {panel.engines}, {row.name}: {row.text}")
        zero = scale.at(0.0)
        sheet.line((zero, zero), rows.span, Look(INK, 0.8), name="baseline")
        y = slot.top - 6.2 - parts.NOTE_LINE * len(slot.note)
        parts.put_heading(sheet, (scale.left, y), slot.heading)
        for line, text in enumerate(slot.note, start=1):
            sheet.label(scale.left, y + 0.5 + parts.NOTE_LINE * line, text, colour=INK)
        verdict = f"{_SHAPES.get(panel.verdict, '')} {panel.verdict}".strip()
        colour = RED if panel.verdict == "disagrees" else SOFT
        sheet.label(scale.left, slot.top - 2.3, verdict, colour=colour)
    return sheet.cut(height)


def paged_bands(panels: Sequence[BandPanel]) -> tuple[tuple[BandPanel, ...], ...]:
    """Return the panels in their order, divided into parts that fit on a page."""

    def fits(some: Sequence[BandPanel]) -> bool:
        _, (first, *_), height = _layout(some)
        is_wide = first.right - first.left >= parts.NARROW
        return len(some) <= _MOST and height <= parts.PAGE and is_wide

    return parts.paged(panels, fits)


def _layout(
    panels: Sequence[BandPanel],
) -> tuple[list[parts.Column], list[parts.Slot], float]:
    """Return names and place of each panel, and the height of the figure."""
    names = [[row.name for row in panel.rows] for panel in panels]
    shared = all(own == names[0] for own in names)
    pitch = min(5.6, max(4.4, 6.2 - 0.15 * len(max(names, key=len))))
    widest = 62.0 if shared else 33.0
    columns = [parts.name_column(own, pitch=pitch, widest=widest) for own in names]
    slots, height = parts.slots(
        [panel.title for panel in panels],
        max(column.height for column in columns),
        left=columns[0].plot if shared else 0.0,
        head=8.8,
        across=3 if shared and (len(panels) == 3 or len(panels) > 4) else 2,
        margin=0.0 if shared else columns[0].plot,
        notes=[panel.engines for panel in panels],
    )
    return columns, slots, height


def _limit(panels: Sequence[BandPanel], width: float) -> float:
    """Return the right end of the axis, with room for the numbers outside bands."""
    end = 0.0
    for row in (row for panel in panels for row in panel.rows):
        if isfinite(row.half_width):
            end = max(end, row.half_width)
        if isfinite(row.difference):
            words = 0.0 if row.inside else parts.wide(row.text) + 3.0 * parts.SLACK
            end = max(end, abs(row.difference) / max(0.3, 1.0 - 2.0 * words / width))
    return 1.06 * (end or 1.0)
