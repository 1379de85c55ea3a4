"""The Word file: the words, tables and figures of the report, marked as a copy."""

import io
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest
from tests.report.made_variants import configured, result_of, view_of
from tests.report.page_reader import parse_page
from tests.report.pages.test_by_model import four
from tests.report.pages.test_pdf import output_of

from importance_audit.records.errors import DataError
from importance_audit.records.undated_zip import undated
from importance_audit.report.figures.typeface import width
from importance_audit.report.pages import docx
from importance_audit.report.pages.column_widths import PAGE, SIZE
from importance_audit.report.pages.docx import docx_files, pandoc_version, to_docx
from importance_audit.report.pages.html import print_html
from importance_audit.report.pages.plain_text import page_lines
from importance_audit.report.pages.report_views import report_views

pytestmark = pytest.mark.needs_pandoc

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@pytest.fixture(params=["apartments", "wide", "hostile"])
def any_name(request):
    """Return the name of each of the results that differ most, in turn."""
    return request.param


@cache
def bytes_of(name):
    return to_docx(view_of(name))


@cache
def document_of(name):
    return part_of(bytes_of(name))


def part_of(data, part="word/document.xml"):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return ElementTree.fromstring(file.read(part))


def style_of(data, name):
    styles = part_of(data, "word/styles.xml").iter(f"{W}style")
    return next(style for style in styles if style.get(f"{W}styleId") == name)


def text_of(element):
    return "".join(node.text or "" for node in element.iter(f"{W}t"))


def without_spaces(text):
    return re.sub(r"\s", "", text)


@cache
def page_of(name):
    return print_html(view_of(name), conformity="None claimed: this is a working copy.")


def alts_of(document):
    return [e.get("descr") for e in document.iter() if e.tag.endswith("}docPr")]


def test_the_word_file_says_all_that_the_printed_page_says(any_name):
    document = document_of(any_name)
    said = {*map(without_spaces, alts_of(document))}
    assert "\u200b" not in text_of(document)  # names can be searched for
    text = without_spaces(text_of(document))
    lines = page_lines(page_of(any_name))
    assert len(lines) > 100
    for line in map(without_spaces, lines):
        assert line in text or line in said


def test_every_table_of_the_page_is_a_table_with_all_its_rows_and_its_head(any_name):
    tables = list(document_of(any_name).iter(f"{W}tbl"))
    expected = parse_page(page_of(any_name)).all("table")
    assert len(expected) > 10
    rows = [len(list(table.iter(f"{W}tr"))) for table in tables]
    assert rows == [len(table.all("tr")) for table in expected]
    heads = [len(list(table.iter(f"{W}tblHeader"))) for table in tables]
    assert heads == [len(table.all("thead")) for table in expected]


def test_no_number_is_broken_in_its_column(any_name):
    style = style_of(bytes_of(any_name), "Table")
    ends = [style.find(f".//{W}tblCellMar/{W}{end}") for end in ("left", "right")]
    beside = sum(int(end.get(f"{W}w")) for end in ends) / 1440 * 25.4
    n_seen = 0
    for table in document_of(any_name).iter(f"{W}tbl"):
        shares = [int(column.get(f"{W}w")) for column in table.iter(f"{W}gridCol")]
        for row in table.iter(f"{W}tr"):
            texts = [text_of(cell) for cell in row.iter(f"{W}tc")]
            for text, share in zip(texts, shares, strict=True):
                if re.fullmatch(r"[−–\d., ]+", text):
                    n_seen += 1
                    room = PAGE * share / sum(shares) - beside
                    assert width(text, SIZE) <= room, (texts, text)
    assert n_seen > 10


def test_every_figure_is_a_picture_with_its_words_and_200_dots_per_inch(any_name):
    view, data = view_of(any_name), bytes_of(any_name)
    assert alts_of(part_of(data)) == [figure.alt for figure in view.figures]
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        pictures = [file.read(n) for n in file.namelist() if n.endswith(".png")]
        assert not [n for n in file.namelist() if n.endswith(".svg")]
    assert len(pictures) == len(view.figures)
    for png in pictures:
        width = int.from_bytes(png[16:20], "big")
        assert width == pytest.approx(174 / 25.4 * 200, abs=1)


def test_the_file_says_what_it_is_and_what_the_evidence_is():
    view, data = view_of("apartments"), bytes_of("apartments")
    first = next(document_of("apartments").iter(f"{W}p"))
    assert text_of(first) == (
        "Working copy. The evidence is the report with digest "
        f"{view.digest}. Anybody can change this file."
    )
    core = part_of(data, "docProps/core.xml")
    about = {element.tag.split("}")[1]: element.text for element in core}
    assert about["title"] == view.page_title
    assert about["language"] == view.language
    assert about["created"] == about["modified"] == view.created
    assert about["subject"] == "Working copy"


def test_links_lead_to_what_is_there(any_name):
    document = document_of(any_name)
    targets = {link.get(f"{W}anchor") for link in document.iter(f"{W}hyperlink")}
    marks = [mark.get(f"{W}name") for mark in document.iter(f"{W}bookmarkStart")]
    assert targets
    assert targets <= set(marks)


