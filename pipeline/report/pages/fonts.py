"""Fonts beside an audit: found, tested, and the names that no font has. Not: drawing.

What a typeface lacks, a renderer leaves out or draws as something else, so the PDF
prints it as an escape. The HTML keeps every character: a browser has more fonts.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ...records.errors import DataError, first_of
from ...records.finding import Finding
from ...records.result import AuditResult
from ..figures.typeface import character_map, uncovered

CHECK = "uncovered_names"


def check_fonts(base: Path, names: Sequence[str]) -> None:
    """Refuse font files that cannot serve, all of them at once.

    Parameters
    ----------
    base : Path
        The folder of the audit.
    names : sequence of str
        The files, as the configuration names them.

    Raises
    ------
    DataError
        One line per file that is missing or no font.
    """
    problems = [problem for name in names if (problem := _problem(base, name))]
    if problems:
        raise DataError("\n".join(problems))


def fonts_of(result: AuditResult) -> tuple[str, ...]:
    """Return the paths of the fonts that a run was configured with and that are there.

    They are looked for in the folder of the audit, as the run knew it. A run that is
    printed without its fonts, years later, has escapes in their place.
    """
    names = result.run.config.get("report", {}).get("fonts", ())
    base = Path(str(result.run.volatile.get("folder", "")))
    return tuple(
        str((base / name).resolve()) for name in names if not _problem(base, name)
    )


def with_uncovered_names(result: AuditResult, document: str) -> AuditResult:
    """Return a result that says how many of its names the PDF prints as escapes.

    Parameters
    ----------
    result : AuditResult
    document : str
        Its JSON. A view costs more than all other files of a small run: it is built
        only if there is a character in the JSON that no font has.
    """
    fonts = fonts_of(result)
    if document.isascii() or not uncovered(document, fonts):
        return result
    from .view import build_view

    # the digest of this very text: making the text again is what takes time
    file_digest = sha256(document.encode()).hexdigest()
    names = {
        name
        for name in build_view(result, file_digest=file_digest).composed.names
        if uncovered(name, fonts)
    }
    if not names:
        return result
    missing = uncovered("".join(names), fonts)
    escapes = first_of(missing, 3, lambda char: f"U+{ord(char):04X}")
    holders = "1 name holds" if len(names) == 1 else f"{len(names)} names hold"
    finding = Finding(
        check=CHECK,
        severity="info",
        subject="report.pdf",
        message=f"{holders} characters that no font of the PDF has ({escapes}). "
        "The PDF prints them as escapes, the HTML as they are.",
        remedy="Name a font file that has them in fonts of [report].",
        evidence={"names": len(names), "characters": len(missing)},
    )
    return result.with_findings((finding,))


def _problem(base: Path, name: str) -> str:
    """Return what keeps a file from being used as a font, empty if nothing does."""
    rule = f"[report] fonts must name font files beside the audit; {name!r}"
    if not (base / name).is_file():
        return f"{rule} is not there. Put it into {base}."
    try:
        character_map(str(base / name))
    except Exception as error:  # fontTools raises what it meets: struct, key, assertion
        return f"{rule} is none: {type(error).__name__}. TTF and OTF files are."
    return ""
