"""Sections B, J and K: who set each limit, what was found, and how it was answered."""

from dataclasses import replace
from datetime import date

import pytest
from tests.report.made_records import made_frame, made_pair
from tests.report.made_results import found
from tests.report.made_variants import apartments_view, configured, plain_result
from tests.report.reading import (
    column,
    entries,
    lede_of,
    rows_of,
    said_in,
    section,
    table,
    words,
)

from importance_audit.records.finding import cause_of
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.findings import findings
from importance_audit.report.text.blocks import plain
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers
from importance_audit.runs.summary import FindingHistory, RunHistory, RunSummary

SUBJECT = "svm, permutation, features, rmse: python and DALEX"


def finding(check="rank_shift", subject="a", severity="warning", **fields):
    return found(check, subject, severity, **{"message": "m", **fields})


def check(check="rank_shift", subject="a", **changes):
    """Return one row of the table of thresholds, and an empty one if not asked."""
    defaults = {"observed": 3.0, "threshold": 2.0, "set_by": "default"}
    defaults |= {"check": check, "subject": subject, "verdict": "warn"}
    return defaults | changes


def view_with_findings(*findings, checks=(), answers=(), history=None):
    """Return the view of findings with answers, each (finding, keys of an answer)."""
    history = history or RunHistory()
    given = tuple(Answer(finding.key[:12], **keys) for finding, keys in answers)
    frame = made_frame("checks", checks)
    result = plain_result(("a",), findings=findings, checks=frame)
    return build_view(with_answers(result, given, history.findings), history=history)


def test_a_finding_keeps_its_id_when_its_numbers_change():
    ids = {
        entries(view_with_findings(finding(message=text)))[0].id
        for text in ("1 of 5", "2 of 5")
    }
    assert len(ids) == 1


def test_a_finding_names_the_limit_it_was_held_against_and_who_set_it():
    (entry,) = entries(view_with_findings(finding(), checks=[check()]))
    assert rows_of(entry.facts)["Criteria"] == "largest rank shift: limit 2 (default)."
    (entry,) = entries(view_with_findings(finding(), checks=[check(subject="b")]))
    assert "Criteria" not in rows_of(entry.facts)


def test_a_disagreement_names_the_class_of_its_cause():
    pair = made_pair("svm", "disagrees", n_outside=1, cause="data")
    frame = made_frame("agreement", [pair])
    apart = finding("disagreement", SUBJECT)
    (entry,) = entries(apartments_view(findings=(apart,), agreement=frame))
    assert rows_of(entry.facts)["Cause"] == "data"


def test_a_finding_of_a_model_without_an_owner_says_so():
    result = configured(plain_result(("a",), findings=(finding(),)), report={})
    (entry,) = entries(build_view(result))
    assert plain(entry.summary) == "open · owner none named · due –"


UNSEEN = cause_of("unseen_levels", "dealer")


def of_one_cause():
    """Return a level that training lacks, and what it makes two measures lack."""
    return (
        finding("not_applicable", "m", severity="info", cause=UNSEEN, message="No c."),
        finding("unmeasured", "m, vint", cause=UNSEEN, message="No number."),
        finding("unseen_levels", "dealer", cause=UNSEEN, message="New level."),
        finding("weak_model", "m, rmse", message="Weak."),
    )


def test_what_comes_of_one_cause_is_one_finding_that_names_what_it_hit():
    view = view_with_findings(*of_one_cause())
    first, second = entries(view)
    assert plain(first.title) == "Levels not seen in training (dealer)"
    assert rows_of(first.facts)["Condition"] == "New level."
    assert rows_of(first.facts)["Also"] == (
        "Not measured (m, vint): No number. Not applicable (m): No c."
    )
    assert (first.number, second.number) == ("K1", "K2")
    assert lede_of(view, "K") == "0 failures, 2 warnings, 0 notes."


def test_a_cause_prints_the_key_of_each_of_its_findings_that_can_be_answered():
    _, unmeasured, unseen, _ = of_one_cause()
    first, _ = entries(view_with_findings(*of_one_cause()))
    assert rows_of(first.facts)["Key"] == f"{unseen.key[:12]}, {unmeasured.key[:12]}"
    assert replace(unseen, cause="").key == unseen.key


