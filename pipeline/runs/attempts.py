"""One attempt to run an audit, as its log tells it: begun, ended, or neither.

An attempt that began and never ended was killed. The lock is held: none is under way.
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
    """An attempt under way.

    Attributes
    ----------
    folder : Path
        That of the audit.
    start : Instant
    died : str
        That the attempt before it was killed, in words; empty if it was not.
    clock : str
        That the clock went back since, in words; empty if it did not.
    """

    folder: Path
    start: Instant
    died: str
    clock: str


def start_attempt(folder: Path, *, unattended: bool) -> Attempt:
    """Say that an attempt begins, and what became of the one before.

    Raises
    ------
    AuditError
        If the log cannot be read or cannot take a line: it could not take a run either.
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
    """Say how an attempt ended that left no run, if the log takes the line."""
    facts = {"exit_code": exit_code, "message": message, "r_failed": r_failed}
    with suppress(AuditError):
        append(folder, "failed", **facts)


def record_killed_attempt(folder: Path, log: Log) -> str:
    """Keep that the last attempt began and never ended, if so; return it in words.

    Parameters
    ----------
    folder : Path
        That of the audit, whose lock is held.
    log : Log
        What its log says so far.
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
