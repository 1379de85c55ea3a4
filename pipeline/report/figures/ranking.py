"""The figure of a ranking: dots with intervals, best first."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

from . import parts
from .drawing import AXIS, HAIR, WIDTH, Scale, Sheet, limits


@dataclass(frozen=True)
class RankingRow:
    """One feature of one model: the mean and its interval, best first.

    Attributes
    ----------
    name : str
    estimate, low, high : float
        `low` and `high` equal `estimate` where nothing is drawn, and are NaN where
        one repeat gives no interval.
    text : str
        The estimate as printed.
    repeats : tuple of float
        What each repeat measured, if they are to be shown.
    title : str
        What the row tells under the pointer.
    """

    name: str
    estimate: float
    low: float
    high: float
    text: str
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
    right = WIDTH - parts.value_column([*(row.text for row in rows), value_label])
    numbers = [
        n for row in rows for n in (row.estimate, row.low, row.high, *row.repeats)
    ]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, right - column.plot)
    span = (parts.HEAD, parts.HEAD + column.height)

    sheet = Sheet()
    parts.axis(sheet, scale, span, label=unit_label)
    parts.put_names(sheet, column, span[0])
    for n, (row, y) in enumerate(zip(rows, column.places(span[0]), strict=True)):
        draw_repeats(sheet, row, scale, y, f"repeats-{n}")
        if isfinite(row.estimate):
            x = scale.at(row.estimate)
            sheet.line((scale.at(baseline), x), (y, y), colour=HAIR, width=0.7)
            parts.interval(sheet, scale, y, (row.low, row.high))
            sheet.mark(x, y, "o", name=f"estimate-{n}")
        parts.beyond(sheet, scale, y, row.estimate)
        sheet.text(WIDTH, y, row.text, anchor="right")
        parts.tell(sheet, scale, (y, column.pitch), row.title)
    parts.baseline(sheet, scale.at(baseline), span, baseline_label, right=right)
    parts.put_value_label(sheet, value_label, span[0])
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def draw_repeats(
    sheet: Sheet, row: RankingRow, scale: Scale, y: float, name: str
) -> None:
    """Draw a grey tick at each repeat of one feature, above and below its line."""
    at = [scale.at(number) for number in row.repeats if isfinite(number)]
    if at:
        broken = [x for place in at for x in (place, place, nan)]
        heights = [y - 1.7, y + 1.7, nan] * len(at)
        sheet.line(broken, heights, colour=AXIS, width=0.5, name=name)
