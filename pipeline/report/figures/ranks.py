"""The figure of ranks: which a feature could take, by other draws and other rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, floor, isfinite

from . import parts, typeface
from .drawing import GRID, INK, SMALL, SOFT, Scale, Sheet

_HEAD = 7.6  # from the upper edge to the rows: the name of a panel


@dataclass(frozen=True)
class RankRow:
    """One feature: where it stands, and what it could take or took.

    Attributes
    ----------
    rank : float
        Its rank; NaN if it has none.
    draws, rows : (float, float)
        The first and the last rank by the draws alone, and on resampled rows; NaN
        where unknown.
    """

    rank: float
    draws: tuple[float, float] = (float("nan"), float("nan"))
    rows: tuple[float, float] = (float("nan"), float("nan"))


@dataclass(frozen=True)
class RankPanel:
    """One panel: its rows stand in the order of the names of the figure."""

    title: str
    rows: tuple[RankRow, ...]


def draw_rank_intervals(
    panels: Sequence[RankPanel], *, names: Sequence[str], axis_label: str, salt: str
) -> str:
    """Return the ranks that each feature could take, as an SVG.

    One panel per model. A dot is the rank; its line reaches over the ranks that the
    draws leave open, the dashed one below over those on resampled rows.

    Parameters
    ----------
    panels : sequence of RankPanel
    names : sequence of str
        Of the rows of every panel.
    axis_label : str
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are no names or more than 40, or no panels or more than 12.
    """
    parts.check(len(names), "The rows of a figure of ranks")
    parts.check(len(panels), "The panels of a figure of ranks", most=12)
    column = parts.name_column(names, pitch=min(6.4, 200.0 / len(names)))
    across = 2 if len(panels) != 3 else 3
    slots, height, titles = parts.headed_slots(
        [panel.title for panel in panels],
        column.height,
        left=column.plot,
        head=_HEAD,
        across=across,
    )
    width = slots[0].right - slots[0].left
    last = max(_last(row) for panel in panels for row in panel.rows)

    sheet = Sheet()
    for n, (panel, slot) in enumerate(zip(panels, slots, strict=True)):
        scale = Scale(0.46, last + 0.54, slot.left, width)
        span = (slot.top, slot.top + column.height)
        _axis(sheet, scale, span, axis_label if slot.is_first else "", slot.is_last)
        if slot.is_first:
            parts.put_names(sheet, column, slot.top)
        places = column.places(slot.top)
        for m, (row, y) in enumerate(zip(panel.rows, places, strict=True)):
            _interval(sheet, row, scale, y, column.pitch, f"{n}-{m}")
            if isfinite(row.rank):
                title = f"{panel.title}, {names[m]}: {axis_label} {row.rank:g}"
                parts.tell(sheet, scale, (y, column.pitch), title)
        parts.put_heading(sheet, (slot.left, slot.top - 3.2), titles[n])
    return sheet.svg(height, salt=salt)


def _last(row: RankRow) -> float:
    """Return the last rank that a row shows, 1 if it shows none."""
    ranks = (row.rank, *row.draws, *row.rows)
    return float(ceil(max((rank for rank in ranks if isfinite(rank)), default=1.0)))


def _axis(
    sheet: Sheet, scale: Scale, span: tuple[float, float], label: str, is_last: bool
) -> None:
    """Draw the ranks below a panel, as many as stand apart, from the first."""
    last = floor(scale.high)
    wide = typeface.width(str(last), SMALL) + 2.0
    steps = (s * 10**power for power in count() for s in (1, 2, 5))
    step = next(step for step in steps if step * scale.width / last >= wide)
    numbers = [n for n in range(1, last + 1) if n == 1 or n % step == 0]
    if step > 1 and numbers[1:] and numbers[1] == 2:
        numbers.remove(2)
    sheet.uprights([scale.at(n) for n in numbers], span, colour=GRID, width=0.5)
    if is_last:
        parts.foot(sheet, scale, span[1], numbers, [str(n) for n in numbers])
        sheet.text(scale.left, span[1] + 7.6, label, size=SMALL, colour=SOFT)


def _interval(
    sheet: Sheet, row: RankRow, scale: Scale, y: float, pitch: float, name: str
) -> None:
    has_both = all(map(isfinite, row.rows))
    upper = y - 0.14 * pitch * has_both
    parts.interval(sheet, scale, upper, row.draws)
    if has_both:
        lower = y + 0.2 * pitch
        ends = scale.at(row.rows[0]) - 0.5, scale.at(row.rows[1]) + 0.5
        sheet.line(ends, (lower, lower), colour=INK, width=1.1, dashes=(2.0, 1.2))
    if isfinite(row.rank):
        sheet.mark(scale.at(row.rank), upper, "o", name=f"rank-{name}")
