"""What becomes of a finding from run to run: open, answered, accepted, closed, again.

The runs before say what was found, this one what is, and `answers` what people said.
Not: how a report shows it.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ...records.finding import gravest_by_key
from ...records.result import AuditResult
from ..summary import RunHistory, missing_engines
from .closed_findings import closes, is_open

State: TypeAlias = Literal["open", "answered", "accepted", "reopened", "note", "closed"]


class Standing(NamedTuple):
    """Where one finding stands that is above a note, was so last, or is answered.

    Attributes
    ----------
    key, check, subject, severity : str
    state : {"open", "answered", "accepted", "reopened", "note", "closed"}
        accepted: until the day that `answer` names. reopened: an earlier run had closed
        it. note: a run before found it graver. closed: a run before had it, and this
        one, which came to its end, has not.
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
    """Return where each finding stands that is of any weight; this run's first.

    Of notes those that are answered, and those that the last run to find them found
    graver.

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
        One for each key. Of findings that this run has not: those above a note that
        the last established run had, or one after it.
    """
    answers = {str(row["key"]): row for row in result.answers.to_dict("records")}
    before = {one.key: one for one in history.findings}
    left_open = {one.key for one in history.findings if is_open(one, history)}
    graver = {key for key in left_open if before[key].severity != "info"}
    here = {
        key: finding
        for key, finding in gravest_by_key(result.findings).items()
        if finding.severity != "info" or key in answers or key in graver
    }
    missing = missing_engines(result)
    all_standings = []
    for key in (*here, *(k for k in before if k in graver and k not in here)):
        finding, earlier = here.get(key) or before[key], before.get(key)
        answer = answers.get(key, {})
        state: State = "answered" if answer.get("state") == "answered" else "open"
        if key not in here and closes(result.verdict, missing, finding):
            state = "closed"
        elif answer.get("state") == "accepted":
            state = "accepted"
        elif earlier and key not in left_open:
            state = "reopened"
        elif finding.severity == "info" and key in graver and state == "open":
            state = "note"
        own = str(result.run.volatile.get("run_id", ""))
        all_standings.append(
            Standing(
                key=key,
                check=finding.check,
                subject=finding.subject,
                severity=finding.severity,
                state=state,
                is_found=key in here,
                first_run=earlier.first_run if earlier else own,
                times=(earlier.times if earlier else 0) + (key in here),
                answer=answer,
            )
        )
    return tuple(all_standings)
