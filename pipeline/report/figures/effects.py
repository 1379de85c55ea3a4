"""The figure of effects: a panel per feature, curves of numbers, dots of categories.

Numbers come first, then categories, in lines; a category is as wide as it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite, nan
from typing import Any, Literal

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
    grid: tuple[Any, ...]
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
    counts: tuple[tuple[Any, float], ...] = ()
    lines: tuple[tuple[float, float], ...] = ()

    @property
    def levels(self) -> list[str]:
        """The levels of a category, those of the first curve first."""
        names = [level for curve in self.curves for level in curve.grid]
        return list(dict.fromkeys([*names, *(level for level, _ in self.counts)]))

    @property
    def count_texts(self) -> dict[str, str]:
        """The rows of each level as text."""
        return {level: drawing.tick_texts((n,))[0] for level, n in self.counts}

    @property
    def has_missing(self) -> bool:
        """Whether some curve has a point for a number without a value."""
        return any(isfinite(curve.missing) for curve in self.curves)

    @property
    def known(self) -> list[list[tuple[float, float]]]:
        """Both ends of each line that the curves are held against."""
        grid = [x for curve in self.curves for x in curve.grid if self.lines]
        ends = (min(grid), max(grid)) if grid else ()
        return [[(x, start + slope * x) for x in ends] for start, slope in self.lines]


def draw_effects(
    panels: Sequence[EffectPanel],
    *,
    axis_label: str,
    reference: float,
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
    prediction, or NaN; its words, and those on the band, are written once, in the key.
    `paged_effects` divides panels that no page holds.
    """
    curves = [curve for panel in panels for curve in panel.curves]
    labels = (curve.label for curve in sorted(curves, key=lambda c: not c.lead))
    looks = dict(zip(dict.fromkeys(labels), drawing.SERIES, strict=False))
    has_marks = any(panel.kind == "category" for panel in panels)
    entries = [
        (label, look if has_marks else look._replace(mark=""))
        for label, look in looks.items()
    ]
    if reference_text:
        entries.append((reference_text, _REFERENCE))
    if band_text and any(curve.band for curve in curves):
        entries.append((band_text, _BAND))
    sheet = Sheet()
    top = parts.key(sheet, entries)
    parts.put_label(sheet, 0.0, top + 1.6, axis_label)
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

    # Each panel with its number, its name, how many cells it takes, how high it is.
    called = [panel.feature for panel in (*numbers, *categories)]
    headings = parts.headings(called, step - _BESIDE)
    lines: list[list[tuple[int, EffectPanel, parts.Lines, int, float]]] = []
    free = 0
    for n, panel in enumerate((*numbers, *categories)):
        cells, tall = 1, _PLOT[across]
        if panel.kind == "category":
            n_levels = len(panel.levels)
            cells, tall = needed, n_levels * (_TIGHT if n_levels > 8 else _EVEN)
        if cells > free:
            lines.append([])
            free = across
        lines[-1].append((n, panel, headings[n], cells, tall))
        free -= cells

    y = top + _LABEL
    for line in lines:
        x = left
        y += _HEADING + parts.heading_height(heading for _, _, heading, *_ in line)
        tallest = max(tall for *_, tall in line)
        for n, panel, heading, cells, tall in line:
            parts.put_heading(sheet, (x, y - 2.8), heading)
            right = x + min(cells * step - _BESIDE, _WIDEST)
            if panel.kind == "category":
                # As high as the numbers beside, where that is not too airy.
                pitch = min(tallest / len(panel.levels), _AIRY)
                n_lines = 2 if pitch >= 2 * parts.NAME_LINE else 1
                room = (wide - 3.0) / parts.SLACK
                texts = typeface.shortened(panel.levels, room, NAME, lines=n_lines)
                slot = parts.Slot(x + wide, y, right - beside)
                ends = _ends(categories, reference)
                scale = Scale(*ends, slot.left, slot.right - slot.left)
                column = parts.Column(texts, wide, pitch)
                rows = parts.put_rows(sheet, column, scale, slot, names_at=x)
                _put_category(rows, panel, right, looks, reference, n, counts_label)
            else:
                # It holds the curves and the bars.
                at = sorted(place for place, _ in panel.counts)
                half = _least_gap(at) / 2
                grid = [place for curve in panel.curves for place in curve.grid]
                grid += [place + side for place in at for side in (-half, half)]
                ends = drawing.limits(grid, pad=0.03)
                scale = Scale(*ends, x, right - _ASIDE * panel.has_missing - x)
                up = Scale(low - foot, high, y + tall, -tall)
                plot = parts.Plot(sheet, scale, up)
                _put_number(plot, panel, ticks, looks, reference, n, missing_text)
                if x == left:  # the first of a line has the numbers
                    for value, text in zip(
                        ticks, drawing.tick_texts(ticks), strict=True
                    ):
                        sheet.label(x - 1.8, up.at(value), text, anchor="right")
            x += cells * step
        y += tallest + _TICKS + _BETWEEN
    return sheet.cut(y - _BETWEEN)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""

    def fits(some: Sequence[EffectPanel]) -> bool:
        sheet = draw_effects(some, axis_label="", reference=nan, reference_text="")
        # The words on the dashed line may need a line of the key for themselves.
        return len(some) <= _MOST and sheet.height + parts.KEY_LINE <= _PAGE

    return parts.paged(panels, fits)


