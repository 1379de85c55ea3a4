"""The panels of a figure of effects: what they hold, and how one is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan
from typing import Literal, NamedTuple

from ..text.number_text import plain_number, significant
from . import drawing, parts, typeface
from .drawing import AXIS, BLUE, DASHED, FILL, HAIR, INK, SMALL, WIDTH, Scale, Sheet

HEADING = 5.4  # millimetres from the top of a panel to its plot: the name
TICKS = 5.8  # below a plot: tick labels
REFERENCE = "\0"  # the label of the line across, which no curve can have
SPREAD = "\1"  # that of the band around the leading curve
_FEW = 12  # grid points up to which each is marked
_DOTS, _DOT = 2.8, (1.5, 6.0)  # points: wider than any curve, which shows between
KEY_LINE = 4.2
_PIECE, _GAP = 8.6, 5.0  # of a key: the piece of line before a word, and the room after
_BOLD = 1.2  # bold words are at most so many times as wide
_BAR = 2.2  # millimetres: the height of a band at a level
_FOOT = 0.16  # share of a plot's height that the distribution may use


@dataclass(frozen=True)
class Curve:
    """One line, or one row of dots, of a panel.

    Attributes
    ----------
    label : str
    grid : tuple
        Numbers, or the levels as text; curves of a panel may differ in it.
    values : tuple of float
    lead : bool
        The curve that leads the reading; the others are drawn thinner.
    band : tuple of (float, float)
        Lower and upper end of the band around it at each point; empty if it has none.
    """

    label: str
    grid: tuple[float | str, ...]
    values: tuple[float, ...]
    lead: bool
    band: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class EffectPanel:
    """One feature, the curves of all models.

    Attributes
    ----------
    feature : str
    kind : {"number", "category"}
    curves : tuple of Curve
    counts : tuple of (float or str, float)
        Rows, or their weight, at each position or level, for the foot of the panel;
        may be empty.
    lines : tuple of (float, float)
        Intercept and slope of each straight line that the curves are held against.
    """

    feature: str
    kind: Literal["number", "category"]
    curves: tuple[Curve, ...]
    counts: tuple[tuple[float | str, float], ...] = ()
    lines: tuple[tuple[float, float], ...] = ()


class Style(NamedTuple):
    """How one curve looks in every panel: line and mark."""

    colour: str
    width: float
    dashes: tuple[float, ...]
    mark: str
    size: float


_LEAD = Style(BLUE, 1.7, (), "o", 4.2)


_OTHERS = (
    Style(AXIS, 0.9, (), "|", 5.6),
    Style(INK, 0.9, (3.0, 1.5), "x", 3.6),
    Style(AXIS, 1.1, (1.0, 1.2), "v", 3.8),
    Style(INK, 0.9, (5.0, 1.2, 1.0, 1.2), "+", 4.6),
    Style(BLUE, 0.9, (1.5, 1.5), "D", 3.2),
)


Look = Mapping[str, Style]


class Axis(NamedTuple):
    """The axis of values that panels share.

    Attributes
    ----------
    low, high : float
        Its ends.
    floor : float
        Where values begin; below stands the distribution, if any.
    reference : float or None
        The line across it.
    """

    low: float
    high: float
    floor: float
    reference: float | None

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round values of a numeric panel."""
        few = drawing.ticks(self.floor, self.high, most=4)
        return few if len(few) > 2 else drawing.ticks(self.floor, self.high, most=6)


def looks(panels: Sequence[EffectPanel]) -> Look:
    """Return the style of each curve by its label, the leading one first.

    Raises
    ------
    ValueError
        If there are no labels or more than 6.
    """
    curves = [curve for panel in panels for curve in panel.curves]
    leads = [curve.label for curve in curves if curve.lead]
    labels = list(dict.fromkeys([*leads, *(curve.label for curve in curves)]))
    parts.check(len(labels), "The curves of a figure", most=1 + len(_OTHERS))
    return dict(zip(labels, (_LEAD, *_OTHERS), strict=False))


