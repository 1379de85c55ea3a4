"""The figure of effects: curves of numbers as small multiples, categories as dots.

Numbers stand in a block of small multiples, categories in columns. Both blocks stand
side by side where that is lower, else below each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan
from typing import Literal, NamedTuple

from ..text.number_text import plain_number, significant
from . import drawing, parts, typeface
from .drawing import (
    AXIS,
    BLUE,
    DASHED,
    FILL,
    HAIR,
    INK,
    NAME,
    SMALL,
    WIDTH,
    Scale,
    Sheet,
)

_HEADING, _TICKS = 5.4, 5.8  # millimetres above and below a plot: its name, its ticks
_LABEL = 4.2  # for the label of the axis above a block
_BESIDE, _BETWEEN = 7.0, 2.6
_SPLIT = 106.0  # where numbers end that have categories beside them
_WIDEST = 112.0  # a panel alone
_AIRY, _TIGHT = 6.8, 4.2  # from level to level
_PLOT = {1: 46.0, 2: 34.0, 3: 28.0, 4: 26.0}  # height by panels side by side
_LOW = {1: 46.0, 2: 30.0, 3: 24.0, 4: 21.0}  # where that is more than a page
_LONG_CAPTION = 22.0  # millimetres that a key of many marks takes below a full page
_SPLIT_PLOT = 25.0
# Numbers side by side by how many there are: no line with one panel alone.
_ACROSS = {0: 1, 1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 3, 9: 3}
_MOST = 12
_FEW = 12  # grid points up to which each is marked
_DOTS, _DOT = 2.8, (1.5, 6.0)  # points: wider than any curve, which shows between
_KEY_LINE = 4.2
_PIECE, _GAP = 8.6, 5.0  # of a key: the piece of line before a word, and the room after
_BOLD = 1.2  # bold words are at most so many times as wide
_BAR = 2.2  # millimetres: the height of a band at a level
_ASIDE, _POINT = 9.0, 4.6  # millimetres that the point at no value takes, and its place
_FOOT = 0.16  # share of a plot's height that the distribution may use


@dataclass(frozen=True)
class Curve:
    """One line, or one row of dots, of a panel; the one that leads is drawn thick.

    The grid holds numbers, or the levels as text; the band has its lower and upper end
    at each point, or nothing. `missing` is what a number without a value predicts.
    """

    label: str
    grid: tuple[float | str, ...]
    values: tuple[float, ...]
    lead: bool
    band: tuple[tuple[float, float], ...] = ()
    missing: float = nan


@dataclass(frozen=True)
class EffectPanel:
    """One feature, the curves of all models.

    `counts` are the rows, or their weight, at each position or level; `lines` the
    intercept and slope of each straight line that the curves are held against.
    """

    feature: str
    kind: Literal["number", "category"]
    curves: tuple[Curve, ...]
    counts: tuple[tuple[float | str, float], ...] = ()
    lines: tuple[tuple[float, float], ...] = ()

    @property
    def levels(self) -> list[str]:
        """The levels of a category, those of the first curve first."""
        names = [str(level) for curve in self.curves for level in curve.grid]
        return list(dict.fromkeys([*names, *(str(level) for level, _ in self.counts)]))

    @property
    def count_texts(self) -> dict[str, str]:
        """The rows of each level as text."""
        return {str(at): drawing.tick_texts((float(n),))[0] for at, n in self.counts}

    @property
    def has_missing(self) -> bool:
        """Whether some curve has a point for a number without a value."""
        return any(isfinite(curve.missing) for curve in self.curves)

    @property
    def known(self) -> list[list[tuple[float, float]]]:
        """Both ends of each line that the curves are held against."""
        grid = [float(x) for curve in self.curves for x in curve.grid if self.lines]
        ends = (min(grid), max(grid)) if grid else ()
        return [[(x, start + slope * x) for x in ends] for start, slope in self.lines]


class Style(NamedTuple):
    """How one curve looks in every panel: line and mark."""

    colour: str
    width: float
    dashes: tuple[float, ...]
    mark: str
    size: float


STYLES = (
    Style(BLUE, 1.7, (), "o", 4.2),
    Style(AXIS, 0.9, (), "|", 5.6),
    Style(INK, 0.9, (3.0, 1.5), "x", 3.6),
    Style(AXIS, 1.1, (1.0, 1.2), "v", 3.8),
    Style(INK, 0.9, (5.0, 1.2, 1.0, 1.2), "+", 4.6),
    Style(BLUE, 0.9, (1.5, 1.5), "D", 3.2),
)
"""The look of each curve, the leading one first: told apart without colour."""
_REFERENCE = Style(AXIS, 0.7, DASHED, "", 0.0)
Look = Mapping[str, Style]


class _Axis(NamedTuple):
    """The axis of values that panels share; below the floor stands the distribution."""

    low: float
    high: float
    floor: float

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round values of a numeric panel."""
        few = drawing.ticks(self.floor, self.high, most=4)
        return few if len(few) > 2 else drawing.ticks(self.floor, self.high, most=6)


