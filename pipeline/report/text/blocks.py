"""What a page is made of: frozen pieces of text, tables, figures. Not: HTML.

The templates place blocks by their `kind` and know nothing else about them.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

from ...records.cells import escaped

SHORT_TABLE, SHORT_TEXT = 6, 1000
"""Rows and characters of a table that paper never divides."""
TOGETHER = 3
"""Rows at either end of a longer table that paper keeps together."""
UPRIGHT_COLUMNS = 12
"""Columns that an upright page has room for."""


@dataclass(frozen=True)
class Value:
    """A number on a page, and where in the result it stands.

    Attributes
    ----------
    path : str
        The place in the `AuditResult`: ``importances[0].mean[3]``, or
        ``performance[2].value`` for a row and column of a frame.
    raw : float
        The number in full precision.
    text : str
        The number as printed.
    unit : str
        Printed after the number in running text; tables name it in their caption.
    derived : str
        Empty if `path` holds `raw` itself, else what was made of what stands there.
    """

    path: str
    raw: float
    text: str
    unit: str = ""
    derived: str = ""

    @property
    def exact(self) -> str:
        """The shortest text that reads back as `raw`; empty for NaN."""
        return "" if math.isnan(self.raw) else repr(self.raw)


@dataclass(frozen=True)
class Name:
    """A name from outside: `text` is safe to show, `raw` is what was given.

    `whole` is the text that is shown to those who ask, where `text` is cut.
    """

    raw: str
    text: str
    whole: str = ""


@dataclass(frozen=True)
class Link:
    """A link inside the report; without `text` it names its target (table, figure)."""

    target: str
    text: str = ""


@dataclass(frozen=True)
class FileLink:
    """A link to another file of the run folder, by its path from the page."""

    file: str
    text: str


@dataclass(frozen=True)
class Badge:
    """A word of the ladder or of the overall verdict, with its shape."""

    word: str
    label: str
    shape: str


@dataclass(frozen=True)
class Styled:
    """Text in one HTML element: "strong", "em", "sub" or "code"."""

    style: str
    parts: tuple[Any, ...]


Part: TypeAlias = str | Value | Name | Link | FileLink | Badge | Styled
Sentence: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True)
class Bar:
    """A bar inside a row: positions and widths in percent of the cell."""

    fill: tuple[float, float]
    interval: tuple[float, float] | None
    estimate: float


@dataclass(frozen=True)
class Cell:
    """One cell of a table: text, or a bar (which stands beside its number).

    `shade` colours it: 0 for not at all, up to 5 for the strongest.
    """

    parts: Sentence = ()
    bar: Bar | None = None
    shade: int = 0

    @property
    def exact(self) -> str:
        """The full precision of the one number in this cell, else empty."""
        alone = len(self.parts) == 1 and isinstance(self.parts[0], Value)
        return self.parts[0].exact if alone else ""  # type: ignore[union-attr]

    @property
    def is_words(self) -> bool:
        """Whether words stand in this cell and no number: its lines may break."""
        has_number = any(isinstance(part, Value) for part in self.parts)
        return not has_number and any(map(str.isalpha, plain(self.parts)))

    @property
    def plain(self) -> str:
        """What a spreadsheet gets: numbers in full precision, names as given."""
        return plain(self.parts, exact=True)


@dataclass(frozen=True)
class Column:
    """One column: its head, and what it holds.

    A table has one column of kind "header": its cells are the headers of their rows.
    """

    label: Sentence
    kind: Literal["text", "header", "number", "bar", "code"] = "text"


@dataclass(frozen=True)
class Row:
    """One row; `key` makes it a target of links, on one table of the report only.

    Its cells are given as sentences, their parts, bars or `Cell`s.
    """

    cells: tuple[Any, ...]
    key: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(map(cell_of, self.cells)))


def cell_of(item: Any) -> Cell:
    """Return what stands in a cell as a `Cell`."""
    if isinstance(item, Cell):
        return item
    if isinstance(item, Bar):
        return Cell(bar=item)
    return Cell(item if isinstance(item, tuple) else (item,) if item != "" else ())


@dataclass(frozen=True)
class Table:
    """A table with one head, one row header per row and no spanned cell.

    Attributes
    ----------
    id : str
        Stable from run to run: "tab-" and what the table holds.
    caption : Sentence
        What the table holds, with unit and number of rows.
    columns : tuple of Column
    rows : tuple of Row
        Given as rows, or as their cells.
    notes : tuple of Sentence
        Printed below the table.
    source : str
        File of the run folder that holds the same numbers, empty if none.
    shape : {"", "wide", "tight"}
        Many columns, or few beside other text: the least width on a screen.
    everything : Table, optional
        The same table with every row, if this one was cut.
    is_appended : bool
        Whether paper shows `everything` too, at the end.
    is_single : bool
        Whether an overview says the same of many: folded on a screen, not on paper,
        numbered behind all others.
    abreast : int
        How many columns behind the first a narrow screen sets side by side, below the
        name of the row; 0 where it scrolls the table instead.
    """

    id: str
    caption: Sentence
    columns: tuple[Column, ...]
    rows: tuple[Any, ...]
    notes: tuple[Sentence, ...] = ()
    source: str = ""
    shape: Literal["", "wide", "tight"] = ""
    everything: "Table | None" = None
    is_appended: bool = True
    is_single: bool = False
    abreast: int = 0
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        rows = (row if isinstance(row, Row) else Row(row) for row in self.rows)
        object.__setattr__(self, "rows", tuple(rows))

    @property
    def is_short(self) -> bool:
        """Whether a page can hold it with room to spare, so that none should cut it."""
        texts = (plain(cell.parts) for row in self.rows for cell in row.cells)
        return len(self.rows) <= SHORT_TABLE and sum(map(len, texts)) <= SHORT_TEXT

    @property
    def cuts(self) -> tuple[int, ...]:
        """The row at which paper ends one group of rows and begins another."""
        n = len(self.rows)
        return (n - TOGETHER,) if n > SHORT_TABLE else ()

    @property
    def leads(self) -> tuple[str, ...]:
        """What a narrow screen says before a cell: of pairs of columns, the model."""
        return tuple(
            plain(column.label) if self.abreast == 2 and n % 2 else ""
            for n, column in enumerate(self.columns)
        )

    @property
    def is_landscape(self) -> bool:
        """Whether paper must be turned to hold its columns."""
        return len(self.columns) > UPRIGHT_COLUMNS

    @property
    def without_bars(self) -> "Table":
        """The same table with its bars left out, the other columns the wider for it."""
        places = [i for i, column in enumerate(self.columns) if column.kind != "bar"]
        columns = tuple(self.columns[i] for i in places)
        rows = (replace(r, cells=tuple(r.cells[i] for i in places)) for r in self.rows)
        return replace(self, columns=columns, rows=tuple(rows))

    @property
    def file(self) -> str:
        """The name of the table as a file of its own."""
        return f"{self.id.removeprefix('tab-')}.csv"

    @cached_property
    def csv(self) -> str:
        """The table as CSV, bars left out; every row, even if this one was cut."""
        whole = (self.everything or self).without_bars
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(escaped(plain(column.label)) for column in whole.columns)
        writer.writerows([escaped(c.plain) for c in row.cells] for row in whole.rows)
        return text.getvalue()


@dataclass(frozen=True)
class KeyValues:
    """A short table of labels and what they stand for."""

    id: str
    title: Sentence
    rows: tuple[tuple[Sentence, Sentence], ...]
    kind: ClassVar[str] = "keyvalues"

    @property
    def cuts(self) -> tuple[int, ...]:
        """The rows at which paper ends one group of rows and begins another."""
        n = len(self.rows)
        return (TOGETHER, n - TOGETHER) if n > SHORT_TABLE else ()


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when it is first asked for.

    Attributes
    ----------
    id : str
        "fig-" and what it shows; also the salt of its element ids.
    draw : callable
        The function of `figures` that draws it on a sheet.
    data : mapping
        Arguments of that function.
    alt : str
        The figure in words, at most 250 characters.
    headline : Sentence
        What to see, printed in bold.
    caption : Sentence
        What marks and intervals are, the card, and where the numbers stand.
    drawings : list of str
        The drawing once it was made: a copy with another caption has it too.
    """

    id: str
    draw: Callable[..., Any]
    data: Mapping[str, Any]
    alt: str
    headline: Sentence
    caption: Sentence
    drawings: list[str] = field(default_factory=list, repr=False, compare=False)
    kind: ClassVar[str] = "figure"

    @property
    def svg(self) -> str:
        """The drawing, the same bytes for the same data."""
        if not self.drawings:
            self.drawings.append(self.draw(**self.data).svg(self.id))
        return self.drawings[0]

    @property
    def file(self) -> str:
        """The name of the figure as a file of its own, without ending."""
        return self.id.removeprefix("fig-")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels, from the drawing's points."""
        head = self.svg[: self.svg.index(">", self.svg.index("<svg"))]
        width, height = re.findall(r'\b(?:width|height)="([\d.]+)pt"', head)
        return round(float(width) * 4 / 3), round(float(height) * 4 / 3)


