"""Page one: what it answers, what it warns of, and what it asks for."""

import re
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_frame, made_importance, made_rows
from tests.report.made_results import apartments_result, found
from tests.report.made_variants import (
    configured,
    multiclass_result,
    plain_result,
    view_of_records,
)
from tests.report.page_reader import parse_page
from tests.report.reading import (
    cells_of,
    column,
    figure,
    heads_of,
    lede_of,
    said_in,
    section,
    table,
    words,
)

from importance_audit.records.finding import cause_of
from importance_audit.records.frames import FRAMES
from importance_audit.report.pages.html import to_html
from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain
from importance_audit.runs.signoff.answers import Accepted, Answer, with_answers


def losses(*rows):
    """Return losses by model and split, each ± 0.5, of a constant 40."""
    fields = {"loss": "rmse", "n_samples": 100, "std_error": 0.5, "constant": 40.0}
    fields |= {"difference": -1.0, "difference_std_error": 0.5}
    return made_rows("performance", "model split value", *rows, **fields)


def of_models(means, *, sd=12.0, repeats=10, **frames):
    """Return the view of models that have these means of the first features."""
    names = "abcd"
    records = (
        made_importance(model, names[: len(of_model)], of_model, sd=sd, repeats=repeats)
        for model, of_model in means.items()
    )
    return view_of_records(*records, **frames)


BOTH = {"bad": (9.0, 5.0, 1.0), "good": (5.0, 9.0, 1.0)}
TRAINED = (("bad", "train", 1.0), ("good", "train", 19.0))
NEW = (("bad", "test", 30.0), ("good", "test", 20.0))


def two_models(**frames):
    """Return the view of a bad and a good model that rank three features otherwise."""
    return of_models(BOTH, **{"performance": losses(*TRAINED, *NEW), **frames})


def row_intervals(*rows):
    """Return a frame of intervals from record, feature, low, high and ranks."""
    names = "record feature low high rank_low rank_high"
    return made_rows("row_intervals", names, *rows)


def around(*means_of_records):
    """Return intervals of all ranks, 0.2 to either side of these means."""
    return row_intervals(
        *(
            (record, name, mean - 0.2, mean + 0.2, 1.0, 3.0)
            for record, means in enumerate(means_of_records)
            for name, mean in zip("abc", means, strict=True)
        )
    )


def correlated(*names):
    """Return one cluster of these features."""
    fields = {"cluster": 1, "strongest": 0.9, "group": ""}
    return made_frame("clusters", [{"feature": name} for name in names], **fields)


def parts(view):
    return section(view, "B").parts


def said(view, name):
    """Return a part of page one as a text."""
    content = parts(view)[name]
    is_one = not content or not isinstance(content[0], tuple)
    sentences = (content,) if is_one else content
    return " ".join(map(plain, sentences)).replace("\u00a0", " ")


def test_the_best_model_on_new_rows_comes_first_training_beside_them():
    quality = table(two_models(), "tab-quality")
    assert column(quality, "Model") == ["good", "bad"]
    assert column(quality, "Training rows") == [
        "19.00\u00a0±\u00a00.50",
        "1.00\u00a0±\u00a00.50",
    ]
    assert column(quality, "Evaluation rows") == [
        "20.00\u00a0±\u00a00.50",
        "30.00\u00a0±\u00a00.50",
    ]
    assert column(quality, "Constant prediction") == ["40.00", "40.00"]
    assert plain(quality.caption) == (
        "Best model first: RMSE, EUR/m², lower is better, ± one standard error; "
        "100 training rows, 100 evaluation rows."
    )


def test_a_model_of_unknown_loss_comes_after_all_others():
    rows = losses(("good", "test", 20.0), ("bad", "train", 1.0))
    quality = table(two_models(performance=rows), "tab-quality")
    assert column(quality, "Model") == ["good", "bad"]
    assert column(quality, "Evaluation rows") == ["20.00\u00a0±\u00a00.50", "–"]


def test_section_h_knows_the_ranks_on_other_rows_that_page_one_shows():
    """[stability] is not set, and yet other rows were examined."""
    frame = row_intervals(
        *((0, "a", 1.0, 12.0, 1.0, 2.0), (0, "b", 4.0, 6.0, 1.0, 2.0)),
        (0, "c", -4.0, -1.0, 3.0, 3.0),
    ).assign(lead_share=[0.9, 0.1, 0.0])
    view = two_models(row_intervals=frame)
    text = lede_of(view, "H")
    assert "a ranks first in bad in 90\u202f% of the resamples" in text
    assert "Not examined: other rows" not in text
    shown = figure(view, "fig-rank-intervals")
    _, bad = shown.data["panels"][0]
    ranks = bad[["rows_low", "rows_high"]].to_numpy().tolist()
    assert ranks == [[1.0, 2.0], [1.0, 2.0], [3.0, 3.0]]
    dashed = "dashed: 95\u202f% interval of the ranks on resampled rows"
    assert dashed in plain(shown.caption)
    assert plain(shown.headline).endswith("under other shuffles and 1 on other rows.")


def test_two_classes_are_judged_by_the_area_under_the_curve_alone():
    rows = made_rows(
        "readings",
        "model reading split value std_error",
        ("bad", "auc", "train", 0.99, np.nan),
        ("bad", "auc", "test", 0.7, np.nan),
        ("good", "auc", "test", 0.8, 0.01),
        ("bad", "gini", "test", 0.4, np.nan),
        n_samples=9,
    )
    quality = table(two_models(readings=rows), "tab-quality")
    assert column(quality, "Training rows") == ["–", "0.990"]
    assert column(quality, "Evaluation rows") == ["0.800\u00a0±\u00a00.010", "0.700"]
    assert len(quality.columns) == 3
    assert "higher is better" in plain(quality.caption)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        # Twice 0.5 in quadrature is 0.71: a gap of 2.1 is three of these errors.
        (
            [("train", 17.9), ("test", 20.0)],
            "shows no clear overfitting (worse on new rows by 2.97 standard errors",
        ),
        (
            [("train", 17.8), ("test", 20.0)],
            "overfits (worse on new rows by 3.1 standard errors, limit 3)",
        ),
        (
            [("train", 1.0), ("out_of_bag", 20.0), ("test", 20.0)],
            "is no worse on new rows than out of bag.",
        ),
        (
            [("train", 1.0), ("out_of_bag", 21.5), ("test", 20.0)],
            "is better on new rows than out of bag, by 2.1 standard errors: these",
        ),
        ([("test", 20.0)], "was given without training rows: overfitting not exam"),
    ],
)
def test_a_model_overfits_by_more_than_three_standard_errors(rows, text):
    performance = losses(*(("good", split, value) for split, value in rows))
    assert f"good {text}" in said(two_models(performance=performance), "fits")


