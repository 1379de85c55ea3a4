"""Section H: what was found, what nobody asked, and which ranks features could take."""

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest
from tests.report.made_records import made_rows
from tests.report.made_results import apartments_result
from tests.report.made_variants import (
    apartments_view,
    plain_result,
    plain_view,
    view_of_records,
)
from tests.report.reading import column, figure, heads_of, lede_of, table
from tests.report.svg_reader import groups, mark, points

from importance_audit.report.figures.ranks import draw_rank_intervals
from importance_audit.report.text.blocks import plain


def lede(**changes):
    return lede_of(plain_view(("a", "b"), **changes), "H")


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


RANKS = "tab-ranks-forest-permutation-features-rmse"


def trials(*repeats, resamples=(), **fields):
    """Return a view of features a, b, … with these repeats, and ranks on rows."""
    names = tuple("abcd"[: len(repeats)])
    raw = 283.0 + np.array(repeats, dtype=float)
    (record,) = plain_result(names).importances
    base = np.full(raw.shape[1], 283.0)
    record = replace(record, raw=raw, baseline=base, **fields)
    ranks = made_rows("resampled_ranks", "feature rank resamples", *resamples, record=0)
    stable = {"rank_low": 1, "rank_high": 2, "p_top_k": 1.0, "record": 0}
    stable |= {"repeats_to_settle": 2.0, "resamples": 50}
    rows = [(name,) for name in names if resamples]
    stability = made_rows("stability", "feature", *rows, **stable)
    return view_of_records(record, stability=stability, resampled_ranks=ranks)


def intervals(view):
    return figure(view, "fig-rank-intervals")


def test_ranks_on_resampled_rows_stand_beside_those_of_the_draws():
    ranks = (("a", 1.0, 40), ("a", 2.0, 10), ("b", 2.0, 40), ("b", 1.0, 10))
    view = trials((3, 3), (1, 2), resamples=ranks)
    counts = column(table(view, RANKS), "On 50 resamples of the rows")
    assert counts == ["1: 80\u202f%, 2: 20\u202f%", "2: 80\u202f%, 1: 20\u202f%"]
    assert table(view, RANKS).is_single
    caption = plain(intervals(view).caption)
    assert "dashed: 95\u202f% interval of the ranks" in caption


def test_resamples_that_all_rank_alike_have_no_table():
    view = trials((3, 3), (1, 2), resamples=(("a", 1.0, 50), ("b", 2.0, 50)))
    assert RANKS not in {item.id for item in view.tables}


@pytest.mark.parametrize(
    "fields", [{"stream": ""}, {"method": "random_subspace", "options": {}}]
)
def test_what_is_not_drawn_or_is_one_ensemble_has_no_trials(fields):
    view = trials((3, 3), (1, 2), **fields)
    assert intervals(view) is None


def test_intervals_are_those_of_the_ranking_and_the_headline_counts_the_settled():
    """Far apart a is first alone; b and c are told apart by nothing."""
    view = trials((9, 9.1, 8.9), (2, 3, 1), (1, 3, 2))
    shown = intervals(view)
    ((_, rows),) = shown.data["panels"]
    assert rows[["draws_low", "draws_high"]].to_numpy().tolist() == [[2.0, 3.0]] * 2
    assert "Features with certain ranks are not shown: 1." in plain(shown.caption)
    headline = plain(shown.headline)
    assert headline == "forest: 1 of 3 ranks certain under other shuffles."


def test_of_more_than_forty_features_the_first_are_drawn():
    (record,) = plain_result([f"x{n:02}" for n in range(45)]).importances
    raw = np.random.default_rng(1).normal(283.0, 1.0, record.raw.shape)
    view = view_of_records(replace(record, raw=raw))  # nothing tells them apart
    assert len(intervals(view).data["names"]) == 12


def ranks_svg(*rows):
    names = [f"f{n}" for n in range(len(rows))]
    ends = ("draws_low", "draws_high", "rows_low", "rows_high")
    panels = [("forest", pd.DataFrame(rows, columns=["rank", *ends]))]
    return draw_rank_intervals(panels, names=names, axis_label="rank").svg("fig")


def test_a_line_reaches_over_the_ranks_that_are_open():
    svg = ranks_svg((1.0, 1.0, 3.0, nan, nan), (3.0, 2.0, 3.0, nan, nan))
    first, second = (points(group) for group in groups(svg, "interval"))
    assert first[0][0] == pytest.approx(mark(svg, "rank-0-0")[0], abs=1e-3)
    assert second[1][0] == pytest.approx(mark(svg, "rank-0-1")[0], abs=1e-3)
    assert first[1][0] == pytest.approx(second[1][0], abs=1e-3)
