"""The figure of effects: curves of numbers as small multiples, categories as dots.

Numbers stand in a block of small multiples, categories in columns. Both blocks stand
side by side where that is lower, else below each other. Not: what the panels hold
(`sections.effects`), or how one is drawn (`effect_panels`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from . import effect_panels, parts
from .drawing import WIDTH, Scale, Sheet
from .effect_panels import HEADING, Axis, CategoryPanel, EffectPanel, NumberPanel

LABEL = 4.2  # millimetres for the label of the axis above a block
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


class Layout(NamedTuple):
    """All panels of a figure of effects in their places.

    Attributes
    ----------
    numbers : tuple of NumberPanel
    categories : tuple of CategoryPanel
    labels : tuple of (float, float, float)
        Where the label of an axis stands: left end, middle, right edge of the room.
    height : float
    """

    numbers: tuple[NumberPanel, ...]
    categories: tuple[CategoryPanel, ...]
    labels: tuple[tuple[float, float, float], ...]
    height: float


def _layout(
    panels: Sequence[EffectPanel], reference: float | None, top: float
) -> Layout:
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
) -> Layout:
    """Return numbers as high as `plots` over the whole width, categories under them.

    Without `plots`, numbers at the left and one column of categories at the right.
    """
    if plots is None:
        across, right, plot = min(len(numbers), 2), _SPLIT, _SPLIT_PLOT
    else:
        across = _ACROSS.get(len(numbers), 4)
        right, plot = WIDTH, plots[across]
    axis = effect_panels.value_axis(numbers, reference)
    spots, bottom = _numbers(numbers, axis, (top, right), across, plot)
    labels = [(0.0, top + 1.6, right)] * bool(numbers)

    levels = [effect_panels.levels(panel) for panel in categories]
    if plots is None:
        place, across = (_SPLIT + _BESIDE, top, WIDTH), 1
        # As high as the numbers, where that is neither airy nor tight.
        fixed = len(levels) * (HEADING + effect_panels.TICKS + _BETWEEN) - _BETWEEN
        even = (bottom - top - LABEL - fixed) / sum(map(len, levels))
        pitch = min(_AIRY, max(_TIGHT, even))
    else:
        start = bottom + (5.0 if numbers and categories else 0.0)
        place = 0.0, start, _WIDEST if len(categories) == 1 else WIDTH
        is_long = any(len(level) > 10 for names in levels for level in names)
        across = min(len(categories), 2 if is_long else 3)
        pitch = _TIGHT if plots is _LOW else 0.0
    axis = effect_panels.value_axis(categories, reference)
    rows, end = _columns(categories, axis, place, across, pitch)
    labels += [(place[0], place[1] + 1.6, WIDTH)] * bool(categories)
    return Layout(spots, rows, tuple(labels), max(bottom, end))


def _numbers(
    panels: Sequence[EffectPanel],
    axis: Axis,
    corner: tuple[float, float],
    across: int,
    plot: float,
) -> tuple[tuple[NumberPanel, ...], float]:
    """Return the numbers in lines, and where they end; `corner` is top and right."""
    top, right = corner
    if not panels:
        return (), top
    left = effect_panels.ticks_width(axis)
    width = (right - left - _BESIDE * (across - 1)) / across
    headings = parts.headings([panel.feature for panel in panels], width)
    spots, y = [], top + LABEL
    for n, (panel, heading) in enumerate(zip(panels, headings, strict=True)):
        column = n % across
        if column == 0:
            y += HEADING + parts.heading_height(headings[n : n + across])
        at = left + column * (width + _BESIDE)
        across_plot = Scale(*effect_panels.number_ends(panel), at, min(width, _WIDEST))
        upright = Scale(axis.low, axis.high, y + plot, -plot)
        scales = across_plot, upright
        spots.append(NumberPanel(panel, axis, *scales, heading, column == 0))
        if column == across - 1 or n == len(panels) - 1:
            y += plot + effect_panels.TICKS + _BETWEEN
    return tuple(spots), y - _BETWEEN


def _columns(
    panels: Sequence[EffectPanel],
    axis: Axis,
    place: tuple[float, float, float],
    across: int,
    pitch: float,
) -> tuple[tuple[CategoryPanel, ...], float]:
    """Return the categories, each in the column that ends first, and the end.

    `place` is left end, top, right end. A `pitch` of 0 follows from the levels.
    """
    left, top, right = place
    if not panels:
        return (), top
    width = (right - left - _BESIDE * (across - 1)) / across
    start, end = effect_panels.category_ends(panels, width)
    ends = [top + LABEL] * across
    headings = parts.headings([panel.feature for panel in panels], end)
    spots = []
    for panel, heading in zip(panels, headings, strict=True):
        column = ends.index(min(ends))
        x, n_levels = (
            left + column * (width + _BESIDE),
            len(effect_panels.levels(panel)),
        )
        step = pitch or (_TIGHT if n_levels > 8 else 5.2)
        scale = Scale(axis.low, axis.high, x + start, end - start)
        edges = x, x + width, ends[column] + HEADING + parts.heading_height([heading])
        spots.append(CategoryPanel(panel, scale, axis.reference, *edges, step, heading))
        ends[column] = edges[2] + step * n_levels + effect_panels.TICKS + _BETWEEN
    return tuple(spots), max(ends) - _BETWEEN


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
    parts.check(len(panels), "The panels of a figure of effects", most=_MOST)
    for panel in panels:
        if panel.kind == "category":
            parts.check(len(effect_panels.levels(panel)), "The levels of a category")
    if not _fits(panels):
        raise ValueError(
            f"{len(panels)} panels do not fit on a page. Divide them with "
            "paged_effects."
        )
    look = effect_panels.looks(panels)
    words = {label: label for label in look}
    if reference is not None and reference_text:
        words[effect_panels.REFERENCE] = reference_text
    if band_text and effect_panels.has_band(panels):
        words[effect_panels.SPREAD] = band_text
    key = effect_panels.key_lines(words)
    plan = _layout(panels, reference, effect_panels.KEY_LINE * len(key))
    sheet = Sheet()
    effect_panels.put_key(sheet, key, look, marks=bool(plan.categories))
    for x, y, right in plan.labels:
        parts.put_label(sheet, x, y, axis_label, right=right, lines=2)
    for n, number in enumerate(plan.numbers):
        effect_panels.put_number(sheet, number, look, f"curve-{n}")
    for n, category in enumerate(plan.categories):
        effect_panels.put_category(sheet, category, look, counts_label, f"level-{n}")
    return sheet.svg(plan.height, salt=salt)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""
    return parts.paged(panels, _fits)


def _fits(panels: Sequence[EffectPanel]) -> bool:
    labels = {c.label: c.label for panel in panels for c in panel.curves}
    # The line across may need a line of the key for itself.
    top = effect_panels.KEY_LINE * (len(effect_panels.key_lines(labels)) + 1)
    return len(panels) <= _MOST and _layout(panels, None, top).height <= parts.PAGE
