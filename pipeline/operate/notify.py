"""Notifications of a run by the commands of [schedule], started without a shell.

A command may be missing, fail, hang or print without end. That is reported and logged,
and does not change the exit code of the run.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..config.settings import ScheduleSection
from ..records.errors import AuditError, printable, several
from ..runs.audit_log import append
from .child_process import decode, describe_exit, run_child
from .exit_codes import LOCKED

PREFIX = "IMPORTANCE_AUDIT_"
MOST_BYTES = 32_000
"""Maximum size of one variable; Linux allows 131 072 bytes, about 2 million in all."""


class Notice(NamedTuple):
    """The facts that a command gets as variables: `PREFIX` and the name in capitals.

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
        The summary.txt of the run.
    news : tuple of str
        Changes since the run before, one sentence each.
    """

    audit: str
    run: str
    verdict: str
    exit_code: int
    summary: str
    news: tuple[str, ...]


def notify(folder: Path, schedule: ScheduleSection, notice: Notice) -> tuple[str, ...]:
    """Run the commands for an ended run; return the errors of these commands.

    ``on_change`` runs if there are changes, then ``on_failure`` or ``on_success`` by
    the exit code; a command that is both runs once. Each is logged in the audit log. If
    another process was running the audit, that run reports the changes.
    """
    has_failed = notice.exit_code != 0
    has_changed = notice.news and notice.exit_code != LOCKED
    due = {"change": schedule.on_change if has_changed else ()}
    ended = "failure" if has_failed else "success"
    due[ended] = schedule.on_failure if has_failed else schedule.on_success
    if due["change"] == due[ended]:  # it gets the graver event
        del due["change" if has_failed else ended]
    faults: list[str] = []
    for event, command in due.items():
        if command:
            faults += _run(folder, event, command, notice, schedule.command_seconds)
    return tuple(faults)


def _run(
    folder: Path, event: str, command: Iterable[str], notice: Notice, seconds: float
) -> Iterable[str]:
    """Run one command, log its outcome, and yield its errors."""
    facts = {"event": event, **notice._asdict(), "news": "\n".join(notice.news)}
    variables = {  # as bytes: independent of the locale
        f"{PREFIX}{key.upper()}".encode(): _bytes(str(fact))
        for key, fact in facts.items()
    }
    start, argv = time.monotonic(), tuple(command)
    environment = {**os.environb, **variables}
    status, last_words = _call(folder, argv, environment, seconds)
    took = round(time.monotonic() - start, 3)
    hook = f"on_{event}"
    if status != 0:
        why = last_words
        if status is not None:
            why = f"ended with {describe_exit(status)}. Its output: {last_words or '-'}"
        yield (
            f"[schedule] {hook} did not run successfully: {argv[0]!r} {printable(why)}"
        )
    outcome = {"hook": hook, "exit_code": status, "seconds": took}
    try:
        append(folder, "notified", **outcome, message=last_words)
    except AuditError as error:
        yield str(error)


def _call(
    folder: Path, argv: tuple[str, ...], environment: dict[bytes, bytes], seconds: float
) -> tuple[int | None, str]:
    """Run a command; return its exit code, None if it has none, and its last output."""
    try:
        ended = run_child(argv, seconds, lambda _: None, cwd=folder, env=environment)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return None, f"did not start: {why}."
    output = decode(ended.output)
    if ended.is_own:
        return ended.code, output
    late = f"was ended after {several(seconds, 'second')} (command_seconds)."
    return None, f"{late} Its output: {output or '-'}"


def _bytes(text: str) -> bytes:
    """Return a text for an environment variable: UTF-8, without NUL, cut if long."""
    data = text.encode("utf-8", "replace").replace(b"\0", b"")
    if len(data) <= MOST_BYTES:
        return data
    cut = data[:MOST_BYTES].decode("utf-8", "ignore").encode()
    with suppress(ValueError):
        cut = cut[: cut.rindex(b"\n")]
    return cut + f"\n... and {len(data) - len(cut)} bytes more.".encode()
