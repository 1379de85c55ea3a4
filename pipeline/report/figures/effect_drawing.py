"""The figure of effects: curves of numbers as small multiples, categories as dots.

Not: what the panels hold (`effect_figures`), or where each lies (`effect_layout`).
"""

from collections.abc import Sequence

from . import effect_layout, effect_names, effect_panels
from . import figure_parts as parts
from .drawing import Sheet
from .figure_data import EffectPanel


def effects(
    panels: Sequence[EffectPanel],
    *,
    axis_label: str,
    reference: float | None,
    reference_text: str,
    salt: str,
    counts_label: str = "rows",
) -> str:
    """Return how predictions move with each feature, as an SVG.

    Numbers are small multiples on one axis, with the distribution of the rows at the
    foot; categories are dot plots on an axis of their own, with the rows of each
    level counted. The leading curve is the thick blue one, or the dot.

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
            parts.check(len(effect_panels.levels(panel)), "The levels of a category")
    if not _effects_fit(panels):
        raise ValueError(
            f"The panels of a figure must fit on a page, but {len(panels)} do not. "
            "Divide them with paged_effects."
        )
    look = effect_panels.looks(panels)
    words = {label: label for label in look if len(look) > 1}
    if reference is not None and reference_text:
        words[effect_panels.REFERENCE] = reference_text
    plan = effect_layout.layout(panels, reference)
    places = effect_names.best_words([spot.panel for spot in plan.numbers], words)
    sheet = Sheet()
    if words and not places:
        plan = effect_layout.layout(panels, reference, top=effect_layout.LABEL)
        effect_panels.draw_key(sheet, words, look, marks=bool(plan.categories))
    for x, y, right in plan.labels:
        parts.put_label(sheet, x, y, axis_label, right=right, lines=2)
    for n, (number, is_first) in enumerate(plan.numbers):
        effect_panels.draw_number(sheet, number, look, f"curve-{n}")
        if is_first:
            effect_panels.put_value_ticks(sheet, number)
    for n, category in enumerate(plan.categories):
        effect_panels.draw_category(
            sheet, category, look, counts_label=counts_label, name=f"level-{n}"
        )
    effect_panels.draw_words(sheet, words, places, look)
    return sheet.svg(plan.height, salt=salt)


def paged_effects(
    panels: Sequence[EffectPanel],
) -> tuple[tuple[EffectPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""
    return parts.paged(panels, _effects_fit)


def _effects_fit(panels: Sequence[EffectPanel]) -> bool:
    return len(panels) <= 12 and effect_layout.layout(panels, None).height <= parts.PAGE