def test_a_forest_that_was_not_judged_out_of_bag_is_not_said_to_overfit():
    asked = ("train_test_gap", "good, rmse", "not out of bag", 3.0, "default")
    rows = made_rows("checks", " ".join(FRAMES["checks"].columns), (*asked, "not run"))
    text = said(two_models(checks=rows), "fits")
    assert "good fits its own training rows closely, as forests do, and was not" in text
    assert text.count("overfits") == 1


OF_GOOD = {"model": "good", "positive_class": "", "split": "test"}


def checked(**fields):
    """Return what was checked of the deciles of the good model."""
    ends = {"lowest": "too high", "highest": "too low"}
    means = {"predicted": 0.1, "observed": 0.2}
    row = OF_GOOD | {"deciles": 10, "too_low": 4, "too_high": 3} | ends | means
    return made_frame("calibration_checks", [row], **fields)


def test_bias_says_its_direction_at_the_ends_of_the_range_and_its_largest_size():
    evidence = {"deciles": 10, "too_low": 4, "too_high": 3}
    bias = found("bias", "good", "info", evidence=evidence)
    deciles = made_rows(
        "calibration",
        "bin predicted observed low high",
        *((1, 10, 14, 13, 15), (2, 20, 19, 18.5, 19.5), (3, 30, 36, 29, 40)),
        **OF_GOOD | {"rows": 9},
    )
    off = two_models(
        calibration_checks=checked(), calibration=deciles, findings=(bias,)
    )
    assert (
        "predictions too low in 4 of 10 deciles (the highest among them), by up to "
        "4.00 EUR/m², and too high in 3 (the lowest among them), by up to 1.00 EUR/m²."
    ) in said(off, "fits").replace("\xa0", " ")
    fine = two_models(calibration_checks=checked(too_low=1, too_high=0))
    assert "within chance (1 of 10 deciles off)" in said(fine, "fits")
    tied = two_models(calibration_checks=checked(deciles=8, too_low=0, too_high=0))
    words = "within chance (0 of 8 groups of predictions off)"
    assert words in said(tied, "fits")


def test_probabilities_stand_beside_what_was_observed():
    view = two_models(calibration_checks=checked(positive_class="yes"))
    quality = table(view, "tab-quality")
    assert column(quality, "Mean predicted, class yes") == ["0.100", "–"]
    assert column(quality, "Observed share") == ["0.200", "–"]
    assert "probabilities within chance (7 of 10 deciles off)" in said(view, "fits")


INTERVALS = row_intervals(
    *((0, "a", 1.0, 12.0, 1.0, 2.0), (0, "b", 4.0, 6.0, 1.0, 2.0)),
    (0, "c", -4.0, -1.0, 3.0, 3.0),
    *((1, "a", 4.0, 6.0, 2.0, 2.0), (1, "b", 8.0, 9.5, 1.0, 1.0)),
    (1, "c", 0.5, 1.5, 3.0, 3.0),
)


def test_several_classes_are_counted_each_and_have_an_accuracy():
    """Three classes have no thirty deciles together."""
    off = (("a", 9, 0), ("b", 2, 3), ("c", 0, 1))
    rows = [
        OF_GOOD
        | {"positive_class": cls, "deciles": 10, "too_low": low, "too_high": high}
        | {"lowest": "within", "highest": "within", "predicted": 0.3, "observed": 0.3}
        for cls, low, high in off
    ]
    findings = [
        found(
            *("calibration", f"forest, {row['positive_class']}", "info"),
            evidence=row,
            cause="calibration: forest",
        )
        for row in ({k: v for k, v in row.items() if k != "split"} for row in rows[:2])
    ]
    frame = made_frame("calibration_checks", rows, model="forest")
    accuracy = made_rows(
        "readings",
        "value split",
        *((0.91, "train"), (0.87, "test")),
        **{"model": "forest", "reading": "accuracy", "n_samples": 9, "std_error": 0.01},
    )
    result = multiclass_result()
    view = build_view(
        replace(result, findings=tuple(findings)).with_frames(
            calibration_checks=frame, readings=accuracy
        )
    )
    point = said(view, "points")
    assert "a (too low in 9 of 10 deciles)" in point
    assert "b (too low in 2 of 10 deciles and too high in 3)" in point
    assert "probabilities off in a (9 of 10 deciles), b (5 of" in said(view, "fits")
    quality = table(view, "tab-quality")
    assert "0.870" in column(quality, "Accuracy on the evaluation rows")
    fine = build_view(result.with_frames(calibration_checks=frame))
    assert "in every class (worst: 9 of 10 deciles off)" in said(fine, "fits")


def test_unseen_levels_say_in_how_many_rows():
    evidence = {"rows": 35, "levels": 1}
    view = two_models(findings=[found("unseen_levels", "dealer", evidence=evidence)])
    text = "Levels not seen in training: dealer, in 35 rows (K1)."
    assert said(view, "points") == text


def test_an_audit_in_python_has_no_name_of_an_audit_and_no_version_unsigned():
    result = plain_result("ab")
    named = build_view(configured(result, report={"title": "Own"}))
    assert "Audit " in plain(named.subtitle)
    called = build_view(configured(result, report={"title": "Own"}, data=None))
    assert "Audit " not in plain(called.subtitle)
    assert said(called, "about").endswith("nor their use. Unsigned.")


def test_models_stand_side_by_side_and_features_by_their_best_rank():
    view = two_models(row_intervals=INTERVALS)
    leading = table(view, "tab-executive")
    heads = heads_of(leading)
    assert heads == ["Feature", "good", "Rank", "bad", "Rank"]
    rows = [cells_of(row) for row in leading.rows]
    assert rows == [
        ["a", "5.00 (4.00 to 6.00)", "2", "9.00 (1.00 to 12.00)", "1–2"],
        ["b", "9.00 (8.00 to 9.50)", "1", "5.00 (4.00 to 6.00)", "1–2"],
        ["c", "1.00 (0.50 to 1.50)", "3", "1.00 (−4.00 to −1.00)", "–"],
    ]
    notes = plain(sum(leading.notes, ()))
    below = "Below zero, so that shuffling improves the model (rank –): 1 of 3 in bad."
    assert below in notes
    assert "Cannot be told from zero" not in notes
    assert "95\u202f% intervals (in brackets; of ranks too) cover other rows" in notes


