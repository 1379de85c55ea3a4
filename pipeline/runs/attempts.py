"""One attempt to run an audit, as events.jsonl tells it: begun, ended, or neither.

An attempt that began and never ended was killed. The lock is held: none is under way.
"""

import os
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import AuditError, DataError
from .chain import run_folders
from .clock import Instant, describe_clock_jump_before, now_by_both_clocks
from .events import append_event, read_events

LEFTOVERS = (".*.part", ".*.removed")
"""What a killed process leaves: half of a run or of a sign-off, or of a removal."""


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
        If the folder cannot take a line: it could not take a run either.
    """
    start, names = now_by_both_clocks(), run_folders(folder)
    try:
        events, fault = read_events(folder), ""
    except DataError as error:
        events, fault = (), str(error)
    died = record_killed_attempt(folder, events, names)
    clock = describe_clock_jump_before(events, names, start.at)
    if clock:
        append_event(folder, "clock", message=clock)
    who: dict[str, Any] = {"pid": os.getpid(), "host": socket.gethostname()}
    append_event(folder, "began", **who, unattended=unattended)
    remove_leftovers(folder)
    return Attempt(folder, start, " ".join(filter(None, (died, fault))), clock)


def end_attempt(folder: Path, **facts: Any) -> str:
    """Say how an attempt ended; return why that could not be said, else ""."""
    try:
        append_event(folder, "ended", **facts)
    except AuditError as error:
        return str(error)
    return ""


def record_killed_attempt(
    folder: Path, events: Sequence[Mapping[str, Any]], names: Iterable[str]
) -> str:
    """Keep that the last attempt began and never ended, if so; return it in words.

    Parameters
    ----------
    folder : Path
        That of the audit, whose lock is held.
    events : sequence of mapping
        All events so far.
    names : iterable of str
        The run folders: it may have left one before it died.
    """
    start_number = next(
        (n for n in range(len(events), 0, -1) if _is(events[n - 1], "began")), 0
    )
    if not start_number or any(
        _is(event, "ended", "died") for event in events[start_number:]
    ):
        return ""
    start_event = events[start_number - 1]
    left = _left(events, names, str(start_event["time"]))
    facts = {
        "began": start_event["time"],
        "pid": start_event.get("pid"),
        "run_id": left,
    }
    append_event(folder, "died", **facts)
    what = f"It left run {left!r}." if left else "It left no run."
    return (
        f"The previous run did not finish: process {facts['pid']}, which began it at "
        f"{facts['began']}, was killed, or its machine stopped. {what}"
    )


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left half done below runs/."""
    runs = folder / "runs"
    for parent in (runs, *runs.glob("*/signed")):
        for pattern in LEFTOVERS:
            for path in parent.glob(pattern):
                shutil.rmtree(path, ignore_errors=True)
                with suppress(OSError):
                    path.unlink()


def _is(event: Mapping[str, Any], *kinds: str) -> bool:
    return event["event"] in kinds


def _left(events: Iterable[Mapping[str, Any]], names: Iterable[str], began: str) -> str:
    """Return the run folder that no attempt ended with, made since `began`."""
    ended = {event.get("run_id") for event in events if _is(event, "ended", "died")}
    since = began[:19].replace("-", "").replace(":", "")
    return max((n for n in names if n not in ended and n[:15] >= since), default="")
