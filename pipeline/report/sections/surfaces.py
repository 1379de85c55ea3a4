"""The figures of surfaces, with the models side by side, and the tables below them."""

from collections.abc import Sequence

import numpy as np

from ...records.surface_record import Surface
from ..figures.surface import MOST, SurfacePanel, draw_surface
from ..text.blocks import (
    Column,
    Figure,
    Link,
    Name,
    Sentence,
    Styled,
    Table,
    Value,
    plain,
)
from ..text.number_text import (
    MISSING,
    decimals,
    number,
    percent,
    plain_number,
    significant,
)
from ..text.wording import (
    display_name,
    figure_of,
    full_name,
    key_of,
    say,
    series,
    short_name,
    short_value,
    show_hidden,
    table_of,
)
from .effects import axis_label, scale_of, shown_points
from .facts import Facts
from .models_figure import not_drawn

CELLS, LEVEL = 12, 40
"""Most points along either feature in a table, and characters of a level."""
FILE = Styled("code", ("tables/surfaces.csv",))


def surface_figures(facts: Facts) -> tuple[Figure | Table, ...]:
    """Return one figure per two features, class and scale, the models side by side.

    The tables of its values follow if a page has room for them.
    """
    groups: dict[tuple[str, ...], list[Surface]] = {}
    for surface in facts.result.surfaces:
        options = (f"{k}={v}" for k, v in sorted(surface.options.items()))
        key = (*surface.features, surface.positive_class, *options)
        groups.setdefault(key, []).append(surface)
    blocks: list[Figure | Table] = []
    for key, every in groups.items():
        surfaces = every[:MOST]
        tables: list[Table] = []
        if all(max(surface.values.shape) <= CELLS for surface in surfaces):
            tables = [_table(facts, key, surface) for surface in surfaces]
        files = series([*(Link(table.id) for table in tables), FILE])
        blocks += (_figure(facts, key, every, files), *tables)
    return tuple(blocks)


def _figure(
    facts: Facts, key: tuple[str, ...], every: Sequence[Surface], files: Sentence
) -> Figure:
    surfaces, lead = every[:MOST], every[0]
    label = axis_label(facts, "partial_dependence", lead)
    first, second = map(short_name, lead.features)
    values = lead.values[lead.within & np.isfinite(lead.values)]
    span = float(np.ptp(values)) if len(values) else 0.0
    scale = scale_of(facts, lead)
    return figure_of(
        f"surface-{key_of(*key)}",
        draw_surface,
        {
            "panels": tuple(
                SurfacePanel(
                    name=display_name(surface.model),
                    first=shown_points(surface.first_grid.tolist()),
                    second=shown_points(surface.second_grid.tolist()),
                    values=surface.values,
                    within=surface.within,
                )
                for surface in surfaces
            ),
            "first": display_name(lead.features[0]),
            "second": display_name(lead.features[1]),
            "axis_label": label,
            "masked_text": plain(say("surfaces.masked")),
        },
        alt=say(
            "surfaces.alt",
            n=str(len(surfaces)),
            label=label,
            first=first,
            second=second,
            share=percent(float(lead.within.mean())),
        ),
        headline=say(
            "surfaces.headline",
            first=first,
            second=second,
            model=short_name(lead.model),
            span=(
                Value("surfaces.values", span, significant(span), derived="span"),
                *scale,
            ),
        ),
        caption=(
            *say(
                "surfaces.caption",
                models=series(full_name(surface.model) for surface in surfaces),
                data=files,
            ),
            *(say("figures.on_scale", scale=scale) if scale else ()),
            *not_drawn([surface.model for surface in every[MOST:]]),
        ),
    )


def _table(facts: Facts, key: tuple[str, ...], surface: Surface) -> Table:
    """Return the table of a surface; points that are grey in the figure have a dash."""
    path = f"surfaces[{facts.result.surfaces.index(surface)}]"
    places = decimals(surface.values[surface.within])
    rows = []
    for i, point in enumerate(surface.first_grid.tolist()):
        cells = zip(surface.values[i].tolist(), surface.within[i].tolist(), strict=True)
        numbers = [
            Value(f"{path}.values[{i}][{j}]", value, number(value, places))
            if is_within
            else MISSING
            for j, (value, is_within) in enumerate(cells)
        ]
        rows.append((_point(f"{path}.first_grid[{i}]", point), *numbers))
    unit, cls = facts.unit_of(surface.unit), surface.positive_class
    return table_of(
        f"surface-{key_of(*key, surface.model)}",
        "",
        [
            Column((short_name(surface.features[0]),), "header"),
            *(
                Column((_point(f"{path}.second_grid[{j}]", point),), "number")
                for j, point in enumerate(surface.second_grid.tolist())
            ),
        ],
        rows,
        caption=say(
            "surfaces.table",
            model=full_name(surface.model),
            first=full_name(surface.features[0]),
            second=full_name(surface.features[1]),
            cls=say("surfaces.table_class", cls=short_value(cls)) if cls else (),
            unit=f", {show_hidden(unit)}" if unit else "",
        ),
        notes=() if surface.within.all() else (say("surfaces.table_note"),),
        source="tables/surfaces.csv",
        shape="wide",
    )


def _point(path: str, point: float | str) -> Name | Value:
    """Return a point of a grid: a level, or a number to four digits or whole."""
    if isinstance(point, str):
        return short_value(point, LEVEL)
    short = point if float(point).is_integer() else float(f"{point:.4g}")
    return Value(path, float(point), plain_number(short))
