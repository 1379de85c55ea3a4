"""Many audits as one piece of work: each in a process of its own, some at a time.

What becomes of one stops no other: not a broken file, not a crash. Not: how one audit
runs (`run`), how the page of a batch looks (`report`).
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from ..records.errors import AuditError
from ..records.errors import printable as shown
from ..records.interrupt import acknowledge
from ..runs.audit_log import ENDED, readable_events
from ..runs.chain import is_run, started_at
from ..runs.locks import locked
from ..runs.timeline import audits_below
from .child_process import describe_exit
from .exit_codes import GRAVEST, gravest

FINISHED = (0, 1, 4)
"""Exit codes of a run that came to its end and left its folder."""
WORDS = {
    2: "The configuration, the data or a model must be corrected: importance-audit "
    "run says what.",
    3: "R is required but unavailable: importance-audit doctor says why.",
    5: "Another process was running the audit.",
    130: "The run was interrupted.",
}
"""What is said of a run that left no word of its own."""
POLL_SECONDS = 0.2


class Outcome(NamedTuple):
    """What became of one audit of a batch.

    Attributes
    ----------
    audit : str
        The name of its folder.
    exit_code : int or None
        None if the batch was stopped before its turn.
    run_id, verdict : str
        Empty if it left no run folder.
    message : str
        Why there is none, or what else went wrong; empty if nothing did.
    seconds : float
        How long it took.
    """

    audit: str
    exit_code: int | None = None
    run_id: str = ""
    verdict: str = ""
    message: str = ""
    seconds: float = 0.0


class Batch(NamedTuple):
    """What became of all audits of a folder, by name, and of them together."""

    folder: Path
    exit_code: int
    outcomes: tuple[Outcome, ...]


def audits_of(folder: Path) -> tuple[str, ...]:
    """The names of the audits in a folder, by code point.

    A folder that several names link to is one audit, under its own name if it has one
    there.

    Raises
    ------
    AuditError
        If it cannot be read, or there is none.
    """
    names = tuple(path.name for path in audits_below(folder, is_audit))
    if not names:
        remedy = "It is a single audit: leave out --all." if is_audit(folder) else ""
        raise AuditError(
            f"{str(folder)!r} holds no folder with an audit.toml. {remedy}".rstrip()
        )
    return names


def run_batch(
    folder: Path,
    *,
    options: Sequence[str] = (),
    newer_than: float | None = None,
    n_jobs: int = 1,
    tell: Callable[[str], object],
    after_each: Callable[[Batch], object],
    on_output: Callable[[bytes], object] = lambda _: None,
) -> Batch:
    """Run every audit of a folder.

    Parameters
    ----------
    folder : Path
        That with the folders of the audits.
    options : sequence of str
        What the command `run` is given besides the audit.
    newer_than : float, optional
        The hours within which an audit with a finished run is not run again; the
        outcome is then that of its newest run.
    n_jobs : int, default 1
        How many audits run at a time.
    tell : callable
        Gets one line per audit, in their order: when an audit begins, or of several
        at a time when it and all before it have ended.
    after_each : callable
        Gets what became of them so far; of all at the end, still under the lock.
    on_output : callable, optional
        Gets what an audit printed after its line, if several run at a time; else that
        is printed as it comes.

    Raises
    ------
    AuditError
        If there is no audit, or (`LockedError`) another process runs a batch of it.
    """
    names = audits_of(folder)
    with locked(folder):
        recent = {name: recent_outcome(folder / name, newer_than) for name in names}
        done = {name: outcome for name, outcome in recent.items() if outcome}

        def announce(name: str) -> None:
            state = " (not run again)" if name in done else ""
            tell(f"[{names.index(name) + 1}/{len(names)}] audit {shown(name)}{state}")

        at_once = announce if n_jobs == 1 else None
        processes = _Processes(folder, options, at_once)
        with ThreadPoolExecutor(n_jobs) as pool:
            futures: dict[str, Future[tuple[Outcome, bytes]]] = {}
            code = None
            try:
                for name in names:
                    if name not in done:
                        futures[name] = pool.submit(processes.run, name)
                for name in names:
                    if name in done:
                        announce(name)
                        continue
                    while not futures[name].done():  # a request to stop is heard
                        wait([futures[name]], timeout=POLL_SECONDS)
                    outcome, output = futures[name].result()
                    if n_jobs > 1:
                        announce(name)
                        on_output(output)
                    done[name] = outcome
                    after_each(_batch(folder, names, done))
            except BaseException as error:
                processes.stop()
                if not isinstance(error, KeyboardInterrupt):
                    raise
                code = 130
        # All have ended here, also those whose future no interrupted loop has awaited.
        batch = _batch(folder, names, {**done, **processes.ended})
        batch = batch if code is None else batch._replace(exit_code=code)
        after_each(batch)
    return batch


def recent_outcome(audit: Path, hours: float | None) -> Outcome | None:
    """The outcome of the newest finished run, if it is younger than so many hours.

    None for one that begins in what is now the future: the clock was set back.
    """
    if hours is None:
        return None
    run = _newest_run(audit, run_names(audit), FINISHED)
    started = started_at(str(run.get("run", "")))
    if started is None:
        return None
    if not timedelta() <= datetime.now(UTC) - started <= timedelta(hours=hours):
        return None
    words = f"Not run again: its run began at {started.isoformat()} (--newer-than)."
    return Outcome(
        audit.name, run["exit_code"], run["run"], run["verdict"], message=words
    )


def is_audit(folder: Path) -> bool:
    """Whether a folder holds an audit."""
    try:
        return (folder / "audit.toml").is_file() and not is_run(folder)
    except OSError:  # one that nobody may look into
        return False


def run_names(audit: Path) -> set[str]:
    """The names of the run folders of an audit."""
    try:
        return {n for n in os.listdir(audit / "runs") if not n.startswith(".")}
    except OSError:
        return set()


class _Processes:
    """The processes of a batch, one for each audit, stopped together.

    Parameters
    ----------
    folder : Path
    options : sequence of str
        What the command `run` is given besides the audit.
    announce : callable, optional
        Gets the name of each audit that begins; what its process prints is then
        printed as it comes, and else kept.
    """

    def __init__(
        self,
        folder: Path,
        options: Sequence[str],
        announce: Callable[[str], object] | None,
    ) -> None:
        self._folder, self._options, self._announce = folder, options, announce
        self._lock, self._is_stopping = Lock(), False
        self._under_way: set[str] = set()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.ended: dict[str, Outcome] = {}

    def run(self, name: str) -> tuple[Outcome, bytes]:
        """Run one audit to its end; return what became of it and what it printed."""
        with self._lock:
            if self._is_stopping:
                return Outcome(name), b""
            self._under_way.add(name)
        try:
            result = self._run(name)
            self.ended[name] = result[0]
        finally:
            self._under_way.remove(name)
        return result

    def _run(self, name: str) -> tuple[Outcome, bytes]:
        if self._announce:
            self._announce(name)
        audit = self._folder / name
        if not is_audit(audit):
            words = "audit.toml disappeared after the batch began."
            return Outcome(name, 2, message=words), b""
        before, n_events = run_names(audit), len(readable_events(audit))
        start = time.monotonic()
        # -P: nothing in the working folder may shadow a module
        command = [sys.executable, "-P", "-m", "importance_audit", "run"]
        pipe = None if self._announce else subprocess.PIPE
        with self._lock:
            if self._is_stopping:
                return Outcome(name), b""
            child = self._running[name] = subprocess.Popen(
                [*command, *self._options, "--", os.fspath(audit)],
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=subprocess.STDOUT if pipe else None,
            )
        output = child.communicate()[0] or b""
        with self._lock:
            del self._running[name]
        seconds = round(time.monotonic() - start, 1)
        run = _newest_run(audit, run_names(audit) - before)
        code, words = _judge_exit(child.returncode, run, self._is_stopping)
        ends = [e for e in readable_events(audit)[n_events:] if e["kind"] in ENDED]
        message = ends[-1]["message"] if ends else ""
        run_id, verdict = run.get("run", ""), run.get("verdict", "")
        return Outcome(name, code, run_id, verdict, message or words, seconds), output

    def stop(self) -> None:
        """Ask all to stop, and wait until they have saved; on a second request, kill.

        The main thread calls it: it alone is interrupted by a request to stop. The
        pool is not asked who is left: one that is interrupted as it starts a thread
        does not know that thread.
        """
        for action in ("terminate", "kill"):  # no run may go on without us
            acknowledge()
            with self._lock:
                self._is_stopping = True
                for child in self._running.values():
                    getattr(child, action)()
            with suppress(KeyboardInterrupt):
                while self._under_way:
                    time.sleep(POLL_SECONDS)
                return


def _batch(folder: Path, names: Sequence[str], done: Mapping[str, Outcome]) -> Batch:
    """What became of all audits; those without a turn say so."""
    outcomes = tuple(done.get(name, Outcome(name)) for name in names)
    codes = [o.exit_code for o in outcomes if o.exit_code is not None]
    return Batch(folder, gravest(codes), outcomes)


def _newest_run(
    audit: Path, names: Collection[str], codes: Sequence[int] = GRAVEST
) -> Mapping[str, Any]:
    """The line of the newest of these runs that ended with one of these codes."""
    lines = [
        event
        for event in readable_events(audit)
        if event["kind"] == "run"
        and event["run"] in names
        and event["exit_code"] in codes
    ]
    return max(lines, key=lambda line: str(line["run"]), default={})


def _judge_exit(code: int, run: Mapping[str, Any], is_stopped: bool) -> tuple[int, str]:
    """The exit code of a run as the batch counts it, and why.

    A process that a signal ended has no code of its own, and one that broke before
    its run was saved has that of a run not confirmed.
    """
    if code < 0 and is_stopped:  # it was not yet ready to take the signal
        code = 130
    if code < 0:
        return 4, f"The run's process ended with {describe_exit(code)}."
    if code not in GRAVEST or (code in FINISHED and not run):
        return 4, f"The run ended with exit code {code} and left no folder."
    return code, WORDS.get(code, "")
