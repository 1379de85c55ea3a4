"""An audit that dies in any step leaves what there is, and says where it died."""

import json
import logging
import warnings
from functools import partial
from html import unescape
from itertools import count

import numpy as np
import pandas as pd
import pytest
from tests.report.reading import page_files

from importance_audit.auditing.audit import audit, exit_code
from importance_audit.auditing.journal import Journal, empty_result
from importance_audit.auditing.log import Log
from importance_audit.config.load import parse_config
from importance_audit.data.datasets import dataset
from importance_audit.models.fit import wrap
from importance_audit.r_bridge.errors import RUnavailable
from importance_audit.records.as_json import dumps, loads
from importance_audit.records.errors import DataError, OutOfTime
from importance_audit.records.finding import Finding
from importance_audit.runs.files import log_file

CONFIG = parse_config({"importance": [{"method": "permutation", "n_repeats": 2}]})
X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])


def raising(error):
    """Return a step that dies of this."""

    def step():
        raise error

    return step


def journal_of(*steps):
    """Return the journal of these steps, called a, b, …"""
    journal = Journal()
    journal.follow(list(zip("abcd", steps, strict=False)))
    return journal


def dying(error, *, after):
    """Return the result of an audit whose model dies of this once it was asked."""
    calls = count(1)

    def predict(rows):
        if next(calls) > after:
            raise error
        return rows["a"].to_numpy()

    model = wrap(predict, name="m", task="regression", features=("a", "b"))
    rows = dataset(X, X["a"] + X["b"], name="rows", task="regression")
    return audit(None, rows, CONFIG, models=(model,))


def page(result):
    """Return the page of a result that has gone through its file."""
    return unescape(page_files(loads(dumps(result)), pdf=False)["report.html"])


def assert_not_completed(html, step):
    """The page says at its head in which step the audit ended."""
    assert "Audit not completed" in html
    assert f"in the step '{step}'" in html.split('id="sec-a"')[0]


def lines(result, level):
    """Return the messages of one level in log.jsonl."""
    text = log_file(result)["log.jsonl"].decode()
    records = map(json.loads, text.splitlines())
    return [line["message"] for line in records if line["level"] == level]


def nothing():
    """A step without a fault."""


def test_what_comes_after_the_step_that_died_is_not_done():
    later = []
    dies = raising(ZeroDivisionError("why"))
    journal = journal_of(nothing, dies, lambda: later.append(1))
    assert (journal.status, later) == ("failed", [])
    (finding,) = journal.findings
    assert (finding.check, finding.severity) == ("step_failed", "failure")
    assert finding.message == (
        "The audit stopped in the step 'b', which failed: ZeroDivisionError: why"
    )
    assert list(journal.seconds) == ["a", "b"]


@pytest.mark.parametrize(
    ("error", "taken"), [(KeyboardInterrupt(), ["last"]), (ZeroDivisionError(), [])]
)
def test_only_after_an_interruption_the_steps_that_conclude_are_taken(error, taken):
    done, journal = [], Journal()
    steps = [
        ("a", raising(error)),
        *((n, partial(done.append, n)) for n in ("b", "last")),
    ]
    journal.follow(steps, n_closing=1)
    assert done == taken
    assert len(journal.findings) == 1


def test_what_was_measured_before_an_interruption_is_held_against_the_owner():
    """An interruption between two questions leaves the answer to the first."""
    expected = [{"features": ["a"], "place": "top", "reason": "law"}]
    entries = [{"method": "permutation", "n_repeats": 2, "name": n} for n in ("", "b")]
    config = parse_config({"importance": entries, "expected": expected})
    model = wrap(
        lambda X: X["a"].to_numpy(), name="m", task="regression", features="ab"
    )

    def interrupt(_done, _total, label):
        if label == "permutation of features, m, b":
            raise KeyboardInterrupt

    result = audit(None, MY_ROWS[1], config, models=(model,), on_step=interrupt)
    assert exit_code(result) == 130
    assert result.expected["verdict"].tolist() == ["as expected"]


def test_the_log_has_the_traceback_of_a_step_that_died(caplog):
    with caplog.at_level(logging.ERROR):
        journal = journal_of(raising(ZeroDivisionError("why")))
    messages = [line["message"] for line in journal.log.lines]
    (traceback,) = [text for text in messages if "Traceback" in text]
    assert 'test_stopping.py", line' in traceback
    assert traceback.endswith("ZeroDivisionError: why\n")
    assert "ZeroDivisionError: why" in caplog.text


