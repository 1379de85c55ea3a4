"""Section K: the register of findings, to which people answer.

A cause is one entry, even with many findings; each finding has a key of its own.
"""

from collections.abc import Iterable, Sequence

from ...engines.agreement import subject_of
from ...records.finding import SEVERITIES, Finding
from ...runs.signoff.finding_states import Standing
from ..text.blocks import (
    Entry,
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
    in_one_line,
    joined,
    look_up,
    name_of_check,
    say,
    say_count,
    sentence_case,
    short_name,
    show_hidden,
    table_of,
    title_of_check,
    word,
)
from .facts import KEY_DIGITS, Facts, first_few, key_values, section, tallied

SUBJECTS = 2
"""Number of subjects that a title names; of more, it names one and counts the rest."""
SETTLED = ("reopened", "open", "answered", "accepted", "note", "closed")
"""States of a finding, the most urgent first."""
IN_WORDS = ("accepted", "expired", "lapsed")
"""States of an exception with a separate sentence; others are refused."""


def title_of(group: Sequence[Finding]) -> Sentence:
    """Return the title of a group of findings: check and subjects of the first.

    The subjects are those of all findings of the same check.
    """
    first, *_ = group
    subjects = dict.fromkeys(one.subject for one in group if one.check == first.check)
    if len(subjects) == 1 or not all(subjects):
        return _title_with(first.check, first.subject)
    n_named = SUBJECTS if len(subjects) == SUBJECTS else 1
    names = first_few(map(short_name, subjects), n_named, "findings")
    separator = " " if len(names) > n_named else "; "
    return (*_title_with(first.check, ""), " (", *joined(names, separator), ")")


def link_to(finding: Finding, facts: Facts) -> Link:
    """Return the link to the full text of a finding, by its number."""
    return next(link for link, group in facts.finding_groups if finding in group)


def findings(facts: Facts) -> Section:
    """Return section K: every cause with its findings, the most severe first."""
    entries = tuple(_entry(facts, group, link) for link, group in facts.finding_groups)
    severities = [entry.severity for entry in entries]
    tally = joined(
        say_count(tallied("findings", severities.count(s)), s) for s in SEVERITIES
    )
    lede = (*tally, ".") if entries else say("findings.none")
    # Then the number of findings in each state, and of those overdue.
    counts = []
    for name, label in look_up("findings.states").items():
        is_late = name == "overdue"
        n = sum(s.is_overdue if is_late else s.state == name for s in facts.register)
        if n:
            number = tallied("answers.overdue" if is_late else "answers.state", n)
            counts.append(say("findings.by_state", n=number, state=label))
    if counts:
        lede += (" ", *joined(counts), ".")
    parts = {"entries": entries, "not_found": _not_found(facts)}
    return section("K", lede, parts)


def _not_found(facts: Facts) -> tuple[Table, ...]:
    """Return the table of findings of earlier runs that this run does not have."""
    rows = []
    for standing in facts.register:
        if standing.is_found:
            continue
        state = _state_of(facts, standing)
        if standing.is_overdue:
            state = joined((state, _due(standing)))
        rows.append(
            {
                "closed_finding": _title_with(standing.check, standing.subject),
                "closed_severity": word(f"severity.{standing.severity}"),
                "closed_state": state,
                "closed_first": full_name(standing.first_run),
                "closed_times": tallied("history.findings", standing.times),
            }
        )
    if not rows:
        return ()
    table = table_of(
        "not-found",
        "findings",
        "closed_finding:header closed_severity closed_state closed_first "
        "closed_times:number",
        rows,
        caption=say("findings.closed_caption"),
        notes=(say("findings.closed_note"),),
    )
    return (table,)


def _entry(facts: Facts, group: Sequence[Finding], link: Link) -> Entry:
    """Return the entry of one cause, with a table of its facts.

    Notes without an answer have one paragraph instead of the table.
    """
    finding, *others = group
    keys = dict.fromkeys(one.key for one in group)
    standings = [s for key in keys if (s := standing_of(facts, key))]
    standings.sort(key=lambda standing: SETTLED.index(standing.state))
    also = in_one_line(*_others(finding, others))
    effect = look_up("findings.effect").get(finding.check, "")
    if standings:
        causes: Iterable[str] = ()
        if finding.check == "disagreement":
            pairs = facts.result.agreement.to_dict("records")
            causes = (p["cause"] for p in pairs if subject_of(p) == finding.subject)
        rows: dict[str, Sentence] = {
            "condition": (show_hidden(with_labels(finding.message)),),
            "also": (show_hidden(with_labels(also)),),
            "criteria": _criteria(facts, finding),
            "cause": (show_hidden(next(filter(None, causes), "")),),
            "consequence": (effect,),
            "recommendation": (show_hidden(finding.remedy),),
            **_answers(facts, standings),
            "key": _keys(facts, keys, standings),
        }
        title = say("findings.caption", number=link.text)
        register = key_values(f"{link.target}-facts", title, "findings", rows.items())
        owner = str(standings[0].answer.get("owner", "")) or facts.note("owner")
        summary = say(
            "findings.standing",
            state=_state_of(facts, standings[0]),
            owner=show_hidden(owner) if owner else word("findings.nobody"),
            due=_due(standings[0]),
        )
    else:
        texts = (finding.message, also, effect, finding.remedy)
        register, summary = None, (in_one_line(*map(with_labels, texts)),)
    return Entry(
        id=link.target,
        number=link.text,
        title=title_of(group),
        severity=finding.severity,
        label=word(f"severity.{finding.severity}"),
        summary=summary,
        facts=register,
    )


