"""Whole reports on paper: pages, headings, tags, text."""

import re
import subprocess
from html import unescape
from itertools import pairwise

import numpy as np
import pytest
from tests.report.pages.test_pdf import output_of
from tests.report.printed import PRINTED, page_of, report
from tests.report.reading import page_files, parts_of

from importance_audit.report.figures.typeface import escape_uncovered
from importance_audit.report.pages import pdf
from importance_audit.report.pages.html import print_html
from importance_audit.report.text.blocks import Name, Value, plain

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
    assert "To decide" in text
    assert page_of(printed.pages, "Document control") == 2


@pytest.mark.parametrize("name", PRINTED)
def test_the_executive_profile_is_two_pages_without_contents(name, tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(page_files(report(name).result, profile="executive")["report.pdf"])
    first, second, end = output_of("pdftotext", "-layout", path, "-").split("\f")
    assert "To decide" in first
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
    every = output_of("pdftotext", "-layout", printed.path, "-")
    second = every.split("\f")[1]
    view = printed.view
    for part in view.sections[1:]:
        if part.letter in view.composed.brief:
            assert f"{part.title}: none in this run" in words(printed.pages[1])
        elif part.name != "glossary":
            entry = re.search(rf"{part.title}[ .]{{3,}}(\d+)$", second, re.M)
            assert page_of(printed.pages, part.title) == int(entry[1])


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
    labels = printed.view.composed.labels
    captions = [
        words(f"{labels[table.id]}. {plain(table.caption)}")
        for table in printed.view.tables
    ]
    furniture = 2  # the running head, and the foot
    for page in printed.pages[1:]:
        line = page.splitlines()[-1 - furniture]
        assert line not in heads
        assert not any(caption.endswith(words(line)) for caption in captions)


@pytest.mark.parametrize("kind", [Name, Value])
def test_every_name_and_number_of_the_tables_is_in_the_text(printed, kind):
    text = without_spaces("".join(printed.pages))
    tables = tuple(item for item in printed.view.tables if not item.is_single)
    shown = {part.text for part in parts_of(tables, kind)}
    assert shown
    missing = [t for t in shown if without_spaces(escape_uncovered(t)) not in text]
    assert not missing


def without_spaces(text):
    return re.sub(r"\s", "", text)


@pytest.fixture
def tags(opened):
    """Return (tag, alternative text, id, ids of headers) of every element, in order."""
    pikepdf = pytest.importorskip("pikepdf")
    if pdf.capability().mode != "pdf/a-3a":
        pytest.skip("The renderer writes no tags.")
    found, waiting = [], [opened.Root.StructTreeRoot.K]
    while waiting:
        item = waiting.pop()
        if isinstance(item, pikepdf.Array):
            waiting.extend(reversed(list(item)))
        elif isinstance(item, pikepdf.Dictionary):
            if "/S" in item:
                about = item.get("/A", {})
                several = about if isinstance(about, pikepdf.Array) else [about]
                heads = [str(h) for one in several for h in one.get("/Headers", ())]
                texts = (str(item.get(key, "")) for key in ("/Alt", "/ID"))
                found.append((str(item.S), *texts, heads))
            waiting.append(item.get("/K"))
    return found


def test_tags_give_figures_words_headings_an_order_and_cells_their_headers(tags):
    assert all(alt for tag, alt, _, _ in tags if tag == "/Figure")
    names = (re.fullmatch(r"/H([1-6])", tag) for tag, *_ in tags)
    levels = [0, *(int(name[1]) for name in names if name)]
    assert len(levels) > 10
    assert all(level <= before + 1 for before, level in pairwise(levels))
    ids = {id_ for tag, _, id_, _ in tags if tag == "/TH"}
    assert ids >= {head for *_, heads in tags for head in heads}


def test_the_file_says_of_itself_what_the_report_says_of_it(opened):
    stream = opened.Root.get("/Metadata")
    metadata = stream.read_bytes() if stream is not None else b""
    mode = pdf.capability().mode
    level = re.search(rb"pdfaid:conformance\W+(\w)", metadata)
    assert (mode == "pdf/a-3a") == (level is not None and level[1] == b"A")
    assert bool(opened.Root.get("/MarkInfo")) == (mode == "pdf/a-3a")
    assert b"pdfuaid" not in metadata
