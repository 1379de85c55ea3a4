"""Read the files that the report shows: logo, additional sections, and texts.

They are stored with the result, so that the report can be made again without them.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..records.errors import ConfigError, quote
from .own_words import file_of, problems_of
from .settings import ReportSection

LARGEST_LOGO = 2_000_000
LARGEST_TEXT, LARGEST_WORDS = 200_000, 2_000_000
"""Largest sizes of files, in bytes."""
SVG = "image/svg+xml"
MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
LEAST_CONTRAST = 4.5
"""Minimum contrast of text on white: WCAG 2.2, success criterion 1.4.3."""
ACTIVE = ("script", "foreignObject", "iframe", "object", "embed", "handler")
INSIDE = re.compile(r"\s*(#|data:image/(png|jpeg);)")
OUTSIDE = re.compile(r"@import|url\(\s*['\"]?(?!#|data:image/(?:png|jpeg);)", re.I)


def load_report_files(section: ReportSection, base: Path, where: str) -> dict[str, Any]:
    """Return the content of the files of ``[report]`` by name.

    Parameters
    ----------
    section : ReportSection
    base : Path
        The folder that the files are relative to.
    where : str
        The beginning of each sentence.

    Returns
    -------
    dict of str to dict
        sha256, and `text` or, for an image, `media_type` and `base64`.

    Raises
    ------
    ConfigError
        With all problems of the files.
    """
    files: dict[str, Any] = {}
    accent, problems = section.accent, []
    if accent and (ratio := contrast(accent)) < LEAST_CONTRAST:
        problems.append(
            f"{where} accent {quote(accent)} has a contrast of {ratio:.1f} on white; "
            f"text needs {LEAST_CONTRAST:g}. Choose a darker colour."
        )
    texts = [("section.file", entry["file"], LARGEST_TEXT) for entry in section.section]
    if section.language not in ("", "en"):
        texts.append(("language", file_of(section.language), LARGEST_WORDS))
    logo = [("logo", section.logo, LARGEST_LOGO)] if section.logo else []
    for key, name, largest in (*logo, *texts):
        try:
            data = _content(base / name, largest)
            files[name] = {"sha256": hashlib.sha256(data).hexdigest()}
            files[name] |= _image(data) if key == "logo" else {"text": _text(data)}
        except ValueError as error:
            remedy = ""
            if key == "language" and not (base / name).exists():
                remedy = f" Run: importance-audit init --strings {section.language}"
            problems.append(f"{where} {key} {quote(name)} {error}{remedy}")
            continue
        if key == "language":
            faults = problems_of(files[name]["text"])
            problems += [f"{where} {key} {quote(name)}: {fault}" for fault in faults]
    if problems:
        raise ConfigError(problems)
    return files


def _content(path: Path, largest: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > largest:
            raise ValueError(
                f"has {size / 1e6:.1f} MB; the report holds at most "
                f"{largest / 1e6:g} MB. Make it smaller."
            )
        return path.read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ValueError(f"cannot be read: {why}.") from error


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"is not UTF-8: byte {error.start + 1} cannot be read. Save it as UTF-8."
        ) from error


def _image(data: bytes) -> dict[str, str]:
    """Return the media type and base64 content of an image, or refuse it."""
    media_type = next((t for t, m in MAGIC.items() if data.startswith(m)), SVG)
    if media_type == SVG and (problem := next(_problems_of_svg(data), "")):
        raise ValueError(problem)
    return {"media_type": media_type, "base64": base64.b64encode(data).decode()}


def _problems_of_svg(data: bytes) -> Iterator[str]:
    """Yield the problems of an SVG that could run code or load other files."""
    if re.search(rb"<!DOCTYPE|<!ENTITY|<\?xml-stylesheet", data, re.I):
        yield "has a document type, an entity or a style sheet outside. Remove it."
        return
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError:
        yield "is no PNG, JPEG or SVG image."
        return
    if _local(root.tag) != "svg":
        yield "is no PNG, JPEG or SVG image."
    for element in root.iter():
        tag = _local(element.tag)
        if tag.lower() in map(str.lower, ACTIVE):
            yield f"has an element <{tag}>, which could run code. Remove it."
        if tag == "style" and (hit := OUTSIDE.search("".join(element.itertext()))):
            yield f"has a style with {quote(hit[0])}, a link outside. Remove it."
        for name, value in element.attrib.items():
            key = _local(name)
            if key.lower().startswith("on"):
                yield f"has an event handler, {key} of <{tag}>. Remove it."
            if key in ("href", "src") and not INSIDE.match(value):
                yield f"has a link outside, {quote(value)} of <{tag}>. Remove it."
            if OUTSIDE.search(value):
                yield f"has a link outside in {key} of <{tag}>. Remove it."


def _local(name: Any) -> str:
    return str(name).rpartition("}")[2]


def contrast(colour: str) -> float:
    """Return the contrast of a colour, "#0b4f79", with white, from 1 to 21 (WCAG 2).

    Examples
    --------
    >>> round(contrast("#000000")), round(contrast("#ffffff"))
    (21, 1)
    """
    shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in shares
    )
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
