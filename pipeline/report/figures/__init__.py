"""The figures of the report: view data in, SVG text out.

One function per figure. All are 174 mm wide and as high as their rows need; text
stays text; equal data and salt give equal bytes. See `figure_parts` for what happens
to numbers that are not finite.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from . import figure_parts as parts
from . import figure_rows, typeface
from .cluster_drawing import clusters
from .drawing import GRID, HAIR, SMALL, WIDTH, Scale, Sheet, limits
from .effect_drawing import effects, paged_effects
from .figure_data import BandPanel, EngineRow, ModelPanel, RankingRow
from .history_drawing import history
from .interaction_drawing import interactions
from .rank_drawing import rank_intervals, rank_shares
from .surface_drawing import surface
from .top_k_drawing import top_k

__all__ = [
    "bands",
    "clusters",
    "effects",
    "engines",
    "history",
    "interactions",
    "models",
    "paged_bands",
    "paged_effects",
    "rank_intervals",
    "rank_shares",
    "ranking",
    "surface",
    "top_k",
]


def ranking(
    rows: Sequence[RankingRow],
    *,
    unit_label: str,
    baseline_label: str,
    salt: str,
    baseline: float = 0.0,
    value_label: str = "",
) -> str:
    """Return the ranking of the features of one model, as an SVG.

    One row per feature, in the order given: a dot at the estimate, its capped interval,
    a hairline from the baseline, the number at the right edge; a tick at each repeat.

    Parameters
    ----------
    rows : sequence of RankingRow
    unit_label : str
        What the axis shows, and its unit.
    baseline_label : str
        What stands on the dashed line: what a feature that does not matter measures.
    salt : str
        The id of the figure; ids inside the file derive from it.
    baseline : float, default 0.0
        Where the dashed line stands: 1 for ratios.
    value_label : str, default ""
        The head of the numbers at the right edge.

    Raises
    ------
    ValueError
        If there are no rows, or more than 40.
    """
    parts.check(len(rows), "The rows of a ranking")
    column = parts.name_column([row.name for row in rows])
    right = WIDTH - parts.value_column([*(row.text for row in rows), value_label])
    numbers = [
        n for row in rows for n in (row.estimate, row.low, row.high, *row.repeats)
    ]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, right - column.plot)
    span = (parts.HEAD, parts.HEAD + column.height)

    sheet = Sheet()
    parts.axis(sheet, scale, span, label=unit_label)
    parts.put_names(sheet, column, span[0])
    for n, (row, y) in enumerate(zip(rows, column.places(span[0]), strict=True)):
        figure_rows.draw_repeats(sheet, row, scale, y, f"repeats-{n}")
        if isfinite(row.estimate):
            x = scale.at(row.estimate)
            sheet.line((scale.at(baseline), x), (y, y), colour=HAIR, width=0.7)
            parts.interval(sheet, scale, y, (row.low, row.high))
            sheet.mark(x, y, "o", name=f"estimate-{n}")
        parts.beyond(sheet, scale, y, row.estimate)
        sheet.text(WIDTH, y, row.text, anchor="right")
    parts.baseline(sheet, scale.at(baseline), span, baseline_label, right=right)
    parts.put_value_label(sheet, value_label, span[0])
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def models(
    panels: Sequence[ModelPanel], *, axis_label: str, salt: str, value_label: str = ""
) -> str:
    """Return the loss of several models as features are permuted, as an SVG.

    One panel per model on one axis, the same rows in each. A bar leads from the
    dashed loss of the model as it is to the mean loss with the feature permuted. A
    box plot shows the repeats (box: quartiles, line: range); where there are not two
    different ones, all finite, a tick stands at the mean instead. The note of a row
    stands beside its bar where there is room for it.

    Parameters
    ----------
    panels : sequence of ModelPanel
        Their rows name the same features in the same order.
    axis_label : str
    salt : str
        The id of the figure; ids inside the file derive from it.
    value_label : str, default ""
        The head of the numbers at the right edge.

    Raises
    ------
    ValueError
        If there are no panels or more than 6, no rows or more than 40, or panels
        with other features than the first.
    """
    parts.check(len(panels), "The panels of a figure of models", most=6)
    column = parts.name_column(_same_names(panels), pitch=3.85)
    n_panels, rows, left = len(panels), column.height, column.plot
    slots, height = parts.slots(n_panels, rows, left=left, head=5.4)
    stacked = slots[0].right == WIDTH
    if not stacked:  # titles leave the column of names and stand above the panels
        slots, height = parts.slots(n_panels, rows, left=left, head=8.8, across=2)
    texts = [value_label, *(row.text for panel in panels for row in panel.rows)]
    width = slots[0].right - slots[0].left
    values = parts.value_column(texts) if width > figure_rows.NARROW else 0.0
    is_marked = any(row.mark for panel in panels for row in panel.rows)
    margin = values or (figure_rows.MARK if is_marked else 0.0)
    ends = figure_rows.loss_limits(panels)

    sheet = Sheet()
    for n, (panel, slot) in enumerate(zip(panels, slots, strict=True)):
        scale = Scale(*ends, slot.left, width - margin)
        span = (slot.top, slot.top + column.height)
        label = axis_label if slot.is_first else ""
        parts.axis(sheet, scale, span, label=label, bare=not slot.is_last)
        if slot.is_first:
            parts.put_names(sheet, column, slot.top)
        for m, (row, y) in enumerate(
            zip(panel.rows, column.places(slot.top), strict=True)
        ):
            figure_rows.draw_loss(sheet, row, scale, y, panel.baseline, f"loss-{n}-{m}")
            figure_rows.draw_note(sheet, row, scale, y, panel.baseline)
            if values:
                sheet.text(slot.right, y, row.text, anchor="right")
        at = scale.at(panel.baseline)
        parts.baseline(sheet, at, span, panel.baseline_text, right=scale.right)
        place = (0.0, slot.top - 2.2) if stacked else (slot.left, slot.top - 5.8)
        parts.title(sheet, place, panel.name, (column.plot if stacked else width) - 2)
    if values:
        parts.put_value_label(sheet, value_label, slots[0].top)
    return sheet.svg(height, salt=salt)


def _same_names(panels: Sequence[ModelPanel]) -> list[str]:
    """Return the features of every panel, in their common order."""
    names = [row.name for row in panels[0].rows]
    parts.check(len(names), "The rows of a panel")
    for panel in panels:
        if [row.name for row in panel.rows] != names:
            raise ValueError(
                f"The panels of a figure of models must name the same features, but "
                f"{panel.name!r} differs from {panels[0].name!r}."
            )
    return names


def engines(
    rows: Sequence[EngineRow],
    *,
    engines: tuple[str, ...],
    unit_label: str,
    salt: str,
    baseline: float = 0.0,
    baseline_label: str = "",
) -> str:
    """Return what up to five engines say of the same features, as an SVG.

    One row per feature, one mark per engine (stroke, cross, open triangles) with its
    interval, set apart by three tenths of a row, or less where there are many. The
    first row whose marks leave room carries the names of the engines; without one they
    stand above the plot.

    Parameters
    ----------
    rows : sequence of EngineRow
    engines : tuple of str
        Every engine of the rows, in the order of their marks.
    unit_label : str
        What the axis shows, and its unit.
    salt : str
        The id of the figure; ids inside the file derive from it.
    baseline : float, default 0.0
        Where the dashed line stands: 1 for ratios.
    baseline_label : str, default ""
        What stands on the dashed line.

    Raises
    ------
    ValueError
        If there are no rows or more than 40, or no engines or more than 5.
    """
    parts.check(len(rows), "The rows of a figure of engines")
    parts.check(len(engines), "The engines of a figure", most=len(figure_rows.ENGINES))
    column = parts.name_column([row.name for row in rows])
    roomy = max(1.08 * column.pitch, 3.0 * len(engines))
    column = column._replace(pitch=min(roomy, (parts.PAGE - 20.0) / len(rows)))
    right = WIDTH - 3.0
    numbers = [number for row in rows for point in row.points for number in point[1:]]
    ends = limits(numbers, include=(baseline,))
    scale = Scale(*ends, column.plot, right - column.plot)
    step = min(0.3, 0.9 / len(engines)) * column.pitch
    telling, side = figure_rows.telling_row(rows, engines, scale, step)
    top = parts.HEAD + (0.0 if telling >= 0 else 3.6)
    span = (top, top + column.height)

    sheet = Sheet()
    parts.axis(sheet, scale, span, label=unit_label)
    parts.put_names(sheet, column, top)
    places = column.places(top)
    edges = [(above + below) / 2 for above, below in pairwise(places)]
    sheet.levels((column.plot, right), edges, colour=GRID, width=0.5)
    for n, (row, y) in enumerate(zip(rows, places, strict=True)):
        figure_rows.draw_points(sheet, row, engines, scale, (y, step), f"engine-{n}")
        if n == telling:
            figure_rows.draw_engine_words(sheet, row, engines, scale, (y, step), side)
    parts.baseline(sheet, scale.at(baseline), span, baseline_label, right=right)
    if telling < 0:
        items = [(*figure_rows.ENGINES[k], engine) for k, engine in enumerate(engines)]
        parts.key(sheet, items, WIDTH, 1.9)
    return sheet.svg(span[1] + parts.FOOT, salt=salt)


def bands(panels: Sequence[BandPanel], *, unit_label: str, salt: str) -> str:
    """Return differences between engines against their bands, as an SVG.

    One panel per pair on one axis: the grey band of each feature with its edges, a
    dot inside it, or outside a red square with its number; hollow and never red in a
    comparable pair. Panels that name the same features in the same order share one
    column of names.

    Parameters
    ----------
    panels : sequence of BandPanel
    unit_label : str
        What the axis shows, and its unit.
    salt : str
        The id of the figure; ids inside the file derive from it.

    Raises
    ------
    ValueError
        If a panel has no rows or more than 40, or if a page does not hold the
        panels; `paged_bands` divides them.
    """
    parts.check(len(panels), "The panels of a figure of bands", most=12)
    for panel in panels:
        parts.check(len(panel.rows), "The rows of a panel")
    columns, slots, height, heads = figure_rows.band_layout(panels)
    if not figure_rows.bands_fit(panels):
        raise ValueError(
            f"The panels of a figure must fit on a page, but {len(panels)} with "
            f"{len(panel.rows)} rows do not. Divide them with paged_bands."
        )
    inset = 0.0 if slots[0].left else columns[0].plot
    width = slots[0].right - slots[0].left - inset
    end = figure_rows.band_limit(panels, width)
    fits = typeface.width(unit_label, SMALL) * parts.SLACK <= width

    sheet = Sheet()
    for n, (panel, column, slot) in enumerate(zip(panels, columns, slots, strict=True)):
        scale = Scale(-end, end, slot.left + inset, width)
        span = (slot.top, slot.top + column.height)
        # A label that reaches into the next panel is written once, under the first.
        label = unit_label if slot.is_first or fits else ""
        parts.axis(sheet, scale, span, label=label, bare=not slot.is_last)
        if slot.is_first or inset:
            parts.put_names(sheet, column, slot.top, left=slot.left if inset else 0.0)
        places = column.places(slot.top)
        for m, (row, y) in enumerate(zip(panel.rows, places, strict=True)):
            figure_rows.draw_band(
                sheet,
                row,
                scale,
                (y, column.pitch / 4),
                f"difference-{n}-{m}",
                is_judged=panel.verdict != "comparable",
            )
        sheet.line((scale.at(0.0),) * 2, span, width=0.8, name="baseline")
        figure_rows.draw_band_head(sheet, panel, scale, slot.top, heads[n])
    return sheet.svg(height, salt=salt)


def paged_bands(panels: Sequence[BandPanel]) -> tuple[tuple[BandPanel, ...], ...]:
    """Return the panels in their order, divided so that a page holds each part."""
    return parts.paged(panels, figure_rows.bands_fit)