class _Number(NamedTuple):
    """One numeric feature in its place; `y` rises from the bottom of the plot."""

    panel: EffectPanel
    axis: _Axis
    x: Scale
    y: Scale
    heading: parts.Lines
    has_values: bool


class _Category(NamedTuple):
    """One category in its place: its edges, and from level to level."""

    panel: EffectPanel
    x: Scale
    left: float
    right: float
    top: float
    pitch: float
    heading: parts.Lines


class _Plan(NamedTuple):
    """All panels in their places; of an axis label left end, middle, right edge."""

    numbers: list[_Number]
    categories: list[_Category]
    labels: list[tuple[float, float, float]]
    height: float


def draw_effects(
    panels: Sequence[EffectPanel],
    *,
    axis_label: str,
    reference: float | None,
    reference_text: str,
    counts_label: str = "rows",
    band_text: str = "",
    missing_text: str = "",
) -> Sheet:
    """Return how predictions move with each feature.

    Numbers are small multiples on one axis, with the distribution of the rows at the
    foot; categories are dot plots on an axis of their own, with the rows of each
    level counted. The leading curve is the thick blue one, or the dot. A band, where a
    curve has one, is filled light behind it. The dashed line stands at the reference,
    the mean prediction; its words, and those on the band, are written once, in the
    key. `paged_effects` divides panels that no page holds.
    """
    curves = [curve for panel in panels for curve in panel.curves]
    leads = [curve.label for curve in curves if curve.lead]
    labels = dict.fromkeys([*leads, *(curve.label for curve in curves)])
    look = dict(zip(labels, STYLES[: len(labels)], strict=True))
    words: list[tuple[str, Style | None]] = [*look.items()]
    if reference is not None and reference_text:
        words.append((reference_text, _REFERENCE))
    if band_text and any(curve.band for curve in curves):
        words.append((band_text, None))
    key = _key_lines([text for text, _ in words])
    plan = _layout(panels, reference, _KEY_LINE * len(key))
    sheet = Sheet()
    styles = iter(style for _, style in words)
    for n, line in enumerate(key):
        x, y = 0.0, 1.6 + _KEY_LINE * n
        for text in line:
            style = next(styles)
            _put_sample(sheet, x, y, style, with_mark=bool(plan.categories))
            colour = parts.word_colour(style.colour if style else AXIS)
            is_lead = style is STYLES[0]
            sheet.text(x + _PIECE, y, text, size=SMALL, colour=colour, bold=is_lead)
            x += _key_width(text) + _GAP
    for x, y, right in plan.labels:
        parts.put_label(sheet, x, y, axis_label, right=right, lines=2)
    for n, number in enumerate(plan.numbers):
        _put_number(sheet, number, look, reference, f"curve-{n}")
        _put_missing(sheet, number, look, f"missing-{n}", missing_text)
    for n, category in enumerate(plan.categories):
        _put_category(sheet, category, look, reference, counts_label, f"level-{n}")
    return sheet.cut(plan.height)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""

    def fits(some: Sequence[EffectPanel]) -> bool:
        labels = dict.fromkeys(c.label for panel in some for c in panel.curves)
        # The line across may need a line of the key for itself.
        top = _KEY_LINE * (len(_key_lines(list(labels))) + 1)
        return len(some) <= _MOST and _layout(some, None, top).height <= parts.PAGE

    return parts.paged(panels, fits)


