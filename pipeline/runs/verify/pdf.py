"""Whether a PDF report still carries what it states: no run folder is needed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...records.errors import DataError, several
from ..files import path_in_run
from ..pdf_seal import Seal, read_seal
from .files import kind_of
from .pdf_reading import PdfContent, read_pdf
from .statements import (
    Mismatch,
    Verification,
    compare_digest,
    compare_file,
    compare_printed_digest,
    compare_run,
    parse_result,
    read_statement,
)

SOUND = "an intact embedded file"
WITHOUT_SEAL = (
    "checked: the attachments and the content digest on the pages",
    "not checked: everything else on the pages, the numbers, and who signed: verify "
    "the run folder, which states the SHA-256 of report.pdf",
)
"""Of a PDF as releases before seals wrote it: what was checked, and what was not."""
WITH_SEAL = (
    "checked: every byte of the file against its seal, the attachments, and the "
    "content digest on the pages",
    "not checked: the numbers, who signed, and whether somebody changed the file and "
    "sealed it again: verify the run folder, which states the SHA-256 of report.pdf",
)


def verify_pdf(path: Path) -> Verification:
    """Return how what a PDF report carries compares with what it states of it.

    Its evidence.json lists the files of the run; those the PDF carries are hashed, the
    others are told. The content digest of its result.json, or the stated one where a
    large result is not embedded, is held against its pages and its identifier. Its
    seal covers every byte; evidence.json says whether there must be one.

    Raises
    ------
    DataError
        If it cannot be read, or is no PDF.
    """
    if kind := kind_of(path, follow=True):
        raise DataError(f"{path} cannot be read as a PDF report: it is {kind}.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read as a PDF report: {error.strerror}."
        ) from error
    content = read_pdf(data, name=str(path))
    seal = read_seal(data)
    sound, wrong = _carried(content)
    wrong += _compare_seal(seal, path.name)
    names = {name for name, _ in content.attachments}
    if "evidence.json" not in sound:
        if "evidence.json" not in names:
            wrong.append(Mismatch("evidence.json", "it in the PDF", "nothing"))
        return Verification(len(names), "", tuple(wrong), unchecked=WITHOUT_SEAL[1])
    stated = read_statement(sound["evidence.json"], "evidence.json")
    if "pdf_seal" in stated and not seal.stated:
        expected = "the seal that evidence.json names"
        wrong.append(Mismatch(path.name, expected, "none: the file was rewritten"))
    listed = {file["path"]: file for file in stated["files"]}
    wrong += _embedded(listed, sound)
    digest = stated["content_digest"]
    if "result.json" in sound.keys() - {item.file for item in wrong}:
        document, digest = parse_result(sound["result.json"], "result.json")
        wrong += compare_digest(document, digest)
        wrong += compare_run(stated, "evidence.json", document, digest)
    wrong += compare_printed_digest(content, path.name, digest)
    carried = {path_in_run(name) for name in names}
    notes = tuple(f"{path}: not in the PDF" for path in listed if path not in carried)
    checked, unchecked = WITH_SEAL if seal.stated else WITHOUT_SEAL
    return Verification(
        len(names), digest, tuple(wrong), (*notes, checked), unchecked=unchecked
    )


def _compare_seal(seal: Seal, name: str) -> Iterator[Mismatch]:
    """Yield where a PDF is not as it was sealed."""
    if seal.n_appended:
        actual = f"{several(seal.n_appended, 'byte')} appended to it"
        yield Mismatch(name, f"the end of the file sealed {seal.stated}", actual)
    elif seal.stated != seal.actual:
        yield Mismatch(name, f"seal {seal.stated} of the whole file", seal.actual)


def _carried(content: PdfContent) -> tuple[dict[str, bytes], list[Mismatch]]:
    """Return the embedded files that are whole, and a line for each that is not."""
    sound: dict[str, bytes] = {}
    wrong = []
    for name, data in content.attachments:
        if data is None:
            wrong.append(Mismatch(name, SOUND, "a damaged one"))
        elif name in sound:
            wrong.append(Mismatch(name, "it once in the PDF", "it twice"))
        else:
            sound[name] = data
    return sound, wrong


def _embedded(
    listed: Mapping[str, Mapping[str, Any]], sound: Mapping[str, bytes]
) -> Iterator[Mismatch]:
    """Yield how embedded files differ from what evidence.json states of them."""
    if "result.json" not in listed:
        yield Mismatch("evidence.json", "an entry for result.json", "none")
    for name, data in sound.items():
        path = path_in_run(name)
        if path in listed:
            yield from compare_file({**listed[path], "path": name}, data)
        elif name != "evidence.json":
            yield Mismatch(name, "no file that evidence.json lacks", "one")
