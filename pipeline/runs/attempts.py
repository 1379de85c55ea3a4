"""Start and end of attempts to run an audit, in its log.

An attempt with a start and no end was killed: all functions need the lock of the audit,
so no other attempt is in progress.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import AuditError
from ..records.finding import Finding
from .audit_log import ENDED, Log, append, read_log
from .folder import recover

SLACK = timedelta(seconds=5)
"""Setbacks of the clock up to this length are not reported: time servers correct it."""


class Attempt(NamedTuple):
    """What the log says about the time before an attempt.

    Attributes
    ----------
    died : str
        The sentence that the previous attempt was killed; empty if it was not.
    clock : str
        The sentence that the clock was set back since then; empty if it was not.
    """

    died: str
    clock: str


def start_attempt(folder: Path, *, unattended: bool) -> Attempt:
    """Log the start of an attempt, and the end of a previous one that was killed.

    Raises
    ------
    AuditError
        If the log cannot be read or appended to: a run could not be logged either.
    """
    start = datetime.now(UTC)
    finished = recover(folder)
    log = read_log(folder)
    died = record_killed_attempt(folder, log)
    clock = describe_clock_jump(log.events, start)
    if clock:
        append(folder, "clock", message=clock)
    host = socket.gethostname()
    append(folder, "began", pid=os.getpid(), host=host, unattended=unattended)
    return Attempt(" ".join(filter(None, (died, *finished))), clock)


def end_attempt(folder: Path, *, exit_code: int, message: str, r_failed: bool) -> None:
    """Log the end of an attempt that left no run, if the log can be written."""
    facts = {"exit_code": exit_code, "message": message, "r_failed": r_failed}
    with suppress(AuditError):
        append(folder, "failed", **facts)


def record_killed_attempt(folder: Path, log: Log) -> str:
    """Log that the last attempt was killed, if it was, and return a sentence on it.

    Parameters
    ----------
    folder : Path
        The folder of the audit, whose lock is held.
    log : Log
        The log of the audit so far.
    """
    attempts = log.of("began", "died", *ENDED)
    if not attempts or attempts[-1]["kind"] != "began":
        return ""
    began = attempts[-1]
    append(folder, "died", began=began["time"], pid=began["pid"])
    return (
        f"The previous run did not finish: process {began['pid']}, which began it at "
        f"{began['time']}, was killed, or its machine stopped. It left no run."
    )


def describe_clock_jump(events: Sequence[Mapping[str, Any]], now: datetime) -> str:
    """Return the sentence that the clock is behind the last event, or "".

    The last event counts, not the one with the latest time: the correction of a clock
    that was ahead is reported once. Times then do not give the order of runs; the audit
    log still has it.

    Parameters
    ----------
    events : sequence of mapping
        The events of the audit log, in their order.
    now : datetime
    """
    last = datetime.fromisoformat(events[-1]["time"]) if events else now
    if now >= last - SLACK:
        return ""
    said, was = (t.astimezone(UTC).isoformat(timespec="seconds") for t in (now, last))
    return (
        f"The system clock was set back: at the start of this run it said {said}, and "
        f"the last event before it has the time {was}."
    )


def clock_finding(message: str) -> Finding:
    """Return the finding on a clock that was set back."""
    return Finding(
        check="clock_went_back",
        severity="warning",
        subject="clock",
        message=message,
        remedy="Check the time service of this machine, and treat the recorded times "
        "with caution.",
        measure="before the run",
    )
