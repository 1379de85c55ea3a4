"""What becomes of a finding from run to run: open, answered, accepted, closed, again.

The runs before say what was found, this one what is, and `answers` what people said.
Not: how a report shows it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ...records.result import AuditResult
from ..summary import RunHistory, missing_engines
from .closed_findings import closes, is_open

State: TypeAlias = Literal["open", "answered", "accepted", "reopened", "closed"]


class Standing(NamedTuple):
    """Where one finding above a note stands.

    Attributes
    ----------
    key, check, subject, severity : str
    state : {"open", "answered", "accepted", "reopened", "closed"}
        accepted: until the day that `answer` names. reopened: an earlier run had closed
        it. closed: a run before had it, and this one, which came to its end, has not.
    is_found : bool
        Whether this run found it; if not, and it is not closed, this run did not look.
    first_run : str
        The first run that found it.
    times : int
        How many runs did, this one among them.
    answer : mapping
        Its row of ``result.answers``, empty if nobody answered.
    """

    key: str
    check: str
    subject: str
    severity: str
    state: State
    is_found: bool
    first_run: str
    times: int
    answer: Mapping[str, Any]

    @property
    def is_overdue(self) -> bool:
        """Whether its day has passed while it is neither closed nor accepted."""
        return bool(self.answer.get("overdue", False)) and self.state != "closed"


def standings(result: AuditResult, history: RunHistory) -> tuple[Standing, ...]:
    """Return where each finding above a note, or answered, stands; this run's first.

    A run closes a finding only if its verdict is established and it asked: one that did
    not end, in which a method failed, or that lacked the engine the finding is about,
    or the approved baseline it is held against, leaves it as it was.

    Parameters
    ----------
    result : AuditResult
    history : RunHistory
        What is known of the runs before.

    Returns
    -------
    tuple of Standing
        One for each key. Of findings that this run has not: those that the last
        established run had, or one after it.
    """
    answers = {str(row["key"]): row for row in result.answers.to_dict("records")}
    before = {one.key: one for one in history.findings}
    own = str(result.run.volatile.get("run_id", ""))
    here = {
        finding.key: finding
        for finding in result.findings
        if finding.severity != "info" or finding.key in answers
    }
    closed = {one.key for one in history.findings if not is_open(one, history)}
    found_standings = tuple(
        Standing(
            key=key,
            check=finding.check,
            subject=finding.subject,
            severity=finding.severity,
            state=_state(answers.get(key, {}), was_closed=key in closed),
            is_found=True,
            first_run=before[key].first_run if key in before else own,
            times=1 + (before[key].times if key in before else 0),
            answer=answers.get(key, {}),
        )
        for key, finding in here.items()
    )
    rest = RunHistory(
        runs=history.runs,
        findings=tuple(f for f in history.findings if f.key not in here),
    )
    return (*found_standings, *_absent_standings(result, rest, answers))


def _absent_standings(
    result: AuditResult, history: RunHistory, answers: Mapping[str, Mapping[str, Any]]
) -> Iterator[Standing]:
    """Yield what was open before this run and is not found in it."""
    verdict, missing = result.verdict, missing_engines(result)
    for finding in history.findings:
        if not is_open(finding, history):
            continue
        answer = answers.get(finding.key, {})
        is_closed = closes(verdict, missing, finding)
        yield Standing(
            key=finding.key,
            check=finding.check,
            subject=finding.subject,
            severity=finding.severity,
            state="closed" if is_closed else _state(answer, was_closed=False),
            is_found=False,
            first_run=finding.first_run,
            times=finding.times,
            answer=answer,
        )


def _state(answer: Mapping[str, Any], *, was_closed: bool) -> State:
    """Return the state of a finding that counts, or would but for an exception."""
    if answer.get("state") == "accepted":
        return "accepted"
    if was_closed:
        return "reopened"
    return "answered" if answer.get("state") == "answered" else "open"
