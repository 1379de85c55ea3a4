"""events.jsonl: what happened to an audit, also to attempts that left no run folder.

One JSON object per line, only ever added to; a line has ``time`` (UTC) and ``event``:

    began     pid, host, unattended      before anything else, under the lock
    ended     run_id, exit_code, verdict, message
    died      began, pid                 of a run that began and never ended
    removed   run_id, manifest_sha256    retention took a run folder away
    notified  hook, exit_code, seconds, message
    clock     message                    the clock was found to have gone back
"""

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..records.errors import AuditError, DataError

EVENTS = "events.jsonl"


def append_event(folder: Path, event: str, **facts: Any) -> None:
    """Add one line to events.jsonl, and see it on the disk.

    Raises
    ------
    AuditError
        If the file cannot take it; what there was is as it was.
    """
    entry = {"time": _now(), "event": event, **facts}
    text = f"{json.dumps(entry, ensure_ascii=False)}\n"
    line = text.encode(errors="backslashreplace")  # a name that is no UTF-8 comes back
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        number = os.open(folder / EVENTS, flags, 0o666)
        try:
            _append(number, line)
        finally:
            os.close(number)
    except OSError as error:
        raise AuditError(
            f"Folder {str(folder)!r} cannot take a line of {EVENTS!r}: "
            f"{error.strerror}."
        ) from error


def read_events(folder: Path, *, of: str = EVENTS) -> tuple[dict[str, Any], ...]:
    """Return the events of an audit, or of another file, in the order of the file.

    The last line is left out if its writer was killed in the middle of it; any other
    that nobody can read is ``{"event": "unreadable", "line": n}``, from 1.

    Raises
    ------
    DataError
        If there is a file that cannot be read.
    """
    try:
        lines = (folder / of).read_bytes().split(b"\n")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise DataError(f"{folder / of} cannot be read: {error.strerror}.") from error
    entries = [(n, _event(line)) for n, line in enumerate(lines, 1) if line.strip()]
    is_torn = entries and entries[-1][0] == len(lines) and entries[-1][1] is None
    return tuple(
        {"event": "unreadable", "line": n} if event is None else event
        for n, event in (entries[:-1] if is_torn else entries)
    )


def is_instant(text: object) -> bool:
    """Return whether a value is an ISO text that says an instant, with its offset."""
    try:
        return datetime.fromisoformat(str(text)).tzinfo is not None
    except ValueError:
        return False


def _append(number: int, line: bytes) -> None:
    """Write a line at once; half a line on a full disk is taken back."""
    size, written = os.fstat(number).st_size, 0
    if size and os.pread(number, 1, size - 1) != b"\n":  # a killed writer's half line
        line = b"\n" + line
    try:
        written = os.write(number, line)
        if written < len(line):  # the system names the cause at the second call
            written += os.write(number, line[written:])
        os.fsync(number)
    except OSError:
        with suppress(OSError):
            if os.fstat(number).st_size == size + written:  # nobody wrote since
                os.ftruncate(number, size)
        raise


def _event(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, None if nobody can read it."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(entry, dict) and isinstance(entry.get("event"), str)
    return entry if is_event and is_instant(entry.get("time")) else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
