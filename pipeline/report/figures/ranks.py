"""The figures of ranks: which a feature could take, and how often it took them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite

from . import parts, typeface
from .drawing import BLUE, GRID, INK, SMALL, SOFT, Scale, Sheet

_HEAD = 7.6  # from the upper edge to the rows: the name of a panel
_FAINTEST = 0.12  # of the hue, so that what was seen once is seen
_TALL, _WIDE = 0.36, 0.5  # of a row, of a rank


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
    shares : tuple of (float, float)
        Rank, and the share of all trials in which the feature took it.
    """

    rank: float
    draws: tuple[float, float] = (float("nan"), float("nan"))
    rows: tuple[float, float] = (float("nan"), float("nan"))
    shares: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class RankPanel:
    """One panel: its rows stand in the order of the names of the figure."""

    title: str
    rows: tuple[RankRow, ...]


Draw = Callable[[Sheet, RankRow, Scale, float, float, str], None]


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
    return _ranks(panels, names, axis_label, salt, _interval)


def draw_rank_shares(
    panels: Sequence[RankPanel], *, names: Sequence[str], axis_label: str, salt: str
) -> str:
    """Return how often each feature took which rank, as an SVG.

    One panel per model and kind of trial. The darker a cell, the larger the share of
    the trials in which the feature took that rank; the dot is the rank of the report.
    A tie is shared by the ranks on either side of it. Parameters and errors are those
    of `rank_intervals`.
    """
    return _ranks(panels, names, axis_label, salt, _strip)


def hue(share: float) -> str:
    """Return the colour of a share from 0 to 1: white to blue, nothing seen white."""
    if share <= 0:
        return "#ffffff"
    depth = _FAINTEST + (1 - _FAINTEST) * min(share, 1.0)
    blue = (int(BLUE[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + depth * (part - 255)):02x}" for part in blue)


def _ranks(
    panels: Sequence[RankPanel],
    names: Sequence[str],
    axis_label: str,
    salt: str,
    draw: Draw,
) -> str:
    parts.check(len(names), "The rows of a figure of ranks")
    parts.check(len(panels), "The panels of a figure of ranks", most=12)
    column = parts.name_column(names, pitch=min(6.4, 200.0 / len(names)))
    across = 2 if len(panels) != 3 else 3
    slots, height = parts.slots(
        len(panels), column.height, left=column.plot, head=_HEAD, across=across
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
            draw(sheet, row, scale, y, column.pitch, f"{n}-{m}")
        parts.title(sheet, (slot.left, slot.top - 3.2), panel.title, width)
    return sheet.svg(height, salt=salt)


def _last(row: RankRow) -> float:
    """Return the last rank that a row shows, 1 if it shows none."""
    ranks = (row.rank, *row.draws, *row.rows, *(rank for rank, _ in row.shares))
    return float(ceil(max((rank for rank in ranks if isfinite(rank)), default=1.0)))


def _axis(
    sheet: Sheet, scale: Scale, span: tuple[float, float], label: str, is_last: bool
) -> None:
    """Draw the ranks below a panel, as many as stand apart, from the first."""
    last = floor(scale.high)
    wide = typeface.width(str(last), SMALL) + 2.0
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100) if s * scale.width / last >= wide)
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


def _strip(
    sheet: Sheet, row: RankRow, scale: Scale, y: float, pitch: float, name: str
) -> None:
    span = y - _TALL * pitch, y + _TALL * pitch
    for rank, share in sorted(spread(row.shares).items()):
        ends = scale.at(rank - _WIDE), scale.at(rank + _WIDE)
        cell = f"share-{name}-{rank}"
        sheet.box(ends, span, face=hue(share), edge=BLUE, width=0.4, name=cell)
    if isfinite(row.rank):
        sheet.mark(scale.at(row.rank), y, "o", colour=INK, size=3.4, name=f"at-{name}")


def spread(shares: Sequence[tuple[float, float]]) -> dict[int, float]:
    """Return the share of each whole rank, halves given to both sides of a tie."""
    spread_shares: dict[int, float] = {}
    for rank, share in shares:
        for side in (floor(rank), ceil(rank)):
            spread_shares[side] = spread_shares.get(side, 0.0) + share / 2
    return spread_shares
