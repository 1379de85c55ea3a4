"""The tables below the figures of surfaces: the numbers that the colours show."""

from collections.abc import Sequence

from ...records.surface_record import Surface
from ..text.blocks import Cell, Column, Row, Sentence, Styled, Table, Value
from ..text.number_text import MISSING, decimals, number, plain_number
from ..text.wording import key_of, named, say, shortened, shown
from .facts import Facts

CELLS = 12
"""Most points along either feature that a table holds."""
FILE = Styled("code", ("surfaces.csv",))


def surface_tables(
    facts: Facts, key: tuple[str, ...], drawn: Sequence[Surface]
) -> tuple[Table, ...]:
    """Return one table per surface; none if one has too many points for a page."""
    if any(max(found.values.shape) > CELLS for found in drawn):
        return ()
    return tuple(_table(facts, key, found) for found in drawn)


def _table(facts: Facts, key: tuple[str, ...], found: Surface) -> Table:
    path = f"surfaces[{facts.result.surfaces.index(found)}]"
    places = decimals(found.values[found.within])
    first, second = (
        [_point(f"{path}.{name}[{n}]", p) for n, p in enumerate(grid.tolist())]
        for name, grid in (
            ("first_grid", found.first_grid),
            ("second_grid", found.second_grid),
        )
    )
    return Table(
        id=f"tab-surface-{key_of(*key, found.model)}",
        caption=_caption(facts, found),
        columns=(
            Column((shortened(found.features[0], 24),), "header", 16),
            *(Column(point, "number", 84 / len(second)) for point in second),
        ),
        rows=tuple(
            Row((Cell(point), *_cells(f"{path}.values[{i}]", found, i, places)))
            for i, point in enumerate(first)
        ),
        notes=() if found.within.all() else (say("surfaces.table_note"),),
        source="surfaces.csv",
        shape="wide",
    )


def _caption(facts: Facts, found: Surface) -> Sentence:
    unit, cls = facts.unit_of(found.unit), found.positive_class
    said = say("surfaces.table_class", cls=shortened(cls, 30)) if cls else ()
    return say(
        "surfaces.table",
        model=named(found.model),
        first=named(found.features[0]),
        second=named(found.features[1]),
        cls=said,
        unit=f", {shown(unit)}" if unit else "",
    )


def _point(path: str, point: float | str) -> Sentence:
    """Return a point of a grid: a level, or a number to four digits or whole."""
    if isinstance(point, str):
        return (shortened(point, 24),)
    short = point if float(point).is_integer() else float(f"{point:.4g}")
    return (Value(path, float(point), plain_number(short)),)


def _cells(path: str, found: Surface, i: int, places: int) -> list[Cell]:
    """Return one row of a surface; what the figure greys out has no number."""
    told = zip(found.values[i].tolist(), found.within[i].tolist(), strict=True)
    return [
        Cell((Value(f"{path}[{j}]", value, number(value, places)),))
        if is_within
        else Cell((MISSING,))
        for j, (value, is_within) in enumerate(told)
    ]
