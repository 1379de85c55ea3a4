"""Clauses of laws, standards and guidance as data, and their status on a date.

Not: what a report shows towards them (`report.frameworks_section`).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal, NamedTuple

from ..records.template_folder import templates

KINDS = (
    *("law", "regulation", "supervisory guidance"),
    *("standard", "voluntary"),
)
"""The last two bind nobody: they are published, not in force."""


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One clause whose text was read, and what of a report is evidence towards it.

    Attributes
    ----------
    id : str
        The id of its framework, and after a slash its own; the framework's alone if
        its text has no parts.
    clause : str
        Where it stands in the text.
    requirement : str
        What it asks, in our words, one sentence.
    section : tuple of str
        Letters of the sections in which evidence stands.
    evidence : tuple of str
        What must be there, by the names of `report.frameworks_section.EVIDENCE`.
    source : str
        What was read.
    quote : str
        Its wording, at most 25 words.
    beyond : str
        What no report can show of it, as it follows "because".
    """

    id: str
    clause: str
    requirement: str
    section: tuple[str, ...]
    evidence: tuple[str, ...]
    source: str
    quote: str = ""
    beyond: str = ""


class Part(NamedTuple):
    """What applies from a date: a part of a text, or all of it (an empty name)."""

    part: str
    date: date


@dataclass(frozen=True, kw_only=True)
class Framework:
    """One text with clauses.

    Attributes
    ----------
    id, title, issuer, jurisdiction : str
    kind : str
        One of `KINDS`.
    parts : tuple of Part
        From when it applies, as far as known on `checked_on`.
    checked_on : date
        The day a person last looked.
    clauses : tuple of Clause
    superseded_by : str
        Id of the framework that took its place, on the day that one applies.
    note : str
        What a reader must know of it, in whole sentences.
    """

    id: str
    title: str
    issuer: str
    jurisdiction: str
    kind: str
    parts: tuple[Part, ...]
    checked_on: date
    clauses: tuple[Clause, ...]
    superseded_by: str = ""
    note: str = ""


class Status(NamedTuple):
    """What a framework is on a date.

    Attributes
    ----------
    word : str
        "in force" and "published" hold for all `parts`, "partly in force" for those
        dated up to the day, "applies later" for none.
    parts : tuple of Part
        Those that `word` tells of; for "superseded" the successor and its date.
    later : tuple of Part
        Those dated after the day.
    """

    word: Literal[
        "superseded",
        "published",
        "in force",
        "partly in force",
        "applies later",
    ]
    parts: tuple[Part, ...] = ()
    later: tuple[Part, ...] = ()


@cache
def load_frameworks() -> Mapping[str, Framework]:
    """Return every framework on offer, by its id, in alphabetical order."""
    frameworks = {}
    for file in sorted((templates() / "frameworks").glob("*.toml")):
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        head = document["framework"]
        parts = [Part(**part) for part in head.pop("effective_parts", ())]
        whole = [Part("", head.pop("effective"))] if "effective" in head else []
        clauses = (
            {k: tuple(v) if isinstance(v, list) else v for k, v in clause.items()}
            for clause in document["clause"]
        )
        frameworks[file.stem] = Framework(
            parts=(*whole, *sorted(parts, key=lambda part: part.date)),
            clauses=tuple(Clause(**clause) for clause in clauses),
            **head,
        )
    return frameworks


def status_on(day: date, framework: Framework) -> Status:
    """Return what a framework is on a day, from its dates and its successor's.

    Parameters
    ----------
    day : date
        The day of the run.
    framework : Framework

    Returns
    -------
    Status
        "superseded" from the first day on which the successor applies.
    """
    successor = load_frameworks().get(framework.superseded_by)
    if successor and successor.parts[0].date <= day:
        return Status("superseded", (Part("", successor.parts[0].date),))
    now = tuple(part for part in framework.parts if part.date <= day)
    later = tuple(part for part in framework.parts if part.date > day)
    if not now:
        return Status("applies later", later, later)
    if framework.kind in ("standard", "voluntary"):
        return Status("published", now, later)
    return Status("partly in force" if later else "in force", now, later)
