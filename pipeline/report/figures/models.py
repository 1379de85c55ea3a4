"""The figure of models: their loss as features are permuted, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isinf, nan
from statistics import quantiles

from . import parts, typeface
from .drawing import BLUE, FILL, SMALL, WIDTH, Scale, Sheet, limits

MARK = 2.6  # millimetres that a mark beside a plot takes
_HEAD, _TITLED = 5.4, 8.8  # above the rows: the baseline, and the name above it


@dataclass(frozen=True)
class ModelRow:
    """The loss of one model with one feature permuted.

    Attributes
    ----------
    name : str
    mean : float
    repeats : tuple of float
        The loss in each repeat, for the box plot; empty if nothing is drawn.
    text : str
    mark, note : str
        A sign at the right end of the plot, and words beside the bar; may be empty.
    low, high : float
        The interval, drawn instead of the box plot; NaN if there is none.
    title : str
        What the row tells under the pointer.
    """

    name: str
    mean: float
    repeats: tuple[float, ...]
    text: str
    mark: str = ""
    note: str = ""
    low: float = nan
    high: float = nan
    title: str = ""

    @property
    def numbers(self) -> tuple[float, ...]:
        """Every number that is drawn of it."""
        return (self.mean, self.low, self.high, *self.repeats)


@dataclass(frozen=True)
class ModelPanel:
    """One model; the rows of all panels stand in the same order.

    Attributes
    ----------
    name : str
    baseline : float
        The loss of the model as it is, drawn dashed: where the bars start.
    baseline_text : str
    rows : tuple of ModelRow
    """

    name: str
    baseline: float
    baseline_text: str
    rows: tuple[ModelRow, ...]


def draw_models(
    panels: Sequence[ModelPanel], *, axis_label: str, salt: str, value_label: str = ""
) -> str:
    """Return the loss of several models as features are permuted, as an SVG.

    One panel per model on one axis, the same rows in each. A bar leads from the
    dashed loss of the model as it is to the mean loss with the feature permuted. At
    its end stands the interval; without one a box plot of the repeats (box: quartiles,
    line: range), or a tick where there are not two different ones, all finite. The
    note of a row stands beside its bar where there is room for it.

    Parameters
    ----------
    panels : sequence of ModelPanel
        Their rows name the same features in the same order.
    axis_label : str
    salt : str
        The id of the figure; ids inside the file derive from it.
    value_label : str, default ""
        The head of the numbers at the right edge.

    Raises
    ------
    ValueError
        If there are no panels or more than 6, no rows or more than 40, or panels
        with other features than the first.
    """
    parts.check(len(panels), "The panels of a figure of models", most=6)
    column = parts.name_column(_same_names(panels), pitch=3.85)
    left, names = column.plot, [panel.name for panel in panels]
    texts = [value_label, *(row.text for panel in panels for row in panel.rows)]
    wide = parts.value_column(texts)
    is_marked = any(row.mark for panel in panels for row in panel.rows)
    # The name of a model stands in the column of names, or else on a line of its own.
    titles = parts.headings(names, left - 2.0, most=1)
    is_beside = all(map(parts.is_whole, names, titles))
    head = _HEAD if is_beside else _TITLED
    slots, height = parts.slots(len(panels), column.height, left=left, head=head)
    if slots[0].right < WIDTH:
        is_beside = False
        slots, height, titles = parts.headed_slots(
            names, column.height, left=left, head=_TITLED, across=2
        )
    elif not is_beside:
        titles = parts.headings(names, WIDTH)
    width = slots[0].right - slots[0].left
    values = wide if width > parts.NARROW else 0.0
    margin = values or (MARK if is_marked else 0.0)
    ends = loss_limits(panels)

    sheet = Sheet()
    for n, (panel, slot) in enumerate(zip(panels, slots, strict=True)):
        scale = Scale(*ends, slot.left, width - margin)
        span = (slot.top, slot.top + column.height)
        label = axis_label if slot.is_first else ""
        parts.axis(sheet, scale, span, label=label, bare=not slot.is_last)
        if slot.is_first:
            parts.put_names(sheet, column, slot.top)
        for m, (row, y) in enumerate(
            zip(panel.rows, column.places(slot.top), strict=True)
        ):
            draw_loss(sheet, row, scale, y, panel.baseline, f"loss-{n}-{m}")
            draw_note(sheet, row, scale, y, panel.baseline)
            if values:
                sheet.text(slot.right, y, row.text, anchor="right")
            parts.tell(sheet, scale, (y, column.pitch), row.title)
        at = scale.at(panel.baseline)
        parts.baseline(sheet, at, span, panel.baseline_text, right=scale.right)
        up = 2.2 if is_beside else 5.8
        at_left = 0.0 if slots[0].right == WIDTH else slot.left
        parts.put_heading(sheet, (at_left, slot.top - up), titles[n])
    if values:
        parts.put_value_label(sheet, value_label, slots[0].top)
    return sheet.svg(height, salt=salt)


def _same_names(panels: Sequence[ModelPanel]) -> list[str]:
    """Return the features of every panel, in their common order."""
    names = [row.name for row in panels[0].rows]
    parts.check(len(names), "The rows of a panel")
    for panel in panels:
        if [row.name for row in panel.rows] != names:
            raise ValueError(
                f"The panels of a figure of models must name the same features; "
                f"{panel.name!r} differs from {panels[0].name!r}."
            )
    return names


def draw_loss(
    sheet: Sheet, row: ModelRow, scale: Scale, y: float, baseline: float, name: str
) -> None:
    """Draw the bar of one feature; interval, box plot or tick at its end."""
    parts.beyond(sheet, scale, y, row.mean)
    if not isfinite(row.mean):
        return
    mean = scale.at(row.mean)
    sheet.box((scale.at(baseline), mean), (y - 1.3, y + 1.3), face=FILL, name=name)
    repeats = sorted(row.repeats)
    if isfinite(row.low) and isfinite(row.high):
        sheet.line((mean, mean), (y - 1.3, y + 1.3), colour=BLUE, width=1.5)
        parts.interval(sheet, scale, y, (row.low, row.high), width=0.9, cap=0.8)
        return
    if not all(map(isfinite, repeats)) or len(set(repeats)) < 2:
        sheet.line((mean, mean), (y - 1.3, y + 1.3), colour=BLUE, width=1.5)
        return
    ends = scale.at(repeats[0]), scale.at(repeats[-1])
    first, median, third = map(scale.at, quantiles(repeats, n=4, method="inclusive"))
    sheet.line(ends, (y, y), colour=BLUE, width=0.8, name=f"{name}-range")
    sheet.box(
        (first, third),
        (y - 0.8, y + 0.8),
        face="white",
        edge=BLUE,
        width=0.8,
        name=f"{name}-quartiles",
    )
    sheet.line((median, median), (y - 0.8, y + 0.8), colour=BLUE, width=1.5)


def draw_note(
    sheet: Sheet, row: ModelRow, scale: Scale, y: float, baseline: float
) -> None:
    """Write the mark of a row right of the plot, its note where nothing is drawn."""
    if row.mark:
        sheet.text(scale.right + 0.8, y, row.mark, bold=True)
    numbers = [n for n in (baseline, *row.numbers) if isfinite(n)]
    wide = typeface.width(row.note, SMALL) * parts.SLACK
    right = scale.at(max(numbers)) + 1.6
    left = scale.at(min(numbers)) - 1.6
    if not row.note or isinf(row.mean):
        return
    if right + wide <= scale.right:
        sheet.text(right, y, row.note, size=SMALL)
    elif left - wide >= scale.left:
        sheet.text(left, y, row.note, size=SMALL, anchor="right")


def loss_limits(panels: Sequence[ModelPanel]) -> tuple[float, float]:
    """Return the ends of the axis: from zero where that does not squash the rest."""
    losses = [panel.baseline for panel in panels]
    rows = [row for panel in panels for row in panel.rows]
    numbers = [number for row in rows for number in row.numbers]
    low, high = limits([*losses, *numbers])
    finite = [number for number in (*losses, *numbers) if isfinite(number)]
    if min(finite, default=-1.0) >= 0.0 and high - low > 0.4 * high:
        return limits(finite, include=(0.0,))
    return low, high
