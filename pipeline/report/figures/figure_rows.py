"""One row of each figure, and the axis and the places of many.

A bar with its box plot, the marks of engines, a difference in its band.
"""

from collections.abc import Sequence
from math import isfinite, isinf, nan
from statistics import quantiles
from typing import TypeAlias

from . import figure_parts as parts
from . import typeface
from .drawing import (
    AXIS,
    BAND,
    BLUE,
    FILL,
    INK,
    RED,
    SMALL,
    Anchor,
    Scale,
    Sheet,
    limits,
)
from .figure_data import BandPanel, BandRow, EngineRow, ModelPanel, ModelRow, RankingRow

_SHAPES = {
    "replayed": "●",
    "equivalent": "◆",
    "comparable": "▲",
    "disagrees": "■",
    "not compared": "○",
}
_Heads: TypeAlias = tuple[tuple[str, ...], ...]
ENGINE_LINES, LINE = 3, 2.9  # at most so many, so many millimetres each
MARK = 2.6  # millimetres that a mark beside a plot takes
NARROW = 34.0  # millimetres below which a panel shows no numbers
# Mark, colour and size of each engine in turn: never a shape that means a verdict.
ENGINES = (
    ("|", BLUE, 5.6),
    ("x", INK, 4.0),
    ("v", AXIS, 4.2),
    ("+", INK, 4.4),
    ("1", AXIS, 4.6),
)


def draw_repeats(
    sheet: Sheet, row: RankingRow, scale: Scale, y: float, name: str
) -> None:
    """Draw a grey tick at each repeat of one feature, above and below its line."""
    at = [scale.at(number) for number in row.repeats if isfinite(number)]
    if at:
        broken = [x for place in at for x in (place, place, nan)]
        heights = [y - 1.7, y + 1.7, nan] * len(at)
        sheet.line(broken, heights, colour=AXIS, width=0.5, name=name)


def draw_loss(
    sheet: Sheet, row: ModelRow, scale: Scale, y: float, baseline: float, name: str
) -> None:
    """Draw the bar of one feature, and the box plot or the tick at its end."""
    parts.beyond(sheet, scale, y, row.mean)
    if not isfinite(row.mean):
        return
    mean = scale.at(row.mean)
    sheet.box((scale.at(baseline), mean), (y - 1.3, y + 1.3), face=FILL, name=name)
    repeats = sorted(row.repeats)
    if not all(map(isfinite, repeats)) or len(set(repeats)) < 2:
        sheet.line((mean, mean), (y - 1.3, y + 1.3), colour=BLUE, width=1.5)
        return
    ends = scale.at(repeats[0]), scale.at(repeats[-1])
    first, median, third = map(scale.at, quantiles(repeats, n=4, method="inclusive"))
    sheet.line(ends, (y, y), colour=BLUE, width=0.8, name=f"{name}-range")
    sheet.box(
        (first, third),
        (y - 0.8, y + 0.8),
        face="white",
        edge=BLUE,
        width=0.8,
        name=f"{name}-quartiles",
    )
    sheet.line((median, median), (y - 0.8, y + 0.8), colour=BLUE, width=1.5)


def draw_note(
    sheet: Sheet, row: ModelRow, scale: Scale, y: float, baseline: float
) -> None:
    """Write the mark of a row right of the plot, its note where nothing is drawn."""
    if row.mark:
        sheet.text(scale.right + 0.8, y, row.mark, bold=True)
    numbers = [n for n in (baseline, row.mean, *row.repeats) if isfinite(n)]
    wide = typeface.width(row.note, SMALL) * parts.SLACK
    right = scale.at(max(numbers)) + 1.6
    left = scale.at(min(numbers)) - 1.6
    if not row.note or isinf(row.mean):
        return
    if right + wide <= scale.right:
        sheet.text(right, y, row.note, size=SMALL)
    elif left - wide >= scale.left:
        sheet.text(left, y, row.note, size=SMALL, anchor="right")


def draw_points(
    sheet: Sheet,
    row: EngineRow,
    engines: tuple[str, ...],
    scale: Scale,
    middle: tuple[float, float],
    name: str,
) -> None:
    """Draw the marks of one row around its middle (y, distance of two engines)."""
    for engine, mean, low, high in row.points:
        k = engines.index(engine)
        mark, colour, size = ENGINES[k]
        y = _dodged(middle, k, len(engines))
        parts.beyond(sheet, scale, y, mean, colour=colour)
        if isfinite(mean):
            ends = low, high
            parts.interval(sheet, scale, y, ends, colour=colour, width=0.8, cap=0.0)
            place = scale.at(mean), y
            sheet.mark(*place, mark, colour=colour, size=size, name=f"{name}-{k}")


