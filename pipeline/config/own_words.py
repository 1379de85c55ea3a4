"""Texts of the report in another language, or in the terms of a company.

``strings.<language>.toml`` in the folder of audit.toml replaces some or all texts; the
others stay in English.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from ..records.errors import did_you_mean, listed, quote, several
from ..records.template_folder import english, english_text

FIELD = re.compile(r"\{\w+\}")
"""A placeholder in a text of the catalogue."""
WORDS = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
"""A match means that a text has several words."""


def file_of(language: str) -> str:
    """Return the name of the file with the texts of a language."""
    return f"strings.{language}.toml"


def words_to_translate(language: str) -> str:
    """Return the file that a translator edits: every entry, in English."""
    head = (
        f"# The words of the report: translate the texts, and put {file_of(language)} "
        f'beside audit.toml\n# with language = "{language}" under [report]. Entries '
        "may be left out: they stay in English.\n# Keep every {field}, and the marks.\n"
        "#\n"
    )
    return head + english_text()


def problems_of(text: str) -> list[str]:
    """Return a sentence for each problem of a file of texts."""
    try:
        words = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [f"is no TOML: {error}. Correct it."]
    return [f"{key} {fault}" for key, fault in _faults(words)]


def missing_in(text: str) -> list[str]:
    """Return the keys that a valid file of texts leaves in English.

    A text of several words that equals the English one is not translated; a single
    word, such as "Index", may be the same in both languages.
    """
    own = dict(_entries(tomllib.loads(text)))
    return [
        key
        for key, words in _entries(english())
        if key not in own
        or (own[key] == words and WORDS.search(FIELD.sub("", str(words))))
    ]


def describe_missing(keys: list[str]) -> str:
    """Return a sentence about the texts that stay in English."""
    if not keys:
        return "It has every text of the report."
    return f"It leaves {several(len(keys), 'text')} in English: {listed(keys)}."


def _entries(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each text, or list of texts, by its dotted key."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _entries(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _faults(own: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each key of a file of texts that cannot be used, and the problem."""
    known = dict(_entries(english()))
    for key, value in _entries(own):
        if key not in known:
            remedy = did_you_mean(key, known) or " Remove it."
            yield key, f"is no entry of the report.{remedy}"
            continue
        texts, true = (v if isinstance(v, list) else [v] for v in (value, known[key]))
        if isinstance(value, list) != isinstance(known[key], list) or (
            len(texts) != len(true) or not all(isinstance(t, str) for t in texts)
        ):
            form = f"{len(true)} texts" if isinstance(known[key], list) else "a text"
            yield key, f"must be {form}."
            continue
        for text, original in zip(texts, true, strict=True):
            has, needs = (sorted(set(FIELD.findall(t))) for t in (text, original))
            if lost := [name for name in needs if name not in has]:
                yield key, f"has lost {listed(lost)}: {quote(text)}."
            if more := [name for name in has if name not in needs]:
                rule = f"the fields are {listed(needs)}" if needs else "it has no field"
                yield key, f"has {listed(more)}, which nothing fills in; {rule}."
