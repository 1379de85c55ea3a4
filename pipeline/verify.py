"""Whether a run folder still says what the run found. Reads only.

A run is held against its own manifest, its renderings against the content digest of
its result, and its manifest against what the runs before and after it state. Who
wishes to deceive can write a whole folder anew; then only a run or a signature that
names the SHA-256 of its manifest tells. Not: computing anything again (`replay`).
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.errors import DataError
from pipeline.pdf_reading import read_pdf
from pipeline.result_json import from_dict
from pipeline.statements import (
    Mismatch,
    Verification,
    compared,
    own_digest,
    printed,
    same_run,
    statement,
    stored_result,
)
from pipeline.verify_pdf import verify_pdf

SIGNED = re.compile(r"signed/[0-9]+/")
"""What sign-offs add to a finished run folder, each with a manifest of its own."""
SILENT = {"style", "script", "template"}
RENDERINGS = re.compile(
    r"report\.(html|pdf)|figures/.*|models/.*|summary\..*|junit\.xml"
)


def verify(path: Path) -> Verification:
    """Return how a run folder, or a PDF report alone, compares with what it states.

    Raises
    ------
    DataError
        If it cannot be read as a run folder, or as a PDF report.
    """
    return verify_folder(path) if path.is_dir() else verify_pdf(path)


def verify_folder(folder: Path) -> Verification:
    """Return how a run compares with its manifest, its renderings and its neighbours.

    A file whose SHA-256 is not the stated one is named once and not read further.

    Raises
    ------
    DataError
        If a file that says what to expect, or a rendering, cannot be read.
    """
    folder = folder.resolve()
    data = _read(folder / "manifest.json")
    manifest = statement(data, "manifest.json")
    here = _below(folder)
    wrong = [*_listed(manifest, here, ""), *_signed(here), *_chain(folder, data)]
    sound = here.keys() - {item.file for item in wrong}
    digest, notes = "", []
    if "result.json" in sound:
        document, digest = stored_result(_read(here["result.json"]), "result.json")
        wrong += own_digest(document, digest)
        wrong += same_run(manifest, "manifest.json", document, digest)
        wrong += _facts(manifest, document, folder.resolve())
        wrong += _page(here, sound, digest)
        wrong += _evidence(here, sound, document, digest)
        wrong += _print(here, sound, digest)
    else:
        notes.append("result.json is altered: what renderings print was not compared")
    if "evidence.json" not in here:
        notes.append("evidence.json: not in this folder")
    return Verification(len(manifest["files"]), digest, tuple(wrong), tuple(notes))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} must be a file of a run, but it cannot be read: "
            f"{error.strerror}. Name a folder below runs/, or a PDF report."
        ) from error


def _below(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their paths in it."""
    found = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return {path.relative_to(folder).as_posix(): path for path in found}


def _listed(
    stated: Mapping[str, Any], here: Mapping[str, Path], below: str
) -> Iterator[Mismatch]:
    """Yield where the files below a path are not those that its manifest lists."""
    listed = {f"{below}{file['path']}": file for file in stated["files"]}
    for path, file in listed.items():
        if path in here:
            yield from compared({**file, "path": path}, _read(here[path]))
        else:
            yield Mismatch(path, f"SHA-256 {file['sha256']}", "no such file")
    listed[f"{below}manifest.json"] = {}
    for path in here.keys() - listed.keys():
        if path.startswith(below) and (below or not SIGNED.match(path)):
            yield Mismatch(path, "no file that manifest.json lacks", "one")


def _signed(here: Mapping[str, Path]) -> Iterator[Mismatch]:
    """Yield where what sign-offs added is not what its own manifest lists."""
    for below in sorted({m[0] for path in here if (m := SIGNED.match(path))}):
        path = f"{below}manifest.json"
        if path in here:
            yield from _listed(statement(_read(here[path]), path), here, below)
        else:
            yield Mismatch(path, "the manifest of a sign-off", "no such file")


def _chain(folder: Path, data: bytes) -> Iterator[Mismatch]:
    """Yield where the run before is not as stated, or this one not as the next says."""
    own = hashlib.sha256(data).hexdigest()
    previous = statement(data, "manifest.json")["previous"]
    if previous is not None:
        yield from _before(folder, previous)
    for path in sorted(folder.parent.glob("[!.]*/manifest.json")):
        with suppress(DataError):  # what another folder lacks is not asked here
            later = statement(path.read_bytes(), "manifest.json")["previous"] or {}
            stated = later.get("manifest_sha256")
            if later.get("run_id") == folder.name and stated != own:
                expected = f"SHA-256 {stated}, as run {path.parent.name} states"
                yield Mismatch("manifest.json", expected, own)


