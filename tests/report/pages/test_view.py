"""The page as data: every number from the result, every link leads somewhere."""

import pytest
from tests.report.made_results import apartments_result
from tests.report.made_variants import result_of, view_of
from tests.report.reading import pieces, value_at

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Link, Value

LETTERS = "BACDEFGHIJKLMNOPQ"


def test_every_number_stands_in_the_result(any_name):
    values = [p for p in pieces(view_of(any_name)) if isinstance(p, Value)]
    for value in values:
        if not value.derived:
            assert float(value_at(result_of(any_name), value.path)) == pytest.approx(
                value.raw, rel=0, nan_ok=True
            ), value
    assert values


def test_the_sections_stand_in_their_order(any_name):
    view = view_of(any_name)
    assert "".join(part.letter for part in view.sections) == LETTERS


def test_every_section_shows_something_or_says_why_not(any_name):
    for part in view_of(any_name).sections:
        assert part.lede or any(part.parts.values()), part.letter


def test_ids_are_given_once(any_name):
    view = view_of(any_name)
    blocks = [*view.tables, *view.figures]
    whole = [item.everything for item in view.tables if item.everything]
    rows = [r.key for item in (*view.tables, *whole) for r in item.rows if r.key]
    ids = [block.id for block in blocks] + rows
    assert len(ids) == len(set(ids))


def test_every_link_leads_somewhere(any_name):
    view = view_of(any_name)
    targets = {f"sec-{part.letter.lower()}" for part in view.sections}
    targets |= set(view.composed.labels)
    for piece in pieces(view.sections):
        if hasattr(piece, "number") or hasattr(piece, "facts"):
            targets |= {piece.id, f"card-{piece.id.lower()}"}
    links = {piece.target for piece in pieces(view) if isinstance(piece, Link)}
    assert links <= targets


def test_tables_and_figures_are_numbered_as_they_stand():
    view = view_of("apartments")
    numbers = [view.composed.labels[item.id].split("\u00a0")[1] for item in view.tables]
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
    assert view.composed.labels[view.figures[0].id] == "Figure\u00a01"


def test_the_same_result_gives_the_same_view():
    first, second = view_of("apartments"), build_view(apartments_result())
    assert first.digest == second.digest
    assert repr(first.sections) == repr(second.sections)
