"""A batch of audits: each runs in its own process, several at a time.

A broken file or a crash of one does not stop the others. Not: running one audit
(`run`), or the layout of the page of a batch (`report`).
"""

import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from ..records.errors import AuditError
from ..records.errors import printable as shown
from ..runs.audit_log import ENDED, readable_events
from ..runs.chain import is_run, started_at
from ..runs.locks import locked
from ..runs.timeline import audits_below
from .child_process import describe_exit, run_command, stop_requests
from .exit_codes import GRAVEST, gravest

FINISHED = (0, 1, 4)
"""Exit codes of a run that ended and left its folder."""
WORDS = {
    2: "The configuration, the data or a model must be corrected: importance-audit "
    "run says what.",
    3: "R is required but unavailable: importance-audit doctor says why.",
    5: "Another process was running the audit.",
    130: "The run was interrupted.",
}
"""Messages for runs that logged none."""
POLL_SECONDS = 0.2


class Outcome(NamedTuple):
    """The outcome of one audit of a batch.

    Attributes
    ----------
    audit : str
        The name of its folder.
    exit_code : int or None
        None if the batch was stopped before it started.
    run_id, verdict : str
        Empty if it left no run folder.
    message : str
        Why there is none, or another error; empty if there was none.
    """

    audit: str
    exit_code: int | None = None
    run_id: str = ""
    verdict: str = ""
    message: str = ""


class Batch(NamedTuple):
    """The outcomes of all audits in a folder, sorted by name, and their exit code."""

    folder: Path
    exit_code: int
    outcomes: tuple[Outcome, ...]


def audits_of(folder: Path) -> tuple[str, ...]:
    """The names of the audits in a folder, sorted by code point.

    A folder with links to it is one audit, under its own name if that is in the folder.

    Raises
    ------
    AuditError
        If the folder cannot be read, or has no audit.
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
        The folder with the folders of the audits.
    options : sequence of str
        Options of the command `run` for each audit.
    newer_than : float, optional
        Audits with a finished run that began within so many hours are not run again;
        their outcome is that of the newest such run.
    n_jobs : int, default 1
        Number of audits that run at a time.
    tell : callable
        Called with one line per audit, in their order: when it begins, or if several
        run at a time, when it and all before it have ended.
    after_each : callable
        Called with the batch so far after each audit, and at the end under the lock.
    on_output : callable, optional
        Called with the output of an audit after its line, if several run at a time;
        else the output is printed directly.

    Raises
    ------
    AuditError
        If there is no audit, or (`LockedError`) another process runs this batch.
    """
    names = audits_of(folder)
    with locked(folder):
        recent = {name: recent_outcome(folder / name, newer_than) for name in names}
        done = {name: outcome for name, outcome in recent.items() if outcome}
        begun, outputs = {*done}, dict[str, bytes]()
        waiting, untold = [n for n in names if n not in done], [*names]
        running: dict[str, _Run] = {}

        def tell_in_order() -> None:
            while untold and untold[0] in (begun if n_jobs == 1 else done):
                name = untold.pop(0)
                state = " (not run again)" if recent[name] else ""
                place = f"[{len(names) - len(untold)}/{len(names)}]"
                tell(f"{place} audit {shown(name)}{state}")
                if output := outputs.pop(name, b""):
                    on_output(output)
                if name not in done:  # its output comes before the next line
                    break

        with stop_requests() as signals:
            try:
                while (running or waiting) and not signals:
                    while waiting and len(running) < n_jobs and not signals:
                        name = waiting.pop(0)
                        begun.add(name)
                        tell_in_order()
                        if is_audit(folder / name):
                            running[name] = _begin(folder / name, options, n_jobs > 1)
                        else:
                            words = "audit.toml disappeared after the batch began."
                            done[name] = Outcome(name, 2, message=words)
                    time.sleep(POLL_SECONDS)
                    for name, run in [*running.items()]:
                        if run.child.poll() is None:
                            continue
                        done[name], outputs[name] = _end(running.pop(name))
                        tell_in_order()
                        after_each(_batch(folder, names, done))
                tell_in_order()
            finally:  # no run may outlive this process
                _stop([run.child for run in running.values()], signals)
        done |= {n: _end(run, is_stopped=True)[0] for n, run in running.items()}
        batch = _batch(folder, names, done)
        batch = batch._replace(exit_code=130) if signals else batch
        after_each(batch)
    return batch


