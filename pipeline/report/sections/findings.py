"""Section K: what was found, as a register that can be answered."""

from collections import Counter

from ...engines.agreement import subject_of
from ...records.finding import Finding
from ...records.result import AuditResult
from ...runs.signoff.finding_states import Standing
from ..text.blocks import Entry, KeyValues, Link, Section, Sentence, Styled, Value
from ..text.number_text import significant
from ..text.wording import counted, joined, look_up, say, shown, word
from . import register_words
from .facts import Facts, tallied

KEY_DIGITS = 12
SEVERITIES = ("failure", "warning", "info")


def gravest(result: AuditResult) -> list[Finding]:
    """Return the findings, failures first, else in the order they were made."""
    return sorted(result.findings, key=lambda f: SEVERITIES.index(f.severity))


def title_of(finding: Finding) -> Sentence:
    """Return what a finding is about in a few words, with its subject."""
    return register_words.title_of(finding.check, finding.subject)


def ids_of(result: AuditResult) -> dict[int, str]:
    """Return the ids of the findings on the page, by `id`: their keys, short.

    Of several findings with one key, those after the first say which they are.
    """
    met, ids = Counter[str](), dict[int, str]()
    for finding in result.findings:
        met[finding.key] += 1
        place, short = met[finding.key], f"finding-{finding.key[:KEY_DIGITS]}"
        ids[id(finding)] = short if place == 1 else f"{short}-{place}"
    return ids


def link_to(finding: Finding, result: AuditResult) -> Link:
    """Return a link to where a finding stands in full, by its number."""
    places = [id(other) for other in gravest(result)]
    return Link(ids_of(result)[id(finding)], f"K{places.index(id(finding)) + 1}")


def tally(result: AuditResult) -> Sentence:
    """Return the number of findings of each severity."""
    return joined(
        counted(tallied("findings", sum(f.severity == s for f in result.findings)), s)
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
    lede += register_words.by_state(facts)
    parts = {"entries": entries, "not_found": register_words.not_found(facts)}
    return Section("K", "findings", word("sections.findings"), lede, parts)


def _entry(facts: Facts, finding: Finding, link: Link, place: int) -> Entry:
    """Return a finding with the facts behind it, or a note in one paragraph."""
    standing = register_words.standing_of(facts, finding.key)
    message = " ".join(filter(None, (finding.message, finding.remedy)))
    return Entry(
        id=link.target,
        number=link.text,
        title=title_of(finding),
        severity=finding.severity,
        label=word(f"severity.{finding.severity}"),
        summary=register_words.summary(facts, standing)
        if standing
        else (shown(message),),
        facts=_facts_of(facts, finding, standing, link, place) if standing else None,
    )


def _facts_of(
    facts: Facts, finding: Finding, standing: Standing, link: Link, place: int
) -> KeyValues:
    """Return the rows of the register; a row without content is left out."""
    effects = look_up("findings.effect")
    rows: dict[str, Sentence] = {
        "condition": (shown(finding.message),),
        "criteria": _criteria(facts, finding),
        "cause": _cause(facts, finding),
        "consequence": (effects.get(finding.check, ""),),
        "evidence": _evidence(finding, place),
        "recommendation": (shown(finding.remedy),),
        **register_words.rows(facts, standing),
        "key": (Styled("code", (finding.key[:KEY_DIGITS],)),),
    }
    told = ((say(f"findings.{name}"), text) for name, text in rows.items() if any(text))
    title = say("findings.caption", number=link.text)
    return KeyValues(f"{link.target}-facts", title, tuple(told))


def _criteria(facts: Facts, finding: Finding) -> Sentence:
    """Return the limit that a finding was held against, and who set it."""
    frame = facts.result.checks
    rows = (frame["check"] == finding.check) & (frame["subject"] == finding.subject)
    if not rows.any():
        return ()
    place = int(rows.to_numpy().argmax())
    row, path = frame.iloc[place], f"checks[{place}].threshold"
    limit = row["threshold"]
    told: Sentence = (shown(limit),) if isinstance(limit, str) else ()
    told = told or (Value(path, float(limit), significant(float(limit))),)
    what = look_up("checks").get(finding.check, finding.check.replace("_", " "))
    setter = look_up("thresholds.setters").get(row["set_by"], shown(row["set_by"]))
    return say("findings.limit", what=what, limit=told, set_by=setter)


def _cause(facts: Facts, finding: Finding) -> Sentence:
    """Return the class of cause that the audit found for a disagreement."""
    if finding.check != "disagreement":
        return ()
    rows = facts.result.agreement.to_dict("records")
    classes = (row["cause"] for row in rows if subject_of(row) == finding.subject)
    return (shown(str(next(filter(None, classes), ""))),)


def _evidence(finding: Finding, place: int) -> Sentence:
    return joined(
        (
            f"{shown(name).replace('_', ' ')} ",
            Value(
                f"findings[{place}].evidence[{name!r}]",
                float(number),
                significant(float(number)),
            ),
        )
        for name, number in finding.evidence.items()
    )