def test_what_sets_models_apart_is_beyond_both_intervals_and_three_times_as_large():
    def text(*of_good, means=BOTH["bad"]):
        ranks = (
            (1, n, *ends, 1.0, 3.0) for n, ends in zip("abc", of_good, strict=True)
        )
        both = pd.concat(
            [around(BOTH["bad"]), row_intervals(*ranks)], ignore_index=True
        )
        means = BOTH | {"good": means}
        return said(of_models(means, row_intervals=both), "differ")

    same = [(8.0, 10.0), (4.0, 6.0), (0.5, 1.5)]
    assert "No feature is clearly unequal" in text(*same)
    # a of "good" is apart from 9, but not less than a third of it
    assert "No feature is" in text((3.0, 5.0), *same[1:], means=(4.0, 5.0, 1.0))
    apart = text((1.0, 3.0), *same[1:], means=(2.0, 5.0, 1.0))
    assert "under a third of the other): a (9.00 and 2.00)." in apart
    # c of "good" cannot be told from zero, and the interval of "bad" is above it
    assert ": c (" in text(*same[:2], (-0.2, 0.7), means=(9.0, 5.0, 0.5))


def test_what_is_hardly_used_neither_leads_nor_sets_models_apart():
    """A thousandth of the largest, 9, is needed, however narrow the interval."""
    means = {"bad": (9000.0, 8.0, 10.0, 300.0), "good": (9000.0, 0.0, 0.0, 300.0)}
    intervals = row_intervals(
        *(
            (record, name, mean - 0.2, mean + 0.2, 1.0, 4.0)
            for record, of_model in enumerate(means.values())
            for name, mean in zip("abcd", of_model, strict=True)
        )
    )
    view = of_models(means, row_intervals=intervals)
    # Five digits of the largest value, however narrow the intervals.
    assert re.search(r"of the other\): c \(10\.0 and [^;]*\)\.$", said(view, "differ"))
    rows = table(view, "tab-executive").rows
    assert [plain(row.cells[0].parts) for row in rows] == ["a", "d", "c"]


def test_the_headline_is_what_leads_and_what_sets_the_models_apart():
    view = two_models(row_intervals=INTERVALS)
    text = said(view, "headline")
    assert text == "None leads alone in bad; b leads in good"


@pytest.mark.parametrize(("rest", "is_named"), [(0.9, True), (1.3, False)])
def test_a_leader_with_four_fifths_of_all_importance_says_so_in_the_headline(
    rest, is_named
):
    """9 of 9 + 2 * 0.9 is 83 %, of 9 + 2 * 1.3 it is 78 %."""
    means = (9.0, rest, rest)
    intervals = around(means).assign(rank_low=[1, 2, 2], rank_high=[1, 3, 3])
    view = of_models({"bad": means}, row_intervals=intervals)
    share = "83\u202f% of all importance in bad"
    headline, decide = said(view, "headline"), said(view, "decide")
    heads = f"a leads, with {share} (E1): is it known when predicting?"
    assert headline == (heads if is_named else "a leads")
    asked = "(1) whether a is known at the time of prediction."
    assert decide == (asked if is_named else "No open point.")
    point = f"One feature carries nearly all. a: {share} (E1)."
    assert said(view, "points") == (point if is_named else "")


def test_what_carries_nearly_all_is_the_first_point_with_its_share_in_every_model():
    """As much as a copy of the target that is wrong in some rows."""
    means = {"bad": (9.0, 0.5, 0.4), "good": (9.0, 0.3, 0.1)}
    leader = found("dependent_leader", "bad", evidence={"cluster": 1})
    view = of_models(
        means,
        row_intervals=around(*means.values()).assign(
            rank_low=[1, 2, 2] * 2, rank_high=[1, 3, 3] * 2
        ),
        clusters=correlated("b", "c"),
        findings=[leader],
    )
    first, second = map(plain, parts(view)["points"])
    assert first == (
        "One feature carries nearly all. a: 91\u202f% (bad) and 96\u202f% (good) of "
        "all importance (E1)."
    )
    assert second.startswith("Correlated leaders")
    assert said(view, "decide").startswith("(1) whether a is known at the time")
    leak = found("leak_sign", "bad", "info", measure="a", evidence={"share": 0.9})
    assert len(parts(of_models(means, findings=[leak]))["points"]) == 1


def test_a_feature_that_another_may_stand_in_for_does_not_set_the_models_apart():
    """Its importance went to the other of its set: together they may count alike."""
    means = {"bad": (9.0, 5.0, 1.0), "good": (9.0, 1.0, 5.0)}

    def headline(*names):
        intervals = around(*means.values())
        view = of_models(means, row_intervals=intervals, clusters=correlated(*names))
        assert "b" in said(view, "differ").split("of the other): ")[1]
        return said(view, "headline")

    assert headline().endswith("; b sets the models apart")
    assert headline("b", "c").endswith("one leads alone in bad and good")
    assert headline("a", "b").endswith("; c sets the models apart")


@pytest.mark.parametrize(("high", "is_named"), [(8.0, False), (3.0, True)])
def test_a_stand_in_is_no_difference_where_both_models_rely_on_its_set(high, is_named):
    """b and c count 6 together in one model, and 5 to `high` in the other."""
    means = {"bad": (9.0, 5.0, 1.0), "good": (9.0, 1.0, 5.0)}
    fields = {"cluster": 1, "loss": "rmse", "form": "difference", "over": "rows"}
    fields |= {"unit": "y", "n_repeats": 10, "std_error": 0.5}
    joint = made_rows(
        "joint_importances",
        "model mean low high",
        *(("bad", 6.0, 5.0, 7.0), ("good", high - 1, high - 2, high)),
        **fields,
    )
    view = of_models(
        means,
        row_intervals=around(*means.values()),
        clusters=correlated("b", "c"),
        joint_importances=joint,
    )
    differ, _, alone = said(view, "differ").partition(" Unequal alone, but not so ")
    assert ("Clearly unequal" in differ) is is_named
    names = "c a" if is_named else "b a and c a"
    assert alone == f"together with their correlated set: {names}."


