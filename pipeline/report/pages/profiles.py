"""Which sections a profile shows, with no link to one that it leaves out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..text.blocks import (
    Card,
    Figure,
    KeyValues,
    Link,
    Name,
    Row,
    Section,
    Table,
    Value,
    plain,
)
from ..text.wording import say, word

LETTERS = {"executive": "ABJP"}
"""The sections of each profile that leaves some out."""
LEAVES = (Value, Name)
WORDS = ("headline", "caption")
"""What of a figure may hold links; its data are for drawing."""


def of_profile(sections: tuple[Section, ...], profile: str) -> tuple[Section, ...]:
    """Return the sections of a profile, the same numbers in all of them.

    Parameters
    ----------
    sections : tuple of Section
        Of the whole report, in their order.
    profile : str
        "executive" keeps A, B, J (with its verdicts alone) and P; any other name keeps
        every section.

    Returns
    -------
    tuple of Section
        A link to what is left out is plain text, and section A names the profile.
    """
    letters = LETTERS.get(profile)
    if letters is None:
        return sections
    blocks = tuple(
        _shortened(section, profile)
        for section in sections
        if section.letter in letters
    )
    return tuple(without_dead_links(blocks, blocks))


def without_dead_links(item: Any, sections: tuple[Section, ...]) -> Any:
    """Return a block, or a tuple of them, with plain text for links to elsewhere.

    Parameters
    ----------
    item : block, sentence or tuple of them
    sections : tuple of Section
        All that links can lead to.
    """
    there = set(_targets(sections))

    def alive(link: Link) -> Any:
        if link.target in there:
            return link
        return link.text or word("profiles.elsewhere")

    return _with_links(item, alive)


def _shortened(section: Section, profile: str) -> Section:
    """Return a section as a short profile shows it."""
    parts = dict(section.parts)
    if section.letter == "A":
        parts["document"] = _document_of(parts["document"], profile)
    elif section.letter == "J":
        parts["checks"] = tuple(_verdicts(table) for table in parts["checks"])
    return replace(section, parts=parts)


def _document_of(document: KeyValues, profile: str) -> KeyValues:
    """Return the control block with what the profile leaves out."""
    sentence = say(
        "profiles.shows", profile=profile, sections=", ".join(LETTERS[profile])
    )
    return replace(document, rows=(*document.rows, (say("profiles.label"), sentence)))


def _verdicts(table: Table) -> Table:
    """Return the table of thresholds with its verdicts alone."""
    heads = {plain(say(f"thresholds.{key}")) for key in ("check", "subject", "verdict")}
    places = [i for i, head in enumerate(table.columns) if plain(head.label) in heads]
    share = 100 / sum(table.columns[i].width for i in places)
    columns = tuple(
        replace(table.columns[i], width=share * table.columns[i].width) for i in places
    )
    rows = tuple(
        replace(row, cells=tuple(row.cells[i] for i in places)) for row in table.rows
    )
    caption = say("profiles.checks")
    short = replace(table, caption=caption, columns=columns, rows=rows, shape="tight")
    return replace(short, notes=(), everything=None)


def _targets(item: Any) -> Iterator[str]:
    """Yield every id that a link can lead to."""
    if isinstance(item, Section):
        yield f"sec-{item.letter.lower()}"
    elif isinstance(item, Card):
        yield f"card-{item.id.lower()}"
    elif isinstance(item, Row):
        yield item.key
    elif hasattr(item, "id"):
        yield item.id
    for inner in _inside(item).values():
        yield from _targets(inner)


def _with_links(item: Any, alive: Callable[[Link], Any]) -> Any:
    """Return a block, or a part of one, with each link as `alive` wants it."""
    if isinstance(item, Link):
        return alive(item)
    inside = {key: _with_links(inner, alive) for key, inner in _inside(item).items()}
    if isinstance(item, tuple):
        return tuple(inside.values())
    if isinstance(item, Mapping):
        return inside
    return replace(item, **inside) if inside else item


def _inside(item: Any) -> dict[Any, Any]:
    """Return what a block is made of, by name or place; nothing of a leaf."""
    if isinstance(item, LEAVES):
        return {}
    if isinstance(item, tuple):
        return dict(enumerate(item))
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, Figure):
        return {name: getattr(item, name) for name in WORDS}
    if is_dataclass(item):
        return {field.name: getattr(item, field.name) for field in fields(item)}
    return {}
