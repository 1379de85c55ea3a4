"""findings.toml beside an audit: what people answered to its findings."""

from pathlib import Path

from pipeline.result import AuditResult

ANSWERS = (
    *("key", "check", "subject", "owner", "due", "response"),
    *("accepted_until", "reason", "control", "approved_by", "state", "overdue"),
)
"""The columns of ``AuditResult.answers``."""


def load_answers(folder: Path) -> tuple[object, ...]:
    """Return the answers beside an audit, none if there is no such file."""
    return ()


def with_answers(result: AuditResult, answers: tuple[object, ...]) -> AuditResult:
    """Return a result with the answers to its findings as they stand at its start."""
    return result
