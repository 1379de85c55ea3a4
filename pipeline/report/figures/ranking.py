"""The figure of a ranking: dots with intervals, best first."""

from collections.abc import Sequence
from math import isnan

from . import parts
from .drawing import INK, SOFT, WIDTH, Scale, Sheet, limits
from .parts import Column, Row


def draw_ranking(
    rows: Sequence[Row],
    *,
    unit_label: str,
    baseline_label: str,
    baseline: float = 0.0,
    value_label: str = "",
    layout: tuple[Sheet, Column, float] | None = None,
) -> Sheet:
    """Return the ranking of the features of one model.

    One row per feature, in the order given: a dot at the estimate, its capped interval,
    a hairline from the baseline, the number at the right edge.
    The dashed baseline is the null value: 0 of a difference, 1 of a ratio, of a loss
    its value with nothing permuted. `layout` is a sheet on which to draw, the column of
    names and its left end; without it the ranking has a sheet of its own.
    """
    if layout is None:
        layout = Sheet(), parts.name_column([row.name for row in rows]), 0.0
    sheet, column, names_at = layout
    left = names_at + column.plot
    right = WIDTH - parts.value_column([*(row.text for row in rows), value_label])
    numbers = [number for row in rows for number in row.numbers]
    scale = Scale(*limits(numbers, include=(baseline,)), left, right - left)
    slot = parts.Slot(left, parts.HEAD, right)
    panel = parts.put_rows(
        sheet, column, scale, slot, label=unit_label, names_at=names_at
    )
    for n, (row, y) in enumerate(zip(rows, panel.places, strict=True)):
        ends, name = (row.low, row.high), f"estimate-{n}"
        panel.dot(y, row.estimate, *ends, start=baseline, name=name)
        tint = SOFT if isnan(row.estimate) else INK
        sheet.text(WIDTH, y, row.text, colour=tint, anchor="right")
        panel.tooltip(y, row.title)
    panel.baseline(baseline, baseline_label)
    parts.put_value_label(sheet, value_label, slot.top)
    return sheet.cut(slot.top + column.height + parts.FOOT)
