"""How alike rankings are: the numbers of the matrices, and what is left out."""

import pytest
from tests.report.made_records import made_frame, made_importance
from tests.report.made_results import apartments_result
from tests.report.made_variants import view_of
from tests.report.reading import column, words

from pipeline.report.blocks import plain
from pipeline.report.view import build_view

NAMES = ("a", "b", "c", "d")
NAN = float("nan")
STILL = {"sd": 0.0, "repeats": 2}


def matrices(*records):
    """Return the tables of some records, by name."""
    result = apartments_result(
        importances=records, effects=(), stability=made_frame("stability")
    )
    found = build_view(result).tables
    return {item.id: item for item in found if item.id.startswith("tab-matrix")}


def measured(means, method="permutation", model="forest", names=NAMES, **fields):
    return made_importance(model, names, means, method=method, **STILL, **fields)


def two(means, names=NAMES):
    """Return both tables of a ranking of four features, a to d, and another one."""
    first = measured((4, 3, 2, 1), loss="rmse")
    second = measured(means, loss="mae", names=names)
    found = matrices(first, second)
    return found["tab-matrix-ranks-of-forest"], found["tab-matrix-first-of-forest"]


def test_spearman_stands_above_the_diagonal_and_kendall_below():
    """One neighbouring swap of four: 1 - 6 * 2 / 60, and (5 - 1) / 6."""
    ranks, _ = two((3, 4, 2, 1))
    cells = [[plain(cell.parts) for cell in row.cells[2:]] for row in ranks.rows]
    assert cells == [["–", "0.80"], ["0.67", "–"]]


def test_leaders_in_common_stand_above_the_features_compared():
    """Of a, b, c and of b, c, d two are the same."""
    _, first = two((1, 2, 3, 4))
    cells = [[plain(cell.parts) for cell in row.cells[2:]] for row in first.rows]
    assert cells == [["–", "67\u202f%"], ["4", "–"]]


def test_features_are_matched_by_name():
    ranks, _ = two((1, 2, 3, 4), names=NAMES[::-1])
    assert column(ranks, "2")[0] == "1.00"


def test_what_one_side_has_not_measured_is_not_compared():
    ranks, first = two((NAN, 1, 2, 3))
    assert (column(ranks, "2")[0], column(first, "1")[1]) == ("−1.00", "3")


@pytest.mark.parametrize("means", [(1, 1, 1, 1), (NAN, NAN, NAN, NAN)])
def test_where_nothing_can_be_said_there_is_a_dash(means):
    ranks, _ = two(means)
    assert [column(ranks, "2")[0], column(ranks, "1")[1]] == ["–", "–"]


def test_models_are_held_against_each_other_by_each_measure():
    """The linear model swaps two neighbours of five: 1 - 6 * 2 / 120."""
    tables = view_of("apartments").tables
    by_model = "tab-matrix-ranks-by-permutation-features"
    found = next(item for item in tables if item.id.startswith(by_model))
    assert column(found, "Ranking") == ["forest", "linear", "svm"]
    assert column(found, "3") == ["1.00", "0.90", "–"]


def test_more_rankings_than_columns_are_named():
    models = [f"m{place:02}" for place in range(14)]
    found = matrices(*(measured((4, 3, 2, 1), model=name) for name in models))
    ranks = next(item for name, item in found.items() if "ranks-by" in name)
    assert column(ranks, "Ranking") == models[:12]
    assert "No place for 2 rankings more: m12; m13." in words(ranks.notes)


def test_one_ranking_has_no_matrix():
    assert matrices(measured((4, 3, 2, 1))) == {}
