"""What the files of a run state of it and of each other, held against what is found.

Shared by `verify` (a run folder) and `verify.pdf` (a report alone). Not: files.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...records import as_json
from ...records.errors import DataError, quote
from .pdf_reading import PdfContent

FORMATS = {
    "manifest.json": ("importance-audit-manifest/1", "previous", "verdict"),
    "evidence.json": ("importance-audit-evidence/1",),
    "sign-off": ("importance-audit-signoff/1", "signoff_id", "parent_sha256", "trail"),
}
"""The format of each file that lists others, and what it must hold beside them."""
RUN = ("audit", "run_id", "content_digest")
TEXTS = {*RUN, "verdict", "signoff_id", "parent_sha256"}
OF_FILE = {"path": str, "bytes": int, "sha256": str}
UNCHECKED = (
    "not checked: whether the numbers come out again (verify --replay), whether the "
    "pages of the report show them beyond the content digest, and who signed (a "
    "detached signature is for the tool that made it)"
)
"""Of a run and an audit."""
IDENTIFIER = 16
"""Bytes of the content digest that name a PDF."""


class Mismatch(NamedTuple):
    """One thing that is not as it must be.

    Attributes
    ----------
    file : str
        Path below the run folder, or name of the embedded file.
    expected, actual : str
    """

    file: str
    expected: str
    actual: str

    def __str__(self) -> str:
        """Return it in one line."""
        line = f"{self.file}: expected {self.expected}, found {self.actual}"
        return " ".join(line.splitlines())


class Verification(NamedTuple):
    """What the verification of a run, of a PDF alone or of a whole audit found.

    Attributes
    ----------
    n_files : int
        How many files were hashed.
    digest : str
        The content digest, computed anew; empty where result.json is altered, and of
        an audit.
    mismatches : tuple of Mismatch
    notes : tuple of str
        What could not be checked here, and why.
    n_runs, n_signoffs : int, optional
        How many an audit has; None of a run and a PDF.
    unchecked : str
        What such a verification never checks, in one line.
    """

    n_files: int
    digest: str
    mismatches: tuple[Mismatch, ...]
    notes: tuple[str, ...] = ()
    n_runs: int | None = None
    n_signoffs: int | None = None
    unchecked: str = UNCHECKED

    @property
    def is_mismatch(self) -> bool:
        """Whether anything is not as it must be."""
        return bool(self.mismatches)

    def lines(self) -> tuple[str, ...]:
        """Return one line per mismatch and note, and the outcome."""
        outcome = f"match: {', '.join(self._covered())}"
        if self.mismatches:
            outcome = f"mismatch: {len(self.mismatches)} found"
        return (*map(str, self.mismatches), *self.notes, outcome)

    def _covered(self) -> Iterator[str]:
        """Yield what was looked at, counted."""
        counts = {
            "run": self.n_runs,
            "file": self.n_files,
            "sign-off": self.n_signoffs,
        }
        for what, n in counts.items():
            if n is not None:
                yield f"{n} {what}{'s' * (n != 1)}"
        if self.digest:
            yield f"content digest {self.digest}"


def read_statement(data: bytes, name: str, form: str = "") -> dict[str, Any]:
    """Return what manifest.json or evidence.json states, in a form of `FORMATS`.

    Raises
    ------
    DataError
        If it is not of the form this version knows.
    """
    kind, *more = FORMATS[form or name.rpartition("/")[2]]
    try:
        stated = json.loads(data)
        is_readable = stated["format"] == kind
        lacks = [key for key in (*RUN, *more) if key not in stated]
        for file in stated["files"]:
            lacks += [key for key in OF_FILE if key not in file]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{name} cannot be read as a list of files.") from error
    if not is_readable:
        raise DataError(
            f"{name} has format {quote(stated['format'])}; this version reads "
            f"{kind!r}. Use the version of importance-audit that wrote it."
        )
    if lacks:
        raise DataError(f"{name} lacks {quote(lacks[0])}.")
    for what in _mistyped(stated):
        raise DataError(f"{name} does not hold {what}.")
    return dict(stated)


def _mistyped(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a list of files must hold and, as only a hand can write it, lacks."""
    for key in TEXTS & stated.keys():
        if not isinstance(stated[key], str):
            yield f"a text as {quote(key)}"
    for file in stated["files"]:
        for key, kind in OF_FILE.items():
            if not isinstance(file[key], kind):
                yield (
                    f"{'a text' if kind is str else 'a number'} as {quote(key)} of a "
                    "file"
                )
    before = stated.get("previous")
    if before is not None and not (
        isinstance(before, dict)
        and all(isinstance(before.get(k), str) for k in ("run_id", "manifest_sha256"))
    ):
        yield "the run before by texts as 'run_id' and 'manifest_sha256'"
    inputs = stated.get("inputs", ())
    if not isinstance(inputs, list | tuple) or not all(
        isinstance(item, dict) for item in inputs
    ):
        yield "a list of objects as 'inputs'"


def parse_result(data: bytes, name: str) -> tuple[dict[str, Any], str]:
    """Return the document in result.json and its content digest, computed anew.

    Raises
    ------
    DataError
        If it is no result, or one of another major version.
    """
    try:
        document = json.loads(data)
        as_json.from_dict(document, name=name)
        return document, as_json.digest_of(document)
    except (
        *(ValueError, KeyError, TypeError, AttributeError, RecursionError),
    ) as error:
        raise DataError(
            f"{name} cannot be read as the result of an audit: {error}."
        ) from error


def compare_file(stated: Mapping[str, Any], data: bytes) -> Iterator[Mismatch]:
    """Yield how a file differs from what is stated of it."""
    digest = hashlib.sha256(data).hexdigest()
    if digest != stated["sha256"]:
        yield Mismatch(stated["path"], f"SHA-256 {stated['sha256']}", digest)
    elif len(data) != stated["bytes"]:
        expected = f"{stated['bytes']} bytes"
        yield Mismatch(stated["path"], expected, str(len(data)))


def compare_digest(document: Mapping[str, Any], digest: str) -> Iterator[Mismatch]:
    """Yield how the digest in result.json differs from that of its content."""
    stated = document.get("content_digest")
    if stated != digest:
        yield Mismatch("result.json", f"content digest {stated}", digest)


def compare_run(
    stated: Mapping[str, Any], name: str, document: Mapping[str, Any], digest: str
) -> Iterator[Mismatch]:
    """Yield where a list of files is about another run than result.json."""
    run = document["run"]
    own = {
        "audit": run["audit"],
        "run_id": run["volatile"].get("run_id"),
        "content_digest": digest,
    }
    for key, value in own.items():
        if stated[key] != value:
            words = key.replace("_", " ")
            yield Mismatch(name, f"{words} {value} (result.json)", str(stated[key]))


def compare_printed_digest(
    content: PdfContent, name: str, digest: str
) -> Iterator[Mismatch]:
    """Yield where a PDF prints another content digest, or is named after another."""
    identifier = digest[: 2 * IDENTIFIER]
    if content.identifier != identifier.encode():
        printed_identifier = (
            content.identifier.decode("ascii", "backslashreplace") or "none"
        )
        yield Mismatch(name, f"identifier {identifier}", printed_identifier)
    if digest not in content.text:
        yield Mismatch(name, f"content digest {digest} on its pages", "it nowhere")
