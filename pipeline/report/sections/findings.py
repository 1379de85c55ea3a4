"""Section K: what was found, as a register that can be answered."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...engines.agreement import subject_of
from ...records.finding import Finding
from ...records.result import AuditResult
from ...runs.signoff.finding_states import Standing
from ..text.blocks import (
    Cell,
    Column,
    Entry,
    KeyValues,
    Link,
    Row,
    Section,
    Sentence,
    Styled,
    Table,
    Value,
)
from ..text.number_text import significant
from ..text.wording import (
    SHORT,
    display_name,
    ended,
    full_name,
    joined,
    look_up,
    say,
    say_count,
    sentence_case,
    short_name,
    show_hidden,
    word,
)
from .facts import Facts, tallied

KEY_DIGITS = 12
SEVERITIES = ("failure", "warning", "info")

IN_WORDS = ("accepted", "expired", "lapsed")
"""States of an exception that have a sentence of their own."""


def gravest(result: AuditResult) -> list[Finding]:
    """Return the findings, failures first, else in the order they were made."""
    return sorted(result.findings, key=lambda f: SEVERITIES.index(f.severity))


def title_of(finding: Finding) -> Sentence:
    """Return what a finding is about in a few words, with its subject."""
    return title_of_check(finding.check, finding.subject)


def ids_of(result: AuditResult) -> dict[int, str]:
    """Return the ids of the findings on the page, by `id`: their keys, short.

    Of several findings with one key, those after the first say which they are.
    """
    counts, ids = Counter[str](), dict[int, str]()
    for finding in result.findings:
        counts[finding.key] += 1
        place, short = counts[finding.key], f"finding-{finding.key[:KEY_DIGITS]}"
        ids[id(finding)] = short if place == 1 else f"{short}-{place}"
    return ids


def link_to(finding: Finding, result: AuditResult) -> Link:
    """Return a link to where a finding stands in full, by its number."""
    places = [id(other) for other in gravest(result)]
    return Link(ids_of(result)[id(finding)], f"K{places.index(id(finding)) + 1}")


def tally(result: AuditResult) -> Sentence:
    """Return the number of findings of each severity."""
    return joined(
        say_count(tallied("findings", sum(f.severity == s for f in result.findings)), s)
        for s in SEVERITIES
    )


def findings(facts: Facts) -> Section:
    """Return section K: every finding, the gravest first."""
    places = {id(finding): i for i, finding in enumerate(facts.result.findings)}
    ids, order = ids_of(facts.result), map(id, gravest(facts.result))
    links = {id_: Link(ids[id_], f"K{n}") for n, id_ in enumerate(order, 1)}
    entries = tuple(
        _entry(facts, finding, links[id(finding)], places[id(finding)])
        for finding in gravest(facts.result)
    )
    lede = (*tally(facts.result), ".") if entries else say("findings.none")
    lede += tally_by_state(facts)
    parts = {"entries": entries, "not_found": not_found_table(facts)}
    return Section("K", "findings", word("sections.findings"), lede, parts)


def _entry(facts: Facts, finding: Finding, link: Link, place: int) -> Entry:
    """Return a finding with the facts behind it, or a note in one paragraph."""
    standing = standing_of(facts, finding.key)
    message = " ".join(filter(None, (finding.message, finding.remedy)))
    return Entry(
        id=link.target,
        number=link.text,
        title=title_of(finding),
        severity=finding.severity,
        label=word(f"severity.{finding.severity}"),
        summary=summary_of(facts, standing) if standing else (show_hidden(message),),
        facts=_facts_of(facts, finding, standing, link, place) if standing else None,
    )


def _facts_of(
    facts: Facts, finding: Finding, standing: Standing, link: Link, place: int
) -> KeyValues:
    """Return the rows of the register; a row without content is left out."""
    effects = look_up("findings.effect")
    rows: dict[str, Sentence] = {
        "condition": (show_hidden(finding.message),),
        "criteria": _criteria(facts, finding),
        "cause": _cause(facts, finding),
        "consequence": (effects.get(finding.check, ""),),
        "evidence": _evidence(finding, place),
        "recommendation": (show_hidden(finding.remedy),),
        **answer_rows(facts, standing),
        "key": (Styled("code", (finding.key[:KEY_DIGITS],)),),
    }
    texts = (
        (say(f"findings.{name}"), text) for name, text in rows.items() if any(text)
    )
    title = say("findings.caption", number=link.text)
    return KeyValues(f"{link.target}-facts", title, tuple(texts))


def _criteria(facts: Facts, finding: Finding) -> Sentence:
    """Return the limit that a finding was held against, and who set it."""
    frame = facts.result.checks
    rows = (frame["check"] == finding.check) & (frame["subject"] == finding.subject)
    if not rows.any():
        return ()
    place = int(rows.to_numpy().argmax())
    row, path = frame.iloc[place], f"checks[{place}].threshold"
    limit = row["threshold"]
    limit_text: Sentence = (show_hidden(limit),) if isinstance(limit, str) else ()
    limit_text = limit_text or (Value(path, float(limit), significant(float(limit))),)
    what = look_up("checks").get(finding.check, finding.check.replace("_", " "))
    setter = look_up("thresholds.setters").get(
        row["set_by"], show_hidden(row["set_by"])
    )
    return say("findings.limit", what=what, limit=limit_text, set_by=setter)


def _cause(facts: Facts, finding: Finding) -> Sentence:
    """Return the class of cause that the audit found for a disagreement."""
    if finding.check != "disagreement":
        return ()
    rows = facts.result.agreement.to_dict("records")
    classes = (row["cause"] for row in rows if subject_of(row) == finding.subject)
    return (show_hidden(str(next(filter(None, classes), ""))),)


def _evidence(finding: Finding, place: int) -> Sentence:
    return joined(
        (
            f"{show_hidden(name).replace('_', ' ')} ",
            Value(
                f"findings[{place}].evidence[{name!r}]",
                float(number),
                significant(float(number)),
            ),
        )
        for name, number in finding.evidence.items()
    )


def title_of_check(check: str, subject: str, limit: int = SHORT) -> Sentence:
    """Return what a finding is about in a few words, with its subject."""
    title = look_up("findings.title").get(check, check.replace("_", " "))
    return (title, " (", short_name(subject, limit), ")") if subject else (title,)


def standing_of(facts: Facts, key: str) -> Standing | None:
    """Return where a finding of this run stands, None of a note nobody answered."""
    return next((s for s in facts.register if s.is_found and s.key == key), None)


def state_of(facts: Facts, standing: Standing) -> Sentence:
    """Return the state of a finding in words, with its day or its run."""
    day = str(standing.answer.get("accepted_until", ""))
    text = say(f"findings.state.{standing.state}", day=day, run=full_name(facts.run_id))
    if standing.is_found or standing.state == "closed":
        return text
    return say("findings.state.unseen", state=text)


def summary_of(facts: Facts, standing: Standing) -> Sentence:
    """Return state, owner and day of a finding in one line."""
    owner = str(standing.answer.get("owner", "")) or facts.note("owner")
    return say(
        "findings.standing",
        state=state_of(facts, standing),
        owner=show_hidden(owner) if owner else word("findings.nobody"),
        due=_due(standing),
    )


def _due(standing: Standing) -> Sentence:
    day = str(standing.answer.get("due", ""))
    if standing.is_overdue:
        return say("findings.late", day=day)
    return (day or word("findings.no_day"),)


def answer_rows(facts: Facts, standing: Standing) -> dict[str, Sentence]:
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
        runs = say_count(tallied("history.runs", before), "past_run")
        text = say("findings.first_here", runs=runs)
    else:
        text = say(
            "findings.again" if standing.state == "reopened" else "findings.first",
            run=full_name(standing.first_run),
            n=tallied("history.findings", standing.times),
            runs=tallied("history.runs", before + 1),
        )
    return (*sentence_case(text), ".")


def tally_by_state(facts: Facts) -> Sentence:
    """Return how many findings are not open, by state, and how many are overdue."""
    counts = []
    for name, label in look_up("findings.states").items():
        is_late = name == "overdue"
        n = sum(s.is_overdue if is_late else s.state == name for s in facts.register)
        if n:
            number = tallied("answers.overdue" if is_late else "answers.state", n)
            counts.append(say("findings.by_state", n=number, state=label))
    return (" ", *joined(counts), ".") if counts else ()


def not_found_table(facts: Facts) -> tuple[Table, ...]:
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
    words = state_of(facts, standing)
    if standing.is_overdue:
        words = joined((words, _due(standing)))
    return Row(
        (
            Cell(title_of_check(standing.check, standing.subject)),
            Cell((word(f"severity.{standing.severity}"),)),
            Cell(words),
            Cell((full_name(standing.first_run),)),
            Cell((number,)),
        )
    )
