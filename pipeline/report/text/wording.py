"""Words on the page: sentences from the catalogue, and names made safe to show."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from typing import Any

from ...records.template_folder import english
from .blocks import (
    Column,
    Figure,
    Link,
    Name,
    Part,
    Row,
    Sentence,
    Styled,
    Table,
    Value,
    plain,
)
from .labels import label_of, with_labels

LANGUAGE = "en"
SECTIONS = {
    **{"A": "control", "B": "executive", "C": "scope", "D": "data", "E": "method"},
    **{"F": "results", "G": "agreement", "H": "stability", "I": "change"},
    **{"J": "thresholds", "K": "findings", "L": "limits", "M": "provenance"},
    **{"N": "redo", "O": "frameworks", "P": "signoff", "Q": "glossary"},
}
"""Key of each section in the catalogue by its letter, which is its id on the page."""
NO_BREAK = "\u00a0"
SHORT = 160
"""Most characters of a name; longer names are cut."""
ALT = 250
"""Most characters of the alternative text of a figure."""
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
    """A text from the user, in which neither fields nor marks are replaced."""


_WORDS: ContextVar[Mapping[str, Any] | None] = ContextVar("_WORDS", default=None)


def catalogue() -> Mapping[str, Any]:
    """Return the catalogue in use: all sentences of the report, by table and key."""
    return _WORDS.get() or english()


@contextmanager
def with_words(more: Mapping[str, Any]) -> Iterator[None]:
    """Add entries to the catalogue, or replace them, inside the block."""
    now = catalogue()
    token = _WORDS.set(now if more is now else _merged(now, more))
    try:
        yield
    finally:
        _WORDS.reset(token)


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return two nested tables merged; entries of `other` take precedence."""
    merged = dict(one)
    for key, value in other.items():
        inside = merged.get(key)
        if isinstance(inside, Mapping) and isinstance(value, Mapping):
            value = _merged(inside, value)
        merged[key] = value
    return merged


def look_up(key: str) -> Any:
    """Return the entry of the catalogue at a dotted key.

    In a card, the last step of a key is a form of the numbers (difference, ratio, …).
    A sentence in place of a table of forms is the entry of every form; the entry `any`
    of a table is that of all forms missing in it.

    Raises
    ------
    KeyError
        If there is no such entry, with the whole key.
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
    """Return the short title of findings of a check."""
    return str(look_up("findings.title").get(check, check.replace("_", " ")))


def name_of_check(check: str) -> str:
    """Return the name of the quantity that a check observes."""
    return str(look_up("checks").get(check, check.replace("_", " ")))


def word(key: str) -> str:
    """Return an entry of the catalogue that has neither fields nor marks."""
    return str(look_up(key))


def say(key: str, **fields: Part | Sentence) -> Sentence:
    """Return a sentence of the catalogue with its fields filled in.

    Marks (``**strong**``, ``*em*``, ``~sub~``, `` `code` ``) are replaced in the text
    of the catalogue only, not in the fields.
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
    """Return a sentence of all items with `separator` between them."""
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
    """Return the sentence with a capital first letter, unless it starts with a name."""
    if parts and isinstance(parts[0], str):
        return (parts[0][:1].upper() + parts[0][1:], *parts[1:])
    return parts


def in_sentence(title: str) -> str:
    """Return the title of a card for use within a sentence."""
    is_name = title.split(" ")[0] in look_up("scope.proper_names")
    if title[1:2].islower() and not is_name:  # abbreviations keep their capitals
        return title[:1].lower() + title[1:]
    return title


def show_hidden(text: str) -> str:
    """Return text with visible escapes for invisible and reordering characters."""
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if unicodedata.category(char) in _HIDDEN else char
        for char in text
    )


def ended(text: str) -> str:
    """Return a text written by people, safe to show and with a full stop."""
    safe = show_hidden(text.strip())
    return safe if safe.endswith((".", "!", "?", "…")) else f"{safe}."


def in_one_line(*texts: str) -> str:
    """Return texts that are not empty in one line, each but the last with a stop."""
    *before, last = [" ".join(text.split()) for text in texts if text] or [""]
    return " ".join([*map(ended, before), show_hidden(last)])


