"""The example report: whole, of the audit beside it, and as the report looks now."""

import re
from pathlib import Path

from tests.report.reading import page_files

from importance_audit.config.load import load_config
from importance_audit.records.as_json import content_digest
from importance_audit.runs.files import stored_attachments
from importance_audit.runs.folder import load_run
from importance_audit.runs.verify import verify

AUDIT = Path(__file__).parents[1] / "reports" / "apartments"
EXAMPLE = AUDIT / "example"
REBUILD = "the example has drifted: make example"


def text_of(page):
    """Return what a page says: not how versions draw it and round the last digits."""
    body = page[page.index("<body") :]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def test_every_file_of_the_example_is_as_its_list_says():
    assert verify(EXAMPLE).mismatches == ()


def test_its_pages_state_the_content_digest_of_its_result():
    digest = content_digest(load_run(EXAMPLE))
    page = (EXAMPLE / "report.html").read_text("utf-8")
    assert f'<meta name="content-digest" content="{digest}">' in page


def test_it_is_of_the_audit_beside_it():
    digest = load_run(EXAMPLE).run.config_sha256
    assert digest == load_config(AUDIT).sha256, REBUILD
    audit_bytes = (EXAMPLE / "audit.toml").read_bytes()
    assert audit_bytes == (AUDIT / "audit.toml").read_bytes(), REBUILD


def test_the_stored_result_still_makes_the_stored_page():
    carried = stored_attachments(EXAMPLE)
    now = page_files(load_run(EXAMPLE), pdf=False, attachments=carried)["report.html"]
    page = (EXAMPLE / "report.html").read_text("utf-8")
    assert text_of(now) == text_of(page), REBUILD


def test_it_names_no_machine():
    volatile = load_run(EXAMPLE).run.volatile
    assert (volatile["host"], volatile["folder"]) == ("", "")
