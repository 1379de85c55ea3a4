"""The seal of a PDF: the SHA-256 of all its bytes, in the file itself.

It stands as the second part of the identifier of the file, which is made to change with
the content, and is taken over the whole file with zeros in its own place. So it covers
what the pages draw, their order, fonts and annotations, and what was appended. A seal
is a digest and no signature: who alters a file can seal it again.

Needs nothing but Python: `report.pages.pdf` writes it, `verify` reads it.
"""

import re
from hashlib import sha256
from typing import NamedTuple

_TEXT = rb"(?:\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f]*>)"
_IDENTIFIER = re.compile(rb"/ID\s*\[\s*%b\s*(%b)" % (_TEXT, _TEXT), re.DOTALL)
_SEAL = re.compile(rb"\(sha256:([0-9a-f]{64})\)")
_ZEROS = b"0" * 64
_END = b"%%EOF\n"


class Seal(NamedTuple):
    """The seal of a PDF, as it is stated and as it is computed anew.

    Attributes
    ----------
    stated : str
        64 hexadecimal digits; empty if the file has no seal.
    actual : str
        Those of the file as it is; empty likewise.
    n_appended : int
        Bytes that follow a file that is whole; 0 if it ends with the sealed bytes or
        was altered elsewhere.
    """

    stated: str
    actual: str
    n_appended: int = 0


def seal(pdf: bytes) -> bytes:
    """Return a PDF with a seal.

    The second part of its identifier lies behind, or at, the place that the last lines
    of the file point to: another length there moves nothing that the file refers to.

    Raises
    ------
    ValueError
        If the file has no identifier.
    """
    places = [*_IDENTIFIER.finditer(pdf)]
    if not places:
        raise ValueError("The PDF has no identifier (/ID) that could hold its seal.")
    start, end = places[-1].span(1)
    before, after = pdf[:start] + b"(sha256:", b")" + pdf[end:]
    digits = sha256(before + _ZEROS + after).hexdigest().encode()
    return before + digits + after


def read_seal(pdf: bytes) -> Seal:
    """Return the last seal of a PDF beside the one its bytes have now."""
    seals = [*_SEAL.finditer(pdf)]
    if not seals:
        return Seal("", "")
    stated, actual = _compare(pdf, seals[-1])
    if stated != actual:
        end = pdf.find(_END, seals[0].end()) + len(_END)
        if len(set(_compare(pdf[:end], seals[0]))) == 1:
            return Seal(stated, actual, len(pdf) - end)
    return Seal(stated, actual)


def _compare(pdf: bytes, place: re.Match[bytes]) -> tuple[str, str]:
    """Return the digits of a seal, and those of all bytes with zeros in their place."""
    start, end = place.span(1)
    return place[1].decode(), sha256(pdf[:start] + _ZEROS + pdf[end:]).hexdigest()
