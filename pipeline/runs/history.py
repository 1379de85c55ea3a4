"""Results of the runs of an audit, in the order of their chain. Reads only.

Runs are read from their own folders. The findings of runs that are not read, or that
retention removed, come from the history.json of the newest run. Not: the changes of
each run (`timeline`).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import DataError
from .chain import read_chain, started_at
from .digests import LIST, list_of, read_regular, sha256, why
from .summary import (
    NO_HISTORY,
    FindingHistory,
    ResultSummary,
    RunHistory,
    RunSummary,
    read_history,
    read_summary,
    summarise,
)

LAST = 30
"""Number of earlier runs in the history of a run."""


class AuditRuns(NamedTuple):
    """The runs of an audit.

    Attributes
    ----------
    runs : tuple of RunSummary
        The last ones, oldest first.
    n_runs : int
        Number of runs with a folder.
    last_complete : str
        The last complete run, "" if there is none.
    findings : tuple of FindingHistory
        Every finding that any run made, in the order of its first run.
    gaps : tuple of str
        Breaks of the chain, and runs that are altered or cannot be read.
    removed : tuple of str
        Runs that retention removed.
    remembered : tuple of RunSummary
        Removed runs whose summary is in the history of a later run.
    n_gone : int
        Number of runs without a folder that the history of a later run counts.
    events : tuple of mapping
        All lines of the audit log that can be read.
    """

    runs: tuple[RunSummary, ...] = ()
    n_runs: int = 0
    last_complete: str = ""
    findings: tuple[FindingHistory, ...] = ()
    gaps: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    remembered: tuple[RunSummary, ...] = ()
    n_gone: int = 0
    events: tuple[Mapping[str, Any], ...] = ()


def load_history(audit_folder: Path) -> RunHistory:
    """Return the history of the runs of an audit, without its baseline.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    audit_runs = read_runs(audit_folder, last=LAST)
    n_runs = audit_runs.n_runs + audit_runs.n_gone
    names = [event["run"] for event in audit_runs.events if event["kind"] == "run"]
    runs = sorted(
        (*audit_runs.remembered, *audit_runs.runs),
        key=lambda run: names.index(run.run_id),
    )
    return RunHistory(None, tuple(runs[-LAST:]), n_runs, audit_runs.findings)


def read_runs(audit_folder: Path, *, last: int | None = None) -> AuditRuns:
    """Return the last runs of an audit, with the findings of all.

    Parameters
    ----------
    audit_folder : Path
    last : int, optional
        Number of runs to return, all by default. Findings of runs before the newest are
        taken from its history.json.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    folder = audit_folder.resolve()
    chain = read_chain(folder)
    names = [line["run"] for line in chain.order]
    shown = 0 if last is None else max(0, len(names) - last)
    start, past = _read_past(folder, names)
    first = min(start, shown)
    runs, faults, complete = [], list[str](), ""
    findings = {one.key: one for one in past.findings}
    in_last = {one.key for one in past.findings if one.in_last}
    for place, name in enumerate(names[first:], first):
        run = folder / "runs" / name
        found, fault = _read_found(run)
        if fault and not run.exists():  # removed after the chain was read
            continue
        faults += filter(None, (fault,))
        complete = name if found.status == "complete" else complete
        if place >= start and found.status == "complete":  # else `past` contains it
            in_last = {one.key for one in found.findings}
        if place >= shown:
            runs.append(_summary(chain.order[place], found))
        for one in found.findings:
            if one.key in findings and place < start:
                continue  # `past` has counted it
            none = FindingHistory(*one[:4], name, "", times=0, in_last=False)
            before = findings.get(one.key, none)
            times = before.times + (before.last_run != name)
            changes = {**one._asdict(), "last_run": name, "times": times}
            findings[one.key] = before._replace(**changes)
    complete = complete or last_complete(folder, names[:first])
    return AuditRuns(
        runs=tuple(runs),
        n_runs=len(names),
        last_complete=complete,
        findings=tuple(
            one._replace(in_last=one.key in in_last) for one in findings.values()
        ),
        gaps=(*chain.gaps, *faults),
        removed=chain.removed,
        remembered=tuple(run for run in past.runs if run.run_id in chain.removed),
        n_gone=max(0, past.n_runs - start),
        events=chain.log.events,
    )


def _read_past(folder: Path, names: Sequence[str]) -> tuple[int, RunHistory]:
    """Return a position among these runs, and the history stored by the run there.

    It is the newest run whose history.json is intact and covers every run that precedes
    it.
    """
    for place in range(len(names) - 1, -1, -1):
        run = folder / "runs" / names[place]
        with suppress(ValueError, DataError):
            data = _as_listed(run, "history.json", list_of(run))
            past = read_history(data.decode(), str(run / "history.json"))
            if past.n_runs >= place:
                return place, past
    return 0, NO_HISTORY


def last_complete(folder: Path, names: Sequence[str]) -> str:
    """Return the last of these runs that is complete, "" if none is."""
    for name in reversed(names):
        if _read_found(folder / "runs" / name)[0].status == "complete":
            return name
    return ""


def _read_found(run: Path) -> tuple[ResultSummary, str]:
    """Return the summary of a run, or an empty one and why it cannot be read.

    A run without history.json is summarised from its result.
    """
    try:
        listed = list_of(run)
        name = "history.json" if "history.json" in listed else "result.json"
        data, what = _as_listed(run, name, listed), f"{name} of run {run.name!r}"
        if name == "history.json":
            return read_summary(data, what), ""
        from ..records.as_json import loads

        return summarise(loads(data.decode("utf-8", "replace"), name=what)), ""
    except DataError as error:
        return ResultSummary(), str(error)


def _as_listed(run: Path, name: str, listed: Mapping[str, str]) -> bytes:
    """Return the content of a file of a run; raise if its digest is not the listed."""
    what = f"{name} of run {run.name!r}"
    try:
        data = read_regular(run / name)
    except OSError as error:
        raise DataError(f"{what} cannot be read: {why(error)}.") from error
    if sha256(data) != listed.get(name):
        raise DataError(
            f"{what} has SHA-256 {sha256(data)[:12]}…, not the one that its {LIST} "
            "states."
        )
    return data


def _summary(line: Mapping[str, Any], found: ResultSummary) -> RunSummary:
    """Return the summary of a run from its line in the log and its own summary."""
    named = started_at(line["run"])
    stated = {
        "run_id": line["run"],
        "started": found.started or (named.isoformat() if named else ""),
        "verdict": line["verdict"],
        "exit_code": line["exit_code"],
        "content_digest": line["content_digest"],
        "list_sha256": line["list"],
        "findings": {one.key: one.severity for one in found.findings},
    }
    return RunSummary(**found._asdict() | stated)
