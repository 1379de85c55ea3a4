"""Whether sign-offs are as they were signed: the trail, its copies, and what it covers.

Each record names the line before, each copy in a run folder repeats the trail so far,
and each manifest written later states how the trail began. So one changed byte, one
line or one folder is told by the others. Who can write all of them can make them all
agree: only a copy elsewhere, or a signature by an outside tool, tells then.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...records.errors import DataError
from ..events import EVENTS
from ..manifest import is_sealed
from ..signoff.record import DETACHED, Signoff, place_of
from ..signoff.signoff_trail import TRAIL, read_if_present, read_trail, sha256
from .files import SIGNED, compare_listed, compare_page, compare_pdf, read_file
from .statements import Mismatch, read_statement

SIGNATURE = "signature/"
"""Where in the folder of a sign-off a detached signature lies."""
KNOWN = re.compile(rf"{TRAIL}|{EVENTS}|runs/[^/]+/signed/[1-9][0-9]*/manifest\.json")


class RunFiles(NamedTuple):
    """A run as its sign-offs are to know it.

    Attributes
    ----------
    here : mapping of str to Path
        Its files, and those that sign-offs added.
    stated : mapping
        What its manifest says.
    sha256 : str
        The SHA-256 of its manifest.
    audit : Path, optional
        The folder of its audit, None for a folder that was handed on.
    """

    here: Mapping[str, Path]
    stated: Mapping[str, Any]
    sha256: str
    audit: Path | None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its sign-offs, as far as there are folders."""
        folders = {m[0] for path in self.here if (m := SIGNED.match(path))}
        return tuple(sorted(int(start.split("/")[1]) for start in folders))


def verify_signoffs(run: RunFiles) -> Iterator[Mismatch]:
    """Yield what of the sign-offs of a run, and of the trail, is not as it must be."""
    copies = {}
    for number in run.numbers:
        wrong = tuple(_folder(run, number))
        yield from wrong
        path = f"signed/{number}/{TRAIL}"
        if path in run.here and path not in {item.file for item in wrong}:
            copies[path] = read_file(run.here[path])
    name, data = _trail(run, copies)
    yield from trail_faults(data, name)
    yield from _records(run, data, name)
    for path, copy in copies.items():
        yield from _compare_copy(data, name, copy, path)


def trail_faults(data: bytes, name: str) -> Iterator[Mismatch]:
    """Yield where the chain of a trail is broken."""
    for fault in read_trail(data).faults:
        yield Mismatch(f"{name}: line {fault.line}", fault.expected, fault.actual)


