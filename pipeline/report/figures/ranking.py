"""The figure of a ranking: dots with intervals, best first."""

from collections.abc import Sequence
from math import isfinite, isnan

from . import parts
from .drawing import AXIS, INK, SOFT, WIDTH, Look, Scale, Sheet
from .parts import Row


def draw_ranking(
    rows: Sequence[Row],
    *,
    unit_label: str,
    baseline_label: str,
    baseline: float = 0.0,
    value_label: str = "",
) -> Sheet:
    """Return the ranking of the features of one model.

    One row per feature, in the order given: a dot at the estimate, its capped interval,
    a hairline from the baseline, the number at the right edge; a tick at each repeat.
    The dashed baseline is the null value: 0, of ratios 1, of losses the model as it is.
    """
    column = parts.name_column([row.name for row in rows])
    scale = parts.row_scale(rows, column.plot, value_label, baseline)
    slot = parts.Slot(scale.left, parts.HEAD, scale.right)
    sheet = Sheet()
    places = parts.put_rows(sheet, column, scale, slot, label=unit_label)
    for n, (row, y) in enumerate(zip(rows, places, strict=True)):
        at = [scale.at(number) for number in row.repeats if isfinite(number)]
        if at:
            sheet.uprights(at, (y - 1.7, y + 1.7), Look(AXIS, 0.5), name=f"repeats-{n}")
        put_estimate(sheet, row, scale, y, baseline, f"estimate-{n}")
        parts.tell(sheet, scale, (y, column.pitch), row.title)
    parts.put_baseline(sheet, scale, column.span(slot.top), baseline, baseline_label)
    parts.put_value_label(sheet, value_label, slot.top)
    return sheet.cut(slot.top + column.height + parts.FOOT)


def put_estimate(
    sheet: Sheet,
    row: Row,
    scale: Scale,
    y: float,
    baseline: float,
    name: str,
    *,
    look: Look = parts.DOT,
) -> None:
    """Draw a mark, its interval, and its number at the right edge."""
    ends = row.low, row.high
    parts.put_dot(
        sheet, scale, y, row.estimate, ends, look=look, start=baseline, name=name
    )
    tint = SOFT if isnan(row.estimate) else INK
    sheet.text(WIDTH, y, row.text, colour=tint, anchor="right")
