"""What the runs of an audit remember of runs that are gone."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..records.errors import DataError
from .chain import Link, read_manifest
from .summary import NO_HISTORY, RunHistory, read_history


class Memory(NamedTuple):
    """What the run at a place of the chain knew of those before it."""

    place: int
    history: RunHistory


def remembered(folder: Path, order: Sequence[Link]) -> Memory:
    """Return what the last run whose one before is gone knew of those before it.

    Retention takes run folders away, not what was found in them: each run that follows
    keeps that in its history.json. One that was altered is passed over.

    Parameters
    ----------
    folder : Path
        That of the audit.
    order : sequence of Link
        Its runs, as `read_chain` orders them.
    """
    names = {link.run_id for link in order}
    for place in range(len(order) - 1, -1, -1):
        link = order[place]
        if link.previous and link.previous not in names:
            with suppress(OSError, ValueError, KeyError, TypeError, DataError):
                return Memory(place, _past(folder / "runs" / link.run_id))
    return Memory(0, NO_HISTORY)


def _past(run: Path) -> RunHistory:
    """Return the past that a run kept, if it is as its manifest states."""
    files = read_manifest(run).facts["files"]
    data = (run / "history.json").read_bytes()
    entry = {"path": "history.json", "sha256": hashlib.sha256(data).hexdigest()}
    if not any(entry.items() <= dict(file).items() for file in files):
        raise DataError(f"{run / 'history.json'} is not as its manifest.json states.")
    return read_history(data.decode(), str(run / "history.json"))