def _key_lines(words: Sequence[str]) -> list[list[str]]:
    """Return the words of a key in lines of the sheet.

    A word is cut in the middle only where a line does not hold it alone.
    """
    room = (WIDTH - _PIECE) / parts.SLACK / _BOLD
    lines: list[list[str]] = [[]]
    left = WIDTH
    for (text,) in typeface.shortened(words, room, SMALL):
        if lines[-1] and left < _key_width(text):
            lines.append([])
            left = WIDTH
        lines[-1].append(text)
        left -= _key_width(text) + _GAP
    return lines


def _key_width(text: str) -> float:
    return _PIECE + parts.wide(text, bold=True)


def _put_sample(
    sheet: Sheet, x: float, y: float, style: Style | None, *, with_mark: bool
) -> None:
    """Draw a piece of line with its mark, or without a style a piece of band."""
    if style is None:
        sides = (y - _BAR / 2, y + _BAR / 2)
        sheet.box((x, x + 7.0), sides, face=FILL, name="key-band")
        return
    _put_line(sheet, (x, x + 7.0), (y, y), style, "key")
    if with_mark and style.mark:
        _put_mark(sheet, (x + 3.5, y), style, "key")


def _layout(
    panels: Sequence[EffectPanel], reference: float | None, top: float
) -> _Plan:
    """Return the lower of both layouts, below `top`, with low plots on a full page."""
    numbers = [panel for panel in panels if panel.kind == "number"]
    categories = [panel for panel in panels if panel.kind == "category"]
    both = numbers, categories
    for plots in (_PLOT, _LOW):
        plan = _plan(*both, reference, top, plots)
        if numbers and categories:
            beside = _plan(*both, reference, top, None)
            plan = beside if beside.height <= 1.1 * plan.height else plan
        if plan.height <= parts.PAGE - _LONG_CAPTION:
            break
    return plan


def _plan(
    numbers: Sequence[EffectPanel],
    categories: Sequence[EffectPanel],
    reference: float | None,
    top: float,
    plots: Mapping[int, float] | None,
) -> _Plan:
    """Return numbers as high as `plots` over the whole width, categories under them.

    Without `plots`, numbers at the left and one column of categories at the right.
    """
    if plots is None:
        across, right, plot = min(len(numbers), 2), _SPLIT, _SPLIT_PLOT
    else:
        across = _ACROSS.get(len(numbers), 4)
        right, plot = WIDTH, plots[across]
    axis = _value_axis(numbers, reference)
    spots, bottom = _numbers(numbers, axis, (top, right), across, plot)
    labels = [(0.0, top + 1.6, right)] * bool(numbers)

    levels = [panel.levels for panel in categories]
    if plots is None:
        place, across = (_SPLIT + _BESIDE, top, WIDTH), 1
        # As high as the numbers, where that is neither airy nor tight.
        fixed = len(levels) * (_HEADING + _TICKS + _BETWEEN) - _BETWEEN
        even = (bottom - top - _LABEL - fixed) / sum(map(len, levels))
        pitch = min(_AIRY, max(_TIGHT, even))
    else:
        start = bottom + (5.0 if numbers and categories else 0.0)
        place = 0.0, start, _WIDEST if len(categories) == 1 else WIDTH
        across = min(
            len(categories),
            2 if any(len(name) > 10 for own in levels for name in own) else 3,
        )
        pitch = _TIGHT if plots is _LOW else 0.0
    axis = _value_axis(categories, reference)
    rows, end = _columns(categories, axis, place, across, pitch)
    labels += [(place[0], place[1] + 1.6, WIDTH)] * bool(categories)
    return _Plan(spots, rows, labels, max(bottom, end))


