"""What a page says, as lines for a terminal."""

from tests.report.made_variants import view_of

from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.plain_text import page_lines, to_text
from importance_audit.report.text.blocks import plain

SHAPES = "●○▲◆■◇ "
"""Before a word of the ladder, which has one of its own."""


def test_every_row_of_every_table_is_one_line_with_all_its_cells():
    view = view_of("apartments")
    said = set(page_lines(to_html(view)))
    rows = [
        [" ".join(plain(cell.parts).split()).lstrip(SHAPES) for cell in row.cells]
        for table in view.tables
        for row in table.rows
    ]
    assert len(rows) > 100
    cells = [
        [text for text in (part.lstrip(SHAPES) for part in line.split("\t")) if text]
        for line in said
    ]
    assert all([text for text in row if text] in cells for row in rows)


def test_a_page_without_looks_says_headings_sentences_items_figures_and_rows():
    page = (
        "<html><body><h1>A <b>title</b></h1><style>p {}</style><p>One\n<em>two</em>"
        "<wbr>three.</p><ul><li>item</li></ul><img alt='a figure' src='x'>"
        "<table><caption>Rows</caption><tr><th>x</th><td>1</td></tr></table>"
        "</body></html>"
    )
    assert page_lines(page) == [
        *("A title", "One twothree.", "item", "a figure", "Rows", "x\t1")
    ]


def test_cells_of_a_column_begin_at_the_same_place_in_every_line():
    page = "".join(
        f"<tr><td>{name}</td><td>{number}</td><td>.</td></tr>"
        for name, number in (("name", "n"), ("a", "9 000"), ("b", "−1.5 %"))
    )
    text = to_text(f"<html><body><main><table>{page}</table></main></body></html>")
    assert text == (
        "name  n       .\n---------------\na     9 000   .\nb     −1.5 %  .\n"
    )
