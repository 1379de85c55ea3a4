"""The blocks of a page: immutable sentences, tables, figures, sections. Not: HTML.

The templates choose a macro by the `kind` of a block.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

SHORT_TABLE, SHORT_TEXT = 6, 1000
"""Most rows and characters of a table that is never split between pages."""
UPRIGHT_COLUMNS = 12
"""Most columns of a table on a page in portrait format."""


@dataclass(frozen=True)
class Value:
    """A number on a page, with its path in the result.

    Attributes
    ----------
    path : str
        Its path in the `AuditResult`: ``importances[0].mean[3]``, or
        ``performance[2].value`` for a row and column of a frame.
    raw : float
        The number in full precision.
    text : str
        The number as printed.
    unit : str
        Printed after the number in running text; tables have it in their caption.
    derived : str
        How `raw` is computed from the value at `path`; empty if it is that value.
    """

    path: str
    raw: float
    text: str
    unit: str = ""
    derived: str = ""

    @property
    def exact(self) -> str:
        """Shortest text that parses to `raw`; empty for NaN."""
        return "" if math.isnan(self.raw) else repr(self.raw)


@dataclass(frozen=True)
class Name:
    """A name from the user: `raw` as given, `text` safe to show.

    If `text` is cut, `whole` is the uncut text, shown as a tooltip.
    """

    raw: str
    text: str
    whole: str = ""


@dataclass(frozen=True)
class Link:
    """A link inside the report; its default text is the label of a table or figure."""

    target: str
    text: str = ""


@dataclass(frozen=True)
class FileLink:
    """A link to another file of the run folder, by its path from the page."""

    file: str
    text: str


@dataclass(frozen=True)
class Badge:
    """A verdict, of two engines or of the run, with its shape."""

    word: str
    label: str
    shape: str


@dataclass(frozen=True)
class Styled:
    """Text in an element "strong", "em", "sub" or "code", or in a span of a class."""

    style: str
    parts: tuple[Any, ...]


Part: TypeAlias = str | Value | Name | Link | FileLink | Badge | Styled
Sentence: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    `shade` is the strength of its background colour, from 0 for none to 5.
    """

    parts: Sentence = ()
    shade: int = 0

    @property
    def exact(self) -> str:
        """The number in full precision if the cell has nothing else, else empty."""
        alone = len(self.parts) == 1 and isinstance(self.parts[0], Value)
        return self.parts[0].exact if alone else ""  # type: ignore[union-attr]

    @property
    def is_words(self) -> bool:
        """Whether this cell has words and no number, so that its lines may break."""
        has_number = any(isinstance(part, Value) for part in self.parts)
        return not has_number and any(map(str.isalpha, plain(self.parts)))


@dataclass(frozen=True)
class Column:
    """One column: its head, and the kind of its cells.

    A table has one column of kind "header": its cells are the headers of their rows.
    """

    label: Sentence
    kind: Literal["text", "header", "number", "code"] = "text"


@dataclass(frozen=True)
class Row:
    """One row; `key` makes it a target of links, in one table of the report only.

    Its cells are given as sentences, parts of sentences or `Cell`s.
    """

    cells: tuple[Any, ...]
    key: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(map(cell_of, self.cells)))


def cell_of(item: Any) -> Cell:
    """Return the content of a cell as a `Cell`."""
    if isinstance(item, Cell):
        return item
    return Cell(item if isinstance(item, tuple) else (item,) if item != "" else ())


