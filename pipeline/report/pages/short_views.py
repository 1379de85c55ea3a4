"""A result in a few lines: for mail, for a pull request, for a test dashboard.

Rows are prepared here, as text that each format can hold; the templates place them.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ...records.as_json import content_digest
from ...records.asker import R
from ...records.finding import Finding, by_cause
from ...records.importance_record import Importance
from ...records.ranking import OURS
from ...records.result import AuditResult
from ..text.wording import look_up, show_hidden, templates

if TYPE_CHECKING:
    from jinja2 import Environment

LEADERS = 3
GRAVE = ("failure", "warning", "info")
STOPPED = (
    *("interrupted", "step_failed", "engine_required"),
    *("method_failed", "nothing_measured"),
)
"""Checks whose findings say that a part of the run has no answer."""
PAIR = ("model", "method", "of", "loss", "positive_class", "feature")
OUTCOMES = {"failed": "failures", "error": "errors", "skipped": "skipped"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#$&])")


class Lead(NamedTuple):
    """What one importance is about, and who leads it."""

    asked: str
    first: str


class Case(NamedTuple):
    """One test of a dashboard; `outcome` is passed, failed, error or skipped."""

    name: str
    outcome: str = "passed"
    message: str = ""


class Suite(NamedTuple):
    """Tests of one kind, and how many of them came out how."""

    name: str
    cases: Sequence[Case]
    counts: Mapping[str, int]


def short_files(result: AuditResult, note: str = "") -> dict[str, str]:
    """Return summary.txt, summary.md and junit.xml.

    Parameters
    ----------
    result : AuditResult
    note : str
        What the summaries say at their end of the run folder itself.

    Returns
    -------
    dict
        The text of each file by its name. No name of a user can end a line, a cell or
        an element: what would is shown as an escape.
    """
    return {
        "summary.txt": _placed("summary.txt", **_summary(result, note, _line)),
        "summary.md": _placed("summary.md", **_summary(result, note, _marked)),
        "junit.xml": _placed("junit.xml", **_tests(result)),
    }


def summary(result: AuditResult, note: str = "") -> str:
    """Return the verdict, the leading features, the pairs and the findings as lines."""
    return _placed("summary.txt", **_summary(result, note, _line))


def reason(result: AuditResult) -> str:
    """Return in a sentence or two why the verdict is what it is, and what to do."""
    words = look_up("short.reasons")
    grave = sorted(result.findings, key=lambda f: GRAVE.index(f.severity))
    if result.verdict in ("not confirmed", "not established"):
        against = [f for f in grave if f in result.against or f.check in STOPPED]
        weighing = against or grave
    else:
        frame = result.agreement[result.agreement["engine_a"] == OURS]
        reproduced_by = {
            row.get("engine_b")
            for row in frame.to_dict("records")
            if row["verdict"] in ("replayed", "equivalent")
        }
        if reproduced_by - result.unconfirming_engines:
            weighing = [f for f in grave if f in result.exceptions]
        else:
            entries = result.run.config.get("importance", ())
            asked = any(entry["engines"] for entry in entries)
            unanswered = frame["verdict"].isin(["not compared"]).all()
            key = "only_comparable"
            if not asked:
                in_r = result.run.volatile.get("asked_by") == R
                key = "not_asked_in_r" if in_r else "not_asked"
            elif unanswered:
                key = "not_answered"
            elif reproduced_by & result.own_engines:
                key = "only_own"
            return str(words[key])
    if not weighing:
        return str(words["confirmed" if result.verdict == "confirmed" else "none"])
    first = weighing[0]
    n_others = sum(
        first not in group and group[0].check != "nothing_measured"
        for group in by_cause(weighing)
    )
    more = words["more"].format(n=n_others) if n_others else ""
    return " ".join(filter(None, (first.message, first.remedy, more)))


def suites(result: AuditResult) -> tuple[Suite, ...]:
    """Return the tests of a result: its steps, its checks, its pairs, the rest.

    One fails where a finding at or above `fail_on` speaks against it, so that a
    dashboard is red where the exit code is not 0; if the finding is accepted, it is
    skipped.
    """
    return tuple(
        Suite(name, cases, {"tests": len(cases), **_counts(cases)})
        for name, cases in (
            ("run", tuple(_steps(result))),
            ("checks", tuple(_checks(result))),
            ("pairs", tuple(_pairs(result))),
            ("findings", tuple(_others(result))),
        )
    )


def _summary(result: AuditResult, note: str, text: Any) -> dict[str, Any]:
    """Return what both summaries place, every text made safe by `text`."""
    leads = (_lead(record) for record in _primary(result.importances))
    groups = by_cause(result.findings)
    findings = (
        (_grave(result, f), f.check, _subjects(group), f.message, f.remedy)
        for group in groups
        for f in group[:1]
    )
    return {
        "audit": text(result.run.audit),
        "run_id": text(str(result.run.volatile["run_id"])),
        "verdict": result.verdict,
        "digest": content_digest(result),
        "leads": [Lead(*map(text, lead)) for lead in leads],
        "pairs": _tally(result.agreement) or look_up("short.none"),
        "claims": _tally(result.claims),
        "n_findings": len(groups) or look_up("short.none"),
        "findings": [tuple(map(text, finding)) for finding in findings],
        "reason": text(reason(result)),
        "note": text(note),
    }


def _tests(result: AuditResult) -> dict[str, Any]:
    """Return what junit.xml places."""
    test_suites = suites(result)
    return {
        "audit": _line(result.run.audit),
        "run_id": _line(str(result.run.volatile["run_id"])),
        "suites": [
            suite._replace(cases=[Case(*map(_line, case)) for case in suite.cases])
            for suite in test_suites
        ],
        "counts": {
            key: sum(suite.counts[key] for suite in test_suites)
            for key in ("tests", *OUTCOMES.values())
        },
    }


def _steps(result: AuditResult) -> Iterator[Case]:
    """Yield what has no answer, or that the run came to its end."""
    stopped = [f for f in result.findings if f.check in STOPPED]
    for finding in stopped:
        name = f"{finding.check.replace('_', ' ')}: {finding.subject}"
        yield Case(name, "error", finding.message)
    if not stopped:
        yield Case(look_up("short.complete"))


def _checks(result: AuditResult) -> Iterator[Case]:
    """Yield each check; one that was not run says why."""
    words, findings = look_up("checks"), _by_subject(result)
    for row in result.checks.to_dict("records"):
        if "check" not in row:
            continue
        check, subject = row["check"], row["subject"]
        name = f"{words.get(check, check.replace('_', ' '))}: {subject}"
        finding = findings.get((check, subject))
        facts = (row["observed"], row["threshold"], row["set_by"])
        message = (
            finding.message if finding else "{}; limit {}, set by {}".format(*facts)
        )
        if row["verdict"] == "not run":
            yield Case(name, "skipped", str(row["observed"]))
        elif row["verdict"] == "error":
            yield Case(name, "error", message)
        elif finding and _counts_against(result, finding):
            yield Case(name, *_outcome(result, finding))
        else:
            yield Case(name, message=message)


def _pairs(result: AuditResult) -> Iterator[Case]:
    """Yield each pair of answers; one that was not compared says why."""
    findings = _by_subject(result)
    for row in result.agreement.to_dict("records"):
        question = ", ".join(str(row[name]) for name in PAIR if row.get(name))
        subject = f"{question}: {row['engine_a']} and {row.get('engine_b', '')}"
        name = f"{subject} ({row['stream']})" if row.get("stream") else subject
        finding = findings.get(("disagreement", subject))
        is_fault = finding is None or _counts_against(result, finding)
        message = finding.message if finding else str(row.get("reasons", ""))
        if row["verdict"] == "not compared":
            yield Case(name, "skipped", str(row.get("reasons", "")))
        elif row["verdict"] == "disagrees" and is_fault:
            yield Case(
                name, *(_outcome(result, finding) if finding else ("failed", message))
            )
        else:
            yield Case(name, message=": ".join(filter(None, (row["verdict"], message))))


def _others(result: AuditResult) -> Iterator[Case]:
    """Yield what else counts against the run: no step, no check, no pair."""
    rows = result.checks.to_dict("records")
    checked = {(row.get("check"), row.get("subject")) for row in rows}
    for finding in result.findings:
        has_own_case = finding.check in (*STOPPED, "disagreement")
        if has_own_case or (finding.check, finding.subject) in checked:
            continue
        if _counts_against(result, finding):
            name = f"{finding.check.replace('_', ' ')}: {finding.subject}"
            yield Case(name, *_outcome(result, finding))


def _counts_against(result: AuditResult, finding: Finding) -> bool:
    """Return whether a finding keeps the run from being confirmed, if not accepted."""
    at = {"failure"} | ({"warning"} & {result.run.config.get("fail_on")})
    return finding.severity in at


def _outcome(result: AuditResult, finding: Finding) -> tuple[str, str]:
    """Return how the test of a finding at the limit came out, and what it says."""
    if finding.key in result.accepted:
        return "skipped", f"{_grave(result, finding)}: {finding.message}"
    return "failed", finding.message


def _grave(result: AuditResult, finding: Finding) -> str:
    """Return how grave a finding is, until when it is accepted, or since when late."""
    parts = [finding.severity]
    if day := result.accepted.get(finding.key):
        parts.append(look_up("short.accepted").format(day=day))
    for row in result.answers.to_dict("records"):
        if row["overdue"] and row["key"] == finding.key:
            parts.append(look_up("short.overdue").format(day=row["due"]))
    return ", ".join(parts)


def _subjects(group: Sequence[Finding]) -> str:
    """Return what the findings of one cause are about, each named once."""
    return "; ".join(dict.fromkeys(finding.subject for finding in group))


def _by_subject(result: AuditResult) -> dict[tuple[str, str], Finding]:
    return {(f.check, f.subject): f for f in result.findings}


def _counts(cases: Sequence[Case]) -> dict[str, int]:
    """Return how many cases failed, broke and were skipped."""
    outcomes = [case.outcome for case in cases]
    return {name: outcomes.count(word) for word, name in OUTCOMES.items()}


def _tally(frame: Any) -> str:
    """Return how many rows of a frame have which verdict."""
    counts = frame["verdict"].value_counts()
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _primary(importances: Iterable[Importance]) -> list[Importance]:
    """Return our first answer to each question; those after it replay an engine."""
    records: dict[tuple[str, ...], Importance] = {}
    for record in importances:
        if record.engine == "python":
            names = ("model", "method", "of", "loss", "positive_class")
            records.setdefault(tuple(getattr(record, name) for name in names), record)
    return list(records.values())


def _lead(record: Importance) -> Lead:
    """Return what an importance is about, and its leading features."""
    measure = (record.model, f"{record.method} of {record.of}", record.loss)
    question = ", ".join(part for part in (*measure, record.positive_class) if part)
    return Lead(question, ", ".join(_first(record)) or look_up("short.unmeasured"))


def _first(record: Importance) -> list[str]:
    """Return the leading features; of more than fit that share a place, how many."""
    features: list[str] = []
    room = LEADERS
    for place in sorted({rank for rank in record.rank if not math.isnan(rank)}):
        names = zip(record.features, record.rank, strict=True)
        alike = [name for name, rank in names if rank == place]
        if len(alike) > room:
            return [*features, f"{len(alike)} alike"] if room else features
        features.append(" = ".join(alike))
        room -= len(alike)
    return features


def _line(text: str) -> str:
    """Return a text on one line, everything in it that hides made visible."""
    return show_hidden(" ".join(text.splitlines()))


def _marked(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", _line(text))


def _placed(name: str, **facts: Any) -> str:
    template = _environment(name.endswith(".xml")).get_template(f"{name}.j2")
    return template.render(words=look_up("short"), **facts)


@cache
def _environment(escapes: bool) -> "Environment":
    """Return the templates of texts, or with `escapes` those of XML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(templates()),
        autoescape=escapes,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
