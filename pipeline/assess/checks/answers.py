"""What a check answers: a row for the table of thresholds, and perhaps a Finding."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from ...records.finding import Finding, Severity

Row: TypeAlias = dict[str, Any]
Answer: TypeAlias = tuple[Row, Finding | None]
Answers: TypeAlias = list[Answer]

VERDICTS: dict[Severity, str] = {"info": "note", "warning": "warn", "failure": "fail"}
"""What a check reads that made a finding: outside its limit none reads "pass"."""


class Limit(NamedTuple):
    """A threshold, and who set it: "default", a file, or "definition" if nobody can."""

    value: float | str
    set_by: str = "default"


Limits: TypeAlias = Mapping[str, Limit]


def answer(
    finding: Finding, fired: bool, observed: float | str, limit: Limit
) -> Answer:
    """Return the row of a check, and its finding if it fired."""
    verdict = VERDICTS[finding.severity] if fired else "pass"
    return row_of(finding, observed, limit, verdict), finding if fired else None


def row_of(finding: Finding, observed: float | str, limit: Limit, verdict: str) -> Row:
    """Return one row for the table of thresholds."""
    return {
        "check": finding.check,
        "subject": finding.subject,
        "observed": observed if isinstance(observed, str) else float(observed),
        "threshold": limit.value,
        "set_by": limit.set_by,
        "verdict": verdict,
    }