@dataclass(frozen=True)
class Table:
    """A table with one head, one row header per row and no spanned cell.

    Attributes
    ----------
    id : str
        "tab-" and a name of its contents, the same in every run.
    caption : Sentence
        Its contents, with unit and number of rows.
    columns : tuple of Column
    rows : tuple of Row
        Given as rows, or as tuples of cells.
    notes : tuple of Sentence
        Printed below the table.
    source : str
        File of the run folder with the same numbers, empty if none.
    shape : {"", "wide", "tight"}
        Its least width on a screen: "wide" for many columns, "tight" for few.
    everything : Table, optional
        The same table with all rows, if this one was cut.
    is_single : bool
        Whether it is the detail of one ranking in an overview table: collapsed on a
        screen, not printed, numbered after all other tables.
    abreast : int
        On a narrow screen, the number of columns side by side below the name of the
        row; 0 if the table scrolls instead.
    """

    id: str
    caption: Sentence
    columns: tuple[Column, ...]
    rows: tuple[Any, ...]
    notes: tuple[Sentence, ...] = ()
    source: str = ""
    shape: Literal["", "wide", "tight"] = ""
    everything: "Table | None" = None
    is_single: bool = False
    abreast: int = 0
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        rows = (row if isinstance(row, Row) else Row(row) for row in self.rows)
        object.__setattr__(self, "rows", tuple(rows))

    @property
    def is_short(self) -> bool:
        """Whether it is so short that it is never split between pages."""
        texts = (plain(cell.parts) for row in self.rows for cell in row.cells)
        return len(self.rows) <= SHORT_TABLE and sum(map(len, texts)) <= SHORT_TEXT

    @property
    def leads(self) -> tuple[str, ...]:
        """Text before each cell on a narrow screen: in pairs of columns, the model."""
        return tuple(
            plain(column.label) if self.abreast == 2 and n % 2 else ""
            for n, column in enumerate(self.columns)
        )

    @property
    def is_landscape(self) -> bool:
        """Whether it has too many columns for a page in portrait format."""
        return len(self.columns) > UPRIGHT_COLUMNS


@dataclass(frozen=True)
class KeyValues:
    """A short table of labels and values."""

    id: str
    title: Sentence
    rows: tuple[tuple[Sentence, Sentence], ...]
    kind: ClassVar[str] = "keyvalues"


@dataclass(frozen=True)
class Figure:
    """A figure, drawn at the first access to `svg`.

    Attributes
    ----------
    id : str
        "fig-" and a name of its contents; also the salt of its element ids.
    draw : callable
        The function of `figures` that draws it.
    data : mapping
        Arguments of that function.
    alt : str
        The figure in words, at most 250 characters.
    headline : Sentence
        The message of the figure, printed in bold.
    caption : Sentence
        Meaning of marks and intervals, the card, and the file with the numbers.
    drawings : list of str
        The cached SVG, shared with copies that have another caption.
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
        """The figure as SVG, the same bytes for the same data."""
        if not self.drawings:
            self.drawings.append(self.draw(**self.data).svg(self.id))
        return self.drawings[0]

    @property
    def file(self) -> str:
        """File name of the figure, without ending."""
        return self.id.removeprefix("fig-")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels, from the points of the SVG."""
        head = self.svg[: self.svg.index(">", self.svg.index("<svg"))]
        width, height = re.findall(r'\b(?:width|height)="([\d.]+)pt"', head)
        return round(float(width) * 4 / 3), round(float(height) * 4 / 3)


@dataclass(frozen=True)
class Card:
    """The estimand card: definition of one measure, field by field.

    Attributes
    ----------
    id : str
    title : Sentence
    facts : KeyValues
    on_screen : tuple of (Sentence, Sentence)
        More rows, on how the numbers were computed, which are not printed.
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
    """A heading within a section, and the blocks below it."""

    id: str
    title: Sentence
    blocks: tuple[Any, ...]


Parts: TypeAlias = Mapping[str, Any] | Callable[[Mapping[str, str]], Mapping[str, Any]]


@dataclass(frozen=True)
class Section:
    """One section: its letter, the name of its template, and the template's variables.

    If a section depends on the content of others, `parts` is a function of the HTML of
    these by letter.
    """

    letter: str
    name: str
    title: str
    lede: Sentence = ()
    parts: Parts = field(default_factory=dict[str, Any])


def plain(parts: Sentence) -> str:
    """Return the text of `parts`."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Styled):
            texts.append(plain(part.parts))
        elif isinstance(part, Value):
            texts.append(f"{part.text} {part.unit}" if part.unit else part.text)
        else:
            texts.append(part.label if isinstance(part, Badge) else part.text)
    return "".join(texts)