@dataclass(frozen=True)
class Card:
    """The estimand card: what one measure estimates, field by field.

    Attributes
    ----------
    id : str
    title : Sentence
    facts : KeyValues
    on_screen : tuple of (Sentence, Sentence)
        More rows, of how the numbers were made, which paper leaves out.
    """

    id: str
    title: Sentence
    facts: KeyValues
    on_screen: tuple[tuple[Sentence, Sentence], ...] = ()


@dataclass(frozen=True)
class Entry:
    """One finding: its number, its title, and the facts behind it."""

    id: str
    number: str
    title: Sentence
    severity: str
    label: str
    summary: Sentence
    facts: KeyValues | None


@dataclass(frozen=True)
class Group:
    """A heading within a section, and what stands below it."""

    id: str
    title: Sentence
    blocks: tuple[Any, ...]


Parts: TypeAlias = Mapping[str, Any] | Callable[[Mapping[str, str]], Mapping[str, Any]]


@dataclass(frozen=True)
class Section:
    """One section: its letter, its template, and what that places, by name.

    The parts of a section that tells what others hold are a function of the HTML of
    these, by their letters.
    """

    letter: str
    name: str
    title: str
    lede: Sentence = ()
    parts: Parts = field(default_factory=dict[str, Any])


def plain(parts: Sentence, *, exact: bool = False) -> str:
    """Return the text of `parts`; with `exact`, numbers and names as they are."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Styled):
            texts.append(plain(part.parts, exact=exact))
        elif isinstance(part, Value):
            with_unit = f"{part.text} {part.unit}" if part.unit else part.text
            texts.append(part.exact if exact else with_unit)
        elif isinstance(part, Name):
            texts.append(part.raw if exact else part.text)
        else:
            texts.append(part.label if isinstance(part, Badge) else part.text)
    return "".join(texts)
