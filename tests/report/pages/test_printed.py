"""Whole reports on paper: pages, headings, tags, and the checks that a run keeps."""

import io
import re
import subprocess
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from tests.report.made_variants import view_of
from tests.report.printed import PRINTED, page_of, report

from importance_audit.report.pages import pdf
from importance_audit.report.pages.html import page_files, print_html
from importance_audit.report.pages.pdf_checks import checks_of
from importance_audit.report.text.blocks import plain

MARGIN = 18 / 210
pytestmark = pytest.mark.needs_poppler


@pytest.fixture(params=list(PRINTED))
def printed(request):
    """Return each of the printed reports in turn."""
    return report(request.param)


@pytest.fixture
def opened(printed):
    """Return a printed report as pikepdf opens it."""
    with pytest.importorskip("pikepdf").open(printed.path) as document:
        yield document


def ink(path):
    """Return, page by page, where it is darker than paper."""
    command = ["pdftoppm", "-r", "24", "-gray", str(path)]
    rest = subprocess.run(command, capture_output=True, check=True).stdout
    while rest:
        head = re.match(rb"P5\s(\d+)\s(\d+)\s255\s", rest)
        width, height = int(head[1]), int(head[2])
        end = head.end() + width * height
        pixels = np.frombuffer(rest[head.end() : end], np.uint8)
        yield pixels.reshape(height, width) < 250
        rest = rest[end:]


def outline_of(document):
    """Return (level, title, page from 1) of every bookmark."""
    places = {page.objgen: n for n, page in enumerate(document.pages, start=1)}

    def entries(items, level):
        for item in items:
            yield level, item.title, places[item.destination[0].objgen]
            yield from entries(item.children, level + 1)

    with document.open_outline() as outline:
        return list(entries(outline.root, 1))


def words(text):
    """Return a text with single spaces."""
    return " ".join(text.split())


def test_the_executive_page_is_the_first_page_and_one_page(printed):
    text = words(printed.pages[0])
    assert words(plain(printed.view.title)) in text
    assert "Executive page" in text
    assert "Decision requested" in text
    assert page_of(printed.pages, "A Document control") == 2


