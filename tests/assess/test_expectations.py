"""What an owner expects of a ranking: when it is borne out, and what is said if not."""

from dataclasses import replace

import numpy as np
import pytest
from tests.auditing.test_audit import audited, linear
from tests.report.made_records import made_importance

from importance_audit.assess.expectations import ExpectedSection, judge
from importance_audit.records.errors import ConfigError

NAMES = ("a", "b", "c", "d")


def expect(place, *features, **keys):
    return ExpectedSection(features=features, place=place, reason="law", **keys)


def judged(section, *records, resolution=0.1):
    rows, findings = judge((section,), records, resolution=resolution)
    return [row["verdict"] for row in rows], findings


def ranking(*means, model="m", **fields):
    return made_importance(model, NAMES[: len(means)], means, **fields)


@pytest.mark.parametrize(
    ("features", "verdict"),
    [("ba", "as expected"), ("b", "not as expected"), ("ac", "not as expected")],
)
def test_on_top_means_among_the_first_as_many_as_are_named(features, verdict):
    assert judged(expect("top", *features), ranking(9, 5, 2))[0] == [verdict]


@pytest.mark.parametrize(
    ("features", "means", "first"),
    [
        ("a", (9, 9, 2), "'a', 'b'"),
        ("ab", (9, 5, 5), "'a', 'b', 'c'"),
    ],
)
def test_who_shares_the_last_place_on_top_with_others_is_not_on_top(
    features, means, first
):
    record = ranking(*means, stream="")
    rows, _ = judge((expect("top", *features),), (record,), resolution=0.1)
    assert (rows[0]["verdict"], rows[0]["first"]) == ("not as expected", first)


@pytest.mark.parametrize(
    ("mean", "sd", "verdict"),
    [
        (-3.0, 5.0, "as expected"),  # 2.26 * 5 / sqrt(10) = 3.6 covers it
        (-3.0, 4.0, "not as expected"),  # 2.9 does not
        (0.4, 0.001, "as expected"),  # 4 % of the largest
        (0.6, 0.001, "not as expected"),
    ],
)
def test_zero_means_within_the_error_or_below_the_resolution(mean, sd, verdict):
    noise = np.tile([-1.0, 1.0], 5) * sd * np.sqrt(0.9)  # ddof 1: exactly sd
    raw = np.array([10.0, mean])[:, np.newaxis] + noise
    record = replace(ranking(10, mean), raw=raw)
    assert judged(expect("zero", "b"), record, resolution=0.05)[0] == [verdict]


def over_rows(high):
    """Return the interval of 'b' over other rows, in the first ranking."""
    ends = {"low": high - 1, "high": high}
    return {"record": 0, "feature": "b", "route": "resampled", **ends}


@pytest.mark.parametrize(
    ("mean", "intervals", "is_zero"),
    [
        (-0.4, [], False),  # 4 % of the largest: by the repeats
        (-0.4, [over_rows(-0.1)], False),
        (-0.4, [over_rows(0.1)], True),  # other rows explain it
        (-0.4, [over_rows(-0.1) | {"record": 1}, over_rows(0.1)], True),
        (-0.4, [over_rows(0.1) | {"route": ""}], False),
        (-4, [over_rows(0.5)], True),
        (-4, [over_rows(-0.5)], False),
        (4, [over_rows(4.5)], False),
        (0.5, [over_rows(0.9)], True),
    ],
)
def test_what_shuffling_makes_better_or_other_rows_tell_from_zero_is_not_at_zero(
    mean, intervals, is_zero
):
    """Repeats on the same rows would tell each of these from zero."""
    rows, findings = judge(
        (expect("zero", "b"),),
        (ranking(10, mean, sd=0.001),),
        resolution=0.045,
        row_intervals=intervals,
    )
    assert (rows[0]["verdict"] == "as expected") == is_zero
    better = ["makes the model better" in f.message for f in findings]
    assert better == ([] if is_zero else [mean < 0])


def test_what_is_below_zero_is_a_note_and_far_below_it_a_warning():
    (note,) = judged(expect("zero", "b"), ranking(10, -0.4, sd=0.001))[1]
    assert (note.severity, note.message) == (
        "info",
        "The owner expects 'b' to have no importance (law). Rankings that disagree: 1 "
        "of 1; by permutation, RMSE, shuffling 'b' makes the model better.",
    )
    (warning,) = judged(expect("zero", "b"), ranking(10, -4, sd=0.001))[1]
    assert warning.severity == "warning"
    assert [f.evidence["within_resolution"] for f in (note, warning)] == [True, False]
    assert warning.message.endswith(", by 40% of the largest importance.")


@pytest.mark.parametrize(
    ("method", "loss", "found"),
    [
        ("drop_column", "rmse", "'b' lies below the value of no importance"),
        ("impurity", "", "'b' lies below the value of no importance"),
    ],
)
def test_what_shuffled_nothing_is_not_said_to_be_shuffled(method, loss, found):
    record = ranking(10, -2.7, sd=0.001, method=method, loss=loss)
    (warning,) = judged(expect("zero", "b"), record)[1]
    end = f", {found}, by 27% of the largest importance."
    assert warning.message.endswith(end)


