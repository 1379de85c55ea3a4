"""Section Q: the terms, the tables and figures, and the files that come with it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from ...records.ranking import measure_of
from ..text.blocks import (
    Badge,
    Cell,
    Column,
    Figure,
    KeyValues,
    Link,
    Name,
    Part,
    Row,
    Section,
    Sentence,
    Styled,
    Table,
    Value,
    walk,
)
from ..text.number_text import count
from ..text.wording import NO_BREAK, look_up, say, show_hidden, word
from .cards import title_of
from .control import hash_text
from .facts import Facts, card_link

UNSEEN = ("id", "key", "name", "word", "style", "source", "shape")
"""Fields of blocks that no reader sees: they may be made of such names."""
UNREAD = (Link, Name, Value)
"""What holds no words of ours: numbers, and names that others gave."""


@dataclass(frozen=True)
class Listed:
    """A table or figure: where it stands, its number, how its caption begins."""

    target: str
    place: str
    head: Sentence


@dataclass(frozen=True)
class Index:
    """All tables, or all figures."""

    title: str
    items: tuple[Listed, ...]


def lists(facts: Facts, sections: Sequence[Section]) -> Section:
    """Return section Q.

    Parameters
    ----------
    facts : Facts
    sections : sequence of Section
        All others, in the order of the page: what is listed and explained.
    """
    blocks = [block for section in sections for block in walk(section)]
    files = _files(facts)
    tables = [b for b in (*blocks, *files) if isinstance(b, Table)]
    figures = [b for b in blocks if isinstance(b, Figure)]
    labels = {
        **_numbered("words.table", tables),
        **_numbered("words.figure", figures),
    }
    indices = (
        _index("lists.tables", {t.id: t.caption for t in tables}, labels),
        _index("lists.figures", {f.id: f.headline for f in figures}, labels),
    )
    parts = {
        "glossary": _glossary(facts, sections),
        "lists": tuple(index for index in indices if index.items),
        "files": files,
    }
    title, lede = word("sections.lists"), say("lists.lede")
    return Section("Q", "lists", title, lede, parts)


def _numbered(key: str, blocks: Sequence[Table | Figure]) -> dict[str, str]:
    label = word(key).lower()
    return {b.id: f"{label}{NO_BREAK}{n}" for n, b in enumerate(blocks, start=1)}


def _index(
    key: str, captions: Mapping[str, Sentence], labels: Mapping[str, str]
) -> Index:
    items = (
        Listed(id_, str(number), _head(caption, labels))
        for number, (id_, caption) in enumerate(captions.items(), start=1)
    )
    return Index(word(key), tuple(items))


def _head(parts: Sentence, labels: Mapping[str, str]) -> Sentence:
    """Return a caption up to its first comma or full stop, without links.

    A comma inside a name ends nothing.
    """
    head: list[Part] = []
    for part in _flat(parts, labels):
        if isinstance(part, str) and (end := re.search(r",|\.(\s|$)", part)):
            return (*head, part[: end.start()])
        head.append(part)
    return tuple(head)


def _flat(parts: Sentence, labels: Mapping[str, str]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Styled):
            yield from _flat(part.parts, labels)
        elif isinstance(part, Link):
            yield part.text or labels[part.target]
        else:
            yield part.label if isinstance(part, Badge) else part


def _glossary(facts: Facts, sections: Sequence[Section]) -> tuple[KeyValues, ...]:
    """Return the terms that the other sections use, and the measures they show."""
    text = "\n".join(_texts(tuple(sections)))
    terms = [
        ((term["term"],), (term["means"],))
        for term in look_up("glossary").values()
        if any(re.search(rf"\b{find}", text, re.I) for find in term["found"])
    ]
    measures: dict[str, tuple[Sentence, Sentence]] = {}
    for ranking in facts.rankings:
        record = ranking.record
        card = facts.cards[measure_of(record)]
        question = word(f"cards.{record.method}.question.{record.of}")
        entry = (question, " ", card_link(card))
        measures.setdefault(card, (title_of(facts, record), entry))
    blocks = (
        KeyValues("kv-terms", say("lists.terms"), tuple(terms)),
        KeyValues("kv-measures", say("lists.measures"), tuple(measures.values())),
    )
    return tuple(block for block in blocks if block.rows)


def _texts(block: Any) -> Iterator[str]:
    """Yield every text inside a block that is ours, in the order of the page."""
    if isinstance(block, str):
        yield block
    elif isinstance(block, tuple | list):
        for item in block:
            yield from _texts(item)
    elif isinstance(block, Mapping):
        yield from _texts(tuple(block.values()))
    elif isinstance(block, Figure):
        yield from _texts((*block.headline, *block.caption))
    elif is_dataclass(block) and not isinstance(block, UNREAD):
        for item in fields(block):
            if item.name not in UNSEEN:
                yield from _texts(getattr(block, item.name))


def _files(facts: Facts) -> tuple[Sentence | Table, ...]:
    """Return what the PDF carries, as far as this page knows, and what lies beside."""
    beside = say("lists.beside")
    if not facts.attachments:
        return (beside,)
    holds = look_up("lists.holds")
    rows = tuple(
        Row(
            (
                Cell((Styled("code", (show_hidden(name),)),)),
                Cell((holds.get(name, ""),)),
                Cell((_size(name, size),)),
                Cell(hash_text(sha256)),
            )
        )
        for name, (size, sha256) in sorted(facts.attachments.items())
    )
    table = Table(
        id="tab-attachments",
        caption=say("lists.attachments"),
        columns=(
            Column(say("lists.file"), "header", 20),
            Column(say("lists.held"), width=34),
            Column(say("lists.bytes"), "number", 12),
            Column(say("lists.sha256"), "code", 34),
        ),
        rows=rows,
        notes=(beside,),
        shape="wide",
    )
    return (table,)


def _size(name: str, size: int) -> Value:
    return Value(f"attachments[{name!r}]", size, count(size), derived="size of a file")
