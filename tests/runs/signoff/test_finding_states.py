"""Claims about the register: where a finding stands after a sequence of runs."""

from dataclasses import replace
from datetime import date
from functools import cache

import pytest
from tests.report.made_records import made_run
from tests.report.made_variants import plain_result

from importance_audit.records.finding import Finding
from importance_audit.report.pages.by_model import history_of_part
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers
from importance_audit.runs.signoff.closed_findings import closes
from importance_audit.runs.signoff.finding_states import standings
from importance_audit.runs.summary import (
    NO_BASELINE,
    FindingHistory,
    RunHistory,
    RunSummary,
    summarise,
)

SUBJECT = "svm, permutation, features, rmse: python and DALEX"
APART = Finding(
    check="disagreement",
    severity="failure",
    subject=SUBJECT,
    message="m.",
    engines=("DALEX",),
)
FAILED = Finding(check="method_failed", severity="failure", subject="svm", message="m.")
MISSING = Finding(
    check="engine_missing", severity="info", subject="DALEX", message="m."
)
NOTE = replace(APART, severity="info")
RUNS = {
    "F": (APART,),
    "n": (NOTE,),
    "-": (),
    "X": (APART, FAILED),
    "x": (FAILED,),
    "m": (MISSING,),
    "i": (),
}
"""A run that found it, one that found it as a note, one that did not, both of no whole
answer, one without R, one that was interrupted."""
ACCEPTED = Accepted(date(2026, 12, 31), "why", "what", "A. Nowak")


@cache
def run_of(letter):
    run = made_run(status="interrupted" if letter == "i" else "complete")
    return plain_result(("a",), findings=RUNS[letter], run=run)


def history_after(letters, *, n_last=30):
    """Return the past that runs of these letters leave: run 0, 1, 2, …"""
    runs, histories = [], []
    for n, letter in enumerate(letters):
        result = run_of(letter)
        short = summarise(result)
        fields = (f"run {n}", "", short.status, result.verdict, 0, "", "")
        found = {one.key: one.severity for one in short.findings}
        runs.append(RunSummary(*fields, findings=found, missing=short.missing))
    whole = [run for run in runs if run.status == "complete"]
    for one in (APART, FAILED):
        if had := [run for run in runs if one.key in run.findings]:
            severity = had[-1].findings[one.key]
            names = (one.key, one.check, one.subject, severity)
            in_last = bool(whole) and one.key in whole[-1].findings
            span = (had[0].run_id, had[-1].run_id, len(had), in_last, one.engines)
            histories.append(FindingHistory(*names, *span))
    return RunHistory(
        runs=tuple(runs[-n_last:]), n_runs=len(runs), findings=tuple(histories)
    )


def standing(letters, *, n_last=30, **answer):
    """Return where the finding stands in the last of some runs, None if nowhere."""
    result, history = run_of(letters[-1]), history_after(letters[:-1], n_last=n_last)
    answers = (Answer(APART.key, **answer),) if answer else ()
    result = with_answers(result, answers, history.findings)
    return next((s for s in standings(result, history) if s.key == APART.key), None)


@pytest.mark.parametrize(
    ("state", "is_found", "sequences"),
    [
        ("open", True, "F FF -F F-FF FxF F-XF FmF FiF nF FnF F-nF"),
        ("note", True, "Fn FFn F-Fn Fxn Fmn Fin nFn"),
        ("open", False, "Fx Xx Fm Fmx Fi"),
        ("closed", False, "F- FF- F-F- Fx- X- Fm- Fi- FnF-"),
        ("reopened", True, "F-F F--F F-xF F-X Fn-F"),
    ],
)
def test_where_a_finding_stands_after_these_runs(state, is_found, sequences):
    for letters in sequences.split():
        row = standing(letters)
        assert (row.state, row.is_found) == (state, is_found), letters


@pytest.mark.parametrize(
    ("subject", "engines", "is_closed"),
    [
        ("In other words.", ("DALEX",), False),
        ("In other words.", ("vip", "DALEX"), False),
        (SUBJECT, ("vip",), True),
        ("DALEX, a model of that name", (), True),
    ],
)
def test_which_engine_a_finding_is_about_is_told_by_no_words(
    subject, engines, is_closed
):
    finding = FindingHistory(
        *("k", "disagreement", subject, "failure", "r", "r", 1),
        in_last=True,
        engines=engines,
    )
    assert closes("not confirmed", ("DALEX",), finding) is is_closed


