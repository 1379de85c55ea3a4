"""A section as lines for a terminal."""

from tests.report.made_variants import view_of

from importance_audit.report.pages.plain_text import to_text
from importance_audit.report.text.blocks import Table, plain


def section(letter, name="apartments"):
    return next(part for part in view_of(name).sections if part.letter == letter)


def test_every_row_of_every_table_is_one_line_with_all_its_cells():
    checks_section = section("J")
    lines = to_text(checks_section).splitlines()
    (table,) = checks_section.parts["checks"]
    assert isinstance(table, Table)
    for row in table.rows:
        cells = [plain(cell.parts) for cell in row.cells]
        assert any(all(cell in line for cell in cells) for line in lines)


def test_columns_start_at_the_same_place_in_every_line():
    lines = to_text(section("J")).splitlines()
    rule = next(at for at, line in enumerate(lines) if set(line) == {"-"})
    head, rows = lines[rule - 1], lines[rule + 1 :]
    start = head.index("Subject")
    assert all(row[start - 1] == " " != row[start] for row in rows[:5] if row)


def test_a_section_without_blocks_is_its_heading_and_its_reason():
    assert to_text(section("I")) == (
        "I  Change since the approved baseline\n\nNo approved baseline exists, so "
        "nothing is compared with an earlier run.\n"
    )
