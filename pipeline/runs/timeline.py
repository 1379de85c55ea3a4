"""What happened to an audit, run by run: what each changed, and what left no run.

Not: where runs are read from (`history`), or how they are shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import DataError, listed, quote
from .audit_log import ENDED, is_instant
from .chain import is_run
from .history import LAST, read_runs
from .signoff.closed_findings import closes
from .summary import FindingHistory, RunSummary


class Row(NamedTuple):
    """A run, or an attempt that left no folder.

    Attributes
    ----------
    time : str
        When it started, an ISO text in UTC; empty if nobody knows.
    run : RunSummary, optional
    exit_code : int, optional
        None where nobody knows it.
    note : str
        Of what is no run: what became of it.
    changes : tuple of str
        What is not as in the run before, one sentence each.
    is_attempt : bool
        Whether it is a run or an attempt at one, and no other event.
    """

    time: str
    run: RunSummary | None = None
    exit_code: int | None = None
    note: str = ""
    changes: tuple[str, ...] = ()
    is_attempt: bool = True


NEWEST = 20
"""Rows among which the last run or attempt of an audit is looked for."""


class Timeline(NamedTuple):
    """What happened to an audit.

    Attributes
    ----------
    audit : str
        The name of its folder.
    rows : tuple of Row
        The last ones, oldest first.
    n_runs : int
        How many runs there are in all.
    newest : RunSummary, optional
        The last one that left a folder.
    last_complete : str
        The last one that came to its end, "" if none did.
    findings : tuple of FindingHistory
    gaps : tuple of str
        Where the chain of runs is broken, or a run is not as it was written.
    removed : tuple of str
        Runs that retention removed.
    notes : tuple of str
        What else is to be said of how they were read.
    fault : str
        Why nobody can look into the audit, "" if one can.
    """

    audit: str
    rows: tuple[Row, ...] = ()
    n_runs: int = 0
    newest: RunSummary | None = None
    last_complete: str = ""
    findings: tuple[FindingHistory, ...] = ()
    gaps: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""

    @property
    def n_findings(self) -> int:
        """How many findings the last complete run made."""
        return sum(finding.in_last for finding in self.findings)


def timeline(
    folder: Path, *, last: int | None = None, rebuild: bool = False
) -> Timeline:
    """Return the last rows of the history of an audit, all by default.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    audit_runs = read_runs(folder, last=last and last + LAST, rebuild=rebuild)
    rows = _runs(
        audit_runs.runs, {finding.key: finding for finding in audit_runs.findings}
    )
    merged = tuple(
        _merged(rows, audit_runs.events, is_all=len(rows) == audit_runs.n_runs)
    )
    return Timeline(
        audit=folder.resolve().name,
        rows=merged[-last:] if last else merged,
        n_runs=audit_runs.n_runs,
        newest=audit_runs.runs[-1] if audit_runs.runs else None,
        last_complete=audit_runs.last_complete,
        findings=audit_runs.findings,
        gaps=audit_runs.gaps,
        removed=audit_runs.removed,
        notes=audit_runs.notes,
    )


def timelines(folder: Path, *, rebuild: bool = False) -> tuple[Timeline, ...]:
    """Return each audit in a folder, in the order of their names.

    Their rows are the last run, or attempt at one, and what else happened since.
    One that nobody can look into hides no other: its `Timeline.fault` says why.

    Raises
    ------
    DataError
        If the folder cannot be read.
    """
    latest = []
    for audit in audits_below(folder):
        try:
            one = timeline(audit, last=NEWEST, rebuild=rebuild)
        except DataError as error:
            one = Timeline(audit.name, fault=str(error))
        latest.append(one._replace(audit=audit.name, rows=_since_last(one.rows)))
    return tuple(latest)


