"""The figure of engines: what each measures of the same features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from . import parts
from .drawing import AXIS, BLUE, INK, WIDTH, Anchor, Scale, Sheet, limits

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
    """One feature; a point is an engine that answered, its mean, low and high."""

    name: str
    points: tuple[tuple[str, float, float, float], ...]
    title: str = ""

    @property
    def numbers(self) -> list[float]:
        """Every number that is drawn of it."""
        return [number for point in self.points for number in point[1:]]


def draw_engines(
    rows: Sequence[EngineRow],
    *,
    engines: tuple[str, ...],
    unit_label: str,
    baseline: float = 0.0,
    baseline_label: str = "",
) -> Sheet:
    """Return what up to five engines say of the same features.

    One row per feature, one mark per engine (stroke, cross, open triangles) with its
    interval, set apart by three tenths of a row, or less where there are many. The
    first row whose marks leave room carries the names of the engines; without one they
    stand above the plot. `engines` are all of them, in the order of their marks.
    """
    column = parts.name_column([row.name for row in rows])
    roomy = max(1.08 * column.pitch, 3.0 * len(engines))
    column = column._replace(pitch=min(roomy, (parts.PAGE - 20.0) / len(rows)))
    numbers = [number for row in rows for number in row.numbers]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, WIDTH - 3.0 - column.plot)
    step = min(0.3, 0.9 / len(engines)) * column.pitch
    telling, anchor = _telling_row(rows, engines, scale, step)
    top = parts.HEAD + (0.0 if telling >= 0 else 3.6)
    slot = parts.Slot(column.plot, top, scale.right)
    sheet = Sheet()
    edges = [(above + below) / 2 for above, below in pairwise(column.places(top))]
    sheet.levels((column.plot, scale.right), edges)
    words = (baseline, baseline_label)
    for n, row, middle in parts.dot_rows(
        sheet, column, scale, slot, rows, label=unit_label, baseline=words
    ):
        for engine, mean, low, high in row.points:
            k = engines.index(engine)
            y = middle + (k - (len(engines) - 1) / 2) * step
            spot, ends, name = (scale, y, mean), (low, high), f"engine-{n}-{k}"
            look, line = ENGINES[k], (0.8, 0.0)
            parts.put_dot(sheet, *spot, ends, look=look, line=line, name=name)
            if n == telling:
                at = [scale.at(x) for x in (mean, low, high) if isfinite(x)]
                x = max(at) + 2.0 if anchor == "left" else min(at) - 2.0
                tint = parts.word_colour(ENGINES[k][1])
                sheet.label(x, y, engine, colour=tint, anchor=anchor)
    if telling < 0:
        items = [(*ENGINES[k], engine) for k, engine in enumerate(engines)]
        parts.key(sheet, items, WIDTH, 1.9)
    return sheet.cut(top + column.height + parts.FOOT)


def _telling_row(
    rows: Sequence[EngineRow], engines: tuple[str, ...], scale: Scale, step: float
) -> tuple[int, Anchor]:
    """Return the first row with room for the names of all engines, and their anchor.

    It is "left" for names right of the marks. The row is -1 if none has the room, or
    if the marks stand too close for a line of text each.
    """
    longest = parts.widest(engines) + 3.5
    for n, row in enumerate(rows):
        places = [scale.at(number) for number in row.numbers if isfinite(number)]
        finite = all(isfinite(point[1]) for point in row.points)
        if step < 2.4 or not finite or len(row.points) < len(engines):
            continue
        if min(places) - longest > scale.left:
            return n, "right"
        if max(places) + longest < scale.right:
            return n, "left"
    return -1, "left"