def test_what_of_a_cause_is_not_answered_stays_open_beside_what_is():
    _, unmeasured, unseen, _ = of_one_cause()
    given = [(finding, {"response": "Merged."}) for finding in (unseen, unmeasured)]
    answered, left = entries(view_with_findings(unmeasured, unseen, answers=given[:1]))
    assert plain(answered.summary).startswith("answered · ")
    assert rows_of(answered.facts)["Key"] == unseen.key[:12]
    assert plain(left.summary).startswith("open · ")
    assert rows_of(left.facts)["Key"] == unmeasured.key[:12]
    (entry,) = entries(view_with_findings(unmeasured, unseen, answers=given))
    assert plain(entry.summary).startswith("answered · ")
    assert rows_of(entry.facts)["Response"] == "Merged."


def test_the_same_deviation_of_two_models_is_one_finding_with_both_names():
    law = "The owner expects 'a' on top (law). 1 of 1 ranking disagrees: by p, "
    cause = cause_of("unexpected", "a on top")
    both = tuple(
        finding("unexpected", name, cause=cause, message=f"{law}{name}.")
        for name in ("forest", "svm")
    )
    facts = facts_of(plain_result(("a",), findings=both), "0" * 64)
    (entry,) = findings(facts).parts["entries"]
    assert plain(entry.title) == "Owner's expectation not met (forest; svm)"
    assert rows_of(entry.facts)["Condition"] == f"{law}forest."
    assert rows_of(entry.facts)["Also"] == "svm: 1 of 1 ranking disagrees: by p, svm."


def test_page_one_counts_causes_and_not_their_findings():
    result = plain_result(("a",), findings=of_one_cause())
    failing = configured(result, fail_on="warning")
    text = plain(section(build_view(failing), "B").parts["recomputed"])
    assert text.startswith("The run has 2 findings at or above its limit")
    assert "It is" not in text


def test_causes_that_say_no_more_than_a_code_stay_apart():
    died = [finding("method_failed", s, cause="r_died") for s in "ab"]
    assert len(entries(view_with_findings(*died))) == 2


def test_a_limit_says_whether_the_configuration_set_it():
    sources = ("default", "definition", "[checks] max_rank_shift")
    frame = [check(subject=name, set_by=name) for name in sources]
    setters = column(table(view_with_findings(checks=frame), "tab-checks"), "Set by")
    assert setters == ["default", "definition", "audit.toml, [checks] max_rank_shift"]


def test_a_check_outside_its_limit_never_reads_pass_and_one_that_passed_does():
    both = [check(verdict="note"), check(verdict="pass")]
    view = view_with_findings(finding(severity="info"), checks=both)
    every = table(view, "tab-checks").everything
    assert column(every, "Verdict") == ["note, K1", "pass"]
    assert lede_of(view, "J") == "1 of 2 checks passed. Not passed: 1 note."


@pytest.mark.parametrize("severity", ["failure", "warning", "info"])
def test_findings_of_every_severity_say_their_effect(severity):
    (entry,) = entries(view_with_findings(finding("dependence", severity=severity)))
    assert "evaluate the model on rows that hardly occur" in words(entry)


def test_checks_that_were_not_run_are_counted_and_listed_in_the_page_alone():
    missing = {"check": "disagreement", "verdict": "not run", "threshold": 0.0}
    waiting = [check(subject=s, observed="not compared", **missing) for s in "abc"]
    view = view_with_findings(checks=[check(), *waiting])
    item = table(view, "tab-checks")
    assert len(item.rows) == 1
    assert column(item.everything, "Observed")[1:] == ["not compared"] * 3
    assert lede_of(view, "J").endswith("3 not run.")


WEAK = found("weak_model", "svm", "failure", message="m.")
SHIFT = found("rank_shift", "svm", message="m.")
HELD = Accepted(date(2026, 12, 31), "why", "what stands in", "B. Zając")
LATE = date(2026, 11, 19)
OWNER = "owner Pricing, A. Nowak"
RUN = "20261120T091204Z-7f3a91c2"


