"""The runs of an audit in the order of its log.

Neither times nor the names of folders affect the order. Not: the findings of a run
(`history`), or whether its other files are intact (`verify`).
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import DataError, quote
from .audit_log import LOG, Log, parse, read_log
from .digests import LARGEST_LIST, LIST, digest_of_file, why


class Chain(NamedTuple):
    """The runs of an audit in the order of its log.

    Attributes
    ----------
    order : tuple of mapping
        The log lines of the runs whose folder has the list of digests of its line.
    gaps : tuple of str
        Differences between log and folders, one sentence each.
    removed : tuple of str
        Runs that retention removed according to the log; they are not gaps.
    log : Log
    """

    order: tuple[Mapping[str, Any], ...] = ()
    gaps: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    log: Log = parse(b"")


def read_chain(audit_folder: Path) -> Chain:
    """Return the chain of the runs in the folder of an audit.

    Another process can rename or remove a run during the reading, so only a gap that
    is found twice counts.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    chain = _read_once(audit_folder)
    if not chain.gaps:
        return chain
    again = _read_once(audit_folder)
    return again._replace(gaps=tuple(gap for gap in again.gaps if gap in chain.gaps))


def _read_once(audit_folder: Path) -> Chain:
    names = run_folders(audit_folder)  # first: a folder is renamed after its log line
    try:
        log = read_log(audit_folder)
    except DataError as error:
        return Chain(gaps=(str(error),))
    removed = {entry["run"] for entry in log.of("removed")}
    gaps = [f"{fault}." for fault in log.faults]
    order, gone = [], []
    for entry in log.of("run"):
        name = entry["run"]
        fault = _fault_of(audit_folder / "runs" / name, entry)
        if not fault:
            order.append(entry)
        elif name in removed and name not in names:
            gone.append(name)
        elif not any((audit_folder / "runs").glob(f".{escape(name)}.*.part")):
            gaps.append(fault)  # else it has its line and is about to be renamed
    known = {entry["run"] for entry in log.of("run")}
    for name in (name for name in names if name not in known):
        gaps.append(f"Folder {quote(name)} in runs/ is no run that {LOG} names.")
    return Chain(tuple(order), tuple(gaps), tuple(gone), log)


def _fault_of(run: Path, entry: Mapping[str, Any]) -> str:
    """Return the sentence that a run folder does not match its log line, or ""."""
    line, name = f"line {entry['n']} of {LOG}", quote(entry["run"])
    if run.is_symlink() or not run.is_dir():
        return (
            f"Run {name} is missing: {line} names it, but its folder no longer exists."
        )
    try:
        digest = digest_of_file(run / LIST, LARGEST_LIST)
    except OSError as error:
        return f"{LIST} of run {name} cannot be read: {why(error)}."
    if digest == entry["list"]:
        return ""
    return (
        f"{LIST} of run {name} has SHA-256 {digest[:12]}…; {line} states "
        f"{entry['list'][:12]}…."
    )


def run_folders(audit_folder: Path) -> tuple[str, ...]:
    """Return the names of the run folders of an audit, without hidden ones.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    try:
        with os.scandir(audit_folder / "runs") as entries:
            names = [e.name for e in entries if e.name[0] != "." and e.is_dir()]
            return tuple(sorted(names))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise DataError(
            f"Folder {str(audit_folder / 'runs')!r} cannot be read: {error.strerror}."
        ) from error


def started_at(run_id: str) -> datetime | None:
    """Return the start of a run from its name, in UTC; None if the name has none.

    Examples
    --------
    >>> str(started_at("20251120T084600Z-3f9a1c2b")), started_at("mine")
    ('2025-11-20 08:46:00+00:00', None)
    """
    try:
        start = datetime.strptime(run_id[:16], "%Y%m%dT%H%M%SZ")
    except ValueError:
        return None
    return start.replace(tzinfo=UTC)


def is_run(folder: Path) -> bool:
    """Return whether a folder is a run folder, which has an audit.toml too."""
    return (folder / "result.json").is_file() and (folder / LIST).is_file()


def refuse_run_folder(folder: Path) -> None:
    """Refuse a run folder where the folder of an audit is needed.

    Raises
    ------
    DataError
        If the folder is a run folder; work in it would alter the run.
    """
    if is_run(folder):
        raise DataError(
            f"{str(folder)!r} is a run, not the folder of an audit. Name the folder "
            "above runs/."
        )
