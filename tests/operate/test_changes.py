"""Claims about what a run notes of the run before it."""

from dataclasses import replace

import pytest
from tests.cli.test_cli import answer_of
from tests.report.made_variants import plain_result
from tests.runs.test_summary import make_finding

from importance_audit.operate.run import save_result
from importance_audit.runs.load import load_context
from importance_audit.runs.timeline import timeline

RESULT = plain_result(("a", "b"))
CONFIG = {**RESULT.run.config, "report": {"profile": "full"}}


def of_run(name, findings=(), **config):
    run = replace(
        RESULT.run,
        config={**CONFIG, **config},
        volatile={"run_id": name, "started": "2025-11-20T08:46:00+00:00"},
    )
    return replace(RESULT, run=run, findings=findings)


@pytest.fixture
def changes(tmp_path):
    """Return a function that saves runs and says what the last of them changed."""

    def changes(*results):
        for one in results:
            save_result(one, tmp_path / "a", pdf=False)
        return timeline(tmp_path / "a", last=1).rows[-1].changes

    return changes


def test_a_verdict_is_told_with_its_cause_and_findings_by_their_messages(changes):
    failed = of_run("2", (make_finding("failure"),), fail_on="failure")
    assert changes(of_run("1"), failed)[:2] == (
        f"The verdict is {failed.verdict!r}, and was {of_run('1').verdict!r}: new "
        f"failure: weak, forest (key {failed.findings[0].key[:12]}).",
        "New: failure, weak: Weak.",
    )


def test_a_model_that_was_replaced_is_told_once(changes):
    models = RESULT.models.assign(source="file", sha256="a" * 64)
    before = replace(of_run("1"), models=models)
    now = replace(of_run("2"), models=models.assign(sha256="b" * 64))
    name = models["model"].iloc[0]
    assert changes(before, now) == (f"Model changed: {name}, SHA-256 of its file.",)


def test_a_run_before_that_cannot_be_read_is_named_and_ends_no_run(changes, tmp_path):
    changes(of_run("1"))
    (file,) = (tmp_path / "a").glob("runs/*/result.json")
    file.write_text("{}")
    (line,) = changes(of_run("2"))
    assert line.startswith("The run could not be compared with the previous one: ")


def test_a_run_without_a_pdf_speaks_of_none(tmp_path, monkeypatch):
    """Not even of a character that no font of a PDF has, until one is rendered."""
    result = replace(of_run("1"), findings=(make_finding("warning", subject="\u16a0"),))
    run = save_result(result, tmp_path / "a", pdf=False)
    assert "report.pdf" not in (run / "report.html").read_text("utf8")
    assert "uncovered_names" not in (run / "result.json").read_text("utf8")
    assert not load_context(run).has_pdf
    monkeypatch.setattr("importance_audit.report.pages.html.pdf_files", lambda *_: {})
    for formats, is_told in ((["html"], False), (["html", "pdf"], True)):
        options = [option for each in formats for option in ("--as", each)]
        answer_of("render", run, "--output", tmp_path / formats[-1], *options)
        (page,) = (tmp_path / formats[-1]).glob("*.html")
        assert ("/report.pdf" in page.read_text("utf8")) is is_told