def _since_last(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the last run or attempt and what follows it, of neither the last row."""
    attempts = (n for n, row in enumerate(rows) if row.is_attempt)
    return rows[max(attempts, default=len(rows) - 1) :]


def audits_below(folder: Path) -> tuple[Path, ...]:
    """Return the folders of audits in a folder, in the order of their names.

    Of a folder and links to it, the folder.

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
    """Return whether a folder is that of an audit, or one that nobody may look into."""
    try:
        has_one = (folder / "audit.toml").is_file() or (folder / "runs").is_dir()
        return has_one and not is_run(folder)
    except OSError:
        return True


def describe_changes(
    before: RunSummary,
    now: RunSummary,
    complete: RunSummary | None,
    histories: Mapping[str, Any],
) -> Iterator[str]:
    """Yield what is not as in the run before, one sentence each: verdict, then causes.

    Findings are held against the last complete run before: one that did not end makes
    none, and closes none, nor does one that did not look for it.
    """
    if before.verdict != now.verdict:
        yield f"Verdict: {before.verdict}, now {now.verdict}."
    if complete is not None:
        for key in sorted(now.findings.keys() - complete.findings.keys()):
            yield f"Found: {now.findings[key]} {_finding_text(key, histories)}."
        for key in sorted(now.findings.keys() & complete.findings.keys()):
            old, new = complete.findings[key], now.findings[key]
            if old != new:
                yield f"{_finding_text(key, histories)}: {old}, now {new}."
        if now.status == "complete":
            for key in sorted(complete.findings.keys() - now.findings.keys()):
                if closes(now.verdict, now.missing, histories[key]):
                    yield f"No longer found: {_finding_text(key, histories)}."
        for key in sorted(now.accepted.keys() - complete.accepted.keys()):
            yield f"Accepted {now.accepted[key]}: {_finding_text(key, histories)}."
        for key in sorted(complete.accepted.keys() - now.accepted.keys()):
            if key in now.findings:
                yield f"No longer accepted: {_finding_text(key, histories)}."
    for words, names in (
        ("Missing", [n for n in now.missing if n not in before.missing]),
        ("No longer missing", [n for n in before.missing if n not in now.missing]),
    ):
        if names:
            yield f"{words}: {', '.join(names).replace('_', ' ')}."
    if before.columns and now.columns:
        for words, names in (
            ("added", [n for n in now.columns if n not in before.columns]),
            ("gone", [n for n in before.columns if n not in now.columns]),
        ):
            if names:
                yield f"Columns {words}: {listed(names)}."
    for what in ("config", "data"):
        old, new = (getattr(run, f"{what}_sha256") for run in (before, now))
        if old and new and old != new:
            yield "Other configuration." if what == "config" else "Other rows."
    if before.leaders and now.leaders:
        old, new = before.leaders[0].feature, now.leaders[0].feature
        if before.measure != now.measure:
            yield f"Other measure: {now.measure}."
        elif old != new:
            yield f"Leader: {quote(old)}, now {quote(new)}."


def _finding_text(key: str, histories: Mapping[str, FindingHistory]) -> str:
    finding = histories[key]
    return f"{finding.check} of {finding.subject}"


def _runs(
    runs: Sequence[RunSummary], histories: Mapping[str, FindingHistory]
) -> list[Row]:
    """Return one row per run with what it changed."""
    rows: list[Row] = []
    before: RunSummary | None = None
    complete: RunSummary | None = None
    for run in runs:
        changes = describe_changes(before, run, complete, histories) if before else ()
        code = run.exit_code if run.exit_code >= 0 else None
        rows.append(Row(run.started, run, code, changes=tuple(changes)))
        before = run
        complete = run if run.status == "complete" else complete
    return rows


def _merged(
    rows: Sequence[Row], events: Sequence[Mapping[str, Any]], *, is_all: bool
) -> Iterator[Row]:
    """Yield runs and, between them, what left none, in the order of the events.

    Where the events name no run yet, time decides. What is before the first of the
    rows is left out, unless these are all.
    """
    place = {row.run.run_id: n for n, row in enumerate(rows) if row.run}
    ends = [place[e["run"]] for e in events if _run_of(e, "run") in place]
    removed = {_run_of(event, "removed") for event in events} - {"", *place}
    between: dict[int, list[Row]] = {}
    at: int | None = None
    for event in _with_unfinished(events):
        if (name := _run_of(event, "run")) in place:
            at = place[name] + 1
        elif row := _attempt(event, removed):
            where = at
            if where is None:
                by_time = sum(other.time <= row.time for other in rows)
                where = min(by_time, *ends[:1], len(rows))
            between.setdefault(where, []).append(row)
    for n, run in enumerate(rows):
        yield from between.get(n, ()) if n or is_all else ()
        yield run
    yield from between.get(len(rows), ())


def _run_of(event: Mapping[str, Any], kind: str) -> str:
    """Return the run that a line of a kind names, "" if it is none."""
    return str(event["run"]) if event["kind"] == kind else ""


def _with_unfinished(
    events: Sequence[Mapping[str, Any]],
) -> Iterator[Mapping[str, Any]]:
    """Yield the events, a last attempt that has not ended among them."""
    began: Mapping[str, Any] | None = None
    for event in events:
        if event["kind"] in ("began", "died", *ENDED):
            began = event if event["kind"] == "began" else None
        yield event
    if began is not None:
        yield {**began, "kind": "under way"}


def _attempt(event: Mapping[str, Any], removed: set[str]) -> Row | None:
    """Return what an event says that no run folder does, None if it says nothing."""
    kind, time, message = event["kind"], event["time"], event.get("message", "")
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
        time = event["began"] if is_instant(event["began"]) else time
        return Row(time, note=f"{process} started and was killed")
    if kind == "under way":
        note = f"{process} on {event['host']} started and has not ended"
        return Row(time, note=note)
    return Row(time, note=message, is_attempt=False) if kind == "clock" else None
