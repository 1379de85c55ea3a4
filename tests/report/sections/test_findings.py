"""Sections J and K: who set each limit, and findings that can be answered."""

from dataclasses import replace

import pandas as pd
from tests.report.made_records import made_frame, made_pair, made_run
from tests.report.made_results import apartments_result
from tests.report.made_variants import plain_result, view_of
from tests.report.reading import column, section, table, words

from importance_audit.records.finding import Finding
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

SUBJECT = "svm, permutation, features, rmse: python and DALEX"


def finding(check="rank_shift", subject="a", **changes):
    defaults = {"severity": "warning", "message": "m", **changes}
    return Finding(check=check, subject=subject, **defaults)


def check(check="rank_shift", subject="a", **changes):
    """Return one row of the table of thresholds, and an empty one if not asked."""
    defaults = {
        "observed": 3.0,
        "threshold": 2.0,
        "set_by": "default",
        "verdict": "warn",
    }
    return {"check": check, "subject": subject, **defaults, **changes}


def view_with_findings(*findings, checks=(), **changes):
    frame = made_frame("checks", checks)
    result = plain_result(("a",), findings=findings, checks=frame, **changes)
    return build_view(result)


def entries(view):
    return section(view, "K").parts["entries"]


def rows(entry):
    return {plain(label): plain(content) for label, content in entry.facts.rows}


def test_the_key_of_a_finding_is_the_same_whatever_its_numbers():
    one, other = finding(message="0.93 of 2"), finding(message="0.94 of 2")
    assert one.key == other.key


def test_findings_on_other_things_have_other_keys():
    alike = finding(), finding("disagreement"), finding(subject="b")
    measured = finding(measure="shapley")
    assert len({f.key for f in (*alike, measured)}) == 4


def test_findings_with_one_key_have_an_id_each():
    view = view_with_findings(finding(), finding(message="n"))
    assert len({entry.id for entry in entries(view)}) == 2


def test_a_finding_keeps_its_id_when_its_numbers_change():
    ids = {
        entries(view_with_findings(finding(message=text)))[0].id
        for text in ("1 of 5", "2 of 5")
    }
    assert len(ids) == 1


def test_a_finding_names_the_limit_it_was_held_against_and_who_set_it():
    (entry,) = entries(view_with_findings(finding(), checks=[check()]))
    assert rows(entry)["Criteria"] == "largest rank shift: limit 2, set by default."


def test_a_finding_without_a_check_of_its_own_has_no_criteria():
    (entry,) = entries(view_with_findings(finding(), checks=[check(subject="b")]))
    assert "Criteria" not in rows(entry)


def test_a_disagreement_names_the_class_of_its_cause():
    pair = made_pair("svm", "disagrees", n_outside=1, cause="data")
    frame = made_frame("agreement", [pair])
    apart = finding("disagreement", SUBJECT)
    (entry,) = entries(
        build_view(apartments_result(findings=(apart,), agreement=frame))
    )
    assert rows(entry)["Cause"] == "data"


def test_a_finding_is_open_and_of_the_owner_of_the_model():
    run = made_run()
    (entry,) = entries(view_with_findings(finding(), run=run))
    assert plain(entry.summary) == "open · owner Pricing, A. Nowak · due –"
    config = {**run.config, "report": {}}
    (entry,) = entries(view_with_findings(finding(), run=replace(run, config=config)))
    assert plain(entry.summary) == "open · owner none named · due –"


def test_a_finding_prints_the_key_that_an_answer_names():
    (entry,) = entries(view_with_findings(finding()))
    assert rows(entry)["Key"] == finding().key[:12]


def test_a_limit_says_whether_the_configuration_set_it():
    sources = ("default", "definition", "[checks] max_rank_shift")
    frame = [check(subject=name, set_by=name) for name in sources]
    setters = column(table(view_with_findings(checks=frame), "tab-checks"), "Set by")
    assert setters == ["default", "definition", "audit.toml, [checks] max_rank_shift"]


def test_the_table_says_who_set_the_limits_and_when_the_run_read_them():
    notes = words(table(view_of("apartments"), "tab-checks").notes)
    assert "the value that importance-audit 0.1.0 has" in notes
    assert (
        "set by Pricing, A. Nowak, as the run read it at 2026-11-20 09:12:04" in notes
    )
    assert "SHA-256 77d02b1c9ae4f8c5" in notes


def test_a_check_that_made_a_finding_names_it():
    view = view_with_findings(finding(severity="info"), checks=[check(verdict="pass")])
    assert column(table(view, "tab-checks"), "Verdict") == ["pass, K1"]


def test_checks_that_were_not_run_stand_in_one_row():
    missing = {"check": "disagreement", "verdict": "not run", "threshold": 0.0}
    frame = [check(subject=s, observed="not compared", **missing) for s in "abc"]
    item = table(view_with_findings(checks=frame), "tab-checks")
    assert column(item, "Subject") == ["3 answers"]
    assert column(item, "Observed") == ["not compared"]
    assert len(item.everything.rows) == 3


def test_what_failed_is_listed_one_by_one():
    frame = pd.DataFrame([check(subject=s, verdict="fail") for s in "abc"])
    item = table(build_view(plain_result(("a",), checks=frame)), "tab-checks")
    assert column(item, "Subject") == ["a", "b", "c"]
