"""The figures of performance: ROC curves and calibration, or residuals, by model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import drawing, parts, typeface
from .drawing import (
    AXIS,
    BLUE,
    DASHED,
    DOTTED,
    FILL,
    INK,
    SMALL,
    TITLE,
    WIDTH,
    Scale,
    Sheet,
)

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
_TICK = 3.4  # millimetres from one number of a tenth to the next, at least
_KEY_LINE, _KEY_GAP, _SAMPLE = 3.0, 0.8, 6.0


@dataclass(frozen=True)
class RocLine:
    """The ROC curve of one model.

    Attributes
    ----------
    label : str
        The model, and the area under its curve.
    false_rates, true_rates : tuple of float
    """

    label: str
    false_rates: tuple[float, ...]
    true_rates: tuple[float, ...]


@dataclass(frozen=True)
class Tenth:
    """Predicted beside observed share in one part of the rows."""

    predicted: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class CalibrationPanel:
    """The tenths of one model, by rising prediction."""

    title: str
    tenths: tuple[Tenth, ...]


@dataclass(frozen=True)
class ResidualPart:
    """Residuals of the rows between two predictions.

    Attributes
    ----------
    lowest, highest, fitted : float
        Smallest, largest and mean prediction.
    quantiles : tuple of float
        Of the residuals at 5, 25, 50, 75 and 95 %.
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


@dataclass(frozen=True)
class _Place:
    """Where a panel stands: its left edge, the upper end of its plot, its width.

    `margin` is what the numbers of its upright axis take of that.
    """

    left: float
    top: float
    width: float
    margin: float

    @property
    def bottom(self) -> float:
        return self.top + _PLOT

    def across(self, low: float, high: float) -> Scale:
        """Return the level scale of the plot."""
        return Scale(low, high, self.left + self.margin, self.width - self.margin)

    def upright(self, low: float, high: float) -> Scale:
        """Return the upright scale of the plot, whose low end is below."""
        return Scale(low, high, self.bottom, -_PLOT)


def draw_classes(
    curves: Sequence[RocLine],
    panels: Sequence[CalibrationPanel],
    *,
    roc_title: str,
    roc_labels: tuple[str, str],
    labels: tuple[str, str],
    salt: str,
) -> str:
    """Return ROC curves in one panel, and calibration in one per model, as an SVG.

    Of a calibration, a filled mark with a line is the observed share and its interval,
    an open mark the mean prediction of the same rows. All these panels have one scale,
    from 0.

    Parameters
    ----------
    curves : sequence of RocLine
        None for more than two classes: then there is no such panel.
    panels : sequence of CalibrationPanel
    roc_title : str
    roc_labels, labels : (str, str)
        What stands above each plot, of the upright axis, and below it.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are no panels of calibration, or more than 6 of them or curves.
    """
    parts.check(len(panels), "The panels of a figure of performance", most=MOST_PANELS)
    n_panels = len(panels) + bool(curves)
    room = (_width(n_panels) - _SAMPLE - 1.5) / parts.SLACK
    names = [typeface.shortened([c.label], room, SMALL, lines=3)[0] for c in curves]
    key = sum(map(len, names)) * _KEY_LINE + len(names) * _KEY_GAP + 0.6 * bool(names)
    highest = max(max(t.high, t.predicted) for p in panels for t in p.tenths)
    ends = (0.0, (1 + _ROOM) * highest)
    most = max(len(panel.tenths) for panel in panels)
    titles = [roc_title] * bool(curves) + [panel.title for panel in panels]
    margin = max(_margin(0.0, 1.0 + _ROOM), _margin(*ends))
    sheet = Sheet()
    height, places = _put_titles(sheet, titles, margin=margin, key=key)
    if curves:
        parts.check(len(curves), "The curves of a ROC panel", most=len(STYLES))
        place = places.pop(0)
        x, y = place.across(0.0, 1.0), place.upright(0.0, 1.0 + _ROOM)
        _put_axes(sheet, x, y, place, roc_labels)
        corners = (x.left, x.right), (y.at(0.0), y.at(1.0))
        sheet.line(*corners, colour=AXIS, width=0.5, name="chance")
        row = place.bottom + parts.FOOT + _KEY_LINE / 2
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
        x, y = place.across(0.5, most + 0.5), place.upright(*ends)
        is_tight = x.width / most < _TICK
        at = range(1 + is_tight, most + 1, 1 + is_tight)
        _put_axes(sheet, x, y, place, labels, at=at)
        for number, tenth in enumerate(panel.tenths, start=1):
            middle, name = x.at(number), f"{n}-{number}"
            interval = y.at(tenth.low), y.at(tenth.high)
            sheet.line((middle, middle), interval, colour=BLUE, width=0.9)
            ours = middle, y.at(tenth.predicted), "D"
            sheet.mark(*ours, colour=INK, size=4.0, name=f"predicted-{name}")
            sheet.mark(middle, y.at(tenth.observed), "o", name=f"observed-{name}")
    return sheet.svg(height, salt=salt)


