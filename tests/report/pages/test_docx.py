"""The Word file: the words, tables and figures of the report, marked as a copy."""

import io
import re
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pandas as pd
import pytest
from tests.report.made_variants import plain_result, result_of, view_of

from importance_audit.records.errors import DataError
from importance_audit.report.pages.docx import docx_files, to_docx
from importance_audit.report.pages.report_views import report_views
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

pytestmark = pytest.mark.needs_docx

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@cache
def bytes_of(name):
    return to_docx(view_of(name))


def opened(data):
    from docx import Document

    return Document(io.BytesIO(data))


def text_of(element):
    return "".join(node.text or "" for node in element.iter(f"{W}t"))


def captioned_tables(document):
    """Return the text of the paragraph before each table, and its cells."""
    body = [e for e in document.element.body if e.tag in (f"{W}p", f"{W}tbl")]
    return [
        (
            text_of(before),
            [[text_of(tc) for tc in tr.iter(f"{W}tc")] for tr in tbl.iter(f"{W}tr")],
        )
        for before, tbl in pairwise(body)
        if tbl.tag == f"{W}tbl"
    ]


def squeezed(text):
    """Return a text with the blanks that a page shows as one."""
    return re.sub(r"[ \n]+", " ", text).strip()


def cells_of(table):
    """Return head and rows of a table of the report as texts, bars left out."""
    if any(column.kind == "bar" for column in table.columns):
        table = table.without_bars
    head = [squeezed(plain(column.label)) for column in table.columns]
    return [
        head,
        *([squeezed(shown(cell)) for cell in row.cells] for row in table.rows),
    ]


def shown(cell):
    parts = cell.parts
    return parts[0].text if cell.exact else "".join(map(text_of_part, parts))


def text_of_part(part):
    if getattr(part, "kind", "") == "badge":
        return f"{part.shape} {part.label}"
    if getattr(part, "kind", "") == "styled":
        return "".join(map(text_of_part, part.parts))
    if getattr(part, "kind", "") == "link" and not part.text:
        return "\0"
    return plain((part,))


def alike(row, expected):
    """Return whether the cells are those expected; what names a table is not held."""
    patterns = (re.escape(text).replace("\0", ".*") for text in expected)
    return len(row) == len(expected) and all(
        re.fullmatch(pattern, squeezed(text), re.S)
        for pattern, text in zip(patterns, row, strict=True)
    )


def test_every_table_of_the_printed_report_is_there_cell_by_cell(any_name):
    view = view_of(any_name)
    found = captioned_tables(opened(bytes_of(any_name)))
    by_label = {caption.split(".")[0]: rows for caption, rows in found}
    assert len(view.on_paper.tables) >= 5
    for table in view.on_paper.tables:
        rows, expected = by_label[view.labels[table.id]], cells_of(table)
        assert len(rows) == len(expected), table.id
        for row, cells in zip(rows, expected, strict=True):
            assert alike(row, cells), (table.id, row, cells)


def test_what_paper_appends_is_there_too():
    view = view_of("wide")
    assert view.appendix
    text = text_of(opened(bytes_of("wide")).element.body)
    for table in view.appendix:
        for row in table.rows:
            assert shown(row.cells[1]) in text


def test_every_figure_is_a_picture_with_its_words_and_200_dots_per_inch(any_name):
    view, document = view_of(any_name), opened(bytes_of(any_name))
    pictures = document.inline_shapes
    names = [shape._inline.docPr.get("name") for shape in pictures]
    assert names == [figure.id for figure in view.figures]
    for shape, figure in zip(pictures, view.figures, strict=True):
        assert shape._inline.docPr.get("descr") == figure.alt
        (rid,) = shape._inline.xpath(".//a:blip/@r:embed")
        png = document.part.related_parts[rid].blob
        width = struct.unpack(">I", png[16:20])[0]
        assert width == pytest.approx(174 / 25.4 * 200, abs=1)


def test_every_figure_is_followed_by_its_caption():
    view, document = view_of("apartments"), opened(bytes_of("apartments"))
    paragraphs = document.paragraphs
    places = [n for n, p in enumerate(paragraphs) if p._p.xpath(".//w:drawing")]
    for place, figure in zip(places, view.figures, strict=True):
        below = paragraphs[place + 1]
        assert below.style.name == "Caption"
        assert below.text.startswith(view.labels[figure.id])


