"""How rows moved since the approved baseline: columns, categories, distributions."""

from pipeline.finding import Finding
from pipeline.result import AuditResult


def drift(baseline: AuditResult, result: AuditResult) -> tuple[Finding, ...]:
    """Return one finding per column, category or distribution that is not as it was."""
    return ()
