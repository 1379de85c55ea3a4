"""From HTML to PDF, in a child process with limits. Not: the layout.

Only the child process (`print_page`) imports WeasyPrint: its memory is freed, a crash
does not end the audit, and clock and fonts of the machine do not influence the PDF.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..figures import typeface
from ..text.wording import look_up
from . import print_page

# Without folders of fonts, so that all machines use those of the page only.
_NO_SYSTEM_FONTS = "<?xml version='1.0'?><fontconfig></fontconfig>\n"


class Capability(NamedTuple):
    """The kind of PDF that a renderer writes, and the statements on its conformity.

    Attributes
    ----------
    mode : str
        "pdf/a-3a", "pdf/1.7" for a file of no profile, empty if there is no renderer.
    statements : tuple of str
        Sentences in the report and in renderer.json.
    """

    mode: str
    statements: tuple[str, ...]


class PdfError(Exception):
    """A PDF cannot be made; the message is one sentence. The HTML does not need it."""


def to_pdf(
    html: str,
    *,
    print_css: str,
    created: datetime,
    identifier: bytes,
    attachments: Mapping[str, bytes] | None = None,
    fonts: Sequence[str] = (),
    seconds: float = 300.0,
    max_bytes: int = 2 * 1024**3,
) -> bytes:
    """Return a page as PDF: the same bytes for the same arguments and versions.

    Parameters
    ----------
    html : str
        A self-contained page. Characters that no font has are printed as visible
        escapes.
    print_css : str
        The style sheet for print; the rules that load the typeface are added here.
    created : datetime
        The only date in the file, with time zone.
    identifier : bytes
        The PDF identifier: the first 32 hex digits of the content digest, as text. In
        other bytes, line ends would not be read back unchanged.
    attachments : mapping of str to bytes, optional
        File name to content; the catalogue of words has their descriptions.
    fonts : sequence of str, optional
        Paths of font files, for characters that DejaVu lacks.
    seconds : float, default 300
        Time limit of the child process.
    max_bytes : int, default 2 GiB
        Limit of its address space.

    Raises
    ------
    PdfError
        If WeasyPrint is missing, fails, exceeds a limit or cannot write to the disk; if
        the page refers to external resources, or if a style rule, a font or an image
        has no effect.
    """
    if not _weasyprint_version():
        raise PdfError("WeasyPrint (>= 57.2) is not installed.")
    instant = created.astimezone(UTC).replace(microsecond=0)
    job = {
        "html": typeface.escape_uncovered(html, fonts),
        "css": f"{typeface.font_face_css(fonts)}\n{print_css}",
        "fonts": typeface.font_files(fonts),
        "created": instant.isoformat(),
        "identifier": identifier.hex(),
        "attachments": {
            name: base64.b64encode(content).decode()
            for name, content in (attachments or {}).items()
        },
        "descriptions": look_up("attachments"),
        "max_bytes": max_bytes,
    }
    try:
        with TemporaryDirectory(prefix="importance-audit-") as folder:
            return _in_child(job, Path(folder), int(instant.timestamp()), seconds)
    except OSError as error:
        raise PdfError(f"WeasyPrint had no folder to work in: {error}.") from error


def conformity_statement() -> str:
    """Return the statements on the PDF of the installed WeasyPrint as one text."""
    return " ".join(capability().statements)


def capability(weasyprint: str | None = None) -> Capability:
    """Return the capability of a version of WeasyPrint, by default the installed one.

    Mode and tags of the file depend on the renderer; conformity could only be stated by
    a validator and is not claimed.

    Examples
    --------
    >>> capability("70.0").mode
    'pdf/a-3a'
    """
    version = _weasyprint_version() if weasyprint is None else weasyprint
    if not version:
        claims = ("PDF/A: not claimed.", "PDF/UA: not claimed; there is no renderer.")
        return Capability("", claims)
    if int(version.split(".")[0]) < print_page.MODE_SINCE:
        untagged = f"WeasyPrint {version} writes figures without tags here."
        claims = ("PDF/A: not claimed.", f"PDF/UA: not claimed; {untagged}")
        return Capability("pdf/1.7", claims)
    statements = (
        "Written in PDF/A-3a mode, not validated.",
        "Tagged; all figures carry alternative text.",
        "PDF/UA: not claimed.",
    )
    return Capability(print_page.MODE, statements)


def _weasyprint_version() -> str:
    try:
        return version("weasyprint")
    except PackageNotFoundError:
        return ""


def _in_child(
    job: Mapping[str, object], folder: Path, epoch: int, seconds: float
) -> bytes:
    """Run `print_page` in its own folder and return the PDF."""
    (folder / "fonts.conf").write_text(_NO_SYSTEM_FONTS, encoding="utf8")
    files = folder / "files"
    files.mkdir()
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(epoch),
        "FONTCONFIG_FILE": str(folder / "fonts.conf"),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths)),
    }
    try:
        child = subprocess.run(
            # -P: nothing in the working folder may shadow a module
            [sys.executable, "-P", "-W", "ignore", "-m", print_page.__name__],
            input=json.dumps(job).encode(),
            capture_output=True,
            cwd=files,
            env=environment,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PdfError(f"WeasyPrint was not done after {seconds:g} s.") from None
    if child.returncode:
        lines = child.stderr.decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else "no words"
        if child.returncode == print_page.REFUSED:
            raise PdfError(last)
        raise PdfError(f"WeasyPrint ended with code {child.returncode}: {last}.")
    return child.stdout
