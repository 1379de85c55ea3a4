"""The report as a Word file, a working copy: the HTML for print, converted by pandoc.

The PDF, not the Word file, is evidence.
"""

import base64
import os
import re
import subprocess
import zipfile
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from ...records.errors import DataError
from ...records.result import AuditResult
from ...records.undated_zip import undated
from ..figures.typeface import drawable
from ..text.blocks import plain
from ..text.wording import say, with_words, word
from .compose import svg_uri
from .html import png_of, print_html
from .view import ReportView

FLOOR = (2, 17)
"""The oldest supported version of pandoc, that of Debian 12."""
REMEDY = "Install it: apt-get install pandoc, or brew install pandoc."
SECONDS = 120.0
"""Time limit of pandoc for one file."""
FOR_PANDOC = {
    # Word breaks long names itself; with break characters, its search would not find
    # them.
    "<wbr>": "",
    # pandoc 3 drops everything outside a main element; pandoc 2.17 drops the
    # alternative text in a figure element and the id of an article element.
    r"<(/?)(?:main|figure|article)\b": r"<\1div",
    "<figcaption>": '<div data-custom-style="Image Caption">',
    "</figcaption>": "</div>",
    # pandoc drops the ids of rows and tables, which are targets of links.
    r'<tr id="([^"]+)"><(t[hd][^>]*)>': r'<tr><\2><span id="\1"></span>',
    r'<table([^>]*) id="([^"]+)"([^>]*)>\s*<caption[^>]*>': (
        r'<table\1\3><caption><span id="\2"></span>'
    ),
    # pandoc ignores style sheets.
    r'<(t[hd][^>]*) class="n': r'<\1 style="text-align: right" class="n',
    '<span class="(line|entry)">': r'<br><span class="\1">',
    '(<table class="kv".*?</caption>)': (
        r'\1<colgroup><col style="width: 25%"><col style="width: 75%"></colgroup>'
    ),
}
"""Replacements, by pattern, in HTML that pandoc reads differently than browsers."""
OWN_LOOK = {
    # Half points: tables 7.5 points, text 9.5, code the size of the text around it.
    "word/styles.xml": {
        r'(w:styleId="Compact".*?)</w:style>': (
            r'\1<w:rPr><w:sz w:val="15" /></w:rPr></w:style>'
        ),
        r'(w:styleId="VerbatimChar".*?)<w:sz w:val="\d+" ?/>': r"\1",
        r'(<w:docDefaults>.*?<w:sz w:val=")\d+': r"\g<1>19",
        # Cell margins in twentieths of a point: numbers fit the widths of the PDF.
        r'(<w:(?:left|right) w:w=")108"': r'\g<1>40"',
    },
    # Twentieths of a point: A4 with the margins of the PDF.
    "word/document.xml": {
        r"<w:sectPr\b[^>]*/>|<w:sectPr\b.*?</w:sectPr>": (
            '<w:sectPr><w:pgSz w:w="11906" w:h="16838" /><w:pgMar w:top="1134" '
            'w:right="1020" w:bottom="1134" w:left="1020" w:header="567" '
            'w:footer="567" w:gutter="0" /></w:sectPr>'
        )
    },
}
"""Replacements, by pattern, in the parts of pandoc's default reference file."""


def docx_files(
    views: Mapping[str, ReportView],
    result: AuditResult,
    *,
    reference: Path | None = None,
) -> dict[str, bytes]:
    """Return the report on a result as Word files, by path: one for each page.

    Parameters
    ----------
    views : mapping of str to ReportView
        The result of `report_views`.
    result : AuditResult
    reference : Path, optional
        A Word file with the styles to use, instead of that of ``[report] reference``.

    Raises
    ------
    DataError
        As `to_docx` does.
    """
    name = result.run.config.get("report", {}).get("reference", "")
    if reference is None and name:
        reference = Path(str(result.run.volatile.get("folder", "")), name)
    return {
        f"{path}.docx": to_docx(view, reference=reference)
        for path, view in views.items()
    }


