"""The sections beside the results: every sentence true of the run."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import (
    checks_frame,
    made_frame,
    made_pair,
    performance_frame,
    row_intervals_frame,
)
from tests.report.made_results import (
    FINDINGS,
    apartments_result,
    disagreeing_result,
    found,
)
from tests.report.made_variants import (
    apartments_view,
    configured,
    plain_result,
    plain_view,
    result_of,
)
from tests.report.reading import (
    cells_of,
    column,
    heads_of,
    lede_of,
    said_in,
    section,
    table,
    words,
)

from importance_audit.records.ranking import options_text
from importance_audit.report.pages.view import build_view
from importance_audit.report.sections.facts import facts_of
from importance_audit.report.sections.verdicts import sentence as verdict_sentence
from importance_audit.report.text.blocks import plain


def test_a_small_loss_beside_a_large_one_keeps_its_first_digit():
    frame = performance_frame(("forest", "linear"))
    frame.loc[frame["model"] == "linear", ["value", "std_error"]] = 0.004, 0.0001
    losses = table(plain_view(performance=frame), "tab-performance-rmse")
    head = "Evaluation, n\u00a0=\u00a09\u202f000"
    assert column(losses, head) == ["283.000", "0.004", "901.900"]


def test_a_weak_model_is_named_where_its_performance_stands():
    weak = found("weak_model", "forest, rmse")
    view = plain_view(("a",), findings=(weak,))
    title = "Not clearly better than a constant"
    assert f"{title}: forest, RMSE." in lede_of(view, "D")
    (entry,) = section(view, "K").parts["entries"]
    assert plain(entry.title).startswith(f"{title} (")


def test_a_loss_that_is_not_defined_is_no_best_and_no_share():
    frame = performance_frame(("forest",))
    frame["constant"] = np.nan
    view = plain_view(performance=frame)
    said = "is not defined, so that of forest has nothing to be held against."
    assert f"The RMSE of always predicting the mean {said}" in lede_of(view, "D")
    frame["value"] = np.nan
    said = "RMSE is not defined for what the models predict on the evaluation rows."
    assert said in lede_of(plain_view(performance=frame), "D")


FRAME = apartments_result().agreement


def pairs_of(*verdicts, engines=("DALEX",), reasons=""):
    """Return the pairs of the first models and each of these engines, so judged."""
    return made_frame(
        "agreement",
        [
            made_pair(model, verdict, reasons, engine_b=engine)
            for model, verdict in zip(("forest", "svm"), verdicts, strict=True)
            for engine in engines
        ],
    )


CURVES = FRAME[FRAME["kind"] == "effect"].reset_index(drop=True)
BY_TWO = pairs_of("replayed", "replayed", engines=("DALEX", "vip"))
RIGHT = {"findings": ()}
APART = {"findings": (*FINDINGS, found("disagreement"))}
VIP_IS_MISSING = {"findings": (found("engine_missing", "vip", "info"),)}


@pytest.mark.parametrize(
    ("result", "word", "sentence"),
    [
        (
            apartments_result(agreement=FRAME.iloc[:6], **RIGHT),
            "confirmed",
            "DALEX reproduced 6 of the 10 rankings within the stated limits.",
        ),
        (
            apartments_result(
                importances=result_of("apartments").importances[:1],
                agreement=FRAME.iloc[:1],
                **RIGHT,
            ),
            "confirmed",
            "DALEX reproduced the ranking within the stated limits.",
        ),
        (
            apartments_result(agreement=BY_TWO, **RIGHT),
            "confirmed",
            "DALEX and vip reproduced 2 of the 10 rankings within the stated limits "
            "(DALEX 2, vip 2).",
        ),
        (
            apartments_result(agreement=CURVES, **RIGHT),
            "confirmed",
            "No ranking was reproduced, but DALEX reproduced 15 of the 15 curves",
        ),
        # What was not confirmed comes before an engine that is missing,
        (
            apartments_result(agreement=pairs_of("comparable", "comparable")),
            "not-cross-checked",
            "No second implementation reproduced a number within the stated limits "
            "(section Agreement). Exceptions in section Findings: 2.",
        ),
        # and a disagreement before everything else.
        (
            apartments_result(agreement=pairs_of("disagrees", "disagrees"), **APART),
            "confirmed-with-exceptions",
            "2 of 2 pairs of results disagree (section Agreement). Exceptions in "
            "section Findings: 3.",
        ),
        (
            configured(
                plain_result(("a",), **VIP_IS_MISSING),
                importance=[{"method": "permutation", "engines": ["vip"]}],
            ),
            "not-cross-checked",
            "Python alone computed the numbers: no second implementation returned a "
            "result (section Scope and independence). Exceptions in section "
            "Findings: 1.",
        ),
    ],
)
def test_the_verdict_says_what_it_rests_on(result, word, sentence):
    assert build_view(result).verdict.word == word
    said = plain(verdict_sentence(facts_of(result, "")))
    assert said.replace("\u00a0", " ").startswith(sentence)


def test_the_verdict_has_a_word_for_its_look():
    names = ("disagreeing", "failed", "one feature")
    words = ["not-confirmed", "not-established", "not-cross-checked"]
    assert [build_view(result_of(name)).verdict.word for name in names] == words


def test_pairs_that_agree_share_a_row_whatever_their_reasons():
    pairs = [
        made_pair("forest", "equivalent", "REPEATS: the numbers of repeats are 10, 20"),
        *(made_pair("svm", "equivalent", loss=loss) for loss in ("rmse", "mae")),
    ]
    view = apartments_view(agreement=made_frame("agreement", pairs))
    assert [words(row) for row in table(view, "tab-pairs").rows] == [
        "3 rankings Python, DALEX every difference is inside its band"
    ]


def untested(result, start):
    """Return item, reason and remedy of what was not tested and begins so."""
    item = table(build_view(result), "tab-untested")
    rows = (cells_of(row)[:3] for row in item.rows)
    return [row for row in rows if row[0].startswith(start)]


def test_rankings_that_python_alone_computed_are_no_failed_comparison():
    names = ("method", "of", "loss", "positive_class")
    whole = [
        made_pair(r.model, "replayed", options=options_text(r))
        | {name: getattr(r, name) for name in names}
        for r in apartments_result().importances
    ]
    result = apartments_result(agreement=made_frame("agreement", whole))
    assert not untested(result, "a second implementation")


@pytest.mark.parametrize(
    ("engines", "takes"),
    [
        ([], "name an engine that computes them"),
        (["DALEX"], "another implementation: no engine that was asked computes"),
    ],
)
def test_what_a_second_implementation_takes_is_what_can_be_done(engines, takes):
    """The engine here, DALEX, has no answer to what it was asked."""
    records = apartments_result().importances
    ours = [r for r in records if (r.method, r.of) == ("permutation", "features")]
    pair = {**made_pair("forest", "replayed"), "method": "shapley"}
    entry = {"method": "permutation", "of": "features", "engines": engines}
    result = apartments_result(
        importances=tuple(ours),
        agreement=made_frame("agreement", [pair]),
        findings=(),
    )
    result = configured(result, importance=[entry])
    ((_, _, text),) = untested(result, "a second implementation")
    assert text.startswith(takes)


@pytest.mark.parametrize(
    ("verdicts", "label", "text"),
    [
        # Warnings are exceptions, with their numbers.
        (
            {"DALEX": ("equivalent",) * 3},
            "Calculation confirmed, with exceptions",
            "3 of 3 rankings, E1 by DALEX: all equal within chance. Exceptions: K1, "
            "K2, K3.",
        ),
        # DALEX answered here and offers permutation: one ranking is open.
        (
            {"DALEX": ("replayed", "not compared", "replayed")},
            "Confirmed for 2 of 3 rankings",
            "E1 in part by DALEX: all equal on the same draws. 1 more could be "
            "checked.",
        ),
        # Of one ranking the order alone was compared: that confirms no number.
        (
            {"DALEX": ("replayed", "comparable", "not compared")},
            "Confirmed for 1 of 3 rankings",
            "E1 in part by DALEX: 1 compared by order only, 1 equal. "
            "1 more could be checked.",
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
    models = ("forest", "linear", "svm")
    pairs = [
        made_pair(model, verdict, engine_b=engine)
        for engine, words in verdicts.items()
        for model, verdict in zip(models, words, strict=True)
    ]
    findings = [found("weak_model", model) for model in models if "exc" in label]
    agreement = made_frame("agreement", pairs)
    whole = apartments_result(agreement=agreement, findings=tuple(findings))
    records = (r for r in whole.importances if r.method == "permutation")
    records = tuple(r for r in records if r.of == "features")
    parts = section(build_view(replace(whole, importances=records)), "B").parts
    assert parts["verdict"].label == label
    assert plain(parts["recomputed"]) == text
    if text.endswith("1 more could be checked."):  # DALEX has no such importance
        other = next(r for r in whole.importances if r.method == "partial_dependence")
        more = build_view(replace(whole, importances=(*records, other)))
        told = plain(section(more, "B").parts["recomputed"])
        assert told.endswith("checked. No installed engine computes the rest.")


def test_supplied_numbers_are_not_told_to_have_run_here():
    records, by_vip = apartments_result().importances, "vip 0.4.5 (supplied)"
    handed = tuple(
        replace(r, engine=by_vip, supplied_by="vip") if r.engine == "DALEX" else r
        for r in records
    )
    view = apartments_view(importances=handed, effects=())
    lede = lede_of(view, "C")
    assert lede.startswith("Python alone computed the importances.")
    assert lede.endswith("(supplied) were measured elsewhere, not in this run.")
    assert "tab-shared" not in {item.id for item in view.tables}
    missing = apartments_view(importances=handed, effects=(), **VIP_IS_MISSING)
    items = column(table(missing, "tab-untested"), "Item")
    assert "vip, which is not installed here (supplied numbers were compared)" in items


def test_reasons_are_shown_without_codes_and_end_in_one_full_stop():
    reasons = "STREAM: the draws are independent: a and b; REPEATS: 10 and 20."
    pairs = pairs_of("equivalent", "equivalent", reasons=reasons)
    view = apartments_view(agreement=pairs)
    reason = "the draws are independent: a and b; 10 and 20"
    because = column(table(view, "tab-pairs"), "Reason")
    assert because[0] == f"all 5 inside the band; {reason}."


def test_the_title_counts_many_models():
    many = pd.concat([apartments_result().models] * 2, ignore_index=True)
    view = apartments_view(models=many)
    assert plain(view.title) == "What 6 models rely on"


PERMUTED = {"method": "permutation", "engines": []}


@pytest.mark.parametrize(
    ("models", "is_said"), [([], False), (["forest", "svm"], True)]
)
def test_that_not_every_model_was_refitted_is_said(models, is_said):
    dropped = {"method": "drop_column", "engines": [], "models": models}
    result = configured(apartments_result(), importance=[PERMUTED, dropped])
    assert bool(untested(result, "refits without a feature")) is is_said


def test_curves_of_classes_have_a_column_of_them():
    pairs = apartments_result().agreement.assign(positive_class="fired")
    item = table(apartments_view(agreement=pairs), "tab-curves")
    assert set(column(item, "Class")) == {"fired"}


def test_of_shifts_inside_their_bands_the_largest_five_are_shown():
    result = disagreeing_result()
    frame, shifts = result.disagreements, [3, 9, 4, -8, 7, 5, 6, 3]
    inside = pd.concat([frame] * len(shifts)).assign(inside=True, shift=shifts)
    inside["feature"] = [f"f{n}" for n in shifts]
    frame = pd.concat([inside, frame], ignore_index=True)
    item = table(build_view(replace(result, disagreements=frame)), "tab-disagreements")
    names = [plain(row.cells[0].parts).split(",")[0] for row in item.rows]
    assert names[:5] == ["f9", "f-8", "f7", "f5", "f6"]
    assert len(names) == 6  # and all that is outside
    assert plain(item.notes[0]).startswith("3 more are in tables/disagreements.csv")


def test_verdicts_are_counted_in_words_that_bear_a_number():
    twice = apartments_result(checks=pd.concat([checks_frame()] * 2))
    lede = lede_of(build_view(twice), "J")
    assert lede.endswith("Not passed: 2 failures, 2 warnings, 2 not run.")


def test_checks_that_all_passed_are_listed_in_the_page_alone():
    sound = checks_frame().query("verdict == 'pass'")
    view = plain_view(("a",), checks=sound)
    (only,) = section(view, "J").parts["blocks"]
    assert only.is_single
    assert len(only.rows) == len(sound) == 5


def test_of_a_run_called_in_python_no_command_needs_a_configuration():
    view = build_view(configured(plain_result(("a",)), data=None))
    commands = said_in(view, "N")
    assert "importance-audit run" not in commands
    assert "--replay" not in commands
    assert "Call audit there with the same models, rows and options" in commands


@pytest.mark.parametrize(
    ("options", "parameters", "encoding"),
    [
        ({"n_estimators": 500}, "n_estimators=500, others: ", ""),
        ({}, "", ", numbers and target standardised"),
    ],
)
def test_a_model_is_shown_with_what_was_configured_for_it(
    options, parameters, encoding
):
    model = {"name": "forest", "parameters": options, "standardise": bool(encoding)}
    item = table(
        build_view(configured(plain_result(("a",)), models=[model])), "tab-models"
    )
    (text,) = column(item, "Parameters")
    assert text == f"{parameters}defaults"
    assert column(item, "Encoder") == [f"ordinal codes in level order{encoding}"]


def test_intervals_over_other_rows_are_shown_where_they_are_known():
    result = apartments_result()
    (first, *_) = result.importances
    frame = row_intervals_frame(result.importances, 1000.0)
    view = build_view(replace(result, row_intervals=frame))
    (beside,) = view.sections[0].parts["ranking"]
    assert "other rows and shuffles" in plain(beside.notes[-1])
    ranking = table(view, "tab-ranking-forest-permutation-features-rmse")
    assert "95\u202f% from" in heads_of(ranking)
    for row in ranking.rows:
        place = first.features.index(row.cells[1].parts[0].raw)
        for cell, end in zip(row.cells[3:5], ("low", "high"), strict=True):
            assert cell.parts[0].path == f"row_intervals[{place}].{end}"
            assert cell.parts[0].raw == frame[end][place]
        assert plain(row.cells[5].parts) == "1–5"
    lede = words(section(view, "F").lede)
    assert "No feature stands out from the baseline in forest" in lede