def value_axis(panels: Sequence[EffectPanel], reference: float | None) -> Axis:
    """Return the axis of these panels; numbers with counts get a foot below it."""
    curves = [curve for panel in panels for curve in panel.curves]
    values = [value for curve in curves for value in curve.values]
    values += [end for curve in curves for ends in curve.band for end in ends]
    values += [y for panel in panels for line in _known(panel) for _, y in line]
    line = () if reference is None else (reference,)
    low, high = drawing.limits([*values, *line], pad=0.07)
    footed = any(panel.kind == "number" and panel.counts for panel in panels)
    foot = _FOOT * (high - low) if footed else 0.0
    return Axis(low - foot, high, low, reference)


def has_band(panels: Sequence[EffectPanel]) -> bool:
    """Return whether some curve of these panels has a band around it."""
    return any(curve.band for panel in panels for curve in panel.curves)


def _known(panel: EffectPanel) -> list[list[tuple[float, float]]]:
    """Return both ends of each line that the curves are held against."""
    grid = [float(x) for curve in panel.curves for x in curve.grid if panel.lines]
    ends = (min(grid), max(grid)) if grid else ()
    return [[(x, start + slope * x) for x in ends] for start, slope in panel.lines]


def ticks_width(axis: Axis) -> float:
    """Return the width of the values left of numeric panels, gap included."""
    texts = drawing.tick_texts(axis.ticks)
    return max(typeface.width(text, SMALL) for text in texts) * parts.SLACK + 1.8


def levels(panel: EffectPanel) -> list[str]:
    """Return the levels of a category, those of the first curve first."""
    names = [str(level) for curve in panel.curves for level in curve.grid]
    return list(dict.fromkeys([*names, *(str(level) for level, _ in panel.counts)]))


class NumberPanel(NamedTuple):
    """One numeric feature in its place; `y` rises from the bottom of the plot.

    `has_values` says whether the values stand at its left.
    """

    panel: EffectPanel
    axis: Axis
    x: Scale
    y: Scale
    heading: tuple[str, ...]
    has_values: bool


def number_ends(panel: EffectPanel) -> tuple[float, float]:
    """Return the ends of the axis below a numeric panel."""
    grid = [float(x) for curve in panel.curves for x in curve.grid]
    counted_at = sorted(float(x) for x, _ in panel.counts)
    half = _least_gap(counted_at) / 2
    edges = [counted_at[0] - half, counted_at[-1] + half] if counted_at else []
    return drawing.limits([*grid, *edges], pad=0.03)


def put_number(sheet: Sheet, number: NumberPanel, look: Look, name: str) -> None:
    """Draw the curves of a numeric feature, and at the foot where its rows lie."""
    panel, axis, x, y, heading, has_values = number
    span = (x.left, x.right)
    for curve in panel.curves:  # below the lines of the grid, which stay readable
        if curve.band:
            band = sorted(zip(map(float, curve.grid), curve.band, strict=True))
            sides = [(x.at(at), y.at(low), y.at(high)) for at, (low, high) in band]
            sheet.area(*zip(*sides, strict=True), face=FILL, name="band")
    sheet.levels(span, [y.at(value) for value in axis.ticks])
    # How many rows lie where; each panel's fullest place is equally high.
    counts = sorted((x.at(float(place)), count) for place, count in panel.counts)
    half = max(0.42 * _least_gap([middle for middle, _ in counts]) or 1.7, 0.12)
    tallest = max((count for _, count in counts), default=0)
    high = 0.8 * abs(y.at(axis.floor) - y.left) / max(tallest, 1)
    for middle, count in counts:
        bar = (y.left - high * count, y.left)
        sheet.box((middle - half, middle + half), bar, face=drawing.FOOT, name="rows")
    if axis.reference is not None:
        level = (y.at(axis.reference),) * 2
        sheet.line(span, level, colour=AXIS, width=0.7, dashes=DASHED, name="reference")
    for n, (label, style) in reversed(list(enumerate(look.items()))):
        for curve in panel.curves:
            if curve.label == label:
                _put_curve(sheet, curve, (x, y), style, f"{name}-{n}")
    for line in _known(panel):  # above the curves, which would hide it
        xs, ys = [x.at(at) for at, _ in line], [y.at(value) for _, value in line]
        sheet.line(xs, ys, width=_DOTS, dashes=_DOT, name="known")
    whole = all(float(at).is_integer() for curve in panel.curves for at in curve.grid)
    numbers, texts = parts.fitting_ticks(x, grouped=x.high >= 1e4, whole=whole)
    parts.foot(sheet, x, y.left, numbers, texts)
    parts.put_heading(sheet, (x.left, y.right - 2.8), heading)
    # From grid point to grid point, what all curves say there.
    readings: dict[float, list[str]] = {}
    for curve in panel.curves:
        for at, value in zip(map(float, curve.grid), curve.values, strict=True):
            if isfinite(at) and curve.label in look:
                said = readings.setdefault(at, [f"{panel.feature} {plain_number(at)}"])
                said.append(f"{curve.label}: {significant(value, 4)}")
    grid = sorted(readings)
    middles = [x.at((one + other) / 2) for one, other in pairwise(grid)]
    for at, ends in zip(grid, pairwise([x.left, *middles, x.right]), strict=True):
        sheet.box(ends, (y.right, y.left), title="; ".join(readings[at]))
    if has_values:
        for value, text in zip(axis.ticks, drawing.tick_texts(axis.ticks), strict=True):
            sheet.label(x.left - 1.8, y.at(value), text, anchor="right")


