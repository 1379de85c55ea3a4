"""audit-log.jsonl: the append-only log of an audit, one line for each event.

A line is JSON without white space between its parts: ``n, time, kind, previous``, then
the facts of its kind, sorted by name. `previous` is the SHA-256 of the line before with
its line feed: ``sed -n 3p audit-log.jsonl | sha256sum`` prints that of line 4. So a
line fixes all lines before it, and the line of a run or sign-off the listed files.
"""

import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

from ..records.errors import AuditError, DataError
from .digests import Mismatch, read_regular, sha256, why

LOG = "audit-log.jsonl"
TORN = "audit-log.torn"
"""File for incomplete lines of killed writers."""
LARGEST = 1_000_000_000
SEE_VERIFY = "Run: importance-audit verify"
FIRST = ("n", "time", "kind", "previous")
FACTS = {
    "audit": "audit id",
    "began": "host pid unattended",
    "run": "bytes content_digest exit_code list message r_failed run verdict",
    "failed": "exit_code message r_failed",
    "died": "began pid",
    "signoff": "content_digest list meaning method name page relation role run signer "
    "statement",
    "removed": "list run why",
    "notified": "exit_code hook message seconds",
    "clock": "message",
}
"""The facts of each kind. began: start of an attempt to run. run: the attempt left a
run folder, whose list of digests has the SHA-256 `list`. failed: it left none. died: it
was killed. removed: retention removed a run. notified: a command of [schedule] was run.
clock: the system clock was set back."""
ENDED = ("run", "failed")
"""The kinds of lines that end an attempt; one that was killed has neither."""
TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("n", "bytes", "pid"), (int,)),
    **dict.fromkeys(("unattended", "r_failed"), (bool,)),
    "exit_code": (int, NoneType),
    "seconds": (float,),
}
"""The types of facts; all others are texts."""


class Log(NamedTuple):
    """The content of an audit log.

    Attributes
    ----------
    entries : tuple of (mapping or None)
        The facts of each line, None if it cannot be read.
    lines : tuple of bytes
        The lines, with their line feeds.
    faults : tuple of Mismatch
        Lines that cannot be read, or do not follow the line before.
    torn : bytes
        An incomplete last line, left by a killed writer.
    """

    entries: tuple[dict[str, Any] | None, ...]
    lines: tuple[bytes, ...]
    faults: tuple[Mismatch, ...]
    torn: bytes = b""

    def of(self, *kinds: str) -> tuple[dict[str, Any], ...]:
        """Return the entries of some kinds, in their order."""
        return tuple(e for e in self.entries if e and e["kind"] in kinds)

    @property
    def events(self) -> tuple[dict[str, Any], ...]:
        """The entries that can be read."""
        return tuple(filter(None, self.entries))

    @property
    def head(self) -> dict[str, Any]:
        """The number and the SHA-256 of the last line."""
        last = sha256(self.lines[-1]) if self.lines else ""
        return {"n": len(self.lines), "sha256": last}


def to_line(facts: Mapping[str, Any]) -> bytes:
    """Return a line with its line feed; text that is not valid Unicode is escaped."""
    ordered = {key: facts[key] for key in (*FIRST, *sorted(facts.keys() - {*FIRST}))}
    text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace") + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """Return the facts of a line.

    Raises
    ------
    ValueError
        If it is not byte for byte the line that `to_line` makes of the facts of a kind.
    """
    facts = json.loads(line)
    if not isinstance(facts, dict) or {*FIRST} - facts.keys():
        raise ValueError("no line of an audit log")
    if to_line(facts) != line:
        if line.endswith(b"\r\n"):
            raise ValueError("it ends with CR LF; restore LF (.gitattributes: -text)")
        raise ValueError("not the one way to write it")
    names = {*FIRST, *FACTS.get(str(facts["kind"]), "").split()}
    if facts.keys() != names or facts["kind"] not in FACTS:
        raise ValueError(f"not the facts of {facts['kind']!r}")
    for key, value in facts.items():
        if type(value) not in TYPES.get(key, (str,)):
            raise ValueError(f"{key} of another type")
    when = datetime.fromisoformat(facts["time"])
    if when.tzinfo is None or not 1 < when.year < 9999:
        raise ValueError("a time without its offset, or of no year of ours")
    return facts


def parse(data: bytes) -> Log:
    """Return the log in these bytes, with the faults of its chain."""
    *parts, torn = data.split(b"\n")
    lines = tuple(part + b"\n" for part in parts)
    entries: list[dict[str, Any] | None] = []
    faults, before = [], ""
    for number, line in enumerate(lines, start=1):
        where = f"{LOG}: line {number}"
        try:
            facts = from_line(line)
        except (ValueError, TypeError, RecursionError) as error:
            faults.append(Mismatch(where, "a line as it was written", str(error)[:60]))
            facts = None
        entries.append(facts)
        if facts and facts["n"] != number:
            faults.append(Mismatch(where, f"number {number}", str(facts["n"])))
        if facts and facts["previous"] != before:
            expected = f"previous {before or 'none'} (the line before)"
            faults.append(Mismatch(where, expected, facts["previous"] or "none"))
        before = sha256(line)
    return Log(tuple(entries), lines, tuple(faults), torn)


def read_log(folder: Path) -> Log:
    """Return the log of an audit; an empty one if there is none.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    try:
        return parse(read_regular(folder / LOG, LARGEST))
    except FileNotFoundError:
        return parse(b"")
    except OSError as error:
        raise DataError(f"{folder / LOG} cannot be read: {why(error)}.") from error


