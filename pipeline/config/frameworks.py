"""Clauses of laws, standards and guidance as data, and their status on a date.

`report.sections.frameworks` maps them to evidence in a report.
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
"""The last two are not binding: their status is "published", not "in force"."""


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One clause of a text, and the evidence for it in a report.

    Attributes
    ----------
    id : str
        The id of its framework and its own, separated by a slash; only that of the
        framework if the text has no parts.
    clause : str
        Its position in the text.
    requirement : str
        The requirement in our words, one sentence.
    section : tuple of str
        Letters of the sections with evidence.
    evidence : tuple of str
        The required evidence, as names of `sections.frameworks.EVIDENCE`.
    source : str
        The source of the text.
    quote : str
        Its wording, at most 25 words.
    beyond : str
        The part that no report can show, as a clause after "because".
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
    """A part of a text, or all of it (empty name), and its first day of application."""

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
        The dates from which its parts apply, as known on `checked_on`.
    checked_on : date
        The day on which a person last checked it.
    clauses : tuple of Clause
    superseded_by : str
        Id of the framework that replaces it from the day on which that one applies.
    note : str
        A note for the reader, in whole sentences.
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
    """The status of a framework on a date.

    Attributes
    ----------
    word : str
        "in force" and "published" hold for all `parts`, "partly in force" for those
        dated up to the day, "applies later" for none.
    parts : tuple of Part
        The parts to which `word` applies; for "superseded", an unnamed part with the
        date of the successor.
    later : tuple of Part
        The parts dated after the day.
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
    """Return all available frameworks by id, in alphabetical order."""
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
    """Return the status of a framework on a day, from its dates and its successor's.

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
