"""Reading a PDF report: embedded files, identifier, text.

Only this file uses pikepdf, and imports it on demand: audits and reports do not need
it. Not: checking the content (`pdf`).
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
"""Errors of reading a damaged file, such as one with a number for a dictionary."""


class PdfContent(NamedTuple):
    """The content of a PDF.

    Attributes
    ----------
    identifier : bytes
        The permanent identifier: the first 16 bytes of the content digest.
    text : str
        The text of the pages, without white space and without characters that no font
        maps to Unicode.
    attachments : tuple of (str, bytes or None)
        File name and content, in the order of the PDF; None if it cannot be
        decompressed.
    """

    identifier: bytes
    text: str
    attachments: tuple[tuple[str, bytes | None], ...]


def read_pdf(data: bytes, *, name: str = "report.pdf") -> PdfContent:
    """Return the content of a PDF.

    Parameters
    ----------
    data : bytes
    name : str
        The name of the PDF in messages.

    Raises
    ------
    DataError
        If pikepdf is not installed, or if it is not a PDF or a damaged one.
    """
    try:
        import pikepdf
    except ImportError as error:
        raise DataError(
            f"{name} cannot be read without pikepdf: {error}. {REMEDY}"
        ) from error
    try:
        # Damage is reported, not repaired.
        with pikepdf.open(BytesIO(data), attempt_recovery=False) as pdf:
            identifier = bytes(pdf.trailer.get("/ID", [b""])[0])
            return PdfContent(identifier, _text(pdf), tuple(_attachments(pdf)))
    except (pikepdf.PdfError, pikepdf.PasswordError, *MALFORMED) as error:
        # qpdf prints the name of our buffer.
        words = re.sub(r"<_io\.BytesIO object at \w+>:? *", "", str(error))
        why = " ".join(words.split()).rstrip(".")
        raise DataError(f"{name} is not a complete PDF: {why}.") from error


def _attachments(pdf: Any) -> Iterator[tuple[str, bytes | None]]:
    """Yield the name and content of the embedded files; None for a damaged one.

    With WeasyPrint below 61 the key in the name tree is not the file name.
    """
    import pikepdf

    for key in pdf.attachments:
        spec, content = pdf.attachments[key], None
        with suppress(pikepdf.PdfError, RuntimeError, KeyError, zlib.error):
            stream = spec.obj["/EF"]["/F"]
            if stream.get("/Filter") == pikepdf.Name.FlateDecode:
                # qpdf ignores a wrong checksum at the end of compressed data.
                content = zlib.decompress(stream.read_raw_bytes())
            else:
                content = bytes(stream.read_bytes())
        yield spec.filename or key, content


def _text(pdf: Any) -> str:
    """Return the text of the pages, in the order in which it is drawn."""
    import pikepdf

    texts: list[str] = []
    for page in pdf.pages:
        fonts: Mapping[str, Any] = page.obj.get("/Resources", {}).get("/Font", {})
        maps = {name: _characters(font) for name, font in fonts.items()}
        characters: Mapping[bytes, str] = {}
        for operands, operator in pikepdf.parse_content_stream(page, "Tf Tj TJ"):
            if str(operator) == "Tf":
                characters = maps.get(str(operands[0]), {})
            elif str(operator) in {"Tj", "TJ"}:  # TJ: several strings, with shifts
                drawn = operands[0]
                parts = [drawn] if isinstance(drawn, pikepdf.String) else drawn
                for codes in (bytes(p) for p in parts if isinstance(p, pikepdf.String)):
                    starts = range(0, len(codes), CODE_BYTES)
                    pieces = (codes[at : at + CODE_BYTES] for at in starts)
                    texts += (characters.get(code, "").strip() for code in pieces)
    return "".join(texts)


def _characters(font: Any) -> dict[bytes, str]:
    """Return the character of each code of a font, from its ToUnicode map.

    WeasyPrint writes the map code by code, without ranges.
    """
    if "/ToUnicode" not in font:
        return {}
    table = font["/ToUnicode"].read_bytes().decode("latin-1")
    characters: dict[bytes, str] = {}
    for block in re.findall(r"beginbfchar(.*?)endbfchar", table, re.DOTALL):
        for code, text in re.findall(r"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            words = bytes.fromhex(text).decode("utf-16-be", errors="replace")
            characters[bytes.fromhex(code)] = words
    return characters
