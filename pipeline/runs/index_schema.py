"""history.sqlite beside the audits: opened, made anew, put aside. Holds no truth.

Whoever works with it holds a shared lock on a file beside it, whoever replaces it the
only one; the system frees both when a process ends. Not: what is in it (`index`).
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar

from ..records.errors import DataError

INDEX = "history.sqlite"
APPLICATION, VERSION = 0x494D5041, 2
"""What the head of our files says they are, and the form of their tables."""
TABLES = {
    "run": "id INTEGER PRIMARY KEY, audit TEXT NOT NULL, run_id TEXT NOT NULL, "
    "signature TEXT NOT NULL, manifest_sha256 TEXT NOT NULL, previous TEXT NOT NULL, "
    "previous_sha256 TEXT NOT NULL, started TEXT NOT NULL, status TEXT NOT NULL, "
    "verdict TEXT NOT NULL, exit_code INTEGER NOT NULL, content_digest TEXT NOT NULL, "
    "measure TEXT NOT NULL, config_sha256 TEXT NOT NULL, data_sha256 TEXT NOT NULL, "
    "fault TEXT NOT NULL, unread TEXT NOT NULL, columns TEXT NOT NULL, "
    "missing TEXT NOT NULL, "
    "UNIQUE (audit, run_id)",
    "finding": "run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, "
    'position INTEGER NOT NULL, key TEXT NOT NULL, "check" TEXT NOT NULL, '
    "subject TEXT NOT NULL, severity TEXT NOT NULL, engines TEXT NOT NULL, "
    "PRIMARY KEY (run, position)",
    "leader": "run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, "
    "position INTEGER NOT NULL, feature TEXT NOT NULL, value REAL, low REAL, "
    "high REAL, rank REAL, PRIMARY KEY (run, position)",
}
_WAIT_SECONDS = 20.0

Answer = TypeVar("Answer")
State = Literal["absent", "ours", "another version", "foreign", "damaged"]


def with_index(
    folder: Path, ask: Callable[[sqlite3.Connection], Answer], *, rebuild: bool = False
) -> tuple[Answer, str]:
    """Return what `ask` makes of the index of a folder, and why it had another one.

    An index that is absent, damaged or of another version is made anew, empty; `ask`
    fills in what it misses. Where there can be none, `ask` gets an empty one in memory
    and the second value says why; else it is empty.
    """
    path = folder / INDEX
    try:
        with _lock(folder) as number:
            _prepare(path, number, is_wanted=rebuild)
            try:
                return _query(path, ask), ""
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:  # damaged where only a question looks
                _prepare(path, number, is_wanted=True)
                return _query(path, ask), ""
    except (OSError, sqlite3.Error, DataError) as error:
        why = _reason(folder, error)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        _fill(memory)
        return ask(memory), why


@contextmanager
def _lock(folder: Path) -> Iterator[int]:
    """Hold the file beside the index, shared; `_prepare` takes it alone for a while."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    number = os.open(folder / f"{INDEX}-lock", flags, 0o666)
    try:
        fcntl.flock(number, fcntl.LOCK_SH)
        yield number
    finally:
        os.close(number)


def _prepare(path: Path, number: int, *, is_wanted: bool) -> None:
    """Make the index anew if it is not to be used as it is, or if that is wanted."""
    if not is_wanted and _state(path) == "ours":
        return
    fcntl.flock(number, fcntl.LOCK_EX)
    if is_wanted or _state(path) != "ours":  # nobody made it while we waited
        _make(path)
    fcntl.flock(number, fcntl.LOCK_SH)


def _state(path: Path) -> State:
    """Return what lies where the index belongs."""
    if not path.exists():
        return "absent"
    try:
        with closing(_connected(path)) as db:
            ((kind,),) = db.execute("PRAGMA application_id")
            ((version,),) = db.execute("PRAGMA user_version")
            names = {name for (name,) in db.execute(_NAMES)}
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return "damaged"
    if kind != APPLICATION:
        return "foreign" if names else "absent"
    return "ours" if version == VERSION and names == {*TABLES} else "another version"


_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def _make(path: Path) -> None:
    """Put an empty index in its place, whole or not at all.

    One that cannot be read is kept beside it. What was in a log of the former one must
    never be taken for a part of the new one.
    """
    state = _state(path)
    if state == "foreign":
        raise DataError(
            f"{path} is another database, not the index of the runs. Move it to "
            "another folder."
        )
    if state == "damaged":
        os.replace(path, path.with_name(f"{INDEX}-damaged"))
    part = path.with_name(f"{INDEX}-new")
    for left in (part, path):
        for end in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                left.with_name(f"{left.name}{end}").unlink()
    with closing(sqlite3.connect(part, isolation_level=None)) as db:
        _fill(db)
        db.execute("PRAGMA journal_mode = WAL")
    os.replace(part, path)


def _fill(db: sqlite3.Connection) -> None:
    """Make the tables of an empty database."""
    db.execute("BEGIN")
    for name, columns in TABLES.items():
        keyed = "" if name == "run" else " WITHOUT ROWID"
        db.execute(f"CREATE TABLE {name} ({columns}){keyed}")
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _connected(path: Path) -> sqlite3.Connection:
    """Open a database that is there."""
    where = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(where, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)


def _query(path: Path, ask: Callable[[sqlite3.Connection], Answer]) -> Answer:
    with closing(_connected(path)) as db:
        return ask(db)


def _reason(folder: Path, error: Exception) -> str:
    """Return why a folder has no index; "" of a folder that is not there yet."""
    if not folder.is_dir():
        return ""
    cause = f"SQLite says: {error}"
    if isinstance(error, OSError):
        cause = f"the system says: {error.strerror}"
    reason = f"Folder {str(folder)!r} cannot take {INDEX!r}; {cause}."
    if isinstance(error, DataError):
        reason = str(error)
    return f"{reason} The runs were read without it."
