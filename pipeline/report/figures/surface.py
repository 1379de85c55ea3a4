"""The figure of surfaces: the prediction over two features, as maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from ..text.number_text import significant
from . import drawing, parts, typeface
from .drawing import AXIS, BAND, SMALL, WIDTH, Scale, Sheet

MOST = 3
_TOP, _PLOT, _GAP = 9.0, 48.0, 7.0
_KEY = 20.0  # width of the colour key with its numbers
_WIDEST = 62.0
_SHADES = 40  # of the colour key
_LEVELS, _LEVEL_LINE = 28.0, 3.0  # most width of level names at the left; mm per line

Axis: TypeAlias = Sequence[Any]


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """The surface of one model over two grids, of numbers or of levels as text.

    `values` and `within` have one row per entry of `first` and one column per entry of
    `second`. `within` is whether there are rows of the data around the point; values
    that are not finite are not drawn.
    """

    name: str
    first: Axis
    second: Axis
    values: np.ndarray
    within: np.ndarray


def draw_surface(
    panels: Sequence[SurfacePanel],
    *,
    first: str,
    second: str,
    axis_label: str,
    masked_text: str,
) -> Sheet:
    """Return the prediction over two features, one map per model.

    The first feature is on the horizontal axis, the second on the vertical one. All
    maps share axes and colours: light is high. Points without rows around them are
    grey, which `masked_text` explains below. Each cell has a tooltip such as
    "forest, year 1990, district Wola: 3.2".
    """
    lead = panels[0]
    within = np.concatenate([np.ravel(panel.within) for panel in panels])
    values = np.concatenate([np.ravel(panel.values) for panel in panels])
    low, high = drawing.limits(values[within], pad=0.0)
    # Level names have two lines where the rows of the map are high enough.
    if _is_number(lead.second):
        numbers: Sequence[float] = drawing.ticks(*_ends(lead.second), most=5)
        rows: Sequence[parts.Lines] = [(text,) for text in drawing.tick_texts(numbers)]
    else:
        numbers = range(len(lead.second))
        most = 2 if _PLOT / len(lead.second) >= 2.1 * _LEVEL_LINE else 1
        rows = typeface.shortened(lead.second, _LEVELS, SMALL, lines=most)
    left = parts.widest(text for lines in rows for text in lines) + 1.8
    room = WIDTH - left - _KEY - _GAP * len(panels)
    width = min(room / len(panels), _WIDEST)
    titles = parts.headings([panel.name for panel in panels], width)
    top = _TOP + parts.heading_height(titles)
    y = Scale(*_ends(lead.second), top + _PLOT, -_PLOT)
    levels: tuple[parts.Lines, ...] = ()
    if not _is_number(lead.first):
        each = (width / len(lead.first) - 1.0) / parts.SLACK
        levels = typeface.shortened(lead.first, each, SMALL, lines=2)
    sheet = Sheet()
    for n, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        x = Scale(*_ends(lead.first), left + n * (width + _GAP), width)
        across = list(pairwise(map(x.at, _edges(panel.first))))
        up = list(pairwise(map(y.at, _edges(panel.second))))
        for (i, j), value in np.ndenumerate(panel.values):
            face, tooltip = BAND, ""
            if panel.within[i, j] and isfinite(value):
                face = drawing.shade((value - low) / (high - low))
                one, other = _point(panel.first[i]), _point(panel.second[j])
                spot = f"{first} {one}, {second} {other}"
                tooltip = f"{panel.name}, {spot}: {significant(value)}"
            # Without an edge, renderers leave white lines between cells.
            look = {"face": face, "edge": face, "name": f"surface-{n}-{i}-{j}"}
            sheet.box(across[i], up[j][::-1], width=0.25, title=tooltip, **look)
        sheet.box((x.left, x.right), (y.left, y.right), edge=AXIS, width=0.5)
        if _is_number(panel.first):
            parts.foot(sheet, x, y.left, *parts.fitting_ticks(x, grouped=x.high >= 1e4))
        for at, lines in enumerate(levels):
            for line, text in enumerate(lines):
                below = y.left + 3.2 + line * _LEVEL_LINE
                sheet.label(x.at(at), below, text, anchor="center")
        parts.put_heading(sheet, (x.left, top - 2.8), title)
    for number, lines in zip(numbers, rows, strict=True):
        start = y.at(number) - _LEVEL_LINE * (len(lines) - 1) / 2
        for line, text in enumerate(lines):
            place = left - 1.8, start + line * _LEVEL_LINE
            sheet.label(*place, text, anchor="right")
    parts.put_label(sheet, 0.0, 1.6, second, right=WIDTH / 3 - 3.0)
    below = y.left + (max(map(len, levels), default=1) - 1) * _LEVEL_LINE
    parts.put_label(sheet, left, below + 8.2, first)
    key, scale = x.right + _GAP, Scale(low, high, y.left, -_PLOT)
    for n in range(_SHADES):
        face = drawing.shade((n + 0.5) / _SHADES)
        lower, upper = (y.left - _PLOT * at / _SHADES for at in (n, n + 1))
        sides = (key, key + 3.0), (upper, lower)
        sheet.box(*sides, face=face, edge=face, width=0.25)
    shades = drawing.ticks(low, high, most=5)
    for shade, text in zip(shades, drawing.tick_texts(shades), strict=True):
        sheet.levels((key + 3.0, key + 3.9), [scale.at(shade)], parts.THIN)
        sheet.label(key + 4.8, scale.at(shade), text)
    start = max(min(key, WIDTH - parts.wide(axis_label)), WIDTH / 3)
    parts.put_label(sheet, start, 1.6, axis_label)
    bottom = below + 12.6
    if not within.all():
        sheet.box((left, left + 4.0), (bottom - 1.4, bottom + 1.4), face=BAND)
        sheet.label(left + 5.6, bottom, masked_text)
    return sheet.cut(bottom + 3.0)


def _is_number(grid: Axis) -> bool:
    return not any(isinstance(point, str) for point in grid)


def _edges(grid: Axis) -> list[float]:
    """Return the edges of the cells: midpoints between numbers, or levels 1 wide."""
    if not _is_number(grid):
        return [n - 0.5 for n in range(len(grid) + 1)]
    return [grid[0], *((a + b) / 2 for a, b in pairwise(grid)), grid[-1]]


def _ends(grid: Axis) -> tuple[float, float]:
    low, *_, high = _edges(grid)
    return (low, high) if low != high else (low - 1.0, high + 1.0)


def _point(point: Any) -> str:
    return point if isinstance(point, str) else significant(point)
