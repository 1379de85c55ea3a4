"""Words on the page: fixed sentences from the catalogue, names made safe to show."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from typing import Any

from ...records.template_folder import english
from .blocks import (
    Column,
    Link,
    Name,
    Part,
    Row,
    Sentence,
    Styled,
    Table,
    Value,
)
from .labels import label_of, with_labels

LANGUAGE = "en"
SECTIONS = {
    **{"A": "control", "B": "executive", "C": "scope", "D": "data", "E": "method"},
    **{"F": "results", "G": "agreement", "H": "stability", "I": "change"},
    **{"J": "thresholds", "K": "findings", "L": "limits", "M": "provenance"},
    **{"N": "redo", "O": "frameworks", "P": "signoff", "Q": "glossary"},
}
"""The titles of sections in the catalogue, by the letters that are their ids."""
NO_BREAK = "\u00a0"
SHORT = 160
"""Characters of the longest name that a page shows whole."""
ALT = 250
"""Characters of what a figure shows in words."""
_MARKS = {"**": "strong", "*": "em", "~": "sub", "`": "code"}
_JOINT = re.compile(
    r"(?<=[ .,_\-/:;=&|)])(?=.)(?<!\d[.\-](?=\d))"
    r"|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
)
_TOKEN = re.compile(r"(\*\*.+?\*\*|\*[^*]+\*|~[^~]+~|`[^`]+`|\{\w+\})")
_QUOTED = re.compile(r"(?<!\w)'((?:[^'\\]|\\.)+)'")
_UNSEEN_BLANKS = re.compile(r"^\s+|\s+$|\s{2,}|(?! )\s")
_HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


class AsWritten(str):
    """A text of a user's that is shown as it is: neither fields nor marks are read."""


_WORDS: ContextVar[Mapping[str, Any] | None] = ContextVar("_WORDS", default=None)


def catalogue() -> Mapping[str, Any]:
    """Return every sentence of the report, by table and key: ours, and those in use."""
    return _WORDS.get() or english()


