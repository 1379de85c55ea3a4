"""The table of stability below a ranking."""

from dataclasses import replace

from tests.report.made_records import made_frame
from tests.report.made_results import apartments_result
from tests.report.made_variants import plain_result, view_of
from tests.report.reading import column, section, table, words

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import Link, Table, plain, walk

RANKING = "tab-ranking-forest-permutation-features-rmse"
STABILITY = "tab-stability-forest-permutation-features-rmse"


def test_stability_stands_in_section_h_and_its_ranking_links_to_it():
    view = view_of("apartments")
    of_f, of_h = (walk(section(view, letter)) for letter in "FH")
    tables = [block.id for block in of_h if isinstance(block, Table)]
    assert STABILITY in tables
    blocks = list(of_f)
    ranking = next(i for i, b in enumerate(blocks) if getattr(b, "id", "") == RANKING)
    assert Link(STABILITY) in blocks[ranking + 1]


def test_ranks_shares_and_repeats_stand_in_the_order_of_the_ranking():
    found = table(view_of("apartments"), STABILITY)
    assert column(found, "Feature")[0] == "district"
    assert column(found, "Ranks, 95\u202f% of resamples") == [
        *("1–2", "1–2", "3", "4–5", "4–5")
    ]
    assert column(found, "In the first 3")[2:4] == ["90\u202f%", "10\u202f%"]
    assert column(found, "Repeats to settle") == [
        *("2", "7", "1.0e9", "not by repeats", "–")
    ]


def test_many_repeats_to_settle_are_told_in_two_digits():
    rows = apartments_result().stability.assign(repeats_to_settle=147_754.0)
    found = table(build_view(apartments_result(stability=rows)), STABILITY)
    assert set(column(found, "Repeats to settle")) == {"about 150\u202f000"}


def test_resamples_and_those_that_lack_a_feature_are_told():
    found = table(view_of("apartments"), STABILITY)
    assert "over 50 resamples of its 9\u202f000 rows" in plain(found.caption)
    assert "in so many only: floor (49)." in words(found.notes)
    assert "this run has 10 repeats" in words(found.notes)


def test_a_ranking_that_was_not_resampled_says_so():
    rows = apartments_result().stability.assign(resamples=0)
    rows[["rank_low", "rank_high", "p_top_k"]] = float("nan")
    found = table(build_view(apartments_result(stability=rows)), STABILITY)
    assert plain(found.caption).endswith(": its rows were not resampled.")
    assert column(found, "In the first 3") == ["–"] * 5


def test_what_is_not_drawn_has_no_repeats_to_settle_it():
    result = apartments_result()
    first, *others = result.importances
    still = (replace(first, stream=""), *others)
    found = table(build_view(apartments_result(importances=still)), STABILITY)
    assert "Repeats to settle" not in [plain(head.label) for head in found.columns]


def test_a_long_ranking_is_cut_alike_and_whole_in_the_appendix():
    names = [f"x{n:02}" for n in range(30)]
    rows = [
        {"feature": name, "rank_low": 1, "rank_high": 30, "p_top_k": 0.1}
        | {"repeats_to_settle": 3.0, "resamples": 9, "record": 0}
        for name in names
    ]
    view = build_view(plain_result(names, stability=made_frame("stability", rows)))
    found = table(view, STABILITY)
    assert (len(found.rows), len(found.everything.rows)) == (21, 30)
    assert column(found, "Feature")[-1] == "the other 10"