def compare_anchors(
    stated: Mapping[str, Any], name: str, audit: Path, start: str
) -> Iterator[Mismatch]:
    """Yield where a trail no longer begins as a manifest says it did.

    `start` leads from where mismatches count their paths to the folder of the audit.
    """
    try:
        anchors = {
            str(path): (int(entry["bytes"]), str(entry["sha256"]))
            for path, entry in stated["trail"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{name} does not state bytes and sha256 of each file of its trail."
        ) from error
    for path, (size, digest) in anchors.items():
        if not KNOWN.fullmatch(path) or ".." in path.split("/"):
            yield Mismatch(name, "a trail of known files", path)
            continue
        data = read_if_present(audit / path)
        when = f"as when {name} was written"
        if len(data) < size:
            expected = f"at least {size} bytes, {when}"
            yield Mismatch(f"{start}{path}", expected, str(len(data)))
        elif sha256(data[:size]) != digest:
            expected = f"SHA-256 {digest} of its first {size} bytes, {when}"
            yield Mismatch(f"{start}{path}", expected, sha256(data[:size]))


def _trail(run: RunFiles, copies: Mapping[str, bytes]) -> tuple[str, bytes]:
    """Return the trail that counts and its name: the longest copy, if handed on."""
    if run.audit is not None:
        return f"../../{TRAIL}", read_if_present(run.audit / TRAIL)
    return max(copies.items(), key=lambda item: len(item[1]), default=(TRAIL, b""))


def _records(run: RunFiles, data: bytes, name: str) -> Iterator[Mismatch]:
    """Yield where records about this run say another thing, or lack their folder."""
    own = [
        (line, record)
        for line, record in enumerate(read_trail(data).records, start=1)
        if record is not None and record.run_id == run.stated["run_id"]
    ]
    for number, (line, record) in enumerate(own, start=1):
        yield from _record(run, record, f"{name}: line {line}", number)
        if number not in run.numbers:
            expected = f"what was signed by line {line} of {name}"
            yield Mismatch(f"signed/{number}/manifest.json", expected, "no such file")


def _record(
    run: RunFiles, record: Signoff, where: str, number: int
) -> Iterator[Mismatch]:
    """Yield where a record is about another content, manifest or number."""
    expected = {
        "signoff_id": f"{run.stated['run_id']}/{number}",
        "content_digest": run.stated["content_digest"],
        "manifest_sha256": run.sha256,
    }
    for key, value in expected.items():
        if getattr(record, key) != value:
            yield Mismatch(where, f"{key} {value} (the run)", getattr(record, key))


def _compare_copy(data: bytes, name: str, copy: bytes, path: str) -> Iterator[Mismatch]:
    """Yield the first line at which the trail is not as a sign-off copied it."""
    if data.startswith(copy):
        return
    lines, copied = data.split(b"\n"), copy.split(b"\n")[:-1]
    for number, line in enumerate(copied, start=1):
        trail_line = lines[number - 1] if number < len(lines) else None
        if trail_line != line:
            expected = f"SHA-256 {sha256(line)}, as {path} has it"
            there = "no such line" if trail_line is None else sha256(trail_line)
            yield Mismatch(f"{name}: line {number}", expected, there)
            return


def _folder(run: RunFiles, number: int) -> Iterator[Mismatch]:
    """Yield where the folder of a sign-off is not as its manifest and the run say."""
    start = f"signed/{number}/"
    path = f"{start}manifest.json"
    if path not in run.here:
        yield Mismatch(path, "the manifest of a sign-off", "no such file")
        return
    data = read_file(run.here[path])
    try:
        stated = read_statement(data, path, "sign-off")
        wrong = [
            *compare_listed(stated, run.here, start),
            *_compare_manifest(run, stated, data, start),
        ]
        yield from wrong
        yield from _compare_renderings(run, start, {item.file for item in wrong})
        yield from _signer(run, stated, start, {item.file for item in wrong})
    except DataError as error:
        yield Mismatch(path, "the manifest of a sign-off", str(error))


def _compare_manifest(
    run: RunFiles, stated: Mapping[str, Any], data: bytes, start: str
) -> Iterator[Mismatch]:
    """Yield where the manifest of a sign-off says another thing than the run."""
    path = f"{start}manifest.json"
    number = start.split("/")[1]
    expected = {
        **{key: run.stated[key] for key in ("audit", "run_id", "content_digest")},
        "signoff_id": f"{run.stated['run_id']}/{number}",
        "parent_sha256": run.sha256,
    }
    for key, value in expected.items():
        if stated[key] != value:
            yield Mismatch(path, f"{key} {value} (the run)", str(stated[key]))
    if not is_sealed(data):
        yield Mismatch(path, "the seal of its own lines", "another")
    for name in {"report.html", TRAIL} - {file["path"] for file in stated["files"]}:
        yield Mismatch(path, f"an entry for {name}", "none")
    if run.audit is not None:
        yield from compare_anchors(stated, path, run.audit, "../../")


def _compare_renderings(
    run: RunFiles, start: str, wrong: set[str]
) -> Iterator[Mismatch]:
    """Yield where what was signed prints another content digest than the run."""
    digest = str(run.stated["content_digest"])
    sound = {path for path in run.here if not SIGNED.match(path)}
    page, pdf = f"{start}report.html", f"{start}report.pdf"
    if page in run.here.keys() - wrong:
        yield from compare_page(read_file(run.here[page]), page, digest)
    if pdf in run.here.keys() - wrong:
        yield from compare_pdf(read_file(run.here[pdf]), pdf, digest, run.here, sound)


def _signer(
    run: RunFiles, stated: Mapping[str, Any], start: str, wrong: set[str]
) -> Iterator[Mismatch]:
    """Yield where the last line of a copy is not the record of its folder."""
    path = f"{start}{TRAIL}"
    if path not in run.here or path in wrong:
        return
    records = read_trail(read_file(run.here[path])).records
    last = records[-1] if records else None
    expected = f"runs/{run.stated['run_id']}/{start}".rstrip("/")
    if last is None or place_of(last) != expected:
        signoff_id = last.signoff_id if last else "none"
        yield Mismatch(path, f"the record of {start} in its last line", signoff_id)
        return
    match = DETACHED.fullmatch(last.method)
    files = [f for f in stated["files"] if f["path"].startswith(SIGNATURE)]
    digests = [file["sha256"] for file in files]
    if digests != ([match[2]] if match else []):
        expected = f"the signature that {path} names by its SHA-256"
        yield Mismatch(f"{start}{SIGNATURE}", expected, f"{len(digests)} files")
