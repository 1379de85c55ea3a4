"""What a question without an answer leaves: one labelled note, or a way out."""

import logging

import pytest

from importance_audit.auditing.journal import Journal
from importance_audit.auditing.log import PAUSE, Log
from importance_audit.auditing.stopping import CAUSES, Cause
from importance_audit.r_bridge.errors import (
    RBridgeError,
    RDied,
    RError,
    RTimeout,
    RUnavailable,
)
from importance_audit.records.asker import asked_by
from importance_audit.records.errors import DataError, ModelError, NotApplicable
from importance_audit.records.finding import by_cause

NO_GROUPS = "vip has no groups: it permutes single features only."
GROUPS = "permutation of groups by vip"
CURVES = "partial_dependence of groups by vip"


def raising(error):
    """Return a question that has this answer."""

    def ask():
        raise error

    return ask


def journal_without_answers(*questions, error=None):
    """Return a journal in which these (model, question) had no answer."""
    journal = Journal()
    for model, question in questions:
        journal.guarded(model, question, raising(error or NotApplicable(NO_GROUPS)))
    return journal


@pytest.mark.parametrize(
    ("questions", "subject", "words"),
    [
        (
            [(model, GROUPS) for model in ("linear", "forest", "linear")],
            *("linear, forest", f"P{GROUPS[1:]}"),
        ),
        (
            [(model, q) for model in ("a", "b", "a") for q in (GROUPS, CURVES)],
            *("a, b", f"P{GROUPS[1:]}; {CURVES}"),
        ),
        (
            [("a", GROUPS), ("a", CURVES), ("b", GROUPS)],
            *("a, b", f"P{GROUPS[1:]}; {CURVES}"),
        ),
    ],
)
def test_one_reason_is_one_note_on_all_questions_and_models(questions, subject, words):
    (note,) = journal_without_answers(*questions).unanswered()
    assert (note.subject, note.message) == (subject, f"{words}: {NO_GROUPS}")


@pytest.mark.parametrize(
    ("error", "cause", "way_out"),
    [
        (ModelError("no"), "model: linear, 1", "leave the model out."),
        (DataError("Mend the column."), "data: linear, 1", ""),
        (RTimeout("no"), "r_timeout: linear, 1", "Raise `seconds` under [r]"),
        (RDied("no"), "r_died: linear, 1", "fewer rows (n_rows) take less"),
        (RError("no"), "r_error: linear, 1", "report R's message"),
        (RUnavailable("no"), "r_unavailable", "importance-audit doctor"),
        (RBridgeError("no"), "r_call: linear, 1", "Change the value named"),
        (MemoryError(), "memory: linear, 1", "Ask for fewer rows"),
        (ZeroDivisionError(), "ours", "report it with the traceback"),
    ],
)
def test_a_failed_method_says_what_to_do_by_its_cause(error, cause, way_out):
    finding = journal_without_answers(("linear", GROUPS), error=error).findings[-1]
    assert (finding.check, finding.severity) == ("method_failed", "failure")
    assert (finding.subject, finding.cause) == ("linear", cause)
    assert finding.message.startswith(f"P{GROUPS[1:]} failed: {str(error)[:1]}")
    assert way_out in finding.remedy
    assert bool(way_out) == bool(finding.remedy)


@pytest.mark.parametrize("kind", [ModelError, RTimeout, RError, MemoryError])
def test_one_fault_of_a_model_is_one_cause_however_many_questions_meet_it(kind):
    journal = Journal()
    asked = [("a", GROUPS, "no"), ("a", CURVES, "no"), ("a", CURVES, "other")]
    for model, question, said in [*asked, ("b", GROUPS, "no")]:
        journal.guarded(model, question, raising(kind(said)))
    sizes = [len(group) for group in by_cause(journal.findings)]
    assert sizes == [2, 1, 1]


@pytest.mark.parametrize("error", [kind("no") for kind in (ModelError, RTimeout)])
def test_who_asked_in_r_is_told_of_no_key_of_audit_toml(error):
    journal = Journal()
    with asked_by("r"):
        journal.guarded("linear", GROUPS, raising(error))
    (finding,) = journal.findings
    assert finding.remedy
    assert not any(key in finding.remedy for key in ("[", "`", "n_rows"))


@pytest.mark.parametrize(("engine", "engines"), [("python", ()), ("vip", ("vip",))])
def test_a_failed_method_names_the_engine_that_was_asked(engine, engines):
    journal = Journal()
    journal.guarded("linear", GROUPS, raising(RDied("no")), engine)
    assert [finding.check for finding in journal.findings] == [
        "r_restarted",
        "method_failed",
    ]
    assert [finding.engines for finding in journal.findings] == [engines, engines]


@pytest.mark.parametrize("error", [ZeroDivisionError("inside"), ModelError("said")])
def test_only_a_fault_of_ours_prints_its_traceback(caplog, monkeypatch, error):
    same = {kind: Cause(cause.code, "Do it.") for kind, cause in CAUSES.items()}
    monkeypatch.setattr("importance_audit.auditing.journal.CAUSES", same)
    with caplog.at_level(logging.WARNING):
        journal_without_answers(("linear", GROUPS), error=error)
    is_ours = isinstance(error, ZeroDivisionError)
    assert ("ZeroDivisionError: inside" in caplog.text) == is_ours
    assert bool(caplog.records) == is_ours


def test_a_long_step_says_how_far_it_is_but_not_all_the_time():
    steps = []
    journal = Journal(log=Log(lambda *step: steps.append(step)))
    journal.follow([("impact", lambda: journal.log.report_progress("trial 1"))])
    assert steps == [(0, 1, "impact"), (1, 1, "done")]
    journal.log.reported -= PAUSE
    journal.log.report_progress("trial 2")
    journal.log.report_progress("trial 3")
    assert steps[2:] == [(0, 1, "impact: trial 2")]


def test_what_another_engine_is_asked_is_told_and_timed():
    told = []
    journal = Journal(log=Log(lambda *step: told.append(step)))
    journal.log.at = (2, 5, "permutation of features, m")
    journal.guarded("m", "permutation of features by DALEX", lambda: 1, "DALEX")
    journal.guarded("m", "permutation of features by Python", lambda: 1)
    assert told == [(2, 5, "permutation of features, m: DALEX")]
    (line,) = journal.log.lines
    assert line["step"] == "permutation of features by DALEX, m"
    assert line["seconds"] >= 0
