"""Closing of findings: a run closes a finding that it looked for and did not make."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..summary import NO_BASELINE, FindingHistory, RunHistory, missing_engines

if TYPE_CHECKING:
    from ...records.finding import Finding
    from ...records.result import AuditResult

NOT_ESTABLISHED = "not established"

OF_BASELINE = (
    *("column_added", "column_removed", "column_kind", "category_new"),
    *("category_gone", "distribution_shift", "missing_share"),
)
"""Checks that compare a run with the approved baseline.

An exception to their findings names the baseline; a run without it closes none."""


def closes(
    verdict: str, missing: Iterable[str], finding: "Finding | FindingHistory"
) -> bool:
    """Return whether a run that has not made a finding closes it.

    A run does not if its verdict is not established, or if it lacked an engine of the
    finding or the baseline of its check: the run could not make the finding.

    Parameters
    ----------
    verdict : str
        The verdict of the run.
    missing : iterable of str
        The `missing_engines` of the run.
    finding : finding
    """
    if verdict == NOT_ESTABLISHED:
        return False
    return not any(
        finding.check in OF_BASELINE if name == NO_BASELINE else name in finding.engines
        for name in missing
    )


def closed_since(before: "AuditResult", now: "AuditResult") -> tuple["Finding", ...]:
    """Return the findings above a note of one run that a later one closes."""
    keys = {finding.key for finding in now.findings}  # notes included: still found
    missing = missing_engines(now)
    return tuple(
        finding
        for finding in before.findings
        if finding.severity != "info"
        and finding.key not in keys
        and closes(now.verdict, missing, finding)
    )


def is_open(finding: FindingHistory, history: RunHistory) -> bool:
    """Return whether a finding is open: no run after the last that found it closed it.

    For runs that are no longer in `history`, `FindingHistory.in_last` is used.
    """
    names = [run.run_id for run in history.runs]
    is_held = finding.last_run in names
    since = (
        history.runs[names.index(finding.last_run) + 1 :] if is_held else history.runs
    )
    if any(closes(run.verdict, run.missing, finding) for run in since):
        return False
    return is_held or finding.in_last
