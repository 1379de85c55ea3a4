"""Section H: what the lede says was found, what nobody asked, what stands where."""

from dataclasses import replace

import pytest
from tests.report.made_records import made_frame, made_run
from tests.report.made_results import apartments_result
from tests.report.made_variants import plain_result, view_of
from tests.report.reading import section

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

LOSSES = {
    **{"model": "forest", "method": "permutation", "of": "features"},
    **{"positive_class": "", "loss_a": "rmse", "loss_b": "mae"},
    **{"record_a": 0, "record_b": 1, "n_features": 5, "kendall": 0.6},
    **{"top_k": 3, "top_k_overlap": 2 / 3, "leader_a": "'a'", "leader_b": "'a'"},
}


def lede(**changes):
    return plain(section(build_view(plain_result(("a", "b"), **changes)), "H").lede)


def two_losses(**fields):
    return {"losses": made_frame("losses", [LOSSES, {**LOSSES, **fields}])}


def resampled(*taken):
    """Return the ranks that the first feature took, (rank, resamples)."""
    rows = [
        {"record": 0, "feature": "a", "rank": rank, "resamples": n} for rank, n in taken
    ]
    return {"resampled_ranks": made_frame("resampled_ranks", rows)}


def test_the_share_of_resamples_that_keep_the_first_place_is_told():
    """A tie for the first place is no first place: 147 of 150."""
    told = lede(**resampled((1.0, 147), (1.5, 1), (2.0, 2)))
    assert "a keeps the first place of forest in 98\u202f% of 150 resamples" in told
    assert "other rows" not in told


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "The same feature leads under every loss; the orders agree to"),
        ({"leader_b": "'b'"}, "changes the leader in 1 of 2 pairs."),
    ],
)
def test_what_the_loss_changes_is_told(fields, told):
    assert told in lede(**two_losses(**fields))


def test_one_order_under_every_loss_is_said_to_be_one():
    frame = two_losses()["losses"].assign(kendall=1.0)
    assert "The order is the same under every loss." in lede(losses=frame)


def test_what_nobody_asked_is_said_of_this_run():
    told = lede()
    assert "because no [stability] is configured" in told
    assert "because no measure was asked with two" in told


def test_a_ranking_whose_rows_cannot_be_drawn_anew_is_no_missing_section():
    run = plain_result(("a",)).run
    config = {**run.config, "stability": {"resamples": 50}}
    told = lede(run=replace(made_run(), config=config))
    assert "those of the leading ranking cannot be drawn anew" in told
    assert "no [stability]" not in told


def test_groups_stand_in_the_order_of_the_questions():
    view = build_view(apartments_result(**two_losses()))
    groups = section(view, "H").parts["groups"]
    assert [group.id for group in groups] == [
        *("losses", "firm-ranks", "firm-rows", "firm-likeness")
    ]


def test_a_run_without_a_ranking_says_so():
    told = section(view_of("interrupted"), "H")
    assert plain(told.lede).startswith("Nothing was ranked in this run")
    assert told.is_brief
