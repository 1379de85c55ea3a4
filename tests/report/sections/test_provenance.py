"""R scripts in the report: those of rows and of models, whole, with their digest."""

from dataclasses import replace

from tests.report.made_records import datasets_frame
from tests.report.made_results import apartments_result

from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.provenance import provenance, scripts
from importance_audit.report.text.blocks import plain

SPLIT = "rows <- iris\nif (TRUE) {\n  rows\n}\n"


def facts(**fields):
    script_fields = {
        "script": SPLIT,
        "script_sha256": "ab" * 32,
        "source": "split.R",
    } | fields
    result = replace(apartments_result(), datasets=datasets_frame(5, **script_fields))
    return facts_of(result, "0" * 64)


def test_a_script_that_made_both_sides_is_printed_once_line_by_line():
    (table,) = scripts(facts())
    assert [plain(row.cells[0].parts) for row in table.rows] == ["1", "2", "3", "4"]
    lines = [plain(row.cells[1].parts).replace("\u00a0", " ") for row in table.rows]
    assert lines == SPLIT.splitlines()
    assert "split.R" in plain(table.caption)


def test_the_digest_of_a_script_stands_among_the_inputs():
    inputs = provenance(facts()).parts["inputs"]
    rows = {plain(row.cells[0].parts): plain(row.cells[2].parts) for row in inputs.rows}
    assert rows["split.R"].replace(" ", "") == "ab" * 8


def test_rows_that_no_script_made_print_none():
    assert scripts(facts(script="", script_sha256="")) == ()
