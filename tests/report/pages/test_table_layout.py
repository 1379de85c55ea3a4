"""Columns as wide as what stands in them: no word is broken, none leaves the page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importance_audit.report.figures import typeface
from importance_audit.report.pages.page_tree import JOINT, Piece
from importance_audit.report.pages.table_layout import (
    MARGINS,
    Text,
    layout_of,
    needs_of,
)

STYLES = [("Table Text", 7.5), ("Table Small", 6.5)]
ROOMS = (174.0, 261.0)


def cell(text, *, is_number=False, is_head=False, look=""):
    looks = frozenset(look.split() + ["b"] * is_head)
    return Text([Piece(text, looks)], is_number, is_head)


def set_table(heads, *rows, rooms=ROOMS):
    """Return the layout of a table whose first column holds words, others numbers."""
    head = [cell(text, is_head=True) for text in heads]
    body = [[cell(t, is_number=n > 0) for n, t in enumerate(row)] for row in rows]
    return layout_of([head, *body], [1.0] * len(heads), rooms, STYLES)


def wide(text, points=7.5, *, bold=False):
    return typeface.width(text, points, bold=bold) + MARGINS


WORDS = st.text("abcdefghij", min_size=1, max_size=14)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=9))
def test_no_word_of_a_head_is_broken_and_the_page_is_filled(heads):
    layout = set_table([" ".join(words) for words in heads], ["1"] * len(heads))
    room = ROOMS[layout.is_turned]
    assert sum(layout.widths) == pytest.approx(room)
    for width, words in zip(layout.widths, heads, strict=True):
        longest = max(wide(word, layout.points, bold=True) for word in words)
        assert width >= longest - 1e-6


def test_numbers_of_an_interval_stay_in_one_line_and_names_break_for_them():
    name = JOINT.join(["number_", "of_", "trades_", "past_", "due_"] * 2)
    numbers = ["−0.0009 to 0.0085"] * 5
    layout = set_table(["Feature", *["interval"] * 5], [name, *numbers])
    assert layout.style == "Table Text"
    assert min(layout.widths[1:]) >= wide(numbers[0])
    assert layout.widths[0] < wide(name.replace(JOINT, ""))


def test_a_name_stays_whole_where_the_page_has_the_room():
    name = JOINT.join(["months_", "since_", "most_", "recent_", "delinquency"])
    layout = set_table(["Feature", "Rank"], [name, "1"])
    assert layout.widths[0] >= wide(name.replace(JOINT, ""))


def test_type_gets_smaller_before_the_page_is_turned_and_it_is_turned_last():
    word = "w" * 20
    least = wide(word, bold=True)
    small = wide(word, 6.5, bold=True)
    assert set_table([word] * 3, rooms=(3 * least + 0.1, 500.0)).style == "Table Text"
    smaller = set_table([word] * 3, rooms=(3 * small + 0.1, 500.0))
    assert (smaller.style, smaller.is_turned) == ("Table Small", False)
    turned = set_table([word] * 3, rooms=(3 * small - 0.1, 500.0))
    assert (turned.style, turned.is_turned) == ("Table Text", True)


def test_a_table_too_wide_for_any_page_does_not_leave_it():
    layout = set_table(["w" * 60] * 9)
    assert not layout.is_turned
    assert sum(layout.widths) == pytest.approx(ROOMS[0])


def test_a_word_of_two_looks_is_one_word():
    parts = [Piece("bureau.", frozenset()), Piece("score", frozenset({"b"}))]
    need = needs_of([Text(parts, False, False)], 7.5)
    both = wide("bureau.") + typeface.width("score", 7.5, bold=True)
    assert need.whole == pytest.approx(both)
