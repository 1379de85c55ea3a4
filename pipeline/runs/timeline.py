"""The timeline of an audit: its runs with their changes, and attempts without a run.

Not: which runs are read (`history`), or their display.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import DataError
from .audit_log import ENDED
from .chain import is_run
from .history import LAST, read_runs
from .locks import is_locked
from .summary import FindingHistory, RunSummary


class Row(NamedTuple):
    """A run, an attempt that left no folder, or another event.

    Attributes
    ----------
    time : str
        Its start, an ISO text in UTC; empty if unknown.
    run : RunSummary, optional
    exit_code : int, optional
        None if unknown.
    note : str
        The outcome, if it is not a run.
    changes : tuple of str
        Changes since the run before, one sentence each, as the run stored them.
    is_attempt : bool
        Whether it is a run or an attempt at one, not another event.
    """

    time: str
    run: RunSummary | None = None
    exit_code: int | None = None
    note: str = ""
    changes: tuple[str, ...] = ()
    is_attempt: bool = True


NEWEST = 20
"""Number of rows in which the last run or attempt of an audit is searched."""


class Timeline(NamedTuple):
    """The history of an audit.

    Attributes
    ----------
    audit : str
        The name of its folder.
    rows : tuple of Row
        The last ones, oldest first.
    n_runs : int
        Number of all runs with a folder.
    newest : RunSummary, optional
        The last run with a folder.
    last_complete : str
        The last complete run, "" if there is none.
    findings : tuple of FindingHistory
    gaps : tuple of str
        Breaks of the chain of runs, and runs that are altered or cannot be read.
    removed : tuple of str
        Runs that retention removed.
    fault : str
        Reason why the audit cannot be read, "" if it can.
    """

    audit: str
    rows: tuple[Row, ...] = ()
    n_runs: int = 0
    newest: RunSummary | None = None
    last_complete: str = ""
    findings: tuple[FindingHistory, ...] = ()
    gaps: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    fault: str = ""

    @property
    def n_findings(self) -> int:
        """Number of findings above a note in the last complete run."""
        return sum(one.in_last and one.severity != "info" for one in self.findings)


def timeline(folder: Path, *, last: int | None = None) -> Timeline:
    """Return the timeline of an audit with its last rows, all by default.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    audit_runs = read_runs(folder, last=last and last + LAST)
    rows = [
        Row(run.started, run, run.exit_code, changes=(*run.changes, *run.differences))
        for run in audit_runs.runs
    ]
    events = audit_runs.events
    attempts = [e for e in events if e["kind"] in ("began", "died", *ENDED)]
    if attempts and attempts[-1]["kind"] == "began":
        kind = "under way" if is_locked(folder) else "died"
        last_one = {**attempts[-1], "kind": kind, "began": attempts[-1]["time"]}
        events = (*events, last_one)
    merged = tuple(_merged(rows, events, is_all=len(rows) == audit_runs.n_runs))
    return Timeline(
        audit=folder.resolve().name,
        rows=merged[-last:] if last else merged,
        n_runs=audit_runs.n_runs,
        newest=audit_runs.runs[-1] if audit_runs.runs else None,
        last_complete=audit_runs.last_complete,
        findings=audit_runs.findings,
        gaps=audit_runs.gaps,
        removed=audit_runs.removed,
    )


def timelines(folder: Path) -> tuple[Timeline, ...]:
    """Return the timelines of the audits in a folder, sorted by name.

    Each has the last run or attempt, and the later events. An audit that cannot be
    read has the reason in `Timeline.fault`.

    Raises
    ------
    DataError
        If the folder cannot be read.
    """
    latest = []
    for audit in audits_below(folder):
        try:
            one = timeline(audit, last=NEWEST)
        except DataError as error:
            one = Timeline(audit.name, fault=str(error))
        attempts = (n for n, row in enumerate(one.rows) if row.is_attempt)
        start = max(attempts, default=len(one.rows) - 1)  # of neither: the last row
        latest.append(one._replace(audit=audit.name, rows=one.rows[start:]))
    return tuple(latest)


def audits_below(folder: Path) -> tuple[Path, ...]:
    """Return the folders of audits in a folder, sorted by name.

    A folder with links to it is returned once, by its own name.

    Raises
    ------
    DataError
        If the folder cannot be read.
    """
    try:
        inner = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise DataError(f"{str(folder)!r} cannot be read: {error.strerror}.") from error
    folders: dict[Path, Path] = {}
    for path in sorted(filter(is_audit, inner), key=lambda p: (p.is_symlink(), p)):
        folders.setdefault(path.resolve(), path)
    return tuple(sorted(folders.values()))


def is_audit(folder: Path) -> bool:
    """Return whether a folder is that of an audit, or cannot be read."""
    try:
        has_one = (folder / "audit.toml").is_file() or (folder / "runs").is_dir()
        return has_one and not is_run(folder)
    except OSError:
        return True


def _merged(
    rows: Sequence[Row], events: Sequence[Mapping[str, Any]], *, is_all: bool
) -> Iterator[Row]:
    """Yield the rows of runs and of other events, in the order of the events.

    Events before the first run of `rows` are left out, unless `is_all`.
    """
    by_run = {row.run.run_id: row for row in rows if row.run}
    removed = {event["run"] for event in events if event["kind"] == "removed"}
    removed -= by_run.keys()
    is_shown = is_all or not rows
    for event in events:
        if event["kind"] == "run" and event["run"] in by_run:
            is_shown = True
            yield by_run[event["run"]]
        elif is_shown and (row := _attempt(event, removed)):
            yield row


def _attempt(event: Mapping[str, Any], removed: set[str]) -> Row | None:
    """Return the row of an event without a run folder, None if it has none."""
    kind, time = event["kind"], event["time"]
    message = " ".join(event.get("message", "").splitlines())
    if kind == "run" and event["run"] in removed:
        what = f"run {event['run']}, which retention removed"
        return Row(time, None, event["exit_code"], what, is_attempt=False)
    if kind == "failed":
        return Row(time, None, event["exit_code"], message)
    if kind == "notified" and event["exit_code"] != 0:
        what = f"command of {event['hook']} failed: {message}"
        return Row(time, note=what, is_attempt=False)
    process = f"process {event.get('pid')}"
    if kind == "died":
        return Row(event["began"], note=f"{process} started and was killed")
    if kind == "under way":
        note = f"{process} on {event['host']} started and has not ended"
        return Row(time, note=note)
    return Row(time, note=message, is_attempt=False) if kind == "clock" else None