def test_warnings_of_libraries_are_logged_in_their_step_and_printed_as_before():
    with warnings.catch_warnings(record=True) as printed_warnings:
        warnings.simplefilter("always")
        journal = journal_of(nothing, lambda: warnings.warn("Few rows.", stacklevel=1))
        outside = warnings.showwarning
    logged = [(n["step"], n["level"], n["message"]) for n in journal.log.lines]
    assert ("b", "warning", "UserWarning: Few rows.") in logged
    assert [level for _, level, _ in logged].count("warning") == 1
    assert [str(warning.message) for warning in printed_warnings] == ["Few rows."]
    assert "hearing" not in outside.__qualname__


def test_findings_are_logged_in_the_step_that_made_them_but_notes_are_not():
    journal = Journal()

    def finds():
        for severity in ("info", "warning", "failure"):
            journal.findings.append(
                Finding(check="c", severity=severity, subject="s", message=severity)
            )

    journal.follow([("a", finds), ("b", nothing)])
    log_records = [(n["step"], n["level"], n["message"]) for n in journal.log.lines]
    assert log_records == [
        ("a", "warning", "warning"),
        ("a", "error", "failure"),
        ("a", "info", "done"),
        ("b", "info", "done"),
    ]


def test_a_fault_of_the_user_is_raised_while_the_audit_is_prepared():
    journal = Journal()
    with pytest.raises(DataError):
        journal.take("rows", raising(DataError("no")), passing=(DataError,))
    assert (journal.status, journal.findings) == ("complete", [])


def test_an_interruption_between_two_steps_is_one_in_the_next():
    def on_step(done, *_):
        if done == 1:
            raise KeyboardInterrupt

    journal = Journal(log=Log(on_step))
    journal.follow([("a", nothing), ("b", nothing)])
    assert journal.status == "interrupted"
    assert journal.findings[0].message.endswith("in the step 'b'.")
    assert journal.findings[0].remedy == "Run it again."
    assert list(journal.seconds) == ["a"]


@pytest.mark.parametrize("after", [0, 5, 12])
@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt("SIGTERM"), 130), (SystemExit(3), 4)]
)
def test_wherever_a_run_dies_its_report_names_the_step(error, code, after):
    result = dying(error, after=after)
    assert (exit_code(result), result.verdict) == (code, "not established")
    log = result.run.volatile["log"]
    (step,) = [line["step"] for line in log if line["message"] == "stopped"]
    assert_not_completed(page(result), step)
    assert type(error).__name__ in "".join(lines(result, "error"))


@pytest.mark.parametrize("error", [MemoryError(), ZeroDivisionError("why")])
def test_a_method_that_dies_is_one_failed_method_of_a_whole_run(error):
    result = dying(error, after=9)
    assert (exit_code(result), result.run.status) == (4, "complete")
    failures = [f.message for f in result.findings if f.check == "method_failed"]
    assert any("Permutation of features by Python failed" in text for text in failures)
    assert type(error).__name__ in "".join(lines(result, "error"))
    assert failures[0].rstrip(".") in page(result).split('id="sec-a"')[0]


MY_ROWS = None, dataset(X, X["a"], name="my rows", task="regression")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "code", "check", "has_rows"),
    [
        (RUnavailable("No R here."), 3, "engine_required", True),
        (KeyboardInterrupt(), 130, "interrupted", False),
        (MemoryError(), 4, "step_failed", True),
    ],
)
def test_an_audit_that_could_not_begin_has_a_report_too(error, code, check, has_rows):
    result = empty_result(CONFIG, error, "engines", MY_ROWS if has_rows else None)
    assert exit_code(result) == code
    assert [finding.check for finding in result.findings] == [check]
    html = page(result)
    assert_not_completed(html, "engines")
    assert ("my rows" in html) == has_rows


@pytest.mark.parametrize("has_rows", [True, False])
def test_an_audit_whose_time_was_over_before_it_began_says_so(has_rows):
    error = OutOfTime("the time limit was reached.")
    read = MY_ROWS if has_rows else None
    result = empty_result(CONFIG, error, "reading of the rows", read, minutes=2)
    assert (exit_code(result), result.run.status) == (4, "complete")
    found = [finding.check for finding in result.findings]
    assert found == ["nothing_measured", "time_limit"]
    assert "Cut short: reading of the rows." in page(result)
