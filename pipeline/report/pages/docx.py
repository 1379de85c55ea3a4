"""A report as a Word file to work on: the sentences, tables and figures of the pages.

It is made from the HTML for paper, so that what stands where is decided once, in the
templates. The only user of python-docx. Not: evidence, which is the PDF.
"""

import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from ...records.errors import DataError
from ...records.result import AuditResult
from ...records.undated_zip import undated
from ...runs.run_context import NO_CONTEXT, RunContext
from ..figures.drawing import WIDTH, to_png
from ..figures.typeface import drawable
from ..text.blocks import Figure, plain
from ..text.wording import NO_BREAK, say, with_words, word
from .html import print_html
from .page_tree import INLINE, JOINT, Node, Piece, body_of, inline_of, pieces_in
from .report_views import report_views
from .table_layout import (
    MARGINS,
    Layout,
    Text,
    cells_of,
    layout_of,
    shares_of,
    widest,
)
from .view import ReportView

DPI = 200
MM = 36_000
"""Of the unit that Word measures pictures in."""
TWIPS = 1440 / 25.4
"""In a millimetre: what Word measures tables in."""
MARGIN = 18
"""Millimetres beside the text, of pages that no reference gives."""
MONO = "DejaVu Sans Mono"
HEADINGS = {"h1": "Title", "h2": "Heading 1", "h3": "Heading 2", "h4": "Heading 3"}
CLASSES = {
    "kicker": "Subtitle",
    "sub": "Subtitle",
    "big": "Verdict",
    "note": "Note",
    "lede": "Lead",
    "navhead": "Note",
}
OWN_STYLES = {
    "Verdict": (15, True),
    "Lead": (10, False),
    "Note": (8, False),
    "Table Text": (7.5, False),
    "Table Small": (6.5, False),
    "Caption": (8.5, False),
    "List Bullet": (9.5, False),
    "Subtitle": (10, False),
    **dict.fromkeys(HEADINGS.values(), (12, True)),
}
"""Paragraphs that a reference may lack: points, and whether they are bold."""
TOGETHER, ENDS = 8, 2
"""Rows of a table that no page divides, and at either end of a longer one."""


