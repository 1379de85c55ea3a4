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
    plain,
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
LEAST = 13
"""Characters that the head of a caption has at least: "Of these" says nothing."""


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
    is_single: bool = False


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
    tables.sort(key=lambda table: table.is_single)
    single = {table.id: table.caption for table in tables if table.is_single}
    others = {table.id: table.caption for table in tables if not table.is_single}
    figures = [b for b in blocks if isinstance(b, Figure)]
    labels = {
        **_numbered("words.table", tables),
        **_numbered("words.figure", figures),
    }
    indices = (
        _index("lists.tables", others, labels),
        _index("lists.figures", {f.id: f.headline for f in figures}, labels),
        _index("lists.single", single, labels, len(others), is_single=True),
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
    key: str,
    captions: Mapping[str, Sentence],
    labels: Mapping[str, str],
    after: int = 0,
    *,
    is_single: bool = False,
) -> Index:
    """Return an index whose numbers follow `after`."""
    items = (
        Listed(id_, str(number), _head(caption, labels))
        for number, (id_, caption) in enumerate(captions.items(), start=after + 1)
    )
    return Index(word(key), tuple(items), is_single)


def _head(parts: Sentence, labels: Mapping[str, str]) -> Sentence:
    """Return a caption up to its first comma or full stop, without links.

    A comma inside a name ends nothing, nor does one after a word or two.
    """
    head: list[Part] = []
    for part in _flat(parts, labels):
        if isinstance(part, str):
            before = len(plain(tuple(head)))
            for end in re.finditer(r",|\.(\s|$)", part):
                if end[0] != "," or before + end.start() >= LEAST:
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
    texts: list[str] = []
    _add_texts(tuple(sections), texts)
    text = "\n".join(texts)
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


def _add_texts(block: Any, texts: list[str]) -> None:
    """Add every text inside a block that is ours, in the order of the page."""
    if isinstance(block, str):
        texts.append(block)
    elif isinstance(block, tuple | list):
        for item in block:
            _add_texts(item, texts)
    elif isinstance(block, Figure):
        _add_texts((*block.headline, *block.caption), texts)
    elif isinstance(block, UNREAD):
        pass
    elif is_dataclass(block):
        for item in fields(block):
            if item.name not in UNSEEN:
                _add_texts(getattr(block, item.name), texts)
    elif isinstance(block, Mapping):
        _add_texts(tuple(block.values()), texts)


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
            Column(say("lists.file"), "header", 15.5),
            Column(say("lists.held"), width=22),
            Column(say("lists.bytes"), "number", 7.5),
            Column(say("lists.sha256"), "code", 55),
        ),
        rows=rows,
        notes=(beside,),
        shape="wide",
    )
    return (table,)


def _size(name: str, size: int) -> Value:
    return Value(f"attachments[{name!r}]", size, count(size), derived="size of a file")
