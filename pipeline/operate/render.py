"""A finished result as the files people read, and what they are made from.

Everything is made once: the pages carry the very files that the run folder holds. Not:
how a page looks (`report`), or writing (`runs`).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..records.result import AuditResult
from ..runs.files import Files, attachments, data_files
from ..runs.run_context import NO_CONTEXT, RunContext

if TYPE_CHECKING:
    from ..report.pages.pdf_checks import PdfCheck
    from ..report.pages.view import ReportView


class Rendered(NamedTuple):
    """A result, with what rendering had to say of it, and its files.

    Attributes
    ----------
    result : AuditResult
    data : dict
        Every file that is no rendering, as `runs.files.data_files` returns them.
    pages : dict
        The renderings; none if the configuration asks for none.
    pdf_checks : tuple of PdfCheck
    pdf_fault : str
        Why there is no PDF, empty if there is one or none was asked for.
    """

    result: AuditResult
    data: Mapping[str, bytes]
    pages: Files
    pdf_checks: "tuple[PdfCheck, ...]" = ()
    pdf_fault: str = ""


def render_result(
    result: AuditResult,
    given: Files,
    *,
    context: RunContext = NO_CONTEXT,
    pdf: bool = True,
) -> Rendered:
    """Return the files of a result, and the checks of the finished PDF.

    Parameters
    ----------
    result : AuditResult
    given : mapping of str to bytes or str
        Files the run folder holds as they were given: audit.toml, history.json.
    context : RunContext
        What the report says besides the result.
    pdf : bool, default True
        Whether to print it as well.

    Returns
    -------
    Rendered
        With a finding if names cannot be drawn.
    """
    # The pages take 0.1 s to import, which a run of numbers alone does not need.
    from ..report.pages.fonts import with_uncovered_names

    data = data_files(result, given)
    named = with_uncovered_names(result, data["result.json"].decode())
    if named is not result:
        data = data_files(named, given)
    if named.run.config["report"]["profile"] == "bundle":
        return Rendered(named, data, {})
    from ..report.pages.html import html_files, pdf_files
    from ..report.pages.pdf import PdfError
    from ..report.pages.report_views import report_views

    carried = attachments(data) if pdf else {}
    views = report_views(
        named, attachments=carried, context=context, document=data["result.json"]
    )
    pages = html_files(views, named, data)
    if not pdf:
        return Rendered(named, data, pages)
    try:
        pdfs = pdf_files(views, named, carried)
    except PdfError as error:
        return Rendered(named, data, pages, pdf_fault=str(error))
    return Rendered(named, data, {**pages, **pdfs}, _checks(views, named, pdfs))


def _checks(
    views: "Mapping[str, ReportView]", result: AuditResult, pdfs: Mapping[str, bytes]
) -> "tuple[PdfCheck, ...]":
    """Return the checks of the PDFs; one that breaks must not cost the report."""
    from ..report.pages.html import check_pdfs
    from ..report.pages.pdf_checks import PdfCheck

    try:
        return check_pdfs(views, result, pdfs)
    except Exception as error:
        why = f"{type(error).__name__} says: {error}."
        return (PdfCheck("checks", "not run", why),)
