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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ..records.errors import AuditError, LockedError

LOCK = ".lock"
_LOOK_SECONDS = 0.1
_WAIT_SECONDS = 5.0
"""How long to wait for a lock: after the end of its process a new fork of that holds it
until `_close_inherited_locks` has run, and `is_locked` takes it for a moment."""
_MOST_WORDS = 4096
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


def is_locked(audit_folder: Path) -> bool:
    """Return whether a process holds the lock of an audit."""
    try:
        with (audit_folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no process has made the file, or nobody may look at it
        return False
    return False


def _take(number: int, folder: Path) -> None:
    """Take the lock, or raise an error that names the process that holds it."""
    end = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise _refused(folder, error) from error
        if time.monotonic() >= end:
            break
        time.sleep(_LOOK_SECONDS)
    who = "another process is using it"
    with suppress(OSError, ValueError, KeyError, TypeError):  # an empty file
        holder = json.loads(os.pread(number, _MOST_WORDS, 0))
        who = (
            f"process {holder['pid']} on {holder['host']!r} has been using it since "
            f"{holder['began']}"
        )
    raise LockedError(
        f"Audit {str(folder)!r} is in use: {who}. Wait until it has ended, or stop it."
    )


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
