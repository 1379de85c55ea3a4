"""The tables that read many rankings: what was expected, what the loss changes."""

import pytest
from tests.report.made_records import losses_frame, made_frame, made_run
from tests.report.made_results import apartments_result
from tests.report.made_variants import apartments_view, configured
from tests.report.reading import column, said_in, table, words

from importance_audit.assess.expectations import ExpectedSection, judge
from importance_audit.report.pages.view import build_view

WARSAW = "Location is what the market pays for."


def expecting(place, *features, importances=None, intervals=(), **changes):
    """Return a view of what is expected of these importances, by default of all."""
    expectation = ExpectedSection(features=features, place=place, reason=WARSAW)
    result = apartments_result()
    rows, _ = judge((expectation,), importances or result.importances, resolution=0.1)
    rows = [row | changes for row in rows]
    result = result.with_frames(
        expected=made_frame("expected", rows),
        row_intervals=made_frame("row_intervals", intervals),
    )
    asked = [{"features": features, "place": place}]
    return build_view(configured(result, expected=asked))


FIRST = apartments_result().importances[:1]


def judged(view, head):
    """Return a column of the judgements of each ranking."""
    return column(table(view, "tab-expected"), head)


def test_what_is_expected_stands_beside_what_each_ranking_found():
    view = expecting("top", "surface")
    measures = judged(view, "Measure")
    assert measures[:2] == [f"{m}, permutation, RMSE, E1" for m in ("forest", "linear")]
    assert judged(view, "Expected")[0] == f"surface on top: {WARSAW[:-1]}"
    assert judged(view, "Result")[0] == "first: district; surface has rank 2"
    assert set(judged(view, "Verdict")) == {"not as expected"}
    assert (
        "0 of 7 comparisons of an expectation with a ranking came out as expected. "
        "Not as expected: 7." in said_in(view, "F")
    )


def test_how_far_from_zero_is_a_share_of_the_largest():
    means = FIRST[0].mean
    share = f"{100 * means[1] / means[0]:.0f}\u202f%"
    result, *_ = judged(expecting("zero", "surface"), "Result")
    assert result == f"surface has {share} of the largest importance"


def test_below_zero_is_said_whatever_verdict_a_stored_result_has():
    beside = {"record": 0, "feature": "floor", "high": -0.1, "route": "resampled"}
    stored = {"importances": FIRST, "verdict": "as expected", "intervals": [beside]}
    (text,) = judged(expecting("zero", "floor", **stored), "Result")
    assert text.endswith("largest importance; shuffling it makes the model better")


@pytest.mark.parametrize("place", ["top", "zero"])
def test_a_feature_that_no_ranking_measures_has_a_dash(place):
    view = expecting(place, "floor", importances=(FIRST[0].rows([0, 1]),))
    assert judged(view, "Verdict") == ["not measured"]
    assert "–" in judged(view, "Result")[0]


@pytest.mark.parametrize(("share", "text"), [(0.104, "10.4"), (0.1004, "10.04")])
def test_a_share_just_beyond_the_limit_does_not_read_like_it(share, text):
    changes = {"share": share, "verdict": "not as expected"}
    (result,) = judged(
        expecting("zero", "floor", importances=FIRST, **changes), "Result"
    )
    assert result == f"floor has {text}\u202f% of the largest importance"


def test_two_losses_stand_with_their_agreement_and_their_two_leaders():
    view = apartments_view(losses=losses_frame({"leader_b": "'b'"}))
    losses = table(view, "tab-losses")
    assert column(losses, "Ranking") == ["forest, permutation, features, E1"]
    assert column(losses, "Losses") == ["RMSE / MAE"]
    assert column(losses, "In common") == ["67\u202f% of the top 3"]
    assert column(losses, "Leader") == ["a / b"]
    assert "Two leaders" in words(losses.notes)
    same = losses_frame({})
    losses = table(apartments_view(losses=same), "tab-losses")
    assert "Two leaders" not in words(losses.notes)


@pytest.mark.parametrize(
    ("expected", "goal", "asked_for"),
    [
        ([], "domain validation", True),
        ([{"features": ["a"]}], "domain validation", False),
        ([], "exploration", False),
    ],
)
def test_a_domain_validation_without_expectations_was_not_one(
    expected, goal, asked_for
):
    report = {**made_run().config["report"], "goal": goal}
    result = configured(apartments_result(), expected=expected, report=report)
    view = build_view(result)
    items = column(table(view, "tab-untested"), "Item")
    assert ("the ranking against domain knowledge" in items) == asked_for
    assert f"Use of importance: {goal}." in said_in(view, "C")
