"""The figures of performance: ROC curves and calibration, or residuals, by model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import drawing, parts, typeface
from .drawing import AXIS, BLUE, DASHED, DOTTED, FILL, INK, SMALL, WIDTH, Scale, Sheet

MOST_PANELS = 6
"""Most models that one figure shows."""
STYLES = (
    *((BLUE, ()), (INK, DASHED), (INK, DOTTED)),
    *((AXIS, ()), (BLUE, DASHED), (AXIS, DASHED)),
)
"""Colour and dashes of each ROC curve."""
_GAP = 6.0  # between panels side by side
_HEAD = 5.6  # from the names of panels to their plots: one line of small text
_LEFT = 9.0  # of a panel at least, for the numbers of its upright axis
_PLOT = 36.0  # the height of a plot
_LINE = 3.6  # from one line of a title to the next
_ROOM = 0.06  # above the largest share, so that no tick meets the words above
_TICKS = 5  # steps of an upright axis at most
_TICK = 3.4  # millimetres from the number of one decile to the next, at least
_KEY_LINE, _KEY_GAP, _SAMPLE = 3.0, 0.8, 6.0


@dataclass(frozen=True)
class RocLine:
    """The ROC curve of one model; the label has the area under it."""

    label: str
    false_rates: tuple[float, ...]
    true_rates: tuple[float, ...]


@dataclass(frozen=True)
class Decile:
    """Predicted beside observed share in one part of the rows."""

    predicted: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class CalibrationPanel:
    """The deciles of one model, by rising prediction."""

    title: str
    deciles: tuple[Decile, ...]


@dataclass(frozen=True)
class ResidualPart:
    """Residuals, at 5, 25, 50, 75 and 95 %, of the rows between two predictions.

    `fitted` is the mean prediction of these rows.
    """

    lowest: float
    highest: float
    fitted: float
    quantiles: tuple[float, float, float, float, float]


@dataclass(frozen=True)
class ResidualPanel:
    """The residuals of one model, by rising prediction."""

    title: str
    parts: tuple[ResidualPart, ...]


class _Place(NamedTuple):
    """Where a panel stands: its left edge, the upper end of its plot, its width."""

    left: float
    top: float
    width: float


def draw_classes(
    curves: Sequence[RocLine],
    panels: Sequence[CalibrationPanel],
    *,
    roc_title: str,
    roc_labels: tuple[str, str],
    labels: tuple[str, str],
) -> Sheet:
    """Return ROC curves in one panel, and calibration in one per model.

    Without curves, for more than two classes, there is no such panel. Of a
    calibration, a filled mark with a line is the observed share and its interval, an
    open mark the mean prediction of the same rows; all these panels have one scale,
    from 0. Labels are those of the upright axis, above a plot, and of the other below.
    """
    width, _ = _widths(len(panels) + bool(curves))
    room = (width - _SAMPLE - 1.5) / parts.SLACK
    names = [typeface.shortened([c.label], room, SMALL, lines=3)[0] for c in curves]
    key = sum(map(len, names)) * _KEY_LINE + len(names) * _KEY_GAP + 0.6 * bool(names)
    highest = max(max(d.high, d.predicted) for p in panels for d in p.deciles)
    ends = (0.0, (1 + _ROOM) * highest)
    most = max(len(panel.deciles) for panel in panels)
    titles = [roc_title] * bool(curves) + [panel.title for panel in panels]
    margin = max(_margin(0.0, 1.0 + _ROOM), _margin(*ends))
    sheet = Sheet()
    height, places = _put_titles(sheet, titles, key=key)
    if curves:
        place = places.pop(0)
        x, y = _scales(place, margin, (0.0, 1.0), (0.0, 1.0 + _ROOM))
        _put_axes(sheet, x, y, place, roc_labels)
        corners = (x.left, x.right), (y.at(0.0), y.at(1.0))
        sheet.line(*corners, colour=AXIS, width=0.5, name="chance")
        row = y.left + parts.FOOT + _KEY_LINE / 2
        for n, (curve, lines) in enumerate(zip(curves, names, strict=True)):
            colour, dashes = STYLES[n]
            look: dict[str, Any] = {"colour": colour, "width": 1.1, "dashes": dashes}
            across = [x.at(rate) for rate in curve.false_rates]
            up = [y.at(rate) for rate in curve.true_rates]
            sheet.line(across, up, **look, name=f"roc-{n}")
            sheet.line((place.left, place.left + _SAMPLE), (row, row), **look)
            for text in lines:
                sheet.label(place.left + _SAMPLE + 1.5, row, text, colour=INK)
                row += _KEY_LINE
            row += _KEY_GAP
    for n, (panel, place) in enumerate(zip(panels, places, strict=True)):
        x, y = _scales(place, margin, (0.5, most + 0.5), ends)
        is_tight = x.width / most < _TICK
        at = range(1 + is_tight, most + 1, 1 + is_tight)
        _put_axes(sheet, x, y, place, labels, at=at)
        for number, decile in enumerate(panel.deciles, start=1):
            middle, name = x.at(number), f"{n}-{number}"
            interval = y.at(decile.low), y.at(decile.high)
            sheet.line((middle, middle), interval, colour=BLUE, width=0.9)
            ours = middle, y.at(decile.predicted), "D"
            sheet.mark(*ours, colour=INK, size=4.0, name=f"predicted-{name}")
            sheet.mark(middle, y.at(decile.observed), "o", name=f"observed-{name}")
    return sheet.cut(height)


def draw_residuals(
    panels: Sequence[ResidualPanel], *, labels: tuple[str, str]
) -> Sheet:
    """Return the residuals of each model by its predictions.

    The boxes reach over half of the residuals of a part of the rows, from its smallest
    prediction to its largest; the line across is their median, the upright line holds
    90 % of them. All panels have the same scales. Labels are those of the upright
    axis, above each plot, and of the other below.
    """
    every = [part for panel in panels for part in panel.parts]
    wide = drawing.limits([x for part in every for x in (part.lowest, part.highest)])
    low, high = drawing.limits([end for part in every for end in part.quantiles])
    ends = min(low, 0.0), max(high, 0.0)
    sheet = Sheet()
    height, places = _put_titles(sheet, [panel.title for panel in panels])
    for n, (panel, place) in enumerate(zip(panels, places, strict=True)):
        x, y = _scales(place, _margin(*ends), wide, ends)
        _put_axes(sheet, x, y, place, labels)
        for number, part in enumerate(panel.parts):
            least, first, median, third, most = map(y.at, part.quantiles)
            left, right = x.at(part.lowest), x.at(part.highest)
            sheet.box((left, right), (first, third), face=FILL)
            middle = x.at(part.fitted)
            sheet.line((middle, middle), (least, most), colour=AXIS)
            # A part of tied predictions has no width; its median is still a line.
            short = max(0.0, 0.8 - (right - left)) / 2
            span, name = (left - short, right + short), f"residuals-{n}-{number}"
            sheet.line(span, (median, median), colour=BLUE, width=1.3, name=name)
        zero = (y.at(0.0), y.at(0.0))
        sheet.line((x.left, x.right), zero, width=0.7, dashes=DASHED, name="zero")
    return sheet.cut(height)


def _put_titles(
    sheet: Sheet, titles: Sequence[str], *, key: float = 0.0
) -> tuple[float, list[_Place]]:
    """Write the titles of panels in lines; return the height, and the places.

    `key` is the room that the first panel needs below its axis.
    """
    width, across = _widths(len(titles))
    lines = [parts.headings([title], width, most=3)[0] for title in titles]
    top, places = 0.0, []
    for start in range(0, len(titles), across):
        row = lines[start : start + across]
        top += 2.0 if start else 0.0
        plot = top + _LINE * max(map(len, row)) + _HEAD
        for n, texts in enumerate(row):
            places.append(_Place(n * (width + _GAP), plot, width))
            above = plot - _HEAD - _LINE * (len(texts) - 0.5)
            for line, text in enumerate(texts):
                y = above + _LINE * line
                sheet.text(places[-1].left, y, text, size=drawing.TITLE, bold=True)
        top = plot + _PLOT + parts.FOOT + (0.0 if start else key)
    return top, places


def _widths(n_panels: int) -> tuple[float, int]:
    """Return how wide panels are, and how many stand side by side."""
    across = 2 if n_panels <= 2 else 4 if n_panels in (4, 7) else 3
    return (WIDTH - _GAP * (across - 1)) / across, across


def _margin(low: float, high: float) -> float:
    """Return the room that the numbers of an upright axis need."""
    texts = drawing.tick_texts(drawing.ticks(low, high, most=_TICKS))
    return max(_LEFT, parts.widest(texts) + 1.4)


def _scales(
    place: _Place,
    margin: float,
    across: tuple[float, float],
    up: tuple[float, float],
) -> tuple[Scale, Scale]:
    """Return the scales of a plot: right of its numbers, and from its lower end up."""
    x = Scale(*across, place.left + margin, place.width - margin)
    return x, Scale(*up, place.top + _PLOT, -_PLOT)


def _put_axes(
    sheet: Sheet,
    x: Scale,
    y: Scale,
    place: _Place,
    labels: tuple[str, str],
    *,
    at: Sequence[int] = (),
) -> None:
    """Draw the grid, both axes and what they show; ticks at whole numbers `at`."""
    parts.upright(sheet, x, y, most=_TICKS)
    parts.foot(
        sheet, x, y.left, *((at, [*map(str, at)]) if at else parts.fitting_ticks(x))
    )
    above, below = labels
    right = place.left + place.width
    parts.put_label(sheet, place.left, place.top - 3.0, above, right=right)
    left = max(min(x.left, right - parts.wide(below)), place.left)
    parts.put_label(sheet, left, y.left + 7.0, below, right=right)
