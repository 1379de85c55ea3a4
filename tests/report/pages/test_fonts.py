"""Characters that DejaVu lacks: with a font beside the audit, and without one."""

import re
from dataclasses import replace

import pytest
from tests.report.made_variants import configured, result_of
from tests.report.pages.test_pdf import image, output_of, page, printed

from importance_audit.records.as_json import dumps
from importance_audit.records.errors import DataError
from importance_audit.report.pages.fonts import (
    check_fonts,
    fonts_of,
    with_uncovered_names,
)


@pytest.fixture(scope="module")
def font(tmp_path_factory):
    """Return a font file that has one character, 面, as a box."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    path = tmp_path_factory.mktemp("audit") / "box.ttf"
    builder = FontBuilder(1000, isTTF=True)
    names = [".notdef", "box"]
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord("面"): "box"})
    pen = TTGlyphPen(None)
    for n, corner in enumerate([(0, 0), (0, 700), (700, 700), (700, 0)]):
        (pen.lineTo if n else pen.moveTo)(corner)
    pen.closePath()
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (800, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Box", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    builder.save(path)
    return path


def with_fonts(fonts, folder=""):
    """Return the made result with hostile names, with these fonts in its folder."""
    result = configured(result_of("hostile"), report={"fonts": fonts})
    volatile = {**result.run.volatile, "folder": str(folder)}
    return replace(result, run=replace(result.run, volatile=volatile))


def noted(result):
    """Return the result with a note on its names that cannot be drawn."""
    return with_uncovered_names(result, dumps(result))


@pytest.mark.needs_poppler
def test_a_font_beside_the_audit_draws_what_it_has_and_no_more(font, tmp_path):
    html = page(f"<p>面积 <b>面</b></p>{image('面')}")
    (tmp_path / "a.pdf").write_bytes(printed(html, fonts=(str(font),)))
    text = output_of("pdftotext", "-raw", tmp_path / "a.pdf", "-")
    assert text.split()[:3] == ["面⟨U+79EF⟩", "面", "面"]


def test_names_that_the_pdf_cannot_draw_are_a_note_with_its_remedy():
    finding = noted(result_of("hostile")).findings[-1]
    assert (finding.check, finding.severity) == ("uncovered_names", "info")
    assert finding.message == (
        "No font of the PDF has some characters of the result (U+79EF, U+9762). "
        "The PDF prints them as escapes, the HTML as they are."
    )
    assert finding.remedy == "Name a font file that has them in fonts of [report]."


def test_a_configured_font_leaves_only_what_it_lacks(font):
    result = with_fonts((font.name,), font.parent)
    assert fonts_of(result) == (str(font.resolve()),)
    assert noted(result).findings[-1].evidence["characters"] == 1


def test_names_that_can_be_drawn_need_no_word():
    result = result_of("one feature")
    assert noted(result) is result


def test_a_run_whose_fonts_are_gone_is_printed_without_them(tmp_path):
    assert fonts_of(with_fonts(("box.ttf",), tmp_path)) == ()


def test_fonts_that_are_missing_or_none_are_named_all_at_once(font, tmp_path):
    (tmp_path / "notes.txt").write_text("no font")
    (tmp_path / font.name).write_bytes(font.read_bytes())
    with pytest.raises(DataError) as error:
        check_fonts(tmp_path, ("gone.ttf", font.name, "notes.txt"))
    first, second = str(error.value).splitlines()
    rule = "[report] fonts must name font files beside the audit;"
    assert first == f"{rule} 'gone.ttf' is not there. Put it into {tmp_path}."
    assert re.fullmatch(rf"{re.escape(rule)} 'notes.txt' is none: \w+\. .*", second)