@pytest.mark.parametrize(
    "letters", ["F--", "F-x", "-", "m", "F-m", "n", "nn", "n-", "Fnn", "Fn-", "F-n"]
)
def test_what_is_closed_or_lowered_is_told_once_and_a_mere_note_not_at_all(letters):
    assert standing(letters) is None


@pytest.mark.parametrize(
    ("letters", "answer", "state"),
    [
        ("F", {"owner": "M. Kim"}, "open"),
        ("F", {"response": "r"}, "answered"),
        ("FF", {"response": "r"}, "answered"),
        ("F-F", {"response": "r"}, "reopened"),
        ("F", {"response": "r", "exception": ACCEPTED}, "accepted"),
        ("F-F", {"exception": ACCEPTED}, "accepted"),
        ("F-", {"exception": ACCEPTED}, "closed"),
        ("Fn", {"response": "r"}, "answered"),
        ("Fn", {"exception": ACCEPTED}, "accepted"),
        ("Fx", {"response": "r"}, "answered"),
        ("F", {"exception": ACCEPTED._replace(until=date(2026, 11, 19))}, "open"),
    ],
)
def test_an_answer_changes_the_state_of_a_finding(letters, answer, state):
    assert standing(letters, **answer).state == state


@pytest.mark.parametrize(
    ("letters", "overdue"), [("F", True), ("Fx", True), ("F-", False), ("F-F", True)]
)
def test_a_finding_is_overdue_until_it_is_closed_or_accepted(letters, overdue):
    assert standing(letters, due=date(2026, 11, 19)).is_overdue == overdue
    late = standing(letters, due=date(2026, 11, 19), exception=ACCEPTED)
    assert not late.is_overdue


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_run_that_did_not_end_closes_nothing(status):
    stopped = replace(run_of("-"), run=made_run(status=status))
    assert [s.state for s in standings(stopped, history_after("F"))] == ["open"]


def test_a_run_without_its_baseline_closes_nothing_that_is_held_against_it():
    shift = replace(APART, check="distribution_shift", subject="a", severity="warning")
    facts = ("r", "", "complete", "", 0, "", "")
    had = RunSummary(*facts, findings={shift.key: "warning"})
    names = (shift.key, shift.check, "a", "warning")
    earlier = FindingHistory(*names, "r", "r", 1, in_last=True)
    no_baseline = replace(shift, check=NO_BASELINE, subject="r")
    result = plain_result(("a",), findings=(no_baseline,))
    rows = standings(result, RunHistory(runs=(had,), n_runs=1, findings=(earlier,)))
    assert [(s.check, s.state) for s in rows] == [
        ("baseline_missing", "open"),
        ("distribution_shift", "open"),
    ]
    assert summarise(result).missing == (NO_BASELINE,)


def test_a_finding_knows_its_first_run_and_how_many_found_it():
    row = standing("-FxF-F")
    assert (row.first_run, row.times) == ("run 1", 3)
    assert standing("F").first_run == made_run().volatile["run_id"]


@pytest.mark.parametrize(
    ("letters", "state"), [("F" + "-" * 31, None), ("F" * 31 + "-", "closed")]
)
def test_a_finding_older_than_the_runs_that_are_kept_stands_as_it_did(letters, state):
    row = standing(letters, n_last=5)
    assert (row and row.state) == state
    assert standing(letters + "F", n_last=5).state == "reopened"


def test_runs_without_an_answer_that_push_all_others_out_leave_it_open():
    assert standing("F" + "i" * 9 + "F", n_last=5).state == "open"


def test_a_note_is_in_the_register_only_if_it_is_answered():
    result = plain_result(("a",), findings=(NOTE,))
    assert standings(result, RunHistory()) == ()
    (row,) = standings(with_answers(result, (Answer(NOTE.key, "K"),)), RunHistory())
    assert row.severity == "info"


def test_of_one_key_the_gravest_finding_stands():
    for both in ((APART, NOTE), (NOTE, APART)):
        result = plain_result(("a",), findings=both)
        (row,) = standings(result, history_after("F"))
        assert (row.severity, row.state) == ("failure", "open")


def test_the_report_of_one_model_is_not_told_of_the_findings_on_others():
    result, history = plain_result(("a",)), history_after("FX")
    models = result.models.iloc[[0, 0]].assign(model=["svm", "forest"])
    result = replace(result, models=models)
    assert history_of_part(history, result, "svm") == history
    assert history_of_part(history, result, "forest").findings == ()
