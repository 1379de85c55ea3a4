"""What the runs of an audit found, in the order of their chain, from an index.

The run folders are the truth; the index only spares reading them again. A run is read
anew when its manifest is another file than the one that was read: by time, size or
inode. So whoever fills the index, and whenever it was killed, no answer depends on it.
"""

import hashlib
import json
import logging
import math
import os
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import DataError
from .chain import (
    Chain,
    Link,
    Manifest,
    build_chain,
    read_events_or_fault,
    read_manifest,
    run_folders,
)
from .index_schema import with_index
from .signoff.closed_findings import NOT_ESTABLISHED
from .summary import (
    NO_HISTORY,
    VERDICTS,
    FindingHistory,
    Leader,
    ResultSummary,
    RunHistory,
    RunSummary,
    read_history,
    read_summary,
    summarise,
)

log = logging.getLogger(__name__)

LAST = 30
"""How many runs before it a run keeps."""
EXIT_CODES, UNKNOWN = (0, 1, 2, 3, 4, 5, 130), -1
BATCH = 200
"""Runs written at once: what a process that is killed has read so far is not lost."""


class AuditRuns(NamedTuple):
    """The runs of an audit.

    Attributes
    ----------
    runs : tuple of RunSummary
        The last ones, oldest first.
    n_runs : int
        How many there are in all.
    last_complete : str
        The last run that came to its end, "" if none did.
    findings : tuple of FindingHistory
        Every finding above a note that any run made, in the order of its first run.
    gaps : tuple of str
        Where the chain is broken, or a run is not as it was written.
    removed : tuple of str
        Runs that retention removed and others name.
    n_gone : int
        How many more there were before the last that was removed, as the one after it
        remembers.
    notes : tuple of str
        What of stored runs this version cannot read, and why there is no index.
    events : tuple of mapping
        What `read_events` returned.
    """

    runs: tuple[RunSummary, ...] = ()
    n_runs: int = 0
    last_complete: str = ""
    findings: tuple[FindingHistory, ...] = ()
    gaps: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    n_gone: int = 0
    notes: tuple[str, ...] = ()
    events: tuple[Mapping[str, Any], ...] = ()


class _StoredRun(NamedTuple):
    """One run as it was read: `fault` is a gap, `unread` only a note."""

    manifest: Manifest
    signature: str
    summary: ResultSummary
    fault: str
    unread: str


class _RemovedRuns(NamedTuple):
    """What the run at a place of the chain knew of those before it."""

    place: int
    history: RunHistory


def load_history(audit_folder: Path) -> RunHistory:
    """Return what is known of the runs of an audit; the baseline is not looked up.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    audit_runs = read_runs(audit_folder, last=LAST)
    for note in audit_runs.notes:
        log.warning(note)
    n_runs = audit_runs.n_runs + audit_runs.n_gone
    return RunHistory(
        None, audit_runs.runs, n_runs, audit_runs.findings, audit_runs.gaps
    )


def read_runs(
    audit_folder: Path, *, last: int | None = None, rebuild: bool = False
) -> AuditRuns:
    """Return the last runs of an audit, with what is known of all.

    Parameters
    ----------
    audit_folder : Path
    last : int, optional
        How many runs are told in full; all by default.
    rebuild : bool
        Whether every run is read anew, whatever the index holds.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    folder = audit_folder.resolve()
    ask = partial(_answer, folder=folder, last=last)
    audit_runs, why = with_index(folder.parent, ask, rebuild=rebuild)
    return audit_runs._replace(notes=(*audit_runs.notes, *filter(None, (why,))))


def _answer(db: sqlite3.Connection, *, folder: Path, last: int | None) -> AuditRuns:
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA temp_store = MEMORY")
    faults = _refresh(db, folder)
    with _transaction(db, "DEFERRED"):  # one state of the index for all questions
        return _runs_in_index(db, folder, faults, last)


