"""Summaries of a result: plain text for mail, Markdown, JUnit XML for dashboards.

Texts are escaped here for each format; the templates only arrange them.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from ...records.as_json import content_digest
from ...records.finding import Finding, by_cause
from ...records.ranking import OURS, null_value_of, question_of, shown_interval
from ...records.result import AuditResult
from ...runs.signoff.answers import LEAST_DIGITS
from ..sections.facts import facts_of
from ..sections.verdicts import sentence
from ..text.blocks import plain
from ..text.labels import label_of, labelled, with_labels
from ..text.own_words import labels_of
from ..text.wording import (
    in_one_line,
    look_up,
    name_of_check,
    show_hidden,
    title_of_check,
)
from .template_files import environment

LEADERS = 3
PAIR = ("model", "method", "of", "loss", "positive_class", "feature")
OUTCOMES = {"failed": "failures", "error": "errors", "skipped": "skipped"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#$&])")


class Case(NamedTuple):
    """One test of a dashboard; `outcome` is passed, failed, error or skipped."""

    name: str
    outcome: str = "passed"
    message: str = ""


class Suite(NamedTuple):
    """Tests of one kind."""

    name: str
    cases: Sequence[Case]

    @property
    def counts(self) -> dict[str, int]:
        """Number of tests, and of those with each outcome but passed."""
        outcomes = [case.outcome for case in self.cases]
        counts = {key: outcomes.count(outcome) for outcome, key in OUTCOMES.items()}
        return {"tests": len(outcomes), **counts}


TO_ANSWER = "findings-to-answer.toml"
STUB = """
[[finding]]                     # {severity}: {check}, {subject}
# {message}
key = "{key}"
# owner = "who looks after it"
# due = {due}
# response = "what is done about it"
# [finding.exception]           # until this day (UTC) the finding does not count
# until = {due}
# reason = "why it can be accepted"
# control = "what stands in for it"
# approved_by = "who accepts it"
"""


def short_files(result: AuditResult, note: str = "") -> dict[str, str]:
    """Return summary.txt, summary.md, junit.xml, and a file of findings to answer.

    Parameters
    ----------
    result : AuditResult
    note : str
        A remark about the run folder, for the end of the summaries.

    Returns
    -------
    dict
        The text of each file by its name. Names of users are escaped, so that none can
        end a line, a cell or an element. There is no file of findings to answer if all
        are answered.
    """
    with labelled(labels_of(result)):
        shown = [
            Suite(suite.name, [Case(*map(_line, case)) for case in suite.cases])
            for suite in suites(result)
        ]
        files = {
            "summary.txt": _summary("summary.txt", result, note, _line),
            "summary.md": _summary("summary.md", result, note, _markdown),
        }
    files["junit.xml"] = _rendered(
        "junit.xml",
        audit=_line(result.run.audit),
        run_id=_line(str(result.run.volatile["run_id"])),
        suites=shown,
        counts=Suite("", [case for suite in shown for case in suite.cases]).counts,
    )
    stub = unanswered(result)
    return files | ({TO_ANSWER: stub} if stub else {})


def unanswered(result: AuditResult) -> str:
    """Return a findings.toml of the unanswered warnings and failures; empty if none.

    The fields of an answer are commented out, to be filled in by the user.
    """
    answered = {*result.answers["key"]}
    found = [f for f in result.findings if f.severity != "info"]
    if not {f.key for f in found} - answered:
        return ""
    started = datetime.fromisoformat(str(result.run.volatile["started"]))
    due = (started + timedelta(days=30)).date()
    entries = [
        STUB.format(
            severity=finding.severity,
            check=title_of_check(finding.check),
            subject=_line(finding.subject),
            message=_line(finding.message),
            key=finding.key[:LEAST_DIGITS],
            due=due,
        )
        for finding in found
        if finding.key not in answered
    ]
    return f"# {look_up('short.to_answer')}\n{''.join(entries)}"


def reason(result: AuditResult) -> str:
    """Return the gravest finding against the run, or else its verdict in a sentence.

    Of a run that is confirmed with exceptions it is the gravest of these.
    """
    findings = result.findings
    grave = [f for f in findings if f.leaves_gap or result.is_against(f)]
    if result.verdict == "confirmed with exceptions":
        grave = [*result.exceptions]
    if not grave:
        return plain(sentence(facts_of(result, "")))
    groups = by_cause(grave)
    first = groups[0][0]  # that nothing was measured follows from it
    n_others = sum(own[0].check != "nothing_measured" for own in groups[1:])
    more = look_up("short.more").format(n=n_others) if n_others else ""
    return in_one_line(first.message, first.remedy, more)


def suites(result: AuditResult) -> tuple[Suite, ...]:
    """Return the tests of a result: steps, checks, pairs of engines, other findings.

    A test fails if it has a finding at or above `fail_on`, so that a dashboard is red
    if the exit code is not 0; if the finding is accepted, the test is skipped.
    """
    stopped = [f for f in result.findings if f.leaves_gap]
    findings = {(f.check, f.subject): f for f in result.findings}
    steps = [Case(_name(f), "error", f.message) for f in stopped]
    return (
        Suite("run", steps or [Case(look_up("short.complete"))]),
        Suite("checks", tuple(_checks(result, findings))),
        Suite("pairs", tuple(_pairs(result, findings))),
        Suite("findings", tuple(_others(result))),
    )


def _summary(
    template: str, result: AuditResult, note: str, text: Callable[[str], str]
) -> str:
    """Return a summary rendered with a template; `text` escapes each text."""
    leading: dict[tuple[str, ...], list[str]] = {}
    for index, record in enumerate(result.importances):
        if record.engine == OURS:  # later records of a question replay an engine
            leading.setdefault(question_of(record), _leading(result, index))
    digest, pairs = content_digest(result), _tally(result.agreement)
    if pairs:
        facts = facts_of(result, digest)
        of = len(facts.rankings)
        n = of - len(facts.uncompared)
        pairs = look_up("short.recomputed").format(pairs=pairs, n=n, of=of)
    groups = result.grouped_findings
    findings = []
    for group in groups:
        first = group[0]
        subject, message = label_of(first.subject), with_labels(first.message)
        if others := [label_of(finding.subject) for finding in group[1:]]:
            more = look_up("short.alike").format(n=len(others))
            message += f" {more}: {'; '.join(dict.fromkeys(others))}."
        title = title_of_check(first.check)
        cells = (_severity_text(result, first), title, subject, message, first.remedy)
        findings.append((*map(text, cells), first.key[:LEAST_DIGITS]))
    return _rendered(
        template,
        audit=text(result.run.audit),
        run_id=text(str(result.run.volatile["run_id"])),
        verdict=result.verdict,
        digest=digest,
        leads=[
            {
                "asked": text(label_of(", ".join(filter(None, question)))),
                "first": text(", ".join(first) or look_up("short.unmeasured")),
            }
            for question, first in leading.items()
        ],
        pairs=pairs or look_up("short.none"),
        claims=_tally(result.claims),
        n_findings=len(groups) or look_up("short.none"),
        findings=findings,
        reason=text(with_labels(reason(result))),
        note=text(note),
    )


def _checks(
    result: AuditResult, findings: Mapping[tuple[str, str], Finding]
) -> Iterator[Case]:
    """Yield a test per check; one that was not run is skipped, with the reason."""
    for row in result.checks.to_dict("records"):
        check, subject = row["check"], row["subject"]
        name = f"{name_of_check(check)}: {label_of(subject)}"
        finding = findings.get((check, subject))
        facts = (row["observed"], row["threshold"], row["set_by"])
        message = (
            finding.message if finding else "{}; limit {}, set by {}".format(*facts)
        )
        if row["verdict"] == "not run":
            yield Case(name, "skipped", str(row["observed"]))
        elif row["verdict"] == "error":
            yield Case(name, "error", message)
        else:
            yield Case(name, *_outcome(result, finding, message))


def _pairs(
    result: AuditResult, findings: Mapping[tuple[str, str], Finding]
) -> Iterator[Case]:
    """Yield a test per pair of engines; one not compared is skipped, with reasons."""
    for row in result.agreement.to_dict("records"):
        question = ", ".join(str(row[name]) for name in PAIR if row[name])
        subject = f"{question}: {row['engine_a']} and {row['engine_b']}"
        name = label_of(subject)
        name = f"{name} ({row['stream']})" if row["stream"] else name
        finding = findings.get(("disagreement", subject))
        reasons, verdict = str(row["reasons"]), row["verdict"]
        message = finding.message if finding else reasons
        text = ": ".join(filter(None, (verdict, message)))
        if verdict == "not compared":
            yield Case(name, "skipped", reasons)
        elif verdict != "disagrees":
            yield Case(name, message=text)
        elif finding is None:
            yield Case(name, "failed", reasons)
        else:
            yield Case(name, *_outcome(result, finding, text))


def _others(result: AuditResult) -> Iterator[Case]:
    """Yield a test per failed or accepted finding of no step, check or pair."""
    checked = set(zip(result.checks["check"], result.checks["subject"], strict=True))
    for finding in result.findings:
        has_own_case = finding.leaves_gap or finding.check == "disagreement"
        case = Case(_name(finding), *_outcome(result, finding))
        is_checked = (finding.check, finding.subject) in checked
        if case.outcome != "passed" and not has_own_case and not is_checked:
            yield case


def _name(finding: Finding) -> str:
    return f"{title_of_check(finding.check)}: {label_of(finding.subject)}"


def _outcome(
    result: AuditResult, finding: Finding | None, otherwise: str = ""
) -> tuple[str, str]:
    """Return outcome and message of the test of a finding, which may be None.

    It fails if the finding is at or above `fail_on` and not accepted.
    """
    if finding and result.is_against(finding):
        return "failed", finding.message
    if finding and finding.key in result.accepted:
        return "skipped", f"{_severity_text(result, finding)}: {finding.message}"
    return "passed", otherwise


def _severity_text(result: AuditResult, finding: Finding) -> str:
    """Return severity, end of acceptance, and due date if overdue, of a finding."""
    parts = [str(look_up(f"severity.{finding.severity}")).lower()]
    if day := result.accepted.get(finding.key):
        parts.append(look_up("short.accepted").format(day=day))
    for row in result.answers.to_dict("records"):
        if row["overdue"] and row["key"] == finding.key:
            parts.append(look_up("short.overdue").format(day=row["due"]))
    return ", ".join(parts)


def _tally(frame: Any) -> str:
    """Return the number of rows of a frame by verdict, as text."""
    counts = frame["verdict"].value_counts()
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _leading(result: AuditResult, index: int) -> list[str]:
    """Return the leading features of a record whose intervals exclude the null value.

    If more features are tied than fit, their number is the last entry, or left out.
    """
    record = result.importances[index]
    low = shown_interval(record, index, result.row_intervals).low
    is_null = low <= null_value_of(record)
    by_rank: dict[float, list[str]] = {}
    for name, rank, at_null in zip(record.features, record.rank, is_null, strict=True):
        if not (math.isnan(rank) or at_null):
            by_rank.setdefault(rank, []).append(name)
    if not by_rank and not np.isnan(record.rank).all():
        return [look_up("short.none_told")]
    features: list[str] = []
    room = LEADERS
    for _, tied in sorted(by_rank.items()):
        if len(tied) > room:
            return [*features, f"{len(tied)} alike"] if room else features
        features.append(" = ".join(map(label_of, tied)))
        room -= len(tied)
    return features


def _line(text: str) -> str:
    """Return a text on one line, with escapes for invisible characters."""
    return show_hidden(" ".join(text.splitlines()))


def _markdown(text: str) -> str:
    """Return a text on one line, escaped for Markdown."""
    return _MARKDOWN.sub(r"\\\1", _line(text))


def _rendered(name: str, **facts: Any) -> str:
    template = environment().get_template(f"{name}.j2")
    return template.render(words=look_up("short"), **facts)