def display_name(name: str) -> str:
    """Return the label of a name, safe to show and never empty."""
    return shown_value(label_of(name))


def shown_value(text: str) -> str:
    """Return a level, a class or a file name, safe to show; these have no labels."""
    shown = _UNSEEN_BLANKS.sub(
        lambda run: "".join(f"⟨U+{ord(char):04X}⟩" for char in run[0]),
        show_hidden(text),
    )
    return shown or word("words.empty_name")


def full_name(name: str) -> Name:
    """Return the label of a name, not cut."""
    return Name(raw=name, text=display_name(name))


def quoted_names(text: str) -> Sentence:
    """Return a text of the result with the names in quotes as `Name`s without quotes.

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
    """Return a level, a class or a file name, not cut."""
    return Name(raw=text, text=shown_value(text))


def short_name(name: str, limit: int = SHORT) -> Name:
    """Return the label of a name, cut between words if longer than `limit`."""
    return _short(name, display_name(name), limit)


def short_value(text: str, limit: int = SHORT) -> Name:
    """Return a level or a class in at most `limit` characters."""
    return _short(text, shown_value(text), limit)


def _short(raw: str, whole: str, limit: int) -> Name:
    """Return a name, its middle replaced by "…" if longer than `limit`."""
    if len(whole) <= limit:
        return Name(raw, whole)
    each = (limit - 1) // 2
    end, start = end_of_words(whole, each), start_of_words(whole, each)
    return Name(raw, f"{whole[:end]}…{whole[start:]}", whole)


def end_of_words(text: str, most: int) -> int:
    """Return the end of the last whole word among the first `most` characters.

    If not even the first word is whole, it is `most`.
    """
    ends = accumulate(map(len, pieces_of(text)))
    return max((end for end in ends if end <= most), default=most)


def start_of_words(text: str, most: int) -> int:
    """Return the start of the first whole word among the last `most` characters.

    If not even the last word is whole, it is the first of these characters.
    """
    *starts, end = accumulate(map(len, pieces_of(text)), initial=0)
    first = end - most
    return min((start for start in starts if start >= first), default=first)


def pieces_of(name: str) -> list[str]:
    """Return the pieces of a name between which a line may break, also in camelCase.

    >>> pieces_of("bureau.score_v3 maxDaysURLOpen")
    ['bureau.', 'score_', 'v3 ', 'max', 'Days', 'URL', 'Open']

    A version or a month is one piece:

    >>> pieces_of("challenger-2024-02 v0.4.5")
    ['challenger-', '2024-02 ', 'v0.4.5']
    """
    return _JOINT.split(name)


def is_right_to_left(text: str) -> bool:
    """Return whether a text has characters of a right-to-left script."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def key_of(*names: str) -> str:
    """Return an id for HTML made of the names; different names have different ids."""
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
    """Return a link to a section by its letter, with its title as text."""
    title = word(f"sections.{SECTIONS[letter]}")
    return Link(f"sec-{letter.lower()}", f"{word('words.section')}{NO_BREAK}{title}")


def table_of(
    name: str,
    heads: str,
    columns: str | Sequence[str | Column],
    rows: Iterable[Any],
    **options: Any,
) -> Table:
    """Return a table, with the heads of its columns from the catalogue.

    Parameters
    ----------
    name : str
        Its id without "tab-".
    heads : str
        The table of the catalogue with the heads of the columns, by field.
    columns : str or sequence
        Columns as "field:kind", separated by blanks; the kind is that of `Column`, by
        default "text". In a sequence, a `Column` may take the place of such a text.
    rows : iterable
        Rows as mappings of field to cell ("key" is the key of the row), as cells in the
        order of the columns, or as `Row`s.
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


def figure_of(
    name: str,
    draw: Callable[..., Any],
    data: Mapping[str, Any],
    *,
    alt: Sentence,
    headline: Sentence,
    caption: Sentence,
) -> Figure:
    """Return the figure "fig-`name`"; `alt` is cut after a word if too long."""
    text = plain(alt)
    if len(text) > ALT:
        text = f"{text[: end_of_words(text, ALT - 1)]}…"
    return Figure(f"fig-{name}", draw, data, text, headline, caption)
