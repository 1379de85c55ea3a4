"""Section O: where evidence towards clauses is found."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

from ...config.frameworks import Clause, Framework, Part, load_frameworks, status_on
from ..text.blocks import Cells, Row, Section, Sentence, Styled, Table
from ..text.wording import (
    display_name,
    joined,
    look_up,
    say,
    section_link,
    series,
    table_of,
    word,
)
from .control import day_of
from .facts import Facts, config_of


class Place(NamedTuple):
    """Where evidence stands: a section, and how the ids of its blocks begin.

    Without a beginning anything that the section shows is evidence.
    """

    letter: str
    begins: str = ""


EVIDENCE: Mapping[str, Place] = {
    "document_control": Place("A", "kv-document"),
    "executive": Place("B", "tab-executive"),
    "not_tested": Place("C", "tab-untested"),
    "people": Place("C", "tab-people"),
    "performance": Place("D", "tab-performance"),
    "model_card": Place("D", "tab-models"),
    "data_card": Place("D", "tab-columns"),
    "method_cards": Place("E", "card-"),
    "ranking": Place("F", "tab-ranking"),
    "agreement_pairs": Place("G", "tab-pairs"),
    "stability": Place("H"),
    "change": Place("I", "tab-differs"),
    "checks": Place("J", "tab-checks"),
    "findings": Place("K"),
    "limits": Place("L"),
    "inputs": Place("M", "tab-inputs"),
    "environment": Place("M", "kv-environment"),
    "signatures": Place("P", "tab-signatures"),
}
"""What clauses call evidence, by name."""


def frameworks(facts: Facts) -> Section:
    """Return section O: what in the other sections is evidence towards which clause."""
    title, every = word("sections.frameworks"), load_frameworks()
    names = tuple(config_of(facts, "report").get("frameworks", ()))
    if not names:
        lede = say("frameworks.none", ids=", ".join(every))
        return Section("O", "frameworks", title, lede, {"blocks": ()})
    run_day = datetime.fromisoformat(str(facts.result.run.volatile["started"])).date()

    def parts(bodies: Mapping[str, str]) -> dict[str, Any]:
        there = evidence_in(bodies)
        blocks = tuple(
            _table(every[name], run_day, there)
            if name in every
            else say("frameworks.unknown", name=display_name(name))
            for name in names
        )
        return {"blocks": blocks}

    return Section("O", "frameworks", title, say("frameworks.rule"), parts)


def evidence_in(bodies: Mapping[str, str]) -> set[str]:
    """Return the names of the evidence in these sections: their HTML, by letter."""
    return {
        name
        for name, (letter, begins) in EVIDENCE.items()
        if f' id="{begins}' in (body := bodies.get(letter, ""))
        and 'class="brief"' not in body
    }


def _table(framework: Framework, run_day: date, there: set[str]) -> Table:
    """Return what of this report is evidence towards each clause of a framework."""
    checked = day_of(framework.checked_on.isoformat())
    notes = (framework.note,) if framework.note else ()
    return table_of(
        f"framework-{framework.id}",
        "frameworks",
        "clause:header requirement evidence",
        [_row(clause, there) for clause in framework.clauses],
        caption=say(
            "frameworks.caption",
            id=framework.id,
            title=framework.title,
            issuer=framework.issuer,
            jurisdiction=framework.jurisdiction,
            kind=framework.kind,
            day=day_of(run_day.isoformat()),
            status=_status(framework, run_day),
        ),
        notes=(notes, say("frameworks.checked", day=checked)),
    )


def _status(framework: Framework, run_day: date) -> Sentence:
    """Return what a framework is on the day of the run, as a clause of a sentence."""
    status = status_on(run_day, framework)
    return say(
        f"frameworks.status.{status.word.replace(' ', '_')}",
        name=framework.superseded_by,
        dates=joined(_dated(part) for part in status.parts),
        later=joined(_dated(part) for part in status.later),
    )


def _dated(part: Part) -> Sentence:
    """Return the day of a part, and which part if it is not the whole."""
    day = day_of(part.date.isoformat())
    return say("frameworks.part", part=part.part, day=day) if part.part else (day,)


def _row(clause: Clause, there: set[str]) -> Cells:
    """Return where a clause stands, what it asks, and what is shown of it."""
    requirement: Sentence = (clause.requirement,)
    if clause.quote:
        requirement += (Styled("line", say("frameworks.quote", text=clause.quote)),)
    requirement += (Styled("line", say("frameworks.source", text=clause.source)),)
    return Row(
        (
            (clause.clause, Styled("line", (clause.id,))),
            requirement,
            _evidence(clause, there),
        ),
        f"clause-{clause.id.replace('/', '-')}",
    )


def _evidence(clause: Clause, there: set[str]) -> Sentence:
    """Return where evidence towards a clause is shown, or why not or in part only."""
    present = [name for name in clause.evidence if name in there]
    reasons = [
        look_up("frameworks.missing")[name]
        for name in clause.evidence
        if name not in there
    ]
    reasons += [clause.beyond] if clause.beyond and present else []
    letters = dict.fromkeys(EVIDENCE[name].letter for name in present)
    where = series(section_link(letter) for letter in letters)
    why = joined(reasons, "; ")
    if not present:
        return say("frameworks.not_shown", why=why)
    key = "partly" if reasons else "shown"
    return say(f"frameworks.{key}", where=where, why=why)
