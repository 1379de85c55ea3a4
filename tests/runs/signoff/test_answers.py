"""Claims about findings.toml: what it may say, and what an answer does to a verdict."""

from dataclasses import replace
from datetime import date

import pandas as pd
import pytest
from tests.report.made_variants import plain_result

from importance_audit.auditing.audit import exit_code
from importance_audit.config.load import load_config
from importance_audit.operate.schedule_section import read_schedule
from importance_audit.records.as_json import (
    content_digest,
    dumps,
    loads,
)
from importance_audit.records.errors import ConfigError
from importance_audit.records.finding import Finding
from importance_audit.report.pages.short_views import short_files, suites
from importance_audit.runs.signoff.answers import (
    Accepted,
    Answer,
    with_answers,
)
from importance_audit.runs.signoff.answers_file import load_answers

KEY = "0123456789ab"
WEAK = Finding(check="weak_model", severity="failure", subject="svm", message="m.")
SHIFT = Finding(check="rank_shift", severity="warning", subject="svm", message="m.")
FAILED = Finding(check="method_failed", severity="failure", subject="svm", message="m.")


def summary(result):
    return short_files(result)["summary.txt"]


def problems(folder, text):
    """Return what is wrong with a file, each sentence behind the file's name."""
    (folder / "findings.toml").write_text(text, "utf8")
    with pytest.raises(ConfigError) as caught:
        load_answers(folder)
    messages = caught.value.problems
    assert all(line.startswith("findings.toml") for line in messages)
    return [line.removeprefix("findings.toml: ") for line in messages]


def entry(*lines):
    return "\n".join(("[[finding]]", f'key = "{KEY}"', *lines))


def exception(**changes):
    """Return the lines of an exception; None leaves a key out."""
    texts = ("reason", "control", "approved_by")
    entries = {"until": "2026-12-31", **dict.fromkeys(texts, '"x"'), **changes}
    lines = [f"{key} = {value}" for key, value in entries.items() if value]
    return "\n".join(("[finding.exception]", *lines))


ONE = "[finding]"
WRONG = {
    entry(): f"{ONE} states only the key of its finding. Give one of 'owner', 'due', "
    "'response', 'exception'.",
    '[[finding]]\nowner = "a"': f"{ONE} key is missing. Section K prints it.",
    '[[finding]]\nkey = "weak"\nowner = "a"': f"{ONE} key must be the first 12 to 64 "
    "hex digits of a finding's key; 'weak' was given.",
    entry('ownr = "a"'): f"{ONE} holds the unknown key 'ownr'. Did you mean 'owner'?",
    entry('due = "2026-12-31"'): f"{ONE} due must be a day such as 2026-12-31, "
    "without quotes; '2026-12-31' was given.",
    entry(
        'response = " "'
    ): f"{ONE} response must be a text that is not empty; ' ' was given.",
    entry("exception = true"): f"{ONE} exception must be a table, "
    "[finding.exception]; true was given.",
    entry(exception(control=None)): f"{ONE} exception.control is missing.",
    entry(
        exception(untill="2026-12-31")
    ): f"{ONE} exception holds the unknown key 'untill'. Did you mean 'until'?",
    "[finding]\nowner = 1": "finding must be a list of tables, [[finding]]; "
    "{'owner': 1} was given.",
    "[[findings]]": "the top level holds the unknown key 'findings'. Did you mean "
    "'finding'?",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=range(len(WRONG)))
def test_a_mistake_in_the_file_is_told_in_one_sentence(tmp_path, text, message):
    assert problems(tmp_path, text) == [message]


def test_all_mistakes_of_all_entries_are_told_at_once(tmp_path):
    first = entry('ownr = "a"', "due = 3")
    second = f'[[finding]]\nkey = "{KEY.upper()}cd"\nowner = "b"'
    assert problems(tmp_path, f"{first}\n{second}") == [
        "[finding 1] holds the unknown key 'ownr'. Did you mean 'owner'?",
        "[finding 1] due must be a day such as 2026-12-31, without quotes; 3 was "
        "given.",
        f"[finding 2] key must be answered once; '{KEY}cd' is also answered by "
        "[finding 1]. Merge the two.",
    ]


