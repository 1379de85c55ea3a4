"""The lock of an audit: only one process at a time works on it.

The operating system holds the lock on the file .lock in the folder of the audit, and
frees it when the process ends for any reason. Not: the work under the lock.
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
"""How long to wait for a lock whose process has ended: a new fork of that process
holds it until `_close_inherited_locks` has run."""
_MOST_WORDS = 4096
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, OverflowError)
"""Errors of reading a file that is empty or has other content."""
_open_locks: set[int] = set()
"""Descriptors of the locks of this process; a fork must close them."""


@contextmanager
def locked(audit_folder: Path) -> Iterator[None]:
    """Hold the lock of an audit.

    Parameters
    ----------
    audit_folder : Path
        Must exist; its file .lock is created, and stays.

    Raises
    ------
    LockedError
        If another process holds the lock, or this one holds it already.
    AuditError
        If the file cannot be created, or the file system has no locks.
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
        with suppress(OSError):  # the lock also works on a full disk
            os.ftruncate(number, 0)
            os.pwrite(number, f"{json.dumps(holder)}\n".encode(), 0)
        yield
    finally:
        _open_locks.discard(number)
        os.close(number)


def _take(number: int, folder: Path) -> None:
    """Take the lock, or raise an error that names the process that holds it."""
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
    """Return whether the process of this pid and host may exist; true if unknown."""
    try:
        if process["host"] == socket.gethostname():
            # An ended process whose parent has not waited for it is a "zombie".
            with suppress(FileNotFoundError):  # ended, or a system without /proc
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
    """Return the error that the lock cannot be made."""
    return AuditError(
        f"Folder {str(folder)!r} cannot take {LOCK!r}, which prevents concurrent "
        f"runs: {error.strerror}. Nothing was written."
    )


def _close_inherited_locks() -> None:
    """Close, in a fork, the locks of its parent process."""
    while _open_locks:
        os.close(_open_locks.pop())


os.register_at_fork(after_in_child=_close_inherited_locks)