def draw_residuals(
    panels: Sequence[ResidualPanel], *, labels: tuple[str, str], salt: str
) -> str:
    """Return the residuals of each model by its predictions, as an SVG.

    The boxes reach over half of the residuals of a part of the rows, from its smallest
    prediction to its largest; the line across is their median, the upright line holds
    90 % of them. All panels have the same scales.

    Parameters
    ----------
    panels : sequence of ResidualPanel
    labels : (str, str)
        What stands above each plot, of the upright axis, and below it.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If there are no panels, or more than 6.
    """
    parts.check(len(panels), "The panels of a figure of residuals", most=MOST_PANELS)
    every = [part for panel in panels for part in panel.parts]
    wide = drawing.limits(
        [end for part in every for end in (part.lowest, part.highest)]
    )
    low, high = drawing.limits([end for part in every for end in part.quantiles])
    ends = min(low, 0.0), max(high, 0.0)
    sheet, titles = Sheet(), [panel.title for panel in panels]
    height, places = _put_titles(sheet, titles, margin=_margin(*ends))
    for n, (panel, place) in enumerate(zip(panels, places, strict=True)):
        x, y = place.across(*wide), place.upright(*ends)
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
    return sheet.svg(height, salt=salt)


def _put_titles(
    sheet: Sheet, titles: Sequence[str], *, margin: float, key: float = 0.0
) -> tuple[float, list[_Place]]:
    """Write the titles of panels in lines; return the height, and the places.

    `key` is the room that the first panel needs below its axis.
    """
    width, across = _width(len(titles)), _across(len(titles))
    lines = [parts.headings([title], width, most=3)[0] for title in titles]
    top, places = 0.0, []
    for start in range(0, len(titles), across):
        row = lines[start : start + across]
        top += 2.0 if start else 0.0
        plot = top + _LINE * max(map(len, row)) + _HEAD
        for n, texts in enumerate(row):
            place = _Place(n * (width + _GAP), plot, width, margin)
            places.append(place)
            above = plot - _HEAD - _LINE * (len(texts) - 0.5)
            for line, text in enumerate(texts):
                y = above + _LINE * line
                sheet.text(place.left, y, text, size=TITLE, bold=True)
        top = plot + _PLOT + parts.FOOT + (0.0 if start else key)
    return top, places


def _across(n_panels: int) -> int:
    """Return how many panels stand side by side: two if few, else three or four."""
    return 2 if n_panels <= 2 else 4 if n_panels in (4, 7) else 3


def _width(n_panels: int) -> float:
    across = _across(n_panels)
    return (WIDTH - _GAP * (across - 1)) / across


def _margin(low: float, high: float) -> float:
    """Return the room that the numbers of an upright axis need."""
    texts = drawing.tick_texts(drawing.ticks(low, high, most=_TICKS))
    wide = max(typeface.width(text, SMALL) for text in texts)
    return max(_LEFT, wide * parts.SLACK + 1.4)


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
    texts = [str(number) for number in at]
    numbers = (at, texts) if at else parts.fitting_ticks(x)
    parts.foot(sheet, x, place.bottom, *numbers)
    above, below = labels
    right = place.left + place.width
    parts.put_label(sheet, place.left, place.top - 3.0, above, right=right)
    wide = typeface.width(below, SMALL) * parts.SLACK
    left = max(min(x.left, right - wide), place.left)
    parts.put_label(sheet, left, place.bottom + 7.0, below, right=right)
