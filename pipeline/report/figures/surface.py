"""The figure of surfaces: the prediction over two features, as maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from ..text.number_text import significant
from . import drawing, parts, typeface
from .drawing import AXIS, BAND, SMALL, WIDTH, Scale, Sheet

MOST = 3
_TOP, _PLOT, _BESIDE = 9.0, 48.0, 7.0
_KEY = 20.0  # room of the colour key with its words
_WIDEST = 62.0
_LEVELS, _LEVEL_LINE = 28.0, 3.0  # room of the levels on the left; a line of theirs

Axis = Sequence[float | str]


@dataclass(frozen=True)
class SurfacePanel:
    """The surface of one model over two grids, of numbers or of levels as text.

    `values` has one row per entry of `first`, and what is not finite is not drawn;
    `within` says whether rows lie around the point.
    """

    name: str
    first: tuple[float | str, ...]
    second: tuple[float | str, ...]
    values: tuple[tuple[float, ...], ...]
    within: tuple[tuple[bool, ...], ...]


def draw_surface(
    panels: Sequence[SurfacePanel],
    *,
    first: str,
    second: str,
    axis_label: str,
    masked_text: str,
) -> Sheet:
    """Return the prediction over two features, one map per model.

    The first feature runs along the level axis, the second along the upright one. All
    maps share the axes and the colours: light is high. A point around which no rows
    lie is grey, as `masked_text` says below.
    """
    lead = panels[0]
    points = [
        (value, is_within)
        for panel in panels
        for values, within in zip(panel.values, panel.within, strict=True)
        for value, is_within in zip(values, within, strict=True)
    ]
    colours = drawing.limits([v for v, is_within in points if is_within], pad=0.0)
    upright = _upright(lead.second)
    left = parts.widest(text for _, lines in upright for text in lines) + 1.8
    room = WIDTH - left - _KEY - _BESIDE * len(panels)
    width = min(room / len(panels), _WIDEST)
    titles = parts.headings([panel.name for panel in panels], width)
    top = _TOP + parts.heading_height(titles)
    y = Scale(*_ends(lead.second), top + _PLOT, -_PLOT)
    levels: tuple[parts.Lines, ...] = ()
    if not _is_number(lead.first):
        each = (width / len(lead.first) - 1.0) / parts.SLACK
        names = [str(level) for level in lead.first]
        levels = typeface.shortened(names, each, SMALL, lines=2)
    sheet = Sheet()
    for n, panel in enumerate(panels):
        x = Scale(*_ends(lead.first), left + n * (width + _BESIDE), width)
        _put_map(sheet, panel, (x, y), colours, (first, second), f"surface-{n}")
        if _is_number(panel.first):
            parts.foot(sheet, x, y.left, *parts.fitting_ticks(x, grouped=x.high >= 1e4))
        for place, lines in enumerate(levels):
            for line, text in enumerate(lines):
                below = y.left + 3.2 + line * _LEVEL_LINE
                sheet.label(x.at(place), below, text, anchor="center")
        parts.put_heading(sheet, (x.left, top - 2.8), titles[n])
    for number, lines in upright:
        start = y.at(number) - _LEVEL_LINE * (len(lines) - 1) / 2
        for line, text in enumerate(lines):
            at = start + line * _LEVEL_LINE
            sheet.label(left - 1.8, at, text, anchor="right")
    parts.put_label(sheet, 0.0, 1.6, second, right=WIDTH / 3 - 3.0)
    below = y.left + (max(map(len, levels), default=1) - 1) * _LEVEL_LINE
    parts.put_label(sheet, left, below + 8.2, first)
    key, scale = x.right + _BESIDE, Scale(*colours, y.left, -_PLOT)
    parts.strip(sheet, scale, (key, key + 3.0), drawing.shade, is_upright=True)
    numbers = drawing.ticks(*colours, most=5)
    for number, text in zip(numbers, drawing.tick_texts(numbers), strict=True):
        sheet.line((key + 3.0, key + 3.9), (scale.at(number),) * 2, parts.THIN)
        sheet.label(key + 4.8, scale.at(number), text)
    start = max(min(key, WIDTH - parts.wide(axis_label)), WIDTH / 3)
    parts.put_label(sheet, start, 1.6, axis_label)
    bottom = below + 12.6
    if not all(is_within for _, is_within in points):
        sheet.box((left, left + 4.0), (bottom - 1.4, bottom + 1.4), face=BAND)
        sheet.label(left + 5.6, bottom, masked_text)
    return sheet.cut(bottom + 3.0)


def _edges(grid: Axis) -> list[float]:
    """Return where cells begin and end: half way between points, levels one apart."""
    at = [float(point) for point in grid] if _is_number(grid) else range(len(grid))
    room = 0.0 if _is_number(grid) else 0.5
    return [at[0] - room, *((a + b) / 2 for a, b in pairwise(at)), at[-1] + room]


def _ends(grid: Axis) -> tuple[float, float]:
    low, *_, high = _edges(grid)
    return (low, high) if low != high else (low - 1.0, high + 1.0)


def _is_number(grid: Axis) -> bool:
    return not any(isinstance(point, str) for point in grid)


def _put_map(
    sheet: Sheet,
    panel: SurfacePanel,
    scales: tuple[Scale, Scale],
    colours: tuple[float, float],
    features: tuple[str, str],
    name: str,
) -> None:
    """Draw the cells of one map; a cell says "year 1990, district Wola: 3.2"."""
    x, y = scales
    low, high = colours
    across = list(pairwise(map(x.at, _edges(panel.first))))
    along = list(pairwise(map(y.at, _edges(panel.second))))
    for i, (values, within) in enumerate(zip(panel.values, panel.within, strict=True)):
        for j, (value, is_within) in enumerate(zip(values, within, strict=True)):
            face, title = BAND, ""
            if is_within and isfinite(value):
                face = drawing.shade((value - low) / (high - low))
                at = zip(features, (panel.first[i], panel.second[j]), strict=True)
                place = ", ".join(
                    f"{feature} {p if isinstance(p, str) else significant(p)}"
                    for feature, p in at
                )
                title = f"{panel.name}, {place}: {significant(value)}"
            # Without an edge the page shines through between cells.
            look = {"face": face, "edge": face, "name": f"{name}-{i}-{j}"}
            sheet.box(across[i], along[j][::-1], width=0.25, title=title, **look)
    sheet.box((x.left, x.right), (y.left, y.right), edge=AXIS, width=0.5)


def _upright(grid: Axis) -> list[tuple[float, parts.Lines]]:
    """Return places and lines of words of the upright axis.

    Levels have two lines where the rows of the map are high enough.
    """
    if _is_number(grid):
        numbers = drawing.ticks(*_ends(grid), most=5)
        texts = drawing.tick_texts(numbers)
        return [(n, (text,)) for n, text in zip(numbers, texts, strict=True)]
    lines = 2 if _PLOT / len(grid) >= 2.1 * _LEVEL_LINE else 1
    names = [str(level) for level in grid]
    return list(enumerate(typeface.shortened(names, _LEVELS, SMALL, lines=lines)))
