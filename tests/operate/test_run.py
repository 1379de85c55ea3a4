"""Claims about one run: everything is made once, and whether R is why it failed."""

from collections import Counter
from time import sleep

import pandas as pd
import pytest
from tests.cli.test_cli import SHORT, UNPRINTED, written
from tests.report.made_variants import plain_result
from tests.runs.test_summary import make_finding

from importance_audit.cli.shared import terminable
from importance_audit.operate import run as run_module
from importance_audit.operate.run import is_of_r, run_audit
from importance_audit.records import as_csv, as_json
from importance_audit.report.pages import html, short_views, view
from importance_audit.report.pages.pdf import PdfError
from importance_audit.runs.folder import load_run

MADE_ONCE = {"to_dict": 1, "digest_of": 1, "tables": 1, "short_files": 1}
MADE_TWICE = {"to_dict": 2, "digest_of": 2, "tables": 2}


@pytest.fixture
def counts(monkeypatch):
    """Return how often each of the functions that build something was called."""
    calls = Counter()

    def count(module, name):
        function = getattr(module, name)

        def count_call(*args, **options):
            calls[name] += 1
            return function(*args, **options)

        monkeypatch.setattr(module, name, count_call)

    for name in ("to_dict", "digest_of"):
        count(as_json, name)
    count(as_csv, "tables")
    count(short_views, "short_files")
    count(view, "sections_of")
    monkeypatch.setattr(html, "to_pdf", lambda *_, **__: b"")
    count(html, "to_pdf")
    return calls


def run(folder, feature="a", report=SHORT):
    """Return how a run of a small audit went."""
    written(folder, report=report)
    for name in ("train.csv", "test.csv"):
        table = pd.read_csv(folder / name).rename(columns={"a": feature})
        table.to_csv(folder / name, index=False)
    return run_audit(folder)


def test_a_run_makes_everything_once(tmp_path, counts):
    """Names in another alphabet that the fonts have need no other view."""
    outcome = run(tmp_path, feature="größe")
    assert counts == {**MADE_ONCE, "sections_of": 1, "to_pdf": 1}
    assert set(outcome.files) >= {"report.html", "report.pdf"}
    assert not _checks(outcome) & {"uncovered_names", "pdf_failed"}


def test_a_run_without_pages_makes_no_view(tmp_path, counts):
    outcome = run(tmp_path, report=UNPRINTED)
    assert counts == MADE_ONCE
    assert outcome.files == ()


def test_a_finding_that_comes_late_makes_everything_once_more(tmp_path, counts):
    outcome = run(tmp_path, feature="面积")
    assert counts == {**MADE_ONCE, **MADE_TWICE, "sections_of": 1, "to_pdf": 1}
    assert "uncovered_names" in _checks(outcome)


def test_without_a_pdf_the_finding_that_says_so_is_in_the_pages(
    tmp_path, counts, monkeypatch
):
    def fail(*_, **__):
        raise PdfError("the printer is on strike.")

    monkeypatch.setattr(html, "to_pdf", fail)
    outcome = run(tmp_path, report="")
    assert counts == {**MADE_ONCE, **MADE_TWICE, "sections_of": 2}
    assert "pdf_failed" in _checks(outcome)
    assert "the printer is on strike" in (outcome.folder / "report.html").read_text()
    assert not (outcome.folder / "report.pdf").exists()


@pytest.mark.parametrize(
    ("check", "cause", "is_failed"),
    [
        ("method_failed", "r_died", True),
        ("method_failed", "r_timeout: m, 1", True),
        ("method_failed", "r_unavailable", True),
        ("engine_required", "r_unavailable", True),
        ("method_failed", "r_error", False),
        ("method_failed", "", False),
        ("r_restarted", "r_died", False),
    ],
)
@pytest.mark.parametrize("remedy", ["", "Other words than today's."])
def test_whether_r_left_a_question_open_is_told_by_causes_and_no_words(
    check, cause, is_failed, remedy
):
    finding = make_finding("failure", check=check, remedy=remedy, cause=cause)
    assert is_of_r(plain_result(("a",), findings=(finding,))) is is_failed


def _checks(outcome):
    """Return the checks of the findings, as the run folder has them."""
    return {finding.check for finding in load_run(outcome.folder).findings}


def test_a_report_that_is_not_ready_in_time_loses_no_number(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "to_pdf", lambda *_, **__: sleep(60))
    monkeypatch.setattr(run_module, "REPORT_SECONDS", 0.01)
    with terminable():
        outcome = run(tmp_path, report=f"{SHORT}[limits]\nminutes = 0.05\n")
    assert outcome.code == 4
    assert outcome.no_report == (
        "The report could not be made; the numbers are saved. It was not finished "
        "0.01 s after the time limit."
    )
    assert load_run(outcome.folder).importances != ()
