"""News: what is not as in the run before, and nothing where all is."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from tests.report.made_variants import plain_result
from tests.runs.baseline.test_change import NAMES, run_of

from importance_audit.records.finding import Finding
from importance_audit.report.pages.short_views import short_files
from importance_audit.runs.baseline.news import (
    causes_in_words,
    news,
    prediction_interval,
)
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers
from importance_audit.runs.summary import (
    NO_HISTORY,
    FindingHistory,
    RunHistory,
    RunSummary,
    summarise,
)

FOUND = Finding(check="dependence", severity="warning", subject="a", message="a is b.")


TITLES = {
    "dependence": "Correlated features",
    "weak_model": "Not clearly better than a constant",
    "interrupted": "The run was interrupted",
    "engine_missing": "R package not available",
}


def named(finding):
    title = TITLES[finding.check]
    return f"{title}, {finding.subject} (key {finding.key[:12]})"


NAMED = named(FOUND)
SAME, FINDS = run_of([30, 20, 10]), run_of([30, 20, 10], findings=(FOUND,))
CONFIG = {**FINDS.run.config, "fail_on": "warning"}
STRICT = replace(FINDS, run=replace(FINDS.run, config=CONFIG))


def ran(verdict, status="complete", findings=None):
    return RunSummary(
        *("r1", "2025-11-20T08:46:00+00:00", status, verdict),
        *(0, "a" * 64, "b" * 64),
        findings=findings or {},
    )


def stopped(*findings):
    run = run_of([30, 20, 10], findings=findings)
    return replace(run, run=replace(run.run, status="interrupted"))


def test_a_run_that_never_ended_and_fails_alike_again_is_no_news():
    halt = replace(FOUND, check="interrupted", severity="failure")
    last = ran("not established", "interrupted", {halt.key: "failure"})
    other = replace(halt, subject="b", message="b.")
    assert news(None, stopped(halt), RunHistory(runs=(last,))) == ()
    lines = news(None, stopped(halt, other), RunHistory(runs=(last,)))
    assert lines == ("Failure, The run was interrupted: b.",)


def test_a_feature_that_left_its_band_is_told_with_both_numbers():
    now = run_of([30, 26, 10], draw=8)
    question = "forest, permutation of features, RMSE"
    old, new = (run.importances[0].mean[1] for run in (SAME, now))
    line = f"Moved in {question}: 'b' from {old:.4g} to {new:.4g}."
    assert news(SAME, now, NO_HISTORY) == (line,)


def on_rows(means, rows):
    run = run_of(means)
    return replace(run, run=replace(run.run, data_sha256=rows * 64))


def runs_on_rows(values):
    """Return runs on rows of their own, whose second feature had these values."""
    summaries = [summarise(on_rows([30, value, 10], "f")) for value in values]
    return RunHistory(
        runs=tuple(
            ran("confirmed")._replace(
                measure=summary.measure,
                leaders=summary.leaders,
                data_sha256=str(n) * 64,
                verdict=run_of([1, 2, 3]).verdict,
            )
            for n, summary in enumerate(summaries)
        )
    )


def test_on_other_rows_what_the_runs_before_let_expect_is_no_news():
    """The same fall is news on the same rows: there it is no noise of other rows."""
    history = runs_on_rows([20, 26, 21, 25, 23])
    now = on_rows([30, 20, 10], "e")
    assert news(on_rows([30, 26, 10], "a"), now, history) == ()
    assert "'b' from 26 to 20" in news(on_rows([30, 26, 10], "e"), now, history)[0]


def test_on_other_rows_a_feature_beyond_the_runs_before_is_told_with_their_interval():
    history, now = runs_on_rows([20, 21, 22, 21, 21]), on_rows([30, 29, 10], "e")
    (line,) = news(on_rows([30, 21, 10], "a"), now, history)
    values = [run.leaders[1].value for run in history.runs]
    low, high = prediction_interval(values, 0.01 / 3)
    interval = f"expected {low:.4g} to {high:.4g}."
    assert line.startswith(
        "Outside the range of the last 5 runs on other rows, in forest, "
    )
    assert line.endswith(f": 'b' is 29, {interval}")


def test_fewer_than_five_runs_on_other_rows_tell_nothing():
    """Runs on the same rows count once."""
    few = runs_on_rows([20, 20, 21, 20])
    five = runs_on_rows([20, 21, 22, 21, 21])
    alike = tuple(run._replace(data_sha256="0" * 64) for run in five.runs)
    now = on_rows([30, 99, 10], "e")
    for history in (few, five._replace(runs=alike)):
        assert news(on_rows([30, 21, 10], "a"), now, history) == ()


def test_the_interval_misses_the_next_value_as_often_as_it_says():
    draws = np.random.default_rng(1).normal(size=(4000, 7))
    ends = [prediction_interval(list(row[:6]), 0.05) for row in draws]
    missed = [
        not low <= row[6] <= high for row, (low, high) in zip(draws, ends, strict=True)
    ]
    assert np.mean(missed) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))


def test_a_finding_is_new_once_and_no_more_when_it_went():
    assert news(SAME, FINDS, NO_HISTORY) == (
        "New: warning, Correlated features: a is b.",
    )
    assert news(FINDS, FINDS, NO_HISTORY) == ()
    gone = f"No longer found: warning, {NAMED}."
    assert news(FINDS, SAME, NO_HISTORY) == (gone,)


def test_a_finding_that_was_there_earlier_is_found_again():
    earlier = FindingHistory(
        FOUND.key, "dependence", "a", "warning", "r0", "r1", 2, False
    )
    lines = news(SAME, FINDS, RunHistory(findings=(earlier,)))
    assert lines == ("Found again: warning, Correlated features: a is b.",)


def test_a_finding_that_became_graver_is_told_with_what_it_was():
    worse = run_of([30, 20, 10], findings=(replace(FOUND, severity="failure"),))
    lines = news(FINDS, worse, NO_HISTORY)
    assert f"{NAMED} is now a failure; it was a warning." in lines


def test_a_finding_that_became_a_note_is_still_found_and_so_is_a_note_that_rose():
    note = run_of([30, 20, 10], findings=(replace(FOUND, severity="info"),))
    lowered = f"{NAMED} is now a note; it was a warning."
    assert news(FINDS, note, NO_HISTORY) == (lowered,)
    assert news(note, SAME, NO_HISTORY) == ()
    raised = f"{NAMED} is now a warning; it was a note."
    assert news(note, FINDS, NO_HISTORY) == (raised,)
    assert [*causes_in_words(FINDS, note)] == [f"now a note: {NAMED}"]
    assert [*causes_in_words(note, FINDS)] == [f"now a warning: {NAMED}"]


def test_two_findings_of_one_check_and_subject_are_told_apart():
    first, second = (replace(FOUND, measure=name) for name in ("fee", "age"))
    before, now = (run_of([30, 20, 10], findings=(one,)) for one in (first, second))
    lines = news(before, now, NO_HISTORY)
    gone = f"Correlated features, a (key {first.key[:12]})"
    assert f"No longer found: warning, {gone}." in lines
    new = f"  warning, Correlated features, a (key {second.key[:12]}): a is b."
    assert new in short_files(now)["summary.txt"].splitlines()


def test_an_exception_that_expired_is_told():
    accepted = Accepted(date(2999, 12, 31), "why", "what", "A. Nowak")
    before = with_answers(FINDS, (Answer(FOUND.key, exception=accepted),))
    lines = news(before, FINDS, NO_HISTORY)
    was = "it was accepted until 2999-12-31 by A. Nowak"
    assert lines == (f"No longer accepted: warning, {NAMED}; {was}.",)
    assert news(before, before, NO_HISTORY) == ()


def test_the_verdict_is_held_against_the_very_last_run():
    history = RunHistory(runs=(ran("not established", "interrupted"),))
    was = "and was 'not established': the run before did not come to its end"
    now = f"The verdict is {SAME.verdict!r}, {was}."
    assert news(SAME, SAME, history) == (now,)
    assert news(SAME, STRICT, history)[0] == (
        f"The verdict is {STRICT.verdict!r}, {was}; new warning: {NAMED}; "
        "limits changed (fail_on: failure, now warning)."
    )


def test_a_run_that_was_stopped_blames_no_settings_and_long_values_are_cut():
    stop = stopped(replace(FOUND, check="interrupted"))
    changed = {**stop.run.versions, "R": "R ended with status 2. " * 9}
    stop = replace(stop, run=replace(stop.run, versions=changed))
    causes = [*causes_in_words(SAME, stop)]
    assert causes[1:] == [f"new warning: {named(stop.findings[0])}"]
    ended = replace(stop, run=replace(stop.run, status="complete"))
    environment = [one for one in causes_in_words(SAME, ended) if "R ended" in one]
    assert len(environment[0]) < 140


def test_a_run_that_was_stopped_closes_and_moves_nothing():
    before, halt = (
        run_of([30, 26, 10], findings=(FOUND,)),
        replace(FOUND, check="interrupted"),
    )
    lines = news(before, stopped(halt), RunHistory(runs=(ran(before.verdict),)))
    assert lines == (
        f"The verdict is 'not established', and was {before.verdict!r}: the run did "
        f"not come to its end; new warning: {named(halt)}.",
        "New: warning, The run was interrupted: a is b.",
    )


def test_another_verdict_is_told_with_what_accounts_for_it():
    lacking = replace(FOUND, check="engine_missing", severity="info", subject="vip")
    exception = Accepted(date(2026, 12, 31), "why", "what stands in", "A. Nowak")
    accepted = with_answers(STRICT, [Answer(FOUND.key[:12], exception=exception)])
    without = replace(FINDS, findings=(FOUND, lacking))
    limits = "limits changed (fail_on: failure, now warning)"
    counts = f"counts now: {NAMED}"
    until = f"accepted until 2026-12-31 by A. Nowak: {NAMED}"

    def causes(before, now):
        return list(causes_in_words(before, now))

    assert causes(SAME, SAME) == []
    assert causes(SAME, FINDS) == [f"new warning: {NAMED}"]
    assert causes(FINDS, SAME) == [f"gone: {NAMED}"]
    assert causes(FINDS, STRICT) == [counts, limits]
    assert causes(STRICT, accepted) == [until]
    assert causes(accepted, STRICT) == [f"no longer accepted: {NAMED}"]
    assert causes(FINDS, without) == [f"new note: {named(lacking)}"]
    assert causes(without, FINDS) == [f"gone: {named(lacking)}"]
    (line,) = news(FINDS, STRICT, NO_HISTORY)
    now, was = (one.verdict for one in (STRICT, FINDS))
    assert line == f"The verdict is {now!r}, and was {was!r}: {counts}; {limits}."


@pytest.mark.parametrize(("n", "last"), [(10, "New"), (12, "... and 2 more.")])
def test_of_many_findings_the_first_ten_are_told(n, last):
    findings = tuple(replace(FOUND, subject=f"x{i}") for i in range(n))
    now = plain_result(NAMES, findings=findings)
    lines = news(plain_result(NAMES), now, NO_HISTORY)
    assert lines[-1].startswith(last)
    assert sum(line.startswith("New") for line in lines) == 10


LEFT = replace(
    FOUND,
    check="disagreement",
    subject="forest: python and DALEX",
    engines=("DALEX",),
)
GONE = Finding(check="engine_missing", severity="warning", subject="DALEX", message="-")


def test_a_run_that_lacked_an_engine_closes_nothing_about_it():
    with_, now = (run_of([30, 20, 10], findings=(f,)) for f in (LEFT, GONE))
    lines = news(with_, now, RunHistory(runs=(ran(now.verdict),)))
    assert lines == ("New: warning, R package not available: -",)


def test_what_a_run_without_the_engine_left_open_is_not_found_again():
    before, now = (run_of([30, 20, 10], findings=(f,)) for f in (GONE, LEFT))
    fields = (LEFT.key, LEFT.check, LEFT.subject, "warning", "r0", "r0", 1, True)
    first = ran(now.verdict)._replace(run_id="r0")
    after = ran(now.verdict)._replace(missing=("DALEX",))
    history = RunHistory(
        runs=(first, after), findings=(FindingHistory(*fields, ("DALEX",)),)
    )
    assert news(before, now, history) == (f"No longer found: warning, {named(GONE)}.",)


OTHER_MODELS = "New models: 'boosted'.", "Models that no longer exist: 'forest'."


def test_a_finding_that_went_with_its_model_says_so():
    weak = replace(FOUND, check="weak_model", subject="forest")
    before = run_of([30, 20, 10], findings=(weak,))
    gone = f"No longer found: warning, {named(weak)}"
    assert news(before, SAME, NO_HISTORY)[-1] == f"{gone}."
    other = replace(SAME, models=SAME.models.assign(model="boosted"))
    lines = (f"{gone}, which no longer exists.", *OTHER_MODELS)
    assert news(before, other, NO_HISTORY) == lines


def test_a_first_run_is_news_and_if_it_failed_it_says_why():
    assert news(None, SAME, NO_HISTORY) == (f"This is the first run: {SAME.verdict}.",)
    halt = replace(FOUND, check="interrupted", severity="failure")
    lines = news(None, stopped(halt, FOUND), NO_HISTORY)
    assert lines[1:] == ("Failure, The run was interrupted: a is b.",)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (SAME, SAME),
        (run_of([30, 20.1, 20]), run_of([30, 20, 20.1], draw=8)),
        (SAME, run_of([30, 20, 10], findings=(replace(FOUND, severity="info"),))),
    ],
    ids=["the same again", "noise", "a note"],
)
def test_what_changes_nothing_is_no_news(before, now):
    assert news(before, now, NO_HISTORY) == ()


@pytest.mark.parametrize("rows", ["train", "test"])
def test_a_replaced_model_is_news_but_not_what_other_rows_alone_explain(rows):
    models, data = SAME.models, SAME.datasets
    file = models.assign(sha256="a" * 64, predictions_sha256="b" * 64)
    other_rows = data.assign(
        sha256=data["sha256"].mask(data["split"] == rows, "d" * 64)
    )
    other_file, other_fit = (
        file.assign(**{name: "c" * 64}) for name in ("sha256", "predictions_sha256")
    )

    def told(now, datasets=data):
        old, new = replace(SAME, models=file), replace(SAME, models=now)
        return news(old, replace(new, datasets=datasets), NO_HISTORY)

    by_file = "Model changed: forest, SHA-256 of its file."
    by_fit = "Model changed: forest, SHA-256 of its predictions."
    assert [told(one) for one in (file, other_file, other_fit)] == [
        (),
        (by_file,),
        (by_fit,),
    ]
    assert [told(one, other_rows) for one in (other_file, other_fit)] == [
        (by_file,),
        (),
    ]


def test_columns_and_models_that_came_and_went_are_named():
    lines = news(SAME, run_of([30, 20], names=("a", "z")), NO_HISTORY)
    assert "New columns: 'z'." in lines
    assert "Columns that no longer exist: 'b', 'c'." in lines
    other = replace(SAME, models=SAME.models.assign(model="boosted"))
    assert news(SAME, other, NO_HISTORY) == OTHER_MODELS