def _value_axis(panels: Sequence[EffectPanel], reference: float | None) -> _Axis:
    """Return the axis of these panels; numbers with counts get a foot below it."""
    curves = [curve for panel in panels for curve in panel.curves]
    values = [value for curve in curves for value in curve.values]
    values += [end for curve in curves for ends in curve.band for end in ends]
    values += [curve.missing for curve in curves]
    values += [y for panel in panels for line in panel.known for _, y in line]
    values += [] if reference is None else [reference]
    low, high = drawing.limits(values, pad=0.07)
    footed = any(panel.kind == "number" and panel.counts for panel in panels)
    return _Axis(low - (_FOOT * (high - low) if footed else 0.0), high, low)


def _numbers(
    panels: Sequence[EffectPanel],
    axis: _Axis,
    corner: tuple[float, float],
    across: int,
    plot: float,
) -> tuple[list[_Number], float]:
    """Return the numbers in lines, and where they end; `corner` is top and right."""
    top, right = corner
    if not panels:
        return [], top
    left = parts.widest(drawing.tick_texts(axis.ticks)) + 1.8
    width = (right - left - _BESIDE * (across - 1)) / across
    headings = parts.headings([panel.feature for panel in panels], width)
    spots, y = [], top + _LABEL
    for n, (panel, heading) in enumerate(zip(panels, headings, strict=True)):
        column = n % across
        if column == 0:
            y += _HEADING + parts.heading_height(headings[n : n + across])
        grid = [float(x) for curve in panel.curves for x in curve.grid]
        at = sorted(float(x) for x, _ in panel.counts)
        half = _least_gap(at) / 2
        ends = drawing.limits(
            [*grid, *(x + half for x in at), *(x - half for x in at)], pad=0.03
        )
        start = left + column * (width + _BESIDE)
        wide = min(width, _WIDEST) - _ASIDE * panel.has_missing
        scales = (
            Scale(*ends, start, wide),
            Scale(axis.low, axis.high, y + plot, -plot),
        )
        spots.append(_Number(panel, axis, *scales, heading, column == 0))
        if column == across - 1 or n == len(panels) - 1:
            y += plot + _TICKS + _BETWEEN
    return spots, y - _BETWEEN


def _columns(
    panels: Sequence[EffectPanel],
    axis: _Axis,
    place: tuple[float, float, float],
    across: int,
    pitch: float,
) -> tuple[list[_Category], float]:
    """Return the categories, each in the column that ends first, and the end.

    `place` is left end, top, right end. A `pitch` of 0 follows from the levels.
    """
    left, top, right = place
    if not panels:
        return [], top
    width = (right - left - _BESIDE * (across - 1)) / across
    # Plots begin and end alike, so that the axes of panels below each other are one.
    names = [level for panel in panels for level in panel.levels]
    wide = max(typeface.width(name, NAME) for name in names) * parts.SLACK + 3.0
    counts = [text for panel in panels for text in panel.count_texts.values()]
    end = width - (max(parts.widest(counts) + 3.0, 10.0) if counts else 0.0)
    start = min(max(wide, 15.0), 0.55 * end)
    ends = [top + _LABEL] * across
    headings = parts.headings([panel.feature for panel in panels], end)
    spots = []
    for panel, heading in zip(panels, headings, strict=True):
        column, n_levels = ends.index(min(ends)), len(panel.levels)
        x = left + column * (width + _BESIDE)
        step = pitch or (_TIGHT if n_levels > 8 else 5.2)
        scale = Scale(axis.low, axis.high, x + start, end - start)
        edges = x, x + width, ends[column] + _HEADING + parts.heading_height([heading])
        spots.append(_Category(panel, scale, *edges, step, heading))
        ends[column] = edges[2] + step * n_levels + _TICKS + _BETWEEN
    return spots, max(ends) - _BETWEEN


