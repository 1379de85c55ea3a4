"""The PDF, by what poppler and qpdf read from it, and by what is refused."""

import base64
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.report.reading import written_elsewhere

from importance_audit.records.template_folder import templates
from importance_audit.report.figures import drawing, typeface
from importance_audit.report.pages import pdf

ROOT = Path(__file__).parents[3]
CREATED = datetime(2026, 11, 20, 9, 12, 4, tzinfo=UTC)
FILES = {"result.json": b'{"a": 1}', "importances.csv": b"feature,value\na,1\n"}
CSS = """
@page { size: A4; margin: 20mm; font-family: "DejaVu Sans"; }
@page { @bottom-right { content: "Page " counter(page) " of " counter(pages); } }
body { font-family: "DejaVu Sans"; font-size: 9pt; }
code { font-family: "DejaVu Sans Mono"; }
section { break-before: page; }
"""


def page(body, head=""):
    """Return a page with this body."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Importance audit: forest</title>{head}</head>"
        f"<body>{body}</body></html>"
    )


def image(*names):
    """Return the element of a figure that holds these names."""
    sheet = drawing.Sheet()
    for n, name in enumerate(names):
        sheet.text(0.0, 5.0 + 4 * n, name, bold=n == 0)
    svg = base64.b64encode(sheet.cut(20.0).svg("fig").encode()).decode()
    uri = f"data:image/svg+xml;base64,{svg}"
    return f'<img alt="Names" style="width: 174mm" src="{uri}">'


PAGE = page(
    "<h1>Ranking</h1><p>text <b>bold</b> <i>oblique</i> <code>a1b2</code> ● ◆ − π</p>"
    f"{image('first.name', 'second')}<section><h2>年 next</h2></section>",
    "<style>@media screen { body { display: grid; gap: clamp(1rem, 2vw, 3rem) } }"
    "</style>",
)


def printed(html=PAGE, **options):
    fixed = {"print_css": CSS, "created": CREATED, "identifier": b"0123456789abcdef"}
    return pdf.to_pdf(html, **{**fixed, **options})


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("pdf") / "report.pdf"
    path.write_bytes(printed(attachments=FILES))
    return path


def output_of(*command):
    """Return what a program says of a file."""
    arguments = [str(part) for part in command]
    output = subprocess.run(arguments, capture_output=True, check=True).stdout
    return output.decode(errors="replace")


@pytest.mark.needs_poppler
def test_text_can_be_read_and_characters_without_a_glyph_are_escapes(file):
    text = output_of("pdftotext", "-raw", file, "-")
    assert "text bold oblique a1b2 ● ◆ − π" in text
    assert "first.name" in text
    assert "second" in text
    assert "⟨U+5E74⟩ next" in text


@pytest.mark.needs_poppler
def test_every_font_is_embedded_and_ours(file):
    rows = output_of("pdffonts", file).splitlines()[2:]
    names = {re.search(r"\+(\S+)", row)[1] for row in rows}
    assert names == {
        "DejaVu-Sans",
        "DejaVu-Sans-Bold",
        "DejaVu-Sans-Italic",
        "DejaVu-Sans-Mono",
    }
    assert all(re.search(r"yes yes yes", row) for row in rows)


@pytest.mark.needs_poppler
def test_title_pages_and_dates_are_those_of_the_run(file):
    facts = output_of("env", "TZ=UTC", "pdfinfo", file)
    assert re.search(r"Title: +Importance audit: forest\n", facts)
    assert re.search(r"Pages: +2\n", facts)
    assert re.search(r"CreationDate: +Fri Nov 20 09:12:04 2026 UTC\n", facts)
    assert re.search(r"ModDate: +Fri Nov 20 09:12:04 2026 UTC\n", facts)


@pytest.mark.needs_poppler
def test_embedded_files_come_out_as_they_went_in(file, tmp_path):
    output_of("pdfdetach", "-saveall", "-o", tmp_path, file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == FILES


@pytest.mark.skipif(not shutil.which("qpdf"), reason="qpdf is not on PATH")
def test_qpdf_finds_no_fault(file):
    output = output_of("qpdf", "--check", file)
    assert "No syntax or stream encoding errors found" in output
    assert "WARNING" not in output


def on_our_paper(body, folder):
    """Return the file of a page with this body under our own rules for paper."""
    style = (templates() / "print.css").read_text(encoding="utf-8")
    path = folder / "a.pdf"
    path.write_bytes(printed(page(body), print_css=style))
    return path


@pytest.mark.needs_poppler
def test_a_page_ends_between_findings_but_not_between_one_and_its_table(tmp_path):
    def finding(n, more=""):
        text = f'<h3>K{n}</h3><p class="sev">sentence {n}</p>{more}'
        return f'<article class="finding">{text}</article>'

    above = '<div style="height: 225mm">above</div>'
    brief = on_our_paper(above + "".join(map(finding, range(1, 5))), tmp_path)
    first, second, _ = output_of("pdftotext", brief, "-").split("\f")
    assert "sentence 2" in first
    assert "K3" in second
    facts = f'<table class="kv"><tr><td>cell{"<br>." * 9}</td></tr></table>'
    with_table = on_our_paper(above + finding(1, facts), tmp_path)
    first, second, _ = output_of("pdftotext", with_table, "-").split("\f")
    assert "K1" not in first
    assert second.index("K1") < second.index("sentence 1") < second.index("cell")


@pytest.mark.needs_poppler
def test_a_title_and_its_sentence_stand_on_the_page_of_their_table(tmp_path):
    row = "<tr><td>cell</td></tr>"
    body = (
        '<div style="height: 225mm">above</div><h3 class="measure">Title</h3>'
        "<p>One sentence.</p><div class='tb short'><div class='tw'><table>"
        f"<caption>The table</caption>{row * 4}</table></div></div>"
    )
    two = on_our_paper(body, tmp_path)
    first, second, _ = output_of("pdftotext", two, "-").split("\f")
    assert "Title" not in first
    assert second.index("Title") < second.index("One sentence") < second.index("cell")


@pytest.mark.needs_poppler
def test_a_table_of_many_columns_turns_its_page_and_no_other(tmp_path):
    body = "<p>before</p><div class='tb landscape'>wide</div><p>after</p>"
    output = output_of("pdfinfo", "-l", "9", on_our_paper(body, tmp_path))
    sizes = re.findall(r"size: +([\d.]+) x ([\d.]+)", output)
    assert [float(w) > float(h) for w, h in sizes] == [False, True, False]


def test_each_embedded_file_is_listed_once_with_type_and_relation(file):
    objects = output_of("qpdf", "--qdf", "--object-streams=disable", file, "-")
    assert len(re.findall(r"/AFRelationship /Data", objects)) == 2
    assert "/Subtype /application#2fjson" in objects
    assert re.search(r"/AF \[(.*?)\]", objects, re.DOTALL)[1].count(" R\n") == 2


@pytest.mark.skipif(not shutil.which("qpdf"), reason="qpdf is not on PATH")
def test_the_identifier_is_the_name_of_the_document(file):
    trailer = output_of("qpdf", "--show-object=trailer", file)
    assert b"0123456789abcdef".hex() in trailer or "0123456789abcdef" in trailer


def test_another_process_time_zone_and_language_give_the_same_bytes(file):
    code = (
        "import sys; from tests.report.pages.test_pdf import FILES, printed;"
        "sys.stdout.buffer.write(printed(attachments=FILES))"
    )
    other = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    assert written_elsewhere(code, **other) == file.read_bytes()


UNHELD = "The page asks for what it does not hold: "


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            '<img alt="x" src="http://127.0.0.1:9/a.png">',
            f"{UNHELD}'http://127.0.0.1:9/a.png'.",
        ),
        (
            '<p style="background: url(file:///etc/hostname)">x',
            f"{UNHELD}'file:///etc/hostname'.",
        ),
        (
            '<img src="data:image/svg+xml;base64,">',
            "Images without an alternative text: 1.",
        ),
    ],
)
def test_a_page_that_does_not_hold_all_it_shows_is_refused(body, sentence):
    with pytest.raises(pdf.PdfError) as error:
        printed(page(body))
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"print_css": f"{CSS}p {{ colour: red }}"}, "cannot apply the whole page. It"),
        ({"print_css": f"{CSS}p {{ width: wide }}"}, "cannot apply the whole page. It"),
        ({"seconds": 0.05}, "was not done after 0.05 s."),
        ({"max_bytes": 60 * 1024**2}, "ended with code "),
    ],
)
def test_a_rule_without_effect_and_a_child_beyond_a_limit_are_refused(options, words):
    with pytest.raises(pdf.PdfError, match=f"^WeasyPrint {re.escape(words)}"):
        printed(**options)


def test_without_a_folder_to_work_in_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(pdf.PdfError, match=r"^WeasyPrint had no folder to work in: "):
        printed()


def test_without_weasyprint_one_sentence_says_so(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from datetime import datetime\n"
        "from importance_audit.report.pages import pdf\n"
        "try:\n"
        "    pdf.to_pdf('', print_css='', created=datetime.now(), identifier=b'')\n"
        "except pdf.PdfError as error:\n"
        "    print(error)\n"
    )
    os.symlink(ROOT / "pipeline", tmp_path / "importance_audit")
    alone = output_of(sys.executable, "-I", "-S", "-c", code, tmp_path)
    assert alone == "WeasyPrint (>= 57.2) is not installed.\n"


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        (
            "57.2",
            "PDF/A: not claimed. PDF/UA: not claimed; WeasyPrint 57.2 writes figures "
            "without tags here.",
        ),
        (
            "70.0",
            "Written in PDF/A-3a mode, not validated. Tagged; all figures carry "
            "alternative text. PDF/UA: not claimed.",
        ),
        ("", "PDF/A: not claimed. PDF/UA: not claimed; there is no renderer."),
    ],
)
def test_no_statement_claims_more_than_the_renderer_does(version, sentence):
    assert " ".join(pdf.capability(version).statements) == sentence


def test_uncovered_names_each_character_once_and_no_white_space():
    assert typeface.uncovered("b年a齢年\n\t\u202f") == ("年", "齢")


def test_escapes_reach_into_figures_and_leave_the_rest_alone():
    html = f"<p>ρ 年</p>{image('district', '年齢')}"
    escaped = typeface.escape_uncovered(html)
    svg = base64.b64decode(re.search(r"base64,([^\"]+)", escaped)[1]).decode()
    assert "<p>ρ ⟨U+5E74⟩</p>" in escaped
    assert ">⟨U+5E74⟩⟨U+9F62⟩</text>" in svg
    assert typeface.escape_uncovered(escaped) == escaped
