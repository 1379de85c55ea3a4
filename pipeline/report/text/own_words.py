"""Words on the page that an audit brings along: its language, cards of its methods."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from ...config.extensions import stored_rows
from ...config.own_words import file_of
from ...records.extensions import in_force
from ...records.result import AuditResult
from .blocks import plain
from .labels import labelled
from .wording import LANGUAGE, AsWritten, say, show_hidden, with_words, word

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
"""The head of a section of a numpydoc docstring."""


@contextmanager
def own_words(result: AuditResult) -> Iterator[None]:
    """Know labels, methods and losses of a result, and its words, inside the block."""
    config = result.run.config
    with ExitStack() as stack:
        stack.enter_context(labelled(result))
        stack.enter_context(in_force(stored_rows(config)))
        file = config.get("files", {}).get(file_of(language_of(result)))
        if file:
            stack.enter_context(with_words(tomllib.loads(file["text"])))
        methods = [e for e in config.get("extensions", ()) if e["kind"] == "method"]
        if methods:
            stack.enter_context(with_words(_cards(methods)))
        yield


def language_of(result: AuditResult) -> str:
    """Return the language that the report of a result is in."""
    return str(result.run.config.get("report", {}).get("language") or LANGUAGE)


def _cards(methods: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the catalogue would say of methods, from their docstrings."""
    cards: dict[str, Any] = {"stream_of": {}}
    limits = {}
    for entry in methods:
        name, text = entry["name"], _texts(entry["text"])
        short = name.partition(":")[2] or name
        nothing = AsWritten(word("own.not_stated"))
        no_limit = AsWritten(word("own.no_limit"))
        limit = text.get("Warnings") or text.get("Notes") or no_limit
        cards[name] = {
            "title": {
                of: plain(say("own.title", name=short, of=word(f"own.{of}")))
                for of in ("features", "groups", "pairs")
            },
            "question": text["summary"] or nothing,
            "why": text["more"] or nothing,
            "formula": word("own.formula"),
            "symbols": word("own.symbols"),
            "limits": limit,
            "reference": text.get("References") or nothing,
            "value": word("own.value"),
            "axis": word("own.axis").replace("{name}", short),
        }
        cards["stream_of"][name] = word("own.stream")
        limits[name] = [limit]
    return {"cards": cards, "limits": {"method": limits}}


def _texts(docstring: str) -> dict[str, AsWritten]:
    """Return the parts of a docstring: summary, more, and each section by its head."""
    body, *rest = SECTION.split(docstring)
    summary, _, more = body.partition("\n\n")
    parts = {"summary": summary, "more": more}
    parts |= dict(zip(rest[::2], rest[1::2], strict=True))
    return {
        name: AsWritten(show_hidden(" ".join(text.split())))
        for name, text in parts.items()
    }
