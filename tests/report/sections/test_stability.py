"""Section H: what the lede says was found, what nobody asked, what stands where."""

from dataclasses import replace

import pytest
from tests.report.made_records import losses_frame, made_rows
from tests.report.made_results import apartments_result, found
from tests.report.made_variants import apartments_view, plain_view, result_of
from tests.report.reading import column, heads_of, lede_of, table

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain


def lede(**changes):
    return lede_of(plain_view(("a", "b"), **changes), "H")


def two_losses(**fields):
    return {"losses": losses_frame({}, fields)}


def resampled(*rank_counts):
    """Return the ranks that the first feature took, (rank, resamples)."""
    of_a = {"record": 0, "feature": "a"}
    frame = made_rows("resampled_ranks", "rank resamples", *rank_counts, **of_a)
    return {"resampled_ranks": frame}


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


def ended(**changes):
    """Return the view of the stopped run as if it had come to its end."""
    result = replace(result_of("stopped"), **changes)
    return build_view(replace(result, run=replace(result.run, status="complete")))


def test_what_was_asked_and_cannot_be_had_is_not_told_as_never_asked():
    assert lede_of(ended(), "H") == (
        "Not examined: rankings recomputed on resampled rows, because the leading "
        "ranking cannot be recomputed in this way; other losses, because no two "
        "rankings of one measure could be compared."
    )


def test_rows_that_a_failed_step_did_not_draw_are_not_told_as_impossible_to_draw():
    failed = (found("method_failed", "forest", "failure"),)
    text = lede_of(ended(findings=failed), "H")
    assert "this gave no result for the leading ranking" in text


STABILITY = "tab-stability-forest-permutation-features-rmse"


def test_many_repeats_to_settle_are_told_in_two_digits():
    rows = apartments_result().stability.assign(repeats_to_settle=147_754.0)
    stability = table(apartments_view(stability=rows), STABILITY)
    assert set(column(stability, "Repeats needed")) == {"about 150\u202f000"}


def test_a_ranking_that_was_not_resampled_says_so():
    rows = apartments_result().stability.assign(resamples=0)
    rows[["rank_low", "rank_high", "p_top_k"]] = float("nan")
    stability = table(apartments_view(stability=rows), STABILITY)
    assert plain(stability.caption).endswith(": its rows were not resampled.")
    assert column(stability, "In the top 3") == ["–"] * 5


def test_what_is_not_drawn_has_no_repeats_to_settle_it():
    first, *others = apartments_result().importances
    still = (replace(first, stream=""), *others)
    stability = table(apartments_view(importances=still), STABILITY)
    assert "Repeats needed" not in heads_of(stability)


def repeated(*ranks_of_b):
    """Return the view of a run whose b has these ranks after 2, 4, 8 repeats."""
    rows = [
        (n, name, rank_of_it)
        for n, rank in zip((2, 4, 8), ranks_of_b, strict=True)
        for name, rank_of_it in (("a", 1.0), ("b", rank), ("c", 4.0 - rank))
    ]
    shared = {"record": 0, "value": 1.0, "std_error": 0.1}
    frame = made_rows("convergence", "n_repeats feature rank", *rows, **shared)
    return plain_view(("a", "b", "c"), convergence=frame)


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
