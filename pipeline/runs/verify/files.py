"""What lies in a run folder, held against what lists it: files, page and print.

Shared by `run` and `signoffs`. Not: what else a run states.
"""

import re
import stat
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from ...records.errors import DataError
from ..files import path_in_run
from .pdf_reading import read_pdf
from .statements import Mismatch, compare_file, compare_printed_digest

SIGNED = re.compile(r"signed/[1-9][0-9]*/")
"""What sign-offs add to a finished run folder, each with a manifest of its own."""
SILENT = {"style", "script", "template"}


def read_file(path: Path) -> bytes:
    """Return the content of a file.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Name a folder below runs/, the "
            "folder of an audit, or a PDF report."
        ) from error


KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""What is neither a file nor a folder: to open it could wait for ever."""


def kind_of(path: Path, *, follow: bool = False) -> str:
    """Return which of `KINDS` a path is; empty for files, folders and nothing.

    A link is one itself unless `follow`.
    """
    try:
        mode = (path.stat() if follow else path.lstat()).st_mode
    except OSError:
        return ""
    return KINDS.get(stat.S_IFMT(mode), "")


def files_below(folder: Path) -> tuple[dict[str, Path], tuple[Mismatch, ...]]:
    """Return the files of a folder by their paths in it, and what are none."""
    files, others = {}, []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if kind := kind_of(path):
            others.append(Mismatch(name, "a file", kind))
        elif not path.is_dir():
            files[name] = path
    return files, tuple(others)


def compare_listed(
    stated: Mapping[str, Any], here: Mapping[str, Path], start: str
) -> Iterator[Mismatch]:
    """Yield where the files below a path are not those that its manifest lists."""
    entries = {f"{start}{file['path']}": file for file in stated["files"]}
    for path, file in entries.items():
        if path in here:
            yield from compare_file({**file, "path": path}, read_file(here[path]))
        else:
            yield Mismatch(path, f"SHA-256 {file['sha256']}", "no such file")
    entries[f"{start}manifest.json"] = {}
    for path in here.keys() - entries.keys():
        if path.startswith(start) and (start or not SIGNED.match(path)):
            yield Mismatch(path, "no file that manifest.json lacks", "one")


class _PageText(HTMLParser):
    """Reads what a page prints and the digest in its head."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = ""
        self.words: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the digest in the head; step into what is not shown."""
        attributes = dict(attrs)
        self.depth += tag in SILENT
        if tag == "meta" and attributes.get("name") == "content-digest":
            self.digest = attributes.get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        """Step out of what is not shown."""
        self.depth -= tag in SILENT

    def handle_data(self, data: str) -> None:
        """Keep what is shown."""
        if not self.depth:
            self.words += data.split()


def compare_page(data: bytes, path: str, digest: str) -> Iterator[Mismatch]:
    """Yield where a page has another content digest in its head or its text."""
    page = _PageText()
    page.feed(data.decode("utf-8", errors="replace"))
    if page.digest != digest:
        expected = f"content digest {digest} in its head"
        yield Mismatch(path, expected, page.digest or "none")
    if digest not in "".join(page.words):
        expected = f"content digest {digest} in its text"
        yield Mismatch(path, expected, "it nowhere")


def compare_pdf(
    data: bytes, path: str, digest: str, own: Mapping[str, Path], sound: set[str]
) -> Iterator[Mismatch]:
    """Yield where a PDF prints another digest, or carries other files than the run.

    `own` are the files of the run, `sound` the paths of those that are whole.
    """
    content = read_pdf(data, name=path)
    yield from compare_printed_digest(content, path, digest)
    for name, embedded in content.attachments:
        place = path_in_run(name)
        if place in sound and embedded != read_file(own[place]):
            yield Mismatch(f"{path}: {name}", "the file of the folder", "another")
        elif place not in own:
            yield Mismatch(f"{path}: {name}", "a file of the folder", "another")