def test_a_file_that_is_no_toml_or_no_text_is_told_like_a_configuration(tmp_path):
    (message,) = problems(tmp_path, "[[finding]")
    assert message.startswith("findings.toml is not valid TOML: ")
    (tmp_path / "findings.toml").write_bytes(b'[[finding]]\nkey = "\xff"')
    with pytest.raises(ConfigError, match=r"is not UTF-8 at byte 20. Save it"):
        load_answers(tmp_path)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000 + "]" * 5000])
def test_a_value_that_python_cannot_take_is_told_like_a_mistake(tmp_path, value):
    (message,) = problems(tmp_path, f"x = {value}")
    assert message.startswith("findings.toml is not valid TOML: ")
    (tmp_path / "audit.toml").write_text(f"x = {value}")
    with pytest.raises(ConfigError, match=r"^audit.toml is not valid TOML: "):
        load_config(tmp_path)
    assert "no notification is sent" in read_schedule(tmp_path / "audit.toml").note


def test_no_file_is_no_answer_and_a_folder_of_its_name_is_told(tmp_path):
    assert load_answers(tmp_path) == ()
    (tmp_path / "findings.toml").mkdir()
    with pytest.raises(ConfigError, match=r"cannot be read: '.*is a directory"):
        load_answers(tmp_path)


def test_a_whole_answer_is_read_as_it_stands(tmp_path):
    text = entry('owner = "M. Kim"', "due = 2026-12-01", 'response = "r"', exception())
    (tmp_path / "findings.toml").write_text(text, "utf8")
    (answer,) = load_answers(tmp_path)
    assert (answer.key, answer.owner, answer.response) == (KEY, "M. Kim", "r")
    assert str(answer.due) == "2026-12-01"
    assert answer.exception == Accepted(answer.exception.until, "x", "x", "x")
    assert str(answer.exception.until) == "2026-12-31"
    (tmp_path / "findings.toml").write_text(entry(exception(baseline='"r1"')), "utf8")
    assert load_answers(tmp_path)[0].exception.baseline == "r1"


def answered(
    *findings, started="2026-12-31T12:00:00+00:00", earlier=(), baseline="", **answer
):
    """Return a result with these findings and one answer, to the first of them."""
    result = plain_result(("a", "b"), findings=findings)
    run = replace(result.run, volatile={**result.run.volatile, "started": started})
    fields = {"key": (*findings, *earlier)[0].key[:12], **answer}
    answers = (Answer(**fields),)
    return with_answers(replace(result, run=run), answers, earlier, baseline=baseline)


def accepted(until):
    return Accepted(date.fromisoformat(until), "why", "what", "A. Nowak")


@pytest.mark.parametrize(
    ("started", "state", "code"),
    [
        ("2026-12-31T23:59:59.999999+00:00", "accepted", 0),
        ("2027-01-01T00:00:00+00:00", "expired", 1),
        ("2027-01-01T05:00:00+14:00", "accepted", 0),
        ("2026-12-31T20:00:00-05:00", "expired", 1),
    ],
)
def test_an_exception_holds_through_its_last_day_in_utc(started, state, code):
    result = answered(WEAK, started=started, exception=accepted("2026-12-31"))
    assert result.answers["state"].tolist() == [state]
    assert exit_code(result) == code


@pytest.mark.parametrize(
    ("findings", "until", "verdict"),
    [
        ((WEAK,), "2027-01-01", "not cross-checked"),
        ((SHIFT,), "2027-01-01", "not cross-checked"),
        ((WEAK, replace(WEAK, subject="other")), "2027-01-01", "not confirmed"),
        ((FAILED,), "2027-01-01", "not established"),
        ((WEAK, FAILED), "2027-01-01", "not established"),
        ((WEAK,), "2026-12-30", "not confirmed"),
    ],
)
def test_what_is_accepted_does_not_count_unless_numbers_are_missing(
    findings, until, verdict
):
    assert answered(*findings, exception=accepted(until)).verdict == verdict


def test_an_accepted_failure_keeps_a_reproduced_run_from_being_confirmed():
    pairs = pd.DataFrame({"engine_a": ["python"], "verdict": ["replayed"]})
    result = replace(answered(SHIFT, exception=accepted("2027-01-01")), agreement=pairs)
    assert replace(result, findings=()).verdict == "confirmed"
    assert result.verdict == "confirmed with exceptions"


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_run_that_did_not_end_cannot_be_accepted(status):
    stopped = replace(FAILED, check="interrupted", subject="audit")
    result = answered(stopped, exception=accepted("2027-01-01"))
    ended = replace(result, run=replace(result.run, status=status))
    assert ended.accepted == {}
    assert ended.verdict == "not established"
    (finding,) = [f for f in result.findings if f.check == "exception_refused"]
    assert finding.message == (
        f"Answer '{stopped.key[:12]}' in findings.toml cannot accept 'interrupted', "
        "which reports missing numbers. The finding still counts."
    )


