"""Many audits as one piece of work: each in a process of its own, some at a time.

What becomes of one stops no other: not a broken file, not a crash. Not: how one audit
runs (`run`, `batch_processes`), what is kept of a batch (`batch_log`), how its page
looks (`report`).
"""

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..records.errors import AuditError, several
from ..records.errors import printable as shown
from ..records.execution import each, workers
from ..runs.events import append_event
from ..runs.locks import locked
from .batch_log import LOG, Outcome, Tell, find_unfinished_batch
from .batch_processes import AuditProcesses, Ended, is_audit
from .exit_codes import gravest


class Batch(NamedTuple):
    """What became of all audits of a folder, by name, and of them together."""

    folder: Path
    exit_code: int
    outcomes: tuple[Outcome, ...]


def audits_of(folder: Path) -> tuple[str, ...]:
    """Return the names of the audits in a folder, by code point.

    Raises
    ------
    AuditError
        If it cannot be read, or there is none.
    """
    try:
        inner = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise AuditError(
            f"{str(folder)!r} cannot be read: {error.strerror}."
        ) from error
    names = sorted(path.name for path in inner if is_audit(path))
    if not names:
        remedy = "It is a single audit: leave out --all." if is_audit(folder) else ""
        raise AuditError(
            f"{str(folder)!r} holds no folder with an audit.toml. {remedy}".rstrip()
        )
    return tuple(names)


def run_batch(
    folder: Path,
    *,
    options: Sequence[str] = (),
    fresh: bool = False,
    n_jobs: int = 1,
    tell: Tell,
    after_each: Callable[[Batch], object],
    on_output: Callable[[bytes], object] = lambda _: None,
) -> Batch:
    """Run every audit of a folder; of a batch that was cut short, only the rest.

    Parameters
    ----------
    folder : Path
        That with the folders of the audits.
    options : sequence of str
        What the command `run` is given besides the audit.
    fresh : bool, default False
        Whether to run all, also of a batch that was cut short.
    n_jobs : int, default 1
        How many audits run at a time.
    tell : callable
        Gets one line per audit, in their order, and what was taken up: when an audit
        begins, or of several at a time when it and all before it have ended.
    after_each : callable
        Gets what became of them so far; of all at the end, still under the lock.
    on_output : callable, optional
        Gets what an audit printed after its line, if several run at a time; else that
        is printed as it comes.

    Raises
    ------
    AuditError
        If there is no audit, the folder cannot take batch.jsonl, or (`LockedError`)
        another process runs a batch of it.
    """
    names = audits_of(folder)
    with locked(folder):
        started_names, done = _begin(folder, fresh, tell)
        names = tuple(sorted({*names, *done}))
        # What was under way when a batch was cut short comes last: if it was the
        # cause, the others have had their turn.
        rest = sorted(
            (n for n in names if n not in done), key=lambda n: n in started_names
        )
        processes = AuditProcesses(folder, options, keeps_output=n_jobs > 1)
        former, n_names = dict(done), len(names)

        def announce(name: str) -> None:
            place = len(former) + rest.index(name) + 1
            tell(f"[{place}/{n_names}] audit {shown(name)}")

        def batch_so_far() -> Batch:
            return _batch(folder, names, {**former, **processes.outcomes})

        try:
            for ended in _ended(processes, rest, n_jobs, announce):
                on_output(ended.output)
                after_each(batch_so_far())
            batch = batch_so_far()
            append_event(folder, "batch_ended", into=LOG, exit_code=batch.exit_code)
        except BaseException as error:
            processes.stop()
            if not isinstance(error, KeyboardInterrupt):
                raise
            append_event(folder, "batch_stopped", into=LOG)
            batch = batch_so_far()._replace(exit_code=130)
        after_each(batch)
    return batch


def _ended(
    processes: AuditProcesses,
    names: Sequence[str],
    n_jobs: int,
    announce: Callable[[str], None],
) -> Iterator[Ended]:
    """Yield the audits in order, each when it and all before it have ended.

    Raises
    ------
    KeyboardInterrupt
        If the batch is to stop.
    """
    is_alone = n_jobs == 1

    def begun() -> Iterator[str]:
        for name in names:
            if is_alone:
                announce(name)
            yield name

    with workers(n_jobs, "threads", check=processes.require_going):
        for name, ended in zip(names, each(processes, begun()), strict=True):
            if ended is None or processes.is_stopping:
                raise KeyboardInterrupt
            if not is_alone:
                announce(name)
            yield ended


def _begin(
    folder: Path, fresh: bool, tell: Tell
) -> tuple[frozenset[str], dict[str, Outcome]]:
    """Begin a batch, or take up the last one.

    Returns
    -------
    frozenset of str
        Audits that were begun in it.
    dict of str to Outcome
        Those that are not to be run again.
    """
    former = None if fresh else find_unfinished_batch(folder, tell)
    event = "batch_resumed" if former else "batch_began"
    host = socket.gethostname()
    append_event(folder, event, into=LOG, pid=os.getpid(), host=host)
    if former is None:
        return frozenset(), {}
    tell(
        f"The batch begun at {former.began} was interrupted and is resumed without "
        f"the audits that had finished: {several(len(former.finished), 'audit')} "
        "(--fresh runs all)."
    )
    return former.started, {outcome.audit: outcome for outcome in former.finished}


def _batch(folder: Path, names: Sequence[str], done: Mapping[str, Outcome]) -> Batch:
    """Return what became of all audits; those without a turn say so."""
    outcomes = tuple(done.get(name, Outcome(name)) for name in names)
    codes = [o.exit_code for o in outcomes if o.exit_code is not None]
    return Batch(folder, gravest(codes), outcomes)
