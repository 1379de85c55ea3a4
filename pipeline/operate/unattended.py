"""Unattended runs: retries, time limit, removal of old runs, notifications.

The audit runs in a child process. This process reports its end even if it was killed,
ran out of memory, crashed below Python or never returned.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..config.load import FILE_NAME
from ..config.settings import ScheduleSection
from ..records.errors import AuditError
from ..runs.attempts import end_attempt, record_killed_attempt
from ..runs.audit_log import ENDED, read_log, readable_events
from ..runs.locks import locked
from ..runs.retention import remove_old_runs
from ..runs.summary import read_summary
from .child_process import decode, describe_exit, run_child, run_command, stop_requests
from .notify import Notice, notify
from .schedule_section import read_schedule

GRACE_SECONDS = 240.0
"""Time for an audit to save its results and write the report: between its time limit
and SIGTERM, and between SIGTERM and SIGKILL. A service manager must wait longer than
this and the notification commands together."""
_LEFT_NOTHING = (2, 3, 5, 130)
"""Exit codes with which a process may end without a line in the audit log."""


class UnattendedOutcome(NamedTuple):
    """The end of an unattended run.

    Attributes
    ----------
    code : int
        The exit code, as listed in `cli.main`; 4 also if the process was killed or
        crashed.
    run_id : str
        Empty if there is no run folder.
    verdict, message : str
    r_failed : bool
        Whether R failed: another attempt may succeed.
    """

    code: int
    run_id: str = ""
    verdict: str = ""
    message: str = ""
    r_failed: bool = False


def run_unattended(
    path: Path,
    *,
    say: Callable[[str], None],
    keep: int | None = None,
    minutes: float | None = None,
    quiet: bool = False,
    options: Sequence[str] = (),
) -> UnattendedOutcome:
    """Run an audit in a separate process, remove old runs, and send notifications.

    Parameters
    ----------
    path : Path
        The folder of the audit, or its file.
    say : callable
        Called with each message for the log.
    keep : int, optional
        Overrides `keep` of [schedule].
    minutes : float, optional
        The time limit of all attempts together; overrides that of the configuration.
    quiet : bool
        Whether only errors are reported.
    options : sequence of str
        Further options for the command `run` of the child process.
    """
    file = path / FILE_NAME if path.is_dir() else path
    folder, source = file.parent, read_schedule(file)
    schedule = source.section
    if source.note:
        say(source.note)
    events = readable_events(folder)
    with stop_requests() as signals:
        words = (*["--quiet"] * quiet, *options)
        left = minutes or source.minutes
        deadline = time.monotonic() + 60 * left
        for retries in range(schedule.retries, -1, -1):
            ended = _attempt(path, left, words, signals)
            left = round((deadline - time.monotonic()) / 60, 2)
            if not ended.r_failed or signals or left <= 0 or not retries:
                break
            say(f"R failed, so the audit is retried ({retries} more): {ended.message}")
        late = map(_line, readable_events(folder)[len(events) :])
        news = [*filter(None, (_unsent_news(folder, events, schedule), *late))]
        news += _news(folder, ended, events)
        for line in news if not quiet or ended.code else ():
            say(line)
        if ended.run_id:  # after the news, which may need a run that is removed now
            for line in remove_old_runs(
                folder, schedule.keep if keep is None else keep
            ):
                say(line)
        run, summary = folder.resolve() / "runs" / ended.run_id, ended.message
        with suppress(OSError):
            summary = (run / "summary.txt").read_text(encoding="utf-8")
        notice = Notice(
            audit=folder.resolve().name,
            run=str(run) if ended.run_id else "",
            verdict=ended.verdict,
            exit_code=ended.code,
            summary=summary,
            news=tuple(news),
        )
        for fault in notify(folder, schedule, notice):
            say(fault)
    return ended


def _attempt(
    path: Path, minutes: float, options: Sequence[str], signals: Sequence[int]
) -> UnattendedOutcome:
    """Run an audit once, in a process that ends if this one does."""
    folder = path if path.is_dir() else path.parent
    n_events = len(readable_events(folder))
    limits = ("--minutes", repr(minutes), "--watched")
    try:
        child = run_child(
            run_command(path, (*options, *limits)),
            60 * minutes + GRACE_SECONDS,  # the run ends itself at its limit
            _echo,
            signals=signals,
            grace=GRACE_SECONDS,
        )
    except OSError as error:
        return UnattendedOutcome(
            4, message=f"The process of the run did not start: {error}."
        )
    events = readable_events(folder)[n_events:]
    starts = [
        n
        for n, event in enumerate(events)
        if event["kind"] == "began" and event["pid"] == child.pid
    ]
    after = events[starts[-1] :] if starts else ()
    end_event = next((event for event in after if event["kind"] in ENDED), None)
    if end_event is not None:
        return _outcome_of(end_event)
    last_lines = [line for line in decode(child.output).splitlines() if line.strip()]
    if child.is_own and child.code in _LEFT_NOTHING:
        return UnattendedOutcome(child.code, message="".join(last_lines[-1:]))
    why = f"it did not stop within {GRACE_SECONDS:g} seconds of the request to stop."
    if child.is_own:
        why = f"its process ended with {describe_exit(child.code)}."
        if last_lines:
            why += f" Its last output: {' | '.join(last_lines[-3:])}"
    message = f"The run did not finish: {why}"
    code = 130 if signals else 4
    with suppress(AuditError), locked(folder):
        record_killed_attempt(folder, read_log(folder))
        if not starts:  # it ended before it could log its start
            end_attempt(folder, exit_code=code, message=message, r_failed=False)
    return UnattendedOutcome(code, message=message)


def _outcome_of(end: Mapping[str, Any]) -> UnattendedOutcome:
    """Return the outcome in the line of the audit log that ends an attempt."""
    return UnattendedOutcome(
        end["exit_code"],
        end.get("run", ""),
        end.get("verdict", ""),
        end["message"],
        r_failed=end["r_failed"],
    )


def _line(event: Mapping[str, Any]) -> str:
    """Return the message on an event that no run reports, "" for other events."""
    if event["kind"] == "clock":
        return str(event["message"])
    if event["kind"] == "died":
        return (
            f"The run that process {event['pid']} began at {event['began']} was "
            "killed, or its machine stopped."
        )
    return ""


def _unsent_news(
    folder: Path, events: tuple[dict[str, Any], ...], schedule: ScheduleSection
) -> str:
    """Return a message on the last run if it was killed before its notification."""
    ends = [n for n, event in enumerate(events) if event["kind"] in ENDED]
    before = events[: ends[-1]] if ends else ()
    starts = [event for event in before if event["kind"] == "began"]
    if not starts or not starts[-1]["unattended"]:
        return ""
    last, after = events[ends[-1]], events[ends[-1] :]
    ended = _outcome_of(last)
    due = schedule.on_change or (ended.code and schedule.on_failure)
    if not due or any(event["kind"] == "notified" for event in after):
        return ""
    message = " ".join(_news(folder, ended, before))
    message = message or ended.message * bool(ended.code)
    if not message:
        return ""
    words_ = f"ended with exit code {ended.code} at {last['time']}"
    return f"The previous run {words_}, and no notification was sent: {message}"


def _news(
    folder: Path, ended: UnattendedOutcome, events: tuple[dict[str, Any], ...]
) -> Iterator[str]:
    """Yield the changes since the last run, as recorded by the run."""
    last: Mapping[str, Any] = next(
        (one for one in reversed(events) if one["kind"] in ("began", "died", *ENDED)),
        {},
    )
    if ended.message and ended.message != last.get("message"):
        yield ended.message
    if ended.run_id and last.get("kind") == "failed":
        yield (
            f"The previous attempt ended with exit code {last['exit_code']} and "
            "left no run; this one did."
        )
    if ended.run_id:
        with suppress(OSError, AuditError):  # a run that was stopped may have none
            path = folder / "runs" / ended.run_id / "history.json"
            yield from read_summary(path.read_bytes(), str(path)).changes


def _echo(output: bytes) -> None:
    """Write output of the audit to standard error; ignore errors of writing."""
    with suppress(OSError, ValueError):
        sys.stderr.buffer.write(output)
        sys.stderr.buffer.flush()
