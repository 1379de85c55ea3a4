"""Summaries and test reports: the verdict of the exit code, whatever names hold."""

import re
import tomllib
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.report.made_results import found
from tests.report.made_variants import RESULTS, configured, plain_result, result_of

from importance_audit.auditing.audit import exit_code
from importance_audit.records.errors import ConfigError
from importance_audit.report.pages.short_views import (
    TO_ANSWER,
    reason,
    short_files,
    suites,
)
from importance_audit.runs.signoff.answers import with_answers
from importance_audit.runs.signoff.answers_file import parse_answers

NASTY = ("a|b", "x\ny", "<b>&amp;", '"', "]]>", "\x00\x1b[31m", "\u202e", "\ud800", "￾")


def junit(result):
    return ElementTree.fromstring(short_files(result)["junit.xml"])


def outcomes(result, suite):
    """Return (outcome, message) of each case of a suite."""
    cases = {s.name: s.cases for s in suites(result)}[suite]
    return [(case.outcome, case.message) for case in cases]


def against(check, severity="failure"):
    return found(check, "forest", severity, message="No.")


@pytest.mark.parametrize("name", RESULTS)
def test_a_dashboard_is_red_where_the_exit_code_is_not_0(name):
    result = result_of(name)
    root = junit(result)
    bad = len(root.findall(".//failure")) + len(root.findall(".//error"))
    assert bool(bad) == bool(exit_code(result))
    assert bad == int(root.get("failures")) + int(root.get("errors"))


@pytest.mark.parametrize("severity", ["warning", "failure"])
@pytest.mark.parametrize("fail_on", ["warning", "failure"])
def test_a_finding_is_red_at_the_limit_the_configuration_sets(fail_on, severity):
    plain = plain_result(("a",), findings=(against("claim_not_reproduced", severity),))
    result = configured(plain, fail_on=fail_on)
    assert bool(junit(result).findall(".//failure")) == bool(exit_code(result))


def test_the_reason_is_the_gravest_finding_against_the_run_or_its_verdict_in_words():
    weak = found("weak_model", "forest", message="No.", remedy="Fit it again.")
    result = configured(plain_result(("a",), findings=(weak,)), fail_on="warning")
    assert reason(result) == "No. Fit it again."
    worse = result.with_findings((against("claim_not_reproduced"),))
    assert reason(worse) == "No. And 1 more."
    nothing = found("nothing_measured", severity="failure")
    failed = found("method_failed", severity="failure", message="Why.")
    assert reason(result.with_findings((failed, nothing))) == "Why. And 1 more."
    excepted = replace(result_of("apartments"), findings=(weak,))
    assert excepted.verdict == "confirmed with exceptions"
    assert reason(excepted) == "No. Fit it again."
    assert reason(result_of("one feature")) == (
        "Python alone computed the numbers: no second implementation was requested "
        "(section Scope and independence)."
    ).replace("section ", "section\u00a0")


def test_what_nobody_answered_is_written_as_answers_to_fill_in():
    names = (*NASTY, '"""', "'''", "\\")
    weak = tuple(found("weak_model", name, message=name) for name in names)
    result = plain_result(("a",), findings=(*weak, against("unmeasured", "info")))
    stub = short_files(result)[TO_ANSWER]
    filled = re.sub(r"(?m)^# (?=[a-z_]+ = |\[finding\.)", "", stub)
    answers = parse_answers(tomllib.loads(filled))
    assert [answer.key for answer in answers] == [one.key[:12] for one in weak]
    answered = with_answers(result, answers)
    assert {*answered.accepted} == {one.key for one in weak}
    assert TO_ANSWER not in short_files(answered)
    with pytest.raises(ConfigError, match="states only the key of its finding"):
        parse_answers(tomllib.loads(stub))  # nothing is accepted by copying it


def test_every_check_and_every_pair_is_a_case():
    result = result_of("disagreeing")
    root = junit(result)
    for name, frame in (("checks", result.checks), ("pairs", result.agreement)):
        suite = root.find(f"testsuite[@name='{name}']")
        assert len(suite) == int(suite.get("tests")) == len(frame)
        subjects = frame["subject" if name == "checks" else "model"]
        cases = [case.get("name") for case in suite]
        assert all(map(str.__contains__, cases, subjects)), cases


def test_what_was_not_compared_or_not_run_is_skipped_with_its_reason():
    result = result_of("apartments")
    frame, checks = result.agreement, result.checks.head(1)
    reasons = frame.loc[frame["verdict"] == "not compared", "reasons"].tolist()
    skipped = [case for case in outcomes(result, "pairs") if case[0] == "skipped"]
    assert reasons
    assert skipped == [("skipped", reason) for reason in reasons]
    unknown = checks.assign(verdict="not run", observed="training rows unknown")
    cases = outcomes(replace(result, checks=unknown), "checks")
    assert cases == [("skipped", "training rows unknown")]


def test_a_failed_method_is_an_error_with_its_message():
    (failed,) = outcomes(result_of("failed"), "run")
    assert failed == ("error", "Impurity of features by Python failed: no trees here.")


def test_no_name_breaks_a_line_a_cell_or_an_element():
    findings = tuple(replace(against("weak_model"), subject=name) for name in NASTY)
    result = plain_result(NASTY, findings=findings)
    files = short_files(result)
    cases = junit(result).findall("testsuite[@name='findings']/testcase")
    assert len(cases) == len(NASTY)
    (row,) = re.findall(r"^\| forest, .*$", files["summary.md"], re.M)
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    text = files["summary.txt"]
    assert sum("Not clearly better" in line for line in text.splitlines()) == len(NASTY)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", files["summary.txt"])


def test_tests_and_summaries_use_the_words_of_the_page():
    result = result_of("apartments").with_findings(
        (found("same_columns", "a", "info"),)
    )
    files = short_files(result)
    names = [case.get("name") for case in junit(result).iter("testcase")]
    assert "linear, permutation of features, RMSE: Python and vip" in names
    assert "svm, partial dependence of floor: Python and DALEX" in names
    assert not [name for name in names if re.search("partial_dependence|rmse", name)]
    for summary in ("summary.txt", "summary.md"):
        assert re.search(r"note\W*, Duplicate columns, a \(key", files[summary])


def test_of_findings_of_one_cause_the_first_is_told_with_its_own_subject():
    losses = {"one_minus_auc": 0.29, "log_loss": 0.61}
    both = []
    for loss, value in losses.items():
        subject = f"boosting, permutation, features, {loss}, 1"
        said = {"message": f"The loss of 'boosting' is {value}.", "cause": "same: c"}
        both.append(found("infinite", subject, **said))
    result = replace(result_of("binary"), findings=tuple(both))
    result = configured(result, labels={"boosting": "Boosted trees"})
    text = short_files(result)["summary.txt"]
    asked = "Boosted trees, permutation of features"
    assert (
        f"  warning, infinite, {asked}, 1 − AUC, class 1 (key {both[0].key[:12]}): "
        f"The loss of 'Boosted trees' is 0.29. And 1 more alike: {asked}, log loss, "
        "class 1.\n"
    ) in text
    # Of age, at −0.002 ± 0.003, nobody can say that it leads.
    assert f"\n{asked}, log loss, class 1: gender, class\n" in text


def test_a_note_on_the_folder_ends_both_summaries():
    files = short_files(result_of("apartments"), "No report.")
    assert files["summary.txt"].splitlines()[-1] == "No report."
    assert files["summary.md"].splitlines()[-1] == "No report."