def test_sections_are_headings_in_the_order_of_the_report(any_name):
    view = view_of(any_name)
    paragraphs = opened(bytes_of(any_name)).paragraphs
    heads = [p.text for p in paragraphs if p.style.name == "Heading 1"]
    expected = [f"{section.letter} {section.title}" for section in view.sections]
    assert heads[: len(expected)] == expected
    assert sum(p.style.name == "Title" for p in paragraphs) == 1


def test_the_first_line_says_what_the_file_is_and_what_the_evidence_is():
    view = view_of("apartments")
    first = opened(bytes_of("apartments")).paragraphs[0].text
    assert first == (
        f"Working copy. The evidence is report.pdf with digest {view.digest}. Anybody "
        "can change this file."
    )


def test_every_page_is_marked_as_a_working_copy_with_document_and_digest():
    view = view_of("apartments")
    foot = opened(bytes_of("apartments")).sections[0].footer
    text = "\n".join(paragraph.text for paragraph in foot.paragraphs)
    assert "Working copy" in text
    assert view.document in text
    assert view.short_digest in text


def test_links_lead_to_what_is_there(any_name):
    body = opened(bytes_of(any_name)).element.body
    targets = {link.get(f"{W}anchor") for link in body.iter(f"{W}hyperlink")}
    marks = [mark.get(f"{W}name") for mark in body.iter(f"{W}bookmarkStart")]
    assert targets
    assert targets <= set(marks)
    assert len(marks) == len(set(marks))


def test_the_head_of_a_table_is_repeated_and_no_row_is_cut():
    body = opened(bytes_of("wide")).element.body
    rows = list(body.iter(f"{W}tr"))
    assert all(row.xpath("./w:trPr/w:cantSplit") for row in rows)
    heads = [row for row in rows if row.xpath("./w:trPr/w:tblHeader")]
    assert len(heads) >= len(view_of("wide").on_paper.tables)


@pytest.mark.parametrize("name", ["apartments", "hostile"])
def test_the_same_view_gives_the_same_bytes(name):
    assert to_docx(view_of(name)) == bytes_of(name)


def test_no_clock_is_in_the_file(monkeypatch):
    view = view_of("apartments")
    monkeypatch.setattr(time, "time", lambda: 4e9)
    monkeypatch.setattr(
        time, "localtime", lambda *_: time.struct_time([2099] + [1] * 8)
    )
    data = to_docx(view)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert {part.date_time[0] for part in file.infolist()} == {1980}
    assert opened(data).core_properties.created.year == int(view.created[:4])


def test_characters_that_xml_forbids_are_shown():
    view = build_view(plain_result(("a\x0bb", "c")))
    assert "⟨U+000B⟩" in text_of(opened(to_docx(view)).element.body)


@pytest.fixture
def house(tmp_path):
    """Return a file with a logo in its header, a style of its own, text and a foot."""
    from docx import Document
    from docx.shared import Mm, Pt

    document = Document()
    document.styles["Heading 1"].font.size = Pt(31)
    document.styles["Heading 1"].font.name = "House Serif"
    document.sections[0].page_width = Mm(216)
    document.sections[0].header.paragraphs[0].text = "The House"
    document.sections[0].footer.paragraphs[0].text = "House Street 1"
    document.add_paragraph("Replace this text.")
    path = tmp_path / "house.docx"
    document.save(path)
    return path


def test_a_reference_gives_styles_page_header_and_foot_and_no_text(house):
    document = opened(to_docx(view_of("apartments"), reference=house))
    assert document.styles["Heading 1"].font.name == "House Serif"
    assert document.styles["Heading 1"].font.size.pt == 31
    section = document.sections[0]
    assert round(section.page_width.mm) == 216
    assert section.header.paragraphs[0].text == "The House"
    texts = [paragraph.text for paragraph in section.footer.paragraphs]
    assert texts[0] == "House Street 1"
    assert "Working copy" in texts[1]
    assert "Replace this text." not in text_of(document.element.body)
    assert document.paragraphs[0].text.startswith("Working copy.")


def test_a_configured_reference_is_looked_for_in_the_folder_of_the_audit(
    house, tmp_path
):
    result = with_reference("house.docx", tmp_path)
    (data,) = docx_files(result).values()
    assert opened(data).sections[0].header.paragraphs[0].text == "The House"
    house.unlink()
    with pytest.raises(DataError) as caught:
        docx_files(result)
    assert str(caught.value) == (
        f"The reference 'house.docx' of [report] is not in {str(tmp_path)!r}. Name a "
        "Word file with --reference."
    )