def test_what_is_told_from_zero_and_has_no_room_is_counted():
    means = {"bad": (9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0)}
    means["good"] = means["bad"]
    names = "abcdefgh"
    records = [made_importance(m, names, of, sd=0.01) for m, of in means.items()]
    notes = plain(sum(table(view_of_records(*records), "tab-executive").notes, ()))
    assert "Shown: 6 of 8 told from zero, by best rank" in notes


def test_models_side_by_side_have_the_same_decimals():
    """Of the model with wider intervals; what would print as 0.0 keeps a digit."""
    means = {"bad": (90.0, 50.0, 10.0), "good": (90.0, 50.0, 0.04)}
    rows = [
        (record, name, mean - width, mean + width, 1.0, 3.0)
        for record, width in ((0, 8.0), (1, 0.03))
        for name, mean in zip("abc", [*means.values()][record], strict=True)
    ]
    view = of_models(means, row_intervals=row_intervals(*rows))
    shown = table(view, "tab-executive")
    assert column(shown, "bad")[0] == "90.0 (82.0 to 98.0)"
    assert column(shown, "good") == [
        *("90.0 (90.0 to 90.0)", "50.0 (50.0 to 50.0)", "0.04 (0.01 to 0.1)")
    ]


@pytest.mark.parametrize(
    ("share", "text"), [(0.97, "97"), (0.9999, "99.99"), (0.996, "99.6"), (1.0, "100")]
)
def test_nearly_all_importance_does_not_read_as_all(share, text):
    leak = found("leak_sign", "q", "info", measure="b", evidence={"share": share})
    assert f"b has {text}\u202f% of all" in plain(
        parts(two_models(findings=[leak]))["headline"]
    )


HEADS = [
    (
        [found("interrupted", severity="failure")],
        "Incomplete: importance cannot be judged",
    ),
    ([found("weird", "x", "failure")], "weird (x)"),
    (
        [
            found(
                "leak_sign", "bad, rmse", "info", measure="b", evidence={"share": 0.97}
            )
        ],
        "b has 97\u202f% of all importance in bad: is it known when predicting?",
    ),
    (
        [found("target_copy", measure="b, c")],
        "b, c: the target itself, among the features",
    ),
    (
        [found("dependent_leader", "bad", measure="a, b")],
        "Features of a high rank are correlated and must be read together",
    ),
    # What does not undermine the answer is below, not above it.
    ([found("train_test_gap", "good, rmse", "info")], "None leads alone"),
    ([found("weak_model", "good, rmse")], "None leads alone"),
]


@pytest.mark.parametrize(("findings", "text"), HEADS)
def test_the_first_warning_that_undermines_the_answer_heads_the_page(findings, text):
    view = two_models(findings=findings, row_intervals=INTERVALS)
    assert plain(parts(view)["headline"]).startswith(text)


def test_points_are_ordered_by_what_must_be_decided_first():
    kinds = ("weak_model", "calibration", "split_shift", "train_test_gap", "bias")
    evidence = {"deciles": 10, "too_low": 4, "too_high": 0, "psi": 0.3, "share": 0.9}
    findings = [
        found(kind, "good, rmse" if "_" in kind else "good", "info", evidence=evidence)
        for kind in kinds[1:]
    ]
    findings += [found("leak_sign", measure="b", severity="info", evidence=evidence)]
    findings += [
        found("dependent_leader", measure="a, b"),
        found("weak_model", "bad, rmse"),
    ]
    view = two_models(findings=findings)
    begins = [plain(text).split(".")[0].split(",")[0] for text in parts(view)["points"]]
    assert begins == [
        "Sign of a leak",
        "Correlated leaders",
        "Overfitting",
        "Probabilities off",
        "Bias",
        "Shift from training to evaluation rows",
        "Not clearly better than a constant (bad",
    ]
    assert said(view, "decide").startswith("(1) whether b is known at the time of")
    assert said(view, "decide").endswith(
        "(7) whether bad, not clearly better than a constant, may be used."
    )


def test_a_model_that_overfits_may_or_may_not_stay_in_use():
    view = two_models(findings=[found("train_test_gap", "good, rmse", "info")])
    assert said(view, "decide") == (
        "(1) whether good may be used (19.00 in training, 20.00 on new rows)."
    )


def test_repeats_that_time_cut_short_are_counted_and_ask_for_more_time():
    means = (9.0, 5.0, 1.0)
    records = [
        made_importance(m, "abc", means, repeats=n) for m, n in (("x", 6), ("y", 10))
    ]
    subject = "x, permutation of features"
    view = view_of_records(*records, findings=[found("time_limit", subject, "warning")])
    assert "mean of 6 to 10 repeats" in plain(table(view, "tab-executive").caption)
    assert "Fewer repeats than configured" in said(view, "points")
    assert said(view, "decide") == "(1) whether to measure again with more time."


@pytest.mark.parametrize(
    ("features", "place", "asked"),
    [
        (["a"], "top", "it is acceptable that a does not lead"),
        (["a", "b"], "top", "the first 2 may be without a"),
        (["a"], "zero", "it is acceptable that a matters"),
    ],
)
def test_what_contradicts_the_owner_asks_whether_it_is_acceptable(
    features, place, asked
):
    row = (1, place, "bad", "a", 3.0, "not as expected")
    note = found("unexpected", "bad", "info", evidence={"expectation": 1})
    view = two_models(**expecting(row, asked=[(features, place)]), findings=[note])
    text = said(view, "decide")
    assert text == f"(1) whether {asked} in bad."
    assert " of bad" in said(view, "points")


def test_models_on_their_own_training_rows_are_not_compared_with_new_rows():
    names = ("bad", "good")
    own = [found("scored_on_training_rows", name) for name in names]
    of_the_fit = "was evaluated on the rows of its fit, so that overfitting"
    text = said(two_models(findings=own), "fits")
    assert text.count(of_the_fit) == 2
    assert "new rows" not in text
    text = said(two_models(findings=own[:1]), "fits")
    assert text.count(of_the_fit) == 1