def _put_number(
    sheet: Sheet, number: _Number, look: Look, reference: float | None, name: str
) -> None:
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
    if reference is not None:
        _put_line(sheet, span, (y.at(reference),) * 2, _REFERENCE, "reference")
    for n, (label, style) in reversed(list(enumerate(look.items()))):
        for curve in panel.curves:
            if curve.label == label:
                _put_curve(sheet, curve, (x, y), style, f"{name}-{n}")
    for line in panel.known:  # above the curves, which would hide it
        xs, ys = [x.at(at) for at, _ in line], [y.at(value) for _, value in line]
        sheet.line(xs, ys, width=_DOTS, dashes=_DOT, name="known")
    whole = all(float(at).is_integer() for curve in panel.curves for at in curve.grid)
    ticks = parts.fitting_ticks(x, grouped=x.high >= 1e4, whole=whole)
    parts.foot(sheet, x, y.left, *ticks)
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


def _put_missing(
    sheet: Sheet, number: _Number, look: Look, name: str, text: str
) -> None:
    """Draw beside a numeric panel what is predicted for a missing value, if known."""
    panel, x, y = number.panel, number.x, number.y
    if not panel.has_missing:
        return
    at = x.right + _POINT
    said = [f"{panel.feature} {text}"]
    sheet.levels((x.right + 1.6, x.right + _ASIDE - 1.4), [y.left])
    for n, (label, style) in reversed(list(enumerate(look.items()))):
        for curve in panel.curves:
            if curve.label == label and isfinite(curve.missing):
                _put_mark(sheet, (at, y.at(curve.missing)), style, f"{name}-{n}")
                said.append(f"{label}: {significant(curve.missing, 4)}")
    sides = (x.right + 1.0, x.right + _ASIDE)
    sheet.box(sides, (y.right, y.left), title="; ".join(said))
    sheet.label(at, y.left + 3.2, text, anchor="center")


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
    size = 3.2 if style is STYLES[0] else 2.2
    for at, up in points:
        if len(points) <= _FEW and isfinite(up):
            sheet.mark(at, up, "o", colour=style.colour, size=size)


def _least_gap(places: Sequence[float]) -> float:
    """Return the smallest distance of two neighbours, 0 if there is none."""
    return min((b - a for a, b in pairwise(places) if b > a), default=0.0)


def _put_category(
    sheet: Sheet,
    place: _Category,
    look: Look,
    reference: float | None,
    counts_label: str,
    name: str,
) -> None:
    """Draw one row per level: its name, its marks, its number of rows."""
    panel, x, left, right, top, pitch, heading = place
    names, counts = panel.levels, panel.count_texts
    span = (top, top + pitch * len(names))
    parts.axis(sheet, x, span)
    if reference is not None:
        _put_line(sheet, (x.at(reference),) * 2, span, _REFERENCE, "reference")
    room = (x.left - left - 3.0) / parts.SLACK
    lines = 2 if pitch >= 2 * parts.NAME_LINE else 1
    texts = typeface.shortened(names, room, NAME, lines=lines)
    for n, (level, text) in enumerate(zip(names, texts, strict=True)):
        y = top + pitch * (n + 0.5)
        values: dict[str, float] = {}
        for curve in panel.curves:
            grid = list(map(str, curve.grid))
            if level not in grid:
                continue
            at = grid.index(level)
            if isfinite(curve.values[at]):
                values[curve.label] = curve.values[at]
            if curve.band and all(map(isfinite, curve.band[at])):
                low, high = map(x.at, curve.band[at])
                sides = (y - _BAR / 2, y + _BAR / 2)
                sheet.box((low, high), sides, face=FILL, name="band")
        parts.put_name(sheet, text, left, y)
        if (lead := next(iter(look))) in values:
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


def _put_line(
    sheet: Sheet, x: Sequence[float], y: Sequence[float], style: Style, name: str
) -> None:
    colour, width, dashes = style[:3]
    sheet.line(x, y, colour=colour, width=width, dashes=dashes, name=name)


def _put_mark(sheet: Sheet, at: tuple[float, float], style: Style, name: str) -> None:
    sheet.mark(*at, style.mark, colour=style.colour, size=style.size, name=name)
