"""The figure of effects: a panel per feature, curves of numbers, dots of categories.

Numbers come first, then categories, in lines; a category is as wide as it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite, nan
from typing import Literal, NamedTuple

from ..text.number_text import plain_number, significant
from . import drawing, parts, typeface
from .drawing import AXIS, DASHED, FILL, HAIR, INK, NAME, WIDTH, Look, Scale, Sheet

_HEADING, _TICKS = 5.4, 5.8  # millimetres above and below a plot: its name, its ticks
_LABEL = 4.2  # for the label of the axis above all panels
_BESIDE, _BETWEEN = 7.0, 2.6
_WIDEST = 112.0  # a panel alone
_PLOT = {1: 46.0, 2: 34.0, 3: 28.0, 4: 23.0}  # height by panels side by side
_ACROSS = {1: 1, 2: 2, 3: 3, 5: 3, 6: 3, 9: 3}  # else four, and no line with one alone
_AIRY, _EVEN, _TIGHT = 6.8, 5.2, 4.2  # from level to level; tight for more than eight
_DOTS_WIDE, _NAMES_WIDE = 26.0, 56.0  # the least of the plot, the most of the names
_MOST = 12
_PAGE = parts.PAGE - 22.0  # a key of many marks takes a long caption
_FEW = 12  # grid points up to which each is marked
_BAR = 2.2  # millimetres: the height of a band at a level
_ASIDE, _POINT = 10.0, 5.6  # millimetres of the point at no value, and its place
_FOOT = 0.16  # share of a plot's height that the distribution may use
_REFERENCE = Look(AXIS, 0.7, DASHED, "")
_BAND = Look(FILL, _BAR / typeface.MM_PER_POINT, (), "")
_KNOWN = Look(INK, 2.8, (1.5, 6.0), "")  # wider than any curve, which shows between

Looks = Mapping[str, Look]


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


class _Spot(NamedTuple):
    """One panel in its place, with its name; of a category also both edges.

    Of a number `y` rises from the bottom of the plot to the top, and `ticks` are the
    values at it; of a category it counts the levels from the top down.
    """

    panel: EffectPanel
    heading: parts.Lines
    x: Scale
    y: Scale
    ticks: tuple[float, ...] = ()
    has_values: bool = False
    edges: tuple[float, float] = (0.0, WIDTH)


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

    Numbers have curves on one axis, with the distribution of the rows at the foot;
    categories have dots on an axis of their own, with the rows of each level counted.
    The leading curve is the thick blue one, or the dot. A band, where a curve has one,
    is filled light behind it. The dashed line stands at the reference, the mean
    prediction; its words, and those on the band, are written once, in the key.
    `paged_effects` divides panels that no page holds.
    """
    looks = _looks(panels)
    has_marks = any(panel.kind == "category" for panel in panels)
    entries = [
        (label, look if has_marks else look._replace(mark=""))
        for label, look in looks.items()
    ]
    if reference is not None and reference_text:
        entries.append((reference_text, _REFERENCE))
    if band_text and any(curve.band for panel in panels for curve in panel.curves):
        entries.append((band_text, _BAND))
    sheet = Sheet()
    top = parts.key(sheet, entries)
    spots, height = _layout(panels, reference, top)
    parts.put_label(sheet, 0.0, top + 1.6, axis_label)
    for n, spot in enumerate(spots):
        if spot.panel.kind == "number":
            _put_number(sheet, spot, looks, reference, str(n))
            _put_missing(sheet, spot, looks, f"missing-{n}", missing_text)
        else:
            _put_category(sheet, spot, looks, reference, counts_label, f"level-{n}")
    return sheet.cut(height)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""

    def fits(some: Sequence[EffectPanel]) -> bool:
        # The words on the dashed line may need a line of the key for themselves.
        top = parts.key(Sheet(), [*_looks(some).items()]) + parts.KEY_LINE
        return len(some) <= _MOST and _layout(some, None, top)[1] <= _PAGE

    return parts.paged(panels, fits)


def _drawn(panel: EffectPanel, looks: Looks) -> list[tuple[int, Look, Curve]]:
    """Return the curves of a panel, their places in the key, the leading one last."""
    places = {label: n for n, label in enumerate(looks)}
    own = [c for c in panel.curves if c.label in looks]
    own.sort(key=lambda curve: -places[curve.label])
    return [(places[curve.label], looks[curve.label], curve) for curve in own]


def _looks(panels: Sequence[EffectPanel]) -> dict[str, Look]:
    """Return the look of each curve by its label, the leading ones first."""
    curves = sorted(
        (c for panel in panels for c in panel.curves), key=lambda c: not c.lead
    )
    labels = dict.fromkeys(curve.label for curve in curves)
    return dict(zip(labels, drawing.SERIES, strict=False))


