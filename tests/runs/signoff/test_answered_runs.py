"""Claims about whole runs with a findings.toml beside them: exit code and folder."""

import pandas as pd
import pytest
from tests.cli.test_cli import add_twin, change_config, run, runs, written
from tests.signed_runs import APPROVAL

from importance_audit.operate.sign import sign
from importance_audit.records.finding import Finding
from importance_audit.runs.folder import load_run
from importance_audit.runs.history import load_history


@pytest.fixture
def folder(tmp_path):
    """Return an audit that fails on two columns that say the same; numbers only."""
    return add_twin(written(tmp_path))


def answer(folder, key, until, baseline=""):
    text = f"""[[finding]]
key = "{key}"
owner = "M. Kim"
[finding.exception]
until = {until}
reason = "The twin is kept for a form that prints it."
control = "Both are shuffled together."
approved_by = "A. Nowak"
"""
    if baseline:
        text += f'baseline = "{baseline}"\n'
    (folder / "findings.toml").write_text(text, encoding="utf8")


def warnings(run_folder):
    path = run_folder / "tables" / "findings.csv"
    findings = pd.read_csv(path, keep_default_na=False)
    return findings[findings["severity"] == "warning"]


def test_an_exception_turns_a_failing_run_into_one_that_passes(folder):
    assert run(folder).exit_code == 1
    (key,) = warnings(runs(folder)[0])["key"]
    answer(folder, key[:12], "2999-12-31")
    assert run(folder).exit_code == 0
    second = load_run(runs(folder)[1])
    assert second.verdict == "not cross-checked"
    assert second.accepted == {key: "2999-12-31"}
    text = (runs(folder)[1] / "summary.txt").read_text("utf8")
    assert "warning, accepted until 2999-12-31, Duplicate columns" in text
    answers = pd.read_csv(runs(folder)[1] / "tables" / "answers.csv")
    assert answers["control"].tolist() == ["Both are shuffled together."]


def test_a_mistake_in_the_answers_ends_before_anything_is_measured(folder):
    answer(folder, "same_columns", "2999-12-31")
    outcome = run(folder)
    assert (outcome.exit_code, runs(folder)) == (2, [])
    assert outcome.stderr.strip() == (
        "findings.toml: [finding] key must be the first 12 to 64 hex digits of a "
        "finding's key; 'same_columns' was given."
    )


def test_a_pdf_that_cannot_be_made_is_answered_and_remembered(folder, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder / "missing"))
    change_config(folder, "bundle", "executive")
    assert run(folder).exit_code == 1
    keys = warnings(runs(folder)[0]).set_index("check")["key"]
    answer(folder, keys["pdf_failed"], "2999-12-31")
    run(folder)
    assert load_run(runs(folder)[1]).accepted == {keys["pdf_failed"]: "2999-12-31"}
    times = {f.check: f.times for f in load_history(folder).findings}
    assert times == {"same_columns": 2, "pdf_failed": 2}


def test_a_shift_is_accepted_under_the_baseline_that_its_exception_names(folder):
    run(folder)
    (baseline,) = runs(folder)
    sign(baseline, APPROVAL)
    fields = {"check": "distribution_shift", "subject": "a", "measure": "feature"}
    key = Finding(severity="warning", message="-", **fields).key
    answer(folder, key, "2999-12-31", baseline.name)
    test = pd.read_csv(folder / "test.csv")
    test.assign(a=test["a"] + 4).to_csv(folder / "test.csv", index=False)
    run(folder)
    (last,) = {*runs(folder)} - {baseline}
    assert load_run(last).accepted == {key: "2999-12-31"}
