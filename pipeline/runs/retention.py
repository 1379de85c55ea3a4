"""Which runs of an audit are kept: the newest, and every one that somebody needs.

Not: the chain of those that are left (`read_chain`), where a removal is no gap because
the audit log tells of it.
"""

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
    """Remove the oldest unsigned runs beyond `keep`; return what was done, in words.

    Never a signed run, the approved baseline, the newest, the last complete one, or a
    folder that is no link of the chain: someone altered it, and may be asked why.

    Parameters
    ----------
    folder : Path
        That of the audit.
    keep : int
        Unsigned runs that stay; 0 keeps all.
    """
    if not keep:
        return ()
    try:
        with locked(folder):
            return tuple(_retired(folder, keep))
    except AuditError as error:
        return (f"Runs beyond the newest {keep} were not removed: {error}",)


def _retired(folder: Path, keep: int) -> Iterator[str]:
    """Remove runs, and yield one sentence each; the approved baseline is a signed one.

    The log tells of it first, then the run is hidden: no half of it is ever seen.
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
