"""Where the panels of the figure of effects stand. Not: drawing.

Numbers stand in a block of small multiples, categories in columns. Both blocks stand
side by side where that is lower, else below each other.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from .drawing import WIDTH, Scale
from .effect_panels import (
    HEADING,
    TICKS,
    Axis,
    CategoryPanel,
    NumberPanel,
    category_ends,
    levels,
    number_panel,
    ticks_width,
    value_axis,
)
from .figure_data import EffectPanel

LABEL = 4.2  # millimetres for the label of the axis above a block
_BESIDE, _BETWEEN = 7.0, 2.6
_SPLIT = 106.0  # where numbers end that have categories beside them
_WIDEST = 112.0  # a panel alone
_AIRY, _TIGHT = 6.8, 4.2  # from level to level
_PLOT = {1: 46.0, 2: 36.0, 3: 31.0, 4: 29.0}  # height by panels side by side


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
    """Return the lower of both layouts, below `top`."""
    numbers = [panel for panel in panels if panel.kind == "number"]
    categories = [panel for panel in panels if panel.kind == "category"]
    below = _below(numbers, categories, reference, top)
    if not numbers or not categories:
        return below
    beside = _beside(numbers, categories, reference, top)
    return beside if beside.height <= 1.1 * below.height else below


def _below(
    numbers: Sequence[EffectPanel],
    categories: Sequence[EffectPanel],
    reference: float | None,
    top: float,
) -> Layout:
    """Return numbers over the whole width, categories under them."""
    axis = value_axis(numbers, reference)
    spots, bottom = _numbers(numbers, axis, (top, WIDTH), _across(len(numbers)))
    start = bottom + 5.0 if numbers and categories else bottom
    across = min(len(categories), 2 if _long_levels(categories) else 3)
    right = _WIDEST if len(categories) == 1 else WIDTH
    axis = value_axis(categories, reference)
    places, end = _columns(categories, axis, (0.0, start, right), across)
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
    spots, bottom = _numbers(numbers, axis, (top, _SPLIT), across)
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
) -> tuple[tuple[NumberSpot, ...], float]:
    """Return the numbers in lines, and where they end; `corner` is top and right."""
    top, right = corner
    if not panels:
        return (), top
    left = ticks_width(axis)
    width = (right - left - _BESIDE * (across - 1)) / across
    plot = _PLOT[across] if right == WIDTH else 31.0
    line = HEADING + plot + TICKS + _BETWEEN
    spots = []
    for n, panel in enumerate(panels):
        x = left + (n % across) * (width + _BESIDE)
        y = top + LABEL + HEADING + (n // across) * line
        number = number_panel(panel, axis, (x, y), (min(width, _WIDEST), plot))
        spots.append(NumberSpot(number, n % across == 0))
    return tuple(spots), top + LABEL + line * ceil(len(panels) / across) - _BETWEEN


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
    spots = []
    for panel in panels:
        column = ends.index(min(ends))
        x, n_levels = left + column * (width + _BESIDE), len(levels(panel))
        step = pitch or (_TIGHT if n_levels > 8 else 5.2)
        scale = Scale(axis.low, axis.high, x + start, end - start)
        edges = x, x + width, ends[column]
        spots.append(CategoryPanel(panel, scale, axis.reference, *edges, step))
        ends[column] += HEADING + step * n_levels + TICKS + _BETWEEN
    return tuple(spots), max(ends) - _BETWEEN


def _pitch(panels: Sequence[EffectPanel], height: float) -> float:
    """Return the distance of two levels with which one column has this height."""
    fixed = len(panels) * (HEADING + TICKS + _BETWEEN) - _BETWEEN
    rows = sum(len(levels(panel)) for panel in panels)
    return min(_AIRY, max(_TIGHT, (height - fixed) / rows))


def _long_levels(panels: Sequence[EffectPanel]) -> bool:
    return any(len(level) > 10 for panel in panels for level in levels(panel))