def _layout(
    panels: Sequence[EffectPanel], reference: float | None, top: float
) -> tuple[list[_Spot], float]:
    """Return all panels in their places below `top`, and where they end."""
    numbers = [panel for panel in panels if panel.kind == "number"]
    categories = [panel for panel in panels if panel.kind == "category"]
    across = _ACROSS.get(len(panels), 4)
    low, high = _ends(numbers, reference)
    ticks = drawing.ticks(low, high, most=4)
    ticks = ticks if len(ticks) > 2 else drawing.ticks(low, high, most=6)
    foot = _FOOT * (high - low) * any(panel.counts for panel in numbers)
    left = parts.widest(drawing.tick_texts(ticks)) + 1.8 if numbers else 0.0
    step = (WIDTH - left + _BESIDE) / across
    # Names and counts of all levels are as wide, so that plots begin and end alike.
    names = [level for panel in categories for level in panel.levels]
    wide = max((typeface.width(name, NAME) for name in names), default=0.0)
    wide = min(max(wide * parts.SLACK + 3.0, 15.0), _NAMES_WIDE)
    counts = [text for panel in categories for text in panel.count_texts.values()]
    beside = max(parts.widest(counts) + 3.0, 10.0) if counts else 0.0
    needed = min(ceil((wide + _DOTS_WIDE + beside + _BESIDE) / step), across)

    def height(panel: EffectPanel) -> float:
        n = len(panel.levels)
        return (
            n * (_TIGHT if n > 8 else _EVEN) if panel in categories else _PLOT[across]
        )

    lines: list[list[EffectPanel]] = []
    free = 0
    for panel in (*numbers, *categories):
        cells = needed if panel in categories else 1
        if cells > free:
            lines.append([])
            free = across
        lines[-1].append(panel)
        free -= cells
    called = [panel.feature for line in lines for panel in line]
    headings = list(parts.headings(called, step - _BESIDE))
    spots: list[_Spot] = []
    y = top + _LABEL
    for line in lines:
        own = headings[len(spots) : len(spots) + len(line)]
        y += _HEADING + parts.heading_height(own)
        x, tallest = left, max(map(height, line))
        for n, (panel, heading) in enumerate(zip(line, own, strict=True)):
            cells = needed if panel in categories else 1
            right = x + min(cells * step - _BESIDE, _WIDEST)
            if panel in categories:
                plot = Scale(*_ends(categories, reference), x + wide, 0.0)
                plot = plot._replace(width=right - beside - plot.left)
                n_levels = len(panel.levels)
                # As high as the numbers beside, where that is not too airy.
                down = min(tallest, _AIRY * n_levels)
                rows = Scale(0.0, n_levels, y, down)
                spots.append(_Spot(panel, heading, plot, rows, edges=(x, right)))
            else:
                plot = _across(panel, x, right - _ASIDE * panel.has_missing)
                up = Scale(low - foot, high, y + _PLOT[across], -_PLOT[across])
                spots.append(_Spot(panel, heading, plot, up, ticks, n == 0))
            x += cells * step
        y += tallest + _TICKS + _BETWEEN
    return spots, y - _BETWEEN


def _ends(
    panels: Sequence[EffectPanel], reference: float | None
) -> tuple[float, float]:
    """Return the ends of the axis of values that these panels share."""
    curves = [curve for panel in panels for curve in panel.curves]
    values = [value for curve in curves for value in (*curve.values, curve.missing)]
    values += [end for curve in curves for ends in curve.band for end in ends]
    values += [y for panel in panels for line in panel.known for _, y in line]
    values += [] if reference is None else [reference]
    return drawing.limits(values, pad=0.07)


def _across(panel: EffectPanel, left: float, right: float) -> Scale:
    """Return the scale of a number, which holds its curves and its bars."""
    grid = [float(x) for curve in panel.curves for x in curve.grid]
    at = sorted(float(x) for x, _ in panel.counts)
    half = _least_gap(at) / 2
    grid += [x + side for x in at for side in (-half, half)]
    return Scale(*drawing.limits(grid, pad=0.03), left, right - left)