def test_rows_of_the_fit_are_called_so_everywhere_and_shown_once():
    check, cause = "scored_on_training_rows", cause_of("scored_on_training_rows", "d")
    own = [found(check, name, cause=cause) for name in ("bad", "good")]
    view = two_models(findings=own)
    quality = table(view, "tab-quality")
    assert heads_of(quality) == ["Model", "Rows of the fit", "Constant prediction"]
    assert plain(quality.caption).endswith("standard error; 100 rows of the fit.")
    assert "On rows that a model was fitted to, it looks better" in said(view, "points")
    assert said(view, "decide") == (
        "(1) audit again on new rows: until then it is not known how the model does on "
        "them."
    )
    assert "smallest loss on the rows of the fit: its RMSE" in said_in(view, "D")
    assert "All of it is measured on the rows of the fit" in said_in(view, "F")
    for letter in "ABEF":
        assert "evaluation rows" not in said_in(view, letter).lower()
    part = [replace(own[0], evidence={"rows": 60.0, "of": 100.0}), own[1]]
    quality = table(two_models(findings=part), "tab-quality")
    assert plain(quality.caption).endswith("100 evaluation rows.")


def test_the_exceptions_of_a_run_are_named_on_page_one_and_not_counted_there():
    view = two_models(findings=[found("dependence", "rows", "warning")])
    assert "Exceptions in" not in said(view, "recomputed")


@pytest.mark.parametrize(
    ("set_", "heads"), [("bc", "a leads"), ("ab", "Features of a high rank")]
)
def test_what_has_nearly_all_importance_heads_the_page_before_other_sets(set_, heads):
    """Correlated leaders head it where one of them has nearly all, or none has."""
    means = (9.0, 0.5, 0.4)
    leader = found("dependent_leader", "bad", evidence={"cluster": 1})
    view = of_models(
        {"bad": means},
        row_intervals=around(means).assign(rank_low=[1, 2, 2], rank_high=[1, 3, 3]),
        clusters=correlated(*set_),
        findings=[leader],
    )
    assert said(view, "headline").startswith(heads)


def test_warnings_of_one_check_are_one_point_and_what_has_no_room_is_counted():
    same = tuple(found("canary", f"s{n}") for n in range(12))
    (point,) = parts(two_models(findings=same))["points"]
    assert plain(point).startswith("canary (s0 and 11 more)")
    many = tuple(found(f"canary_{n}") for n in range(12))
    view = two_models(findings=many)
    assert len(parts(view)["points"]) == 10
    assert said(view, "more") == "And 2 more, section Findings."
    assert said(view, "decide") == "(1 to 10) what is to be done."


def test_what_is_answered_otherwise_is_a_point_of_its_own_and_accepted_asks_nothing():
    """Two findings of one cause, and two of one check: one of each is accepted."""
    cause = cause_of("unseen_levels", "dealer")
    until = Accepted(date(2026, 12, 31), "why", "what", "B. Zając")
    levels = [
        found("unseen_levels", name, "warning", message="m.", cause=cause)
        for name in ("dealer", "region")
    ]
    ranks = [found("rank_shift", name, "warning", message="m.") for name in "ab"]

    def view_with(*accepted):
        result = plain_result(("a",), findings=(*levels, *ranks))
        answers = [Answer(one.key, exception=until) for one in accepted]
        return build_view(with_answers(result, answers))

    half = view_with(levels[0], ranks[1])
    points = [plain(point) for point in parts(half)["points"]]
    assert [text.partition("(K")[2] for text in points] == [
        *("1), accepted until 2026-12-31.", "2)."),
        *("3).", "4), accepted until 2026-12-31."),
    ]
    assert said(half, "decide") == (
        "(2) how new levels of region are to be predicted; (3) what is to be done."
    )
    whole = view_with(*levels, *ranks)
    assert said(whole, "decide") == "Nothing until 2026-12-31: every point is accepted."


def test_rows_of_unknown_origin_are_given_rows_and_the_first_question():
    datasets = apartments_result().datasets
    result = apartments_result(datasets=datasets[datasets["split"] == "test"])
    view = build_view(result)
    assert said(view, "headline").startswith("Not known: whether the model was fitted")
    assert said(view, "untested").startswith("whether the model was fitted to these")
    assert "these 9\u202f000 rows are new to the model" in said(view, "decide")
    assert "Given rows" in words(table(view, "tab-quality"))


def expected(*rows):
    """Return judgements of (expectation, place, model, farthest, rank, verdict)."""
    asked = {"method": "permutation", "of": "features", "loss": "rmse"}
    asked |= {"positive_class": "", "record": 0, "reason": "Law."}
    names = "expectation place model farthest rank verdict"
    said = {"features": "'a'", "first": "'b'", "share": 0.5}
    return made_rows("expected", names, *rows, **asked, **said)


def expecting(*rows, asked):
    """Return judgements, and the run that asked for these (features, place)."""
    sections = [{"features": features, "place": place} for features, place in asked]
    run = configured(apartments_result(), expected=sections).run
    return {"expected": expected(*rows), "run": run}


def test_expectations_are_counted_and_not_expectations_times_rankings():
    three = expecting(
        (1, "top", "bad", "a", 1.0, "as expected"),
        (1, "top", "good", "a", 2.0, "not as expected"),
        (1, "top", "good", "a", 3.0, "not as expected"),
        (2, "top", "bad", "b", 2.0, "as expected"),
        (3, "zero", "bad", "c", np.nan, "not measured"),
        asked=[(["a"], "top"), (["a", "b"], "top"), (["c"], "zero")],
    )
    three["expected"] = three["expected"].assign(record=[0, 1, 1, 0, 0])
    note = found("unexpected", "good", "info", evidence={"expectation": 1})
    view = two_models(sd=0.1, **three, findings=[note])
    assert said(view, "expected") == (
        "Expectations that hold in every ranking: 1 of 3 (a and b among the first 2). "
        "Not judged, because not measured: 1. Not met: a first (Law); ranks 2 (E1) "
        "and 3 (E1) in good."
    )
    # Not all rankings of a model contradict it: named, but no headline.
    assert said(view, "points") == (
        "Not as expected: a does not lead in 2 of 3 rankings (K1)."
    )
    assert not said(view, "headline").startswith("Not as the owner")
    grave = replace(note, severity="warning")
    view = two_models(sd=0.1, **three, findings=[grave])
    assert said(view, "headline") == "Not as the owner expects: a does not lead"