def readable_events(folder: Path) -> tuple[dict[str, Any], ...]:
    """Return the events of an audit, none if its log cannot be read."""
    try:
        return read_log(folder).events
    except DataError:
        return ()


def read_intact_log(folder: Path) -> Log:
    """Return the log of an audit whose chain is whole.

    Raises
    ------
    DataError
        If it cannot be read, or a line was changed, removed or added.
    """
    log = read_log(folder)
    for fault in log.faults:
        raise DataError(
            f"{folder / LOG} was changed after it was written: line "
            f"{fault.file.rpartition(' ')[2]}: expected {fault.expected}, found "
            f"{fault.actual}. {SEE_VERIFY} {folder}"
        )
    return log


class OpenLog:
    """The log of an audit, opened and locked to append lines.

    Parameters
    ----------
    folder : Path
        The folder of the audit.
    number : int
        The descriptor of the locked log.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number

    def read(self) -> Log:
        """Return the content of the log."""
        return parse(os.pread(self._number, os.fstat(self._number).st_size, 0))

    def append(self, kind: str, *, time: str = "", **facts: Any) -> bytes:
        """Append a line, flush it to the disk, and return it.

        An empty log first gets a line with the name of the audit. An incomplete line of
        a killed writer is moved to audit-log.torn. If this line cannot be written
        whole, it is removed again.

        Raises
        ------
        AuditError
            If the log cannot be written, or its last line is not valid.
        """
        try:
            last = self._last_line()
            if not last:
                name = self._folder.resolve().name
                last = self._add("audit", b"", audit=name, id=secrets.token_hex(8))
            return self._add(kind, last, time=time, **facts)
        except OSError as error:
            raise _cannot_take(self._folder, error) from error

    def _add(self, kind: str, last: bytes, *, time: str = "", **facts: Any) -> bytes:
        line = to_line(
            {
                "n": from_line(last)["n"] + 1 if last else 1,
                "time": time or now(),
                "kind": kind,
                "previous": sha256(last) if last else "",
                **facts,
            }
        )
        from_line(line)
        size = os.fstat(self._number).st_size
        try:
            rest = line
            while rest:
                rest = rest[os.write(self._number, rest) :]
            os.fsync(self._number)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._number, size)
            raise
        return line

    def _last_line(self) -> bytes:
        """Return the last line, empty for an empty log; move an incomplete one away."""
        log = self.read()
        if log.torn:
            with (self._folder / TORN).open("ab") as file:
                file.write(log.torn + b"\n")
            os.ftruncate(self._number, sum(map(len, log.lines)))
        if log.lines and log.entries[-1] is None:
            raise AuditError(
                f"{self._folder / LOG} ends with something that is not a line of it "
                f"({log.faults[-1].actual}), so nothing can be added. {SEE_VERIFY} "
                f"{self._folder}"
            )
        return log.lines[-1] if log.lines else b""


@contextmanager
def open_log(folder: Path) -> Iterator[OpenLog]:
    """Open the log of an audit to append to it; create it if there is none.

    Only one process or thread at a time has it open; others wait. The operating system
    frees it when the process ends.

    Raises
    ------
    AuditError
        If the log cannot be opened or locked, or is not a file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        number = os.open(folder / LOG, flags | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise _cannot_take(folder, error) from error
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise AuditError(f"{folder / LOG} is not a file.")
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
        except OSError as error:
            raise _cannot_take(folder, error) from error
        yield OpenLog(folder, number)
    finally:
        os.close(number)


def append(folder: Path, kind: str, **facts: Any) -> bytes:
    """Append one line to the log of an audit; see `OpenLog.append`."""
    with open_log(folder) as log:
        return log.append(kind, **facts)


def now() -> str:
    """Return the present time in UTC, in the format of the log."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _cannot_take(folder: Path, error: OSError) -> AuditError:
    return AuditError(
        f"Folder {str(folder)!r} cannot take a line of {LOG!r}: {error.strerror}."
    )