def history_with(*findings, verdict="confirmed"):
    """Return the past of two runs, the last of which found these."""
    keys = {finding.key: finding.severity for finding in findings}
    runs = [
        RunSummary(f"run {n}", "", "complete", verdict, 0, "", "", findings=keys)
        for n in (1, 2)
    ]
    histories = [
        FindingHistory(f.key, f.check, f.subject, f.severity, "run 1", "run 2", 2, True)
        for f in findings
    ]
    return RunHistory(runs=tuple(runs), n_runs=2, findings=tuple(histories))


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"owner": "M. Kim"}, "open · owner M. Kim · due –"),
        (
            {"due": date(2026, 12, 1), "response": "r"},
            f"answered · {OWNER} · due 2026-12-01",
        ),
        ({"due": LATE}, f"open · {OWNER} · due 2026-11-19, overdue"),
        (
            {"due": LATE, "exception": HELD},
            f"accepted until 2026-12-31 · {OWNER} · due 2026-11-19",
        ),
        ({"exception": HELD._replace(until=LATE)}, f"open · {OWNER} · due –"),
    ],
)
def test_a_finding_shows_its_state_owner_and_day(answer, line):
    (entry,) = entries(view_with_findings(SHIFT, answers=[(SHIFT, answer)]))
    assert plain(entry.summary) == line


@pytest.mark.parametrize(
    ("one", "other", "lines"),
    [
        (
            {"owner": "M. Kim"},
            {"owner": "L. Roy"},
            ["open · owner M. Kim · due –", "open · owner L. Roy · due –"],
        ),
        (
            {"due": date(2026, 12, 1)},
            {"exception": HELD},
            [
                f"open · {OWNER} · due 2026-12-01",
                f"accepted until 2026-12-31 · {OWNER} · due –",
            ],
        ),
        ({"owner": "M. Kim"}, {"owner": "M. Kim"}, ["open · owner M. Kim · due –"]),
    ],
)
def test_findings_of_one_cause_are_one_entry_for_each_answer(one, other, lines):
    """A note of that cause stays with the gravest of it."""
    cause = cause_of("unseen_levels", "dealer")
    first, second, note = (
        finding("unseen_levels", name, severity, cause=cause)
        for name, severity in (("a", "warning"), ("b", "warning"), ("c", "info"))
    )
    view = view_with_findings(
        note, first, second, answers=[(first, one), (second, other)]
    )
    shown = entries(view)
    assert [plain(entry.summary) for entry in shown] == lines
    assert plain(shown[0].facts.rows[1][1]).endswith("c: m")


def test_a_warning_that_became_a_note_is_still_found_and_not_among_the_missing():
    note = replace(SHIFT, severity="info")
    view = view_with_findings(note, history=history_with(SHIFT))
    (entry,) = entries(view)
    assert plain(entry.summary) == f"still found, now a note · {OWNER} · due –"
    (section,) = (one for one in view.sections if one.name == "findings")
    assert plain(section.lede) == "0 failures, 0 warnings, 1 note. 1 lowered to a note."
    assert section.parts["not_found"] == ()


@pytest.mark.parametrize(
    ("finding", "until", "line"),
    [
        (
            SHIFT,
            date(2026, 11, 20),
            "In force until 2026-11-20, approved by B. Zając: why.",
        ),
        (
            SHIFT,
            LATE,
            "Expired on 2026-11-19, so the finding counts again. It was approved "
            "by B. Zając: why.",
        ),
        (
            replace(WEAK, check="method_failed"),
            date(2026, 12, 31),
            "Not in force: numbers are missing, and an exception cannot replace "
            "them. It was to end on 2026-12-31 and was approved by B. Zając: why.",
        ),
        (
            replace(SHIFT, check="missing_share"),
            date(2026, 12, 31),
            "Not in force, so the finding counts: it does not name the approved "
            "baseline that the finding was compared with. It was to end on "
            "2026-12-31 and was approved by B. Zając: why.",
        ),
    ],
)
def test_an_exception_says_until_when_by_whom_and_whether_it_counts(
    finding, until, line
):
    answer = {"response": "r", "exception": HELD._replace(until=until)}
    entry, *_ = entries(view_with_findings(finding, answers=[(finding, answer)]))
    cells = rows_of(entry.facts)
    assert cells["Exception"] == line
    assert cells["Compensating control"] == "what stands in."
    assert cells["Response"] == "r."


