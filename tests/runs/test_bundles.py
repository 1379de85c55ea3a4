"""Claims about the stored bundle: a run of this schema version is read forever."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from importance_audit.records import as_json
from importance_audit.records.as_json import dumps
from importance_audit.records.result import SCHEMA_VERSION
from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.view import build_view
from importance_audit.runs.folder import load_run
from importance_audit.runs.verify import verify

BUNDLES = Path(__file__).parents[1] / "bundles"
RUNS = sorted(BUNDLES.glob("*/runs/*"))


@pytest.fixture(params=RUNS, ids=lambda run: run.parents[1].name)
def run(request):
    """Return the folder of each stored run in turn."""
    return request.param


@pytest.fixture
def document(run):
    return json.loads((run / "result.json").read_text("utf8"))


def test_this_schema_version_has_its_bundle():
    assert [run.parents[1].name for run in RUNS] == [SCHEMA_VERSION]


def test_a_bundle_is_of_its_version_and_small(run, document):
    assert document["schema_version"] == run.parents[1].name
    assert sum(path.stat().st_size for path in run.rglob("*")) < 60_000


def test_a_bundle_verifies(run):
    assert verify(run).mismatches == ()


def test_a_bundle_renders_with_the_digest_of_its_day(run, document):
    page = to_html(build_view(load_run(run)))
    digest = document["content_digest"]
    assert f'<meta name="content-digest" content="{digest}">' in page
    letters = re.findall(r'id="sec-([a-q])"', page)
    # The rest has nothing to show, and is named in the contents.
    assert set(letters) >= set("abcdefhjlmnpq")


def test_a_bundle_is_written_again_as_it_was(run, document):
    assert json.loads(dumps(load_run(run))) == document


def test_the_bundle_of_this_version_obeys_the_published_schema():
    (run,) = (BUNDLES / SCHEMA_VERSION / "runs").iterdir()
    schema = Path(as_json.__file__).with_name("result.schema.json")
    validator = Draft202012Validator(json.loads(schema.read_text("utf8")))
    document = json.loads((run / "result.json").read_text("utf8"))
    assert list(validator.iter_errors(document)) == []
    assert list(validator.iter_errors({**document, "findings": {}})) != []