def _drawn(panel: EffectPanel, looks: Looks) -> list[tuple[int, Look, Curve]]:
    """Return the curves of a panel, their places in the key, the leading one last."""
    places = list(looks)
    own = [
        (places.index(c.label), looks[c.label], c)
        for c in panel.curves
        if c.label in looks
    ]
    return sorted(own, key=lambda of: -of[0])


def _ends(panels: Sequence[EffectPanel], reference: float) -> tuple[float, float]:
    """Return the ends of the axis of values that these panels share."""
    curves = [curve for panel in panels for curve in panel.curves]
    values = [value for curve in curves for value in (*curve.values, curve.missing)]
    values += [end for curve in curves for ends in curve.band for end in ends]
    values += [y for panel in panels for line in panel.known for _, y in line]
    return drawing.limits([*values, reference], pad=0.07)


def _put_number(
    plot: parts.Plot,
    panel: EffectPanel,
    ticks: Sequence[float],
    looks: Looks,
    reference: float,
    number: int,
    missing_text: str,
) -> None:
    """Draw the curves of a number, where its rows lie, and what a missing one predicts.

    Bands are drawn below the lines of the grid, which stay readable.
    """
    sheet, x, y = plot
    span, curves = (x.left, x.right), _drawn(panel, looks)
    for curve in panel.curves:
        if curve.band:
            band = sorted(zip(curve.grid, curve.band, strict=True))
            sides = [(x.at(at), y.at(low), y.at(high)) for at, (low, high) in band]
            sheet.area(*zip(*sides, strict=True), face=FILL, name="band")
    sheet.levels(span, map(y.at, ticks))
    # How many rows lie where; each panel's fullest place is equally high.
    counts = sorted((x.at(place), count) for place, count in panel.counts)
    half = max(0.42 * _least_gap([middle for middle, _ in counts]) or 1.7, 0.12)
    tallest = max((count for _, count in counts), default=0)
    high = 0.8 * _FOOT / (1 + _FOOT) * abs(y.width) / max(tallest, 1)
    for middle, count in counts:
        bar = (y.left - high * count, y.left)
        sheet.box((middle - half, middle + half), bar, face=drawing.FOOT, name="rows")
    sheet.levels(span, [y.at(reference)], _REFERENCE, name="reference")
    for n, look, curve in curves:
        known = zip(curve.grid, curve.values, strict=True)
        points = sorted((at, value) for at, value in known if isfinite(at))
        across, up = zip(*points, strict=True)
        plot.line(across, up, look, name=f"curve-{number}-{n}")
        if len(points) <= _FEW:
            for point in points:
                plot.mark(*point, Look(look.colour, size=2.2 if n else 3.2))
    for line in panel.known:  # above the curves, which would hide it
        across, up = zip(*line, strict=True)
        plot.line(across, up, _KNOWN, name="known")
    whole = all(float(at).is_integer() for curve in panel.curves for at in curve.grid)
    along = parts.fitting_ticks(x, grouped=x.high >= 1e4, whole=whole)
    parts.foot(sheet, x, y.left, *along)
    # From grid point to grid point, what all curves say there.
    readings: dict[float, list[str]] = {}
    for curve in panel.curves:
        for at, value in zip(curve.grid, curve.values, strict=True):
            if isfinite(at) and curve.label in looks:
                said = readings.setdefault(at, [f"{panel.feature} {plain_number(at)}"])
                said.append(f"{curve.label}: {significant(value, 4)}")
    grid = sorted(readings)
    middles = [x.at((one + other) / 2) for one, other in pairwise(grid)]
    for at, ends in zip(grid, pairwise([x.left, *middles, x.right]), strict=True):
        sheet.box(ends, (y.right, y.left), title="; ".join(readings[at]))
    if panel.has_missing:
        middle, said = x.right + _POINT, [f"{panel.feature} {missing_text}"]
        sheet.levels((x.right + 1.6, x.right + _ASIDE - 1.4), [y.left])
        for n, look, curve in curves:
            sheet.mark(middle, y.at(curve.missing), look, name=f"missing-{number}-{n}")
            if isfinite(curve.missing):
                said.append(f"{curve.label}: {significant(curve.missing, 4)}")
        beside = (x.right + 1.0, x.right + _ASIDE)
        sheet.box(beside, (y.right, y.left), title="; ".join(said))
        sheet.label(middle, y.left + 3.2, missing_text, anchor="center")


