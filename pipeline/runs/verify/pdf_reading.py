"""What a PDF report carries and prints: embedded files, identifier, text.

The only user of pikepdf, which is imported late: audits and their reports do without.
Not: whether what it carries is right (`pdf`).
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

from ...records.errors import DataError

CODE_BYTES = 2
"""Bytes of a character code: the fonts of our reports are all Identity-H."""
REMEDY = "Install it: pip install 'pikepdf>=6.0', or apt-get install python3-pikepdf."
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, RuntimeError)
"""What reading raises where a damaged file has, say, a number for a dictionary."""


class PdfContent(NamedTuple):
    """What is read of a PDF.

    Attributes
    ----------
    identifier : bytes
        What names the document for good: the first 16 bytes of its content digest.
    text : str
        What the pages print, without white space; characters no font explains are
        left out.
    attachments : tuple of (str, bytes or None)
        File name and content, in the order of the PDF; None if it cannot be
        unpacked.
    """

    identifier: bytes
    text: str
    attachments: tuple[tuple[str, bytes | None], ...]


def read_pdf(data: bytes, *, name: str = "report.pdf") -> PdfContent:
    """Return what a PDF carries and prints.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call it.

    Raises
    ------
    DataError
        If pikepdf is not there, or if it is no PDF or a damaged one.
    """
    try:
        import pikepdf
    except ImportError as error:
        raise DataError(
            f"{name} cannot be read without pikepdf: {error}. {REMEDY}"
        ) from error
    try:
        # What is damaged is told, not repaired.
        with pikepdf.open(BytesIO(data), attempt_recovery=False) as pdf:
            identifier = bytes(pdf.trailer.get("/ID", [b""])[0])
            return PdfContent(identifier, _text(pdf), tuple(_attachments(pdf)))
    except (pikepdf.PdfError, pikepdf.PasswordError, *MALFORMED) as error:
        words = re.sub(
            r"<_io\.BytesIO object at \w+>:? *", "", str(error)
        )  # our buffer
        why = " ".join(words.split()).rstrip(".")
        raise DataError(f"{name} is not a complete PDF: {why}.") from error


def _attachments(pdf: Any) -> Iterator[tuple[str, bytes | None]]:
    """Yield the embedded files by the name of the file; None for a damaged one.

    The name in the tree is another one where WeasyPrint below 61 wrote it.
    """
    import pikepdf

    for key in pdf.attachments:
        spec, content = pdf.attachments[key], None
        with suppress(pikepdf.PdfError, RuntimeError, KeyError, zlib.error):
            stream = spec.obj["/EF"]["/F"]
            if stream.get("/Filter") == pikepdf.Name.FlateDecode:
                # qpdf passes over a wrong check sum at the end of what it unpacks.
                content = zlib.decompress(stream.read_raw_bytes())
            else:
                content = bytes(stream.read_bytes())
        yield spec.filename or key, content


def _text(pdf: Any) -> str:
    """Return what the pages print, in the order it is drawn."""
    import pikepdf

    texts: list[str] = []
    for page in pdf.pages:
        fonts: Mapping[str, Any] = page.obj.get("/Resources", {}).get("/Font", {})
        maps = {name: _characters(font) for name, font in fonts.items()}
        characters: Mapping[bytes, str] = {}
        for operands, operator in pikepdf.parse_content_stream(page, "Tf Tj TJ"):
            if str(operator) == "Tf":
                characters = maps.get(str(operands[0]), {})
            elif str(operator) in {"Tj", "TJ"}:  # TJ: several, with shifts between
                drawn = operands[0]
                parts = [drawn] if isinstance(drawn, pikepdf.String) else drawn
                for codes in (bytes(p) for p in parts if isinstance(p, pikepdf.String)):
                    starts = range(0, len(codes), CODE_BYTES)
                    pieces = (codes[at : at + CODE_BYTES] for at in starts)
                    texts += (characters.get(code, "").strip() for code in pieces)
    return "".join(texts)


def _characters(font: Any) -> dict[bytes, str]:
    """Return the character of each code of a font, as the font itself says it."""
    if "/ToUnicode" not in font:
        return {}
    table = font["/ToUnicode"].read_bytes().decode("latin-1")
    characters: dict[bytes, str] = {}
    for block in re.findall(r"beginbfchar(.*?)endbfchar", table, re.DOTALL):
        for code, text in re.findall(r"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            words = bytes.fromhex(text).decode("utf-16-be", errors="replace")
            characters[bytes.fromhex(code)] = words
    for block in re.findall(r"beginbfrange(.*?)endbfrange", table, re.DOTALL):
        pattern = r"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>"
        for first, last, text in re.findall(pattern, block):
            for step in range(int(last, 16) - int(first, 16) + 1):
                code = (int(first, 16) + step).to_bytes(len(first) // 2, "big")
                characters[code] = chr(int(text, 16) + step)
    return characters
