"""How wide the columns of a table are: none is set by hand."""

import pytest

from importance_audit.report.figures.typeface import width
from importance_audit.report.pages.column_widths import column_widths
from importance_audit.report.text.blocks import Badge, Column, Table, Value

WORDS = "a cause in so many words that a line of the page cannot hold them all " * 3


def widths(kinds, *rows, head="x"):
    columns = tuple(Column((head,), kind) for kind in kinds.split())
    return column_widths(Table("tab-x", ("x",), columns, rows))


def number(text):
    return Value("x", 1.0, text)


def test_columns_fill_the_page():
    row = ("name", "words", number("1"))
    assert sum(widths("header text number", row)) == pytest.approx(100, abs=0.05)


def test_a_column_is_the_wider_the_longer_its_longest_cell():
    short, long = widths("header text", ("ab", "a" * 20), ("b", "b"))
    assert long > 2 * short


def test_words_give_way_to_numbers_and_a_number_is_never_broken():
    figures = "123 456 789 012 345 678"
    *numbers, words = widths(
        "number number number text", (*[number(figures)] * 3, WORDS)
    )
    millimetres = width(figures, 7.7) + 3
    assert numbers == pytest.approx([100 * millimetres / 174] * 3, abs=0.5)
    assert words == pytest.approx(100 - sum(numbers), abs=0.05)


def test_a_name_of_120_letters_leaves_room_for_the_words_beside_it():
    name, words = widths("header text", ("n" * 120, WORDS))
    assert name < 55
    assert words > 45


def test_forty_columns_of_numbers_still_fill_one_page():
    every = widths("header" + " number" * 40, ("name", *[number("0.12345")] * 40))
    assert sum(every) == pytest.approx(100, abs=0.5)
    assert min(every) > 0


def test_a_verdict_is_not_broken():
    verdict = Badge("unknown", "not compared", "○")
    column, _ = widths("text header", (verdict, WORDS))
    assert column > 100 * (width("○ not compared", 7.7, bold=True) + 3) / 174


def test_what_no_line_may_break_is_one_word_of_a_head():
    """As "1 − accuracy", whose spaces keep it together: it ran into the next head."""
    head, numbers = "1\u00a0−\u00a0accuracy", [number("0.1")] * 6
    columns = [Column(("x",), "header"), *[Column((head,), "number")] * 6]
    _, *shares = column_widths(
        Table("tab-x", ("x",), tuple(columns), ((WORDS, *numbers),))
    )
    assert min(shares) * 174 / 100 >= width(head, 7.7)
