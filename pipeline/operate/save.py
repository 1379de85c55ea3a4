"""Saving a result and its renderings as a run folder.

The short views are added, and the versions and digests of the software that made the
pages. Not: the other files of a run, or writing them (`runs`).
"""

import json
import logging
from collections.abc import Container
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from traceback import format_exc
from typing import Any

from ..records.result import AuditResult
from ..runs.digests import sha256
from ..runs.files import RENDERER, Files, as_bytes
from ..runs.folder import write_run

logger = logging.getLogger(__name__)

PACKAGES = ("weasyprint", "pydyf", "fonttools", "matplotlib", "jinja2")


def save_run(
    result: AuditResult,
    folder: Path,
    files: Files,
    *,
    exit_code: int,
    note: str = "",
    **options: Any,
) -> Path:
    """Write a run into a new folder ``runs/<run_id>`` and return its path.

    Parameters
    ----------
    result : AuditResult
    folder : Path
        The folder of the audit.
    files : mapping of str to bytes or str
        Path in the run folder and content: audit.toml, report.html, figures/….
    exit_code : int
        The exit code of the command.
    note : str
        A note on the run folder for the end of summary.txt.
    **options
        data, log, message and r_failed, as in `runs.folder.write_run`.

    Raises
    ------
    AuditError
        If the files cannot be written; none are left.
    ValueError
        If a path leads out of the folder, or is that of a file made here.
    """
    if (made_with := renderer(files)) is not None:
        text = json.dumps(made_with, indent=2, ensure_ascii=False)
        files = {**files, RENDERER: f"{text}\n"}
    return write_run(
        result,
        folder,
        files,
        exit_code=exit_code,
        short_views=partial(short_views, note=note),
        **options,
    )


def short_views(result: AuditResult, note: str = "") -> dict[str, bytes]:
    """Return summary.txt, summary.md and junit.xml.

    If they cannot be made, the run is saved all the same, and summary.txt has the
    error.
    """
    try:
        from ..report.pages.short_views import short_files

        texts = short_files(result, note)
        return {path: as_bytes(text) for path, text in texts.items()}
    except Exception:
        logger.error("The short views could not be made.", exc_info=True)
        head = f"{result.run.audit} {result.run.volatile['run_id']}: {result.verdict}"
        return {"summary.txt": as_bytes(f"{head}\n{format_exc()}{note}\n")}


def renderer(files: Container[str]) -> dict[str, Any] | None:
    """Return the versions and fonts behind the renderings, None if there are none.

    `pdf_mode` and `conformity` are empty without a PDF.
    """
    if "report.html" not in files:
        return None
    from ..report.figures.typeface import font_files
    from ..report.pages.pdf import capability
    from ..report.pages.template_files import templates_sha256

    has_pdf = "report.pdf" in files
    can = capability()
    fonts = sorted({Path(name) for name in font_files().values()})
    versions = dict.fromkeys(PACKAGES, "")
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        **versions,
        "fonts": [{"name": f.name, "sha256": sha256(f.read_bytes())} for f in fonts],
        "templates_sha256": templates_sha256(),
        "pdf_mode": can.mode if has_pdf else "",
        "conformity": list(can.statements) if has_pdf else [],
    }
