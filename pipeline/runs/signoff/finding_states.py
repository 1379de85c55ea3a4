"""States of findings over the runs: open, answered, accepted, reopened or closed.

They follow from the findings of earlier runs and of this one, and from the answers in
findings.toml. Not: the display in a report.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ...records.finding import gravest_by_key
from ...records.result import AuditResult
from ..summary import RunHistory, missing_engines
from .closed_findings import closes, is_open

State: TypeAlias = Literal["open", "answered", "accepted", "reopened", "note", "closed"]


class Standing(NamedTuple):
    """The state of a finding that is above a note, was so before, or is answered.

    Attributes
    ----------
    key, check, subject, severity : str
    state : {"open", "answered", "accepted", "reopened", "note", "closed"}
        accepted: until the day in `answer`. reopened: an earlier run had closed it.
        note: an earlier run found it graver. closed: an earlier run found it, and this
        one, with an established verdict, did not.
    is_found : bool
        Whether this run found it. If not, and it is not closed, this run did not look
        for it.
    first_run : str
        The first run that found it.
    times : int
        Number of runs that found it, this one included.
    answer : mapping
        Its row of ``result.answers``, empty if there is no answer.
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
        """Whether its due day has passed and it is neither closed nor accepted."""
        return bool(self.answer.get("overdue", False)) and self.state != "closed"


def standings(result: AuditResult, history: RunHistory) -> tuple[Standing, ...]:
    """Return the state of each relevant finding; those of this run first.

    A note is relevant if it is answered, or if the last run that found it had it above
    a note.

    A run closes a finding only if its verdict is established and it looked for it. The
    state is unchanged by a run that did not end, in which a method failed, or that
    lacked the engine of the finding or the approved baseline of its check.

    Parameters
    ----------
    result : AuditResult
    history : RunHistory
        The earlier runs.

    Returns
    -------
    tuple of Standing
        One for each key. Findings of earlier runs are included if they are above a note
        and no run has closed them before this one.
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
