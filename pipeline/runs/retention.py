"""Removal of old runs of an audit. The log records it, so the chain has no gap."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from ..records.errors import AuditError, quote
from .audit_log import append, read_intact_log
from .chain import read_chain
from .history import last_complete
from .locks import locked

WHY = "more than the runs to keep, unsigned"


def remove_old_runs(folder: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest unsigned runs beyond `keep`; return messages on the outcome.

    Signed runs, the approved baseline, the newest and the last complete run are never
    removed, nor is a folder outside the chain: an altered run is evidence.

    Parameters
    ----------
    folder : Path
        The folder of the audit.
    keep : int
        Number of unsigned runs to keep; 0 keeps all.
    """
    if not keep:
        return ()
    try:
        with locked(folder):
            return tuple(_retired(folder, keep))
    except AuditError as error:
        return (f"Runs beyond the newest {keep} were not removed: {error}",)


def _retired(folder: Path, keep: int) -> Iterator[str]:
    """Remove runs, and yield one sentence each; the approved baseline is signed.

    The log gets its line first, then the folder is renamed to a hidden one, so that a
    run removed in part is never visible.
    """
    order = read_chain(folder).order
    signed = {entry["run"] for entry in read_intact_log(folder).of("signoff")}
    unsigned = [entry for entry in order if entry["run"] not in signed]
    last = last_complete(folder, [entry["run"] for entry in order])
    for entry in unsigned[:-keep]:
        name = entry["run"]
        if name == last:
            continue
        append(folder, "removed", run=name, list=entry["list"], why=WHY)
        hidden = folder / "runs" / f".{name}.removed"
        try:
            (folder / "runs" / name).rename(hidden)
            shutil.rmtree(hidden)
        except OSError as error:
            yield f"Run {quote(name)} cannot be removed: {error.strerror}."
        else:
            yield f"Run {quote(name)} was removed: {WHY}."
