"""A ReportView as HTML: one file that asks nothing of any network."""

import base64
import io
from collections.abc import Mapping
from datetime import datetime
from functools import cache, partial
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...records.as_csv import tables
from ...records.ranking import lead_of
from ...records.result import AuditResult
from ...runs.files import as_bytes
from ...runs.run_context import NO_CONTEXT, RunContext
from ..text.blocks import Badge, Figure, Section, Sentence, Styled, Table, plain
from ..text.wording import LANGUAGE, look_up, pieces_of, say, templates, word
from .fonts import fonts_of
from .pdf import conformity_statement, to_pdf
from .report_views import MAIN, report_views
from .template_files import templates_sha256
from .traces import light, traces
from .view import ReportView, at_most, build_view

if TYPE_CHECKING:
    from jinja2 import Environment

    from .pdf_checks import PdfCheck

Rows: TypeAlias = tuple[tuple[Sentence, Sentence], ...]

DOWNLOADS = 30_000
"""Bytes of tables that the page itself hands over; the larger ones lie beside it."""
MOST_ROWS = 2000
"""Rows that the page shows of one table; the file beside it has them all."""
FINDINGS = 10
"""Findings that a notebook shows of a result; the rest is counted."""
NARROW = 20
"""Characters that the narrowest column of names has room for."""
PIECE = 14
"""Characters of a name that any column can keep in one line."""
TEMPLATE_DIGITS = 16
"""Of the digest of the templates, which the manifest holds in full."""
NO_FILES: Mapping[str, bytes] = MappingProxyType({})


class Loose(NamedTuple):
    """A page that is no report on one result: a history, an index of audits.

    Attributes
    ----------
    name : str
        What the foot and the window call it, safe to show.
    made : str
        When it was made: an ISO text in UTC.
    title, subtitle, sentence : Sentence
    verdict : Badge
    sections : tuple of Section
        Of blocks.
    """

    name: str
    made: str
    title: Sentence
    subtitle: Sentence
    verdict: Badge
    sentence: Sentence
    sections: tuple[Section, ...]


def loose_html(page: Loose) -> str:
    """Return such a page as one self-contained HTML file."""
    view = ReportView(
        language=LANGUAGE,
        document=page.name,
        digest="",
        created=page.made,
        classification="",
        title=page.title,
        subtitle=page.subtitle,
        kicker=word("title.kicker"),
        page_title=plain(page.title),
        verdict=page.verdict,
        sentence=page.sentence,
        sections=page.sections,
    )
    return _fill_template(view, printing=False, template="history.html.j2")


class Page:
    """A report that shows itself in a notebook."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that styles do not mix."""
        return (
            _environment()
            .get_template("notebook.html.j2")
            .render(page=self.html, words=look_up("page"))
        )


