"""The chain of runs of an audit: each manifest names the run before and its digest.

It is the trail of an audit, whatever the clock said and the folders are called. Not:
what a run found (`history`), or whether its other files are whole (`verify`).
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..records.errors import DataError, listed, quote
from .events import read_events

MANIFEST = "importance-audit-manifest/1"


class Link(NamedTuple):
    """One run of the chain.

    Attributes
    ----------
    run_id : str
        Also the name of its folder.
    manifest_sha256 : str
        The digest of its manifest.json as it is now.
    previous, previous_sha256 : str
        The run before and the digest of its manifest, as this one states them; empty
        if it states none.
    """

    run_id: str
    manifest_sha256: str
    previous: str = ""
    previous_sha256: str = ""


class Chain(NamedTuple):
    """The runs of an audit in the order in which they follow one another.

    Attributes
    ----------
    order : tuple of Link
        Each after the one it names; the last is the one that the next run names.
    gaps : tuple of str
        Where the chain is broken, one sentence each.
    removed : tuple of str
        Runs that others name and that retention removed, as it said: no gaps.
    """

    order: tuple[Link, ...] = ()
    gaps: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Manifest(NamedTuple):
    """What the manifest of a run states, and its place in the chain."""

    link: Link
    facts: Mapping[str, Any]


def read_chain(audit_folder: Path) -> Chain:
    """Return the chain of the runs in the folder of an audit.

    Raises
    ------
    DataError
        If the folder of its runs cannot be read.
    """
    links, faults = [], {}
    for name in run_folders(audit_folder):
        try:
            links.append(read_manifest(audit_folder / "runs" / name).link)
        except FileNotFoundError:  # removed since the folder was read
            continue
        except DataError as error:
            faults[name] = str(error)
    return build_chain(links, read_events_or_fault(audit_folder, faults), faults)


def read_events_or_fault(
    folder: Path, faults: dict[str, str]
) -> tuple[dict[str, Any], ...]:
    """Return the events of an audit; if nobody can read them, none, and the fault.

    They only help to tell what became of a run: without them the chain still is one.
    """
    try:
        return read_events(folder)
    except DataError as error:
        faults[""] = str(error)
        return ()


def run_folders(audit_folder: Path) -> tuple[str, ...]:
    """Return the names of the run folders of an audit, hidden ones left out.

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


def is_run(folder: Path) -> bool:
    """Return whether a folder is that of a run, which holds an audit.toml too."""
    return all((folder / name).is_file() for name in ("manifest.json", "result.json"))


def refuse_run_folder(folder: Path) -> None:
    """Raise if a folder is that of a run: to work in it would alter the run.

    Raises
    ------
    DataError
        If it is.
    """
    if is_run(folder):
        raise DataError(
            f"{str(folder)!r} is a run, not the folder of an audit. Name the folder "
            "above runs/."
        )


def read_manifest(folder: Path) -> Manifest:
    """Return what the manifest of a run folder states.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    DataError
        If it has no manifest, or one that cannot be read or is of another run.
    """
    name = folder.name
    path = folder / "manifest.json"
    if path.exists() and (path.is_symlink() or not path.is_file()):
        raise DataError(f"Run {quote(name)} has a manifest.json that is not a file.")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise
        raise DataError(f"Run {quote(name)} has no manifest.json.") from error
    except OSError as error:
        raise DataError(
            f"Run {quote(name)} has a manifest.json that cannot be read: "
            f"{error.strerror}."
        ) from error
    return _parse_manifest(name, data)


def _parse_manifest(name: str, data: bytes) -> Manifest:
    """Return what a manifest states, if it is that of the run of this name."""
    subject = f"manifest.json of run {quote(name)}"
    try:
        facts = json.loads(data)
        kind, run_id, before = facts["format"], facts["run_id"], facts["previous"] or {}
        previous = (before["run_id"], before["manifest_sha256"]) if before else ("", "")
        is_text = all(isinstance(text, str) for text in (kind, run_id, *previous))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{subject} does not state its own run and the previous one."
        ) from error
    if not is_text:
        raise DataError(f"{subject} identifies a run by something other than text.")
    if kind != MANIFEST:
        raise DataError(
            f"{subject} has format {kind!r}; this version reads {MANIFEST!r}. Use the "
            "version of importance-audit that wrote it."
        )
    if run_id != name:
        raise DataError(
            f"Folder {quote(name)} holds the manifest.json of run {run_id!r}. Move "
            "copies out of runs/."
        )
    return Manifest(Link(name, hashlib.sha256(data).hexdigest(), *previous), facts)


