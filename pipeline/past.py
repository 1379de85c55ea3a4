"""What a run knows of the runs before it: verdicts, leaders, findings, the baseline.

A run folder keeps it as history.json, so that its report can be rendered again without
the others. Not: where it is read from (`run_index`), what it means (`register`).
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline.result import AuditResult

PAST = "importance-audit-history/1"


class Leader(NamedTuple):
    """One feature of the lead ranking of a run: estimate and interval, rank."""

    feature: str
    value: float
    low: float
    high: float
    rank: float


class PastRun(NamedTuple):
    """One run of the audit, in short.

    Attributes
    ----------
    run_id, verdict, content_digest, manifest_sha256 : str
    started : str
        An ISO text in UTC.
    status : {"complete", "interrupted", "failed"}
    exit_code : int
    measure : str
        What the leaders are of, in words: method, model, loss; runs with another text
        are not to be drawn as one line.
    leaders : tuple of Leader
        Every feature of the lead ranking, by rank.
    findings : mapping of str to str
        Key and severity of each finding above a note.
    missing : tuple of str
        The engines that were asked for and not there: what it did not find by them, it
        did not look for.
    """

    run_id: str
    started: str
    status: str
    verdict: str
    exit_code: int
    content_digest: str
    manifest_sha256: str
    measure: str = ""
    leaders: tuple[Leader, ...] = ()
    findings: Mapping[str, str] = {}
    missing: tuple[str, ...] = ()


class FindingPast(NamedTuple):
    """One finding of earlier runs.

    Attributes
    ----------
    key, check, subject, severity : str
        As it was found last.
    first_run, last_run : str
        The first and the last run that found it.
    times : int
        How many runs did.
    in_last : bool
        Whether the last complete run did.
    """

    key: str
    check: str
    subject: str
    severity: str
    first_run: str
    last_run: str
    times: int
    in_last: bool


class Approved(NamedTuple):
    """The approved baseline: a run, and the signature that made it one."""

    run_id: str
    content_digest: str
    manifest_sha256: str
    signoff_id: str
    printed_name: str
    signed_at: str


class Past(NamedTuple):
    """Everything a run knows of the runs before it.

    Attributes
    ----------
    baseline : Approved, optional
    runs : tuple of PastRun
        The last ones, oldest first.
    n_runs : int
        How many there are in all.
    findings : tuple of FindingPast
        Every finding above a note that any run before made.
    gaps : tuple of str
        Where the chain of runs is broken, one sentence each.
    """

    baseline: Approved | None = None
    runs: tuple[PastRun, ...] = ()
    n_runs: int = 0
    findings: tuple[FindingPast, ...] = ()
    gaps: tuple[str, ...] = ()


NOTHING = Past()


def past_json(past: Past, result: AuditResult) -> str:
    """Return history.json: the past of a run, and the run itself in short."""
    facts: dict[str, Any] = {"format": PAST}
    return f"{json.dumps(facts, indent=2, ensure_ascii=False)}\n"


def read_past(text: str, name: str) -> Past:
    """Return the past that a history.json holds."""
    return NOTHING
