"""The figures of performance: ROC curves and calibration, or residuals, by model."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from . import drawing, parts
from .drawing import AXIS, BLUE, DASHED, FILL, INK, SERIES, Look, Scale, Sheet

MOST_PANELS = 6
"""Most models that one figure shows."""
_HEAD = 9.0  # from the upper edge of a panel to its plot: its name, and its label
_LEFT = 9.0  # of a panel at least, for the numbers of its upright axis
_PLOT = 36.0  # the height of a plot
_ROOM = 0.06  # above the largest share, so that no tick meets the words above
_TICKS = 5  # steps of an upright axis at most
_PREDICTED = Look(INK, mark="D", size=4.0)
_TICK = 3.4  # millimetres from the number of one decile to the next, at least

Panel: TypeAlias = tuple[str, Sequence[Mapping[str, Any]]]
"""A title, and what is drawn below it row by row."""


def draw_classes(
    curves: Sequence[Panel],
    panels: Sequence[Panel],
    *,
    roc_title: str,
    roc_labels: tuple[str, str],
    labels: tuple[str, str],
) -> Sheet:
    """Return ROC curves in one panel, and calibration in one per model.

    Rows of curves have false_rate and true_rate; without curves, for more than two
    classes, there is no such panel. Rows of panels, one per decile, have predicted,
    observed, low, high. A filled mark with a line is the observed share and its
    interval, an open mark the mean prediction of the same rows; all these panels have
    one scale, from 0. Labels are those of the upright axis, above the first plot, and
    of the other below it.
    """
    deciles = [row for _, rows in panels for row in rows]
    ends = (0.0, (1 + _ROOM) * max(max(d["high"], d["predicted"]) for d in deciles))
    most = max(len(rows) for _, rows in panels)
    sheet = Sheet()
    titles = [roc_title] * bool(curves) + [title for title, _ in panels]
    slots, height = _slots(sheet, titles)
    margin = max(_margin(0.0, 1.0 + _ROOM), _margin(*ends))
    if curves:
        x, y = _scales(slots.pop(0), margin, (0.0, 1.0), (0.0, 1.0 + _ROOM))
        _put_axes(sheet, x, y, roc_labels)
        corners = (x.left, x.right), (y.at(0.0), y.at(1.0))
        sheet.line(*corners, Look(AXIS, 0.5), name="chance")
        looks = [look._replace(mark="") for look in SERIES]
        for n, ((_, rows), look) in enumerate(zip(curves, looks, strict=False)):
            across = [x.at(row["false_rate"]) for row in rows]
            up = [y.at(row["true_rate"]) for row in rows]
            sheet.line(across, up, look, name=f"roc-{n}")
        entries = zip((label for label, _ in curves), looks, strict=False)
        height = parts.key(sheet, list(entries), top=height + 1.0)
    for n, ((_, rows), slot) in enumerate(zip(panels, slots, strict=True)):
        x, y = _scales(slot, margin, (0.5, most + 0.5), ends)
        step = 1 + (x.width / most < _TICK)
        _put_axes(
            sheet, x, y, labels if n == 0 else ("", ""), range(step, most + 1, step)
        )
        for number, row in enumerate(rows, start=1):
            middle, name = x.at(number), f"{n}-{number}"
            interval = y.at(row["low"]), y.at(row["high"])
            sheet.line((middle, middle), interval, Look(BLUE, 0.9))
            sheet.mark(
                middle, y.at(row["predicted"]), _PREDICTED, name=f"predicted-{name}"
            )
            sheet.mark(middle, y.at(row["observed"]), Look(), name=f"observed-{name}")
    return sheet.cut(height)


def draw_residuals(panels: Sequence[Panel], *, labels: tuple[str, str]) -> Sheet:
    """Return the residuals of each model by its predictions.

    Rows are parts of the rows of the data by rising prediction, from `lowest` to
    `highest` with the mean `fitted`, and q05, q25, q50, q75 and q95 of their residuals.
    A box reaches over half of the residuals of a part; the line across is their median,
    the upright line holds 90 % of them. All panels have the same scales. Labels are
    those of the upright axis, above the first plot, and of the other below it.
    """
    every = [row for _, rows in panels for row in rows]
    wide = drawing.limits([row[end] for row in every for end in ("lowest", "highest")])
    low, high = drawing.limits([row[end] for row in every for end in ("q05", "q95")])
    ends = min(low, 0.0), max(high, 0.0)
    sheet = Sheet()
    slots, height = _slots(sheet, [title for title, _ in panels])
    for n, ((_, rows), slot) in enumerate(zip(panels, slots, strict=True)):
        x, y = _scales(slot, _margin(*ends), wide, ends)
        _put_axes(sheet, x, y, labels if n == 0 else ("", ""))
        for number, row in enumerate(rows):
            left, right = x.at(row["lowest"]), x.at(row["highest"])
            sheet.box((left, right), (y.at(row["q25"]), y.at(row["q75"])), face=FILL)
            middle = x.at(row["fitted"])
            most = y.at(row["q05"]), y.at(row["q95"])
            sheet.line((middle, middle), most, parts.THIN)
            # A part of tied predictions has no width; its median is still a line.
            short = max(0.0, 0.8 - (right - left)) / 2
            span, name = (left - short, right + short), f"residuals-{n}-{number}"
            median = (y.at(row["q50"]),) * 2
            sheet.line(span, median, Look(BLUE, 1.3), name=name)
        zero = (y.at(0.0), y.at(0.0))
        sheet.line((x.left, x.right), zero, Look(INK, 0.7, DASHED), name="zero")
    return sheet.cut(height)


def _slots(sheet: Sheet, titles: Sequence[str]) -> tuple[list[parts.Slot], float]:
    """Write the titles of panels; return their places, and where they end."""
    across = 2 if len(titles) <= 2 else 4 if len(titles) in (4, 7) else 3
    slots, height = parts.slots(
        titles, _PLOT + parts.FOOT, left=0.0, head=_HEAD, across=across
    )
    for slot in slots:
        parts.put_heading(sheet, (slot.left, slot.top - 7.0), slot.heading)
    return list(slots), height - parts.FOOT


def _margin(low: float, high: float) -> float:
    """Return the room that the numbers of an upright axis need."""
    texts = drawing.tick_texts(drawing.ticks(low, high, most=_TICKS))
    return max(_LEFT, parts.widest(texts) + 1.4)


def _scales(
    slot: parts.Slot,
    margin: float,
    across: tuple[float, float],
    up: tuple[float, float],
) -> tuple[Scale, Scale]:
    """Return the scales of a plot: right of its numbers, and from its lower end up."""
    x = Scale(*across, slot.left + margin, slot.right - slot.left - margin)
    return x, Scale(*up, slot.top + _PLOT, -_PLOT)


def _put_axes(
    sheet: Sheet,
    x: Scale,
    y: Scale,
    labels: tuple[str, str],
    at: Sequence[int] = (),
) -> None:
    """Draw the grid, both axes and what they show; ticks at whole numbers `at`."""
    parts.upright(sheet, x, y, most=_TICKS)
    ticks = (at, [*map(str, at)]) if at else parts.fitting_ticks(x)
    parts.foot(sheet, x, y.left, *ticks)
    above, below = labels
    parts.put_label(sheet, x.left, y.right - 3.0, above)
    parts.put_label(sheet, x.left, y.left + 7.0, below)