def test_a_finding_names_its_first_run_and_how_many_runs_found_it():
    for before, text in (
        (SHIFT, "First in run run 1, in 3 of 3 known runs."),
        (WEAK, "First in this run, after 2 runs without it."),
    ):
        (entry,) = entries(view_with_findings(SHIFT, history=history_with(before)))
        assert rows_of(entry.facts)["History"] == text


def test_a_finding_that_came_back_says_so():
    history = history_with(SHIFT)
    empty = history.runs[1]._replace(run_id="run 3", findings={})
    history = history._replace(runs=(*history.runs, empty), n_runs=3)
    (entry,) = entries(view_with_findings(SHIFT, history=history))
    assert plain(entry.summary).startswith("reopened · ")
    again = "; closed since, and found again in this one."
    assert rows_of(entry.facts)["History"].endswith(again)


def test_what_this_run_closed_stands_in_a_short_table():
    view = view_with_findings(history=history_with(SHIFT, WEAK))
    item = table(view, "tab-not-found")
    assert column(item, "State") == [f"closed by run {RUN}"] * 2
    assert column(item, "Severity") == ["Warning", "Failure"]
    assert column(item, "First found in run") == ["run 1", "run 1"]
    lede = lede_of(view, "K")
    assert lede == "There are no findings. 2 closed by this run."


def test_a_run_without_an_answer_leaves_what_it_did_not_look_for():
    failed = replace(WEAK, check="method_failed")
    past = {"history": history_with(SHIFT), "answers": [(SHIFT, {"due": LATE})]}
    item = table(view_with_findings(failed, **past), "tab-not-found")
    state = "open, not checked in this run, 2026-11-19, overdue"
    assert column(item, "State") == [state]


def test_the_verdict_says_how_many_findings_are_accepted_and_until_when():
    later = (SHIFT, {"exception": HELD._replace(until=date(2027, 3, 1))})
    held = (WEAK, {"exception": HELD})
    one = said_in(view_with_findings(WEAK, answers=[held]), "B")
    two = said_in(view_with_findings(WEAK, SHIFT, answers=[later, held]), "B")
    assert "1 finding is accepted until 2026-12-31." in one
    assert "2 findings are accepted temporarily, the first until 2026-12-31." in two
    assert "accepted" not in said_in(view_with_findings(WEAK), "B")


def test_the_gravest_finding_of_a_run_that_failed_is_one_that_counts():
    other = replace(WEAK, subject="forest")
    view = view_with_findings(WEAK, other, answers=[(WEAK, {"exception": HELD})])
    parts = section(view, "B").parts
    assert "The run has 1 finding at or above" in plain(parts["recomputed"])
    assert plain(parts["headline"]) == "Not clearly better than a constant (forest)"


def test_a_limit_that_is_waived_says_until_when():
    held = [(SHIFT, {"exception": HELD})]
    view = view_with_findings(SHIFT, answers=held, checks=[check(subject="svm")])
    verdicts = column(table(view, "tab-checks"), "Verdict")
    assert verdicts == ["warn, K1, accepted until 2026-12-31"]


def test_page_one_and_section_k_say_what_is_answered_accepted_and_overdue():
    answers = [(SHIFT, {"due": LATE, "response": "r"})]
    view = view_with_findings(WEAK, SHIFT, answers=answers)
    points = section(view, "B").parts["points"]
    assert list(map(plain, points)) == [
        "Not clearly better than a constant (svm) (K1).",
        "Ranks differ between engines or draws (svm) (K2), overdue since 2026-11-19.",
    ]
    answers.append((WEAK, {"exception": HELD}))
    accepted = view_with_findings(WEAK, SHIFT, answers=answers)
    lede = lede_of(accepted, "K")
    assert lede == "1 failure, 1 warning, 0 notes. 1 answered, 1 accepted, 1 overdue."
