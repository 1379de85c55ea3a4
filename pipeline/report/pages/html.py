"""A ReportView as one self-contained HTML file, and the files of a report."""

import base64
import io
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import quote

from markupsafe import Markup

from ...records.ranking import lead_of
from ...records.result import AuditResult
from ...records.template_folder import templates
from ..text.blocks import Figure, Section
from ..text.wording import look_up, say, with_words, word
from .compose import Composed, compose, filled
from .fonts import fonts_of
from .inline import html_of
from .pdf import conformity_statement, to_pdf
from .report_views import MAIN
from .template_files import environment
from .view import ReportView, build_view

FINDINGS = 10
"""Most findings of a result in a notebook; the others are counted."""
DPI = 200
"""Resolution of a figure as PNG, enough for print from a text processor."""
FIGURES = "figures"
"""The folder of figure files, next to the page."""
ON_SCREEN = ("glossary",)
"""Sections that are not printed."""
NO_FILES: Mapping[str, bytes] = MappingProxyType({})
BLUE = "#0b4f79"
"""The default accent on white, in both style sheets."""


def section_html(section: Section) -> str:
    """Return a page of one section only, for `plain_text`."""
    return to_html(ReportView(sections=(section,)))


class Page:
    """A report that a notebook displays."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        """Return the page in an iframe, so that styles do not mix."""
        return Markup(
            '<iframe title="{}" srcdoc="{}" sandbox="" '
            'style="width: 100%; height: 80vh; border: 0"></iframe>'
        ).format(word("page.report"), self.html)


def to_html(
    view: ReportView,
    *,
    figures: str = "",
) -> str:
    """Return the report as one self-contained HTML file.

    Parameters
    ----------
    view : ReportView
    figures : str, default ""
        The folder of figure files, relative to the page; without it, captions have no
        links to such files.

    Returns
    -------
    str
        HTML without external addresses and without scripts but screen.js; a content
        security policy forbids all others. The same bytes for the same view.
    """
    with with_words(view.words):
        labels = view.composed.labels

        def files(name: str) -> str:
            file = f"{quote(figures)}/{name.removeprefix('fig-')}"
            return Markup(
                ' <span class="take"><a href="{0}.svg">{1} {2}</a>, '
                '<a href="{0}.png">{3}</a></span>'
            ).format(file, labels[name], word("page.as_svg"), word("page.as_png"))

        return filled(
            _page(view, view.composed),
            labels,
            {"files": files if figures else lambda _: ""},
            elsewhere=lambda _, text: text or word("profiles.elsewhere"),
        )


def print_html(view: ReportView, *, conformity: str) -> str:
    """Return the report as HTML for print.

    It has no style sheet: the renderer is given print.css.

    Parameters
    ----------
    view : ReportView
    conformity : str
        The statement on PDF/A and PDF/UA of the renderer's output.
    """
    claim = (say("control.conformity"), (conformity,))
    composed = compose(
        [section for section in view.sections if section.name not in ON_SCREEN],
        path=view.path,
        printing=True,
        is_short=view.is_short,
        conformity=(claim,),
    )

    def elsewhere(target: str, text: str) -> str:
        if target in view.composed.ids:
            return str(html_of(say("profiles.on_screen", what=Markup(text))))
        return text or word("profiles.elsewhere")

    return filled(
        _page(view, composed, printing=True),
        view.composed.labels,
        {"files": lambda _: ""},
        elsewhere,
    )


def html_files(
    views: Mapping[str, ReportView], figures: str = FIGURES
) -> dict[str, bytes | str]:
    """Return the HTML of the views of a result.

    Parameters
    ----------
    views : mapping of str to ReportView
        The result of `report_views`.
    figures : str, default "figures"
        The folder of the figures of the first page, relative to it.

    Returns
    -------
    dict
        The text of each page by path: report.html, and for more than three models one
        page per model below models/.
    """
    files: dict[str, bytes | str] = {}
    for path, view in views.items():
        folder = PurePosixPath(_figures_of(path, figures))
        files[f"{path}.html"] = to_html(
            view, figures=str(folder.relative_to(PurePosixPath(path).parent))
        )
    return files


def figure_files(
    views: Mapping[str, ReportView], figures: str = FIGURES
) -> dict[str, bytes | str]:
    """Return the figures of the views by path, each as SVG and as PNG."""
    files: dict[str, bytes | str] = {}
    for path, view in views.items():
        folder = _figures_of(path, figures)
        with with_words(view.words):
            for figure in view.figures:
                files[f"{folder}/{figure.file}.svg"] = figure.svg
                files[f"{folder}/{figure.file}.png"] = png_of(figure)
    return files


def png_of(figure: Figure) -> bytes:
    """Return a figure as PNG."""
    png: bytes = figure.draw(**figure.data).png(DPI)
    return png


def _figures_of(path: str, figures: str) -> str:
    """Return the folder of the figures of a page."""
    return figures if path == MAIN else f"{path}/{FIGURES}"


def pdf_files(
    views: Mapping[str, ReportView],
    result: AuditResult,
    attachments: Mapping[str, bytes] = NO_FILES,
) -> dict[str, bytes]:
    """Return the PDF of each view of a result by path, with `attachments` embedded.

    Raises
    ------
    importance_audit.report.pages.pdf.PdfError
        If a PDF cannot be made.
    """
    fonts = fonts_of(result)
    files = {}
    for path, view in views.items():
        with with_words(view.words):
            page = print_html(view, conformity=conformity_statement())
        files[f"{path}.pdf"] = to_pdf(
            page,
            print_css=_style("print.css", view),
            created=datetime.fromisoformat(view.created),
            identifier=view.digest[:32].encode(),
            fonts=fonts,
            attachments=attachments,
        )
    return files


def _style(name: str, view: ReportView) -> str:
    """Return a style sheet with the accent of a view, which dark mode ignores."""
    css = own_file(name)
    return css.replace(BLUE, view.accent) if view.accent else css


def show(result: AuditResult) -> Page:
    """Return the report on a result as an object that a notebook displays."""
    return Page(to_html(build_view(result, has_folder=False)))


def card(result: AuditResult) -> str:
    """Return verdict, leading ranking and findings as HTML for a notebook.

    It has no script and no external address.
    """
    from ..figures import notebook

    record, svg = lead_of(result.importances), ""
    if record is not None:
        file = io.StringIO()
        drawn = notebook.ranking(record, result.interval_of(record))
        drawn.savefig(file, format="svg")
        svg = file.getvalue()
        svg = svg[svg.index("<svg") :]
    findings = [group[0] for group in result.grouped_findings]
    template = environment().get_template("notebook_card.html.j2")
    return template.render(
        words=look_up("page"),
        severities=look_up("severity"),
        verdict=result.verdict,
        svg=Markup(svg),
        findings=findings[:FINDINGS],
        n_more=max(len(findings) - FINDINGS, 0),
    )


def _page(view: ReportView, composed: Composed, *, printing: bool = False) -> str:
    """Return the page with its sections, markers not yet replaced."""
    # A report lists brief sections in its contents instead of showing them.
    brief = composed.brief if view.digest else frozenset[str]()
    # Stripped, because the hash in the security policy includes white space.
    script = own_file("screen.js").strip()
    script_hash = base64.b64encode(sha256(script.encode()).digest()).decode()
    template = environment().get_template("page.html.j2")
    return template.render(
        view=view,
        sections=view.sections,
        bodies=[body for k, body in composed.bodies.items() if k not in brief],
        brief=brief,
        words=look_up("page"),
        path=view.path,
        printing=printing,
        screen_css=_style("screen.css", view),
        script=script,
        script_hash=f"sha256-{script_hash}",
    )


@cache
def own_file(name: str) -> str:
    """Return a style sheet or script, not escaped: it has no text of a user."""
    return Markup((templates() / name).read_text(encoding="utf-8"))
