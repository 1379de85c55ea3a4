"""The figure of ranks: which a feature could take, by other draws and other rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, isfinite, nan
from typing import TypeAlias

from . import parts, typeface
from .drawing import INK, SMALL, Look, Scale, Sheet

_HEAD = 7.6  # from the upper edge to the rows: the name of a panel


@dataclass(frozen=True)
class RankRow:
    """The rank of one feature, and the first and last that draws and rows leave open.

    NaN where unknown; `rows` are the ranks on resampled rows.
    """

    rank: float
    draws: tuple[float, float] = (nan, nan)
    rows: tuple[float, float] = (nan, nan)

    @property
    def is_certain(self) -> bool:
        """Whether nothing that is known leaves another rank open."""
        known = [ends for ends in (self.draws, self.rows) if all(map(isfinite, ends))]
        return bool(known) and all(low == high for low, high in known)


Panel: TypeAlias = tuple[str, Sequence[RankRow]]
"""A model, and its rows in the order of the names of the figure."""


def draw_rank_intervals(
    panels: Sequence[Panel], *, names: Sequence[str], axis_label: str
) -> Sheet:
    """Return the ranks that each feature could take.

    One panel per model. A dot is the rank; its line reaches over the ranks that the
    draws leave open, the dashed one below over those on resampled rows.
    """
    column = parts.name_column(names, pitch=min(5.2, 200.0 / len(names)))
    slots, height = parts.slots(
        [title for title, _ in panels],
        column.height,
        left=column.plot,
        head=_HEAD,
        across=2 if len(panels) != 3 else 3,
    )
    rows = [row for _, own in panels for row in own]
    ranks = [rank for row in rows for rank in (row.rank, *row.draws, *row.rows)]
    last = ceil(max([1.0, *filter(isfinite, ranks)]))
    sheet = Sheet()
    for n, ((title, own), slot) in enumerate(zip(panels, slots, strict=True)):
        scale = Scale(0.46, last + 0.54, slot.left, slot.right - slot.left)
        label = axis_label if slot.is_first else ""
        ticks = _ticks(scale, last)
        places = parts.put_rows(sheet, column, scale, slot, label=label, ticks=ticks)
        for m, (name, row, y) in enumerate(zip(names, own, places, strict=True)):
            has_both = all(map(isfinite, row.rows))
            upper, lower = y - 0.14 * column.pitch * has_both, y + 0.2 * column.pitch
            parts.interval(sheet, scale, upper, row.draws)
            if has_both:
                ends = scale.at(row.rows[0]) - 0.5, scale.at(row.rows[1]) + 0.5
                sheet.line(ends, (lower, lower), Look(INK, 1.1, (2.0, 1.2)))
            parts.put_dot(sheet, scale, upper, row.rank, name=f"rank-{n}-{m}")
            if isfinite(row.rank):
                words = f"{title}, {name}: {axis_label} {row.rank:g}"
                parts.tell(sheet, scale, (y, column.pitch), words)
        parts.put_heading(sheet, (slot.left, slot.top - 3.2), slot.heading)
    return sheet.cut(height)


def _ticks(scale: Scale, last: int) -> parts.Ticks:
    """Return the first rank, and as many of the others as have room."""
    wide = typeface.width(str(last), SMALL) + 2.0
    steps = (s * 10**power for power in count() for s in (1, 2, 5))
    step = next(step for step in steps if step * scale.width / last >= wide)
    numbers = [n for n in range(1, last + 1) if n == 1 or n % step == 0]
    if step > 1 and numbers[1:] and numbers[1] == 2:
        numbers.remove(2)
    return numbers, [str(n) for n in numbers]