def test_how_many_claims_are_reproduced_is_said():
    texts = dict.fromkeys(("must", "method", "model", "loss", "source", "reason"), "")
    verdicts = ("reproduced", "not reproduced")
    claims = [{"claim": "c", "asked": "", "verdict": v, **texts} for v in verdicts]
    text = said(two_models(claims=made_frame("claims", claims)), "expected")
    words = "Claims that this run reproduces, judged without intervals: 1 of 2"
    assert text == f"{words} (section Results)."
    apart = {**claims[0], "verdict": "not comparable"}
    text = said(two_models(claims=made_frame("claims", [*claims, apart])), "expected")
    assert text == f"{words}; not comparable: 1 (section Results)."


@pytest.mark.parametrize(
    ("names", "settled", "text"),
    [
        ("b", 1, " (b first)."),
        ("ab", 1, " (a and b among the first 2)."),
        ("a", 0, ". Not settled: a first (ranks 1–2 in bad, E1)."),
        ("ac", 0, ". Not settled: c among the first 2 (ranks 3 in bad, E1)."),
    ],
)
def test_a_place_that_the_ranks_leave_open_is_not_settled(names, settled, text):
    """By its mean a feature may lead that by its interval may as well not."""
    record = 1 if names == "b" else 0
    rows = expecting(
        (1, "top", ("bad", "good")[record], names[0], 1.0, "as expected"),
        asked=[([*names], "top")],
    )
    rows["expected"] = rows["expected"].assign(record=record)
    assert said(two_models(row_intervals=INTERVALS, **rows), "expected") == (
        f"Expectations that hold in every ranking: {settled} of 1{text}"
    )


@pytest.mark.parametrize(("is_small", "asks"), [(True, False), (False, True)])
def test_what_is_below_zero_by_chance_is_told_but_is_no_point(is_small, asks):
    rows = expecting(
        (1, "zero", "bad", "c", 3.0, "not as expected"), asked=[(["c"], "zero")]
    )
    evidence = {"expectation": 1, "within_resolution": is_small}
    note = found("unexpected", "bad", "info", evidence=evidence)
    rows["expected"]["share"] = 0.1 if is_small else 0.101
    view = two_models(sd=0.1, **rows, findings=[note])
    text = said(view, "expected")
    assert "Not met: c without importance" in text
    assert (
        text.endswith("since it is at most 10\u202f% of the largest importance.")
        == is_small
    )
    assert bool(parts(view)["points"]) == asks


def test_ranks_of_several_classes_on_one_card_name_their_class():
    rows = [(1, "top", "forest", "age", r, "not as expected") for r in (2, 3)]
    result = replace(multiclass_result(), **expecting(*rows, asked=[(["age"], "top")]))
    view = build_view(replace(result, expected=result.expected.assign(record=[2, 3])))
    ranks = "ranks 2 (E2, fired) and 3 (E2, promoted) in forest"
    assert ranks in said(view, "expected")


@pytest.mark.parametrize(
    ("verdict", "of_missing", "words"),
    [
        (
            "moved",
            "within chance",
            "Largest shift from training: a (PSI 0.10).",
        ),
        (
            "below the limit",
            "within chance",
            "Largest shift from training, below the limit: a (",
        ),
        (
            *("within chance", "below the limit"),
            "training, below the limit: missing cells of a (PSI 0.04).",
        ),
        ("within chance", "not comparable", "beyond chance (largest: a, PSI 0.10)."),
    ],
)
def test_a_shift_below_the_limit_is_not_told_to_be_chance(verdict, of_missing, words):
    row = {"column": "a", "role": "feature", "psi": 0.1, "missing_psi": 0.04}
    row |= {"verdict": verdict, "missing_verdict": of_missing}
    view = two_models(split_shifts=made_frame("split_shifts", [row]))
    assert words in said(view, "fits")


def test_a_feature_at_zero_is_said_so_with_its_correlated_features():
    row = (1, "top", "bad", "c", 3.0, "not as expected")
    intervals = INTERVALS.assign(low=[1, 4, -4, 4, 8, -0.5])

    def text(low, high=0.2, below=False):
        what = {"cluster": 1, "loss": "rmse", "form": "difference", "mean": 0.1}
        models = [{"model": name} for name in BOTH]
        high_of_c = -1 if below else 3
        view = two_models(
            **expecting(row, asked=[(["c"], "top")]),
            clusters=correlated("b", "c"),
            row_intervals=intervals.assign(high=[12, 6, high_of_c, 6, 9.5, 1.5]),
            joint_importances=made_frame(
                "joint_importances", models, low=low, high=high, **what
            ),
        )
        notes = plain(sum(table(view, "tab-executive").notes, ()))
        both = r"0\.10? and 0\.10?" if low > 0 else "not told from zero"
        below_zero = r"0\.10? \(below zero\)"
        both = f"{below_zero} and {below_zero}" if high < 0 else both
        assert re.search(rf"a all marked so \(0\.90\), jointly {both}\.", notes)
        return said(view, "expected")

    assert text(0.05).endswith("; not told from zero (E1) in bad.")
    assert text(-0.05).endswith(
        "; not told from zero (E1) in bad. Nor can it be told from zero with "
        "the correlated b (0.90)."
    )
    # What lies below zero is told from it: shuffling improves the model.
    assert text(-0.05, high=-0.01).endswith(
        "(E1) in bad. Nor is it above zero with the correlated b (0.90)."
    )
    assert text(0.05, below=True).endswith("; below zero (E1) in bad.")


@pytest.mark.parametrize(
    ("mean", "method", "words"),
    [
        (5.0, "permutation", "50% of the largest importance in m"),
        (-5.0, "permutation", "shuffling it improves m, by 50% of the"),
        (-5.0, "drop_column", "below zero in m, by 50% of the largest"),
    ],
)
def test_a_feature_far_from_zero_says_on_which_side(mean, method, words):
    record = made_importance("m", "abc", (10.0, 1.0, mean), method=method)
    row = (1, "zero", "m", "c", 2.0, "not as expected")
    note = found("unexpected", "m", "info", evidence={"expectation": 1})
    asked = expecting(row, asked=[(["c"], "zero")])
    view = view_of_records(record, findings=[note], **asked)
    text = said(view, "expected").replace("\u202f", "")
    assert words in re.sub(r" \(E1\)", "", text)
    question = {
        "50% of the largest importance in m": "whether it is acceptable that c matters",
        "shuffling it improves m, by 50% of the": "that shuffling c improves the model",
        "below zero in m, by 50% of the largest": "acceptable that c is below zero",
    }
    assert question[words] in said(view, "decide")


