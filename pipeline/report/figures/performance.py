"""The figures of performance: ROC curves and calibration, or residuals, by model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from . import parts, typeface
from .drawing import (
    AXIS,
    BLUE,
    DASHED,
    DOTTED,
    FILL,
    GRID,
    INK,
    SMALL,
    SOFT,
    TITLE,
    WIDTH,
    Scale,
    Sheet,
    limits,
    tick_texts,
    ticks,
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
    sheet = Sheet()
    highest = max(max(t.high, t.predicted) for p in panels for t in p.tenths)
    most = max(len(panel.tenths) for panel in panels)

    def put_curves(place: _Place) -> None:
        x, y = place.across(0.0, 1.0), place.upright(0.0, 1.0 + _ROOM)
        _axes(sheet, x, y, place, roc_labels)
        corners = (x.left, x.right), (y.at(0.0), y.at(1.0))
        sheet.line(*corners, colour=AXIS, width=0.5, name="chance")
        for n, curve in enumerate(curves):
            colour, dashes = STYLES[n]
            across = [x.at(rate) for rate in curve.false_rates]
            up = [y.at(rate) for rate in curve.true_rates]
            look = {"colour": colour, "width": 1.1, "dashes": dashes}
            sheet.line(across, up, **look, name=f"roc-{n}")  # type: ignore[arg-type]

    def put_tenths(panel: CalibrationPanel, n: int, place: _Place) -> None:
        x, y = place.across(0.5, most + 0.5), place.upright(0.0, (1 + _ROOM) * highest)
        is_tight = x.width / most < _TICK
        at = range(1 + is_tight, most + 1, 1 + is_tight)
        _axes(sheet, x, y, place, labels, at=at)
        for number, tenth in enumerate(panel.tenths, start=1):
            middle = x.at(number)
            ends = y.at(tenth.low), y.at(tenth.high)
            sheet.line((middle, middle), ends, colour=BLUE, width=0.9)
            shares = {"observed": tenth.observed, "predicted": tenth.predicted}
            for what, shape in (("predicted", "D"), ("observed", "o")):
                colour, size = (INK, 4.0) if shape == "D" else (BLUE, 4.2)
                sheet.mark(
                    middle,
                    y.at(shares[what]),
                    shape,
                    colour=colour,
                    size=size,
                    name=f"{what}-{n}-{number}",
                )

    drawn: list[tuple[str, Callable[[_Place], None]]] = []
    if curves:
        parts.check(len(curves), "The curves of a ROC panel", most=len(STYLES))
        drawn.append((roc_title, put_curves))
    drawn += [(p.title, partial(put_tenths, p, n)) for n, p in enumerate(panels)]
    key = _key_height(curves, _width_of(len(drawn)))
    margin = max(_margin(0.0, 1.0 + _ROOM), _margin(0.0, (1 + _ROOM) * highest))
    height, first = _put_panels(sheet, drawn, margin=margin, key=key)
    if curves:
        _put_key(sheet, curves, first)
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
    wide = limits([end for part in every for end in (part.lowest, part.highest)])
    low, high = limits([end for part in every for end in part.quantiles])
    ends = min(low, 0.0), max(high, 0.0)
    sheet = Sheet()

    def put(panel: ResidualPanel, n: int, place: _Place) -> None:
        x, y = place.across(*wide), place.upright(*ends)
        _axes(sheet, x, y, place, labels)
        for number, part in enumerate(panel.parts):
            low, first, median, third, most = (y.at(value) for value in part.quantiles)
            sides = x.at(part.lowest), x.at(part.highest)
            name = f"residuals-{n}-{number}"
            sheet.box(sides, (first, third), face=FILL)
            middle = x.at(part.fitted)
            sheet.line((middle, middle), (low, most), colour=AXIS, width=0.6)
            # A part of tied predictions has no width; its median is still a line.
            short = max(0.0, 0.8 - (sides[1] - sides[0])) / 2
            span = sides[0] - short, sides[1] + short
            sheet.line(span, (median, median), colour=BLUE, width=1.3, name=name)
        zero = (y.at(0.0), y.at(0.0))
        sheet.line((x.left, x.right), zero, width=0.7, dashes=DASHED, name="zero")

    drawn = [(panel.title, partial(put, panel, n)) for n, panel in enumerate(panels)]
    height, _ = _put_panels(sheet, drawn, margin=_margin(*ends))
    return sheet.svg(height, salt=salt)


def _put_panels(
    sheet: Sheet,
    drawn: Sequence[tuple[str, Callable[[_Place], None]]],
    *,
    margin: float,
    key: float = 0.0,
) -> tuple[float, _Place]:
    """Draw titled panels in lines; return the height, and the place of the first.

    `key` is the room that the first panel needs below its axis.
    """
    width, across = _width_of(len(drawn)), _across(len(drawn))
    room = width / (parts.SLACK * 1.12)  # bold runs wider than what is measured
    titles = [_lines_of(title, room, TITLE) for title, _ in drawn]
    top, first = 0.0, _Place(0.0, 0.0, width, margin)
    for start in range(0, len(drawn), across):
        line = range(start, min(start + across, len(drawn)))
        head = _LINE * max(len(titles[n]) for n in line) + _HEAD
        for n in line:
            place = _Place((n - start) * (width + _GAP), top + head, width, margin)
            above = place.top - _HEAD - _LINE * (len(titles[n]) - 0.5)
            for row, text in enumerate(titles[n]):
                y = above + _LINE * row
                sheet.text(place.left, y, text, size=TITLE, bold=True)
            drawn[n][1](place)
            if not n:
                first = place
        top += head + _PLOT + parts.FOOT + (0.0 if start else key)
        top += 2.0 if line.stop < len(drawn) else 0.0
    return top, first


def _across(n_panels: int) -> int:
    """Return how many panels stand side by side: two if few, else three or four."""
    return 2 if n_panels <= 2 else 4 if n_panels in (4, 7) else 3


def _width_of(n_panels: int) -> float:
    across = _across(n_panels)
    return (WIDTH - _GAP * (across - 1)) / across


def _margin(low: float, high: float) -> float:
    """Return the room that the numbers of an upright axis need."""
    texts = tick_texts(ticks(low, high, most=_TICKS))
    wide = max(typeface.width(text, SMALL) for text in texts)
    return max(_LEFT, wide * parts.SLACK + 1.4)


def _lines_of(words: str, room: float, size: float) -> tuple[str, ...]:
    """Return words on one line where they fit, else on up to three."""
    for lines in range(1, 4):
        (texts,) = typeface.shortened([words], room, size, lines=lines)
        if "…" not in "".join(texts):
            break
    return texts


def _axes(
    sheet: Sheet,
    x: Scale,
    y: Scale,
    place: _Place,
    labels: tuple[str, str],
    *,
    at: Sequence[int] = (),
) -> None:
    """Draw the grid, both axes and what they show; ticks at whole numbers `at`."""
    numbers = ticks(y.low, y.high, most=_TICKS)
    sheet.levels((x.left, x.right), [y.at(n) for n in numbers], colour=GRID, width=0.5)
    for number, text in zip(numbers, tick_texts(numbers), strict=True):
        up = y.at(number)
        sheet.text(x.left - 1.2, up, text, size=SMALL, colour=SOFT, anchor="right")
    if at:
        parts.foot(sheet, x, place.bottom, at, [str(number) for number in at])
    else:
        parts.foot(sheet, x, place.bottom, *parts.fitting_ticks(x))
    above, below = labels
    right = place.left + place.width
    parts.put_label(sheet, place.left, place.top - 3.0, above, right=right)
    wide = typeface.width(below, SMALL) * parts.SLACK
    left = max(min(x.left, right - wide), place.left)
    parts.put_label(sheet, left, place.bottom + 7.0, below, right=right)


def _key_lines(curves: Sequence[RocLine], width: float) -> list[tuple[str, ...]]:
    room = (width - _SAMPLE - 1.5) / parts.SLACK
    return [_lines_of(curve.label, room, SMALL) for curve in curves]


def _key_height(curves: Sequence[RocLine], width: float) -> float:
    lines = sum(len(texts) for texts in _key_lines(curves, width))
    return lines * _KEY_LINE + len(curves) * _KEY_GAP + 0.6 if curves else 0.0


def _put_key(sheet: Sheet, curves: Sequence[RocLine], place: _Place) -> None:
    """Name the curves below the axis of their panel."""
    row = place.bottom + parts.FOOT + _KEY_LINE / 2
    for n, texts in enumerate(_key_lines(curves, place.width)):
        colour, dashes = STYLES[n]
        ends = place.left, place.left + _SAMPLE
        sheet.line(ends, (row, row), colour=colour, width=1.1, dashes=dashes)
        for text in texts:
            sheet.text(place.left + _SAMPLE + 1.5, row, text, size=SMALL)
            row += _KEY_LINE
        row += _KEY_GAP