def _put_curve(
    sheet: Sheet, curve: Curve, scales: tuple[Scale, Scale], style: Style, name: str
) -> None:
    """Draw a curve, broken at what is not finite, and its points if they are few."""
    x, y = scales
    values = sorted(zip(map(float, curve.grid), curve.values, strict=True))
    points = [
        (x.at(at), y.at(value) if isfinite(value) else nan)
        for at, value in values
        if isfinite(at)
    ]
    _put_line(sheet, [at for at, _ in points], [up for _, up in points], style, name)
    size = 3.2 if style is _LEAD else 2.2
    for at, up in points:
        if len(points) <= _FEW and isfinite(up):
            sheet.mark(at, up, "o", colour=style.colour, size=size)


def _least_gap(places: Sequence[float]) -> float:
    """Return the smallest distance of two neighbours, 0 if there is none."""
    return min((b - a for a, b in pairwise(places) if b > a), default=0.0)


class CategoryPanel(NamedTuple):
    """One category in its place.

    Attributes
    ----------
    panel : EffectPanel
    x : Scale
        Of the predictions.
    reference : float or None
    left, right, top : float
        Its edges: names begin at the left one, counts end at the right one, levels
        begin below the top.
    pitch : float
        From level to level.
    heading : tuple of str
        The lines of its name.
    """

    panel: EffectPanel
    x: Scale
    reference: float | None
    left: float
    right: float
    top: float
    pitch: float
    heading: tuple[str, ...]


def category_ends(panels: Sequence[EffectPanel], width: float) -> tuple[float, float]:
    """Return where plots begin and end between names and counts in this width.

    All alike, so that the axes of panels below each other are one.
    """
    names = [level for panel in panels for level in levels(panel)]
    wide = max(typeface.width(name, drawing.NAME) for name in names) * parts.SLACK + 3.0
    counts = [text for panel in panels for text in _counts(panel).values()]
    numbers = max((typeface.width(text, SMALL) for text in counts), default=0.0)
    right = width - (max(numbers * parts.SLACK + 3.0, 10.0) if counts else 0.0)
    return min(max(wide, 15.0), 0.55 * right), right