def recent_outcome(audit: Path, hours: float | None) -> Outcome | None:
    """The outcome of the newest finished run, if it began within so many hours.

    None for a run with a start in the future: the clock was set back.
    """
    if hours is None:
        return None
    run = _newest_run(audit, readable_events(audit), FINISHED)
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
    """Whether a folder is that of an audit."""
    try:
        return (folder / "audit.toml").is_file() and not is_run(folder)
    except OSError:  # it cannot be read
        return False


class _Run(NamedTuple):
    """A run in progress, and the number of events in the audit log before it."""

    audit: Path
    n_events: int
    child: "subprocess.Popen[bytes]"
    output: IO[bytes] | None


def _begin(audit: Path, options: Sequence[str], keeps_output: bool) -> _Run:
    """Start a run; its output is collected in a file, or printed directly."""
    output = TemporaryFile() if keeps_output else None  # noqa: SIM115
    n_events = len(readable_events(audit))
    child = subprocess.Popen(
        run_command(audit, options),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
    )
    return _Run(audit, n_events, child, output)


def _end(run: _Run, *, is_stopped: bool = False) -> tuple[Outcome, bytes]:
    """The outcome of a run whose process has ended, and its collected output."""
    output = b""
    if run.output is not None:
        with run.output:
            run.output.seek(0)
            output = run.output.read()
    events = readable_events(run.audit)[run.n_events :]
    line = _newest_run(run.audit, events)
    code, words = _judge_exit(run.child.returncode, line, is_stopped)
    ends = [event for event in events if event["kind"] in ENDED]
    message = (ends[-1]["message"] if ends else "") or words
    run_id, verdict = line.get("run", ""), line.get("verdict", "")
    return Outcome(run.audit.name, code, run_id, verdict, message), output


def _stop(
    children: Sequence["subprocess.Popen[bytes]"], signals: Sequence[int]
) -> None:
    """Send SIGTERM to all, and wait until they have saved.

    A Ctrl-C after the first signal kills them.
    """
    n_before = len(signals[:1])
    for child in children:
        child.terminate()
    while any(child.poll() is None for child in children):
        if signal.SIGINT in signals[n_before:]:
            for child in children:
                child.kill()
        time.sleep(POLL_SECONDS)


def _batch(folder: Path, names: Sequence[str], done: Mapping[str, Outcome]) -> Batch:
    """The batch with the outcomes so far; audits that did not run have no exit code."""
    outcomes = tuple(done.get(name, Outcome(name)) for name in names)
    codes = [o.exit_code for o in outcomes if o.exit_code is not None]
    return Batch(folder, gravest(codes), outcomes)


def _newest_run(
    audit: Path, events: Iterable[Mapping[str, Any]], codes: Sequence[int] = GRAVEST
) -> Mapping[str, Any]:
    """The line of the newest existing run with one of these exit codes, or empty."""
    lines = [
        event
        for event in events
        if event["kind"] == "run"
        and event["exit_code"] in codes
        and (audit / "runs" / event["run"]).is_dir()
    ]
    return max(lines, key=lambda line: str(line["run"]), default={})


def _judge_exit(code: int, run: Mapping[str, Any], is_stopped: bool) -> tuple[int, str]:
    """The exit code of a run in the batch, and a message.

    4 stands for a process that was ended by a signal, or that crashed before its run
    was saved: Python exits with 1 then, the code of a run that is not confirmed.
    """
    if code < 0 and is_stopped:  # it had not installed its signal handler yet
        code = 130
    if code < 0:
        return 4, f"The run's process ended with {describe_exit(code)}."
    if code not in GRAVEST or (code in FINISHED and not run):
        return 4, f"The run ended with exit code {code} and left no folder."
    return code, WORDS.get(code, "")
