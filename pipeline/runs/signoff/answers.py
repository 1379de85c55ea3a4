"""findings.toml beside an audit: what people answered to its findings.

An answer is shown, never altered. Not: how the file is read (`answers_file`), what
becomes of a finding over the runs (`finding_states`), or what an exception changes in
the verdict (`AuditResult.against`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, TypeAlias

from ...records.errors import listed
from ...records.finding import Finding
from ...records.frames import FRAMES
from ...records.result import AuditResult
from ..summary import FindingHistory
from .closed_findings import OF_BASELINE

FILE_NAME = "findings.toml"
LEAST_DIGITS = 12
"""Of a key in the file: as many as section K prints."""
NEVER_ACCEPTED = (
    *("interrupted", "step_failed", "engine_required"),
    *("method_failed", "nothing_measured"),
)
"""Checks whose findings say that numbers are missing: nobody can accept those."""
LATER = (
    *("answer_unmatched", "answer_ambiguous"),
    *("exception_refused", "exception_lapsed"),
)
"""Checks whose findings are about the answers, so that no audit alone makes them."""


class Accepted(NamedTuple):
    """An exception: a finding that does not count until a day, and why not.

    Attributes
    ----------
    until : date
        The last day, in UTC, on which it is in force.
    reason, control, approved_by : str
        Why, what stands in for a remedy, and who decided it.
    baseline : str
        The approved run that the finding was held against; in force only while it is
        that. A finding of another kind of check need not name one.
    """

    until: date
    reason: str
    control: str
    approved_by: str
    baseline: str = ""


class Answer(NamedTuple):
    """What people say to one finding; a text not given is empty.

    Attributes
    ----------
    key : str
        The first digits of the finding's key, at least twelve, in lower case.
    owner, response : str
    due : date, optional
    exception : Accepted, optional
    """

    key: str
    owner: str = ""
    due: date | None = None
    response: str = ""
    exception: Accepted | None = None


AnsweredFinding: TypeAlias = Finding | FindingHistory
"""What an answer is held against: a finding of this run, or of one before."""


def with_answers(
    result: AuditResult,
    answers: Sequence[Answer],
    earlier_findings: Iterable[AnsweredFinding] = (),
    *,
    baseline: str = "",
) -> AuditResult:
    """Return a result with the answers to its findings as they stand at its start.

    Parameters
    ----------
    result : AuditResult
    answers : sequence of Answer
    earlier_findings : iterable of finding
        Findings of runs before: an answer to one of them is no mistake.
    baseline : str
        The run_id of the approved baseline, empty if there is none.

    Returns
    -------
    AuditResult
        With one row of `answers` for each answer to one finding, and a finding for
        each that names none, or several, or accepts what cannot be accepted, or what
        another baseline showed.
    """
    started = datetime.fromisoformat(str(result.run.volatile["started"]))
    day = started.astimezone(UTC).date()
    keys = {finding.key for finding in result.findings}
    alike = defaultdict[str, list[AnsweredFinding]](list)
    for one in {one.key: one for one in (*earlier_findings, *result.findings)}.values():
        alike[one.key[:LEAST_DIGITS]].append(one)
    rows: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for answer in answers:
        same = alike.get(answer.key[:LEAST_DIGITS], ())
        matches = [one for one in same if one.key.startswith(answer.key)]
        finding = matches[0] if len(matches) == 1 else None
        state = _state(answer, finding, day, baseline)
        rows.append(_row(answer, finding, state, day))
        if finding is None:
            findings.append(_unclear(answer, matches))
        elif (refused := _refused(answer, finding, state, baseline)) and (
            state != "lapsed" or finding.key in keys
        ):
            findings.append(refused)
    frame = FRAMES["answers"].of(rows).astype({"overdue": bool} if rows else {})
    return result.with_frames(answers=frame).with_findings(tuple(findings))


def _row(
    answer: Answer, finding: AnsweredFinding | None, state: str, day: date
) -> dict[str, Any]:
    """Return an answer as a row; of one that names no single finding, its digits."""
    exception = answer.exception
    is_late = answer.due is not None and answer.due < day
    return {
        "key": finding.key if finding else answer.key,
        "check": finding.check if finding else "",
        "subject": finding.subject if finding else "",
        "owner": answer.owner,
        "due": answer.due.isoformat() if answer.due else "",
        "response": answer.response,
        "accepted_until": exception.until.isoformat() if exception else "",
        **{
            name: getattr(exception, name, "")
            for name in ("reason", "control", "approved_by")
        },
        "state": state,
        "overdue": is_late and state != "accepted",
    }


def _state(
    answer: Answer, finding: AnsweredFinding | None, day: date, baseline: str
) -> str:
    """Return what an answer makes of its finding on a day."""
    exception = answer.exception
    if exception and exception.until < day:
        return "expired"
    if exception and finding and finding.check not in NEVER_ACCEPTED:
        is_free = finding.check not in OF_BASELINE and not exception.baseline
        names_it = exception.baseline and exception.baseline == baseline
        return "accepted" if is_free or names_it else "lapsed"
    return "answered" if answer.response else "open"


def _unclear(answer: Answer, matches: Sequence[AnsweredFinding]) -> Finding:
    """Return the finding on an answer that names none, or several."""
    who = f"Answer {answer.key!r} in {FILE_NAME}"
    if not matches:
        return Finding(
            check="answer_unmatched",
            severity="info",
            subject=answer.key,
            message=f"{who} names a finding that neither this run nor one before it "
            "has.",
            remedy="Section K and tables/findings.csv print the keys.",
        )
    both = listed((f"{one.check}, {one.subject}" for one in matches), limit=3)
    return Finding(
        check="answer_ambiguous",
        severity="warning",
        subject=answer.key,
        message=f"{who} names {len(matches)} findings whose keys begin like this: "
        f"{both}. It answers none of them.",
        remedy="Give more digits: tables/findings.csv has all 64.",
    )


def _refused(
    answer: Answer, finding: AnsweredFinding, state: str, baseline: str
) -> Finding | None:
    """Return the finding on an exception that does not accept its finding.

    It was held against another run, or nobody can accept that finding.
    """
    if answer.exception is None or state in ("accepted", "expired"):
        return None
    who = f"Answer {answer.key!r} in {FILE_NAME}"
    if state == "lapsed":
        return Finding(
            check="exception_lapsed",
            severity="info",
            subject=finding.subject,
            message=f"{who} accepts a finding of {finding.check!r} against baseline "
            f"{answer.exception.baseline or 'none'}, but the approved run is "
            f"{baseline or 'none'}. The finding still counts.",
            remedy="Review the finding. To accept it, do so against the approved run.",
            measure=finding.key,
        )
    return Finding(
        check="exception_refused",
        severity="info",
        subject=finding.subject,
        message=f"{who} cannot accept {finding.check!r}, which reports missing "
        "numbers. The finding still counts.",
        measure=finding.key,
    )
