"""The result of a run and what shows it, page and print, held against each other.

Not: whether their files are as listed (`run`), or whether numbers come out again.
"""

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser

from ...records import as_json
from ...records.errors import DataError
from ...records.result import AuditResult
from ..digests import LIST, Mismatch, sha256
from ..files import attached_list, path_in_run
from .pdf_reading import PdfContent, read_pdf

SILENT = {"style", "script", "template"}
IDENTIFIER = 32
"""Hex digits of the content digest that name a PDF."""


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


def read_page(data: bytes) -> tuple[str, str]:
    """Return the digest in the head of a page, and what it prints without blanks."""
    page = _PageText()
    page.feed(data.decode("utf-8", errors="replace"))
    return page.digest, "".join(page.words)


def parse_result(data: bytes, name: str) -> tuple[AuditResult, str, str]:
    """Return the result in result.json, its content digest, and the one it states.

    The first digest is computed anew.

    Raises
    ------
    DataError
        If it is no result, or one of another major version.
    """
    try:
        document = json.loads(data)
        result = as_json.from_dict(document, name=name)
        stated = str(document.get("content_digest"))
        return result, as_json.digest_of(document), stated
    except (
        *(ValueError, KeyError, TypeError, AttributeError, RecursionError),
    ) as error:
        raise DataError(
            f"{name} cannot be read as the result of an audit: {error}."
        ) from error


def compare_page(data: bytes, path: str, digest: str) -> Iterator[Mismatch]:
    """Yield where a page has another content digest in its head or its text."""
    head, text = read_page(data)
    if head != digest:
        yield Mismatch(path, f"content digest {digest} in its head", head or "none")
    if digest not in text:
        expected = f"content digest {digest} in its text"
        yield Mismatch(path, expected, "it nowhere")


def compare_pdf(
    data: bytes, path: str, digest: str, listed: Mapping[str, str]
) -> Iterator[Mismatch]:
    """Yield where a PDF prints another digest, or carries other files than its run.

    `listed` are the digests of the files of the run.
    """
    content = read_pdf(data, name=path)
    yield from compare_printed_digest(content, path, digest)
    carried = {**listed, LIST: sha256(attached_list(listed))}
    for name, embedded in content.attachments:
        stated = carried.get(path_in_run(name))
        if embedded is None or sha256(embedded) != stated:
            yield Mismatch(f"{path}: {name}", "the file of the run", "another")


def compare_printed_digest(
    content: PdfContent, name: str, digest: str
) -> Iterator[Mismatch]:
    """Yield where a PDF prints another content digest, or is named after another."""
    identifier = digest[:IDENTIFIER]
    if content.identifier != identifier.encode():
        printed_identifier = (
            content.identifier.decode("ascii", "backslashreplace") or "none"
        )
        yield Mismatch(name, f"identifier {identifier}", printed_identifier)
    if digest not in content.text:
        yield Mismatch(name, f"content digest {digest} on its pages", "it nowhere")


def named_digest(content: PdfContent) -> str:
    """Return the content digest on the pages of a PDF that its identifier begins."""
    start = content.identifier.decode("ascii", "replace")
    if not re.fullmatch(rf"[0-9a-f]{{{IDENTIFIER}}}", start):
        return ""
    match = re.search(rf"{start}[0-9a-f]{{{64 - IDENTIFIER}}}", content.text)
    return match[0] if match else ""