def to_html(
    view: ReportView, *, beside: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the report as one self-contained HTML file.

    Parameters
    ----------
    view : ReportView
    beside : mapping of str to str, default {}
        The SHA-256 of files that lie beside the page, by name: what holds the numbers
        of a table too large for the page to hand over.

    Returns
    -------
    str
        No script, no outside address, and a policy that forbids both; the same bytes
        for the same view.
    """
    return _fill_template(view, printing=False, beside=beside)


def print_html(view: ReportView, *, conformity: str) -> str:
    """Return the report as HTML for paper: no downloads, long tables at the end.

    Parameters
    ----------
    view : ReportView
    conformity : str
        What may be said of the file that the PDF renderer makes of it. Its style is
        `print_css`, which the renderer gets beside it.
    """
    claim = (say("control.conformity"), (conformity,))
    return _fill_template(view, printing=True, conformity=(claim,))


def page_files(
    result: AuditResult,
    *,
    pdf: bool = True,
    attachments: Mapping[str, bytes] = NO_FILES,
    profile: str = "",
    context: RunContext = NO_CONTEXT,
) -> dict[str, bytes | str]:
    """Return the renderings of a result as a run folder holds them.

    Parameters
    ----------
    result : AuditResult
    pdf : bool, default True
        Whether to print it as well.
    attachments : mapping of str to bytes
        What the PDF carries: `files.attachments` of the files of the run. Both
        renderings list them by their digests.
    profile : {"", "technical", "executive"}
        Which sections are shown; by default as ``[report] profile`` says.
    context : RunContext
        What the report says besides the result.

    Returns
    -------
    dict
        report.html, figures/<id>.svg and report.pdf. Of more than three models these
        are an index, and each model has its own below models/.

    Raises
    ------
    importance_audit.report.pages.pdf.PdfError
        If there can be no PDF.
    """
    views = report_views(
        result, attachments=attachments, profile=profile, context=context
    )
    files = html_files(views, result)
    return {**files, **pdf_files(views, result, attachments)} if pdf else files


def html_files(
    views: Mapping[str, ReportView],
    result: AuditResult,
    data: Mapping[str, bytes] = NO_FILES,
) -> dict[str, bytes | str]:
    """Return the HTML and the figures of the views of a result.

    Parameters
    ----------
    views : mapping of str to ReportView
        What `report_views` returns.
    result : AuditResult
    data : mapping of str to bytes
        The tables of the result, if they were made already.
    """
    files: dict[str, bytes | str] = {}
    for path, view in views.items():
        files[f"{path}.html"] = to_html(view, beside=_beside(view, result, data))
        figures = f"{path.removesuffix(MAIN)}/figures".strip("/")
        files |= {f"{figures}/{figure.id}.svg": figure.svg for figure in view.figures}
    return files


def pdf_files(
    views: Mapping[str, ReportView],
    result: AuditResult,
    attachments: Mapping[str, bytes] = NO_FILES,
) -> dict[str, bytes]:
    """Return the PDF of each view of a result, with what it carries.

    Raises
    ------
    importance_audit.report.pages.pdf.PdfError
        If there can be no PDF.
    """
    fonts = fonts_of(result)
    return {
        f"{path}.pdf": _print(view, fonts, attachments) for path, view in views.items()
    }


def check_pdfs(
    views: Mapping[str, ReportView], result: AuditResult, pdfs: Mapping[str, bytes]
) -> "tuple[PdfCheck, ...]":
    """Return how each PDF that `pdf_files` made stands against its view."""
    from .pdf_checks import checks_of

    return tuple(
        check._replace(id=check.id if path == MAIN else f"{path}: {check.id}")
        for path, view in views.items()
        for check in checks_of(pdfs[f"{path}.pdf"], view, fonts=fonts_of(result))
    )


def _beside(
    view: ReportView, result: AuditResult, data: Mapping[str, bytes]
) -> dict[str, str]:
    """Return the SHA-256 of the files that hold the tables too large for a page."""
    handed = handed_over(view)
    sources = {table.source for table in view.tables if not handed[table.id]} - {""}
    texts: Mapping[str, bytes | str] = {}
    if sources:
        texts = data or tables(result)
    return {
        name: sha256(as_bytes(texts[name])).hexdigest()
        for name in sorted(sources & texts.keys())
    }


def _print(
    view: ReportView, fonts: tuple[str, ...], attachments: Mapping[str, bytes]
) -> bytes:
    return to_pdf(
        print_html(view, conformity=conformity_statement()),
        print_css=print_css(),
        created=datetime.fromisoformat(view.created.replace("Z", "+00:00")),
        identifier=view.digest[:32].encode(),
        fonts=fonts,
        attachments=attachments,
    )


def print_css() -> str:
    """Return the style sheet of the pages."""
    return (templates() / "print.css").read_text(encoding="utf-8")


def show(result: AuditResult) -> Page:
    """Return the report on a result as an object that a notebook shows."""
    return Page(to_html(build_view(result)))


def card(result: AuditResult) -> str:
    """Return verdict, leading ranking and findings as a piece of a notebook.

    It has no script and no outside address.
    """
    from markupsafe import Markup

    from ..figures import notebook

    record, svg = lead_of(result.importances), ""
    if record is not None:
        file = io.StringIO()
        notebook.ranking(record).savefig(file, format="svg")
        svg = file.getvalue()
        svg = svg[svg.index("<svg") :]
    findings = sorted(result.findings, key=lambda finding: finding.severity == "info")
    return (
        _environment()
        .get_template("notebook_card.html.j2")
        .render(
            words=look_up("page"),
            severities=look_up("severity"),
            verdict=result.verdict,
            svg=Markup(svg),
            findings=findings[:FINDINGS],
            n_more=max(len(findings) - FINDINGS, 0),
        )
    )


def svg_uri(figure: Figure) -> str:
    """Return a figure as an address that holds it."""
    return _data_uri("image/svg+xml", figure.svg)


def handed_over(view: ReportView) -> dict[str, str]:
    """Return each table of a page as an address that holds it, by its id.

    Parameters
    ----------
    view : ReportView

    Returns
    -------
    dict of str to str
        Empty for the largest tables, where all together would make the page heavy.
    """
    texts = {table.id: table.csv for table in view.tables if table.source}
    uris = dict.fromkeys((table.id for table in view.tables), "")
    room = DOWNLOADS
    for name in sorted(texts, key=lambda name: len(texts[name].encode())):
        room -= len(texts[name].encode())
        if room >= 0:
            uris[name] = _data_uri("text/csv", texts[name])
    return uris


def every_row(table: Table) -> Table:
    """Return what a cut table opens to: all rows, if they are not too many."""
    return light(at_most(table.everything or table, MOST_ROWS))


def _data_uri(media_type: str, text: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(text.encode()).decode()}"


def _fill_template(
    view: ReportView,
    *,
    printing: bool,
    conformity: Rows = (),
    beside: Mapping[str, str] = MappingProxyType({}),
    template: str = "report.html.j2",
) -> str:
    digest = Styled("code", (templates_sha256()[:TEMPLATE_DIGITS],))
    made_with = ((say("control.templates"), say("control.sha256", digest=digest)),)
    return (
        _environment()
        .get_template(template)
        .render(
            view=view,
            labels=view.labels,
            references=view.references,
            words=look_up("page"),
            printing=printing,
            rendering=(*made_with, *conformity),
            conformity=conformity,
            beside=beside,
            screen_css=_screen_css(),
            svg_uri=svg_uri,
            every_row=every_row,
            handed_over={} if printing else handed_over(view),
            traces=partial(traces, path=view.path),
        )
    )


@cache
def _screen_css() -> str:
    from markupsafe import Markup

    text = (templates() / "screen.css").read_text(encoding="utf-8")
    return Markup(text)  # ours: no text of a user is in it


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["breakable"] = _breakable
    return environment


def _breakable(name: str) -> str:
    """Return a name that a narrow column may break between its words."""
    from markupsafe import Markup

    pieces = pieces_of(name)
    if len(name) <= NARROW:
        return name
    broken = Markup("<wbr>").join(pieces)
    # Paper breaks inside pieces too unless told not to, which only short ones bear.
    is_short = max(map(len, pieces)) <= PIECE
    return (
        Markup('<span class="joints">{}</span>').format(broken) if is_short else broken
    )
