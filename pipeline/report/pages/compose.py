"""Sections as HTML: each through its template, in the order in which they can be known.

What depends on the whole page is filled in afterwards: the numbers of tables and
figures, links to what the page does not have, and where its files lie.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from markupsafe import Markup

from ..text.blocks import Figure, Section, Sentence, Styled, Table
from ..text.number_text import count
from ..text.wording import NO_BREAK, look_up, say, word
from .template_files import environment, templates_sha256

Rows: TypeAlias = tuple[tuple[Sentence, Sentence], ...]

KEPT = "JK"
"""Sections whose one sentence counts: checks that all passed, and no finding."""
TEMPLATE_DIGITS = 16
"""Of the digest of the templates, which renderer.json holds in full."""
MOST_ROWS = 2000
"""Rows that the page shows of one table; the file beside it has them all."""
_MARKER = re.compile("\ue000([a-z]+):([^\ue001]*)\ue001")
_LINK = re.compile(r'<a href="#([^"]*)">(.*?)</a>', re.S)
_NAME = re.compile(r"<bdi[^>]*>(.*?)</bdi>", re.S)
_ID = re.compile(r' id="([^"]+)"')


@dataclass(frozen=True)
class Composed:
    """Sections as HTML, with what they show.

    Attributes
    ----------
    bodies : mapping of str to Markup
        By the letters of the sections, in the order of the page.
    brief : frozenset of str
        The letters of those that hold no more than a sentence.
    tables : tuple of Table
        In the order of their numbers: of the page, single ones last.
    figures : tuple of Figure
        In the order of the page.
    """

    bodies: Mapping[str, Markup]
    brief: frozenset[str]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]

    @property
    def labels(self) -> Mapping[str, str]:
        """The number of each table and figure as its caption begins: "Table 3"."""
        kinds: Mapping[str, Sequence[Table | Figure]]
        kinds = {"table": self.tables, "figure": self.figures}
        return {
            block.id: f"{word(f'words.{kind}')}{NO_BREAK}{n}"
            for kind, blocks in kinds.items()
            for n, block in enumerate(blocks, start=1)
        }

    @property
    def names(self) -> set[str]:
        """The names from outside that the page shows."""
        found = _NAME.findall("".join(self.bodies.values()))
        return {Markup(name).striptags() for name in found}

    @cached_property
    def ids(self) -> set[str]:
        """All that a link can lead to."""
        return {name for body in self.bodies.values() for name in _ID.findall(body)}


def compose(
    sections: Sequence[Section],
    *,
    path: Callable[[str], str] = str,
    printing: bool = False,
    is_short: bool = False,
    conformity: Rows = (),
    bars: bool = True,
) -> Composed:
    """Return sections as HTML.

    Parameters
    ----------
    sections : sequence of Section
        In the order of the page. The parts of one that tells what others hold are a
        function of their HTML, by letter.
    path : callable
        Where a number of the page stands in the stored result.
    printing : bool
        Whether it is for paper, which shows no table of a single ranking.
    is_short : bool
        Whether there are so few sections that paper lists none of them.
    conformity : tuple of pairs of sentences
        What may be said of the PDF as a file.
    bars : bool
        Whether tables have their columns of bars.
    """
    digest = Styled("code", (templates_sha256()[:TEMPLATE_DIGITS],))
    made_with = ((say("control.templates"), say("control.sha256", digest=digest)),)
    bodies: dict[str, Markup] = {}
    shown: dict[str, list[Table | Figure]] = {}
    # What tells of others comes after them; of the rest the document control is last.
    in_turn = sorted(sections, key=lambda s: (callable(s.parts), s.name == "control"))
    for section in in_turn:
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
                bars=bars,
                conformity=conformity,
                brief=_brief(bodies),
                rendering=(*made_with, *(conformity if is_short else ())),
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
    """Return the letters of the sections that have nothing but a sentence."""
    return frozenset(
        letter
        for letter, body in bodies.items()
        if 'class="brief"' in body and letter not in KEPT
    )


def every_row(table: Table) -> Table:
    """Return what a cut table opens to: all rows, if they are not too many."""
    return at_most(table.everything or table, MOST_ROWS)


def at_most(table: Table, rows: int) -> Table:
    """Return a table with its first rows, and a sentence on where the others are."""
    if len(table.rows) <= rows:
        return table
    rest = count(len(table.rows) - rows)
    more = say("words.rows_elsewhere", n=rest, file=table.source)
    return replace(table, rows=table.rows[:rows], caption=(*table.caption, " ", *more))


def data_uri(media_type: str, text: str) -> str:
    """Return a text as an address that holds it."""
    return f"data:{media_type};base64,{base64.b64encode(text.encode()).decode()}"


def svg_uri(figure: Figure) -> str:
    """Return a figure as an address that holds it."""
    return data_uri("image/svg+xml", figure.svg)


def filled(
    html: str,
    labels: Mapping[str, str],
    texts: Mapping[str, Callable[[str], str]],
    elsewhere: Callable[[str, str], str],
) -> str:
    """Return a page with its markers filled in, and no link that leads nowhere.

    Parameters
    ----------
    html : str
    labels : mapping of str to str
        As `Composed.labels` has them.
    texts : mapping of str to callable
        By the kind of another marker, what stands for its target.
    elsewhere : callable
        What stands for a link to what the page does not have, from target and text.
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
