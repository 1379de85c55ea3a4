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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

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
def locked(audit_folder: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Work on an audit alone.

    Parameters
    ----------
    audit_folder : Path
        Must be there; its file .lock is made, and stays.
    wait : float, default 0
        For how many seconds to try.

    Raises
    ------
    LockedError
        If another process has the lock, or this one has it already.
    AuditError
        If the folder cannot take the file, or its file system knows no locks.
    """
    number = _opened(audit_folder)
    _open_locks.add(number)
    try:
        _take(number, audit_folder, wait)
        _write(number, {"pid": os.getpid(), "host": _host(), "began": _now()})
        yield
    finally:
        _open_locks.discard(number)
        os.close(number)


def _opened(folder: Path) -> int:
    """Open the file, made if it is not there; programs started do not inherit it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(folder / LOCK, flags, 0o666)
    except OSError as error:
        _refused(folder, error)


def _take(number: int, folder: Path, wait: float) -> None:
    """Take the lock, or say who has it."""
    began = time.monotonic()
    while not _try_lock(number, folder):
        patience = wait if _lives(number) else max(wait, _FORK_SECONDS)
        if time.monotonic() - began >= patience:
            raise LockedError(_whose(number, folder))
        time.sleep(_LOOK_SECONDS)


def _try_lock(number: int, folder: Path) -> bool:
    """Try to take the lock; return whether it was free."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
            _refused(folder, error)
        return False
    return True


def _lives(number: int) -> bool:
    """Return whether the process that the file names may be alive; in doubt, it is."""
    try:
        holder = _holder_text(number)
        if holder["host"] == _host():
            os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return False
    except _UNREADABLE:
        return True
    return True


def _refused(folder: Path, error: OSError) -> NoReturn:
    """Say why there can be no lock."""
    raise AuditError(
        f"Folder {str(folder)!r} cannot take {LOCK!r}, which prevents concurrent "
        f"runs: {error.strerror}. Nothing was written."
    ) from error


def _whose(number: int, folder: Path) -> str:
    """Return who has the lock, as far as the file says it."""
    who = "another process is using it"
    with suppress(*_UNREADABLE):
        holder = _holder_text(number)
        pid, host, began = holder["pid"], holder["host"], holder["began"]
        who = f"process {pid} on {host!r} has been using it since {began}"
    return (
        f"Audit {str(folder)!r} is in use: {who}. Wait until it has ended, or stop it."
    )


def _holder_text(number: int) -> Any:
    """Return what the file says of who has the lock."""
    return json.loads(os.pread(number, _MOST_WORDS, 0))


def _write(number: int, holder: dict[str, object]) -> None:
    """Say in the file who has the lock; it holds on a full disk too."""
    with suppress(OSError):
        os.ftruncate(number, 0)
        os.pwrite(number, f"{json.dumps(holder)}\n".encode(), 0)


def _host() -> str:
    return socket.gethostname()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _let_go() -> None:
    """Close, in a fork, what is held by the process that it came from."""
    while _open_locks:
        os.close(_open_locks.pop())


os.register_at_fork(after_in_child=_let_go)
