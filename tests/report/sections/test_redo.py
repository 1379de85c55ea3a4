"""Section How to redo it: its commands are commands, its digests those of files."""

import hashlib
import json
import re

import pytest
from click.testing import CliRunner
from tests.report.made_variants import result_of, view_of

from importance_audit.cli.main import main
from importance_audit.records.as_json import dumps
from importance_audit.report.pages.html import to_html


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
