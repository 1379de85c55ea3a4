"""Which runs of an audit are kept: the newest, and every one that somebody needs.

Not: the chain of those that are left (`read_chain`), where a removal is no gap because
the audit log tells of it.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from ..records.errors import AuditError, quote
from .audit_log import append, read_intact_log
from .chain import Link, read_chain
from .history import last_complete
from .locks import locked
from .signoff.approvals import baseline_of

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
    """Remove runs, and yield one sentence each."""
    order = read_chain(folder).order
    signed = {entry["run"] for entry in read_intact_log(folder).of("signoff")}
    unsigned = [link for link in order if link.run_id not in signed]
    approved = baseline_of(folder)
    needed = {last_complete(folder, [link.run_id for link in order])}
    needed |= {approved.run_id} if approved else set()
    for link in unsigned[:-keep]:
        if link.run_id not in needed:
            yield _removed(folder, link)


def _removed(folder: Path, link: Link) -> str:
    """Say that a run goes, then hide it, then remove it: no half of it is ever seen."""
    name = link.run_id
    where, hidden = folder / "runs" / name, folder / "runs" / f".{name}.removed"
    append(folder, "removed", run=name, list=link.list_sha256, why=WHY)
    try:
        where.rename(hidden)
        shutil.rmtree(hidden)
    except OSError as error:
        return f"Run {quote(name)} cannot be removed: {error.strerror}."
    return f"Run {quote(name)} was removed: {WHY}."
