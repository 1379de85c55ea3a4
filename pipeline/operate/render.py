"""Rendering a finished result: its data files and its report.

Each file is made once: the pages carry the same bytes as the run folder. Not: the
layout of a page (`report`), or writing (`runs`).
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ..records.result import AuditResult
from ..runs.files import Files, attachments, data_files
from ..runs.run_context import NO_CONTEXT, RunContext

logger = logging.getLogger(__name__)

Phase = Callable[[str], AbstractContextManager[Any]]


class Rendered(NamedTuple):
    """A result, with findings of the rendering, and its files.

    Attributes
    ----------
    result : AuditResult
    data : dict
        The data files, as `runs.files.data_files` returns them.
    pages : dict
        The renderings; empty for profile "bundle".
    pdf_fault : str
        Why there is no PDF, empty if there is one or none was requested.
    """

    result: AuditResult
    data: Mapping[str, bytes]
    pages: Files
    pdf_fault: str = ""


def render_result(
    result: AuditResult,
    files: Files,
    *,
    context: RunContext = NO_CONTEXT,
    pdf: bool = True,
    phase: Phase = nullcontext,
) -> Rendered:
    """Return the files of a result.

    Parameters
    ----------
    result : AuditResult
    files : mapping of str to bytes or str
        Further files of the run folder: audit.toml, history.json.
    context : RunContext
        Content of the report that is not in the result.
    pdf : bool, default True
        Whether to make the PDF too.
    phase : callable
        ``with phase(label)`` announces a part of the work, and logs its duration.

    Returns
    -------
    Rendered
        With a finding if names cannot be drawn.
    """
    # The pages take 0.1 s to import, which a run of numbers alone does not need.
    from ..report.pages.fonts import with_uncovered_names

    with phase("report: tables"):
        data = data_files(result, files)
        checked_result = result
        if pdf:
            checked_result = with_uncovered_names(result, data["result.json"].decode())
        if checked_result is not result:
            data = data_files(checked_result, files)
    if checked_result.run.config["report"]["profile"] == "bundle":
        return Rendered(checked_result, data, {})
    from ..records.as_xlsx import workbook
    from ..report.pages.html import figure_files, html_files, pdf_files
    from ..report.pages.pdf import PdfError
    from ..report.pages.report_views import report_views

    carried = attachments(data) if pdf else {}
    with phase("report: sections"):
        views = report_views(
            checked_result,
            context=context._replace(has_pdf=pdf),
            document=data["result.json"],
        )
    with phase("report: figures"):
        figures = figure_files(views)
    with phase("report: HTML"):
        pages = {**html_files(views), **figures}
    with phase("report: Excel file"):
        try:
            tables = workbook(checked_result)
        except Exception:  # the report is written without it
            logger.warning("The Excel file of all tables was not made.", exc_info=True)
            tables = b""
        pages |= {"tables.xlsx": tables} if tables else {}  # none without openpyxl
    if not pdf:
        return Rendered(checked_result, data, pages)
    try:
        with phase("report: PDF"):
            pdfs = pdf_files(views, checked_result, carried)
    except PdfError as error:
        return Rendered(checked_result, data, pages, pdf_fault=str(error))
    return Rendered(checked_result, data, {**pages, **pdfs})
