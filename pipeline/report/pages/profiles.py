"""Which sections a profile shows, with no link to one that it leaves out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..text.blocks import (
    Card,
    Figure,
    Group,
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
VERDICTS = 5
"""Rows of checks for which page two has room, each of two lines."""
LEAVES = (str, Value, Name)
WORDS = ("headline", "caption")
"""What of a figure may hold links; its data are for drawing."""


def of_profile(sections: tuple[Section, ...], profile: str) -> tuple[Section, ...]:
    """Return the sections of a profile, the same numbers in all of them.

    Parameters
    ----------
    sections : tuple of Section
        Of the whole report, in their order.
    profile : str
        "executive" keeps A, B, J (the verdicts of what did not pass) and P, which make
        two pages; any other name keeps every section.

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


def on_paper(
    sections: tuple[Section, ...], references: Mapping[str, str]
) -> tuple[Section, ...]:
    """Return the sections without what only a screen shows.

    Parameters
    ----------
    sections : tuple of Section
    references : mapping of str to str
        How running text calls each table: a link to one that is left out says that it
        is in report.html.
    """
    printed: tuple[Section, ...] = tuple(_printed(section) for section in sections)
    there = set(_targets(printed))

    def alive(link: Link) -> Any:
        if link.target in there:
            return link
        name = link.text or references.get(link.target, link.target)
        return plain(say("profiles.on_screen", what=name))

    return tuple(_with_links(printed, alive))


def _printed(item: Any) -> Any:
    """Return a block without single tables, and without groups that held no more."""
    if isinstance(item, tuple):
        printed = (_printed(inner) for inner in item if not _is_on_screen(inner))
        return tuple(printed)
    if isinstance(item, Section):
        return replace(item, parts={k: _printed(v) for k, v in item.parts.items()})
    if isinstance(item, Group):
        return replace(item, blocks=_printed(item.blocks))
    return item


def _is_on_screen(item: Any) -> bool:
    """Return whether only a screen shows a block: single tables, groups of nothing."""
    if isinstance(item, Group):
        return all(_is_on_screen(block) for block in item.blocks)
    return item == () or bool(getattr(item, "is_single", False))


def _shortened(section: Section, profile: str) -> Section:
    """Return a section as a short profile shows it."""
    parts = dict(section.parts)
    if section.letter == "A":
        parts["document"] = _document_of(parts["document"], profile)
    elif section.letter == "J":
        tables = (_verdicts(table) for table in parts["checks"])
        parts["checks"] = tuple(table for table in tables if table.rows)
    return replace(section, parts=parts)


def _document_of(document: KeyValues, profile: str) -> KeyValues:
    """Return the control block with what the profile leaves out."""
    sentence = say(
        "profiles.shows", profile=profile, sections=", ".join(LETTERS[profile])
    )
    return replace(document, rows=(*document.rows, (say("profiles.label"), sentence)))


def _verdicts(table: Table) -> Table:
    """Return the first verdicts of what did not pass; on a screen, all of them open."""
    heads = {plain(say(f"thresholds.{key}")) for key in ("check", "subject", "verdict")}
    places = [i for i, head in enumerate(table.columns) if plain(head.label) in heads]
    share = 100 / sum(table.columns[i].width for i in places)
    columns = tuple(
        replace(table.columns[i], width=share * table.columns[i].width) for i in places
    )

    def short_rows(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(replace(r, cells=tuple(r.cells[i] for i in places)) for r in rows)

    every = replace(
        table,
        id=f"{table.id}-all",
        caption=say("profiles.every"),
        columns=columns,
        rows=short_rows((table.everything or table).rows),
        notes=(),
        everything=None,
        shape="tight",
    )
    bad = () if table.is_single else table.rows  # a single one holds what passed
    first_rows = short_rows(bad[:VERDICTS])
    caption = say("profiles.checks")
    if more := len(bad) - len(first_rows):
        caption += say("profiles.more_checks", n=str(more))
    short = replace(every, id=table.id, caption=caption, rows=first_rows)
    return replace(short, everything=every, is_appended=False)


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
    if not isinstance(item, Row):  # cells hold no target: most of a page is cells
        for inner in _inside(item).values():
            yield from _targets(inner)


def _with_links(item: Any, alive: Callable[[Link], Any]) -> Any:
    """Return a block, or a part of one, with each link as `alive` wants it.

    What holds no other link afterwards is the very same object: most of a page.
    """
    if isinstance(item, Link):
        return alive(item)
    before = _inside(item)
    inside = {key: _with_links(inner, alive) for key, inner in before.items()}
    if all(inside[key] is inner for key, inner in before.items()):
        return item
    if isinstance(item, tuple):
        return tuple(inside.values())
    return inside if isinstance(item, Mapping) else replace(item, **inside)


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
