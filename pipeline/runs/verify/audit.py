"""Verification of an audit against its log: lines, runs, sign-offs, signatures.

Reads only. Somebody who can write all files can forge all of them; only a digest of the
log that is stored elsewhere, or a signature, shows that.
"""

import json
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from ..audit_log import LARGEST, LOG, Log, parse
from ..digests import Mismatch, read_regular, sha256, why
from ..files import HEAD
from ..folder import PART
from ..signoff.approvals import MEANINGS, PAGES, RUNS, page_text
from .renderings import read_page
from .run import compare_run
from .signatures import verify_signatures
from .verification import Verification

Found: TypeAlias = Mismatch | str
"""A mismatch, or a note."""
LARGEST_PAGE = 100_000_000
UNNAMED = "has not its name yet; the next run finishes it"
SECONDS = 0.2
"""Seconds between two checks of files that may be being written."""


def verify_audit(
    folder: Path, *, signers: Path | None = None, head: str = "", only: str = ""
) -> Verification:
    """Return the verification of an audit against its log.

    A mismatch counts only if a second check finds one in the same place: a run may have
    been written during the first.

    Parameters
    ----------
    folder : Path
        The folder with the log and runs/.
    signers, head, only
        As in `verify`.
    """
    first = _verify_once(folder, signers, head, only)
    if not first.mismatches:
        return first
    time.sleep(SECONDS)
    second = _verify_once(folder, signers, head, only)
    places = {item.file for item in first.mismatches}
    still = tuple(item for item in second.mismatches if item.file in places)
    return second._replace(mismatches=still)


def _verify_once(
    folder: Path, signers: Path | None, head: str, only: str
) -> Verification:
    names = _names(folder / RUNS)  # first: a folder is renamed after its log line
    try:
        log = parse(read_regular(folder / LOG, LARGEST))
    except OSError as error:
        missing = Mismatch(LOG, "the log of this audit", why(error))
        return Verification(0, "", (missing,))
    found: list[Found] = [*_of_log(log, head)]
    n_files, digest, n_runs = 0, "", 0
    removed = {entry["run"]: entry for entry in log.of("removed")}
    for entry in log.of("run"):
        name = entry["run"]
        if only not in ("", name):
            continue
        place = _place(name, names)
        where = f"{RUNS}/{place}/"
        if absence := _absence(folder, names, place, entry, removed.get(name)):
            found.append(absence)
            continue
        if name in removed:
            line = f"line {removed[name]['n']}"
            found.append(
                f"{RUNS}/{name} is there, although {line} says that it was removed"
            )
        run = compare_run(folder / where, where, entry)
        found += (*run.mismatches, *run.notes)
        if place != name and not run.mismatches:
            found.append(f"{RUNS}/{name} {UNNAMED}")
        if f"{where}{HEAD}" not in {item.file for item in run.mismatches}:
            found += _of_head(folder / where, where, entry, log)
        n_runs, n_files, digest = n_runs + 1, n_files + run.n_files, run.digest
    known = {entry["run"] for entry in log.of("run")}
    words = ("a run that the log names", "no line of it")
    if not only:
        found += _unlogged(RUNS, names, known, *words)
    elif only not in known:
        found.append(Mismatch(f"{RUNS}/{only}", *words))
    found += _of_lines(log)
    found += compare_signoffs(folder, log)
    found += verify_signatures(folder, log, signers)
    return Verification(
        n_files=n_files,
        digest=digest if only else "",
        mismatches=tuple(dict.fromkeys(i for i in found if isinstance(i, Mismatch))),
        notes=tuple(item for item in found if isinstance(item, str)),
        n_runs=n_runs,
        n_signoffs=len(log.of("signoff")),
        n_lines=len(log.lines),
        head=log.head["sha256"],
    )


def _names(folder: Path) -> set[str]:
    """Return the names in a folder, none if it is a link or does not exist."""
    try:
        links = folder.is_symlink()
        return set() if links else {path.name for path in folder.iterdir()}
    except OSError:
        return set()


def _of_log(log: Log, head: str) -> Iterator[Found]:
    """Yield the mismatches and notes on the log itself."""
    yield from log.faults
    if log.torn:
        found = f"{len(log.torn)} bytes without one, which the next run moves away"
        where = f"{LOG}: line {len(log.lines) + 1}"
        yield Mismatch(where, "a line with an end", found)
    if log.lines and (log.entries[0] or {}).get("kind") != "audit":
        yield Mismatch(f"{LOG}: line 1", "the name of the audit", "another line")
    if head and head not in map(sha256, log.lines):
        found = "none: the log was cut or written anew"
        yield Mismatch(LOG, f"a line with SHA-256 {head}", found)
    times = [entry["time"] for entry in log.events]
    latest = max(times, key=datetime.fromisoformat, default="")
    if times and latest != times[-1]:
        yield f"the clock went back: a line says {latest}, the last one {times[-1]}"