def _least_gap(places: Sequence[float]) -> float:
    """Return the smallest distance of two neighbours, 0 if there is none."""
    return min((b - a for a, b in pairwise(places) if b > a), default=0.0)


def _put_category(
    rows: parts.Rows,
    panel: EffectPanel,
    right: float,
    looks: Looks,
    reference: float,
    number: int,
    counts_label: str,
) -> None:
    """Draw the marks of each level, and at the `right` edge its number of rows."""
    sheet, x, counts = rows.sheet, rows.scale, panel.count_texts
    sheet.uprights([x.at(reference)], rows.span, _REFERENCE, name="reference")
    start = x.at(reference) if isfinite(reference) else x.left
    lead, *_ = looks
    for n, (level, y) in enumerate(zip(panel.levels, rows.places, strict=True)):
        values = {}
        for curve in panel.curves:
            points = dict(zip(curve.grid, curve.values, strict=True))
            values[curve.label] = points.get(level, nan)
            bands = dict(zip(curve.grid, curve.band, strict=False))
            low, high = map(x.at, bands.get(level, (nan, nan)))
            sides = (y - _BAR / 2, y + _BAR / 2)
            sheet.box((low, high), sides, face=FILL, name="band")
        hairline = start, x.at(values.get(lead, nan))
        sheet.levels(hairline, [y], Look(HAIR, 0.7))
        for k, look, curve in _drawn(panel, looks):
            at = x.at(values[curve.label])
            sheet.mark(at, y, look, name=f"level-{number}-{n}-{k}")
        sheet.label(right, y, counts.get(level, ""), anchor="right")
        known = [(label, value) for label, value in values.items() if isfinite(value)]
        said = [f"{label}: {significant(value, 4)}" for label, value in known]
        rows.tell(y, "; ".join([f"{panel.feature} {level}", *said]))
    if counts:
        sheet.label(right, rows.top - 2.8, counts_label, anchor="right")