def with_reference(name, folder):
    result = result_of("apartments")
    config = {**result.run.config, "report": {"reference": name, "profile": ""}}
    volatile = {**result.run.volatile, "folder": str(folder)}
    return replace(result, run=replace(result.run, config=config, volatile=volatile))


def test_a_reference_that_is_no_word_file_is_refused(tmp_path):
    path = tmp_path / "house.docx"
    path.write_text("no zip")
    with pytest.raises(DataError) as caught:
        to_docx(view_of("apartments"), reference=path)
    message = str(caught.value)
    assert message.startswith(
        f"The reference {str(path)!r} is not a Word file (.docx): "
    )
    assert message.endswith(" Save it as .docx in Word.")


def test_without_python_docx_the_message_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(DataError) as caught:
        to_docx(view_of("apartments"))
    assert str(caught.value).startswith(
        "A Word file cannot be written without python-docx. Run: pip install "
        "python-docx (Debian: python3-docx). The import says: "
    )


def test_many_models_have_a_file_each():
    result = result_of("apartments")
    copies = (
        replace(record, model="net")
        for record in result.importances
        if record.model == "svm"
    )
    models = result.models[result.models["model"] == "svm"].assign(model="net")
    models = pd.concat([result.models, models], ignore_index=True)
    records = (*result.importances, *copies)
    result = replace(result, models=models, importances=records)
    files = docx_files(result)
    assert {path.removesuffix(".docx") for path in files} == {*report_views(result)}
    assert len(files) == 5


@pytest.mark.needs_libreoffice
@pytest.mark.needs_poppler
def test_libreoffice_opens_it_and_prints_every_word_and_picture(tmp_path):
    view = view_of("apartments")
    path = tmp_path / "report.docx"
    path.write_bytes(bytes_of("apartments"))
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    subprocess.run(
        [shutil.which("soffice"), home, "--headless", "--convert-to", "pdf", path],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=180,
    )
    pdf = tmp_path / "report.pdf"
    text = subprocess.run(
        ["pdftotext", "-raw", pdf, "-"], check=True, capture_output=True
    ).stdout.decode()
    letters = re.sub(r"\s", "", text)
    for paragraph in opened(bytes_of("apartments")).paragraphs:
        for words in text_of(paragraph._p).split():
            assert words in letters
    for table in view.on_paper.tables:
        for row in cells_of(table):
            for cell in row:
                for piece in re.split(r"[\s\0]+", cell):
                    assert piece in letters, (table.id, piece)
    images = subprocess.run(
        ["pdfimages", "-list", pdf], check=True, capture_output=True
    ).stdout.decode()
    assert len(re.findall(r"\bimage\b", images)) >= len(view.figures)


def test_no_heading_ends_a_page_and_what_follows_it_stays_with_the_next(any_name):
    paragraphs = opened(bytes_of(any_name)).paragraphs
    heads = [n for n, p in enumerate(paragraphs) if p.style.name.startswith("Heading")]
    assert heads
    for n in heads:
        assert paragraphs[n].paragraph_format.keep_with_next
        assert paragraphs[n + 1].paragraph_format.keep_with_next


def test_no_table_leaves_a_page_and_a_short_one_is_not_divided(any_name):
    document = opened(bytes_of(any_name))
    rooms = [
        (s.page_width - s.left_margin - s.right_margin) / 36_000
        for s in document.sections
    ]
    assert document.tables
    for table in document.tables:
        width = sum(column.width for column in table.columns) / 36_000
        assert any(width == pytest.approx(room, abs=0.1) for room in rooms)
        kept = [bool(row._tr.xpath(".//w:keepNext")) for row in table.rows]
        assert all(kept[:2][: len(kept) - 1])
        if len(kept) <= 8:
            assert all(kept[:-1])


def test_a_name_breaks_only_where_it_is_too_long_for_its_column():
    long = "annual_gross_income_" * 7
    view = build_view(plain_result([long, "months_since_most_recent"]))
    text = text_of(opened(to_docx(view)).element.body)
    assert "months_since_most_recent" in text
    assert "annual_\u200bgross_\u200bincome_" in text