def _absence(
    folder: Path,
    names: set[str],
    place: str,
    entry: Mapping[str, Any],
    removed: Mapping[str, Any] | None,
) -> Found | None:
    """Return why the folder of a run, named `place`, cannot be verified, else None."""
    name, where = entry["run"], f"{RUNS}/{place}"
    line = f"line {entry['n']}"
    if {*name} & {"/", "\0"} or name in ("", ".", ".."):
        return Mismatch(f"{LOG}: {line}", f"the name of a folder below {RUNS}/", name)
    if place not in names and removed:
        return f"{where} was removed: {removed['why']}"
    if place in names and not (folder / where).is_symlink():
        return None
    actual = "a symbolic link" if place in names else "no such folder"
    return Mismatch(where, f"the run of {line}, list {entry['list']}", actual)


def _final(part: str) -> str:
    """Return the final name of a file or folder that is being written, else ""."""
    match = PART.fullmatch(part)
    return match[1] if match else ""


def _place(name: str, names: set[str]) -> str:
    """Return the name of a run or page, or the one that it has until it is whole."""
    parts = sorted(part for part in names if _final(part) == name)
    return parts[0] if parts and name not in names else name


def _of_head(
    run: Path, where: str, entry: Mapping[str, Any], log: Log
) -> Iterator[Found]:
    """Yield a mismatch if the log line that a run states as its head is another."""
    try:
        stated = json.loads(read_regular(run / HEAD, 1000))
    except (OSError, ValueError, RecursionError) as error:
        stated = why(error)
    number = stated.get("n") if isinstance(stated, dict) else 0
    # The line of a run whose log was empty is the second, after that of the audit.
    before = {"n": 0, "sha256": ""} if entry["n"] == 2 else object()
    if isinstance(number, int) and 0 < number < min(entry["n"], len(log.lines) + 1):
        before = {"n": number, "sha256": sha256(log.lines[number - 1])}
    if stated != before:
        expected = f"number and SHA-256 of a line before line {entry['n']} of {LOG}"
        yield Mismatch(f"{where}{HEAD}", expected, str(stated))


def _unlogged(
    folder: str, names: set[str], known: set[str], expected: str, found: str
) -> Iterator[Found]:
    """Yield the mismatches and notes on names in a folder without a line in the log."""
    for name in sorted(names - known):
        if _final(name) in known - names:
            continue  # it has its line, and is compared with it
        if name.startswith("."):
            yield f"{folder}/{name} is left by a killed process, or being written"
        else:
            yield Mismatch(f"{folder}/{name}", expected, found)


def _of_lines(log: Log) -> Iterator[Found]:
    """Yield a mismatch for each line that contradicts an earlier line about its run.

    A run is named again, its list or content differs, or a signed run is removed. A
    sign-off that `approve` would not write is one too.
    """
    lists: dict[str, str] = {}
    contents: dict[str, str] = {}
    signed: dict[str, int] = {}
    for entry in log.of("run", "signoff", "removed"):
        where, name = f"{LOG}: line {entry['n']}", entry["run"]
        if entry["kind"] == "run":
            if name in lists:
                yield Mismatch(where, "a run of its own", f"{name} once more")
            lists.setdefault(name, entry["list"])
            contents.setdefault(name, entry["content_digest"])
            continue
        if lists.get(name) != entry["list"]:
            expected = f"list {lists.get(name, 'of a run before it')} of run {name}"
            yield Mismatch(where, expected, entry["list"])
        if entry["kind"] == "signoff":
            signed.setdefault(name, entry["n"])
            if contents.get(name, entry["content_digest"]) != entry["content_digest"]:
                expected = f"content digest {contents[name]} of run {name}"
                yield Mismatch(where, expected, entry["content_digest"])
            if entry["meaning"] not in MEANINGS or not entry["name"].strip():
                found = f"{entry['meaning']!r} by {entry['name']!r}"
                yield Mismatch(
                    where, f"a name, and one of {', '.join(MEANINGS)}", found
                )
        elif name in signed:
            found = f"{name}, signed by line {signed[name]}"
            yield Mismatch(where, "the removal of an unsigned run", found)


def compare_signoffs(folder: Path, log: Log) -> Iterator[Found]:
    """Yield the mismatches and notes on the pages of sign-offs against their lines."""
    names = _names(folder / PAGES)
    pages = {f"{entry['n']}.html": entry for entry in log.of("signoff")}
    for name, entry in pages.items():
        place, line = _place(name, names), f"line {entry['n']}"
        where = f"{PAGES}/{place}"
        try:
            data = read_regular(folder / where, LARGEST_PAGE)
        except OSError as error:
            yield Mismatch(where, f"the page of {line}", why(error))
            continue
        if sha256(data) != entry["page"]:
            yield Mismatch(where, f"SHA-256 {entry['page']} ({line})", sha256(data))
        elif "".join(page_text(entry).split()) not in read_page(data)[1]:
            yield Mismatch(where, f"the words of {line} on it", "others")
        elif place != name:
            yield f"{PAGES}/{name} {UNNAMED}"
    known = {*pages}
    yield from _unlogged(PAGES, names, known, "the page of a line", "no such line")
