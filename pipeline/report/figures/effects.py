"""The figure of effects: one panel per feature, curves of numbers, dots of categories.

Panels are placed in lines, those of numbers first, then those of categories. A panel of
a category takes as many places of a line as its level names need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite, nan
from typing import Any, Literal

from ..text.number_text import plain_number, significant
from . import drawing, parts, typeface
from .drawing import AXIS, DASHED, FILL, HAIR, NAME, WIDTH, Look, Scale, Sheet

_HEADING, _TICKS = 5.4, 5.8  # millimetres above and below a plot: its name, its ticks
_LABEL = 4.2  # for the label of the axis above all panels
_COLUMN_GAP, _LINE_GAP = 7.0, 2.6  # between panels side by side, and below each other
_WIDEST = 112.0  # a single panel
_PLOT = {1: 46.0, 2: 34.0, 3: 28.0, 4: 23.0}  # height by panels side by side
# Panels side by side by their number, else four; no line has a single panel.
_ACROSS = {1: 1, 2: 2, 3: 3, 5: 3, 6: 3, 9: 3}
# Most, usual and least mm from level to level; the least for more than eight levels.
_AIRY, _EVEN, _TIGHT = 6.8, 5.2, 4.2
_DOTS_WIDE, _NAMES_WIDE = 26.0, 56.0  # least width of a plot, most of its level names
_MOST = 12
_PAGE = parts.PAGE - 22.0  # a key of many marks has a long caption
_FEW = 12  # most grid points of a curve with a mark at each
_BAR = 2.2  # millimetres: the height of a band at a level
_MISSING, _POINT = 10.0, 5.6  # mm right of the plot for missing values, and their mark
_FOOT = 0.16  # share of a plot's height that the distribution may use
_REFERENCE = Look(AXIS, 0.7, DASHED, "")
_BAND = Look(FILL, _BAR / typeface.MM_PER_POINT, (), "")

Looks = Mapping[str, Look]


@dataclass(frozen=True)
class Curve:
    """One curve, or one series of dots, of a panel; with `lead` it is drawn thick.

    `grid` has numbers, or the levels as text; `band` the lower and upper end at each
    point, or is empty. `missing` is the prediction where the feature is missing.
    """

    label: str
    grid: tuple[Any, ...]
    values: tuple[float, ...]
    lead: bool
    band: tuple[tuple[float, float], ...] = ()
    missing: float = nan


@dataclass(frozen=True)
class EffectPanel:
    """One feature with the curves of all models.

    `counts` are the rows, or their weight, at each position or level.
    """

    feature: str
    kind: Literal["number", "category"]
    curves: tuple[Curve, ...]
    counts: tuple[tuple[Any, float], ...] = ()

    @property
    def levels(self) -> list[str]:
        """Levels of a category, those of the first curve first."""
        names = [level for curve in self.curves for level in curve.grid]
        return list(dict.fromkeys([*names, *(level for level, _ in self.counts)]))

    @property
    def count_texts(self) -> dict[str, str]:
        """Number of rows of each level as text."""
        return {level: drawing.tick_texts((n,))[0] for level, n in self.counts}

    @property
    def has_missing(self) -> bool:
        """Whether some curve has a prediction for missing values."""
        return any(isfinite(curve.missing) for curve in self.curves)


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
    """Return the predictions as functions of each feature.

    Numbers have curves on one axis of predictions, with the distribution of the rows at
    the bottom; categories have dots on a second axis, with the number of rows of each
    level. The leading curve is thick and blue, or a filled dot. A band is a light area
    behind its curve. The dashed line is the reference, the mean prediction (NaN: none);
    its text and that of the band are in the key. `paged_effects` divides panels that do
    not fit on one page.
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
    step = (WIDTH - left + _COLUMN_GAP) / across
    # All panels of categories give names and counts the same widths: plots are aligned.
    names = [level for panel in categories for level in panel.levels]
    wide = max((typeface.width(name, NAME) for name in names), default=0.0)
    wide = min(max(wide * parts.SLACK + 3.0, 15.0), _NAMES_WIDE)
    counts = [text for panel in categories for text in panel.count_texts.values()]
    counts_wide = max(parts.widest(counts) + 3.0, 10.0) if counts else 0.0
    needed = wide + _DOTS_WIDE + counts_wide + _COLUMN_GAP
    needed_cells = min(ceil(needed / step), across)

    # Each panel with its number, heading, width in cells and height.
    titles = [panel.feature for panel in (*numbers, *categories)]
    headings = parts.headings(titles, step - _COLUMN_GAP)
    lines: list[list[tuple[int, EffectPanel, parts.Lines, int, float]]] = []
    free = 0
    for n, panel in enumerate((*numbers, *categories)):
        cells, tall = 1, _PLOT[across]
        if panel.kind == "category":
            n_levels = len(panel.levels)
            cells, tall = needed_cells, n_levels * (_TIGHT if n_levels > 8 else _EVEN)
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
            right = x + min(cells * step - _COLUMN_GAP, _WIDEST)
            if panel.kind == "category":
                # As high as the highest panel of the line, up to _AIRY per level.
                pitch = min(tallest / len(panel.levels), _AIRY)
                n_lines = 2 if pitch >= 2 * parts.NAME_LINE else 1
                room = (wide - 3.0) / parts.SLACK
                texts = typeface.shortened(panel.levels, room, NAME, lines=n_lines)
                slot = parts.Slot(x + wide, y, right - counts_wide)
                ends = _ends(categories, reference)
                scale = Scale(*ends, slot.left, slot.right - slot.left)
                column = parts.Column(texts, wide, pitch)
                rows = parts.put_rows(sheet, column, scale, slot, names_at=x)
                _put_category(rows, panel, right, looks, reference, n, counts_label)
            else:
                # The x axis covers the curves and the bars of the distribution.
                at = sorted(place for place, _ in panel.counts)
                half = _least_gap(at) / 2
                grid = [place for curve in panel.curves for place in curve.grid]
                grid += [place + side for place in at for side in (-half, half)]
                ends = drawing.limits(grid, pad=0.03)
                scale = Scale(*ends, x, right - _MISSING * panel.has_missing - x)
                up = Scale(low - foot, high, y + tall, -tall)
                plot = parts.Plot(sheet, scale, up)
                _put_number(plot, panel, ticks, looks, reference, n, missing_text)
                if x == left:  # the first panel of a line has the numbers of the axis
                    for value, text in zip(
                        ticks, drawing.tick_texts(ticks), strict=True
                    ):
                        sheet.label(x - 1.8, up.at(value), text, anchor="right")
            x += cells * step
        y += tallest + _TICKS + _LINE_GAP
    return sheet.cut(y - _LINE_GAP)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided into parts that fit on a page."""

    def fits(some: Sequence[EffectPanel]) -> bool:
        sheet = draw_effects(some, axis_label="", reference=nan, reference_text="")
        # The text of the reference may need another line of the key.
        return len(some) <= _MOST and sheet.height + parts.KEY_LINE <= _PAGE

    return parts.paged(panels, fits)


def _drawn(panel: EffectPanel, looks: Looks) -> list[tuple[int, Look, Curve]]:
    """Return place in the key, look and curve of each series, the leading one last."""
    places = list(looks)
    own = [
        (places.index(c.label), looks[c.label], c)
        for c in panel.curves
        if c.label in looks
    ]
    return sorted(own, key=lambda series: -series[0])


def _ends(panels: Sequence[EffectPanel], reference: float) -> tuple[float, float]:
    """Return the ends of the shared axis of predictions."""
    curves = [curve for panel in panels for curve in panel.curves]
    values = [value for curve in curves for value in (*curve.values, curve.missing)]
    values += [end for curve in curves for ends in curve.band for end in ends]
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
    """Draw the curves of a number, its distribution and its missing values.

    Bands are drawn before the grid, which thus stays visible.
    """
    sheet, x, y = plot
    span, curves = (x.left, x.right), _drawn(panel, looks)
    for curve in panel.curves:
        if curve.band:
            band = sorted(zip(curve.grid, curve.band, strict=True))
            sides = [(x.at(at), y.at(low), y.at(high)) for at, (low, high) in band]
            sheet.area(*zip(*sides, strict=True), face=FILL, name="band")
    sheet.levels(span, map(y.at, ticks))
    # The distribution; the highest bar has the same height in all panels.
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
    whole = all(float(at).is_integer() for curve in panel.curves for at in curve.grid)
    along = parts.fitting_ticks(x, grouped=x.high >= 1e4, whole=whole)
    parts.foot(sheet, x, y.left, *along)
    # Around each grid point a tooltip with the values of all curves.
    readings: dict[float, list[str]] = {}
    for curve in panel.curves:
        for at, value in zip(curve.grid, curve.values, strict=True):
            if isfinite(at) and curve.label in looks:
                texts = readings.setdefault(at, [f"{panel.feature} {plain_number(at)}"])
                texts.append(f"{curve.label}: {significant(value, 4)}")
    grid = sorted(readings)
    middles = [x.at((one + other) / 2) for one, other in pairwise(grid)]
    for at, ends in zip(grid, pairwise([x.left, *middles, x.right]), strict=True):
        sheet.box(ends, (y.right, y.left), title="; ".join(readings[at]))
    if panel.has_missing:
        middle, texts = x.right + _POINT, [f"{panel.feature} {missing_text}"]
        sheet.levels((x.right + 1.6, x.right + _MISSING - 1.4), [y.left])
        for n, look, curve in curves:
            sheet.mark(middle, y.at(curve.missing), look, name=f"missing-{number}-{n}")
            if isfinite(curve.missing):
                texts.append(f"{curve.label}: {significant(curve.missing, 4)}")
        column = (x.right + 1.0, x.right + _MISSING)
        sheet.box(column, (y.right, y.left), title="; ".join(texts))
        sheet.label(middle, y.left + 3.2, missing_text, anchor="center")


def _least_gap(places: Sequence[float]) -> float:
    """Return the smallest positive distance of two neighbours, 0 if there is none."""
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
    """Draw the marks of each level, and its number of rows at the `right` edge."""
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
        texts = [f"{label}: {significant(value, 4)}" for label, value in known]
        rows.tooltip(y, "; ".join([f"{panel.feature} {level}", *texts]))
    if counts:
        sheet.label(right, rows.top - 2.8, counts_label, anchor="right")