def put_category(
    sheet: Sheet, place: CategoryPanel, look: Look, counts_label: str, name: str
) -> None:
    """Draw one row per level: its name, its marks, its number of rows."""
    panel, x, reference, left, right, top, pitch, heading = place
    names, counts = levels(panel), _counts(panel)
    span = (top, top + pitch * len(names))
    parts.axis(sheet, x, span)
    if reference is not None:
        line = (x.at(reference),) * 2
        sheet.line(line, span, colour=AXIS, width=0.7, dashes=DASHED, name="reference")
    room = (x.left - left - 3.0) / parts.SLACK
    lines = 2 if pitch >= 2 * parts.NAME_LINE else 1
    texts = typeface.shortened(names, room, drawing.NAME, lines=lines)
    lead = next(iter(look))
    for n, (level, text) in enumerate(zip(names, texts, strict=True)):
        y = top + pitch * (n + 0.5)
        values: dict[str, float] = {}
        for curve in panel.curves:
            grid = list(map(str, curve.grid))
            at = grid.index(level) if level in grid else None
            if at is None:
                continue
            if isfinite(curve.values[at]):
                values[curve.label] = curve.values[at]
            if curve.band and all(map(isfinite, curve.band[at])):
                low, high = map(x.at, curve.band[at])
                sides = (y - _BAR / 2, y + _BAR / 2)
                sheet.box((low, high), sides, face=FILL, name="band")
        parts.put_name(sheet, text, left, y)
        if lead in values:
            start = x.left if reference is None else x.at(reference)
            sheet.line((start, x.at(values[lead])), (y, y), colour=HAIR, width=0.7)
        for k, (label, style) in reversed(list(enumerate(look.items()))):
            if label in values:  # the leading one last
                _put_mark(sheet, (x.at(values[label]), y), style, f"{name}-{n}-{k}")
        sheet.label(right, y, counts.get(level, ""), anchor="right")
        said = [f"{label}: {significant(value, 4)}" for label, value in values.items()]
        title = "; ".join([f"{panel.feature} {level}", *said])
        parts.tell(sheet, x, (y, pitch), title)
    if counts:
        sheet.label(right, top - 2.8, counts_label, anchor="right")
    parts.put_heading(sheet, (left, top - 2.8), heading)


def _counts(panel: EffectPanel) -> dict[str, str]:
    return {str(level): drawing.tick_texts((float(n),))[0] for level, n in panel.counts}


def key_lines(words: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the words of a key in lines of the sheet, by label.

    A word is cut in the middle only where a line does not hold it alone.
    """
    room = (WIDTH - _PIECE) / parts.SLACK / _BOLD
    texts = typeface.shortened(list(words.values()), room, SMALL)
    lines: list[dict[str, str]] = [{}]
    left = WIDTH
    for label, (text,) in zip(words, texts, strict=True):
        if lines[-1] and left < _key_width(text):
            lines.append({})
            left = WIDTH
        lines[-1][label] = text
        left -= _key_width(text) + _GAP
    return lines


def _key_width(text: str) -> float:
    return _PIECE + typeface.width(text, SMALL, bold=True) * parts.SLACK


def put_key(
    sheet: Sheet, lines: Sequence[Mapping[str, str]], look: Look, *, marks: bool
) -> None:
    """Write the words above all panels, each after a piece of its line and its mark."""
    for n, words in enumerate(lines):
        x, y = 0.0, 1.6 + KEY_LINE * n
        for label, text in words.items():
            style = look.get(label, Style(AXIS, 0.7, DASHED, "", 0.0))
            if label == SPREAD:
                sides = (y - _BAR / 2, y + _BAR / 2)
                sheet.box((x, x + 7.0), sides, face=FILL, name="key-band")
            else:
                _put_line(sheet, (x, x + 7.0), (y, y), style, "key")
            if marks and style.mark:
                _put_mark(sheet, (x + 3.5, y), style, "key")
            bold = style is _LEAD
            colour = parts.word_colour(style.colour)
            sheet.text(x + _PIECE, y, text, size=SMALL, colour=colour, bold=bold)
            x += _key_width(text) + _GAP


def _put_line(
    sheet: Sheet, x: Sequence[float], y: Sequence[float], style: Style, name: str
) -> None:
    dashes = style.dashes
    sheet.line(x, y, colour=style.colour, width=style.width, dashes=dashes, name=name)


def _put_mark(sheet: Sheet, at: tuple[float, float], style: Style, name: str) -> None:
    sheet.mark(*at, style.mark, colour=style.colour, size=style.size, name=name)
