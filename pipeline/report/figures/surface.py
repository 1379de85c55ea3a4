"""What a figure is drawn from: plain view data, already sorted, cut and worded.

Names are as the page shows them, except that a figure may shorten a long one; the
field `text` is the number beside a mark, rounded like the table below the figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from ..text.number_text import significant
from . import parts, typeface
from .drawing import (
    AXIS,
    BAND,
    SMALL,
    SOFT,
    WIDTH,
    Scale,
    Sheet,
    limits,
    shade,
    tick_texts,
    ticks,
)

MOST = 3
_TOP, _PLOT, _BESIDE = 9.0, 48.0, 6.0
_KEY, _STEPS = 20.0, 40  # room of the colour key with its words; its shades
_WIDEST = 62.0
_LEVELS, _LEVEL_LINE = 28.0, 3.0  # room of the levels on the left; a line of theirs

Axis = Sequence[float | str]


@dataclass(frozen=True)
class SurfacePanel:
    """The surface of one model over two features.

    Attributes
    ----------
    name : str
    first, second : tuple of float or str
        The grids: numbers, or the levels as text.
    values : tuple of tuple of float
        One row per entry of `first`; what is not finite is not drawn.
    within : tuple of tuple of bool
        Whether rows lie around the point.
    """

    name: str
    first: tuple[float | str, ...]
    second: tuple[float | str, ...]
    values: tuple[tuple[float, ...], ...]
    within: tuple[tuple[bool, ...], ...]


class Frame(NamedTuple):
    """One panel in its place; `y` rises from the bottom of the plot."""

    panel: SurfacePanel
    x: Scale
    y: Scale


def draw_surface(
    panels: Sequence[SurfacePanel],
    *,
    first: str,
    second: str,
    axis_label: str,
    masked_text: str,
    salt: str,
) -> str:
    """Return the prediction over two features, one map per model, as an SVG.

    All maps share the axes and the colours: light is high. A point around which no
    rows lie is grey.

    Parameters
    ----------
    panels : sequence of SurfacePanel
    first, second : str
        The features, along the level and the upright axis.
    axis_label : str
        What the colours show, and its unit.
    masked_text : str
        What grey means.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are no panels or more than 3.
    """
    parts.check(len(panels), "The panels of a figure of surfaces", most=MOST)
    values = [value for panel in panels for value in _within(panel)]
    low, high = limits(values, pad=0.0)
    lead = panels[0]
    left = _names_width(lead.second) + 1.8
    room = WIDTH - left - _KEY - _BESIDE * len(panels)
    width = min(room / len(panels), _WIDEST)
    titles = parts.headings([panel.name for panel in panels], width)
    top = _TOP + parts.heading_height(titles)
    y = Scale(*_ends(lead.second), top + _PLOT, -_PLOT)
    sheet = Sheet()
    for n, panel in enumerate(panels):
        x = Scale(*_ends(lead.first), left + n * (width + _BESIDE), width)
        _draw(sheet, Frame(panel, x, y), (low, high), (first, second), n)
        _foot(sheet, x, y.left, panel.first)
        parts.put_heading(sheet, (x.left, top - 2.8), titles[n])
    _names(sheet, left - 1.8, y, lead.second)
    parts.put_label(sheet, 0.0, 1.6, second, right=WIDTH / 3 - 3.0)
    more = max((len(lines) for lines in _foot_lines(width, lead.first)), default=1) - 1
    below = y.left + more * _LEVEL_LINE
    parts.put_label(sheet, left, below + 8.2, first)
    strip = Scale(low, high, y.left, -_PLOT)
    _key(sheet, x.right + _BESIDE, strip, axis_label)
    bottom = below + 12.6
    if any(not inside for panel in panels for row in panel.within for inside in row):
        sheet.box((left, left + 4.0), (bottom - 1.4, bottom + 1.4), face=BAND)
        sheet.text(left + 5.6, bottom, masked_text, size=SMALL, colour=SOFT)
    return sheet.svg(bottom + 3.0, salt=salt)


def _within(panel: SurfacePanel) -> list[float]:
    """Return the values that are drawn in colour."""
    return [
        value
        for values, inside in zip(panel.values, panel.within, strict=True)
        for value, is_inside in zip(values, inside, strict=True)
        if is_inside and isfinite(value)
    ]


def _edges(grid: Axis) -> list[float]:
    """Return where cells begin and end: half way between points, levels one apart."""
    at = _places(grid)
    middles = [(a + b) / 2 for a, b in pairwise(at)]
    return (
        [at[0], *middles, at[-1]]
        if _is_number(grid)
        else [-0.5, *middles, at[-1] + 0.5]
    )


def _ends(grid: Axis) -> tuple[float, float]:
    edges = _edges(grid)
    if edges[0] == edges[-1]:
        return edges[0] - 1.0, edges[-1] + 1.0
    return edges[0], edges[-1]


def _places(grid: Axis) -> list[float]:
    if _is_number(grid):
        return [float(point) for point in grid]
    return [float(n) for n in range(len(grid))]


def _is_number(grid: Axis) -> bool:
    return not any(isinstance(point, str) for point in grid)


def _draw(
    sheet: Sheet,
    frame: Frame,
    ends: tuple[float, float],
    features: tuple[str, str],
    n: int,
) -> None:
    """Draw the cells of one map, the n-th."""
    panel, x, y = frame
    across, along = ([s.at(e) for e in _edges(g)] for s, g in _axes(frame))
    for i, (left, right) in enumerate(pairwise(across)):
        for j, (below, above) in enumerate(pairwise(along)):
            value = panel.values[i][j]
            face, title = BAND, ""
            if panel.within[i][j] and isfinite(value):
                face = shade((value - ends[0]) / (ends[1] - ends[0]))
                place = panel.first[i], panel.second[j]
                title = f"{panel.name}, {_at(features, place)}: {significant(value)}"
            sheet.box(
                (left, right),
                (above, below),
                face=face,
                edge=face,  # else the page shines through between cells
                width=0.25,
                name=f"surface-{n}-{i}-{j}",
                title=title,
            )
    sheet.box((x.left, x.right), (y.left, y.right), edge=AXIS, width=0.5)


def _at(features: tuple[str, str], place: tuple[float | str, float | str]) -> str:
    """Return a point as words: "year 1990, district Wola"."""
    both = zip(features, place, strict=True)
    return ", ".join(
        f"{name} {at if isinstance(at, str) else significant(at)}" for name, at in both
    )


def _axes(frame: Frame) -> tuple[tuple[Scale, Axis], tuple[Scale, Axis]]:
    return (frame.x, frame.panel.first), (frame.y, frame.panel.second)


def _foot(sheet: Sheet, x: Scale, below: float, grid: Axis) -> None:
    """Write the numbers or the levels below a map."""
    if _is_number(grid):
        parts.foot(sheet, x, below, *parts.fitting_ticks(x, grouped=x.high >= 1e4))
        return
    for n, lines in enumerate(_foot_lines(x.width, grid)):
        for line, text in enumerate(lines):
            y = below + 3.2 + line * _LEVEL_LINE
            sheet.text(x.at(n), y, text, size=SMALL, colour=SOFT, anchor="center")


def _foot_lines(width: float, grid: Axis) -> tuple[tuple[str, ...], ...]:
    """Return the lines of each level below a map; none of numbers."""
    if _is_number(grid):
        return ()
    each = width / len(grid) - 1.0
    return _lines([str(level) for level in grid], each / parts.SLACK)


def _lines(names: Sequence[str], room: float) -> tuple[tuple[str, ...], ...]:
    """Return levels in one line each where all fit, else in two."""
    for lines in (1, 2):
        texts = typeface.shortened(names, room, SMALL, lines=lines)
        if all(map(parts.is_whole, names, texts)):
            break
    return texts


def _names(sheet: Sheet, right: float, y: Scale, grid: Axis) -> None:
    """Write the numbers or the levels left of the first map."""
    for place, lines in _upright(grid):
        first = y.at(place) - _LEVEL_LINE * (len(lines) - 1) / 2
        for n, text in enumerate(lines):
            at = first + n * _LEVEL_LINE
            sheet.text(right, at, text, size=SMALL, colour=SOFT, anchor="right")


def _names_width(grid: Axis) -> float:
    texts = (text for _, lines in _upright(grid) for text in lines)
    return max(typeface.width(text, SMALL) for text in texts) * parts.SLACK


def _upright(grid: Axis) -> list[tuple[float, tuple[str, ...]]]:
    """Return places and lines of words of the upright axis.

    Levels have two lines where the rows of the map are high enough.
    """
    if _is_number(grid):
        numbers = ticks(*_ends(grid), most=5)
        lines = [(text,) for text in tick_texts(numbers)]
        return list(zip(numbers, lines, strict=True))
    names = [str(level) for level in grid]
    if _PLOT / len(names) >= 2.1 * _LEVEL_LINE:
        texts = _lines(names, _LEVELS)
    else:
        texts = typeface.shortened(names, _LEVELS, SMALL)
    return [(float(n), lines) for n, lines in enumerate(texts)]


def _key(sheet: Sheet, left: float, y: Scale, label: str) -> None:
    """Draw the strip of colours with its numbers, and what it shows above it."""
    steps = [y.low + (y.high - y.low) * n / _STEPS for n in range(_STEPS + 1)]
    for n, (a, b) in enumerate(pairwise(steps)):
        face = shade((n + 0.5) / _STEPS)
        span = (y.at(b), y.at(a))
        sheet.box((left, left + 3.0), span, face=face, edge=face, width=0.25)
    numbers = ticks(y.low, y.high, most=5)
    for number, text in zip(numbers, tick_texts(numbers), strict=True):
        sheet.line((left + 3.0, left + 3.9), (y.at(number),) * 2, colour=AXIS)
        sheet.text(left + 4.8, y.at(number), text, size=SMALL, colour=SOFT)
    wide = typeface.width(label, SMALL) * parts.SLACK
    parts.put_label(sheet, max(min(left, WIDTH - wide), WIDTH / 3), 1.6, label)
