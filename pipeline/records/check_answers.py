"""What a check answers: a row for the table of thresholds, and perhaps a Finding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from .finding import Finding, Severity
from .frames import Row

Answer: TypeAlias = tuple[Row, Finding | None]
Answers: TypeAlias = list[Answer]

VERDICTS: dict[Severity, str] = {"info": "note", "warning": "warn", "failure": "fail"}
"""What a check reads that made a finding: outside its limit none reads "pass"."""


class Limit(NamedTuple):
    """A threshold, and who set it: "default", a file, or "definition" if nobody can."""

    value: float | str
    set_by: str = "default"


Limits: TypeAlias = Mapping[str, Limit]


@dataclass(frozen=True)
class Seen:
    """What a check saw; what is left out is as in its row of `CHECKS`.

    Attributes
    ----------
    fires : bool or None
        Whether it saw what it looks for, None if that cannot be judged.
    observed : float or str
    message : str
        The sentence of its finding; empty if it cannot fire.
    limit : Limit, optional
    severity, remedy, subject, measure : str, optional
    cause : str
    evidence : mapping of str to float
    """

    fires: bool | None
    observed: float | str
    message: str = ""
    limit: Limit | None = None
    severity: Severity | None = None
    subject: str = ""
    remedy: str = ""
    measure: str = ""
    cause: str = ""
    evidence: Mapping[str, float] = field(default_factory=dict)


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