def _before(folder: Path, previous: Mapping[str, str]) -> Iterator[Mismatch]:
    """Yield a gap: the run before is gone, or its manifest is another one."""
    try:
        name, stated = previous["run_id"], previous["manifest_sha256"]
    except (KeyError, TypeError) as error:
        raise DataError(
            "manifest.json must name the run before by run_id and manifest_sha256, "
            "but it does not."
        ) from error
    path = folder.parent / PurePosixPath(name).name / "manifest.json"
    expected = f"the run before with SHA-256 {stated}"
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        yield Mismatch(f"../{name}/manifest.json", expected, "a gap: no such file")
        return
    if found != stated:
        yield Mismatch(f"../{name}/manifest.json", expected, found)


def _facts(
    manifest: Mapping[str, Any], document: Mapping[str, Any], folder: Path
) -> Iterator[Mismatch]:
    """Yield what the manifest says in short, and the result or the folder otherwise.

    A folder outside runs/ may have any name: somebody was given it.
    """
    result = from_dict(document)
    if folder.parent.name == "runs" and manifest["run_id"] != folder.name:
        expected = f"run id {folder.name} (the folder)"
        yield Mismatch("manifest.json", expected, manifest["run_id"])
    if manifest["verdict"] != result.verdict:
        expected = f"verdict {result.verdict!r} (result.json)"
        yield Mismatch("manifest.json", expected, repr(manifest["verdict"]))
    known = {str(item.get("sha256")) for item in manifest.get("inputs", ())}
    for row in result.datasets.to_dict("records"):
        if row["sha256"] not in known:
            expected = f"input {row['name']} with SHA-256 {row['sha256']} (result.json)"
            yield Mismatch("manifest.json", expected, "no such input")


class _Words(HTMLParser):
    """Reads what a page prints and the digest in its head."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = ""
        self.words: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the digest in the head; step into what is not shown."""
        given = dict(attrs)
        self.depth += tag in SILENT
        if tag == "meta" and given.get("name") == "content-digest":
            self.digest = given.get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        """Step out of what is not shown."""
        self.depth -= tag in SILENT

    def handle_data(self, data: str) -> None:
        """Keep what is shown."""
        if not self.depth:
            self.words += data.split()


def _page(here: Mapping[str, Path], sound: set[str], digest: str) -> Iterator[Mismatch]:
    """Yield where report.html has another content digest in its head or its text."""
    if "report.html" not in sound:
        return
    page = _Words()
    page.feed(_read(here["report.html"]).decode("utf-8", errors="replace"))
    if page.digest != digest:
        expected = f"content digest {digest} in its head"
        yield Mismatch("report.html", expected, page.digest or "none")
    if digest not in "".join(page.words):
        expected = f"content digest {digest} in its text"
        yield Mismatch("report.html", expected, "it nowhere")


def _print(
    here: Mapping[str, Path], sound: set[str], digest: str
) -> Iterator[Mismatch]:
    """Yield where report.pdf prints another digest or carries other files."""
    if "report.pdf" not in sound:
        return
    content = read_pdf(_read(here["report.pdf"]), name="report.pdf")
    yield from printed(content, "report.pdf", digest)
    for name, data in content.attachments:
        if name in sound and data != _read(here[name]):
            yield Mismatch(f"report.pdf: {name}", "the file of the folder", "another")
        elif name not in here:
            yield Mismatch(f"report.pdf: {name}", "a file of the folder", "another")


def _evidence(
    here: Mapping[str, Path], sound: set[str], document: Mapping[str, Any], digest: str
) -> Iterator[Mismatch]:
    """Yield where evidence.json is about another run, or lists other files."""
    if "evidence.json" not in sound:
        return
    stated = statement(_read(here["evidence.json"]), "evidence.json")
    yield from same_run(stated, "evidence.json", document, digest)
    listed = {file["path"]: file for file in stated["files"]}
    for path, file in listed.items():
        if path in sound:
            for item in compared(file, _read(here[path])):
                yield Mismatch("evidence.json", f"{path}: {item.expected}", item.found)
        elif path not in here:
            expected = f"{path} with SHA-256 {file['sha256']}"
            yield Mismatch("evidence.json", expected, "no such file")
    for path in sorted(sound - listed.keys() - {"evidence.json", "manifest.json"}):
        if not RENDERINGS.fullmatch(path) and not SIGNED.match(path):
            yield Mismatch("evidence.json", f"an entry for {path}", "none")
