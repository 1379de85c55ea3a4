"""What a report says of answers: sections B, J and K, and the verdict in words."""

from dataclasses import replace
from datetime import date

import pytest
from tests.report.made_records import made_frame
from tests.report.made_results import found
from tests.report.made_variants import plain_result
from tests.report.reading import column, entries, lede_of, rows_of, section, table
from tests.report.sections.test_findings import check

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers
from importance_audit.runs.summary import FindingHistory, RunHistory, RunSummary

WEAK = found("weak_model", "svm", "failure", message="m.")
SHIFT = found("rank_shift", "svm", message="m.")
HELD = Accepted(date(2026, 12, 31), "why", "what stands in", "B. Zając")
LATE = date(2026, 11, 19)
RUN = "20261120T091204Z-7f3a91c2"


def view_with_answers(*findings, answers=(), history=None, **changes):
    """Return the view of findings with answers, each (finding, keys of an answer)."""
    history = history or RunHistory()
    given = tuple(Answer(finding.key[:12], **keys) for finding, keys in answers)
    result = plain_result(("a",), findings=findings, **changes)
    return build_view(with_answers(result, given, history.findings), history=history)


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
            "answered · owner Pricing, A. Nowak · due 2026-12-01",
        ),
        (
            {"due": LATE},
            "open · owner Pricing, A. Nowak · due 2026-11-19, overdue",
        ),
        (
            {"due": LATE, "exception": HELD},
            "accepted until 2026-12-31 · owner Pricing, A. Nowak · due 2026-11-19",
        ),
        (
            {"exception": HELD._replace(until=LATE)},
            "open · owner Pricing, A. Nowak · due –",
        ),
    ],
)
def test_a_finding_shows_its_state_owner_and_day(answer, line):
    (entry,) = entries(view_with_answers(SHIFT, answers=[(SHIFT, answer)]))
    assert plain(entry.summary) == line


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
    entry, *_ = entries(view_with_answers(finding, answers=[(finding, answer)]))
    cells = rows_of(entry.facts)
    assert cells["Exception"] == line
    assert cells["Compensating control"] == "what stands in."
    assert cells["Response"] == "r."


def test_a_finding_names_its_first_run_and_how_many_runs_found_it():
    for before, text in (
        (SHIFT, "First in run run 1, in 3 of 3 known runs."),
        (WEAK, "First in this run, after 2 runs without it."),
    ):
        (entry,) = entries(view_with_answers(SHIFT, history=history_with(before)))
        assert rows_of(entry.facts)["History"] == text


def test_a_finding_that_came_back_says_so():
    history = history_with(SHIFT)
    empty = history.runs[1]._replace(run_id="run 3", findings={})
    history = history._replace(runs=(*history.runs, empty), n_runs=3)
    (entry,) = entries(view_with_answers(SHIFT, history=history))
    assert plain(entry.summary).startswith("reopened · ")
    again = "; closed since, and found again in this one."
    assert rows_of(entry.facts)["History"].endswith(again)


def test_what_this_run_closed_stands_in_a_short_table():
    view = view_with_answers(history=history_with(SHIFT, WEAK))
    item = table(view, "tab-not-found")
    assert column(item, "State") == [f"closed by run {RUN}"] * 2
    assert column(item, "Severity") == ["Warning", "Failure"]
    assert column(item, "First found in run") == ["run 1", "run 1"]
    lede = lede_of(view, "K")
    assert lede == "There are no findings. 2 closed by this run."


def test_a_run_without_an_answer_leaves_what_it_did_not_look_for():
    failed = replace(WEAK, check="method_failed")
    past = {"history": history_with(SHIFT), "answers": [(SHIFT, {"due": LATE})]}
    item = table(view_with_answers(failed, **past), "tab-not-found")
    state = "open, not checked in this run, 2026-11-19, overdue"
    assert column(item, "State") == [state]


def test_the_verdict_says_how_many_findings_are_accepted_and_until_when():
    later = (SHIFT, {"exception": HELD._replace(until=date(2027, 3, 1))})
    held = (WEAK, {"exception": HELD})
    one = view_with_answers(WEAK, answers=[held])
    two = plain(view_with_answers(WEAK, SHIFT, answers=[later, held]).sentence)
    assert "1 finding is accepted until 2026-12-31." in plain(one.sentence)
    assert "2 findings are accepted temporarily, the first until 2026-12-31." in two
    assert "accepted" not in plain(view_with_answers(WEAK).sentence)


def test_the_gravest_finding_of_a_run_that_failed_is_one_that_counts():
    other = replace(WEAK, subject="forest")
    view = view_with_answers(WEAK, other, answers=[(WEAK, {"exception": HELD})])
    parts = section(view, "B").parts
    assert "The run has 1 finding at or above" in plain(parts["recomputed"])
    assert plain(parts["headline"]) == "Not clearly better than a constant (forest)"


def test_a_limit_that_is_waived_says_until_when():
    frame = made_frame("checks", [check(subject="svm")])
    held = [(SHIFT, {"exception": HELD})]
    view = view_with_answers(SHIFT, answers=held, checks=frame)
    verdicts = column(table(view, "tab-checks"), "Verdict")
    assert verdicts == ["warn, K1, accepted until 2026-12-31"]


def test_page_one_and_section_k_say_what_is_answered_accepted_and_overdue():
    answers = [(SHIFT, {"due": LATE, "response": "r"})]
    view = view_with_answers(WEAK, SHIFT, answers=answers)
    points = section(view, "B").parts["points"]
    assert list(map(plain, points)) == [
        "Not clearly better than a constant (svm) (K1).",
        "Ranks differ between engines or draws (svm) (K2), overdue since 2026-11-19.",
    ]
    answers.append((WEAK, {"exception": HELD}))
    accepted = view_with_answers(WEAK, SHIFT, answers=answers)
    lede = lede_of(accepted, "K")
    assert lede == "1 failure, 1 warning, 0 notes. 1 answered, 1 accepted, 1 overdue."
