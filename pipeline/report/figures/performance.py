"""The figures of performance: ROC curves and calibration, or residuals, by model."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from . import drawing, parts
from .drawing import AXIS, BLUE, DASHED, FILL, INK, SERIES, Look, Scale, Sheet

MOST_PANELS = 6
"""Most models that one figure shows."""
_HEAD = 9.0  # from the upper edge of a panel to its plot: its name, and its label
_LEFT = 9.0  # least width left of a plot, for the numbers of its vertical axis
_PLOT = 36.0  # height of a plot
_ROOM = 0.06  # share above the largest value, so that no tick meets the text above
_TICKS = 5  # most steps of a vertical axis
_PREDICTED = Look(INK, mark="D", size=4.0)
_TICK = 3.4  # millimetres from the number of one decile to the next, at least

Panel: TypeAlias = tuple[str, Sequence[Mapping[str, Any]]]
"""A title, and the rows of numbers drawn below it."""
Ends: TypeAlias = tuple[float, float]


def draw_classes(
    curves: Sequence[Panel],
    panels: Sequence[Panel],
    *,
    roc_title: str,
    roc_labels: tuple[str, str],
    labels: tuple[str, str],
) -> Sheet:
    """Return ROC curves in one panel, and calibration in one panel per model.

    Rows of `curves` have false_rate and true_rate; without curves, for more than two
    classes, there is no ROC panel. Rows of `panels`, one per decile, have predicted,
    observed, low, high. A filled mark with a line is the observed share and its
    interval, an open mark the mean prediction of the same rows; all panels of
    calibration have one scale, from 0. Labels are those of the vertical axis, printed
    above the first plot, and of the horizontal axis, below it.
    """
    deciles = [row for _, rows in panels for row in rows]
    most = max(len(rows) for _, rows in panels)
    rates = (0.0, 1.0), (0.0, 1.0 + _ROOM)
    highest = max(max(row["high"], row["predicted"]) for row in deciles)
    shares = (0.5, most + 0.5), (0.0, (1 + _ROOM) * highest)
    ends = [*[(roc_title, *rates)] * bool(curves), *((t, *shares) for t, _ in panels)]
    sheet = Sheet()
    plots, height = _plots(sheet, ends)
    if curves:
        plot = plots.pop(0)
        _put_axes(plot, roc_labels)
        plot.line((0.0, 1.0), (0.0, 1.0), Look(AXIS, 0.5), name="chance")
        key = []
        for n, ((label, rows), mark) in enumerate(zip(curves, SERIES, strict=False)):
            look = mark._replace(mark="")
            key.append((label, look))
            across = [row["false_rate"] for row in rows]
            up = [row["true_rate"] for row in rows]
            plot.line(across, up, look, name=f"roc-{n}")
        height = parts.key(sheet, key, top=height + 1.0)
    for n, ((_, rows), plot) in enumerate(zip(panels, plots, strict=True)):
        step = 1 + (plot.x.width / most < _TICK)
        own_labels = labels if n == 0 else ("", "")
        _put_axes(plot, own_labels, range(step, most + 1, step))
        for number, row in enumerate(rows, start=1):
            name = f"{n}-{number}"
            plot.line((number, number), (row["low"], row["high"]), Look(BLUE, 0.9))
            plot.mark(number, row["predicted"], _PREDICTED, name=f"predicted-{name}")
            plot.mark(number, row["observed"], Look(), name=f"observed-{name}")
    return sheet.cut(height)


def draw_residuals(panels: Sequence[Panel], *, labels: tuple[str, str]) -> Sheet:
    """Return the residuals of each model by its predictions.

    Each row of a panel is one bin of the data by prediction: its `lowest`, `highest`
    and mean prediction (`fitted`), and the quantiles q05, q25, q50, q75 and q95 of its
    residuals. A box covers the middle half of the residuals of a bin; the line across
    is their median, the vertical line reaches from q05 to q95. All panels have the same
    scales. `labels` are those of the vertical axis, printed above the first plot, and
    of the horizontal axis, below it.
    """
    every = [row for _, rows in panels for row in rows]
    wide = drawing.limits([row[end] for row in every for end in ("lowest", "highest")])
    low, high = drawing.limits([row[end] for row in every for end in ("q05", "q95")])
    tall = min(low, 0.0), max(high, 0.0)
    sheet = Sheet()
    plots, height = _plots(sheet, [(title, wide, tall) for title, _ in panels])
    for n, ((_, rows), plot) in enumerate(zip(panels, plots, strict=True)):
        _put_axes(plot, labels if n == 0 else ("", ""))
        for number, row in enumerate(rows):
            span = row["lowest"], row["highest"]
            plot.box(span, (row["q25"], row["q75"]), face=FILL)
            middle = row["fitted"], row["fitted"]
            plot.line(middle, (row["q05"], row["q95"]), parts.THIN)
            # A bin of equal predictions has no width; its median is still a line.
            left, right = map(plot.x.at, span)
            short = max(0.0, 0.8 - (right - left)) / 2
            ends, median = (left - short, right + short), [plot.y.at(row["q50"])]
            name = f"residuals-{n}-{number}"
            sheet.levels(ends, median, Look(BLUE, 1.3), name=name)
        plot.line(wide, (0.0, 0.0), Look(INK, 0.7, DASHED), name="zero")
    return sheet.cut(height)


def _plots(
    sheet: Sheet, panels: Sequence[tuple[str, Ends, Ends]]
) -> tuple[list[parts.Plot], float]:
    """Write the titles; return the plots, and the lower edge of the last without axis.

    Each panel is a title, the ends of its x axis and those of its y axis.
    """
    across = 2 if len(panels) <= 2 else 4 if len(panels) in (4, 7) else 3
    slots, height = parts.slots(
        [title for title, *_ in panels],
        _PLOT + parts.FOOT,
        left=0.0,
        head=_HEAD,
        across=across,
    )
    numbers = (drawing.ticks(*up, most=_TICKS) for _, _, up in panels)
    wide = [parts.widest(drawing.tick_texts(some)) + 1.4 for some in numbers]
    margin = max(_LEFT, *wide)
    plots = []
    for slot, (_, wide_ends, ends) in zip(slots, panels, strict=True):
        parts.put_heading(sheet, (slot.left, slot.top - 7.0), slot.heading)
        x = Scale(*wide_ends, slot.left + margin, slot.right - slot.left - margin)
        plots.append(parts.Plot(sheet, x, Scale(*ends, slot.top + _PLOT, -_PLOT)))
    return plots, height - parts.FOOT


def _put_axes(
    plot: parts.Plot, labels: tuple[str, str], at: Sequence[int] = ()
) -> None:
    """Draw the grid, both axes and their labels; ticks at whole numbers `at`."""
    sheet, x, y = plot
    parts.upright(sheet, x, y, most=_TICKS)
    ticks = (at, [*map(str, at)]) if at else parts.fitting_ticks(x)
    parts.foot(sheet, x, y.left, *ticks)
    above, below = labels
    parts.put_label(sheet, x.left, y.right - 3.0, above)
    parts.put_label(sheet, x.left, y.left + 7.0, below)
