"""The figure of models: their loss as features are permuted, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from . import parts
from .drawing import BLUE, FILL, Look, Scale, Sheet, limits
from .parts import Row

_STROKE, _INTERVAL = Look(BLUE, 1.5), Look(BLUE, 0.9)
_HEAD = 8.8  # above the rows: the name of a model, and its baseline loss


@dataclass(frozen=True)
class ModelPanel:
    """One model: its baseline loss, at which bars start, and one row per feature."""

    name: str
    baseline: float
    baseline_text: str
    rows: tuple[Row, ...]


def draw_models(
    panels: Sequence[ModelPanel], *, axis_label: str, value_label: str = ""
) -> Sheet:
    """Return the loss of several models as features are permuted.

    One panel per model, two side by side, on one axis, with the same rows in each. A
    bar reaches from the dashed baseline loss to the mean loss with the feature
    permuted; at its end is the interval.
    """
    rows = [row for panel in panels for row in panel.rows]
    column = parts.name_column([row.name for row in panels[0].rows], pitch=3.85)
    slots, height = parts.slots(
        [panel.name for panel in panels],
        column.height,
        left=column.plot,
        head=_HEAD,
        across=2,
    )
    width = slots[0].right - slots[0].left
    has_values = width > parts.NARROW
    texts = [value_label, *(row.text for row in rows)]
    margin = parts.value_column(texts) if has_values else 0.0
    losses = [panel.baseline for panel in panels]
    losses += [number for row in rows for number in row.numbers]
    low, high = limits(losses)
    # The axis starts at zero if its range is then at most 2.5 times as long.
    least = min(filter(isfinite, losses), default=-1.0)
    if least >= 0.0 and high - low > 0.4 * high:
        low, high = limits(losses, include=(0.0,))
    sheet = Sheet()
    for n, (panel, slot) in enumerate(zip(panels, slots, strict=True)):
        scale = Scale(low, high, slot.left, width - margin)
        label = axis_label if slot.is_first else ""
        plot = parts.put_rows(sheet, column, scale, slot, label=label)
        for m, (row, y) in enumerate(zip(panel.rows, plot.places, strict=True)):
            if isfinite(row.estimate):
                mean, thick = scale.at(row.estimate), (y - 1.3, y + 1.3)
                ends, name = (scale.at(panel.baseline), mean), f"loss-{n}-{m}"
                sheet.box(ends, thick, face=FILL, name=name)
                sheet.line((mean, mean), thick, _STROKE)
                plot.interval(y, row.low, row.high, look=_INTERVAL, cap=0.8)
            else:
                plot.dot(y, row.estimate)
            if has_values:
                sheet.text(slot.right, y, row.text, anchor="right")
            plot.tooltip(y, row.title)
        plot.baseline(panel.baseline, panel.baseline_text)
        parts.put_heading(sheet, (slot.left, slot.top - 5.8), slot.heading)
    if has_values:
        parts.put_value_label(sheet, value_label, slots[0].top)
    return sheet.cut(height)
