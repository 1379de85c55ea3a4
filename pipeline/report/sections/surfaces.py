"""The figures of surfaces, the models beside each other, and the tables below them."""

from collections.abc import Sequence

import numpy as np

from ...records.surface_record import Surface
from ..figures.surface import MOST, SurfacePanel, draw_surface
from ..text.blocks import (
    Cell,
    Column,
    Figure,
    Link,
    Row,
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
    alt_text,
    display_name,
    full_name,
    key_of,
    say,
    series,
    short_name,
    short_value,
    show_hidden,
    shown_value,
)
from .facts import Facts
from .models_figure import not_drawn

CELLS, LEVEL = 12, 40
"""Most points along either feature in a table, and characters of a level."""
FILE = Styled("code", ("tables/surfaces.csv",))


def surface_figures(facts: Facts) -> tuple[Figure | Table, ...]:
    """Return one figure per two features, class and scale, the models side by side.

    Below each stand the numbers it draws, where a page has the room for them.
    """
    alike: dict[tuple[str, ...], list[Surface]] = {}
    for surface in facts.result.surfaces:
        options = (f"{k}={v}" for k, v in sorted(surface.options.items()))
        key = (*surface.features, surface.positive_class, *options)
        alike.setdefault(key, []).append(surface)
    blocks: list[Figure | Table] = []
    for key, surfaces in alike.items():
        tables = surface_tables(facts, key, surfaces[:MOST])
        blocks += (_figure(facts, key, surfaces, tables), *tables)
    return tuple(blocks)


def _figure(
    facts: Facts,
    key: tuple[str, ...],
    every: Sequence[Surface],
    tables: Sequence[Table],
) -> Figure:
    surfaces, lead = every[:MOST], every[0]
    first, second = (display_name(name) for name in lead.features)
    label = _label(facts, lead)
    return Figure(
        id=f"fig-surface-{key_of(*key)}",
        draw=draw_surface,
        data={
            "panels": tuple(map(_panel, surfaces)),
            "first": first,
            "second": second,
            "axis_label": label,
            "masked_text": plain(say("surfaces.masked")),
        },
        alt=_alt(lead, surfaces, label),
        headline=_headline(lead),
        caption=(
            *say(
                "surfaces.caption",
                models=series(full_name(s.model) for s in surfaces),
                data=series([*(Link(table.id) for table in tables), FILE]),
            ),
            *not_drawn([s.model for s in every[MOST:]]),
        ),
    )


def _panel(surface: Surface) -> SurfacePanel:
    return SurfacePanel(
        name=display_name(surface.model),
        first=_grid(surface.first_grid.tolist()),
        second=_grid(surface.second_grid.tolist()),
        values=tuple(map(tuple, surface.values.tolist())),
        within=tuple(map(tuple, surface.within.tolist())),
    )


def _grid(points: list[float | str]) -> tuple[float | str, ...]:
    return tuple(shown_value(p) if isinstance(p, str) else float(p) for p in points)


def _label(facts: Facts, surface: Surface) -> str:
    words = "figures.curve.partial_dependence"
    unit = facts.unit_of(surface.unit)
    if surface.positive_class:
        cls = short_value(surface.positive_class)
        return plain(say(f"{words}.axis_class", unit=unit, cls=cls))
    text = say(f"{words}.axis", target=short_name(facts.target))
    return plain((*text, f", {show_hidden(unit)}") if unit else text)


def _headline(surface: Surface) -> Sentence:
    """Return how far two features move the mean prediction where rows lie."""
    values = surface.values[surface.within & np.isfinite(surface.values)]
    span = float(np.ptp(values)) if len(values) else 0.0
    return say(
        "surfaces.headline",
        first=short_name(surface.features[0]),
        second=short_name(surface.features[1]),
        model=short_name(surface.model),
        span=Value("surfaces.values", span, significant(span), derived="span"),
    )


def _alt(lead: Surface, surfaces: Sequence[Surface], label: str) -> str:
    text = say(
        "surfaces.alt",
        n=str(len(surfaces)),
        label=label,
        first=short_name(lead.features[0]),
        second=short_name(lead.features[1]),
        share=percent(float(lead.within.mean())),
    )
    return alt_text(plain(text))


def surface_tables(
    facts: Facts, key: tuple[str, ...], surfaces: Sequence[Surface]
) -> tuple[Table, ...]:
    """Return one table per surface; none if one has too many points for a page."""
    if any(max(surface.values.shape) > CELLS for surface in surfaces):
        return ()
    return tuple(_surface_table(facts, key, surface) for surface in surfaces)


def _surface_table(facts: Facts, key: tuple[str, ...], surface: Surface) -> Table:
    path = f"surfaces[{facts.result.surfaces.index(surface)}]"
    places = decimals(surface.values[surface.within])
    first, second = (
        [_point(f"{path}.{name}[{n}]", p) for n, p in enumerate(grid.tolist())]
        for name, grid in (
            ("first_grid", surface.first_grid),
            ("second_grid", surface.second_grid),
        )
    )
    return Table(
        id=f"tab-surface-{key_of(*key, surface.model)}",
        caption=_caption(facts, surface),
        columns=(
            Column((short_name(surface.features[0]),), "header"),
            *(Column(point, "number") for point in second),
        ),
        rows=tuple(
            Row((Cell(point), *_cells(f"{path}.values[{i}]", surface, i, places)))
            for i, point in enumerate(first)
        ),
        notes=() if surface.within.all() else (say("surfaces.table_note"),),
        source="tables/surfaces.csv",
        shape="wide",
    )


def _caption(facts: Facts, surface: Surface) -> Sentence:
    unit, cls = facts.unit_of(surface.unit), surface.positive_class
    of_class = say("surfaces.table_class", cls=short_value(cls)) if cls else ()
    return say(
        "surfaces.table",
        model=full_name(surface.model),
        first=full_name(surface.features[0]),
        second=full_name(surface.features[1]),
        cls=of_class,
        unit=f", {show_hidden(unit)}" if unit else "",
    )


def _point(path: str, point: float | str) -> Sentence:
    """Return a point of a grid: a level, or a number to four digits or whole."""
    if isinstance(point, str):
        return (short_value(point, LEVEL),)
    short = point if float(point).is_integer() else float(f"{point:.4g}")
    return (Value(path, float(point), plain_number(short)),)


def _cells(path: str, surface: Surface, i: int, places: int) -> list[Cell]:
    """Return one row of a surface; what the figure greys out has no number."""
    cells = zip(surface.values[i].tolist(), surface.within[i].tolist(), strict=True)
    return [
        Cell((Value(f"{path}[{j}]", value, number(value, places)),))
        if is_within
        else Cell((MISSING,))
        for j, (value, is_within) in enumerate(cells)
    ]