@pytest.mark.parametrize(
    ("repeats", "text"),
    [(10, "a leads in d; b leads in e"), (1, "No feature can be said to lead in d")],
)
def test_after_one_repeat_no_feature_is_said_to_lead(repeats, text):
    means = {"d": (9.0, 5.0, 1.0), "e": (5.0, 9.0, 1.0)}
    view = of_models(means, sd=0.1, repeats=repeats)
    assert said(view, "headline").startswith(text)


def test_a_model_that_could_not_be_measured_is_not_said_to_have_no_leader():
    means = {"d": (9.0, 5.0, 1.0), "e": (np.nan, np.nan, np.nan)}
    view = of_models(means, sd=0.1)
    clause = "importance by RMSE could be measured in e"
    assert said(view, "headline").startswith(f"a leads in d; no {clause}")
    assert f"a leads in d. No {clause}." in plain(section(view, "F").lede)
    record = made_importance("e", "abc", means["e"], loss="", method="impurity")
    other = view_of_records(record)
    assert said(other, "headline").startswith("No importance could be measured in e")


def test_what_intervals_cover_is_said_by_the_models_that_have_them():
    """A model of an infinite loss stands first, and has none."""
    means = {"d": (np.nan, np.nan, np.nan), "e": (9.0, 5.0, 1.0)}
    over_rows = around(means["d"], means["e"]).dropna(subset="low")
    page = to_html(of_models(means, sd=0.1, row_intervals=over_rows))
    assert "other rows and shuffles" in page
    assert "the random draws only" not in page


def test_an_infinite_loss_leaves_the_digits_of_the_others():
    rows = losses(("bad", "train", 0.8466), ("bad", "test", np.inf))
    rows = rows.assign(constant=1.0618, std_error=[0.0245, np.nan])

    def cells(performance):
        quality = table(two_models(performance=performance), "tab-quality")
        heads = ("Training rows", "Evaluation rows", "Constant prediction")
        return [column(quality, head)[0] for head in heads]

    assert cells(rows) == ["0.847\u00a0±\u00a00.025", "∞", "1.062"]


@pytest.mark.filterwarnings("error")
def test_infinite_losses_on_both_sides_have_no_gap():
    rows = losses(("bad", "train", np.inf), ("bad", "test", np.inf))
    rows = rows.assign(constant=1.0618, std_error=np.nan)
    assert "bad has no standard error" in said(two_models(performance=rows), "fits")


def test_the_headline_is_one_piece_of_text():
    """On screens its line is a row of boxes: each feature would be one of its own."""
    page = parse_page(to_html(two_models(row_intervals=INTERVALS)))
    (line,) = (node for node in page.all("p") if node.attributes.get("class") == "big")
    (piece,) = line.inside
    assert piece.tag == "span"


def test_every_rank_of_a_feature_that_is_not_among_the_first_is_listed():
    """Also where another one that is expected there ranks still lower."""
    means = {"m": (9.0, 8.0, 2.0, 1.0), "k": (9.0, 8.0, 1.0, 2.0)}
    rows = [
        (1, "top", "m", "d", 4.0, "not as expected"),
        (1, "top", "k", "c", 4.0, "not as expected"),
    ]
    found = expecting(*rows, asked=[(["d", "c"], "top")])
    found["expected"]["record"] = [0, 1]
    view = of_models(means, sd=0.1, **found)
    assert "rank 4 (E1) in m; rank 3 (E1) in k." in said(view, "expected")


def test_every_feature_that_is_not_as_expected_has_its_own_number_of_rankings():
    """In m both are outside the first two, in k only b."""
    means = {"m": (9.0, 2.0, 1.0, 8.0), "k": (9.0, 1.0, 2.0, 0.5)}
    rows = [(1, "top", model, "b", 3.0, "not as expected") for model in means]
    found_in = expecting(*rows, asked=[(["b", "c"], "top")])
    found_in["expected"]["record"] = [0, 1]
    note = found("unexpected", "m", "warning", evidence={"expectation": 1})
    view = of_models(means, sd=0.1, **found_in, findings=[note])
    assert said(view, "headline").endswith("expects: b not among the first 2")
    assert said(view, "points") == (
        "Not as expected: b not among the first 2 in 2 of 2 rankings; c in 1 (K1)."
    )
    assert said(view, "decide") == "(1) whether the first 2 may be without b and c."


def test_an_expectation_of_a_measure_that_the_run_lacks_is_not_judged():
    row = (1, "zero", "bad", "c", 3.0, "as expected")
    both = expecting(row, asked=[(["c"], "zero"), (["g"], "top")])
    assert said(two_models(sd=0.1, **both), "expected") == (
        "Expectations that hold in every ranking: 1 of 2 (c without importance: "
        "up to 50\u202f% of the largest, limit 10\u202f%). Not judged, "
        "because not measured: 1."
    )


def test_the_first_of_the_owners_limits_is_told_and_the_others_are_counted():
    def purpose(*limits):
        result = apartments_result()
        report = {**result.run.config["report"], "limits": limits}
        return said(build_view(configured(result, report=report)), "purpose")

    assert "The owner" not in purpose().replace("The owner stated", "")
    assert "The owner's limits: One city only. The owner stated" in purpose(
        "One city only"
    )
    assert "One city only. And 2 more (the whole list)." in purpose(
        "One city only", "b", "c"
    )


@pytest.mark.parametrize(
    ("largest", "text"),
    [(9000.0, "9\u202f000.0"), (12.0, "12.000"), (90000.0, "90\u202f000")],
)
def test_numbers_have_at_most_five_digits_of_the_largest(largest, text):
    view = of_models({"m": (largest, largest / 2, largest / 4)}, sd=1e-4)
    assert column(table(view, "tab-executive"), "Rise")[0] == text


