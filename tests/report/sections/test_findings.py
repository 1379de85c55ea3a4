"""Sections J and K: who set each limit, and findings that can be answered."""

from dataclasses import replace

import pytest
from tests.report.made_records import made_frame, made_pair
from tests.report.made_results import found
from tests.report.made_variants import apartments_view, configured, plain_result
from tests.report.reading import (
    column,
    entries,
    lede_of,
    rows_of,
    section,
    table,
    words,
)

from importance_audit.records.finding import cause_of
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.findings import findings
from importance_audit.report.text.blocks import plain
from importance_audit.runs.signoff.answers import Answer, with_answers

SUBJECT = "svm, permutation, features, rmse: python and DALEX"


def finding(check="rank_shift", subject="a", severity="warning", **fields):
    return found(check, subject, severity, **{"message": "m", **fields})


def check(check="rank_shift", subject="a", **changes):
    """Return one row of the table of thresholds, and an empty one if not asked."""
    defaults = {"observed": 3.0, "threshold": 2.0, "set_by": "default"}
    defaults |= {"check": check, "subject": subject, "verdict": "warn"}
    return defaults | changes


def view_with_findings(*findings, checks=(), **changes):
    frame = made_frame("checks", checks)
    result = plain_result(("a",), findings=findings, checks=frame, **changes)
    return build_view(result)


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


def test_a_cause_is_open_until_each_of_its_findings_is_answered():
    _, unmeasured, unseen, _ = of_one_cause()
    result = plain_result(("a",), findings=(unmeasured, unseen))
    one = with_answers(result, [Answer(unseen.key[:12], response="Merged.")])
    (entry,) = entries(build_view(one))
    assert plain(entry.summary).startswith("open · ")
    assert rows_of(entry.facts)["Response"] == "Merged."
    assert rows_of(entry.facts)["Key"] == (
        f"{unseen.key[:12]} (answered), {unmeasured.key[:12]} (open)"
    )
    both = [Answer(f.key[:12], response="Merged.") for f in (unseen, unmeasured)]
    (entry,) = entries(build_view(with_answers(result, both)))
    assert plain(entry.summary).startswith("answered · ")


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
    assert text.startswith("The run has 2 findings at or above the configured limit")
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


def test_checks_that_were_not_run_stand_in_one_row_unless_for_other_reasons():
    missing = {"check": "disagreement", "verdict": "not run", "threshold": 0.0}
    frame = [check(subject=s, observed="not compared", **missing) for s in "abc"]
    item = table(view_with_findings(checks=frame), "tab-checks")
    assert column(item, "Subject") == ["3 pairs"]
    assert column(item, "Observed") == ["not compared"]
    assert len(item.everything.rows) == 3
    apart = [check(subject=s, observed=f"not {s}", **missing) for s in ("a", "b")]
    item = table(view_with_findings(checks=apart), "tab-checks")
    assert column(item, "Observed") == ["not a", "not b"]
    assert item.everything is None  # it would hold the same rows