def _others(finding: Finding, others: Iterable[Finding]) -> list[str]:
    """Return the texts of the other findings of a cause, without duplicates.

    Sentences that are in the message of the first too are omitted. The text of a
    finding of another check begins with the title of that check.
    """
    first = finding.message.split(". ")
    texts: dict[str, None] = {}
    for other in others:
        rest = (text for text in other.message.split(". ") if text not in first)
        text = ". ".join(rest) or other.message
        subject = display_name(other.subject)
        if other.check != finding.check:
            title = title_of_check(other.check)
            text = f"{title} ({subject}): {text}" if subject else f"{title}: {text}"
        elif other.subject != finding.subject:
            text = f"{subject}: {text}"
        texts[text] = None
    return list(texts)


def _answers(facts: Facts, standings: Sequence[Standing]) -> dict[str, Sentence]:
    """Return the answers to the findings of one cause, and the runs that found them.

    Answers are in the order of the findings, without duplicates.
    """
    names = ("response", "exception", "control", "history")
    texts: dict[str, dict[Sentence, None]] = {name: {} for name in names}
    for standing in standings:
        answer = standing.answer
        for name in ("response", "control"):
            if text := str(answer.get(name, "")):
                texts[name][(ended(text),)] = None
        if answer.get("accepted_until"):
            state = str(answer["state"])
            exception = say(
                f"findings.{state if state in IN_WORDS else 'refused'}",
                day=str(answer["accepted_until"]),
                by=display_name(str(answer["approved_by"])),
                reason=ended(str(answer["reason"])),
            )
            texts["exception"][exception] = None
        if facts.history.n_runs:
            texts["history"][_history(facts, standing)] = None
    return {name: joined(own, " ") for name, own in texts.items()}


def _history(facts: Facts, standing: Standing) -> Sentence:
    """Return the first run that had a finding, and the number of runs that had it."""
    before = facts.history.n_runs
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


def _keys(facts: Facts, keys: Iterable[str], standings: Sequence[Standing]) -> Sentence:
    """Return the keys that answers refer to, with their states if these differ."""
    states = {standing.key: _state_of(facts, standing) for standing in standings}
    differ = len(set(map(plain, states.values()))) > 1
    texts = []
    for key in keys:
        if key in states:
            state = (" (", *states[key], ")") if differ else ()
            texts.append((Styled("code", (key[:KEY_DIGITS],)), *state))
    return joined(texts)


def _criteria(facts: Facts, finding: Finding) -> Sentence:
    """Return the limit of the check of a finding, and who set it; empty without one."""
    frame = facts.result.checks
    rows = (frame["check"] == finding.check) & (frame["subject"] == finding.subject)
    if not rows.any():
        return ()
    place = int(rows.to_numpy().argmax())
    limit, set_by = frame.iloc[place][["threshold", "set_by"]]
    path = f"checks[{place}].threshold"
    return say(
        "findings.limit",
        what=name_of_check(finding.check),
        limit=show_hidden(limit)
        if isinstance(limit, str)
        else Value(path, float(limit), significant(float(limit))),
        set_by=look_up("thresholds.setters").get(set_by, show_hidden(set_by)),
    )


def _title_with(check: str, subject: str) -> Sentence:
    """Return the title of a check, with the subject of a finding."""
    title: Sentence = (title_of_check(check),)
    return (*title, " (", short_name(subject), ")") if subject else title


def standing_of(facts: Facts, key: str) -> Standing | None:
    """Return the state of a finding of this run, None of a note without an answer."""
    return next((s for s in facts.register if s.is_found and s.key == key), None)


def _state_of(facts: Facts, standing: Standing) -> Sentence:
    """Return the state of a finding in words, with the day or run that it needs."""
    day = str(standing.answer.get("accepted_until", ""))
    text = say(f"findings.state.{standing.state}", day=day, run=full_name(facts.run_id))
    if standing.is_found or standing.state == "closed":
        return text
    return say("findings.state.unseen", state=text)


def _due(standing: Standing) -> Sentence:
    day = str(standing.answer.get("due", ""))
    if standing.is_overdue:
        return say("findings.late", day=day)
    return (day or word("findings.no_day"),)
