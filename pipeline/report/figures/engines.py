"""The figure of engines: what each measures of the same features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from . import parts, typeface
from .drawing import AXIS, BLUE, INK, SMALL, WIDTH, Anchor, Scale, Sheet, limits

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
    numbers = [number for row in rows for point in row.points for number in point[1:]]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, WIDTH - 3.0 - column.plot)
    step = min(0.3, 0.9 / len(engines)) * column.pitch
    telling, anchor = _telling_row(rows, engines, scale, step)
    top = parts.HEAD + (0.0 if telling >= 0 else 3.6)
    span = (top, top + column.height)
    sheet = Sheet()
    slot = parts.Slot(column.plot, top, scale.right)
    places = parts.put_plot(sheet, column, scale, slot, label=unit_label)
    edges = [(above + below) / 2 for above, below in pairwise(places)]
    sheet.levels((column.plot, scale.right), edges)
    for n, (row, middle) in enumerate(zip(rows, places, strict=True)):
        for engine, mean, low, high in row.points:
            k = engines.index(engine)
            shape, colour, size = ENGINES[k]
            y = middle + (k - (len(engines) - 1) / 2) * step
            parts.beyond(sheet, scale, y, mean, colour=colour)
            if isfinite(mean):
                ends = low, high
                parts.interval(sheet, scale, y, ends, colour=colour, width=0.8, cap=0.0)
                spot, name = (scale.at(mean), y, shape), f"engine-{n}-{k}"
                sheet.mark(*spot, colour=colour, size=size, name=name)
            if n == telling:
                at = [
                    scale.at(number) for number in (mean, low, high) if isfinite(number)
                ]
                x = max(at) + 2.0 if anchor == "left" else min(at) - 2.0
                tint = parts.word_colour(colour)
                sheet.label(x, y, engine, colour=tint, anchor=anchor)
        parts.tell(sheet, scale, (middle, column.pitch), row.title)
    parts.baseline(sheet, scale, baseline, span, baseline_label)
    if telling < 0:
        items = [(*ENGINES[k], engine) for k, engine in enumerate(engines)]
        parts.key(sheet, items, WIDTH, 1.9)
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def _telling_row(
    rows: Sequence[EngineRow], engines: tuple[str, ...], scale: Scale, step: float
) -> tuple[int, Anchor]:
    """Return the first row with room for the names of all engines, and their anchor.

    It is "left" for names right of the marks. The row is -1 if none has the room, or
    if the marks stand too close for a line of text each.
    """
    longest = max(typeface.width(name, SMALL) for name in engines) * parts.SLACK + 3.5
    for n, row in enumerate(rows):
        numbers = [number for point in row.points for number in point[1:]]
        places = [scale.at(number) for number in numbers if isfinite(number)]
        finite = all(isfinite(point[1]) for point in row.points)
        if step < 2.4 or not finite or len(row.points) < len(engines):
            continue
        if min(places) - longest > scale.left:
            return n, "right"
        if max(places) + longest < scale.right:
            return n, "left"
    return -1, "left"
