"""The figure of engines: what each measures of the same features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from . import parts, typeface
from .drawing import AXIS, BLUE, GRID, INK, SMALL, WIDTH, Anchor, Scale, Sheet, limits

# Mark, colour and size of each engine in turn: never a shape that means a verdict.
ENGINES = (
    ("|", BLUE, 5.6),
    ("x", INK, 4.0),
    ("v", AXIS, 4.2),
    ("+", INK, 4.4),
    ("1", AXIS, 4.6),
)


@dataclass(frozen=True)
class EngineRow:
    """One feature as each engine measured it.

    Attributes
    ----------
    name : str
    points : tuple of (engine, mean, low, high)
        Engines that gave no answer for this feature are left out.
    title : str
        What the row tells under the pointer.
    """

    name: str
    points: tuple[tuple[str, float, float, float], ...]
    title: str = ""


def draw_engines(
    rows: Sequence[EngineRow],
    *,
    engines: tuple[str, ...],
    unit_label: str,
    salt: str,
    baseline: float = 0.0,
    baseline_label: str = "",
) -> str:
    """Return what up to five engines say of the same features, as an SVG.

    One row per feature, one mark per engine (stroke, cross, open triangles) with its
    interval, set apart by three tenths of a row, or less where there are many. The
    first row whose marks leave room carries the names of the engines; without one they
    stand above the plot.

    Parameters
    ----------
    rows : sequence of EngineRow
    engines : tuple of str
        Every engine of the rows, in the order of their marks.
    unit_label : str
        What the axis shows, and its unit.
    salt : str
        The id of the figure; ids inside the file derive from it.
    baseline : float, default 0.0
        Where the dashed line stands: 1 for ratios.
    baseline_label : str, default ""
        What stands on the dashed line.

    Raises
    ------
    ValueError
        If there are no rows or more than 40, or no engines or more than 5.
    """
    parts.check(len(rows), "The rows of a figure of engines")
    parts.check(len(engines), "The engines of a figure", most=len(ENGINES))
    column = parts.name_column([row.name for row in rows])
    roomy = max(1.08 * column.pitch, 3.0 * len(engines))
    column = column._replace(pitch=min(roomy, (parts.PAGE - 20.0) / len(rows)))
    right = WIDTH - 3.0
    numbers = [number for row in rows for point in row.points for number in point[1:]]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, right - column.plot)
    step = min(0.3, 0.9 / len(engines)) * column.pitch
    telling, side = telling_row(rows, engines, scale, step)
    top = parts.HEAD + (0.0 if telling >= 0 else 3.6)
    span = (top, top + column.height)

    sheet = Sheet()
    parts.axis(sheet, scale, span, label=unit_label)
    parts.put_names(sheet, column, top)
    places = column.places(top)
    edges = [(above + below) / 2 for above, below in pairwise(places)]
    sheet.levels((column.plot, right), edges, colour=GRID, width=0.5)
    for n, (row, y) in enumerate(zip(rows, places, strict=True)):
        draw_points(sheet, row, engines, scale, (y, step), f"engine-{n}")
        if n == telling:
            draw_engine_words(sheet, row, engines, scale, (y, step), side)
        parts.tell(sheet, scale, (y, column.pitch), row.title)
    parts.baseline(sheet, scale.at(baseline), span, baseline_label, right=right)
    if telling < 0:
        items = [(*ENGINES[k], engine) for k, engine in enumerate(engines)]
        parts.key(sheet, items, WIDTH, 1.9)
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


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
        places = [scale.at(number) for number in numbers if isfinite(number)]
        finite = all(isfinite(point[1]) for point in row.points)
        if step < 2.4 or not finite or len(row.points) < len(engines):
            continue
        if min(places) - longest > scale.left:
            return n, -1
        if max(places) + longest < scale.right:
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
        places = [scale.at(number) for number in numbers if isfinite(number)]
        x = max(places) + 2.0 if side > 0 else min(places) - 2.0
        colour = parts.word_colour(ENGINES[k][1])
        y = _dodged(middle, k, len(engines))
        anchor: Anchor = "left" if side > 0 else "right"
        sheet.text(x, y, engine, size=SMALL, colour=colour, anchor=anchor)
