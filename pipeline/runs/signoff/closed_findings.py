"""Which runs close a finding that they have not: those that looked for it."""

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
"""Checks that hold a run against the approved baseline; no run alone makes them.

An exception to their findings names the baseline; a run without it closes none."""


def closes(
    verdict: str, missing: Iterable[str], finding: "Finding | FindingHistory"
) -> bool:
    """Return whether a run that has not made a finding closes it.

    Not one whose verdict is not established, or that lacked an engine it is about, or
    the baseline it is held against: that run did not look.

    Parameters
    ----------
    verdict : str
    missing : iterable of str
        What `missing_engines` said of the run.
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
    keys = {finding.key for finding in now.findings}  # as notes too: still found
    missing = missing_engines(now)
    return tuple(
        finding
        for finding in before.findings
        if finding.severity != "info"
        and finding.key not in keys
        and closes(now.verdict, missing, finding)
    )


def is_open(finding: FindingHistory, history: RunHistory) -> bool:
    """Return whether no run since the last that found it has closed a finding.

    Of runs that `history` holds no longer, only `FindingHistory.in_last` is known.
    """
    names = [run.run_id for run in history.runs]
    is_held = finding.last_run in names
    since = (
        history.runs[names.index(finding.last_run) + 1 :] if is_held else history.runs
    )
    if any(closes(run.verdict, run.missing, finding) for run in since):
        return False
    return is_held or finding.in_last
