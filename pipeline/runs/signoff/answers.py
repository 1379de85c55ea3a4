"""Answers of people to the findings of an audit, from findings.toml in its folder.

An answer is shown, never altered. Not: reading the file (`answers_file`), the state of
a finding over the runs (`finding_states`), or the effect of an exception on the
verdict (`AuditResult.against`).
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, TypeAlias

from ...records.finding import Finding
from ...records.frames import FRAMES
from ...records.result import AuditResult
from ..summary import FindingHistory
from .closed_findings import OF_BASELINE

FILE_NAME = "findings.toml"
LEAST_DIGITS = 12
"""Minimum number of digits of a key in the file: as many as section K prints."""
NEVER_ACCEPTED = (
    *("interrupted", "step_failed", "engine_required"),
    *("method_failed", "nothing_measured"),
)
"""Checks whose findings report missing numbers: they cannot be accepted."""
LATER = (*("answer_unmatched", "exception_refused", "exception_lapsed"),)
"""Checks whose findings are about answers; the function `audit` makes none of them."""


class Accepted(NamedTuple):
    """An exception: a finding is accepted, and does not count, until a day.

    Attributes
    ----------
    until : date
        The last day, in UTC, on which it is in force.
    reason, control, approved_by : str
        The reason, the control that replaces a remedy, and the person who approved it.
    baseline : str
        The approved run that the finding compares with; the exception is in force only
        while that run is the baseline. Needed only for checks in `OF_BASELINE`.
    """

    until: date
    reason: str
    control: str
    approved_by: str
    baseline: str = ""


class Answer(NamedTuple):
    """An answer to one finding; a text that was not given is empty.

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
"""A finding that an answer can name: of this run, or of an earlier one."""


def with_answers(
    result: AuditResult,
    answers: Sequence[Answer],
    earlier_findings: Iterable[AnsweredFinding] = (),
    *,
    baseline: str = "",
) -> AuditResult:
    """Return a result with the answers to its findings, as of the day of its start.

    Parameters
    ----------
    result : AuditResult
    answers : sequence of Answer
    earlier_findings : iterable of finding
        Findings of earlier runs, which may be answered too.
    baseline : str
        The run_id of the approved baseline, empty if there is none.

    Returns
    -------
    AuditResult
        With one row of `answers` for each answer, and a finding for each answer that
        names no finding, or whose exception is not valid: its finding cannot be
        accepted, or depends on another baseline.
    """
    started = datetime.fromisoformat(str(result.run.volatile["started"]))
    day = started.astimezone(UTC).date()
    keys = {finding.key for finding in result.findings}
    by_digits = {
        one.key[:LEAST_DIGITS]: one for one in (*earlier_findings, *result.findings)
    }
    rows: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for answer in answers:
        finding = by_digits.get(answer.key[:LEAST_DIGITS])
        if finding and not finding.key.startswith(answer.key):
            finding = None
        state = _state(answer, finding, day, baseline)
        rows.append(_row(answer, finding, state, day))
        if finding is None:
            unmatched = Finding(
                check="answer_unmatched",
                severity="info",
                subject=answer.key,
                message=f"Answer {answer.key!r} in {FILE_NAME} names a finding that "
                "neither this run nor one before it has.",
                remedy="Section K and tables/findings.csv print the keys.",
            )
            findings.append(unmatched)
        elif (refused := _refused(answer, finding, state, baseline)) and (
            state != "lapsed" or finding.key in keys
        ):
            findings.append(refused)
    frame = FRAMES["answers"].of(rows).astype({"overdue": bool} if rows else {})
    return result.with_frames(answers=frame).with_findings(tuple(findings))


def _row(
    answer: Answer, finding: AnsweredFinding | None, state: str, day: date
) -> dict[str, Any]:
    """Return the row of an answer; its key as given if it names no finding."""
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
    """Return the state of a finding on a day, given its answer."""
    exception = answer.exception
    if exception and exception.until < day:
        return "expired"
    if exception and finding and finding.check not in NEVER_ACCEPTED:
        is_free = finding.check not in OF_BASELINE and not exception.baseline
        names_it = exception.baseline and exception.baseline == baseline
        return "accepted" if is_free or names_it else "lapsed"
    return "answered" if answer.response else "open"


def _refused(
    answer: Answer, finding: AnsweredFinding, state: str, baseline: str
) -> Finding | None:
    """Return the finding on an exception that is not valid, else None.

    It names another baseline, or its finding cannot be accepted.
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
