"""R scripts with their digests, and how to redo the run: commands that are ones."""

import hashlib
import json
import re

import pytest
from click.testing import CliRunner
from tests.report.made_records import datasets_frame
from tests.report.made_results import apartments_result
from tests.report.made_variants import result_of, view_of

from importance_audit.cli.main import main
from importance_audit.records.as_json import dumps
from importance_audit.report.pages.html import to_html
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.provenance import provenance, scripts
from importance_audit.report.text.blocks import plain

SPLIT = "rows <- iris\nif (TRUE) {\n  rows\n}\n"


def facts(**fields):
    made = {"script": SPLIT, "script_sha256": "ab" * 32, "source": "split.R"}
    datasets = datasets_frame(5, **made | fields)
    return facts_of(apartments_result(datasets=datasets), "0" * 64)


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


@pytest.fixture(scope="module")
def section():
    """Return the text of section How to redo it of a whole page, markup left out."""
    page = to_html(view_of("apartments"))
    part = page[page.index('id="sec-n"') :]
    return re.sub(r"<[^>]+>", " ", part[: part.index("</section>")])


def test_every_command_of_the_section_is_one(section):
    commands = re.findall(r"importance-audit ([a-z]+)( --[a-z]+)?", section)
    assert commands == [
        ("verify", ""),
        ("verify", ""),
        ("verify", " --replay"),
        ("run", ""),
        ("render", ""),
    ]
    for name, option in commands:
        output = CliRunner().invoke(main, [name, "--help"]).output
        assert option.strip() in output
        assert "No such command" not in output


def test_the_content_digest_can_be_computed_as_the_section_says(section):
    document = json.loads(dumps(result_of("apartments")))
    del document["content_digest"], document["run"]["volatile"]
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == view_of("apartments").digest
    assert "SHA-256 of result.json without content_digest and run.volatile" in " ".join(
        section.split()
    )
