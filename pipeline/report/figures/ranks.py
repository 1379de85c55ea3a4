"""The figure of ranks: intervals for the rank of each feature, by draws and rows."""

from collections.abc import Sequence
from math import ceil, isfinite
from typing import TypeAlias

import numpy as np
import pandas as pd

from . import parts
from .drawing import INK, Look, Scale, Sheet

_HEAD = 7.6  # from the upper edge to the rows: the name of a panel


Panel: TypeAlias = tuple[str, pd.DataFrame]
"""A model, and its ranks in the order of the names of the figure.

Columns: rank; draws_low, draws_high, first and last rank within the error of the draws;
rows_low, rows_high, the same on resampled rows. NaN where unknown.
"""


def draw_rank_intervals(
    panels: Sequence[Panel], *, names: Sequence[str], axis_label: str
) -> Sheet:
    """Return the rank of each feature with its intervals.

    One panel per model. A dot is the rank, the line through it the interval of the
    draws, the dashed line below it the interval on resampled rows.
    """
    column = parts.name_column(names, pitch=min(5.2, 200.0 / len(names)))
    slots, height = parts.slots(
        [title for title, _ in panels],
        column.height,
        left=column.plot,
        head=_HEAD,
        across=2 if len(panels) != 3 else 3,
    )
    ranks = np.concatenate([own.to_numpy().ravel() for _, own in panels])
    last = ceil(max(ranks[np.isfinite(ranks)], default=1.0))
    sheet = Sheet()
    for n, ((title, own), slot) in enumerate(zip(panels, slots, strict=True)):
        scale = Scale(0.46, last + 0.54, slot.left, slot.right - slot.left)
        label = axis_label if slot.is_first else ""
        ticks = parts.fitting_ticks(scale, whole=True)
        panel = parts.put_rows(sheet, column, scale, slot, label=label, ticks=ticks)
        marks = zip(names, own.itertuples(), panel.places, strict=True)
        for m, (name, row, y) in enumerate(marks):
            upper = y
            if isfinite(row.rows_high):
                upper, lower = y - 0.14 * column.pitch, y + 0.2 * column.pitch
                ends = scale.at(row.rows_low) - 0.5, scale.at(row.rows_high) + 0.5
                sheet.line(ends, (lower, lower), Look(INK, 1.1, (2.0, 1.2)))
            draws = row.draws_low, row.draws_high
            panel.dot(upper, row.rank, *draws, name=f"rank-{n}-{m}")
            if isfinite(row.rank):
                panel.tooltip(y, f"{title}, {name}: {axis_label} {row.rank:g}")
        parts.put_heading(sheet, (slot.left, slot.top - 3.2), slot.heading)
    return sheet.cut(height)
