"""Result of a check: a row of the table of thresholds and, if it fires, a Finding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from .finding import Finding, Severity
from .frames import Row

Answer: TypeAlias = tuple[Row, Finding | None]
Answers: TypeAlias = list[Answer]

VERDICTS: dict[Severity, str] = {"info": "note", "warning": "warn", "failure": "fail"}
"""Verdict of a check with a finding, by severity: outside its limit none is "pass"."""


class Limit(NamedTuple):
    """A threshold and its origin: "default", a file, or "definition" (not settable)."""

    value: float | str
    set_by: str = "default"


Limits: TypeAlias = Mapping[str, Limit]


@dataclass(frozen=True)
class Seen:
    """Observation of a check; fields left out are taken from its row of `CHECKS`.

    Attributes
    ----------
    fires : bool or None
        Whether the check fires, None if that cannot be determined.
    observed : float or str
    message : str
        The message of its finding; empty if it cannot fire.
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
    """Return a row of the table of thresholds."""
    return {
        "check": finding.check,
        "subject": finding.subject,
        "observed": observed if isinstance(observed, str) else float(observed),
        "threshold": limit.value,
        "set_by": limit.set_by,
        "verdict": verdict,
    }
