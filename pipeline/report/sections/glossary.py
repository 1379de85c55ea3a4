"""Section Q: the terms that the report uses, and where its numbers lie."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from ..text.blocks import Figure, KeyValues, Link, Name, Section, Value
from ..text.wording import look_up, say, word

UNSEEN = ("id", "key", "name", "word", "style", "source", "shape")
"""Fields of blocks that no reader sees: they may be made of such names."""
UNREAD = (Link, Name, Value)
"""What holds no words of ours: numbers, and names that others gave."""


def glossary(sections: Sequence[Section]) -> Section:
    """Return section Q: the terms that occur in the other sections."""
    texts: list[str] = []
    _add_texts(tuple(sections), texts)
    text = "\n".join(texts)
    terms = tuple(
        ((term["term"],), (term["means"],))
        for term in look_up("glossary").values()
        if any(re.search(rf"\b{find}", text, re.I) for find in term["found"])
    )
    blocks = (KeyValues("kv-terms", say("glossary_section.terms"), terms),)
    title, lede = word("sections.glossary"), say("glossary_section.lede")
    return Section("Q", "glossary", title, lede, {"blocks": blocks if terms else ()})


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