def build_chain(
    links: Iterable[Link],
    events: Iterable[Mapping[str, Any]] = (),
    faults: Mapping[str, str] | None = None,
) -> Chain:
    """Return the chain that runs make.

    Where a run is missing, what follows cannot be tied to what was before; then the
    order of the events decides, and without events the names, which are times.

    Parameters
    ----------
    links : iterable of Link
        Runs in any order.
    events : iterable of mapping
        What `read_events` returned.
    faults : mapping of str to str
        Why a run folder, by its name, is no link.
    """
    faults, events = faults or {}, tuple(events)
    by_name = {link.run_id: link for link in sorted(links)}
    ended = {event.get("run_id"): n for n, event in _of(events, "ended")}
    removed = {event.get("run_id"): event for _, event in _of(events, "removed")}
    names = {*by_name, *faults}
    gone = {
        link.previous: link
        for link in by_name.values()
        if link.previous and link.previous not in names
    }
    removed_names = tuple(
        n for n, by in gone.items() if _is_recorded_removal(removed.get(n), by)
    )
    gaps = (
        *faults.values(),
        *(
            _gone(n, by, removed.get(n))
            for n, by in gone.items()
            if n not in removed_names
        ),
        *_ended_and_gone({*ended} - {*names, *gone, *removed}),
        *_altered(by_name),
        *_forked(by_name.values()),
    )
    return Chain(_sort_links(by_name, ended), gaps, removed_names)


def _of(
    events: Sequence[Mapping[str, Any]], kind: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the events of a kind that name a run, with their places."""
    for n, event in enumerate(events):
        name = event.get("run_id")
        if event["event"] == kind and isinstance(name, str) and name:
            yield n, event


def _is_recorded_removal(removal: Mapping[str, Any] | None, by: Link) -> bool:
    """Return whether retention removed the run that another one names."""
    facts = removal or {}
    return bool(facts.get("manifest_sha256") == by.previous_sha256)


def _gone(name: str, by: Link, removal: Mapping[str, Any] | None) -> str:
    why = (
        "retention removed another of its name"
        if removal
        else ("its folder no longer exists")
    )
    return f"Run {quote(name)} is missing: run {by.run_id!r} refers to it, but {why}."


def _ended_and_gone(names: Iterable[Any]) -> Iterator[str]:
    """Yield runs that ended, and that nothing after them could name."""
    for name in sorted(names):
        yield (
            f"Run {quote(name)} is missing: events.jsonl says that it ended, but its "
            "folder no longer exists."
        )


def _altered(by_name: Mapping[str, Link]) -> Iterator[str]:
    """Yield runs whose manifest is not the one that the run after them names."""
    for link in by_name.values():
        before = by_name.get(link.previous)
        if before and before.manifest_sha256 != link.previous_sha256:
            yield (
                f"manifest.json of run {before.run_id!r} has "
                f"{before.manifest_sha256[:12]}…; run {link.run_id!r} states SHA-256 "
                f"{link.previous_sha256[:12]}…."
            )


def _forked(links: Iterable[Link]) -> Iterator[str]:
    """Yield runs of which only one can have followed the run before."""
    after = defaultdict(list)
    for link in links:
        after[link.previous].append(link.run_id)
    for name, names in after.items():
        if len(names) > 1:
            what = (
                f"name {quote(name)} as the previous run"
                if name
                else "name no previous run"
            )
            yield f"Runs {listed(names)} do not form a sequence: all {what}."


def _sort_links(
    by_name: Mapping[str, Link], ended: Mapping[Any, int]
) -> tuple[Link, ...]:
    """Return runs, each after the one it names, the branch that grew last at the end.

    Runs that name each other in a circle, which only a hand can write, come first.
    """
    after = defaultdict(list)
    for link in by_name.values():
        after[link.previous if link.previous in by_name else ""].append(link)
    links = list(after[""])
    for link in links:  # grows while it is walked
        links += after[link.run_id]
    newest: dict[str, tuple[int, str]] = {}
    for link in reversed(links):
        tips = [newest[next_.run_id] for next_ in after[link.run_id]]
        newest[link.run_id] = max([(ended.get(link.run_id, -1), link.run_id), *tips])

    def grew(link: Link) -> tuple[int, bool, str]:
        place, name = newest[link.run_id]
        return place, bool(link.previous), name

    order, to_do = [], sorted(after[""], key=grew, reverse=True)
    while to_do:
        link = to_do.pop()
        order.append(link)
        to_do += sorted(after[link.run_id], key=grew, reverse=True)
    return (*(by_name[n] for n in by_name if n not in newest), *order)
