"""Sections as HTML: each is rendered with its template, in the order of dependencies.

Texts that depend on the whole page are filled in afterwards: the numbers of tables and
figures, links to targets outside the page, and addresses of files.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from markupsafe import Markup

from ..text.blocks import Figure, Section, Sentence, Table
from ..text.number_text import count
from ..text.wording import NO_BREAK, look_up, say, word
from .template_files import environment

Rows: TypeAlias = tuple[tuple[Sentence, Sentence], ...]

KEPT = "JK"
"""Sections shown even with one sentence only: all checks passed, and no finding."""
MOST_ROWS = 2000
"""Most rows of one table on the page; its file has all."""
_MARKER = re.compile("\ue000([a-z]+):([^\ue001]*)\ue001")
_LINK = re.compile(r'<a href="#([^"]*)">(.*?)</a>', re.S)
_ID = re.compile(r' id="([^"]+)"')


@dataclass(frozen=True)
class Composed:
    """Sections as HTML, with their tables and figures.

    Attributes
    ----------
    bodies : mapping of str to Markup
        HTML of the sections by letter, in the order of the page.
    brief : frozenset of str
        The letters of the sections with no more than a sentence.
    tables : tuple of Table
        In the order of their numbers: that of the page, with `Table.is_single` last.
    figures : tuple of Figure
        In the order of the page.
    """

    bodies: Mapping[str, Markup]
    brief: frozenset[str]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]

    @property
    def labels(self) -> Mapping[str, str]:
        """Label of each table and figure by id: "Table 3"."""
        kinds: Mapping[str, Sequence[Table | Figure]]
        kinds = {"table": self.tables, "figure": self.figures}
        return {
            block.id: f"{word(f'words.{kind}')}{NO_BREAK}{n}"
            for kind, blocks in kinds.items()
            for n, block in enumerate(blocks, start=1)
        }

    @cached_property
    def ids(self) -> set[str]:
        """All ids in the sections: the targets of links."""
        return {name for body in self.bodies.values() for name in _ID.findall(body)}


def compose(
    sections: Sequence[Section],
    *,
    path: Callable[[str], str] = str,
    printing: bool = False,
    is_short: bool = False,
    conformity: Rows = (),
) -> Composed:
    """Return sections as HTML.

    Parameters
    ----------
    sections : sequence of Section
        In the order of the page.
    path : callable
        From the path of a value to its path in the stored result.
    printing : bool
        Whether the HTML is for print, without tables of single rankings.
    is_short : bool
        Whether there are so few sections that print has no table of contents.
    conformity : tuple of pairs of sentences
        Label and text of the statement on PDF/A and PDF/UA.
    """
    bodies: dict[str, Markup] = {}
    shown: dict[str, list[Table | Figure]] = {}
    # Document control depends on the sections that are brief; sections whose parts are
    # a function depend on all others.
    ordered = sorted(sections, key=lambda s: (callable(s.parts), s.name == "control"))
    for section in ordered:
        blocks: list[Table | Figure] = []
        parts = section.parts
        bodies[section.letter] = Markup(
            environment()
            .select_template(
                [f"sections/{section.name}.html.j2", "sections/blocks.html.j2"]
            )
            .render(
                section=section,
                sections=sections,
                parts=parts(bodies) if callable(parts) else parts,
                words=look_up("page"),
                path=path,
                printing=printing,
                register=blocks.append,
                every_row=every_row,
                svg_uri=svg_uri,
                is_short=is_short,
                conformity=conformity,
                brief=_brief(bodies),
            )
        )
        shown[section.letter] = blocks
    every = [block for section in sections for block in shown[section.letter]]
    tables = [block for block in every if isinstance(block, Table)]
    return Composed(
        {section.letter: bodies[section.letter] for section in sections},
        _brief(bodies),
        tuple(sorted(tables, key=lambda table: table.is_single)),
        tuple(block for block in every if isinstance(block, Figure)),
    )


def _brief(bodies: Mapping[str, str]) -> frozenset[str]:
    """Return the letters of the sections with no more than a sentence."""
    return frozenset(
        letter
        for letter, body in bodies.items()
        if 'class="brief"' in body and letter not in KEPT
    )


def every_row(table: Table) -> Table:
    """Return the uncut table, at most `MOST_ROWS`; then its caption names the file."""
    table = table.everything or table
    if len(table.rows) <= MOST_ROWS:
        return table
    rest = count(len(table.rows) - MOST_ROWS)
    more = say("words.rows_elsewhere", n=rest, file=table.source)
    caption = (*table.caption, " ", *more)
    return replace(table, rows=table.rows[:MOST_ROWS], caption=caption)


def svg_uri(figure: Figure) -> str:
    """Return a figure as a data URI."""
    svg = base64.b64encode(figure.svg.encode()).decode()
    return f"data:image/svg+xml;base64,{svg}"


def filled(
    html: str,
    labels: Mapping[str, str],
    texts: Mapping[str, Callable[[str], str]],
    elsewhere: Callable[[str, str], str],
) -> str:
    """Return a page with its markers replaced, and without links to missing targets.

    Parameters
    ----------
    html : str
    labels : mapping of str to str
        The labels of tables and figures: `Composed.labels`.
    texts : mapping of str to callable
        By other kinds of markers, a function from target to text.
    elsewhere : callable
        From target and text of a link to a missing target, the text in its place.
    """
    texts = {
        "label": labels.__getitem__,
        "reference": lambda name: labels.get(name, "").lower(),
        **texts,
    }
    html = _MARKER.sub(lambda found: texts[found[1]](found[2]), html)
    there = set(_ID.findall(html))
    return _LINK.sub(
        lambda found: found[0] if found[1] in there else elsewhere(*found.groups()),
        html,
    )
