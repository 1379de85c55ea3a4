"""Comparison of the result of a run with its HTML page and its PDF.

Not: whether the files are as listed (`run`), or recomputation of the numbers.
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
    """Parser for the visible text of a page and the digest in its head."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = ""
        self.words: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store the digest in the head; count open elements that are not shown."""
        attributes = dict(attrs)
        self.depth += tag in SILENT
        if tag == "meta" and attributes.get("name") == "content-digest":
            self.digest = attributes.get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        """Count down the open elements that are not shown."""
        self.depth -= tag in SILENT

    def handle_data(self, data: str) -> None:
        """Store the words that are shown."""
        if not self.depth:
            self.words += data.split()


def read_page(data: bytes) -> tuple[str, str]:
    """Return the digest in the head of a page, and its visible text without blanks."""
    page = _PageText()
    page.feed(data.decode("utf-8", errors="replace"))
    return page.digest, "".join(page.words)


def parse_result(data: bytes, name: str) -> tuple[AuditResult, str, str]:
    """Return the result in result.json, its computed and its stated content digest.

    Raises
    ------
    DataError
        If it is not a result, or has another major version.
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
    """Yield a mismatch if the head or the text of a page lacks the content digest."""
    head, text = read_page(data)
    if head != digest:
        yield Mismatch(path, f"content digest {digest} in its head", head or "none")
    if digest not in text:
        expected = f"content digest {digest} in its text"
        yield Mismatch(path, expected, "it nowhere")


def compare_pdf(
    data: bytes, path: str, digest: str, listed: Mapping[str, str]
) -> Iterator[Mismatch]:
    """Yield the mismatches of a PDF with the content digest and the files of its run.

    `listed` has the digests of the files of the run.
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
    """Yield the mismatches of the identifier and the text of a PDF with the digest."""
    identifier = digest[:IDENTIFIER]
    if content.identifier != identifier.encode():
        printed_identifier = (
            content.identifier.decode("ascii", "backslashreplace") or "none"
        )
        yield Mismatch(name, f"identifier {identifier}", printed_identifier)
    if digest not in content.text:
        yield Mismatch(name, f"content digest {digest} on its pages", "it nowhere")


def named_digest(content: PdfContent) -> str:
    """Return the content digest on the pages that begins with the identifier, or ""."""
    start = content.identifier.decode("ascii", "replace")
    if not re.fullmatch(rf"[0-9a-f]{{{IDENTIFIER}}}", start):
        return ""
    match = re.search(rf"{start}[0-9a-f]{{{64 - IDENTIFIER}}}", content.text)
    return match[0] if match else ""