@pytest.mark.parametrize(
    ("losses_of", "by"), [(("rmse",), ""), (("rmse", "mae"), " by E1, RMSE")]
)
def test_differences_and_counts_name_their_measure_if_there_are_others(losses_of, by):
    records = [
        made_importance(model, "abc", (9.0, 5.0, mean), sd=0.1, loss=loss)
        for loss in losses_of
        for model, mean in (("m", 0.0), ("k", 3.0))
    ]
    view = view_of_records(*records)
    assert f"Clearly unequal{by} (intervals apart" in said(view, "differ")
    (note, *_) = (plain(note) for note in table(view, "tab-executive").notes)
    assert note == f"Not told from zero{by} (rank –): 1 of 3 in m."


def test_a_difference_has_its_value_in_every_model_that_has_the_feature():
    means = {"m": (9.0, 5.0), "k": (9.0, 5.0, 0.0), "l": (9.0, 5.0, 3.0)}
    text = said(of_models(means, sd=0.1), "differ")
    assert re.search(r"other\): c \([^;]* in k and 3\.0+ in l\)\.$", text)
    means["m"] = (9.0, 5.0, 3.2)
    text = said(of_models(means, sd=0.1), "differ")
    assert re.search(r"other\): c \(3\.20+ in m, [^;]* in k and 3\.0+ in l\)\.$", text)


def test_a_single_feature_is_never_cut():
    def shown(n):
        names = [f"f{i}" for i in range(n)]
        view = view_of_records(made_importance("m", names, range(n, 0, -1), sd=0.01))
        return len(table(view, "tab-executive").rows)

    assert [shown(n) for n in (9, 10, 11)] == [9, 10, 9]


def test_of_a_run_that_ended_early_what_was_measured_is_to_be_decided():
    end = found("interrupted", severity="failure", message="Stopped.")
    gap = found("train_test_gap", "bad, rmse", "info", message="m.")
    fit = found("dependent_leader", "bad", evidence={"cluster": 1}, message="m.")
    view = two_models(findings=[end, fit, gap])
    assert said(view, "decide") == (
        "Run the audit again; on what was not measured nothing can be decided. "
        "Meanwhile: (3) whether bad may be used (1.00 in training, 30.00 on new rows)."
    )


def test_a_run_without_a_purpose_says_so():
    result = configured(apartments_result(), report={})
    assert said(build_view(result), "purpose") == (
        "Purpose: not stated. The owner stated no expectation to compare with."
    )


def test_a_rank_is_followed_by_its_interval():
    row = (1, "top", "bad", "b", 2.0, "not as expected")
    view = two_models(row_intervals=INTERVALS, **expecting(row, asked=[(["b"], "top")]))
    assert "rank 2 (E1, interval 1–2) in bad." in said(view, "expected")


def test_the_measure_of_a_leader_is_named_if_another_feature_leads_by_another():
    def headline(other):
        means = (9.0, 3.0, 3.0), other
        records = (made_importance("m", "abc", mean, sd=0.1) for mean in means)
        first, second = records
        second = replace(second, loss="mae", seed=1)
        view = view_of_records(first, second)
        notes = [plain(note) for note in table(view, "tab-executive").notes]
        others = "".join(note for note in notes if "other measures" in note)
        return said(view, "headline"), others

    assert headline((5.0, 4.0, 1.0)) == ("a leads", "")
    by_other = "By other measures lead: b (E1, MAE)."
    assert headline((4.0, 5.0, 1.0)) == ("a leads (E1, RMSE)", by_other)


def test_every_share_of_a_feature_that_is_not_at_zero_is_listed():
    """Also where another one that is expected there is farther from zero."""
    means = {"m": (10.0, 5.0, 1.5), "k": (10.0, 1.5, 6.0), "l": (10.0, 0.5, 7.0)}
    rows = [
        (1, "zero", model, farthest, 2.0, "not as expected")
        for model, farthest in {"m": "b", "k": "c", "l": "c"}.items()
    ]
    found = expecting(*rows, asked=[(["b", "c"], "zero")])
    found["expected"] = found["expected"].assign(
        record=[0, 1, 2], share=[0.5, 0.6, 0.7]
    )
    text = said(of_models(means, sd=0.1, **found), "expected").replace("\u202f", "")
    assert text.endswith(
        "Not met: b without importance (Law); 50% of the largest importance (E1) "
        "in m; 15% of the largest importance (E1) in k. Also not without importance: c "
        "(up to 70% of the largest importance in l, E1)."
    )


def test_rankings_in_which_a_feature_is_not_told_from_zero_are_listed_at_once():
    rows = [(1, "top", "m", "c", 3.0, "not as expected")] * 2
    records = [
        made_importance("m", "abc", (50.0, 30.0, 0.1), loss=loss)
        for loss in ("rmse", "mae")
    ]
    found = expecting(*rows, asked=[(["c"], "top")])
    found["expected"]["record"] = [0, 1]
    view = view_of_records(*records, **found)
    words = "not told from zero (E1, RMSE; E1, MAE) in m."
    assert words in said(view, "expected")


@pytest.mark.parametrize(
    ("models", "named", "is_outside"),
    [
        # In bad a leads, so that b, second of three, is among the first two.
        (BOTH, ["c", "b"], False),
        ({"d": (9.0, 8.0, 2.0, 1.0)}, ["d", "c"], True),
    ],
)
def test_every_feature_that_is_outside_the_first_is_named(models, named, is_outside):
    row = (1, "top", next(iter(models)), named[0], 4.0, "not as expected")
    view = of_models(models, sd=0.1, **expecting(row, asked=[(named, "top")]))
    text = said(view, "expected")
    assert ("outside the first" in text) is is_outside
    assert not is_outside or text.endswith(
        "Also outside the first 2: c (worst rank 3 in d, E1)."
    )


def test_the_groups_of_every_model_are_told_in_the_order_of_the_models():
    result = apartments_result()

    def told(without=()):
        records = [
            r for r in result.importances if r.of != "groups" or r.model not in without
        ]
        view = build_view(replace(result, importances=tuple(records)))
        notes = plain(sum(table(view, "tab-executive").notes, ()))
        return re.search(r"Groups in [^.]*\)([^.]|\.\d)*\.", notes)[0]

    assert told() == (
        "Groups in all 3 models (E2): place 788.4, 663.7 and 659.2; "
        "size 348.7, 299.9 and 185.9."
    )
    assert told(without=["forest"]) == (
        "Groups in svm and linear (E2): place 788.4 and 659.2; size 348.7 and 185.9."
    )
    assert told(without=["forest", "linear"]) == (
        "Groups in svm (E2): place 788.4; size 348.7."
    )
