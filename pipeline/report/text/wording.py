"""Words on the page: fixed sentences from the catalogue, names made safe to show."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ...records.template_folder import templates
from .blocks import Link, Name, Part, Sentence, Styled, Value

LANGUAGE = "en"
NO_BREAK = "\u00a0"
SHORT = 60
_MARKS = {"**": "strong", "*": "em", "~": "sub", "`": "code"}
_JOINT = re.compile(
    r"(?<=[ .,_\-/:;=&|)])(?=.)|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
)
_TOKEN = re.compile(r"(\*\*.+?\*\*|\*[^*]+\*|~[^~]+~|`[^`]+`|\{\w+\})")
_HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@cache
def catalogue() -> Mapping[str, Any]:
    """Return every fixed sentence of the report, by table and key."""
    return tomllib.loads(
        (templates() / f"strings.{LANGUAGE}.toml").read_text(encoding="utf-8")
    )


def look_up(key: str) -> Any:
    """Return the entry of the catalogue at a dotted key.

    A card says once what holds for every form of its numbers: a sentence where a table
    could be holds for every last step of the key, the entry `any` of a table for every
    last step that the table does not have.

    Raises
    ------
    KeyError
        If there is none, with the whole key.
    """
    *steps, last = key.split(".")
    entry: Any = catalogue()
    for step in steps:
        entry = entry.get(step) if isinstance(entry, Mapping) else None
    if isinstance(entry, Mapping):
        entry = entry.get(last, entry.get("any"))
    elif steps[:1] != ["cards"]:
        entry = None
    if entry is None:
        raise KeyError(f"strings.{LANGUAGE}.toml has no entry {key!r}.")
    return entry


def word(key: str) -> str:
    """Return an entry of the catalogue that has neither fields nor marks."""
    return str(look_up(key))


def say(key: str, **fields: Part | Sentence) -> Sentence:
    """Return a sentence of the catalogue with its fields filled in.

    Only the catalogue's own text is read for marks (``**strong**``, ``*em*``,
    ``~sub~``, `` `code` ``); what is filled in stays as it is.
    """
    return _parsed(str(look_up(key)), fields)


def _parsed(text: str, fields: Mapping[str, Part | Sentence]) -> Sentence:
    parts: list[Part] = []
    for token in _TOKEN.split(text):
        mark = next((mark for mark in _MARKS if token.startswith(mark)), "")
        if mark and len(token) > len(mark):
            inside = _parsed(token[len(mark) : -len(mark)], fields)
            parts.append(Styled(_MARKS[mark], inside))
        elif re.fullmatch(r"\{\w+\}", token):
            filled = fields[token[1:-1]]
            parts.extend(filled if isinstance(filled, tuple) else (filled,))
        elif token:
            parts.append(token)
    return tuple(parts)


def joined(items: Iterable[Part | Sentence], separator: str = ", ") -> Sentence:
    """Return items one after another, with `separator` between them."""
    parts: list[Part] = []
    for item in items:
        if parts:
            parts.append(separator)
        parts.extend(item if isinstance(item, tuple) else (item,))
    return tuple(parts)


def series(items: Iterable[Part | Sentence]) -> Sentence:
    """Return items as a series: "a", "a and b", "a, b and c"."""
    listed = list(items)
    if len(listed) < 2:
        return joined(listed)
    head, last = joined(listed[:-1]), listed[-1]
    return joined((head, last), f" {word('words.and')} ")


def say_count(value: Value, noun: str) -> Sentence:
    """Return a count and its noun: "1 finding", "2 findings"."""
    one, many = look_up(f"nouns.{noun}")
    return (value, " ", one if value.raw == 1 else many)


def sentence_case(parts: Sentence) -> Sentence:
    """Return the parts with the first letter of their own words in upper case."""
    if parts and isinstance(parts[0], str):
        return (parts[0][:1].upper() + parts[0][1:], *parts[1:])
    return parts


def show_hidden(text: str) -> str:
    """Return text with every character that hides or reorders others made visible."""
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if unicodedata.category(char) in _HIDDEN else char
        for char in text
    )


def _show_blanks(text: str) -> str:
    """Return text with the blanks that a reader would not see made visible."""
    blank = re.compile(r"^\s+|\s+$|\s{2,}|(?! )\s")
    return blank.sub(lambda run: "".join(f"⟨U+{ord(c):04X}⟩" for c in run[0]), text)


def ended(text: str) -> str:
    """Return a text that people wrote as a whole sentence, its full stop included."""
    safe = show_hidden(text.strip())
    return safe if safe.endswith((".", "!", "?", "…")) else f"{safe}."


def display_name(name: str) -> str:
    """Return a name as the page shows it: nothing in it hidden, never empty."""
    return _show_blanks(show_hidden(name)) or word("words.empty_name")


def full_name(name: str) -> Name:
    """Return a name in full."""
    return Name(raw=name, text=display_name(name))


def short_name(name: str, limit: int = SHORT) -> Name:
    """Return a name of at most `limit` characters, cut in the middle."""
    text = display_name(name)
    if len(text) > limit:
        head = (limit - 1) // 2
        text = f"{text[:head]}…{text[head + 1 - limit :]}"
    return Name(raw=name, text=text)


def pieces_of(name: str) -> list[str]:
    """Return a name in the pieces that a line may end after: words, humps of a camel.

    >>> pieces_of("bureau.score_v3 maxDaysURLOpen")
    ['bureau.', 'score_', 'v3 ', 'max', 'Days', 'URL', 'Open']
    """
    return _JOINT.split(name)


def key_of(*names: str) -> str:
    """Return an id for HTML that depends on the names only, and differs if they do."""
    import hashlib

    slug = "-".join(
        re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") for name in names if name
    )
    safe = re.sub(r"-+", "-", slug)[:80].strip("-")
    plainly = "-".join(name for name in names if name)
    if safe == plainly:
        return safe
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass"))
    return f"{safe}-{digest.hexdigest()[:6]}".strip("-")


def section_link(letter: str) -> Link:
    """Return a link to a section, by its letter."""
    return Link(f"sec-{letter.lower()}", f"{word('words.section')}{NO_BREAK}{letter}")
