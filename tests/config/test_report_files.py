"""Claims about the logo, the accent and the sections that a report is given."""

import pytest
from tests.cases import for_each
from tests.config.test_extensions import HEAD, text_of

from importance_audit.config.load import load_config
from importance_audit.config.report_files import contrast
from importance_audit.operate.render import render_result
from importance_audit.operate.run import run_audit
from importance_audit.records.errors import ConfigError
from importance_audit.report.sections.own import blocks_of
from importance_audit.report.text.blocks import Styled
from importance_audit.runs.folder import load_run

REPORT = """
[report]
organisation = "Bank & Sons"
classification = "secret"
logo = "logo.svg"
accent = "#7a1f5c"
[[report.section]]
title = "Our notes"
file = "notes.md"
"""
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
NOTES = "# Why\n\nA **bold** word, <script>alert(1)</script>.\n\n- one\n- two\n"


def written(folder, report=REPORT, logo=EMPTY, notes=NOTES):
    folder.mkdir(exist_ok=True)
    (folder / "audit.toml").write_text(HEAD + report, encoding="utf8")
    (folder / "logo.svg").write_text(logo, encoding="utf8")
    (folder / "notes.md").write_text(notes, encoding="utf8")
    return folder


def problem_of(folder):
    with pytest.raises(ConfigError) as error:
        load_config(folder)
    (problem,) = error.value.problems
    return problem.removeprefix("audit.toml: [report] ")


@pytest.mark.slow
def test_a_report_shows_what_it_was_given_also_once_the_files_are_gone(tmp_path):
    folder = written(tmp_path / "a")
    outcome = run_audit(folder, pdf=False)
    page = (outcome.folder / "report.html").read_text(encoding="utf8")
    (folder / "logo.svg").unlink()
    (folder / "notes.md").unlink()
    files = {"audit.toml": (folder / "audit.toml").read_text()}
    again = render_result(load_run(outcome.folder), files, pdf=False)
    for html in (page, again.pages["report.html"]):
        assert 'alt="Logo of Bank &amp; Sons"' in html
        assert 'src="data:image/svg+xml;base64,' in html
        assert "--blue: #7a1f5c" in html
        assert 'data-class="Bank &amp; Sons · secret"' in html
        assert (
            "<strong>bold</strong> word, &lt;script&gt;alert(1)&lt;/script&gt;." in html
        )
        assert "Our notes" in text_of(html)
        assert html.index('id="sec-l"') < html.index('id="sec-l1"')
        assert html.index('id="sec-l1"') < html.index('id="sec-m"')


ACTING = {
    "<script/>": "an element <script>, which could run code",
    '<g onclick="f()"/>': "an event handler, onclick of <g>",
    '<image href="https://b.c/d.png"/>': "a link outside, 'https://b.c/d.png' of <im",
    "<style>@import 'x';</style>": "a style with '@import', a link outside",
    '<g style="fill: url(http://a.example)"/>': "a link outside in style of <g>",
}


@for_each(
    [
        *((SVG.format(inside), what) for inside, what in ACTING.items()),
        ("<!DOCTYPE svg>" + SVG.format(""), "a document type, an entity or a style"),
    ]
)
def test_a_logo_that_could_act_is_refused_by_what_was_found(case, tmp_path):
    logo, what = case
    said = problem_of(written(tmp_path / "a", logo=logo))
    assert said.startswith(f"logo 'logo.svg' has {what}")
    assert said.endswith(". Remove it.")


@for_each(
    [
        ("logo", "GIF89a", "logo 'logo.svg' is no PNG, JPEG or SVG image."),
        ("logo", EMPTY + " " * 2_000_000, "logo 'logo.svg' has 2.0 MB; the report"),
        ("report", '[report]\naccent = "#ffcc00"\n', "accent '#ffcc00' has a contrast"),
        (
            "report",
            '[[report.section]]\ntitle = "T"\nfile = "gone.md"\n',
            "section.file 'gone.md' cannot be read: no such file or directory.",
        ),
    ]
)
def test_what_a_report_cannot_show_is_refused(case, tmp_path):
    key, content, problem = case
    said = problem_of(written(tmp_path / "a", **{key: content}))
    assert said.startswith(problem)


def test_contrast_is_that_of_the_standard():
    # #767676 is the lightest grey that WCAG 2 allows for text on white.
    assert contrast("#767676") >= 4.5 > contrast("#777777")


def test_markdown_is_read_as_blocks_and_all_else_is_text():
    blocks = blocks_of("## T\nfirst\nsecond [a](http://b)\n\n1. x\n2. *y*\n\n- z\n  z")
    assert blocks == (
        (Styled("title", ("T",)),),
        (Styled("text", ("first", " ", "second a (http://b)")),),
        (Styled("number", ("x",)), Styled("number", (Styled("em", ("y",)),))),
        (Styled("item", ("z", " ", "z")),),
    )
