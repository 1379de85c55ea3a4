"""The sign-offs of an audit: one record per line, each naming the digest of the last.

Not: where a run stands to them (`approvals`), or what a folder says (`verify`).
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ...records.errors import DataError
from ..events import EVENTS
from .record import Signoff, place_of, record_of

RUNS = "runs"
TRAIL = "signoffs.jsonl"


class TrailFault(NamedTuple):
    """One line of a trail that is not as it must be, counted from 1."""

    line: int
    expected: str
    actual: str


class SignoffTrail(NamedTuple):
    """What a signoffs.jsonl holds.

    Attributes
    ----------
    lines : tuple of bytes
        Its whole lines, without their ends.
    records : tuple of (Signoff or None)
        What each says, None if nobody can read it.
    torn : bytes
        What follows the last whole line: half of one, of a writer that was killed.
    faults : tuple of TrailFault
    """

    lines: tuple[bytes, ...]
    records: tuple[Signoff | None, ...]
    torn: bytes
    faults: tuple[TrailFault, ...]


def read_trail(data: bytes) -> SignoffTrail:
    """Return what the bytes of a trail hold, and where its chain is broken.

    The line before is named by its bytes, so a changed, a deleted, an inserted and a
    moved line all break the chain at the line after it. What stands in the last line
    is known to nobody but its copy in the run folder.
    """
    *lines, torn = data.split(b"\n")
    records: list[Signoff | None] = []
    faults = []
    before = ""
    for number, line in enumerate(lines, start=1):
        record, why = _parse_line(line)
        records.append(record)
        if record is None:
            faults.append(TrailFault(number, "a record as approve writes it", why))
        elif record.previous_sha256 != before:
            stated = record.previous_sha256 or "none"
            expected = f"previous_sha256 {before or 'none'} (the line before)"
            faults.append(TrailFault(number, expected, stated))
        before = sha256(line)
    if torn:
        ending = f"{len(torn)} bytes without one"
        faults.append(TrailFault(len(lines) + 1, "a line with an end", ending))
    return SignoffTrail(tuple(lines), tuple(records), torn, tuple(faults))


def anchors(audit: Path) -> dict[str, dict[str, Any]]:
    """Return bytes and SHA-256 of what an audit only ever adds to, as it is now.

    A manifest that holds them tells later whether the beginning is still the same:
    of the sign-offs, of the events, and of what the last sign-off left in its run. A
    file that cannot be read is left out: it is no reason to lose a run.
    """
    entries = {}
    for path in (TRAIL, EVENTS, _last_manifest(audit)):
        with suppress(DataError):
            data = read_if_present(audit / path)
            entries[path] = {"bytes": len(data), "sha256": sha256(data)}
    return entries


def read_if_present(path: Path) -> bytes:
    """Return the bytes of a file that need not be there, none if it is not.

    Raises
    ------
    DataError
        If it is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def append_bytes(path: Path, data: bytes) -> None:
    """Add bytes to a file and see them on the disk; made if it is not there.

    Raises
    ------
    OSError
        If it cannot take all of them; what there was is as it was.
    """
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(number).st_size
        try:
            while data:
                data = data[os.write(number, data) :]
            os.fsync(number)
        except OSError:
            os.ftruncate(number, size)
            raise
    finally:
        os.close(number)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def _parse_line(line: bytes) -> tuple[Signoff | None, str]:
    """Return the record in a line, or None and what is wrong with it."""
    try:
        return record_of(line), ""
    except (ValueError, TypeError, RecursionError) as error:
        return None, f"another thing: {error}".rstrip(".")


def _last_manifest(audit: Path) -> str:
    """Return the manifest of the last sign-off by its path, the trail if none is."""
    with suppress(OSError, DataError):
        records = read_trail(read_if_present(audit / TRAIL)).records
        place = place_of(records[-1]) if records and records[-1] else ""
        path = f"{place}/manifest.json"
        return path if place and (audit / path).is_file() else TRAIL
    return TRAIL
