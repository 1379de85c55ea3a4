"""Font files of an audit: their check, and names with missing characters. Not: drawing.

A renderer leaves out a character that no font has, or draws another, so the PDF has an
escape in its place. The HTML has the character itself: a browser has more fonts.
"""

from collections.abc import Sequence
from pathlib import Path

from ...records.errors import DataError, first_of
from ...records.finding import Finding
from ...records.result import AuditResult
from ..figures.typeface import character_map, uncovered

CHECK = "uncovered_names"


def check_fonts(base: Path, names: Sequence[str]) -> None:
    """Check that all configured font files can be used.

    Parameters
    ----------
    base : Path
        The folder of the audit.
    names : sequence of str
        The files, as configured: paths relative to `base`.

    Raises
    ------
    DataError
        One line per file that is missing or no font.
    """
    problems = [problem for name in names if (problem := _problem(base, name))]
    if problems:
        raise DataError("\n".join(problems))


def fonts_of(result: AuditResult) -> tuple[str, ...]:
    """Return the paths of the configured fonts of a run that can still be read.

    The folder is that of the audit at the time of the run. If fonts have been deleted
    since, the PDF has escapes for their characters.
    """
    names = result.run.config.get("report", {}).get("fonts", ())
    base = Path(str(result.run.volatile.get("folder", "")))
    return tuple(
        str((base / name).resolve()) for name in names if not _problem(base, name)
    )


def with_uncovered_names(result: AuditResult, document: str) -> AuditResult:
    """Return the result, with a finding if the PDF may print escapes.

    Parameters
    ----------
    result : AuditResult
    document : str
        Its JSON.
    """
    fonts = fonts_of(result)
    missing = uncovered(document, fonts)
    if not missing:
        return result
    escapes = first_of(missing, 3, lambda char: f"U+{ord(char):04X}")
    finding = Finding(
        check=CHECK,
        severity="info",
        subject="report.pdf",
        message=f"No font of the PDF has some characters of the result ({escapes}). "
        "The PDF prints them as escapes, the HTML as they are.",
        remedy="Name a font file that has them in fonts of [report].",
        evidence={"characters": len(missing)},
    )
    return result.with_findings((finding,))


def _problem(base: Path, name: str) -> str:
    """Return why a file cannot be used as a font; empty if it can."""
    rule = f"[report] fonts must name font files beside the audit; {name!r}"
    if not (base / name).is_file():
        return f"{rule} is not there. Put it into {base}."
    try:
        character_map(str(base / name))
    except (
        Exception
    ) as error:  # fontTools raises struct.error, KeyError, AssertionError
        return f"{rule} is none: {type(error).__name__}. TTF and OTF files are."
    return ""
