"""A report as a Word file to work on: the HTML for paper, converted by pandoc.

What is where is decided once, in the templates. Not: evidence, which is the PDF.
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
"""The oldest pandoc that was tried, that of Debian 12."""
REMEDY = "Install it: apt-get install pandoc, or brew install pandoc."
SECONDS = 120.0
"""How long pandoc may take for one file."""
FOR_PANDOC = {
    # Word breaks long names itself, and finds only names that are whole.
    "<wbr>": "",
    # Of a page that has a main element pandoc 3 drops the rest; of a figure pandoc 2.17
    # drops the alternative text, of an article its id.
    r"<(/?)(?:main|figure|article)\b": r"<\1div",
    "<figcaption>": '<div data-custom-style="Image Caption">',
    "</figcaption>": "</div>",
    # Of a row and a table it drops the id, to which links lead.
    r'<tr id="([^"]+)"><(t[hd][^>]*)>': r'<tr><\2><span id="\1"></span>',
    r'<table([^>]*) id="([^"]+)"([^>]*)>\s*<caption[^>]*>': (
        r'<table\1\3><caption><span id="\2"></span>'
    ),
    # pandoc reads no style sheet.
    r'<(t[hd][^>]*) class="n': r'<\1 style="text-align: right" class="n',
    '<span class="(line|entry)">': r'<br><span class="\1">',
    '(<table class="kv".*?</caption>)': (
        r'\1<colgroup><col style="width: 25%"><col style="width: 75%"></colgroup>'
    ),
}
"""Patterns of our HTML that pandoc reads in another way than browsers, and what for."""
OWN_LOOK = {
    # Half points: tables 7.5 points, text 9.5, code as large as what is around it.
    "word/styles.xml": {
        r'(w:styleId="Compact".*?)</w:style>': (
            r'\1<w:rPr><w:sz w:val="15" /></w:rPr></w:style>'
        ),
        r'(w:styleId="VerbatimChar".*?)<w:sz w:val="\d+" ?/>': r"\1",
        r'(<w:docDefaults>.*?<w:sz w:val=")\d+': r"\g<1>19",
        # Twentieths of a point beside a cell: a number fits the width it has on paper.
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
"""What pandoc's own reference says, as patterns, and what it says here."""


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
        What `report_views` returns.
    result : AuditResult
    reference : Path, optional
        A Word file to take the look from, instead of that of ``[report] reference``.

    Raises
    ------
    DataError
        As `to_docx` does, or if the configured reference is not there.
    """
    name = result.run.config.get("report", {}).get("reference", "")
    if reference is None and name:
        base = Path(str(result.run.volatile.get("folder", "")))
        reference = base / name
        if not reference.is_file():
            raise DataError(
                f"The reference {name!r} of [report] is not in {str(base)!r}. Name a "
                "Word file with --reference."
            )
    return {
        f"{path}.docx": to_docx(view, reference=reference)
        for path, view in views.items()
    }


def to_docx(view: ReportView, *, reference: Path | None = None) -> bytes:
    """Return a report as a Word file, a working copy to quote from and to write in.

    It has what the PDF prints: the other tables are CSV files of the run.

    Parameters
    ----------
    view : ReportView
    reference : Path, optional
        A Word file whose styles, page size, headers and footers are taken; what is
        written in it is left out.

    Returns
    -------
    bytes
        The same for the same view and versions. Its first line says that it is no
        evidence, and which report is.

    Raises
    ------
    DataError
        If pandoc is missing, older than `FLOOR`, or does not convert the page.
    """
    pandoc_version()
    if reference and not zipfile.is_zipfile(reference):
        raise DataError(
            f"The reference {str(reference)!r} cannot be read as a Word file (.docx). "
            "Name one that Word has saved."
        )
    with with_words(view.words):
        page = print_html(view, conformity=word("docx.conformity"), bars=False)
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
            # That of pandoc itself, with smaller letters and A4 pages.
            theirs = _pandoc(
                f"--data-dir={folder}", "--print-default-data-file=reference.docx"
            )
            own_look = {
                part: partial(_rewritten, rules=rules)
                for part, rules in OWN_LOOK.items()
            }
            reference = Path(folder, "reference.docx")
            reference.write_bytes(undated(theirs, own_look))
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
    """Return what pandoc writes."""
    # Not with --sandbox: Debian's pandoc cannot write Word files in it, because its
    # data files are not in the program (jgm/pandoc#8128). The page holds all it shows.
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
        how = f"ended with exit code {run.returncode}"
        remedy = "Name another reference, or install a newer pandoc."
        if run.returncode < 0:
            how = f"was killed by signal {-run.returncode}"
            remedy = "If memory is short, free some; then call the command again."
        said = " ".join(run.stderr.decode(errors="replace").split()) or "nothing"
        raise DataError(
            f"pandoc {how} and wrote no Word file. It says: {said!r}. {remedy}"
        )
    return run.stdout


def _rewritten(text: bytes, rules: Mapping[str, str]) -> bytes:
    """Return a text in UTF-8 with each pattern replaced, in their order."""
    for pattern, replacement in rules.items():
        text = re.sub(pattern.encode(), replacement.encode(), text, flags=re.DOTALL)
    return text


def _with_first_line(notice: str, xml: bytes) -> bytes:
    """Return a document that begins with a line in bold."""
    begin = b"<w:body>"
    at = xml.index(begin) + len(begin)
    line = f"<w:p><w:r><w:rPr><w:b /></w:rPr><w:t>{escape(notice)}</w:t></w:r></w:p>"
    return xml[:at] + line.encode() + xml[at:]
