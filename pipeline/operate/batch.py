"""A batch of audits: each runs in its own process, several at a time.

A broken file or a crash of one does not stop the others. Not: running one audit
(`run`), or the layout of the page of a batch (`report`).
"""

import math
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ..config.load import FILE_NAME
from ..records.errors import AuditError
from ..records.errors import printable as shown
from ..runs.audit_log import ENDED, readable_events
from ..runs.chain import started_at
from ..runs.locks import locked
from ..runs.timeline import audits_below
from .child_process import describe_exit, run_child, run_command, stop_requests
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
    names = tuple(path.name for path in audits_below(folder) if _has_file(path))
    if not names:
        remedy = "It is a single audit: leave out --all." if _has_file(folder) else ""
        raise AuditError(
            f"{str(folder)!r} holds no folder with an audit.toml. {remedy}".rstrip()
        )
    return names


def _has_file(folder: Path) -> bool:
    """Whether a folder has an audit.toml; no error if it cannot be read."""
    return os.path.isfile(folder / FILE_NAME)


def run_batch(
    folder: Path,
    *,
    options: Sequence[str] = (),
    newer_than: float | None = None,
    n_jobs: int = 1,
    tell: Callable[[str], object],
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
    on_output : callable, optional
        Called with the output of an audit after its line, if several run at a time;
        else the output is printed directly.

    Raises
    ------
    AuditError
        If there is no audit, or (`LockedError`) another process runs this batch.
    """
    names = audits_of(folder)
    with locked(folder), stop_requests() as signals, ThreadPoolExecutor(n_jobs) as pool:
        recent = {name: recent_outcome(folder / name, newer_than) for name in names}

        def tell_of(name: str) -> None:
            state = " (not run again)" if recent[name] else ""
            place = f"[{names.index(name) + 1}/{len(names)}]"
            tell(f"{place} audit {shown(name)}{state}")

        def run_one(name: str) -> tuple[Outcome, bytes]:
            if signals:
                return recent[name] or Outcome(name), b""
            if n_jobs == 1:
                tell_of(name)
            if outcome := recent[name]:
                return outcome, b""
            return _run(folder / name, options, signals, keeps_output=n_jobs > 1)

        runs = {name: pool.submit(run_one, name) for name in names}
        done: dict[str, Outcome] = {}
        try:
            for name, run in runs.items():
                while wait([run], POLL_SECONDS).not_done:  # lets signals in
                    pass
                outcome, output = run.result()
                if n_jobs > 1 and outcome.exit_code is not None:
                    tell_of(name)
                    on_output(output)
                done[name] = outcome
        except BaseException:
            signals.append(signal.SIGTERM)  # no run may outlive this process
            raise
        outcomes = tuple(done.get(name, Outcome(name)) for name in names)
        codes = [o.exit_code for o in outcomes if o.exit_code is not None]
        return Batch(folder, 130 if signals else gravest(codes), outcomes)


def recent_outcome(audit: Path, hours: float | None) -> Outcome | None:
    """The outcome of the newest finished run, if it began within so many hours.

    None for a run with a start in the future: the clock was set back.
    """
    finished = [
        event
        for event in readable_events(audit)
        if event["kind"] == "run"
        and event["exit_code"] in FINISHED
        and (audit / "runs" / event["run"]).is_dir()
    ]
    started = started_at(finished[-1]["run"]) if finished else None
    if hours is None or started is None:
        return None
    if not timedelta() <= datetime.now(UTC) - started <= timedelta(hours=hours):
        return None
    words = f"Not run again: its run began at {started.isoformat()} (--newer-than)."
    run = finished[-1]
    return Outcome(
        audit.name, run["exit_code"], run["run"], run["verdict"], message=words
    )


def _run(
    audit: Path, options: Sequence[str], signals: Sequence[int], *, keeps_output: bool
) -> tuple[Outcome, bytes]:
    """Run an audit; return its outcome, and its output if that is not printed.

    At the first signal the run gets SIGTERM, so that it saves; a Ctrl-C after that
    kills it.
    """
    n_events, output = len(readable_events(audit)), list[bytes]()
    child = run_child(
        run_command(audit, options),
        math.inf,
        output.append if keeps_output else None,
        signals=signals,
        grace=math.inf,
    )
    events = readable_events(audit)[n_events:]
    ends = [event for event in events if event["kind"] in ENDED]
    end: Mapping[str, Any] = ends[-1] if ends else {}
    run_id, verdict = end.get("run", ""), end.get("verdict", "")
    code, words = _judge_exit(child.code, run_id, is_stopped=bool(signals))
    message = end.get("message") or words
    return Outcome(audit.name, code, run_id, verdict, message), b"".join(output)


def _judge_exit(code: int, run_id: str, *, is_stopped: bool) -> tuple[int, str]:
    """The exit code of a run in the batch, and a message.

    4 stands for a process that was ended by a signal, or that crashed before its run
    was saved: Python exits with 1 then, the code of a run that is not confirmed.
    """
    if code < 0 and is_stopped:  # it had not installed its signal handler yet
        code = 130
    if code < 0:
        return 4, f"The run's process ended with {describe_exit(code)}."
    if code not in GRAVEST or (code in FINISHED and not run_id):
        return 4, f"The run ended with exit code {code} and left no folder."
    return code, WORDS.get(code, "")
