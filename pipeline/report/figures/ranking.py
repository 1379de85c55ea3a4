"""The figure of a ranking: dots with intervals, best first."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from . import parts
from .drawing import AXIS, BLUE, HAIR, INK, SOFT, WIDTH, Scale, Sheet, limits


@dataclass(frozen=True)
class Estimate:
    """One row of dots: the mean and its interval.

    Attributes
    ----------
    name : str
    estimate, low, high : float
        `low` and `high` equal `estimate` where nothing is drawn, and are NaN where
        one repeat gives no interval.
    text : str
        The estimate as printed.
    """

    name: str
    estimate: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class RankingRow(Estimate):
    """One feature of one model, best first.

    Attributes
    ----------
    repeats : tuple of float
        What each repeat measured, if they are to be shown.
    title : str
        What the row tells under the pointer.
    """

    repeats: tuple[float, ...] = ()
    title: str = ""


def draw_ranking(
    rows: Sequence[RankingRow],
    *,
    unit_label: str,
    baseline_label: str,
    salt: str,
    baseline: float = 0.0,
    value_label: str = "",
) -> str:
    """Return the ranking of the features of one model, as an SVG.

    One row per feature, in the order given: a dot at the estimate, its capped interval,
    a hairline from the baseline, the number at the right edge; a tick at each repeat.

    Parameters
    ----------
    rows : sequence of RankingRow
    unit_label : str
        What the axis shows, and its unit.
    baseline_label : str
        What stands on the dashed line: what a feature that does not matter measures.
    salt : str
        The id of the figure; ids inside the file derive from it.
    baseline : float, default 0.0
        Where the dashed line stands: 1 for ratios.
    value_label : str, default ""
        The head of the numbers at the right edge.

    Raises
    ------
    ValueError
        If there are no rows, or more than 40.
    """
    parts.check(len(rows), "The rows of a ranking")
    column = parts.name_column([row.name for row in rows])
    repeats = [number for row in rows for number in row.repeats]
    scale = estimate_scale(rows, column.plot, value_label, baseline, repeats)
    slot = parts.Slot(scale.left, parts.HEAD, scale.right)
    span = (slot.top, slot.top + column.height)
    sheet = Sheet()
    places = parts.put_plot(sheet, column, scale, slot, label=unit_label)
    for n, (row, y) in enumerate(zip(rows, places, strict=True)):
        at = [scale.at(number) for number in row.repeats if isfinite(number)]
        if at:
            sheet.uprights(at, (y - 1.7, y + 1.7), colour=AXIS, name=f"repeats-{n}")
        put_estimate(sheet, row, scale, y, baseline, f"estimate-{n}")
        parts.tell(sheet, scale, (y, column.pitch), row.title)
    parts.baseline(sheet, scale, baseline, span, baseline_label)
    parts.put_value_label(sheet, value_label, span[0])
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def estimate_scale(
    rows: Sequence[Estimate],
    left: float,
    value_label: str,
    baseline: float,
    more: Sequence[float] = (),
) -> Scale:
    """Return the scale of all estimates, from `left` to the numbers at the right."""
    right = WIDTH - parts.value_column([*(row.text for row in rows), value_label])
    numbers = [number for row in rows for number in (row.estimate, row.low, row.high)]
    return Scale(*limits([*numbers, *more], include=(baseline,)), left, right - left)


def put_estimate(
    sheet: Sheet,
    row: Estimate,
    scale: Scale,
    y: float,
    baseline: float,
    name: str,
    *,
    mark: tuple[str, str] = (BLUE, "o"),
) -> None:
    """Draw a mark (colour, shape), its interval, and its number at the right edge."""
    colour, shape = mark
    if isfinite(row.estimate):
        x = scale.at(row.estimate)
        sheet.line((scale.at(baseline), x), (y, y), colour=HAIR, width=0.7)
        parts.interval(sheet, scale, y, (row.low, row.high), colour=colour)
        sheet.mark(x, y, shape, colour=colour, name=name)
    parts.beyond(sheet, scale, y, row.estimate, colour=colour)
    tint = SOFT if isnan(row.estimate) else INK
    sheet.text(WIDTH, y, row.text, colour=tint, anchor="right")
