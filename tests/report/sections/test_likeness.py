"""How alike rankings are: their numbers, the least alike first, none left out."""

import pytest
from tests.report.made_records import made_frame, made_importance
from tests.report.made_results import apartments_result
from tests.report.made_variants import view_of
from tests.report.reading import column, section

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

NAMES = ("a", "b", "c", "d")
NAN = float("nan")
STILL = {"sd": 0.0, "repeats": 2}


def pairs(*records):
    """Return the table of some records, None if there is none."""
    result = apartments_result(
        importances=records, effects=(), stability=made_frame("stability")
    )
    tables = [t for t in build_view(result).tables if t.id == "tab-likeness"]
    return tables[0] if tables else None


def measured(means, method="permutation", model="forest", names=NAMES, **fields):
    return made_importance(model, names, means, method=method, **STILL, **fields)


def two(means, names=NAMES):
    """Return the row of a ranking of four features, a to d, and another one."""
    first = measured((4, 3, 2, 1), loss="rmse")
    likeness = pairs(first, measured(means, loss="mae", names=names))
    (row,) = likeness.rows
    return [plain(cell.parts) for cell in row.cells]


def test_two_measures_of_one_model_stand_in_a_row_with_both_correlations():
    """One neighbouring swap of four: 1 - 6 * 2 / 60, and (5 - 1) / 6."""
    model, both, *numbers = two((3, 4, 2, 1))
    assert (model, both) == ("forest", "E1 permutation, RMSE and E1 permutation, MAE")
    assert numbers == ["0.80", "0.67", "100\u202f%", "4"]


def test_leaders_in_common_are_a_share():
    """Of a, b, c and of b, c, d two are the same."""
    assert two((1, 2, 3, 4))[4] == "67\u202f%"


def test_features_are_matched_by_name():
    assert two((1, 2, 3, 4), names=NAMES[::-1])[2] == "1.00"


def test_what_one_side_has_not_measured_is_not_compared():
    cells = two((NAN, 1, 2, 3))
    assert (cells[2], cells[5]) == ("−1.00", "3")


@pytest.mark.parametrize("means", [(1, 1, 1, 1), (NAN, NAN, NAN, NAN)])
def test_where_nothing_can_be_said_there_is_a_dash(means):
    assert two(means)[2:4] == ["–", "–"]


def test_models_are_held_against_each_other_by_each_measure():
    """The linear model swaps two neighbours of five: 1 - 6 * 2 / 120."""
    likeness = next(t for t in view_of("apartments").tables if t.id == "tab-likeness")
    shared = [
        cells
        for cells in zip(
            *(column(likeness, head) for head in ("Shared", "Compared", "Spearman")),
            strict=True,
        )
        if cells[0] == "E1 permutation, RMSE"
    ]
    assert [cells[1:] for cells in shared] == [
        *(("forest and linear", "0.90"), ("linear and svm", "0.90")),
        ("forest and svm", "1.00"),
    ]


def test_of_many_pairs_the_least_alike_are_shown_and_all_are_kept():
    """One of seven models ranks the other way round: six pairs at -1."""
    orders = [(4, 3, 2, 1)] * 6 + [(1, 2, 3, 4)]
    records = [measured(means, model=f"m{n}") for n, means in enumerate(orders)]
    likeness = pairs(*records)
    assert column(likeness, "Spearman") == ["−1.00"] * 6 + ["1.00"] * 4 + ["–"]
    assert column(likeness, "Compared")[-1] == "the other 11"
    assert len(likeness.everything.rows) == 21


def test_one_ranking_is_like_no_other():
    assert pairs(measured((4, 3, 2, 1))) is None


def least(*records):
    """Return what page one says of the models that agree least."""
    return alike(*records)[-1]


def alike(*records):
    none = {"effects": (), "stability": made_frame("stability")}
    view = build_view(apartments_result(importances=records, **none))
    return [plain(text) for text in section(view, "B").parts["alike"]]


def test_page_one_names_the_measure_by_which_two_models_agree_least():
    """By the first measure they agree; by the second, the order is reversed."""
    order, other = (4, 3, 2, 1), {"loss": "mae"}
    records = [
        *(measured(order), measured(order, model="linear")),
        *(measured(order, **other), measured(order[::-1], model="linear", **other)),
    ]
    assert least(*records).startswith(
        "Lowest rank correlation of the two models: −1.00 (E1 permutation, MAE)."
    )
    assert least(*records[:2]) == (
        "Rank correlation of the two models: 1.00 (E1 permutation, RMSE)."
    )


def test_a_leader_of_all_models_is_named_without_their_names():
    same = [measured((40, 3, 2, 1), model=m) for m in ("forest", "linear", "svm")]
    assert alike(*same)[0] == "a leads in all 3 models."
    assert alike(*same[:2])[0] == "a leads in both models."
    same[1] = measured((3, 40, 2, 1), model="linear")
    assert alike(*same[:2])[0] == "a leads in forest. b leads in linear."