def _dodged(middle: tuple[float, float], k: int, n_engines: int) -> float:
    return middle[0] + (k - (n_engines - 1) / 2) * middle[1]


def telling_row(
    rows: Sequence[EngineRow], engines: tuple[str, ...], scale: Scale, step: float
) -> tuple[int, int]:
    """Return the first row with room for the names of all engines, and the side.

    The side is 1 right of the marks, -1 left of them; the row is -1 if none has the
    room, or if the marks stand too close for a line of text each.
    """
    longest = max(typeface.width(name, SMALL) for name in engines) * parts.SLACK + 3.5
    for n, row in enumerate(rows):
        numbers = [number for point in row.points for number in point[1:]]
        shown = [scale.at(number) for number in numbers if isfinite(number)]
        finite = all(isfinite(point[1]) for point in row.points)
        if step < 2.4 or not finite or len(row.points) < len(engines):
            continue
        if min(shown) - longest > scale.left:
            return n, -1
        if max(shown) + longest < scale.right:
            return n, 1
    return -1, 0


def draw_engine_words(
    sheet: Sheet,
    row: EngineRow,
    engines: tuple[str, ...],
    scale: Scale,
    middle: tuple[float, float],
    side: int,
) -> None:
    """Write the name of each engine beside its mark."""
    for engine, *numbers in row.points:
        k = engines.index(engine)
        shown = [scale.at(number) for number in numbers if isfinite(number)]
        x = max(shown) + 2.0 if side > 0 else min(shown) - 2.0
        colour = parts.word_colour(ENGINES[k][1])
        y = _dodged(middle, k, len(engines))
        anchor: Anchor = "left" if side > 0 else "right"
        sheet.text(x, y, engine, size=SMALL, colour=colour, anchor=anchor)


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


def loss_limits(panels: Sequence[ModelPanel]) -> tuple[float, float]:
    """Return the ends of the axis: from zero where that does not squash the rest."""
    losses = [panel.baseline for panel in panels]
    rows = [row for panel in panels for row in panel.rows]
    numbers = [number for row in rows for number in (row.mean, *row.repeats)]
    low, high = limits([*losses, *numbers])
    finite = [number for number in (*losses, *numbers) if isfinite(number)]
    if min(finite, default=-1.0) >= 0.0 and high - low > 0.4 * high:
        return limits(finite, include=(0.0,))
    return low, high


def bands_fit(panels: Sequence[BandPanel]) -> bool:
    _, slots, height, _ = band_layout(panels)
    wide_enough = slots[0].right - slots[0].left >= NARROW
    return len(panels) <= 12 and height <= parts.PAGE and wide_enough


def band_layout(
    panels: Sequence[BandPanel],
) -> tuple[list[parts.Column], tuple[parts.Slot, ...], float, _Heads]:
    """Return names, place and lines of engines of each panel, and the height of all."""
    names = [[row.name for row in panel.rows] for panel in panels]
    shared = all(own == names[0] for own in names)
    pitch = min(7.0, max(4.4, 7.4 - 0.15 * len(max(names, key=len))))
    columns = [
        parts.name_column(own, pitch=pitch, widest=62.0 if shared else 33.0)
        for own in names
    ]
    across = (3 if len(panels) == 3 or len(panels) > 4 else 2) if shared else 2
    left, rows = columns[0].plot, max(column.height for column in columns)
    for lines in range(ENGINE_LINES + 1):
        slots, height = parts.slots(
            len(panels),
            rows,
            left=left if shared else 0.0,
            head=8.8 + LINE * lines,
            across=across,
        )
        room = slots[0].right - slots[0].left - (0.0 if shared else left)
        heads = _engine_lines(panels, room)
        if max(map(len, heads)) <= lines:
            break
    return columns, slots, height, heads


def _engine_lines(panels: Sequence[BandPanel], room: float) -> _Heads:
    """Return the engines of each panel as lines of at most `room` millimetres."""
    names = [panel.engines for panel in panels]
    lines = typeface.shortened(names, room / parts.SLACK, SMALL, lines=ENGINE_LINES)
    return tuple(own if name else () for name, own in zip(names, lines, strict=True))


def draw_band_head(
    sheet: Sheet, panel: BandPanel, scale: Scale, top: float, lines: tuple[str, ...]
) -> None:
    """Write the model, the two engines and the verdict above a panel."""
    y = top - 6.2 - LINE * len(lines)
    parts.title(sheet, (scale.left, y), panel.title, scale.right - scale.left)
    for line, text in enumerate(lines, start=1):
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