def test_a_sign_that_no_shuffling_has_given_says_nothing_of_the_model():
    impurity = ranking(10, -0.4, method="impurity", loss="", stream="")
    assert judged(expect("zero", "b"), impurity)[0] == ["as expected"]


@pytest.mark.parametrize("form", ["ratio", "raw"])
def test_zero_of_a_ratio_is_one_and_of_a_loss_the_loss_as_it_is(form):
    record = ranking(20, 0, sd=0.0, baseline=20.0, form=form)
    assert judged(expect("zero", "b"), record)[0] == ["as expected"]
    assert judged(expect("zero", "a"), record)[0] == ["not as expected"]


def test_what_was_not_measured_or_has_no_zero_is_not_judged():
    lost = ranking(9, np.nan, np.inf)
    assert judged(expect("top", "b"), lost)[0] == ["not measured"]
    assert judged(expect("zero", "a"), lost)[0] == ["not measured"]
    perf = ranking(9, 0, method="random_subspace")
    assert judged(expect("zero", "b"), perf) == (["not measured"], [])


@pytest.mark.parametrize("place", ["top", "zero"])
def test_what_no_ranking_measures_whole_is_said_to_be_not_measured(place):
    section = expect(place, "a", "c")
    rankings = ranking(9, 5), ranking(9, 5, 2, loss="mae")
    rows, _ = judge((section,), rankings, resolution=0.1)
    assert [row["record"] for row in rows] == [1]
    (row,), findings = judge((section,), [ranking(9, 5)], resolution=0.1)
    assert (row["verdict"], row["farthest"]) == ("not measured", "c")
    assert np.isnan([row["rank"], row["share"]]).all()
    assert findings == []


def test_only_the_model_that_is_named_is_judged_and_groups_apart_from_features():
    other = ranking(1, 2, model="other")
    assert judged(expect("top", "a", model="m"), ranking(2, 1), other) == (
        ["as expected"],
        [],
    )
    assert judged(expect("top", "a", of="groups"), other)[0] == []


def test_a_twin_in_the_draw_order_of_another_engine_is_judged_once():
    twin, of_dalex = ranking(2, 1, stream="numpy"), ranking(2, 1, engine="DALEX")
    assert judged(expect("top", "a"), ranking(2, 1), twin, of_dalex)[0] == [
        "as expected"
    ]


def test_what_no_ranking_of_a_model_bears_out_is_a_warning():
    (warning,) = judged(expect("top", "b", "c"), ranking(9, 5, 2))[1]
    facts = (warning.check, warning.severity, warning.subject)
    assert facts == ("unexpected", "warning", "m")
    assert warning.message == (
        "The owner expects 'b', 'c' to take the first 2 ranks (law). Rankings that "
        "disagree: 1 of 1; by permutation, RMSE, the first 2 ranks go to 'a', 'b'."
    )


def test_what_some_rankings_bear_out_is_a_note():
    impurity = ranking(1, 0, method="impurity", loss="", stream="")
    (note,) = judged(expect("zero", "b"), ranking(10, 8), impurity)[1]
    assert note.severity == "info"
    assert note.message == (
        "The owner expects 'b' to have no importance (law). Rankings that disagree: 1 "
        "of 2; by permutation, RMSE, 'b' has 80% of the largest importance."
    )


def test_two_rankings_that_both_disagree_are_said_to_be_none_that_agrees():
    second = ranking(9, 5, method="impurity", loss="", stream="")
    (warning,) = judged(expect("top", "b"), ranking(9, 5), second)[1]
    assert warning.severity == "warning"
    assert "(law). Rankings that disagree: 2 of 2; by permutation" in warning.message


def test_a_ranking_of_one_class_is_named_with_that_class():
    of_yes = ranking(9, 5, loss="one_minus_auc", positive_class="yes")
    (warning,) = judged(expect("top", "b"), of_yes)[1]
    assert "; by permutation, 1 − AUC, class yes, the first" in warning.message


def test_a_share_just_beyond_the_limit_does_not_read_like_it():
    (note,) = judged(expect("zero", "b"), ranking(1000, 101, stream=""))[1]
    assert note.message.endswith("'b' has 10.1% of the largest importance.")


def test_an_audit_keeps_what_was_expected_beside_what_was_found():
    expectation = {"features": ["b"], "place": "top", "reason": "It is law."}
    result = audited(linear(), expected=[expectation])
    row = result.expected.iloc[0].to_dict()
    record = result.importances[int(row["record"])]
    facts = (row["first"], row["rank"], row["verdict"])
    assert facts == ("'a'", 2.0, "not as expected")
    assert (record.model, record.method) == (row["model"], "permutation")


def test_names_that_the_audit_does_not_have_cannot_be_expected():
    expectation = {"place": "top", "reason": "It is law."}
    strange = [{"features": ["aa"]}, {"features": ["a"], "model": "x"}]
    with pytest.raises(ConfigError) as error:
        audited(linear(), expected=[expectation | one for one in strange])
    assert len(error.value.problems) == 2
