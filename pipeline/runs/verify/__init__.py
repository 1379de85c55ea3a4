"""Whether a run, a PDF report alone or a whole audit still says what was found.

Not: how a run folder (`run`) or a PDF (`pdf`) is looked at.
"""

import posixpath
from collections.abc import Iterator
from pathlib import Path

from ...records.errors import DataError
from ..chain import read_chain, run_folders
from ..events import EVENTS, read_events
from ..signoff.signoff_trail import RUNS, TRAIL, read_if_present, read_trail
from .pdf import verify_pdf
from .run import verify_folder
from .signoffs import trail_faults
from .statements import Mismatch, Verification


def verify(path: Path) -> Verification:
    """Return how a run folder, a PDF report or an audit compares with what it states.

    Raises
    ------
    DataError
        If it cannot be read as any of these.
    """
    if not path.is_dir():
        return verify_pdf(path)
    is_audit = (path / RUNS).is_dir() and not (path / "manifest.json").exists()
    return verify_audit(path) if is_audit else verify_folder(path)


def verify_audit(folder: Path) -> Verification:
    """Return how every run of an audit, their chain and their sign-offs compare.

    Parameters
    ----------
    folder : Path
        The folder that holds runs/.

    Raises
    ------
    DataError
        If the trail of the audit cannot be read.
    """
    folder = folder.resolve()
    names = run_folders(folder)
    trail = read_if_present(folder / TRAIL)
    runs = read_chain(folder)
    mismatches = [Mismatch(RUNS, "an unbroken chain", gap) for gap in runs.gaps]
    mismatches += [
        *trail_faults(trail, TRAIL),
        *_unsigned(trail, names),
        *_unreadable(folder),
    ]
    notes = [f"{RUNS}/{name} was removed by retention" for name in runs.removed]
    n_files = 0
    for name in names:
        start = f"{RUNS}/{name}"
        try:
            run = verify_folder(folder / start, chained=False)
        except DataError as error:
            mismatches.append(Mismatch(start, "a run that can be read", str(error)))
            continue
        n_files += run.n_files
        mismatches += (m._replace(file=_path(start, m.file)) for m in run.mismatches)
        notes += (f"{start}: {note}" for note in run.notes)
    unique = tuple(dict.fromkeys(mismatches))
    n_signoffs = len(read_trail(trail).lines)
    return Verification(n_files, "", unique, tuple(notes), len(names), n_signoffs)


def _path(start: str, file: str) -> str:
    """Return a path below a run as one below the audit."""
    return posixpath.normpath(f"{start}/{file}")


def _unsigned(trail: bytes, names: tuple[str, ...]) -> Iterator[Mismatch]:
    """Yield the runs that a sign-off names and that are not there."""
    for line, record in enumerate(read_trail(trail).records, start=1):
        if record is not None and record.run_id not in names:
            where = f"{RUNS}/{record.run_id}"
            yield Mismatch(where, f"the run of {TRAIL}, line {line}", "no such folder")


def _unreadable(folder: Path) -> Iterator[Mismatch]:
    """Yield the lines of events.jsonl that nobody can read."""
    for event in read_events(folder):
        if event["event"] == "unreadable":
            where = f"{EVENTS}: line {event['line']}"
            yield Mismatch(where, "an event", "unreadable content")