def _put_number(
    sheet: Sheet, spot: _Spot, looks: Looks, reference: float | None, name: str
) -> None:
    """Draw the curves of a numeric feature, and at the foot where its rows lie."""
    panel, x, y = spot.panel, spot.x, spot.y
    span = (x.left, x.right)
    for curve in panel.curves:  # below the lines of the grid, which stay readable
        if curve.band:
            band = sorted(zip(map(float, curve.grid), curve.band, strict=True))
            sides = [(x.at(at), y.at(low), y.at(high)) for at, (low, high) in band]
            sheet.area(*zip(*sides, strict=True), face=FILL, name="band")
    sheet.levels(span, [y.at(value) for value in spot.ticks])
    # How many rows lie where; each panel's fullest place is equally high.
    counts = sorted((x.at(float(place)), count) for place, count in panel.counts)
    half = max(0.42 * _least_gap([middle for middle, _ in counts]) or 1.7, 0.12)
    tallest = max((count for _, count in counts), default=0)
    high = 0.8 * _FOOT / (1 + _FOOT) * abs(y.width) / max(tallest, 1)
    for middle, count in counts:
        bar = (y.left - high * count, y.left)
        sheet.box((middle - half, middle + half), bar, face=drawing.FOOT, name="rows")
    if reference is not None:
        level = (y.at(reference),) * 2
        sheet.line(span, level, _REFERENCE, name="reference")
    for n, look, curve in _drawn(panel, looks):
        values = sorted(zip(map(float, curve.grid), curve.values, strict=True))
        points = [
            (x.at(at), y.at(value) if isfinite(value) else nan)
            for at, value in values
            if isfinite(at)
        ]
        across, ups = zip(*points, strict=True)
        sheet.line(across, ups, look, name=f"curve-{name}-{n}")
        dot = Look(look.colour, size=2.2 if n else 3.2)
        for at, up in points:
            if len(points) <= _FEW and isfinite(up):
                sheet.mark(at, up, dot)
    for line in panel.known:  # above the curves, which would hide it
        xs, ys = [x.at(at) for at, _ in line], [y.at(value) for _, value in line]
        sheet.line(xs, ys, _KNOWN, name="known")
    whole = all(float(at).is_integer() for curve in panel.curves for at in curve.grid)
    ticks = parts.fitting_ticks(x, grouped=x.high >= 1e4, whole=whole)
    parts.foot(sheet, x, y.left, *ticks)
    parts.put_heading(sheet, (x.left, y.right - 2.8), spot.heading)
    # From grid point to grid point, what all curves say there.
    readings: dict[float, list[str]] = {}
    for curve in panel.curves:
        for at, value in zip(map(float, curve.grid), curve.values, strict=True):
            if isfinite(at) and curve.label in looks:
                said = readings.setdefault(at, [f"{panel.feature} {plain_number(at)}"])
                said.append(f"{curve.label}: {significant(value, 4)}")
    grid = sorted(readings)
    middles = [x.at((one + other) / 2) for one, other in pairwise(grid)]
    for at, ends in zip(grid, pairwise([x.left, *middles, x.right]), strict=True):
        sheet.box(ends, (y.right, y.left), title="; ".join(readings[at]))
    if spot.has_values:
        for value, text in zip(spot.ticks, drawing.tick_texts(spot.ticks), strict=True):
            sheet.label(x.left - 1.8, y.at(value), text, anchor="right")


def _put_missing(sheet: Sheet, spot: _Spot, looks: Looks, name: str, text: str) -> None:
    """Draw beside a numeric panel what is predicted for a missing value, if known."""
    panel, x, y = spot.panel, spot.x, spot.y
    if not panel.has_missing:
        return
    at = x.right + _POINT
    said = [f"{panel.feature} {text}"]
    sheet.levels((x.right + 1.6, x.right + _ASIDE - 1.4), [y.left])
    for n, look, curve in _drawn(panel, looks):
        if isfinite(curve.missing):
            sheet.mark(at, y.at(curve.missing), look, name=f"{name}-{n}")
            said.append(f"{curve.label}: {significant(curve.missing, 4)}")
    sides = (x.right + 1.0, x.right + _ASIDE)
    sheet.box(sides, (y.right, y.left), title="; ".join(said))
    sheet.label(at, y.left + 3.2, text, anchor="center")


def _least_gap(places: Sequence[float]) -> float:
    """Return the smallest distance of two neighbours, 0 if there is none."""
    return min((b - a for a, b in pairwise(places) if b > a), default=0.0)


def _put_category(
    sheet: Sheet,
    spot: _Spot,
    looks: Looks,
    reference: float | None,
    counts_label: str,
    name: str,
) -> None:
    """Draw one row per level: its name, its marks, its number of rows."""
    panel, x = spot.panel, spot.x
    left, right = spot.edges
    names, counts = panel.levels, panel.count_texts
    top, pitch = spot.y.left, spot.y.width / len(names)
    span = (top, spot.y.right)
    parts.axis(sheet, x, span)
    if reference is not None:
        upright = (x.at(reference),) * 2
        sheet.line(upright, span, _REFERENCE, name="reference")
    room = (x.left - left - 3.0) / parts.SLACK
    lines = 2 if pitch >= 2 * parts.NAME_LINE else 1
    texts = typeface.shortened(names, room, NAME, lines=lines)
    for n, (level, text) in enumerate(zip(names, texts, strict=True)):
        y = spot.y.at(n + 0.5)
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
        if (lead := next(iter(looks))) in values:
            start = x.left if reference is None else x.at(reference)
            sheet.line((start, x.at(values[lead])), (y, y), Look(HAIR, 0.7))
        for k, look, curve in _drawn(panel, looks):
            if curve.label in values:
                at_value = x.at(values[curve.label])
                sheet.mark(at_value, y, look, name=f"{name}-{n}-{k}")
        sheet.label(right, y, counts.get(level, ""), anchor="right")
        said = [f"{label}: {significant(value, 4)}" for label, value in values.items()]
        title = "; ".join([f"{panel.feature} {level}", *said])
        parts.tell(sheet, x, (y, pitch), title)
    if counts:
        sheet.label(right, top - 2.8, counts_label, anchor="right")
    parts.put_heading(sheet, (left, top - 2.8), spot.heading)