def docx_files(
    result: AuditResult,
    *,
    document: bytes = b"",
    profile: str = "",
    context: RunContext = NO_CONTEXT,
    reference: Path | None = None,
) -> dict[str, bytes]:
    """Return the report on a result as Word files, by path: one for each page.

    Parameters
    ----------
    result, document, profile, context
        As `report_views` takes them.
    reference : Path, optional
        A Word file to take the look from, instead of that of ``[report] reference``.

    Raises
    ------
    DataError
        If python-docx is missing, or the reference cannot be used.
    """
    if reference is None:
        reference = _configured_reference(result)
    views = report_views(result, profile=profile, context=context, document=document)
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
        written in it is left out. A style that it lacks is added plainly.

    Returns
    -------
    bytes
        The same for the same view and versions. Its first page says that it is no
        evidence, and which report is.

    Raises
    ------
    DataError
        If python-docx is missing, or the reference is no Word file.
    """
    with with_words(view.words):
        body = body_of(print_html(view, conformity=word("docx.conformity")))
        writer = _Writer(_document(reference), view, is_own=reference is None)
        writer.notice()
        writer.blocks(body)
        writer.close()
    file = io.BytesIO()
    writer.document.save(file)
    return undated(file.getvalue())


def _configured_reference(result: AuditResult) -> Path | None:
    """Return the reference that a run was configured with, in the folder it ran in."""
    name = result.run.config.get("report", {}).get("reference", "")
    base = Path(str(result.run.volatile.get("folder", "")))
    if name and not (base / name).is_file():
        raise DataError(
            f"The reference {name!r} of [report] is not in {str(base)!r}. Name a Word "
            "file with --reference."
        )
    return base / name if name else None


def _document(reference: Path | None) -> Any:
    """Return an empty document with the styles of the reference, or of python-docx."""
    try:
        import docx
    except ImportError as error:
        raise DataError(
            "A Word file cannot be written without python-docx. Run: pip install "
            f"python-docx (Debian: python3-docx). The import says: {error}."
        ) from error
    if reference is None:
        return docx.Document()
    try:
        document = docx.Document(str(reference))
    except OSError as error:
        raise DataError(
            f"The reference {str(reference)!r} cannot be read: "
            f"{(error.strerror or str(error)).lower()}. Name a .docx file."
        ) from error
    except Exception as error:  # python-docx names no class of its own for all of them
        raise DataError(
            f"The reference {str(reference)!r} is not a Word file (.docx): "
            f"{type(error).__name__} says: {error}. Save it as .docx in Word."
        ) from error
    body = document.element.body
    for element in list(body)[: -1 if body.sectPr is not None else None]:
        body.remove(element)
    return document


class _Writer:
    """Puts the elements of a page into a document, in their order."""

    def __init__(self, document: Any, view: ReportView, *, is_own: bool) -> None:
        self.document = document
        self._view, self._is_own = view, is_own
        self._figures: Mapping[str, Figure] = {f.id: f for f in view.figures}
        self._marks: dict[str, str] = {}
        self._pending: list[str] = []
        self._n_marks = 0
        self._is_headed = False
        self._last_row: Any = None
        self._styles = {style.name for style in document.styles}
        self._complete_styles(is_own)
        if is_own:
            self._page()
        self._properties()

    def notice(self) -> None:
        """Say at the top of the first page what this file is, and what it is not."""
        digest = say("docx.notice", digest=self._view.digest)
        self._paragraph([Piece(plain(digest), frozenset({"b"}))], "Note")

    def blocks(self, node: Node) -> None:
        """Write what an element holds: paragraphs, lists, tables, figures."""
        loose: list[str | Node] = []
        for item in (*node.inside, Node("end")):
            if isinstance(item, str) or item.tag in INLINE:
                loose.append(item)
                continue
            pieces = pieces_in(loose)
            if pieces and node.tag not in ("body", "main"):
                self._paragraph(pieces)
            loose = []
            self._block(item)

    def close(self) -> None:
        """Name document and marking at the foot of every page."""
        parts = [self._view.classification, word("docx.working_copy")]
        parts += [
            self._view.document,
            f"{word('page.digest')} {self._view.short_digest}",
        ]
        text = drawable(" · ".join(filter(None, parts)))
        first = self.document.sections[0]
        feet = [first.footer]
        if first.different_first_page_header_footer:
            feet.append(first.first_page_footer)
        if self.document.settings.odd_and_even_pages_header_footer:
            feet.append(first.even_page_footer)
        for foot in feet:
            paragraph = foot.add_paragraph(text, style=self._style("Note"))
            if self._is_own:
                paragraph.add_run(f" · {word('docx.page')}{NO_BREAK}")
                number = _below(paragraph._p, "w:fldSimple", instr="PAGE")
                _below(_below(number, "w:r"), "w:t").text = "1"
        self._leave_table("")
        if self._pending:  # a target below the last paragraph
            self._bookmark(self.document.add_paragraph()._p)

    def _block(self, node: Node) -> None:
        if node.tag in ("end", "head", "footer", "colgroup"):
            return
        if (own := node.attributes.get("id")) and node.tag != "table":
            self._pending.append(own)
        if node.tag in HEADINGS or "navhead" in node.classes:
            self._heading(node)
        elif node.tag == "p":
            style = next((CLASSES[c] for c in node.classes if c in CLASSES), "")
            self._paragraph(pieces_in(node.inside), style)
        elif node.tag == "li":
            self._paragraph(pieces_in(inline_of(node)), "List Bullet")
        elif node.tag == "table":
            self._table(node)
        elif node.tag == "figure":
            self._figure(node)
        elif "landscape" in node.classes:
            self._turn()
            self.blocks(node)
            self._turn()
        else:
            self.blocks(node)

    def _heading(self, node: Node) -> None:
        """Write a heading that no page leaves alone at its foot."""
        style = HEADINGS.get(node.tag, "Note")
        paragraph = self._paragraph(pieces_in(node.inside), style)
        paragraph.paragraph_format.keep_with_next = self._is_headed = True

    def _paragraph(self, pieces: list[Piece], style: str = "") -> Any:
        """Write a paragraph; the one below a heading stays with what follows it."""
        self._leave_table(style)
        paragraph = self.document.add_paragraph(
            style=self._style(style) if style else None
        )
        if self._is_headed:
            paragraph.paragraph_format.keep_with_next = True
            self._is_headed = False
        self._fill(paragraph._p, pieces)
        return paragraph

    def _fill(self, p: Any, pieces: Iterable[Piece], joint: str = "") -> None:
        """Put text into the element of a paragraph, and the marks that wait for it.

        Names have `joint` where they may break: nothing, so that they can be searched
        for, unless they are too long for their line.
        """
        self._bookmark(p)
        for piece in pieces:
            place = p
            if piece.target:
                place = _below(p, "w:hyperlink", anchor=self._mark(piece.target))
            run = _below(place, "w:r")
            _format(run, piece)
            for n, line in enumerate(piece.text.split("\n")):
                if n:
                    _below(run, "w:br")
                text = _below(run, "w:t")
                text.text = drawable(line.replace(JOINT, joint))
                text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")

    def _bookmark(self, p: Any) -> None:
        """Make a paragraph the target of the links that lead to what stands there."""
        for target in self._pending:
            self._n_marks += 1
            number = str(self._n_marks)
            _below(p, "w:bookmarkStart", id=number, name=self._mark(target))
            _below(p, "w:bookmarkEnd", id=number)
        self._pending.clear()

    def _mark(self, target: str) -> str:
        """Return a name that Word takes, at most 40 letters, for the id of a target."""
        return self._marks.setdefault(target, f"place_{len(self._marks) + 1}")

    def _table(self, node: Node) -> None:
        """Write a caption and a table whose head is repeated on every page."""
        heads = sum(1 for head in node.all("thead") for _ in head.all("tr"))
        table_rows = enumerate(node.all("tr"))
        rows = [cells_of(row, is_head=n < heads) for n, row in table_rows]
        layout = self._layout(node, rows)
        if layout.is_turned:
            self._turn()
        self._leave_table("")
        for caption in node.all("caption"):
            self._pending.append(node.attributes.get("id", ""))
            paragraph = self._paragraph(pieces_in(caption.inside), "Caption")
            paragraph.paragraph_format.keep_with_next = True
        self._grid(node, rows, layout, heads)
        if layout.is_turned:
            self._turn()

    def _grid(
        self, node: Node, rows: list[list[Text]], layout: Layout, heads: int
    ) -> None:
        """Write a table: its head on every page, no row divided, no few rows alone."""
        table = self.document.add_table(rows=0, cols=len(layout.widths))
        table.autofit = False
        if self._is_own or "Table Grid" not in self._styles:
            _rule(table._tbl.tblPr)
        else:
            table.style = "Table Grid"
        for column, width in zip(table.columns, layout.widths, strict=True):
            column.width = int(width * MM)
        first, last = heads + ENDS, len(rows) - 1
        for n, row in enumerate(node.all("tr")):
            self._pending += filter(None, [row.attributes.get("id", "")])
            is_end = n < first or n >= last - ENDS or len(rows) <= TOGETHER + heads
            tr = self._row(rows[n], layout, is_kept=is_end and n < last)
            if n < heads:
                _below(tr.trPr, "w:tblHeader")
            table._tbl.append(tr)
            self._last_row = tr

    def _leave_table(self, style: str) -> None:
        """Keep a table with the note below it; leave a line before anything else."""
        if self._last_row is None:
            return
        if style == "Note":
            for about in self._last_row.xpath(".//w:pPr"):
                about.insert(1, _element("w:keepNext"))
        else:
            self.document.add_paragraph(style=self._style("Note"))
        self._last_row = None

    def _row(self, cells: list[Text], layout: Layout, *, is_kept: bool) -> Any:
        """Return a row that no page divides, and that stays with the next if kept."""
        row = _element("w:tr")
        _below(_below(row, "w:trPr"), "w:cantSplit")
        for cell, width in zip(cells, layout.widths, strict=True):
            tc = _below(row, "w:tc")
            _below(_below(tc, "w:tcPr"), "w:tcW", w=f"{width * TWIPS:.0f}", type="dxa")
            p = _below(tc, "w:p")
            about = _below(p, "w:pPr")
            _below(about, "w:pStyle", val=self._style(layout.style).style_id)
            if is_kept:
                _below(about, "w:keepNext")
            if cell.is_number:
                _below(about, "w:jc", val="right")
            is_long = widest(cell.pieces, layout.points) > width - MARGINS
            self._fill(p, cell.pieces, JOINT if is_long else "")
        return row

    def _layout(self, node: Node, rows: list[list[Text]]) -> Layout:
        sizes = []
        for name in ("Table Text", "Table Small"):
            size = self._style(name).font.size
            sizes.append((name, size.pt if size else OWN_STYLES[name][0]))
        return layout_of(rows, shares_of(node, len(rows[0])), self._room(), sizes)

    def _figure(self, node: Node) -> None:
        """Write a figure with its alternative text, then its caption."""
        figure = self._figures[node.attributes["id"]]
        png = to_png(partial(figure.draw, **figure.data, salt=figure.id), dpi=DPI)
        wide, high = figure.size
        width, height = self._room()
        shown = min(WIDTH, width, 0.8 * height * wide / high)
        paragraph = self._paragraph([])
        paragraph.paragraph_format.keep_with_next = True
        picture = paragraph.add_run().add_picture(
            io.BytesIO(png), width=int(shown * MM)
        )
        picture._inline.docPr.set("name", figure.id)
        picture._inline.docPr.set("descr", drawable(figure.alt))
        for caption in node.all("figcaption"):
            self._paragraph(pieces_in(caption.inside), "Caption")

    def _room(self) -> tuple[float, float]:
        """Return width and height of the text of the pages written now, millimetres."""
        section = self.document.sections[-1]
        width = section.page_width - section.left_margin - section.right_margin
        height = section.page_height - section.top_margin - section.bottom_margin
        return width / MM, height / MM

    def _turn(self) -> None:
        """Begin pages that are as wide as those before were high."""
        from docx.enum.section import WD_ORIENT

        section = self.document.add_section()
        width, height = section.page_height, section.page_width
        section.page_width, section.page_height = width, height
        is_wide = width > height
        section.orientation = WD_ORIENT.LANDSCAPE if is_wide else WD_ORIENT.PORTRAIT

    def _page(self) -> None:
        section = self.document.sections[0]
        section.page_width, section.page_height = 210 * MM, 297 * MM
        section.left_margin = section.right_margin = MARGIN * MM
        section.top_margin = section.bottom_margin = 20 * MM

    def _complete_styles(self, is_own: bool) -> None:
        """Add the styles that are missing; without a reference, set type and size."""
        from docx.shared import Pt

        for name, (points, is_bold) in OWN_STYLES.items():
            is_new = name not in self._styles
            if is_new:
                style = self.document.styles.add_style(name, 1)
                style.base_style = self.document.styles["Normal"]
                self._styles.add(name)
            if is_new or (is_own and not name.startswith(("Heading", "Title"))):
                style = self.document.styles[name]
                style.font.size, style.font.bold = Pt(points), is_bold
                style.paragraph_format.space_after = Pt(0 if "Table" in name else 4)
                style.paragraph_format.space_before = Pt(3 if name == "Note" else 0)
        if is_own:
            font = self.document.styles["Normal"].font
            font.name, font.size = "Calibri", Pt(9.5)

    def _style(self, name: str) -> Any:
        return self.document.styles[name]

    def _properties(self) -> None:
        """Say what the document is in the fields that file managers show."""
        view, about = self._view, self.document.core_properties
        instant = datetime.fromisoformat(view.created.replace("Z", "+00:00"))
        about.created = about.modified = instant.replace(tzinfo=None)
        about.title = drawable(view.page_title)[:255]
        about.subject = word("docx.working_copy")
        about.author = about.last_modified_by = "importance-audit"
        about.comments = f"{word('page.digest')} {view.digest}"
        about.identifier, about.language = view.short_digest, view.language
        about.keywords, about.revision = "", 1


def _format(run: Any, piece: Piece) -> None:
    """Give a run the look of its piece, in the order that Word's schema asks for."""
    look = piece.look
    if not look & {"b", "em", "code", "sub"} and not piece.target:
        return
    about = _below(run, "w:rPr")
    if "code" in look:
        _below(about, "w:rFonts", ascii=MONO, hAnsi=MONO, cs=MONO)
    if "b" in look:
        _below(about, "w:b")
    if "em" in look:
        _below(about, "w:i")
    if piece.target:
        _below(about, "w:color", val="0B4F79")
    if "sub" in look:
        _below(about, "w:vertAlign", val="subscript")


def _rule(properties: Any) -> None:
    """Give a table level lines and narrow margins, as the pages have them."""
    from docx.oxml import OxmlElement

    lines, margins = OxmlElement("w:tblBorders"), OxmlElement("w:tblCellMar")
    for side in ("top", "bottom", "insideH"):
        _below(lines, f"w:{side}", val="single", sz="4", space="0", color="B9C1C8")
    for side in ("left", "right"):
        _below(margins, f"w:{side}", w="57", type="dxa")
    properties.insert_element_before(lines, "w:tblLayout", "w:tblLook")
    properties.insert_element_before(margins, "w:tblLook")


def _below(parent: Any, tag: str, **attributes: str) -> Any:
    """Return a new last child of an element of a Word file."""
    element = _element(tag, **attributes)
    parent.append(element)
    return element


def _element(tag: str, **attributes: str) -> Any:
    """Return an element of a Word file."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement(tag)
    for name, value in attributes.items():
        element.set(qn(f"w:{name}"), value)
    return element
