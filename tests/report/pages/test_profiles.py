"""A profile selects sections, never other numbers, and leaves no dead link."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.report.made_variants import configured as with_sections
from tests.report.made_variants import plain_result, result_of, view_of
from tests.report.page_reader import dead_links, parse_page
from tests.report.reading import heads_of, pieces, said_in, section, table, words

from importance_audit.report.figures.drawing import Sheet
from importance_audit.report.pages.html import print_html, to_html
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.thresholds import SILENT
from importance_audit.report.text.blocks import Value, plain


def executive(name):
    return build_view(result_of(name), profile="executive")


def checks_of(view):
    return section(view, "J").parts["blocks"]


def letters(view):
    return "".join(part.letter for part in view.sections)


def numbers(block):
    return {
        (p.path, repr(p.raw), p.text) for p in pieces(block) if isinstance(p, Value)
    }


def test_the_executive_profile_has_its_page_control_verdicts_and_sign_off(any_name):
    assert letters(executive(any_name)) == "BAJP"


def test_a_profile_shows_no_number_that_the_whole_report_has_not(any_name):
    short, whole = numbers(executive(any_name)), numbers(view_of(any_name))
    assert short
    assert short <= whole


@pytest.mark.parametrize("name", ["disagreeing", "interrupted", "wide"])
def test_every_link_of_a_profile_leads_somewhere(name):
    view = executive(name)
    for page in (to_html(view), print_html(view, conformity="None is claimed.")):
        assert not dead_links(parse_page(page))


def test_what_a_profile_leaves_out_is_named_without_a_link():
    view = executive("apartments")
    assert "(the whole list)" in said_in(view, "B")
    document = words(section(view, "A").parts["document"])
    assert "sections Document control, Executive page, Thresholds and" in document


def test_the_thresholds_of_the_executive_profile_are_verdicts_alone():
    item = table(executive("apartments"), "tab-checks")
    assert heads_of(item) == ["Check", "Subject", "Verdict"]
    assert len(item.everything.rows) == len(result_of("apartments").checks)


def test_the_executive_profile_shows_each_check_that_found_something(any_name):
    shown = [words(row) for t in checks_of(executive(any_name)) for row in t.rows]
    verdicts = [*result_of(any_name).checks["verdict"]]
    assert len(shown) == sum(verdict not in SILENT for verdict in verdicts)
    assert not any(text.endswith("pass") for text in shown)


def test_checks_beyond_the_room_of_page_two_are_counted():
    result = result_of("disagreeing")
    rows = [result.checks.iloc[:1].assign(subject=f"s{n}") for n in range(12)]
    late = pd.concat(rows).assign(verdict="fail")
    many = replace(result, checks=pd.concat([result.checks, late], ignore_index=True))
    (item,) = checks_of(build_view(many, profile="executive"))
    rest = sum(verdict not in SILENT for verdict in many.checks["verdict"]) - 5
    assert len(item.rows) == 5 < rest
    assert plain(item.caption) == (
        "Checks that found something, worst first. In the technical report: "
        f"{rest} more."
    )


@pytest.mark.parametrize(
    ("configured", "profile", "sections"),
    [
        ("executive", "", "BAJP"),
        ("executive", "technical", "BACDEFGHIJKLMNOPQ"),
        ("bundle", "", "BACDEFGHIJKLMNOPQ"),
    ],
)
def test_the_configuration_chooses_unless_somebody_asks(configured, profile, sections):
    result = with_sections(plain_result(("a",)), report={"profile": configured})
    assert letters(build_view(result, profile=profile)) == sections


def test_a_figure_is_drawn_once_for_screen_and_paper_whatever_its_caption(monkeypatch):
    view, drawn, svg = build_view(result_of("apartments")), [], Sheet.svg

    def counted(sheet, salt):
        drawn.append(salt)
        return svg(sheet, salt)

    monkeypatch.setattr(Sheet, "svg", counted)
    to_html(view)
    print_html(view, conformity="None is claimed.")
    assert drawn == [figure.id for figure in view.figures]