@pytest.mark.parametrize("name", PRINTED)
def test_the_executive_profile_is_two_pages_without_contents(name, tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(page_files(report(name).result, profile="executive")["report.pdf"])
    command = ["pdftotext", "-layout", str(path), "-"]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    first, second, end = text.split("\f")
    assert "Decision requested" in first
    for title in ("Document control", "Thresholds and verdicts", "Sign-off"):
        assert title in second
    assert "....." not in second
    assert not end


def test_no_two_numbers_of_a_page_touch(printed):
    for page in printed.pages:
        assert not re.search(r"\d[.]\d+−\d|\d[.]\d{4,}[.]\d", page)


def test_no_ink_stands_in_the_right_margin_and_no_page_is_blank(printed):
    for page in ink(printed.path):
        height, width = page.shape
        assert not page[:, round(width * (1 - MARGIN)) + 1 :].any()
        text = page[height * 22 // 297 : height * 277 // 297]
        assert text.any(axis=1).mean() > 0.03


def test_the_page_numbers_of_the_contents_are_those_of_the_pages(printed):
    command = ["pdftotext", "-layout", "-f", "2", "-l", "2", str(printed.path), "-"]
    second = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    entries = re.findall(r" ([A-Q])  +(\w[^.\n]*?)[ .]{3,}(\d+)$", second, re.M)
    assert [letter for letter, _, _ in entries] == list("BACDEFGHIJKLMNOPQ")
    for letter, title, number in entries:
        heading = f"{letter} {title}"
        assert page_of(printed.pages, heading) == int(number)


def test_bookmarks_are_the_headings_where_they_stand(printed, opened):
    html = print_html(printed.view, conformity="")
    html = re.sub(r'<div class="q(?: ask| full)?">.*?</h3>', "", html, flags=re.DOTALL)
    heads = re.findall(r"<h([23])[^>]*>(.*?)</h\1>", html, re.DOTALL)
    headings = [
        (int(level) - 1, words(unescape(re.sub("<[^>]+>", "", text))))
        for level, text in heads
    ]
    bookmarks = outline_of(opened)
    assert [(level, words(title)) for level, title, _ in bookmarks] == headings
    for _, title, page in bookmarks:
        assert words(title) in words(printed.pages[page - 1])


def test_no_page_ends_with_a_heading_or_a_caption(printed):
    heads = [f"{section.letter} {section.title}" for section in printed.view.sections]
    labels = printed.view.labels
    captions = [
        words(f"{labels[table.id]}. {plain(table.caption)}")
        for table in printed.view.tables
    ]
    furniture = 2  # the running head, and the foot
    for page in printed.pages[1:]:
        line = page.splitlines()[-1 - furniture]
        assert line not in heads
        assert not any(caption.endswith(words(line)) for caption in captions)


def test_the_checks_of_a_report_pass_or_say_why_they_were_not_run(printed):
    checks = checks_of(printed.path.read_bytes(), printed.view)
    tags = {"figures", "headings", "headers"}
    is_tagged = pdf.capability().mode == "pdf/a-3a"
    for check in checks:
        expected = "pass" if is_tagged or check.id not in tags else "not run"
        assert check[:2] == (check.id, expected), check.why


def test_the_file_says_of_itself_what_the_report_says_of_it(opened):
    stream = opened.Root.get("/Metadata")
    metadata = stream.read_bytes() if stream is not None else b""
    mode = pdf.capability().mode
    level = re.search(rb"pdfaid:conformance\W+(\w)", metadata)
    assert (mode == "pdf/a-3a") == (level is not None and level[1] == b"A")
    assert bool(opened.Root.get("/MarkInfo")) == (mode == "pdf/a-3a")


def changed(path, change):
    """Return the bytes of a printed report after a change."""
    pikepdf = pytest.importorskip("pikepdf")
    with pikepdf.open(path) as document:
        change(pikepdf, document)
        file = io.BytesIO()
        document.save(file, fix_metadata_version=False)
    return file.getvalue()


def call_it_accessible(pikepdf, document):
    claim = b"<x xmlns:pdfuaid='http://www.aiim.org/pdfua/ns/id/' pdfuaid:part='1'/>"
    document.Root.Metadata = pikepdf.Stream(document, claim)


def list_attachments_twice(pikepdf, document):
    document.attachments["result.json"] = pikepdf.AttachedFileSpec(document, b"{}")
    file = document.attachments["result.json"].obj
    document.Root.AF = pikepdf.Array([file, file])


def drop_bookmarks(_, document):
    del document.Root.Outlines


def add_tags(pikepdf, document):
    tag = pikepdf.Dictionary
    cell = tag(S=pikepdf.Name.TD, A=tag(Headers=pikepdf.Array([b"th9"])))
    children = [tag(S=pikepdf.Name.H1), tag(S=pikepdf.Name.H3), cell]
    children.append(tag(S=pikepdf.Name.Figure))
    document.Root.StructTreeRoot = tag(K=pikepdf.Array(children))


@pytest.mark.parametrize(
    ("change", "failures"),
    [
        (call_it_accessible, {"claims": "the file calls itself PDF/UA."}),
        (list_attachments_twice, {"attachments": "result.json is listed 2 times."}),
        (drop_bookmarks, {"bookmarks": "the file has no bookmarks."}),
        (
            add_tags,
            {
                "figures": "figure 1 has no alternative text.",
                "headings": "a heading of level 3 follows one of level 1.",
                "headers": "a cell names the header th9.",
            },
        ),
    ],
)
def test_a_fault_of_the_file_fails_its_check_alone(change, failures):
    sound = report("1 feature")
    checks = checks_of(changed(sound.path, change), sound.view)
    assert {
        check.id: check.why for check in checks if check.result == "fail"
    } == failures


def test_what_the_text_of_the_file_lacks_is_named():
    sound = report("1 feature")
    checks = checks_of(sound.path.read_bytes(), view_of("twenty features"))
    failed = {check.id: check.why for check in checks if check.result == "fail"}
    assert set(failed) == {"names", "numbers"}
    assert failed["names"].startswith("'feature.00', 'feature.01', 'feature.02' and 17")
    assert failed["names"].endswith(" more must be in the text of the PDF.")


def test_without_its_readers_a_check_is_not_run(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(__import__("sys").modules, "pikepdf", None)
    checks = checks_of(b"", replace(view_of("one feature"), sections=()))
    assert {check.result for check in checks} == {"not run"}
    assert {check.why for check in checks} == {
        "pdftotext is not on PATH.",
        "pikepdf is not installed.",
    }
