"""Section O: the sections with evidence for the clauses of frameworks."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from ...config.frameworks import Clause, Framework, Part, load_frameworks, status_on
from ..text.blocks import Row, Section, Sentence, Styled, Table
from ..text.wording import (
    display_name,
    joined,
    look_up,
    say,
    section_link,
    series,
    table_of,
)
from .control import day_of
from .facts import Facts, config_of, section

EVIDENCE: Mapping[str, tuple[str, str]] = {
    "document_control": ("A", "kv-document"),
    "executive": ("B", "tab-executive"),
    "not_tested": ("C", "tab-untested"),
    "people": ("C", "tab-people"),
    "performance": ("D", "tab-performance"),
    "model_card": ("D", "tab-models"),
    "data_card": ("D", "tab-columns"),
    "method_cards": ("E", "card-"),
    "ranking": ("F", "tab-ranking"),
    "agreement_pairs": ("G", "tab-pairs"),
    "stability": ("H", ""),
    "change": ("I", "tab-differs"),
    "checks": ("J", "tab-checks"),
    "findings": ("K", ""),
    "limits": ("L", ""),
    "inputs": ("M", "tab-inputs"),
    "environment": ("M", "kv-environment"),
    "signatures": ("P", "tab-signatures"),
}
"""The place of each kind of evidence: a section, and the prefix of ids of its blocks.

With an empty prefix, any block of the section is evidence.
"""


def frameworks(facts: Facts) -> Section:
    """Return section O: the evidence in other sections for each clause."""
    every = load_frameworks()
    names = tuple(config_of(facts, "report").get("frameworks", ()))
    if not names:
        lede = say("frameworks.none", ids=", ".join(every))
        return section("O", lede, {"blocks": ()})
    run_day = datetime.fromisoformat(str(facts.result.run.volatile["started"])).date()

    def parts(bodies: Mapping[str, str]) -> dict[str, Any]:
        present = evidence_in(bodies)
        blocks = tuple(
            _table(every[name], run_day, present)
            if name in every
            else say("frameworks.unknown", name=display_name(name))
            for name in names
        )
        return {"blocks": blocks}

    return section("O", say("frameworks.rule"), parts)


def evidence_in(bodies: Mapping[str, str]) -> set[str]:
    """Return the names of the evidence in sections, given as HTML by letter."""
    return {
        name
        for name, (letter, begins) in EVIDENCE.items()
        if f' id="{begins}' in (body := bodies.get(letter, ""))
        and 'class="brief"' not in body
    }


def _table(framework: Framework, run_day: date, present: set[str]) -> Table:
    """Return the table of clauses of a framework, with the evidence in this report."""

    def dated(parts: Iterable[Part]) -> Sentence:
        days = ((part.part, day_of(part.date.isoformat())) for part in parts)
        return joined(
            say("frameworks.part", part=part, day=day) if part else day
            for part, day in days
        )

    status = status_on(run_day, framework)
    checked = day_of(framework.checked_on.isoformat())
    notes = (framework.note,) if framework.note else ()
    return table_of(
        f"framework-{framework.id}",
        "frameworks",
        "clause:header requirement evidence",
        [_row(clause, present) for clause in framework.clauses],
        caption=say(
            "frameworks.caption",
            id=framework.id,
            title=framework.title,
            issuer=framework.issuer,
            jurisdiction=framework.jurisdiction,
            kind=framework.kind,
            day=day_of(run_day.isoformat()),
            status=say(
                f"frameworks.status.{status.word.replace(' ', '_')}",
                name=framework.superseded_by,
                dates=dated(status.parts),
                later=dated(status.later),
            ),
        ),
        notes=(notes, say("frameworks.checked", day=checked)),
    )


def _row(clause: Clause, present: set[str]) -> Row:
    """Return the row of a clause: its number, requirement and evidence.

    If evidence is missing or shown only in part, the row has the reasons.
    """
    requirement: Sentence = (clause.requirement,)
    if clause.quote:
        requirement += (Styled("line", say("frameworks.quote", text=clause.quote)),)
    requirement += (Styled("line", say("frameworks.source", text=clause.source)),)
    shown = [name for name in clause.evidence if name in present]
    missing = look_up("frameworks.missing")
    reasons = [missing[name] for name in clause.evidence if name not in present]
    if shown and clause.beyond:
        reasons.append(clause.beyond)
    letters = dict.fromkeys(EVIDENCE[name][0] for name in shown)
    key = ("partly" if reasons else "shown") if shown else "not_shown"
    evidence = say(
        f"frameworks.{key}",
        where=series(section_link(letter) for letter in letters),
        why=joined(reasons, "; "),
    )
    name = (clause.clause, Styled("line", (clause.id,)))
    target = f"clause-{clause.id.replace('/', '-')}"
    return Row((name, requirement, evidence), target)
