"""Section K: what was found, as a register that can be answered.

One cause is one entry, however many findings it makes; each finding keeps its key.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ...engines.agreement import subject_of
from ...records.finding import SEVERITIES, Finding, by_cause
from ...records.result import AuditResult
from ...runs.signoff.finding_states import Standing
from ..text.blocks import (
    Cells,
    Entry,
    KeyValues,
    Link,
    Section,
    Sentence,
    Styled,
    Table,
    Value,
    plain,
)
from ..text.labels import with_labels
from ..text.number_text import significant
from ..text.wording import (
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
    table_of,
    word,
)
from .facts import Facts, tallied

KEY_DIGITS = 12
SUBJECTS = 2
"""Subjects of one cause that a title names; of more the first, and how many."""
SETTLED = ("reopened", "open", "answered", "accepted", "closed")
"""States of a finding, what needs an answer most first."""
IN_WORDS = ("accepted", "expired", "lapsed")
"""States of an exception that have a sentence of their own."""


def gravest(result: AuditResult) -> list[Finding]:
    """Return the first finding of each cause, failures first."""
    return [group[0] for group in by_cause(result.findings)]


def of_one_cause(finding: Finding, result: AuditResult) -> tuple[Finding, ...]:
    """Return a finding with those that come of the same cause, the gravest first."""
    groups = by_cause(result.findings)
    return next(group for group in groups if any(one is finding for one in group))


def title_of(finding: Finding, result: AuditResult | None = None) -> Sentence:
    """Return what a finding is about in a few words, with its subject.

    Of a `result` with the subjects of all that its cause makes the same check find.
    """
    return title_of_all(of_one_cause(finding, result) if result else (finding,))


def title_of_all(group: Sequence[Finding]) -> Sentence:
    """Return what findings are about in a few words, with the subjects of the first.

    The subjects are those of the findings of the same check.
    """
    alike = [one.subject for one in group if one.check == group[0].check]
    subjects = list(dict.fromkeys(alike))
    if len(subjects) == 1 or not all(subjects):
        return title_of_check(group[0].check, group[0].subject)
    first = subjects[: SUBJECTS if len(subjects) == SUBJECTS else 1]
    names: list[Sentence] = [(short_name(name),) for name in first]
    if more := len(subjects) - len(first):
        names.append(say("words.more", n=tallied("findings", more)))
    title = title_of_check(group[0].check, "")
    return (*title, " (", *joined(names, "; " if not more else " "), ")")


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
    groups = by_cause(result.findings)
    place, first = next(
        (place, group[0])
        for place, group in enumerate(groups, start=1)
        if any(one is finding for one in group)
    )
    return Link(ids_of(result)[id(first)], f"K{place}")


def tally(result: AuditResult) -> Sentence:
    """Return how many causes were found of each severity."""
    severities = [finding.severity for finding in gravest(result)]
    return joined(
        say_count(tallied("findings", severities.count(s)), s) for s in SEVERITIES
    )


def findings(facts: Facts) -> Section:
    """Return section K: every cause with its findings, the gravest first."""
    ids = ids_of(facts.result)
    entries = tuple(
        _entry(facts, group, Link(ids[id(group[0])], f"K{number}"))
        for number, group in enumerate(by_cause(facts.result.findings), start=1)
    )
    lede = (*tally(facts.result), ".") if entries else say("findings.none")
    lede += tally_by_state(facts)
    parts = {"entries": entries, "not_found": not_found_table(facts)}
    return Section("K", "findings", word("sections.findings"), lede, parts)


def _entry(facts: Facts, group: Sequence[Finding], link: Link) -> Entry:
    """Return the findings of one cause with the facts behind them.

    Notes that nobody answered are one paragraph.
    """
    finding, *others = group
    by_key = {one.key: standing_of(facts, one.key) for one in group}
    standings = [standing for standing in by_key.values() if standing]
    standings.sort(key=lambda standing: SETTLED.index(standing.state))
    also = _others(finding, others)
    effect = look_up("findings.effect").get(finding.check, "")
    message = " ".join(filter(None, (finding.message, *also, effect, finding.remedy)))
    is_note = not standings
    return Entry(
        id=link.target,
        number=link.text,
        title=title_of(finding, facts.result),
        severity=finding.severity,
        label=word(f"severity.{finding.severity}"),
        summary=(show_hidden(with_labels(message)),)
        if is_note
        else summary_of(facts, standings[0]),
        facts=None if is_note else _facts_of(facts, group, standings, link),
    )


def _facts_of(
    facts: Facts, group: Sequence[Finding], standings: Sequence[Standing], link: Link
) -> KeyValues:
    """Return the rows of the register; a row without content is left out."""
    finding, *others = group
    effects = look_up("findings.effect")
    rows: dict[str, Sentence] = {
        "condition": (show_hidden(with_labels(finding.message)),),
        "also": (show_hidden(with_labels(" ".join(_others(finding, others)))),),
        "criteria": _criteria(facts, finding),
        "cause": _cause(facts, finding),
        "consequence": (effects.get(finding.check, ""),),
        "recommendation": (show_hidden(finding.remedy),),
        **_answers(facts, standings),
        "key": _keys(facts, group, standings),
    }
    texts = (
        (say(f"findings.{name}"), text) for name, text in rows.items() if any(text)
    )
    title = say("findings.caption", number=link.text)
    return KeyValues(f"{link.target}-facts", title, tuple(texts))


def _others(finding: Finding, others: Iterable[Finding]) -> list[str]:
    """Return what the other findings of a cause say, without what the first has said.

    By the title of their check where it is another one; each says it once.
    """
    titles = look_up("findings.title")
    texts: dict[str, None] = {}
    for other in others:
        text = _after(finding.message, other.message)
        subject = display_name(other.subject)
        if other.check != finding.check:
            title = titles.get(other.check, other.check.replace("_", " "))
            text = f"{title} ({subject}): {text}" if subject else f"{title}: {text}"
        elif other.subject != finding.subject:
            text = f"{subject}: {text}"
        texts[text] = None
    return list(texts)


def _after(first: str, other: str) -> str:
    """Return a message without the sentences it begins with as another does."""
    pairs = zip(first.split(". "), other.split(". "), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return ". ".join(other.split(". ")[same:]) or other


def _answers(facts: Facts, standings: Sequence[Standing]) -> dict[str, Sentence]:
    """Return what people answered to the findings of one cause, each answer once."""
    answered: dict[str, dict[Sentence, None]] = {}
    for standing in standings:
        for name, text in answer_rows(facts, standing).items():
            own = answered.setdefault(name, {})
            own |= {text: None} if any(text) else {}
    return {name: joined(texts, " ") for name, texts in answered.items()}


def _keys(
    facts: Facts, group: Sequence[Finding], standings: Sequence[Standing]
) -> Sentence:
    """Return the keys that answers name, with their states where these differ."""
    states = {standing.key: state_of(facts, standing) for standing in standings}
    differ = len({plain(state) for state in states.values()}) > 1
    keys = [
        (
            Styled("code", (key[:KEY_DIGITS],)),
            *((" (", *states[key], ")") if differ else ()),
        )
        for key in dict.fromkeys(one.key for one in group)
        if key in states
    ]
    return joined(keys)


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


def title_of_check(check: str, subject: str) -> Sentence:
    """Return what a finding is about in a few words, with its subject."""
    title = look_up("findings.title").get(check, check.replace("_", " "))
    return (title, " (", short_name(subject), ")") if subject else (title,)


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
    table = table_of(
        "not-found",
        "findings",
        (
            "closed_finding:header closed_severity closed_state "
            "closed_first closed_times:number"
        ),
        [_row(facts, standing) for standing in gone],
        caption=say("findings.closed_caption"),
        notes=(say("findings.closed_note"),),
    )
    return (table,)


def _row(facts: Facts, standing: Standing) -> Cells:
    number = tallied("history.findings", standing.times)
    words = state_of(facts, standing)
    if standing.is_overdue:
        words = joined((words, _due(standing)))
    return (
        title_of_check(standing.check, standing.subject),
        word(f"severity.{standing.severity}"),
        words,
        full_name(standing.first_run),
        number,
    )
