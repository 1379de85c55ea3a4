"""The words of the register: state, answer and past of a finding; what is closed.

Not: what a finding says itself (`findings`).
"""

from collections.abc import Mapping
from typing import Any

from ...runs.signoff.finding_states import Standing
from ..text.blocks import Cell, Column, Row, Sentence, Table
from ..text.wording import (
    SHORT,
    counted,
    display_name,
    ended,
    joined,
    look_up,
    named,
    say,
    sentence_case,
    shortened,
    shown,
    word,
)
from .facts import Facts, tallied

IN_WORDS = ("accepted", "expired", "lapsed")
"""States of an exception that have a sentence of their own."""


def title_of(check: str, subject: str, limit: int = SHORT) -> Sentence:
    """Return what a finding is about in a few words, with its subject."""
    title = look_up("findings.title").get(check, check.replace("_", " "))
    return (title, " (", shortened(subject, limit), ")") if subject else (title,)


def standing_of(facts: Facts, key: str) -> Standing | None:
    """Return where a finding of this run stands, None of a note nobody answered."""
    return next((s for s in facts.register if s.is_found and s.key == key), None)


def state(facts: Facts, standing: Standing) -> Sentence:
    """Return the state of a finding in words, with its day or its run."""
    day = str(standing.answer.get("accepted_until", ""))
    told = say(f"findings.state.{standing.state}", day=day, run=named(facts.run_id))
    if standing.is_found or standing.state == "closed":
        return told
    return say("findings.state.unseen", state=told)


def summary(facts: Facts, standing: Standing) -> Sentence:
    """Return state, owner and day of a finding in one line."""
    owner = str(standing.answer.get("owner", "")) or facts.note("owner")
    return say(
        "findings.standing",
        state=state(facts, standing),
        owner=shown(owner) if owner else word("findings.nobody"),
        due=_due(standing),
    )


def _due(standing: Standing) -> Sentence:
    day = str(standing.answer.get("due", ""))
    if standing.is_overdue:
        return say("findings.late", day=day)
    return (day or word("findings.no_day"),)


def rows(facts: Facts, standing: Standing) -> dict[str, Sentence]:
    """Return what people answered, and the runs that found it; "" if there is none."""
    answer = standing.answer
    return {
        "response": _text(answer, "response"),
        "exception": _exception(answer),
        "control": _text(answer, "control"),
        "history": _history(facts, standing),
    }


def _text(answer: Mapping[str, Any], name: str) -> Sentence:
    text = str(answer.get(name, ""))
    return (ended(text),) if text else ()


def _exception(answer: Mapping[str, Any]) -> Sentence:
    """Return until when a finding is accepted, by whom and why, and if it counts."""
    if not answer.get("accepted_until"):
        return ()
    state_ = str(answer["state"])
    return say(
        f"findings.{state_ if state_ in IN_WORDS else 'refused'}",
        day=str(answer["accepted_until"]),
        by=display_name(str(answer["approved_by"])),
        reason=ended(str(answer["reason"])),
    )


def _history(facts: Facts, standing: Standing) -> Sentence:
    """Return the first run that found it and how many did, of an audit with a past."""
    before = facts.history.n_runs
    if not before:
        return ()
    if standing.times == 1:
        runs = counted(tallied("history.runs", before), "past_run")
        told = say("findings.first_here", runs=runs)
    else:
        told = say(
            "findings.again" if standing.state == "reopened" else "findings.first",
            run=named(standing.first_run),
            n=tallied("history.findings", standing.times),
            runs=tallied("history.runs", before + 1),
        )
    return (*sentence_case(told), ".")


def by_state(facts: Facts) -> Sentence:
    """Return how many findings are not open, by state, and how many are overdue."""
    told = []
    for name, label in look_up("findings.states").items():
        is_late = name == "overdue"
        n = sum(s.is_overdue if is_late else s.state == name for s in facts.register)
        if n:
            number = tallied("answers.overdue" if is_late else "answers.state", n)
            told.append(say("findings.by_state", n=number, state=label))
    return (" ", *joined(told), ".") if told else ()


def not_found(facts: Facts) -> tuple[Table, ...]:
    """Return a short table of what runs before found and this one has not."""
    gone = [standing for standing in facts.register if not standing.is_found]
    if not gone:
        return ()
    table = Table(
        id="tab-not-found",
        caption=say("findings.closed_caption"),
        columns=(
            Column(say("findings.closed_finding"), "header", 30),
            Column(say("findings.closed_severity"), width=9),
            Column(say("findings.closed_state"), width=27),
            Column(say("findings.closed_first"), width=27),
            Column(say("findings.closed_times"), "number", 7),
        ),
        rows=tuple(_row(facts, standing) for standing in gone),
        notes=(say("findings.closed_note"),),
    )
    return (table,)


def _row(facts: Facts, standing: Standing) -> Row:
    number = tallied("history.findings", standing.times)
    words = state(facts, standing)
    if standing.is_overdue:
        words = joined((words, _due(standing)))
    return Row(
        (
            Cell(title_of(standing.check, standing.subject)),
            Cell((word(f"severity.{standing.severity}"),)),
            Cell(words),
            Cell((named(standing.first_run),)),
            Cell((number,)),
        )
    )
