"""Many audits as one piece of work: each in a process of its own, one after another.

What becomes of one stops no other: not a broken file, not a crash. Not: how one audit
runs (`run`), what is kept of a batch (`batch_log`), how its page looks (`report`).
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..auditing.interrupt import acknowledge, deferred
from ..records.errors import AuditError, several
from ..records.errors import printable as shown
from ..runs.chain import is_run
from ..runs.events import append_event, read_events
from ..runs.locks import locked
from .batch_log import (
    FINISHED,
    LOG,
    Line,
    Outcome,
    Tell,
    find_unfinished_batch,
    newest_manifest,
    run_names,
)
from .child_process import describe_exit
from .exit_codes import GRAVEST, gravest

WORDS = {
    2: "The configuration, the data or a model must be corrected: importance-audit "
    "run says what.",
    3: "R is required but unavailable: importance-audit doctor says why.",
    5: "Another process was running the audit.",
    130: "The run was interrupted.",
}
"""What is said of a run that left no word of its own."""


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
    names = sorted(path.name for path in inner if _is_audit(path))
    if not names:
        remedy = "It is a single audit: leave out --all." if _is_audit(folder) else ""
        raise AuditError(
            f"{str(folder)!r} holds no folder with an audit.toml. {remedy}".rstrip()
        )
    return tuple(names)


def run_batch(
    folder: Path,
    *,
    options: Sequence[str] = (),
    fresh: bool = False,
    tell: Tell,
    after_each: Callable[[Batch], object],
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
    tell : callable
        Gets one line per audit that begins, and what was taken up.
    after_each : callable
        Gets what became of them so far; of all at the end, still under the lock.

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
        try:
            for name in rest:
                tell(f"[{len(done) + 1}/{len(names)}] audit {shown(name)}")
                append_event(folder, "audit_began", into=LOG, audit=name)
                done[name], is_stopped = _run(folder / name, options)
                append_event(folder, "audit_ended", into=LOG, **done[name]._asdict())
                if is_stopped:
                    raise KeyboardInterrupt
                after_each(_batch(folder, names, done))
            batch = _batch(folder, names, done)
            append_event(folder, "batch_ended", into=LOG, exit_code=batch.exit_code)
        except KeyboardInterrupt:
            acknowledge()
            append_event(folder, "batch_stopped", into=LOG)
            batch = _batch(folder, names, done)._replace(exit_code=130)
        after_each(batch)
    return batch


def _is_audit(folder: Path) -> bool:
    try:
        return (folder / "audit.toml").is_file() and not is_run(folder)
    except OSError:  # one that nobody may look into
        return False


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


def _run(audit: Path, options: Sequence[str]) -> tuple[Outcome, bool]:
    """Run one audit in a process of its own.

    Returns
    -------
    Outcome
    bool
        Whether the batch is to stop.
    """
    if not _is_audit(audit):
        words = "audit.toml disappeared after the batch began."
        return Outcome(audit.name, 2, message=words), False
    before, n_events = run_names(audit), len(_events(audit))
    start = time.monotonic()
    code, is_stopped = _code_of(audit, options)
    seconds = round(time.monotonic() - start, 1)
    run = newest_manifest(audit, run_names(audit) - before)
    code, words = _judge_exit(code, run, is_stopped)
    end_events = [e for e in _events(audit)[n_events:] if e["event"] == "ended"]
    message = str(end_events[-1].get("message", "")) if end_events else ""
    run_id, verdict = str(run.get("run_id", "")), str(run.get("verdict", ""))
    facts = (run_id, verdict, message or words, seconds)
    return Outcome(audit.name, code, *facts), is_stopped


def _code_of(audit: Path, options: Sequence[str]) -> tuple[int, bool]:
    """Return how the process of a run ended, and whether the batch is to stop.

    A request to stop is passed on once, and the saving of the run awaited.
    """
    # -P: nothing in the working folder may shadow a module
    command = [sys.executable, "-P", "-m", "importance_audit", "run", *options, "--"]
    child = None
    try:
        with deferred():
            child = subprocess.Popen(
                [*command, os.fspath(audit)],
                stdin=subprocess.DEVNULL,
            )
        return child.wait(), False
    except KeyboardInterrupt:
        if child is None:
            raise
        acknowledge()
        child.terminate()
    try:
        return child.wait(), True
    except KeyboardInterrupt:  # a second request: the run may not go on without us
        child.kill()
        child.wait()
        raise


def _judge_exit(code: int, run: Line, is_stopped: bool) -> tuple[int, str]:
    """Return the exit code of a run as the batch counts it, and why.

    A process that a signal ended has no code of its own, and one that broke before
    its run was saved has that of a run not confirmed.
    """
    if code < 0 and is_stopped:  # it was not yet ready to take the signal
        code = 130
    if code < 0:
        return 4, f"The run's process ended with {describe_exit(code)}."
    if code not in GRAVEST or (code in FINISHED and not run):
        return (
            4,
            f"The run ended with exit code {code} and left no folder.",
        )
    return code, WORDS.get(code, "")


def _events(audit: Path) -> Sequence[Line]:
    """Return the events of an audit, none if nobody can read them."""
    try:
        return read_events(audit)
    except AuditError:
        return ()
