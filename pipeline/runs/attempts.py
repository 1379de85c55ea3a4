"""Start and end of attempts to run an audit, in its log.

An attempt with a start and no end was killed: all functions need the lock of the audit,
so no other attempt is in progress.
"""

import os
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..records.errors import AuditError
from .audit_log import ENDED, Log, append, read_log
from .clock import Instant, describe_clock_jump_before
from .folder import recover


class Attempt(NamedTuple):
    """An attempt in progress.

    Attributes
    ----------
    folder : Path
        The folder of the audit.
    start : Instant
    died : str
        The sentence that the previous attempt was killed; empty if it was not.
    clock : str
        The sentence that the clock was set back since then; empty if it was not.
    """

    folder: Path
    start: Instant
    died: str
    clock: str


def start_attempt(folder: Path, *, unattended: bool) -> Attempt:
    """Log the start of an attempt, and the end of a previous one that was killed.

    Raises
    ------
    AuditError
        If the log cannot be read or appended to: a run could not be logged either.
    """
    start = Instant(datetime.now(UTC), time.monotonic())
    finished = recover(folder)
    log = read_log(folder)
    died = record_killed_attempt(folder, log)
    clock = describe_clock_jump_before(log.events, start.at)
    if clock:
        append(folder, "clock", message=clock)
    host = socket.gethostname()
    append(folder, "began", pid=os.getpid(), host=host, unattended=unattended)
    return Attempt(folder, start, " ".join(filter(None, (died, *finished))), clock)


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
