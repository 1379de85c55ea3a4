"""A finished result as the files people read, whatever may go wrong with the PDF.

Not: how a page looks (`report`), what else a run folder holds (`bundle`), or writing.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from ..records.finding import Finding
from ..records.result import AuditResult
from ..report.pages.fonts import with_uncovered_names
from ..report.pages.html import checks_of_pdfs, page_files
from ..report.pages.pdf import PdfError
from ..report.pages.pdf_checks import PdfCheck
from ..runs.files import Files, attachments, data_files
from ..runs.run_context import NO_CONTEXT, RunContext

PDF_FAILED = "pdf_failed"
"""The check whose finding says that there is no PDF, and why."""


class Rendered(NamedTuple):
    """A result, with what rendering had to say of it, and its renderings."""

    result: AuditResult
    files: Files
    pdf_checks: tuple[PdfCheck, ...] = ()


def rendered(
    result: AuditResult,
    given: Mapping[str, str],
    *,
    context: RunContext = NO_CONTEXT,
    pdf: bool = True,
) -> Rendered:
    """Return the renderings of a result, and the checks of the finished PDF.

    Parameters
    ----------
    result : AuditResult
    given : mapping of str to str
        Files the run folder holds as they were given: audit.toml, history.json.
    context : RunContext
        What the report says besides the result.
    pdf : bool, default True
        Whether to print it as well.

    Returns
    -------
    Rendered
        With a finding if names cannot be drawn or there is no PDF; without any file
        if the configuration asks for none.
    """
    result = with_uncovered_names(result)
    if result.run.config["report"]["profile"] == "bundle":
        return Rendered(result, {})
    carried = attachments(data_files(result, given))
    asked = partial(page_files, context=context)
    if not pdf:
        return Rendered(result, asked(result, pdf=False))
    try:
        files = asked(result, attachments=carried)
    except PdfError as error:
        finding = Finding(
            check=PDF_FAILED,
            severity="warning",
            subject="report.pdf",
            message=f"The PDF was not produced, because: {error}",
            remedy="importance-audit doctor names what is missing.",
        )
        result = result.with_findings((finding,))
        return Rendered(result, asked(result, pdf=False))
    return Rendered(result, files, _checks(result, files, carried, context))


def _checks(
    result: AuditResult,
    files: Files,
    carried: Mapping[str, bytes],
    context: RunContext,
) -> tuple[PdfCheck, ...]:
    """Return the checks of the PDF; one that breaks must not cost the report."""
    try:
        return checks_of_pdfs(result, files, attachments=carried, context=context)
    except Exception as error:
        why = f"{type(error).__name__} says: {error}."
        return (PdfCheck("checks", "not run", why),)
