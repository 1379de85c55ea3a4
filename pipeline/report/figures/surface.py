"""The figure of surfaces: the prediction over two features, as maps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan

from ..text.number_text import significant
from . import drawing, parts, typeface
from .drawing import AXIS, BAND, SMALL, WIDTH, Scale, Sheet

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
    lead = panels[0]
    values = [value for panel in panels for value, *_ in _cells(panel)]
    colours = drawing.limits(list(filter(isfinite, values)), pad=0.0)
    upright = _upright(lead.second)
    texts = [text for _, lines in upright for text in lines]
    left = max(typeface.width(text, SMALL) for text in texts) * parts.SLACK + 1.8
    room = WIDTH - left - _KEY - _BESIDE * len(panels)
    width = min(room / len(panels), _WIDEST)
    titles = parts.headings([panel.name for panel in panels], width)
    top = _TOP + parts.heading_height(titles)
    y = Scale(*_ends(lead.second), top + _PLOT, -_PLOT)
    levels: tuple[tuple[str, ...], ...] = ()
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
    _put_key(sheet, x.right + _BESIDE, Scale(*colours, y.left, -_PLOT), axis_label)
    bottom = below + 12.6
    if not all(inside for panel in panels for row in panel.within for inside in row):
        sheet.box((left, left + 4.0), (bottom - 1.4, bottom + 1.4), face=BAND)
        sheet.label(left + 5.6, bottom, masked_text)
    return sheet.svg(bottom + 3.0, salt=salt)


def _cells(panel: SurfacePanel) -> Iterator[tuple[float, int, int]]:
    """Yield each value of a map, NaN where it is not drawn in colour, and its place."""
    for i, (values, inside) in enumerate(zip(panel.values, panel.within, strict=True)):
        for j, (value, is_inside) in enumerate(zip(values, inside, strict=True)):
            yield value if is_inside and isfinite(value) else nan, i, j


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
    for value, i, j in _cells(panel):
        face, title = BAND, ""
        if isfinite(value):
            face = drawing.shade((value - low) / (high - low))
            both = zip(features, (panel.first[i], panel.second[j]), strict=True)
            place = ", ".join(
                f"{feature} {at if isinstance(at, str) else significant(at)}"
                for feature, at in both
            )
            title = f"{panel.name}, {place}: {significant(value)}"
        # Without an edge the page shines through between cells.
        sheet.box(
            across[i],
            along[j][::-1],
            face=face,
            edge=face,
            width=0.25,
            name=f"{name}-{i}-{j}",
            title=title,
        )
    sheet.box((x.left, x.right), (y.left, y.right), edge=AXIS, width=0.5)


def _upright(grid: Axis) -> list[tuple[float, tuple[str, ...]]]:
    """Return places and lines of words of the upright axis.

    Levels have two lines where the rows of the map are high enough.
    """
    if _is_number(grid):
        numbers = drawing.ticks(*_ends(grid), most=5)
        return [
            (n, (text,))
            for n, text in zip(numbers, drawing.tick_texts(numbers), strict=True)
        ]
    lines = 2 if _PLOT / len(grid) >= 2.1 * _LEVEL_LINE else 1
    names = [str(level) for level in grid]
    return list(enumerate(typeface.shortened(names, _LEVELS, SMALL, lines=lines)))


def _put_key(sheet: Sheet, left: float, y: Scale, label: str) -> None:
    """Draw the strip of colours with its numbers, and what it shows above it."""
    edges = [y.left + y.width * n / _STEPS for n in range(_STEPS + 1)]
    for n, (below, above) in enumerate(pairwise(edges)):
        face = drawing.shade((n + 0.5) / _STEPS)
        sheet.box((left, left + 3.0), (above, below), face=face, edge=face, width=0.25)
    numbers = drawing.ticks(y.low, y.high, most=5)
    for number, text in zip(numbers, drawing.tick_texts(numbers), strict=True):
        sheet.line((left + 3.0, left + 3.9), (y.at(number),) * 2, colour=AXIS)
        sheet.label(left + 4.8, y.at(number), text)
    wide = typeface.width(label, SMALL) * parts.SLACK
    parts.put_label(sheet, max(min(left, WIDTH - wide), WIDTH / 3), 1.6, label)
