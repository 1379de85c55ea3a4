"""Telling people of a run: commands of the configuration, without a shell.

What such a command does is its owner's: it may be missing, fail, hang or never stop
talking. That is said and kept, and is never the run's fault.
"""

import os
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..config.settings import ScheduleSection
from ..records.errors import AuditError, printable, several
from ..runs.audit_log import append
from .child_process import decode, describe_exit, follow
from .exit_codes import LOCKED

PREFIX = "IMPORTANCE_AUDIT_"
MOST_BYTES = 32_000
"""Of one text: the system takes 131 072 of one, and some two million of all."""


class Notice(NamedTuple):
    """What a command is told, as variables named by `PREFIX` and these in capitals.

    Attributes
    ----------
    audit : str
        The name of the audit; the command runs in its folder.
    run : str
        The run folder, empty if the run left none.
    verdict : str
        Empty if there is none.
    exit_code : int
    summary : str
        summary.txt of the run.
    news : tuple of str
        What is not as in the run before, one sentence each.
    """

    audit: str
    run: str
    verdict: str
    exit_code: int
    summary: str
    news: tuple[str, ...]


def notify(folder: Path, schedule: ScheduleSection, notice: Notice) -> tuple[str, ...]:
    """Run the commands that an ended run calls for; return what went wrong with them.

    ``on_change`` if there is news, then ``on_failure`` or ``on_success`` by the exit
    code; a command that two of them name runs once. Each is kept in the audit log.
    Where another process is at work, what changed is for its run to tell.
    """
    has_failed = notice.exit_code != 0
    has_changed = notice.news and notice.exit_code != LOCKED
    due = {"change": schedule.on_change if has_changed else ()}
    ended = "failure" if has_failed else "success"
    due[ended] = schedule.on_failure if has_failed else schedule.on_success
    if due["change"] == due[ended]:  # it is told of the graver event
        del due["change" if has_failed else ended]
    faults: list[str] = []
    for event, command in due.items():
        if command:
            faults += _run(folder, event, command, notice, schedule.command_seconds)
    return tuple(faults)


def _run(
    folder: Path, event: str, command: Iterable[str], notice: Notice, seconds: float
) -> Iterable[str]:
    """Run one command, keep how it went, and yield what went wrong."""
    told = {"event": event, **notice._asdict(), "news": "\n".join(notice.news)}
    variables = {  # as bytes: no locale can refuse them
        f"{PREFIX}{key.upper()}".encode(): _bytes(str(fact))
        for key, fact in told.items()
    }
    start, argv = time.monotonic(), tuple(command)
    environment = {**os.environb, **variables}
    status, last_words = _answer(folder, argv, environment, seconds)
    took = round(time.monotonic() - start, 3)
    hook = f"on_{event}"
    if status != 0:
        why = last_words
        if status is not None:
            why = f"ended with {describe_exit(status)}. Its output: {last_words or '-'}"
        yield (
            f"[schedule] {hook} did not run successfully: {argv[0]!r} {printable(why)}"
        )
    facts = {"hook": hook, "exit_code": status, "seconds": took, "message": last_words}
    try:
        append(folder, "notified", **facts)
    except AuditError as error:
        yield str(error)


def _answer(
    folder: Path, argv: tuple[str, ...], environment: dict[bytes, bytes], seconds: float
) -> tuple[int | None, str]:
    """Return exit code and last words of a command; None if it has no exit code."""
    try:
        child = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return None, f"did not start: {error.strerror}."
    except ValueError as error:
        return None, f"did not start: {error}."
    output, is_own = follow(child, seconds, lambda _: None)
    if is_own:
        return child.returncode, decode(output)
    late = f"was ended after {several(seconds, 'second')} (command_seconds)."
    return None, f"{late} Its output: {decode(output) or '-'}"


def _bytes(text: str) -> bytes:
    """Return a text that an environment can hold: whole characters, no NUL, no end."""
    data = text.encode("utf-8", "replace").replace(b"\0", b"")
    if len(data) <= MOST_BYTES:
        return data
    cut = data[:MOST_BYTES].decode("utf-8", "ignore").encode()
    with suppress(ValueError):
        cut = cut[: cut.rindex(b"\n")]
    return cut + f"\n... and {len(data) - len(cut)} bytes more.".encode()
