"""The figure of effects: curves of numbers as small multiples, categories as dots.

Numbers stand in a block of small multiples, categories in columns. Both blocks stand
side by side where that is lower, else below each other. Not: what the panels hold
(`sections.effects`), or how one is drawn (`effect_panels`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from . import parts
from .drawing import WIDTH, Scale, Sheet
from .effect_panels import (
    HEADING,
    KEY_LINE,
    REFERENCE,
    SPREAD,
    TICKS,
    Axis,
    CategoryPanel,
    EffectPanel,
    NumberPanel,
    category_ends,
    draw_category,
    draw_key,
    draw_number,
    has_band,
    key_lines,
    levels,
    looks,
    number_panel,
    put_value_ticks,
    ticks_width,
    value_axis,
)

LABEL = 4.2  # millimetres for the label of the axis above a block
_BESIDE, _BETWEEN = 7.0, 2.6
_SPLIT = 106.0  # where numbers end that have categories beside them
_WIDEST = 112.0  # a panel alone
_AIRY, _TIGHT = 6.8, 4.2  # from level to level
_PLOT = {1: 46.0, 2: 34.0, 3: 28.0, 4: 26.0}  # height by panels side by side
_LOW = {1: 46.0, 2: 30.0, 3: 24.0, 4: 21.0}  # where that is more than a page
_LONG_CAPTION = 22.0  # millimetres that a key of many marks takes below a full page
_SPLIT_PLOT = 25.0


class NumberSpot(NamedTuple):
    """A numeric panel, and whether the values stand at its left."""

    panel: NumberPanel
    is_first: bool


class Layout(NamedTuple):
    """All panels of a figure of effects in their places.

    Attributes
    ----------
    numbers : tuple of NumberSpot
    categories : tuple of CategoryPanel
    labels : tuple of (float, float, float)
        Where the label of an axis stands: left end, middle, right edge of the room.
    height : float
    """

    numbers: tuple[NumberSpot, ...]
    categories: tuple[CategoryPanel, ...]
    labels: tuple[tuple[float, float, float], ...]
    height: float


def layout(
    panels: Sequence[EffectPanel], reference: float | None, *, top: float = 0.0
) -> Layout:
    """Return the lower of both layouts, below `top`, with low plots on a full page."""
    plan = _lower(panels, reference, top, _PLOT)
    if plan.height <= parts.PAGE - _LONG_CAPTION:
        return plan
    return _lower(panels, reference, top, _LOW)


def _lower(
    panels: Sequence[EffectPanel],
    reference: float | None,
    top: float,
    plots: Mapping[int, float],
) -> Layout:
    """Return the lower of both layouts, numbers side by side as high as `plots`."""
    numbers = [panel for panel in panels if panel.kind == "number"]
    categories = [panel for panel in panels if panel.kind == "category"]
    below = _below(numbers, categories, reference, top, plots)
    if not numbers or not categories:
        return below
    beside = _beside(numbers, categories, reference, top)
    return beside if beside.height <= 1.1 * below.height else below


def _below(
    numbers: Sequence[EffectPanel],
    categories: Sequence[EffectPanel],
    reference: float | None,
    top: float,
    plots: Mapping[int, float],
) -> Layout:
    """Return numbers over the whole width, categories under them."""
    axis, across = value_axis(numbers, reference), _across(len(numbers))
    spots, bottom = _numbers(numbers, axis, (top, WIDTH), across, plots[across])
    start = bottom + 5.0 if numbers and categories else bottom
    across = min(len(categories), 2 if _long_levels(categories) else 3)
    right = _WIDEST if len(categories) == 1 else WIDTH
    axis = value_axis(categories, reference)
    pitch = _TIGHT if plots is _LOW else 0.0
    places, end = _columns(categories, axis, (0.0, start, right), across, pitch=pitch)
    tops = [top] * bool(numbers) + [start] * bool(categories)
    labels = tuple((0.0, y + 1.6, WIDTH) for y in tops)
    return Layout(spots, places, labels, max(bottom, end))


def _beside(
    numbers: Sequence[EffectPanel],
    categories: Sequence[EffectPanel],
    reference: float | None,
    top: float,
) -> Layout:
    """Return numbers at the left, one column of categories at the right."""
    across = 1 if len(numbers) == 1 else 2
    axis = value_axis(numbers, reference)
    spots, bottom = _numbers(numbers, axis, (top, _SPLIT), across, _SPLIT_PLOT)
    left = _SPLIT + _BESIDE
    axis = value_axis(categories, reference)
    pitch = _pitch(categories, bottom - top - LABEL)
    places, end = _columns(categories, axis, (left, top, WIDTH), 1, pitch=pitch)
    labels = ((0.0, top + 1.6, _SPLIT), (left, top + 1.6, WIDTH))
    return Layout(spots, places, labels, max(bottom, end))


def _across(n_panels: int) -> int:
    """Return how many numbers stand side by side: no line with one panel alone."""
    return {0: 1, 1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 3, 9: 3}.get(n_panels, 4)


def _numbers(
    panels: Sequence[EffectPanel],
    axis: Axis,
    corner: tuple[float, float],
    across: int,
    plot: float,
) -> tuple[tuple[NumberSpot, ...], float]:
    """Return the numbers in lines, and where they end; `corner` is top and right."""
    top, right = corner
    if not panels:
        return (), top
    left = ticks_width(axis)
    width = (right - left - _BESIDE * (across - 1)) / across
    headings = parts.headings([panel.feature for panel in panels], width)
    spots, y = [], top + LABEL
    for start in range(0, len(panels), across):
        line = slice(start, start + across)
        y += HEADING + parts.heading_height(headings[line])
        both = zip(panels[line], headings[line], strict=True)
        for n, (panel, heading) in enumerate(both):
            corner = left + n * (width + _BESIDE), y
            size = min(width, _WIDEST), plot
            number = number_panel(panel, axis, corner, size, heading)
            spots.append(NumberSpot(number, n == 0))
        y += plot + TICKS + _BETWEEN
    return tuple(spots), y - _BETWEEN


def _columns(
    panels: Sequence[EffectPanel],
    axis: Axis,
    place: tuple[float, float, float],
    across: int,
    *,
    pitch: float = 0.0,
) -> tuple[tuple[CategoryPanel, ...], float]:
    """Return the categories, each in the column that ends first, and the end.

    `place` is left end, top, right end. A `pitch` of 0 follows from the levels.
    """
    left, top, right = place
    if not panels:
        return (), top
    width = (right - left - _BESIDE * (across - 1)) / across
    start, end = category_ends(panels, width)
    ends = [top + LABEL] * across
    headings = parts.headings([panel.feature for panel in panels], end)
    spots = []
    for panel, heading in zip(panels, headings, strict=True):
        column = ends.index(min(ends))
        x, n_levels = left + column * (width + _BESIDE), len(levels(panel))
        step = pitch or (_TIGHT if n_levels > 8 else 5.2)
        scale = Scale(axis.low, axis.high, x + start, end - start)
        edges = x, x + width, ends[column]
        spots.append(CategoryPanel(panel, scale, axis.reference, *edges, step, heading))
        ends[column] += HEADING + parts.heading_height([heading])
        ends[column] += step * n_levels + TICKS + _BETWEEN
    return tuple(spots), max(ends) - _BETWEEN


def _pitch(panels: Sequence[EffectPanel], height: float) -> float:
    """Return the distance of two levels with which one column has this height."""
    fixed = len(panels) * (HEADING + TICKS + _BETWEEN) - _BETWEEN
    rows = sum(len(levels(panel)) for panel in panels)
    return min(_AIRY, max(_TIGHT, (height - fixed) / rows))


def _long_levels(panels: Sequence[EffectPanel]) -> bool:
    return any(len(level) > 10 for panel in panels for level in levels(panel))


def draw_effects(
    panels: Sequence[EffectPanel],
    *,
    axis_label: str,
    reference: float | None,
    reference_text: str,
    salt: str,
    counts_label: str = "rows",
    band_text: str = "",
) -> str:
    """Return how predictions move with each feature, as an SVG.

    Numbers are small multiples on one axis, with the distribution of the rows at the
    foot; categories are dot plots on an axis of their own, with the rows of each
    level counted. The leading curve is the thick blue one, or the dot. A band, where a
    curve has one, is filled light behind it.

    Parameters
    ----------
    panels : sequence of EffectPanel
    axis_label : str
        What the curves show, and its unit.
    reference : float or None
        Where the dashed line stands: the mean prediction.
    reference_text : str
        Its words, written once.
    salt : str
        The id of the figure; ids inside the file derive from it.
    counts_label : str, default "rows"
        The head of the counts.
    band_text : str, optional
        What the band around the leading curve is, written once if there is one.

    Raises
    ------
    ValueError
        If a category has no levels or more than 40, if there are more than 6
        labels of curves, or if a page does not hold the panels; `paged_effects`
        divides them.
    """
    parts.check(len(panels), "The panels of a figure of effects", most=12)
    for panel in panels:
        if panel.kind == "category":
            parts.check(len(levels(panel)), "The levels of a category")
    if not _effects_fit(panels):
        raise ValueError(
            f"{len(panels)} panels do not fit on a page. Divide them with "
            "paged_effects."
        )
    look = looks(panels)
    words = {label: label for label in look}
    if reference is not None and reference_text:
        words[REFERENCE] = reference_text
    if band_text and has_band(panels):
        words[SPREAD] = band_text
    key = key_lines(words)
    plan = layout(panels, reference, top=KEY_LINE * len(key))
    sheet = Sheet()
    draw_key(sheet, key, look, marks=bool(plan.categories))
    for x, y, right in plan.labels:
        parts.put_label(sheet, x, y, axis_label, right=right, lines=2)
    for n, (number, is_first) in enumerate(plan.numbers):
        draw_number(sheet, number, look, f"curve-{n}")
        if is_first:
            put_value_ticks(sheet, number)
    for n, category in enumerate(plan.categories):
        draw_category(
            sheet, category, look, counts_label=counts_label, name=f"level-{n}"
        )
    return sheet.svg(plan.height, salt=salt)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""
    return parts.paged(panels, _effects_fit)


def _effects_fit(panels: Sequence[EffectPanel]) -> bool:
    labels = dict.fromkeys(c.label for panel in panels for c in panel.curves)
    # The line across may need a line of the key for itself.
    top = KEY_LINE * (len(key_lines({label: label for label in labels})) + 1)
    return len(panels) <= 12 and layout(panels, None, top=top).height <= parts.PAGE