@contextmanager
def _transaction(db: sqlite3.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _refresh(db: sqlite3.Connection, folder: Path) -> dict[str, str]:
    """Read what the index lacks; return why run folders are no runs, by their names.

    What the index knows is asked before the folder is: a run that is known and no
    longer there is gone, not one that another process has added in between.
    """
    audit, faults = _utf8(folder.name), dict[str, str]()
    rows = db.execute(
        "SELECT run_id, signature, fault FROM run WHERE audit = ?", (audit,)
    )
    index_rows = {name: (signature, fault) for name, signature, fault in rows}
    there = {name: _signature(folder, name) for name in run_folders(folder)}
    stale = [
        n for n in there if not there[n] or index_rows.get(_utf8(n)) != (there[n], "")
    ]
    gone = index_rows.keys() - {_utf8(name) for name in there}
    new_runs = _readable(folder, stale, there, faults)
    while batch := list(islice(new_runs, BATCH)):
        with _transaction(db, "IMMEDIATE"):
            for run in batch:
                _write(db, audit, run)
    gone |= {_utf8(name) for name in faults} & index_rows.keys()
    if gone:
        with _transaction(db, "IMMEDIATE"):
            sql = "DELETE FROM run WHERE audit = ? AND run_id = ?"
            db.executemany(sql, ((audit, name) for name in gone))
    return faults


def _signature(folder: Path, name: str) -> str:
    """Return what tells a manifest from the one that was read, "" if there is none."""
    try:
        facts = os.stat(f"{folder}/runs/{name}/manifest.json")
    except OSError:
        return ""
    return f"{facts.st_mtime_ns}:{facts.st_size}:{facts.st_ino}"


def _readable(
    folder: Path,
    names: Iterable[str],
    signatures: Mapping[str, str],
    faults: dict[str, str],
) -> Iterator[_StoredRun]:
    """Yield the runs of these names; note in `faults` why others cannot be read."""
    for name in names:
        try:
            manifest = read_manifest(folder / "runs" / name)
        except FileNotFoundError:  # removed since the folder was read
            continue
        except DataError as error:
            faults[name] = str(error)
            continue
        summary, fault, unread = _summary_or_fault(folder / "runs" / name, manifest)
        yield _StoredRun(manifest, signatures[name], summary, fault, unread)


def _summary_or_fault(
    folder: Path, manifest: Manifest
) -> tuple[ResultSummary, str, str]:
    """Return what a run found; or nothing and why: altered, or not to be read here."""
    if (verdict := manifest.facts.get("verdict")) not in VERDICTS:
        stated = f"states {verdict!r}, which is not a verdict."
        return ResultSummary(), f"manifest.json of run {folder.name!r} {stated}", ""
    listed = _listed(manifest.facts)
    name = "history.json" if "history.json" in listed else "result.json"
    what = f"{name} of run {folder.name!r}"
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        fault = f"{what} cannot be read: {error.strerror}."
        return ResultSummary(), fault, ""
    digest = hashlib.sha256(data).hexdigest()
    if digest != listed.get(name):
        fault = (
            f"{what} has SHA-256 {digest[:12]}…, not the one that its manifest.json "
            "states."
        )
        return ResultSummary(), fault, ""
    try:
        return _brief(data, name, what), "", ""
    except DataError as error:
        return ResultSummary(), "", str(error)


def _brief(data: bytes, name: str, what: str) -> ResultSummary:
    """Return what a run says of itself; of one that kept no past, from its result."""
    if name == "history.json":
        return read_summary(data, what)
    from ..records.as_json import loads

    return summarise(loads(data.decode("utf-8", "replace"), name=what))


def _listed(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of the files a manifest lists; none if nobody can read it."""
    with suppress(KeyError, TypeError):
        return {str(file["path"]): str(file["sha256"]) for file in facts["files"]}
    return {}


def _write(db: sqlite3.Connection, audit: str, run: _StoredRun) -> None:
    """Put a run in the place of what the index held of it."""
    link, facts, summary = *run.manifest, run.summary
    code, verdict = facts.get("exit_code"), facts.get("verdict")
    row = {
        "audit": audit,
        **link._asdict(),
        "signature": run.signature,
        "started": summary.started or _start_of(link.run_id),
        "status": summary.status,
        "verdict": verdict if verdict in VERDICTS else NOT_ESTABLISHED,
        "exit_code": code if code in EXIT_CODES else UNKNOWN,
        "content_digest": str(facts.get("content_digest", "")),
        "measure": summary.measure,
        "config_sha256": summary.config_sha256,
        "data_sha256": summary.data_sha256,
        "fault": run.fault,
        "unread": run.unread,
        "columns": json.dumps(summary.columns),
        "missing": json.dumps(summary.missing),
    }
    sql = "DELETE FROM run WHERE audit = ? AND run_id = ?"
    db.execute(sql, _bound((audit, link.run_id)))
    sql = f"INSERT INTO run ({', '.join(row)}) VALUES ({_marks(row)})"
    number = db.execute(sql, _bound(row.values())).lastrowid
    for table, records in (("finding", summary.findings), ("leader", summary.leaders)):
        for n, record in enumerate(records):
            plain = (json.dumps(v) if isinstance(v, tuple) else v for v in record)
            values = _bound((number, n, *plain))
            db.execute(f"INSERT INTO {table} VALUES ({_marks(values)})", values)


def _runs_in_index(
    db: sqlite3.Connection, folder: Path, faults: dict[str, str], last: int | None
) -> AuditRuns:
    """Return what the index says of an audit, in the order of its chain."""
    audit = _bound((folder.name,))
    sql = "SELECT id, run_id, manifest_sha256, previous, previous_sha256, fault, unread"
    rows = db.execute(f"{sql} FROM run WHERE audit = ?", audit).fetchall()
    events = read_events_or_fault(folder, faults)
    chain = build_chain((Link(*row[1:5]) for row in rows), events, faults)
    _place(db, chain, {row[1]: row[0] for row in rows})
    first = 0 if last is None else max(0, len(chain.order) - last)
    names, complete = [link.run_id for link in chain.order], _last_complete(db)
    removed = _read_removed_runs(folder, chain.order)
    return AuditRuns(
        runs=_runs(db, first),
        n_runs=len(names),
        last_complete="" if complete is None else names[complete],
        findings=_findings(db, names, complete, removed),
        gaps=(*chain.gaps, *filter(None, (row[5] for row in rows))),
        removed=chain.removed,
        n_gone=max(0, removed.history.n_runs - removed.place),
        notes=tuple(filter(None, (row[6] for row in rows))),
        events=events,
    )


def _place(db: sqlite3.Connection, chain: Chain, numbers: Mapping[str, int]) -> None:
    """Make a table of the places of runs in their chain, for this connection alone."""
    db.execute("CREATE TEMP TABLE place (of_run INTEGER PRIMARY KEY, place INTEGER)")
    rows = ((numbers[link.run_id], n) for n, link in enumerate(chain.order))
    db.executemany("INSERT INTO place VALUES (?, ?)", rows)


def _runs(db: sqlite3.Connection, first: int) -> tuple[RunSummary, ...]:
    """Return the runs from a place on."""
    leaders, findings = defaultdict(list), defaultdict[int, dict[str, str]](dict)
    sql = _in_order("run, feature, value, low, high, rank", "leader")
    for number, feature, *estimate in db.execute(sql, (first,)):
        values = (math.nan if value is None else value for value in estimate)
        leaders[number].append(Leader(feature, *values))
    sql = _in_order("run, key, severity", "finding")
    for number, key, severity in db.execute(sql, (first,)):
        findings[number][key] = severity
    texts = ("started", "status", "verdict", "exit_code", "content_digest")
    digests = ("manifest_sha256", "measure", "config_sha256", "data_sha256")
    names = ("run_id", *texts, *digests)
    sql = _in_order(", ".join(("id", "columns", "missing", *names)), "run")
    return tuple(
        RunSummary(
            **dict(zip(names, row, strict=True)),
            leaders=tuple(leaders[number]),
            findings=findings[number],
            columns=tuple(json.loads(columns)),
            missing=tuple(json.loads(missing)),
        )
        for number, columns, missing, *row in db.execute(sql, (first,))
    )


def _in_order(names: str, table: str) -> str:
    """Return the question for columns of the runs from a place on."""
    number, within = ("id", "") if table == "run" else ("run", ", position")
    names = f"SELECT {names} FROM {table} JOIN place ON of_run = {number}"
    return f"{names} WHERE place >= ? ORDER BY place{within}"


def _last_complete(db: sqlite3.Connection) -> int | None:
    """Return the place of the last run that came to its end, None if none did."""
    sql = "SELECT max(place) FROM run JOIN place ON of_run = id WHERE status = ?"
    ((place,),) = db.execute(sql, ("complete",))
    return None if place is None else int(place)


def _findings(
    db: sqlite3.Connection,
    names: list[str],
    complete: int | None,
    removed: _RemovedRuns,
) -> tuple[FindingHistory, ...]:
    """Return every finding as it was made last, with its runs, given their names."""
    histories = {
        one.key: one._replace(in_last=False) for one in removed.history.findings
    }
    sql = _in_order('place, engines, key, "check", subject, severity', "finding")
    for place, engines, key, check, subject, severity in db.execute(
        sql, (removed.place,)
    ):
        run, before = names[place], histories.get(key)
        first, times = (before.first_run, before.times) if before else (run, 0)
        times += before is None or before.last_run != run  # once a run at most
        histories[key] = FindingHistory(
            *(key, check, subject, severity, first, run, times),
            in_last=place == complete,
            engines=tuple(json.loads(engines)),
        )
    return tuple(histories.values())


def _start_of(run_id: str) -> str:
    """Return the instant in the name of a run as an ISO text, "" if there is none."""
    try:
        start = datetime.strptime(run_id[:16], "%Y%m%dT%H%M%SZ")
    except ValueError:
        return ""
    return start.replace(tzinfo=UTC).isoformat()


def _bound(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as SQLite takes them: halves of characters escaped."""
    return tuple(_utf8(v) if isinstance(v, str) else v for v in values)


def _marks(values: Collection[Any]) -> str:
    return ", ".join("?" * len(values))


def _utf8(text: Any) -> str:
    return str(text).encode("utf-8", "backslashreplace").decode()


def _read_removed_runs(folder: Path, order: Sequence[Link]) -> _RemovedRuns:
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
                return _RemovedRuns(
                    place, _listed_history(folder / "runs" / link.run_id)
                )
    return _RemovedRuns(0, NO_HISTORY)


def _listed_history(run: Path) -> RunHistory:
    """Return the past that a run kept, if it is as its manifest states."""
    files = read_manifest(run).facts["files"]
    data = (run / "history.json").read_bytes()
    entry = {"path": "history.json", "sha256": hashlib.sha256(data).hexdigest()}
    if not any(entry.items() <= dict(file).items() for file in files):
        raise DataError(f"{run / 'history.json'} is not as its manifest.json states.")
    return read_history(data.decode(), str(run / "history.json"))
