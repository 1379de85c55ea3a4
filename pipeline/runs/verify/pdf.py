"""Verification of a PDF report without its run folder."""

from pathlib import Path

from ...records.errors import DataError
from ..digests import LIST, Mismatch, read_list, read_regular, sha256, why
from ..files import path_in_run
from .pdf_reading import read_pdf
from .renderings import compare_printed_digest, named_digest, parse_result
from .verification import Verification

LARGEST = 1_000_000_000
"""Maximum size in bytes of a PDF that is read."""
CHECKED = (
    f"checked: the attached files against the attached {LIST}, and the content digest "
    "on the pages"
)
UNCHECKED = (
    "not checked: everything else on the pages, the numbers, and who signed: verify "
    f"the run folder, whose {LIST} has the SHA-256 of report.pdf"
)


def verify_pdf(path: Path) -> Verification:
    """Return the verification of the files that a PDF report carries.

    The attached SHA256SUMS lists the files of the run: attached files are hashed, the
    others are named in notes. The content digest of the attached result.json is
    compared with the pages and the identifier of the PDF. If a large result is not
    attached, the digest on the pages is compared with the identifier.

    Raises
    ------
    DataError
        If it cannot be read, or is not a PDF.
    """
    try:
        data = read_regular(path.resolve(), LARGEST)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read as a PDF report: {why(error)}."
        ) from error
    if not data.startswith(b"%PDF-"):
        raise DataError(
            f"{path} is no PDF, and no other file can be checked alone. Name the run "
            "folder that holds it."
        )
    content = read_pdf(data, name=str(path))
    names, intact, wrong = [], dict[str, bytes](), []
    for name, embedded in content.attachments:
        names.append(name)
        if embedded is None:
            wrong.append(Mismatch(name, "an intact embedded file", "a damaged one"))
        elif name in intact:
            wrong.append(Mismatch(name, "it once in the PDF", "it twice"))
        else:
            intact[name] = embedded
    listed: dict[str, str] = {}
    try:
        listed = read_list(intact.pop(LIST, b""))
    except ValueError as error:
        wrong.append(Mismatch(LIST, "the list of the files of the run", str(error)))
    if LIST not in names:
        wrong.append(Mismatch(LIST, "it in the PDF", "nothing"))
    elif "result.json" not in listed:
        wrong.append(Mismatch(LIST, "a line for result.json", "none"))
    for name, embedded in intact.items():
        stated = listed.get(path_in_run(name))
        if stated is None:
            wrong.append(Mismatch(name, f"no file that {LIST} lacks", "one"))
        elif sha256(embedded) != stated:
            wrong.append(Mismatch(name, f"SHA-256 {stated}", sha256(embedded)))
    digest = named_digest(content)
    if "result.json" in intact.keys() - {item.file for item in wrong}:
        _, digest, stated = parse_result(intact["result.json"], "result.json")
        if stated != digest:
            wrong.append(Mismatch("result.json", f"content digest {stated}", digest))
    if digest:
        wrong += compare_printed_digest(content, path.name, digest)
    else:
        expected = "a content digest that its identifier begins, on its pages"
        wrong.append(Mismatch(path.name, expected, "none"))
    carried = {path_in_run(name) for name in names}
    notes = tuple(f"{name}: not in the PDF" for name in listed if name not in carried)
    return Verification(
        len(names), digest, tuple(wrong), (*notes, CHECKED), unchecked=UNCHECKED
    )
