"""The sections beside the results: every sentence true of the run."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from tests.report.made_records import (
    checks_frame,
    made_frame,
    made_pair,
    made_run,
    performance_frame,
)
from tests.report.made_results import apartments_result, disagreeing_result
from tests.report.made_variants import many_findings, plain_result, view_of
from tests.report.reading import column, section, table, words

import importance_audit
from importance_audit.records.finding import Finding
from importance_audit.records.frames import FRAMES
from importance_audit.records.ranking import options_text
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain
from importance_audit.report.text.wording import look_up


def test_a_small_loss_beside_a_large_one_keeps_its_first_digit():
    frame = performance_frame(("forest", "linear"))
    frame.loc[frame["model"] == "linear", "value"] = 0.004
    frame.loc[frame["model"] == "linear", "std_error"] = 0.0001
    view = build_view(plain_result(("a",), performance=frame))
    losses = column(
        table(view, "tab-performance-rmse"), "Evaluation, n\u00a0=\u00a09\u202f000"
    )
    assert losses == ["283.000", "0.004", "901.900"]


def test_a_weak_model_is_named_where_its_performance_stands():
    weak = Finding(
        check="weak_model", severity="warning", subject="forest, rmse", message="m"
    )
    view = build_view(plain_result(("a",), findings=(weak,)))
    title = "Not clearly better than a constant"
    assert f"{title}: forest, rmse." in plain(section(view, "D").lede)
    (entry,) = section(view, "K").parts["entries"]
    assert plain(entry.title).startswith(f"{title} (")


@pytest.mark.parametrize(
    ("name", "word", "sentence"),
    [
        (
            "apartments",
            "confirmed-with-exceptions",
            "with 2 exceptions (section\u00a0Findings).",
        ),
        (
            "disagreeing",
            "not-confirmed",
            "1 finding at or above the configured limit, failure",
        ),
        ("interrupted", "not-established", "incomplete: The audit was interrupted in"),
        (
            "failed",
            "not-established",
            "incomplete: Impurity of features by python failed",
        ),
        (
            "one feature",
            "not-cross-checked",
            "was requested (section\u00a0Scope and independence).",
        ),
    ],
)
def test_the_verdict_says_what_it_rests_on(name, word, sentence):
    view = view_of(name)
    assert view.verdict.word == word
    assert sentence in plain(view.sentence)


def test_a_run_without_exceptions_names_who_reproduced_it():
    pairs = apartments_result().agreement.iloc[:6]
    view = build_view(apartments_result(findings=(), agreement=pairs))
    assert view.verdict.label == "Calculation confirmed"
    assert plain(view.sentence).startswith(
        "DALEX reproduced 6 of the 10 rankings within the stated limits. "
        "4 rankings were computed in Python only (section\u00a0Scope and independence)."
    )


def test_an_only_ranking_is_not_counted():
    whole = apartments_result()
    pairs = whole.agreement.iloc[:1]
    one = replace(
        whole, importances=whole.importances[:1], agreement=pairs, findings=()
    )
    assert plain(build_view(one).sentence).startswith(
        "DALEX reproduced the ranking within the stated limits. "
    )


def test_pairs_that_agree_share_a_row_whatever_their_reasons():
    reasons = ("REPEATS: the numbers of repeats are 10 and 20", "")
    pairs = [
        made_pair(model, "equivalent", reason, loss=loss)
        for model, loss, reason in (
            ("forest", "rmse", reasons[0]),
            ("svm", "rmse", reasons[1]),
            ("svm", "mae", reasons[1]),
        )
    ]
    view = build_view(apartments_result(agreement=made_frame("agreement", pairs)))
    rows = table(view, "tab-pairs").rows
    assert [words(row) for row in rows] == [
        "3 rankings Python, DALEX every difference is inside its band"
    ]


def test_rankings_that_python_alone_computed_are_no_failed_comparison():
    pairs = apartments_result().agreement.iloc[:6]
    view = build_view(apartments_result(findings=(), agreement=pairs))
    items = column(table(view, "tab-untested"), "Item")
    assert "a second implementation of 4 rankings" in items
    whole = made_frame(
        "agreement",
        [
            {**made_pair(r.model, "replayed"), "method": r.method, "of": r.of}
            | {"loss": r.loss, "positive_class": r.positive_class}
            | {"options": options_text(r)}
            for r in apartments_result().importances
        ],
    )
    view = build_view(apartments_result(findings=(), agreement=whole))
    assert "in Python only" not in plain(view.sentence)
    items = column(table(view, "tab-untested"), "Item")
    assert not [item for item in items if item.startswith("a second implementation")]


@pytest.mark.parametrize(
    ("missing", "engines", "takes"),
    [
        ([], [], "name an engine that computes them"),
        ([], ["DALEX"], "another implementation: no engine that was asked computes"),
        (["xplainfi"], ["DALEX"], "install the engine that is missing"),
        (
            ["pdp"],
            ["DALEX"],
            "another implementation: no engine that was asked computes",
        ),
    ],
)
def test_what_a_second_implementation_takes_is_what_can_be_done(
    missing, engines, takes
):
    """The engine here, DALEX, has no answer to what it was asked."""
    records = apartments_result().importances
    ours = [r for r in records if (r.method, r.of) == ("permutation", "features")]
    pair = {**made_pair("forest", "replayed"), "method": "shapley"}
    run = apartments_result().run
    entry = {"method": "permutation", "of": "features", "engines": engines}
    result = apartments_result(
        importances=tuple(ours),
        agreement=made_frame("agreement", [pair]),
        run=replace(run, config={**run.config, "importance": [entry]}),
        findings=tuple(
            Finding(check="engine_missing", severity="info", subject=name, message="-")
            for name in missing
        ),
    )
    rows = table(build_view(result), "tab-untested").rows
    texts = [[plain(cell.parts) for cell in row.cells] for row in rows]
    (row,) = [row for row in texts if row[0].startswith("a second implementation")]
    assert row[2].startswith(takes)


def excepted(verdict, reasons="", findings=()):
    """Return a view where DALEX answered so about two models, and vip is missing."""
    pairs = [made_pair(model, verdict, reasons) for model in ("forest", "svm")]
    all_findings = (*apartments_result().findings, *findings)
    frame = made_frame("agreement", pairs)
    return build_view(apartments_result(agreement=frame, findings=all_findings))


def test_what_was_not_confirmed_comes_before_an_engine_that_is_missing():
    sentence = plain(
        excepted("comparable", "LOSS: the losses are RMSE and MSE").sentence
    )
    assert sentence.startswith(
        "No second implementation reproduced a number within the stated limits "
        "(section\u00a0Agreement). Exceptions in section\u00a0Findings: 2."
    )


def test_a_disagreement_comes_before_everything_else():
    apart = Finding(check="disagreement", severity="warning", subject="z", message="m")
    view = excepted("disagrees", "1 of 5 outside, cause: data", findings=(apart,))
    assert plain(view.sentence).startswith(
        "2 of 2 pairs of results disagree (section\u00a0Agreement). Exceptions in "
        "section\u00a0Findings: 3."
    )


def test_engines_that_were_asked_and_did_not_answer_are_not_called_unasked():
    run = plain_result(("a",)).run
    entry = {"method": "permutation", "engines": ["vip"]}
    run = replace(run, config={**run.config, "importance": [entry]})
    missing = Finding(
        check="engine_missing", severity="info", subject="vip", message="m"
    )
    view = build_view(plain_result(("a",), run=run, findings=(missing,)))
    assert plain(view.sentence).startswith(
        "Python alone computed the numbers: no second implementation returned "
        "a result (section\u00a0Scope and independence). Exceptions in "
        "section\u00a0Findings: 1."
    )


def test_curves_that_were_reproduced_are_not_called_a_ranking():
    frame = apartments_result().agreement
    only = frame[frame["kind"] == "effect"].reset_index(drop=True)
    view = build_view(apartments_result(agreement=only, findings=()))
    assert plain(view.sentence).startswith(
        "No ranking was reproduced, but DALEX reproduced 15 of the 15 curves within"
    )


def test_an_answer_that_two_engines_reproduced_counts_once():
    pairs = [
        made_pair(model, "replayed", engine_b=engine)
        for model in ("forest", "svm")
        for engine in ("DALEX", "vip")
    ]
    frame = made_frame("agreement", pairs)
    view = build_view(apartments_result(agreement=frame, findings=()))
    assert plain(view.sentence).startswith(
        "DALEX and vip reproduced 2 of the 10 rankings within the stated limits "
        "(DALEX 2, vip 2). "
    )


def recomputed(**verdicts):
    """Return what page one says of three rankings that were compared so."""
    models = ("forest", "linear", "svm")
    pairs = [
        made_pair(model, verdict, engine_b=engine)
        for engine, words in verdicts.items()
        for model, verdict in zip(models, words, strict=True)
    ]
    records = tuple(
        record
        for record in apartments_result().importances
        if (record.method, record.of) == ("permutation", "features")
    )
    frame = made_frame("agreement", pairs)
    result = apartments_result(agreement=frame, importances=records, findings=())
    parts = section(build_view(result), "B").parts
    return parts["verdict"].label, plain(parts["recomputed"])


@pytest.mark.parametrize(
    ("verdicts", "label", "text"),
    [
        (
            {"DALEX": ("replayed",) * 3},
            "Calculation confirmed",
            "3 of 3 rankings, E1 by DALEX: all equal.",
        ),
        (
            {"DALEX": ("replayed", "replayed", "equivalent")},
            "Calculation confirmed",
            "3 of 3 rankings, E1 by DALEX: 1 equal within chance, 2 equal.",
        ),
        # DALEX answered here and offers permutation: one ranking is open.
        (
            {"DALEX": ("replayed", "not compared", "replayed")},
            "Confirmed for 2 of 3 rankings",
            "E1 in part by DALEX: all equal. 1 more can be checked.",
        ),
        # Of one ranking the order alone was compared: that confirms no number.
        (
            {"DALEX": ("replayed", "comparable", "not compared")},
            "Confirmed for 1 of 3 rankings",
            "E1 in part by DALEX: 1 compared by order only, 1 equal. "
            "1 more can be checked.",
        ),
        # Of two engines the worse word counts, each ranking once.
        (
            {"DALEX": ("replayed",) * 3, "vip": ("comparable",) * 3},
            "Calculation confirmed",
            "3 of 3 rankings, E1 by DALEX and vip: 3 compared by order only.",
        ),
    ],
)
def test_rankings_that_were_recomputed_are_counted_once(verdicts, label, text):
    assert recomputed(**verdicts) == (label, text)


def test_supplied_numbers_are_not_told_to_have_run_here():
    frame = apartments_result().importances
    handed = tuple(
        replace(r, engine="vip 0.4.5 (supplied)", supplied_by="vip")
        if r.engine == "DALEX"
        else r
        for r in frame
    )
    view = build_view(apartments_result(importances=handed, effects=()))
    lede = plain(section(view, "C").lede)
    assert lede.startswith("Python alone computed the importances.")
    assert lede.endswith("(supplied) were measured elsewhere, not in this run.")


def test_reasons_are_shown_without_codes_and_end_in_one_full_stop():
    reasons = "STREAM: the draws are independent: a and b; REPEATS: 10 and 20."
    view = excepted("equivalent", reasons)
    reason = "the draws are independent: a and b; 10 and 20"
    because = column(table(view, "tab-pairs"), "Reason")
    assert because[0] == f"all 5 inside the band; {reason}."


def test_the_title_names_few_models_and_counts_many(apartments):
    assert plain(view_of("apartments").title) == "What forest, linear and svm rely on"
    many = pd.concat([apartments.models] * 2, ignore_index=True)
    view = build_view(apartments_result(models=many))
    assert plain(view.title) == "What 6 models rely on"


def refits(entries, **changes):
    """Return what is said of models that were not fitted again."""
    config = {**made_run().config, "importance": entries}
    result = apartments_result(run=made_run(config=config), **changes)
    rows = zip(*(column_of_untested(result, n) for n in UNTESTED), strict=True)
    return [row for row in rows if row[0].startswith("importance by refitting")]


UNTESTED = ("Item", "Reason", "What would close the gap")


def column_of_untested(result, name):
    return column(table(build_view(result), "tab-untested"), name)


PERMUTED = {"method": "permutation", "engines": []}


def test_a_model_that_was_handed_over_fitted_cannot_be_fitted_again():
    models = apartments_result().models.assign(source=["file", "fitted", "fitted"])
    (first, second) = refits([PERMUTED], models=models)
    assert first[:2] == (
        "importance by refitting linear and svm without a feature",
        "not configured",
    )
    assert second == (
        "importance by refitting forest without a feature",
        "not applicable",
        "name an estimator under [[models]] instead of a model that is already fitted",
    )


@pytest.mark.parametrize(
    ("models", "left"), [([], []), (["forest", "svm"], ["linear"])]
)
def test_what_a_measure_fitted_again_is_not_said_to_be_missing(models, left):
    dropped = {"method": "drop_column", "engines": [], "models": models}
    assert [item for item, *_ in refits([PERMUTED, dropped])] == [
        f"importance by refitting {name} without a feature" for name in left
    ]


def test_curves_have_a_column_of_classes_only_where_one_has_a_class():
    frame = apartments_result().agreement
    of_class = frame.assign(positive_class="fired")
    plain_one, other = (
        table(build_view(apartments_result(agreement=pairs)), "tab-curves")
        for pairs in (frame, of_class)
    )
    heads = [plain(head.label) for head in plain_one.columns]
    assert heads == ["Model", "Engines", "Verdict", "Reason"]
    assert {len(row.cells) for row in plain_one.rows} == {4}
    assert set(column(other, "Class")) == {"fired"}


def test_of_shifts_inside_their_bands_the_largest_five_are_shown():
    result = disagreeing_result()
    frame = result.disagreements
    shifts = [3, 9, 4, -8, 7, 5, 6, 3]
    rows = [
        {**frame.iloc[0], "feature": f"f{n}", "inside": True, "shift": n}
        for n in shifts
    ]
    frame = pd.concat([pd.DataFrame(rows), frame], ignore_index=True)
    item = table(build_view(replace(result, disagreements=frame)), "tab-disagreements")
    names = [plain(row.cells[0].parts).split(",")[0] for row in item.rows]
    assert names[:5] == ["f9", "f-8", "f7", "f5", "f6"]
    assert len(names) == 6  # and all that is outside
    assert plain(item.notes[0]).startswith("3 more are in tables/disagreements.csv")


def test_verdicts_are_counted_in_words_that_bear_a_number():
    one, two = (
        plain(section(build_view(apartments_result(checks=checks)), "J").lede)
        for checks in (checks_frame(), pd.concat([checks_frame()] * 2))
    )
    assert one.endswith("Not passed: 1 failure, 1 warning, 1 not run.")
    assert two.endswith("Not passed: 2 failures, 2 warnings, 2 not run.")


def test_checks_that_passed_are_counted_and_listed_in_the_page_alone(apartments):
    item = table(view_of("apartments"), "tab-checks")
    assert column(item, "Verdict") == ["fail", "warn", "not run"]
    assert len(item.everything.rows) == len(apartments.checks) == 8
    sound = apartments.checks[[v == "pass" for v in apartments.checks["verdict"]]]
    view = build_view(plain_result(("a",), checks=sound))
    (only,) = section(view, "J").parts["blocks"]
    assert only.is_single
    assert len(only.rows) == len(sound) == 5


def test_the_id_of_a_finding_does_not_depend_on_the_others():
    def ids(findings):
        view = build_view(plain_result(("a",), findings=findings))
        return {entry.id for entry in section(view, "K").parts["entries"]}

    three = many_findings(3)
    assert ids(three) - ids(three[1:]) == ids(three[:1])


def test_of_a_run_called_in_python_no_command_needs_a_configuration():
    result = plain_result(("a",))
    run = replace(result.run, config={**result.run.config, "data": None})
    commands = words(section(build_view(plain_result(("a",), run=run)), "N"))
    assert "importance-audit run" not in commands
    assert "--replay" not in commands
    assert "Call audit there with the same models, rows and options" in commands


def test_what_was_configured_is_shown_of_the_parameters():
    config = {"models": [{"name": "forest", "parameters": {"n_estimators": 500}}]}
    result = plain_result(("a",))
    run = replace(result.run, config={**result.run.config, **config})
    item = table(build_view(plain_result(("a",), run=run)), "tab-models")
    (text,) = column(item, "Parameters")
    assert text.startswith("n_estimators=500, others: defaults; all: SHA-256 ")


def test_a_model_of_which_nothing_was_set_has_defaults_and_no_others():
    config = {"models": [{"name": "forest", "parameters": {}}]}
    result = plain_result(("a",))
    run = replace(result.run, config={**result.run.config, **config})
    item = table(build_view(plain_result(("a",), run=run)), "tab-models")
    (text,) = column(item, "Parameters")
    assert text.startswith("defaults; all: SHA-256 ")


@pytest.mark.parametrize(
    ("standardise", "text"),
    [
        (True, "ordinal codes in level order, numbers and target standardised"),
        (False, "ordinal codes in level order"),
    ],
)
def test_what_is_standardised_for_a_model_stands_with_its_encoder(standardise, text):
    model = {"name": "forest", "parameters": {}, "standardise": standardise}
    run = made_run(config={"models": [model]})
    item = table(build_view(plain_result(("a",), run=run)), "tab-models")
    assert column(item, "Encoder") == [text]


def test_every_check_has_a_title_in_words():
    code = (
        path.read_text("utf-8")
        for path in Path(importance_audit.__path__[0]).rglob("*.py")
    )
    kinds = {kind for text in code for kind in re.findall(r'check="(\w+)"', text)}
    assert kinds
    assert not kinds - set(look_up("findings.title"))


def test_page_one_shows_intervals_over_other_rows_where_they_are_known():
    plain_view = build_view(apartments_result())
    (alone,) = plain_view.sections[0].parts["ranking"]
    assert "the random draws only" in plain(alone.notes[-1])
    rows = [
        {"record": place, "feature": name, "low": -k, "high": 1000.0 + k}
        | {"rank_low": 1.0, "rank_high": 5.0}
        for place, record in enumerate(apartments_result().importances)
        for k, name in enumerate(record.features)
    ]
    frame = pd.DataFrame(rows).reindex(columns=FRAMES["row_intervals"].columns)
    view = build_view(apartments_result(row_intervals=frame))
    (beside,) = view.sections[0].parts["ranking"]
    assert "other evaluation rows" in plain(beside.notes[-1])
    names = apartments_result().importances[0].features
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    for row in ranking.rows:
        place = names.index(row.cells[1].parts[0].raw)
        low, high = (cell.parts[0] for cell in row.cells[4:6])
        assert (low.path, low.raw) == (f"row_intervals[{place}].low", -place)
        assert (high.path, high.raw) == (f"row_intervals[{place}].high", 1000.0 + place)
        assert plain(row.cells[6].parts) == "1–5"
