"""The figure of engines: the importances by each engine of the same features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from . import parts
from .drawing import AXIS, BLUE, INK, WIDTH, Look, Scale, Sheet, limits

ENGINES = (
    Look(BLUE, 0.8, (), "|", 5.6),
    Look(INK, 0.8, (), "x", 4.0),
    Look(AXIS, 0.8, (), "v", 4.2),
    Look(INK, 0.8, (), "+", 4.4),
    Look(AXIS, 0.8, (), "1", 4.6),
)
"""The look of each engine, in their order: none has the mark of a verdict."""


@dataclass(frozen=True)
class EngineRow:
    """One feature; a point is an engine with a result: its name, mean, low and high."""

    name: str
    points: tuple[tuple[str, float, float, float], ...]
    title: str = ""

    @property
    def numbers(self) -> list[float]:
        """All numbers that are drawn in this row."""
        return [number for point in self.points for number in point[1:]]


def draw_engines(
    rows: Sequence[EngineRow],
    *,
    engines: tuple[str, ...],
    unit_label: str,
    baseline: float = 0.0,
    baseline_label: str = "",
) -> Sheet:
    """Return the importances of the same features by up to five engines.

    One row per feature, one mark per engine (stroke, cross, open triangle, plus,
    three-pointed star) with its interval, 0.3 of a row below each other, or less with
    many engines. `engines` names all of them, in the order of their marks.
    """
    column = parts.name_column([row.name for row in rows])
    roomy = max(1.08 * column.pitch, 3.0 * len(engines))
    column = column._replace(pitch=min(roomy, (parts.PAGE - 20.0) / len(rows)))
    numbers = [number for row in rows for number in row.numbers]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, WIDTH - 3.0 - column.plot)
    step = min(0.3, 0.9 / len(engines)) * column.pitch
    sheet = Sheet()
    top = parts.key(sheet, list(zip(engines, ENGINES, strict=False))) + parts.HEAD
    edges = [(above + below) / 2 for above, below in pairwise(column.places(top))]
    sheet.levels((column.plot, scale.right), edges)
    slot = parts.Slot(column.plot, top, scale.right)
    panel = parts.put_rows(sheet, column, scale, slot, label=unit_label)
    for n, (row, middle) in enumerate(zip(rows, panel.places, strict=True)):
        for engine, *numbers in row.points:
            k = engines.index(engine)
            y = middle + (k - (len(engines) - 1) / 2) * step
            panel.dot(y, *numbers, look=ENGINES[k], cap=0.0, name=f"engine-{n}-{k}")
        panel.tooltip(middle, row.title)
    panel.baseline(baseline, baseline_label)
    return sheet.cut(top + column.height + parts.FOOT)