def test_the_same_view_gives_the_same_bytes_without_a_clock():
    assert to_docx(view_of("apartments")) == bytes_of("apartments")
    with zipfile.ZipFile(io.BytesIO(bytes_of("apartments"))) as file:
        assert {part.date_time for part in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def house_of(data):
    """Return a Word file with a style, a page and a text of its own."""

    def restyled(xml):
        size = rb'(?s)(w:styleId="Heading1".*?<w:sz w:val=")\d+'
        return re.sub(size, rb"\g<1>62", xml)

    def rewritten(xml):
        xml = re.sub(rb"<w:body>.*(?=<w:sectPr)", b"<w:body>OLD", xml, flags=re.S)
        text = b"<w:p><w:r><w:t>Replace this text.</w:t></w:r></w:p>"
        return xml.replace(b"OLD", text).replace(b'w:w="11906"', b'w:w="12240"')

    parts = {"word/styles.xml": restyled, "word/document.xml": rewritten}
    return undated(data, parts)


def test_a_reference_gives_styles_and_page_and_no_text(tmp_path):
    path = tmp_path / "house.docx"
    path.write_bytes(house_of(bytes_of("apartments")))
    data = to_docx(view_of("apartments"), reference=path)
    document = part_of(data)
    assert next(document.iter(f"{W}pgSz")).get(f"{W}w") == "12240"
    assert "Replace this text." not in text_of(document)
    assert text_of(next(document.iter(f"{W}p"))).startswith("Working copy.")
    heading = style_of(data, "Heading1")
    assert next(heading.iter(f"{W}sz")).get(f"{W}val") == "62"


@pytest.fixture
def converted(monkeypatch):
    """Return the references of the views that were to become Word files, without it."""
    references = []

    def noted(_, *, reference):
        references.append(reference)
        return b""

    monkeypatch.setattr(docx, "to_docx", noted)
    return references


def test_a_configured_reference_is_looked_for_in_the_folder_of_the_audit(
    tmp_path, converted
):
    report = {"reference": "house.docx", "profile": ""}
    result = configured(result_of("apartments"), report=report)
    volatile = {**result.run.volatile, "folder": str(tmp_path)}
    result = replace(result, run=replace(result.run, volatile=volatile))
    house = tmp_path / "house.docx"
    house.write_bytes(b"")
    docx_files(report_views(result), result)
    assert converted == [house]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_reference_that_is_no_word_file_is_refused(tmp_path, is_there):
    path = tmp_path / "house.docx"
    if is_there:
        path.write_text("no zip")
    with pytest.raises(DataError) as caught:
        to_docx(view_of("apartments"), reference=path)
    assert str(caught.value) == (
        f"The reference {str(path)!r} cannot be read as a Word file (.docx). Name one "
        "that Word has saved with --reference."
    )


@pytest.fixture
def pandoc(tmp_path, monkeypatch):
    """Return what puts a shell script in the place of pandoc."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def script(text, version="3.1"):
        path = tmp_path / "pandoc"
        answer = f'[ "$1" = --version ] && echo "pandoc {version}" && exit'
        path.write_text(f"#!/bin/sh\n{answer}\n{text}")
        path.chmod(0o755)

    return script


def refusal():
    with pytest.raises(DataError) as caught:
        to_docx(view_of("one feature"))
    return str(caught.value)


def test_without_pandoc_the_message_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal() == (
        "A Word file cannot be written without pandoc: [Errno 2] No such file or "
        "directory: 'pandoc'. Install it: apt-get install pandoc, or brew install "
        "pandoc."
    )


def test_an_old_pandoc_is_refused_and_a_newer_one_taken(pandoc):
    for version in ("2.17", "3.1", "3.11"):
        pandoc("", version)
        assert pandoc_version() == version
    pandoc("", "2.16.2")
    assert refusal() == (
        "pandoc must be 2.17 or newer; this is 2.16.2. Install it: apt-get install "
        "pandoc, or brew install pandoc."
    )


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            "echo Could not find data file >&2; exit 97",
            "pandoc ended with exit code 97 and wrote no Word file. It says: 'Could "
            "not find data file'. Name another reference, or install a newer pandoc.",
        ),
        (
            "exec sleep 600",
            "pandoc was stopped, because it was not done after 3 s. Call the command "
            "again when the machine is less busy.",
        ),
    ],
)
def test_how_pandoc_failed_is_in_the_message(pandoc, monkeypatch, script, sentence):
    pandoc(script)
    monkeypatch.setattr(docx, "SECONDS", 3.0)
    assert refusal() == sentence


@pytest.mark.usefixtures("converted")
def test_many_models_have_a_file_each():
    files = docx_files(report_views(four()), four())
    assert {path.removesuffix(".docx") for path in files} == {*report_views(four())}
    assert len(files) == 5


@pytest.mark.needs_libreoffice
@pytest.mark.needs_poppler
def test_libreoffice_opens_it_and_prints_every_word_and_picture(tmp_path):
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
    text = output_of("pdftotext", "-raw", pdf, "-")
    letters = without_spaces(text)
    for paragraph in document_of("apartments").iter(f"{W}p"):
        for words in text_of(paragraph).split():
            assert words in letters
    images = output_of("pdfimages", "-list", pdf)
    assert len(re.findall(r"\bimage\b", images)) >= len(view_of("apartments").figures)