@contextmanager
def with_words(more: Mapping[str, Any]) -> Iterator[None]:
    """Let the catalogue have more entries, or others, inside the block."""
    now = catalogue()
    token = _WORDS.set(now if more is now else _merged(now, more))
    try:
        yield
    finally:
        _WORDS.reset(token)


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return one table of words with the entries of another in it."""
    merged = dict(one)
    for key, value in other.items():
        inside = merged.get(key)
        if isinstance(inside, Mapping) and isinstance(value, Mapping):
            value = _merged(inside, value)
        merged[key] = value
    return merged


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


def title_of_check(check: str) -> str:
    """Return what findings of a check are about, in a few words."""
    return str(look_up("findings.title").get(check, check.replace("_", " ")))


def name_of_check(check: str) -> str:
    """Return what a check observes."""
    return str(look_up("checks").get(check, check.replace("_", " ")))


def word(key: str) -> str:
    """Return an entry of the catalogue that has neither fields nor marks."""
    return str(look_up(key))


def say(key: str, **fields: Part | Sentence) -> Sentence:
    """Return a sentence of the catalogue with its fields filled in.

    Only the catalogue's own text is read for marks (``**strong**``, ``*em*``,
    ``~sub~``, `` `code` ``); what is filled in stays as it is.
    """
    entry = look_up(key)
    return (entry,) if isinstance(entry, AsWritten) else _parsed(str(entry), fields)


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


def in_sentence(title: str) -> str:
    """Return the title of a card as it stands within a sentence."""
    is_name = title.split(" ")[0] in look_up("scope.proper_names")
    if title[1:2].islower() and not is_name:  # abbreviations stay too
        return title[:1].lower() + title[1:]
    return title


def show_hidden(text: str) -> str:
    """Return text with every character that hides or reorders others made visible."""
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if unicodedata.category(char) in _HIDDEN else char
        for char in text
    )


def ended(text: str) -> str:
    """Return a text that people wrote as a whole sentence, its full stop included."""
    safe = show_hidden(text.strip())
    return safe if safe.endswith((".", "!", "?", "…")) else f"{safe}."


def in_one_line(*texts: str) -> str:
    """Return texts that are not empty in one line, each but the last `ended`."""
    *before, last = [" ".join(text.split()) for text in texts if text] or [""]
    return " ".join([*map(ended, before), show_hidden(last)])


def display_name(name: str) -> str:
    """Return a name as the page shows it: by its label, nothing hidden, never empty."""
    return shown_value(label_of(name))


def shown_value(text: str) -> str:
    """Return a level, a class or a file as the page shows it: never by a label."""
    shown = _UNSEEN_BLANKS.sub(
        lambda run: "".join(f"⟨U+{ord(char):04X}⟩" for char in run[0]),
        show_hidden(text),
    )
    return shown or word("words.empty_name")


def full_name(name: str) -> Name:
    """Return a name in full."""
    return Name(raw=name, text=display_name(name))


def quoted_names(text: str) -> Sentence:
    """Return a text of the result whose names stand in quotation marks, without them.

    >>> quoted_names("rank of 'size'")
    ('rank of ', Name(raw='size', text='size', whole=''))
    """
    parts = _QUOTED.split(show_hidden(with_labels(text)))
    return tuple(
        Name(raw=part, text=part) if n % 2 else part
        for n, part in enumerate(parts)
        if part
    )


def full_value(text: str) -> Name:
    """Return a level, a class or a file in full."""
    return Name(raw=text, text=shown_value(text))


def short_name(name: str, limit: int = SHORT) -> Name:
    """Return a name, whole unless absurdly long, else cut where its words end."""
    return _short(name, display_name(name), limit)


def short_value(text: str, limit: int = SHORT) -> Name:
    """Return a level or a class in at most `limit` characters."""
    return _short(text, shown_value(text), limit)


def _short(raw: str, whole: str, limit: int) -> Name:
    """Return a name whose middle gives way to "…" where it has too many characters."""
    if len(whole) <= limit:
        return Name(raw, whole)
    each = (limit - 1) // 2
    end, start = end_of_words(whole, each), start_of_words(whole, each)
    return Name(raw, f"{whole[:end]}…{whole[start:]}", whole)


def alt_text(text: str) -> str:
    """Return what a figure shows in words: as long as is read out in one go.

    A longer text ends where a word does.
    """
    return text if len(text) <= ALT else f"{text[: end_of_words(text, ALT - 1)]}…"


def end_of_words(text: str, most: int) -> int:
    """Return where the last word ends that `most` first characters hold whole.

    It is `most` itself where not even the first word fits.
    """
    ends = accumulate(map(len, pieces_of(text)))
    return max((end for end in ends if end <= most), default=most)


def start_of_words(text: str, most: int) -> int:
    """Return where the first word begins that `most` last characters hold whole.

    It is the first of these characters where not even the last word fits.
    """
    *starts, end = accumulate(map(len, pieces_of(text)), initial=0)
    first = end - most
    return min((start for start in starts if start >= first), default=first)


def pieces_of(name: str) -> list[str]:
    """Return a name in the pieces that a line may end after: words, humps of a camel.

    >>> pieces_of("bureau.score_v3 maxDaysURLOpen")
    ['bureau.', 'score_', 'v3 ', 'max', 'Days', 'URL', 'Open']

    A version or a month stays whole:

    >>> pieces_of("challenger-2024-02 v0.4.5")
    ['challenger-', '2024-02 ', 'v0.4.5']
    """
    return _JOINT.split(name)


def is_right_to_left(text: str) -> bool:
    """Return whether some of a text is written from right to left."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


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
    """Return a link to a section, by its letter; the page shows its title."""
    title = word(f"sections.{SECTIONS[letter]}")
    return Link(f"sec-{letter.lower()}", f"{word('words.section')}{NO_BREAK}{title}")


def table_of(
    name: str,
    heads: str,
    columns: str | Sequence[str | Column],
    rows: Iterable[Any],
    **options: Any,
) -> Table:
    """Return a table, its columns in one line and its cells as they are read.

    Parameters
    ----------
    name : str
        Its id without "tab-".
    heads : str
        The table of the catalogue that holds the heads of the columns, by field.
    columns : str or sequence
        Per column "field:kind", with a blank between them: the kind of `Column`, "text"
        if left out. A `Column` stands for itself.
    rows : iterable
        Of each row its cells: by field ("key" is the key of the row), or in the order
        of the columns, or as a `Row`.
    options
        The other attributes of `Table`.
    """
    fields: list[str] = []
    whole: list[Column] = []
    for column in columns.split() if isinstance(columns, str) else columns:
        if isinstance(column, Column):
            whole.append(column)
            fields.append("")
        else:
            field, _, kind = column.partition(":")
            head = say(field if "." in field else f"{heads}.{field}")
            whole.append(Column(head, kind or "text"))  # type: ignore[arg-type]
            fields.append(field.rpartition(".")[2])
    made = (
        Row(tuple(row[field] for field in fields), row.get("key", ""))
        if isinstance(row, Mapping)
        else row
        for row in rows
    )
    return Table(f"tab-{name}", columns=tuple(whole), rows=tuple(made), **options)