MOVED = Finding(
    check="distribution_shift", severity="warning", subject="x", message="m."
)


@pytest.mark.parametrize(
    ("finding", "named_baseline", "baseline", "state"),
    [
        (MOVED, "run 1", "run 1", "accepted"),
        (MOVED, "run 1", "run 2", "lapsed"),
        (MOVED, "", "run 1", "lapsed"),
        (SHIFT, "", "run 2", "accepted"),
        (SHIFT, "run 1", "run 2", "lapsed"),
    ],
)
def test_an_exception_holds_under_the_baseline_that_it_names(
    finding, named_baseline, baseline, state
):
    terms = accepted("2027-01-01")._replace(baseline=named_baseline)
    result = answered(finding, baseline=baseline, exception=terms)
    assert result.answers["state"].tolist() == [state]
    assert bool(result.accepted) == (state == "accepted")
    told = [(f.check, f.severity) for f in result.findings[1:]]
    assert told == [("exception_lapsed", "info")] * (state == "lapsed")
    if told and named_baseline:
        assert result.findings[1].message == (
            f"Answer '{finding.key[:12]}' in findings.toml accepts a finding of "
            f"'{finding.check}' against baseline run 1, but the approved run is run "
            "2. The finding still counts."
        )
    # Of what is not found nothing is said, whatever its answer is.
    earlier = answered(earlier=(finding,), baseline=baseline, exception=terms)
    assert earlier.findings == ()
    assert earlier.answers["subject"].tolist() == [finding.subject]


@pytest.mark.parametrize(
    ("due", "until", "overdue"),
    [
        ("2026-12-31", None, False),
        ("2026-12-30", None, True),
        ("2026-12-30", "2026-12-31", False),
        ("2026-12-29", "2026-12-30", True),
    ],
)
def test_an_answer_is_overdue_on_the_day_after_unless_accepted(due, until, overdue):
    fields = {"exception": accepted(until)} if until else {}
    result = answered(SHIFT, due=date.fromisoformat(due), **fields)
    assert result.answers["overdue"].tolist() == [overdue]


def test_an_answer_to_nothing_is_a_note_and_changes_no_verdict():
    result = with_answers(plain_result(("a",)), (Answer("f" * 12, owner="M. Kim"),))
    (finding,) = result.findings
    assert finding.message == (
        "Answer 'ffffffffffff' in findings.toml names a finding that neither this run "
        "nor one before it has."
    )
    assert finding.severity == "info"
    assert result.answers.loc[0, ["key", "check", "owner"]].tolist() == [
        "f" * 12,
        "",
        "M. Kim",
    ]


def test_a_test_of_what_is_accepted_is_skipped_and_says_until_when():
    """The summary says it too, and what is overdue."""
    result = answered(WEAK, exception=accepted("2027-01-01"))
    (case,) = next(s for s in suites(result) if s.name == "findings").cases
    assert case.outcome == "skipped"
    assert case.message == "failure, accepted until 2027-01-01: m."
    weak, shift = (
        f"{title}, svm (key {one.key[:12]}): m."
        for one, title in (
            (WEAK, "Not clearly better than a constant"),
            (SHIFT, "Ranks differ between engines or draws"),
        )
    )
    assert f"failure, accepted until 2027-01-01, {weak}" in summary(result)
    text = summary(answered(SHIFT, WEAK, due=date(2026, 12, 1)))
    assert f"warning, overdue since 2026-12-01, {shift}" in text
    assert f"failure, {weak}" in text


def test_answers_survive_the_file_of_the_result():
    result = answered(SHIFT, due=date(2026, 1, 1), exception=accepted("2026-12-31"))
    again = loads(dumps(result))
    pd.testing.assert_frame_equal(again.answers, result.answers, check_dtype=False)
    assert content_digest(again) == content_digest(result)
    assert again.accepted == result.accepted == {SHIFT.key: "2026-12-31"}
