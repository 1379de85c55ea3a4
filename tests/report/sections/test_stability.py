"""Section H: what the lede says was found, what nobody asked, what stands where."""

from dataclasses import replace

import pytest
from tests.report.made_records import losses_frame, made_frame
from tests.report.made_results import apartments_result, found
from tests.report.made_variants import plain_result, result_of
from tests.report.reading import column, section, table

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain


def lede(**changes):
    return plain(section(build_view(plain_result(("a", "b"), **changes)), "H").lede)


def two_losses(**fields):
    return {"losses": losses_frame({}, fields)}


def resampled(*rank_counts):
    """Return the ranks that the first feature took, (rank, resamples)."""
    rows = [
        {"record": 0, "feature": "a", "rank": rank, "resamples": n}
        for rank, n in rank_counts
    ]
    return {"resampled_ranks": made_frame("resampled_ranks", rows)}


def test_the_share_of_resamples_that_keep_the_first_place_is_told():
    """A tie for the first place is no first place: 147 of 150."""
    text = lede(**resampled((1.0, 147), (1.5, 1), (2.0, 2)))
    assert "a ranks first in forest in 98\u202f% of 150 resamples" in text
    assert "other rows" not in text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "No choice of the loss changes a first place; Kendall's τb between"),
        ({"leader_b": "'b'"}, "changes the leader in 1 of 2 pairs."),
    ],
)
def test_what_the_loss_changes_is_told(fields, text):
    assert text in lede(**two_losses(**fields))


def test_one_order_under_every_loss_is_said_to_be_one():
    both = lede(**two_losses(), **resampled((1.0, 9)))
    assert "Not examined" not in both
    frame = two_losses()["losses"].assign(kendall=1.0)
    assert "The order is the same under every loss." in lede(losses=frame)


def test_what_was_asked_and_cannot_be_had_is_not_told_as_never_asked():
    stopped = result_of("stopped")
    view = build_view(replace(stopped, run=replace(stopped.run, status="complete")))
    assert plain(section(view, "H").lede) == (
        "Not examined: rankings recomputed on resampled rows, because the leading "
        "ranking cannot be recomputed in this way; other losses, because no two "
        "rankings of one measure could be compared."
    )


def test_rows_that_a_failed_step_did_not_draw_are_not_told_as_impossible_to_draw():
    stopped = result_of("stopped")
    run = replace(stopped.run, status="complete")
    failed = (found("method_failed", "forest", "failure"),)
    view = build_view(replace(stopped, run=run, findings=failed))
    text = plain(section(view, "H").lede)
    assert "this gave no result for the leading ranking" in text


STABILITY = "tab-stability-forest-permutation-features-rmse"


def test_many_repeats_to_settle_are_told_in_two_digits():
    rows = apartments_result().stability.assign(repeats_to_settle=147_754.0)
    stability = table(build_view(apartments_result(stability=rows)), STABILITY)
    assert set(column(stability, "Repeats needed")) == {"about 150\u202f000"}


def test_a_ranking_that_was_not_resampled_says_so():
    rows = apartments_result().stability.assign(resamples=0)
    rows[["rank_low", "rank_high", "p_top_k"]] = float("nan")
    stability = table(build_view(apartments_result(stability=rows)), STABILITY)
    assert plain(stability.caption).endswith(": its rows were not resampled.")
    assert column(stability, "In the top 3") == ["–"] * 5


def test_what_is_not_drawn_has_no_repeats_to_settle_it():
    result = apartments_result()
    first, *others = result.importances
    still = (replace(first, stream=""), *others)
    stability = table(build_view(apartments_result(importances=still)), STABILITY)
    assert "Repeats needed" not in [plain(head.label) for head in stability.columns]


def repeated(*ranks_of_b):
    """Return the view of a run whose b has these ranks after 2, 4, 8 repeats."""
    rows = [
        {"record": 0, "n_repeats": n, "feature": name, "value": 1.0, "std_error": 0.1}
        | {"rank": rank if name == "b" else 4.0 - rank if name == "c" else 1.0}
        for n, rank in zip((2, 4, 8), ranks_of_b, strict=True)
        for name in "abc"
    ]
    frame = made_frame("convergence", rows)
    return build_view(plain_result(("a", "b", "c"), convergence=frame))


@pytest.mark.parametrize(
    ("ranks", "is_moved"), [((2, 3, 2), True), ((3, 2, 2), False), ((2, 2, 2), False)]
)
def test_convergence_is_drawn_where_the_second_half_of_the_repeats_moves_a_rank(
    ranks, is_moved
):
    view = repeated(*map(float, ranks))
    id_ = "tab-convergence-forest-permutation-features-rmse"
    assert table(view, id_).is_single is not is_moved
    assert bool([f for f in view.figures if "convergence" in f.id]) is is_moved