def to_docx(view: ReportView, *, reference: Path | None = None) -> bytes:
    """Return a report as a Word file, a working copy for quoting and editing.

    It has the contents of the PDF; other tables are CSV files of the run.

    Parameters
    ----------
    view : ReportView
    reference : Path, optional
        A Word file with the styles, page size, headers and footers to use; its text is
        ignored.

    Returns
    -------
    bytes
        The same for the same view and versions. Its first line says that it is a
        working copy, and names the report that is evidence.

    Raises
    ------
    DataError
        If pandoc is missing, older than `FLOOR`, or does not convert the page.
    """
    pandoc_version()
    if reference and not zipfile.is_zipfile(reference):
        raise DataError(
            f"The reference {str(reference)!r} cannot be read as a Word file (.docx). "
            "Name one that Word has saved with --reference."
        )
    with with_words(view.words):
        page = print_html(view, conformity=word("docx.conformity"))
        for figure in view.figures:
            png = base64.b64encode(png_of(figure)).decode()
            page = page.replace(svg_uri(figure), f"data:image/png;base64,{png}")
        notice = plain(say("docx.notice", digest=view.digest))
        words = {"subject": "docx.working_copy", "toc-title": "page.contents"}
        metadata = [f"--metadata={name}={word(key)}" for name, key in words.items()]
    page = "\n".join(map(drawable, page.split("\n")))
    instant = datetime.fromisoformat(view.created)
    with TemporaryDirectory(prefix="importance-audit-") as folder:
        if reference is None:
            # The default reference of pandoc, with smaller type and A4 pages.
            default = _pandoc(
                f"--data-dir={folder}", "--print-default-data-file=reference.docx"
            )
            own_look = {
                part: partial(_rewritten, rules=rules)
                for part, rules in OWN_LOOK.items()
            }
            reference = Path(folder, "reference.docx")
            reference.write_bytes(undated(default, own_look))
        made = _pandoc(
            *("--from=html", "--to=docx", "--output=-", f"--data-dir={folder}"),
            *("--toc", "--toc-depth=1", "--shift-heading-level-by=-1", *metadata),
            f"--reference-doc={reference}",
            page=_rewritten(page.encode(), FOR_PANDOC),
            epoch=int(instant.timestamp()),
        )
    return undated(made, {"word/document.xml": partial(_with_first_line, notice)})


def pandoc_version() -> str:
    """Return the version of the installed pandoc.

    Raises
    ------
    DataError
        If there is none, or if it is older than `FLOOR`.
    """
    first = _pandoc("--version").decode(errors="replace").partition("\n")[0]
    version = first.split()[-1]
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < FLOOR:
        floor = ".".join(map(str, FLOOR))
        raise DataError(f"pandoc must be {floor} or newer; this is {version}. {REMEDY}")
    return version


def _pandoc(*arguments: str, page: bytes = b"", epoch: int = 0) -> bytes:
    """Return the standard output of pandoc.

    Raises
    ------
    DataError
        If pandoc is missing, fails or exceeds the time limit.
    """
    # Not with --sandbox: Debian's pandoc cannot write Word files in it, because its
    # data files are not in the program (jgm/pandoc#8128). The page is self-contained.
    try:
        run = subprocess.run(
            ["pandoc", *arguments],
            input=page,
            capture_output=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DataError(
            f"pandoc was stopped, because it was not done after {SECONDS:g} s. Call "
            "the command again when the machine is less busy."
        ) from None
    except OSError as error:
        raise DataError(
            f"A Word file cannot be written without pandoc: {error}. {REMEDY}"
        ) from error
    if run.returncode:
        stderr = " ".join(run.stderr.decode(errors="replace").split()) or "nothing"
        raise DataError(
            f"pandoc ended with exit code {run.returncode} and wrote no Word file. It "
            f"says: {stderr!r}. Name another reference, or install a newer pandoc."
        )
    return run.stdout


def _rewritten(text: bytes, rules: Mapping[str, str]) -> bytes:
    """Return a text in UTF-8 with each pattern replaced, in the order of `rules`."""
    for pattern, replacement in rules.items():
        text = re.sub(pattern.encode(), replacement.encode(), text, flags=re.DOTALL)
    return text


def _with_first_line(notice: str, xml: bytes) -> bytes:
    """Return the XML of a document with `notice` as its first line, in bold."""
    begin = b"<w:body>"
    at = xml.index(begin) + len(begin)
    line = f"<w:p><w:r><w:rPr><w:b /></w:rPr><w:t>{escape(notice)}</w:t></w:r></w:p>"
    return xml[:at] + line.encode() + xml[at:]
