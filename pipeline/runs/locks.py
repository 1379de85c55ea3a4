"""One process at a time works on an audit: the file .lock in its folder.

The system holds the lock, not the file: it is free as soon as its process has ended,
however that came about. Not: what is done under it.
"""

import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..records.errors import AuditError, LockedError

LOCK = ".lock"
_LOOK_SECONDS = 0.1
_FORK_SECONDS = 5.0
"""For how long to wait for a lock whose process has ended: a fork of it that was just
made holds it until it has run its first lines."""
_MOST_WORDS = 4096
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, OverflowError)
"""What reading the file ends in if it says something else, or nothing yet."""
_open_locks: set[int] = set()
"""Open locks of this process, for a fork of it to close: it would hold them too."""


@contextmanager
def locked(audit_folder: Path) -> Iterator[None]:
    """Work on an audit alone.

    Parameters
    ----------
    audit_folder : Path
        Must be there; its file .lock is made, and stays.

    Raises
    ------
    LockedError
        If another process has the lock, or this one has it already.
    AuditError
        If the folder cannot take the file, or its file system knows no locks.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        number = os.open(audit_folder / LOCK, flags, 0o666)
    except OSError as error:
        raise _refused(audit_folder, error) from error
    _open_locks.add(number)
    try:
        _take(number, audit_folder)
        began = datetime.now(UTC).isoformat(timespec="seconds")
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "began": began}
        with suppress(OSError):  # the lock holds on a full disk too
            os.ftruncate(number, 0)
            os.pwrite(number, f"{json.dumps(holder)}\n".encode(), 0)
        yield
    finally:
        _open_locks.discard(number)
        os.close(number)


def _take(number: int, folder: Path) -> None:
    """Take the lock, or say who has it."""
    start = time.monotonic()
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise _refused(folder, error) from error
        holder: dict[str, Any] = {}
        with suppress(*_UNREADABLE):
            holder = json.loads(os.pread(number, _MOST_WORDS, 0))
        if may_be_alive(holder) or time.monotonic() - start >= _FORK_SECONDS:
            break
        time.sleep(_LOOK_SECONDS)
    who = "another process is using it"
    with suppress(*_UNREADABLE):
        pid, host, began = holder["pid"], holder["host"], holder["began"]
        who = f"process {pid} on {host!r} has been using it since {began}"
    raise LockedError(
        f"Audit {str(folder)!r} is in use: {who}. Wait until it has ended, or stop it."
    )


def may_be_alive(process: Mapping[str, Any]) -> bool:
    """Return whether the process of this pid and host is there; in doubt, it is."""
    try:
        if process["host"] == socket.gethostname():
            # One that its parent has not waited for is there still, as a "zombie".
            with suppress(FileNotFoundError):  # gone, or no /proc here
                pid = process["pid"]
                stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
                return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
            os.kill(process["pid"], 0)
    except ProcessLookupError:
        return False
    except _UNREADABLE:
        return True
    return True


def _refused(folder: Path, error: OSError) -> AuditError:
    """Return why there can be no lock."""
    return AuditError(
        f"Folder {str(folder)!r} cannot take {LOCK!r}, which prevents concurrent "
        f"runs: {error.strerror}. Nothing was written."
    )


def _let_go() -> None:
    """Close, in a fork, what is held by the process that it came from."""
    while _open_locks:
        os.close(_open_locks.pop())


os.register_at_fork(after_in_child=_let_go)
