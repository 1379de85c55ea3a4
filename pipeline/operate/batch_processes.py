"""The processes of a batch: one for each audit, some at a time, stopped together.

Each has its own R. Not: which audits there are, and in what order (`batch`).
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple

from ..auditing.interrupt import acknowledge, deferred
from ..records.errors import AuditError
from ..runs.chain import is_run
from ..runs.events import append_event, read_events
from .batch_log import FINISHED, LOG, Line, Outcome, newest_manifest, run_names
from .child_process import describe_exit
from .exit_codes import GRAVEST

WORDS = {
    2: "The configuration, the data or a model must be corrected: importance-audit "
    "run says what.",
    3: "R is required but unavailable: importance-audit doctor says why.",
    5: "Another process was running the audit.",
    130: "The run was interrupted.",
}
"""What is said of a run that left no word of its own."""
POLL_SECONDS = 0.2


class Ended(NamedTuple):
    """An audit whose process has ended, and what that printed if it was kept."""

    outcome: Outcome
    output: bytes = b""


class AuditProcesses:
    """Runs audits of a folder, each in a process of its own.

    Parameters
    ----------
    folder : Path
    options : sequence of str
        What the command `run` is given besides the audit.
    keeps_output : bool
        Whether what a process prints is returned, and not printed as it comes.

    Attributes
    ----------
    outcomes : dict of str to Outcome
        Of the audits that ended, by name.
    is_stopping : bool
        Whether no further audit is begun.
    """

    def __init__(
        self, folder: Path, options: Sequence[str], keeps_output: bool
    ) -> None:
        self._arguments = folder, options, keeps_output
        self.outcomes: dict[str, Outcome] = {}
        self.is_stopping = False
        self._running: dict[str, subprocess.Popen[bytes] | None] = {}
        self._changed = Condition()

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the processes behind."""
        return AuditProcesses, self._arguments

    def __call__(self, name: str) -> Ended | None:
        """Run one audit to its end; None if the batch is to stop before it began."""
        folder, _, _ = self._arguments
        with self._changed:
            if self.is_stopping:
                return None
            self._running[name] = None
        try:
            append_event(folder, "audit_began", into=LOG, audit=name)
            ended = self._run(folder / name)
            append_event(folder, "audit_ended", into=LOG, **ended.outcome._asdict())
            self.outcomes[name] = ended.outcome
            return ended
        finally:
            with self._changed:
                del self._running[name]
                self._changed.notify_all()

    def require_going(self) -> None:
        """Raise `KeyboardInterrupt` if the batch is to stop."""
        if self.is_stopping:
            raise KeyboardInterrupt

    def stop(self) -> None:
        """Pass a request to stop on to all, once, and wait until they have saved."""
        acknowledge()
        with self._changed:
            self.is_stopping = True
            for child in filter(None, self._running.values()):
                child.terminate()
        try:
            self._wait()
        except KeyboardInterrupt:  # a second request: no run may go on without us
            acknowledge()
            for child in filter(None, [*self._running.values()]):
                child.kill()
            self._wait()

    def _wait(self) -> None:
        while self._running:
            with self._changed:
                self._changed.wait(POLL_SECONDS)

    def _run(self, audit: Path) -> Ended:
        """Run one audit, and judge how it ended."""
        if not is_audit(audit):
            words = "audit.toml disappeared after the batch began."
            return Ended(Outcome(audit.name, 2, message=words))
        before, n_events = run_names(audit), len(_events(audit))
        start = time.monotonic()
        code, output = self._code_of(audit)
        seconds = round(time.monotonic() - start, 1)
        run = newest_manifest(audit, run_names(audit) - before)
        code, words = _judge_exit(code, run, self.is_stopping)
        end_events = [e for e in _events(audit)[n_events:] if e["event"] == "ended"]
        message = str(end_events[-1].get("message", "")) if end_events else ""
        run_id, verdict = str(run.get("run_id", "")), str(run.get("verdict", ""))
        facts = (run_id, verdict, message or words, seconds)
        return Ended(Outcome(audit.name, code, *facts), output)

    def _code_of(self, audit: Path) -> tuple[int, bytes]:
        """Return how the process of a run ended, and what it printed if that is kept.

        A request to stop, which only the main thread hears, is passed on once, and the
        saving of the run awaited.
        """
        _, options, keeps_output = self._arguments
        # -P: nothing in the working folder may shadow a module
        command = [sys.executable, "-P", "-m", "importance_audit", "run", *options]
        child = None
        try:
            with deferred():
                child = subprocess.Popen(
                    [*command, "--", os.fspath(audit)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE if keeps_output else None,
                    stderr=subprocess.STDOUT if keeps_output else None,
                )
                with self._changed:
                    self._running[audit.name] = child
                    if self.is_stopping:
                        child.terminate()
            output, _ = child.communicate()
        except KeyboardInterrupt:
            if child is None:
                raise
            acknowledge()
            self.is_stopping = True
            child.terminate()
            try:
                output, _ = child.communicate()
            except KeyboardInterrupt:  # a second request
                child.kill()
                child.wait()
                raise
        return child.returncode, output or b""


def is_audit(folder: Path) -> bool:
    """Return whether a folder holds an audit."""
    try:
        return (folder / "audit.toml").is_file() and not is_run(folder)
    except OSError:  # one that nobody may look into
        return False


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
