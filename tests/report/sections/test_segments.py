"""What the report says of segments, from frames whose answer is known."""

from math import isnan

import pytest
from tests.report.made_records import made_rows
from tests.report.made_results import apartments_result
from tests.report.reading import cells_of, section

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

NAN = float("nan")


def result(levels, *, importances=(), kind="level"):
    """Return a result with segments: (level, loss, error, predicted, low, high).

    One whose loss is not known has too few rows to be judged.
    """
    who = {"segment": "district", "kind": kind}
    judged = [level for level in levels if not isnan(level[1])]
    quality = made_rows(
        "segment_performance",
        "level value std_error rows",
        *((*level[:3], 100 if level in judged else 20) for level in levels),
        **{"model": "forest", "loss": "rmse", **who},
    )
    calibration = made_rows(
        "segment_calibration",
        "level predicted low high",
        *((level, *numbers) for level, _, _, *numbers in judged),
        **{"model": "forest", "positive_class": "", "rows": 100, "observed": 10.0},
        **who,
    )
    told = made_rows(
        "segment_importances",
        "level feature mean",
        *importances,
        **{"record": 0, "std_error": 1.0, **who},
    )
    return apartments_result().with_frames(
        segment_performance=quality,
        segment_calibration=calibration,
        segment_importances=told,
    )


def blocks(made):
    """Return the sentences and the table of the group, empty if there is none."""
    groups = section(build_view(made), "F").parts["groups"]
    group = [group for group in groups if group.id == "segments"]
    return [block for one in group for block in one.blocks]


def sentence(made):
    return plain(blocks(made)[0])


WITHIN = (10.0, 9.0, 11.0)


def test_worst_and_best_are_named_where_they_differ():
    text = sentence(result([("A", 30.0, 1.0, *WITHIN), ("B", 20.0, 1.0, *WITHIN)]))
    assert "predicts worst in A (RMSE 30.0 ± 1.0) and best in B (20.0 ± 1.0)." in text


@pytest.mark.parametrize("n_more", [0, 18])
def test_what_many_pairs_make_by_chance_is_no_difference(n_more):
    # 3 standard errors of the difference: alone told, among 190 pairs not.
    levels = [("A", 30.0, 1.0, *WITHIN), ("B", 30.0 - 3 * 2**0.5, 1.0, *WITHIN)]
    levels += [(f"more {n}", 28.0, 1.0, *WITHIN) for n in range(n_more)]
    assert ("predicts worst in A" in sentence(result(levels))) is (n_more == 0)
    is_open = "no two segments can be told apart" in sentence(result(levels))
    assert is_open is (n_more > 0)


def test_predictions_outside_the_interval_are_named_with_their_side():
    levels = [
        *(("A", 1.0, 0.1, 8.0, 9.0, 11.0), ("B", 1.0, 0.1, 12.0, 9.0, 11.0)),
        *(("C", 1.0, 0.1, *WITHIN), ("D", 1.0, 0.1, 8.9, 9.0, 11.0)),
    ]
    assert (
        "Mean predictions are too low in A and D and too high in B: in 3 of 4 segments "
        "outside the 95 % interval of what was observed." in sentence(result(levels))
    )
    within = sentence(result(levels[2:3]))
    assert "In every judged segment (1), the mean prediction is within" in within


def test_a_leader_of_all_is_named_once_and_others_with_their_segments():
    levels = [(name, 1.0, 0.1, *WITHIN) for name in "AB"]
    both = [("A", "surface", 9.0), ("A", "floor", 1.0), ("B", "surface", 5.0)]
    assert "In every judged segment, surface leads." in sentence(
        result(levels, importances=both)
    )
    apart = [("A", "surface", 9.0), ("A", "floor", 1.0), ("B", "floor", 5.0)]
    made = result(levels, importances=apart)
    assert "Leading: surface in A; floor in B." in sentence(made)
    cells = [plain(row.cells[-1].parts) for row in blocks(made)[1].rows]
    assert cells == ["surface 9.0 ± 1.0; floor 1.0 ± 1.0", "floor 5.0 ± 1.0"]


def test_what_does_not_matter_in_a_segment_leads_nowhere():
    levels = [("A", 1.0, 0.1, *WITHIN)]
    made = result(levels, importances=[("A", "surface", 0.0), ("A", "floor", -1.0)])
    assert "lead" not in sentence(made)
    assert plain(blocks(made)[1].rows[0].cells[-1].parts) == "–"


def test_a_segment_of_few_rows_stands_in_the_table_without_numbers():
    made = result([("A", NAN, NAN, NAN, NAN, NAN), ("B", 1.0, 0.1, *WITHIN)])
    table = blocks(made)[1]
    cells = cells_of(table.rows[0])
    assert cells == ["A", "20", "–", "–", "–", "–"]
    words = "fewer than 30 rows that weigh something are counted, not judged."
    assert words in " ".join(map(plain, table.notes))
    alone = sentence(result([("A", NAN, NAN, NAN, NAN, NAN)]))
    assert alone.startswith("By district, there is nothing to compare: ")


@pytest.mark.parametrize(
    ("kind", "level", "text"),
    [("missing", "", "no value"), ("others", "12", "12 other values")],
)
def test_rows_without_a_value_and_rare_values_are_called_so(kind, level, text):
    table = blocks(result([(level, 1.0, 0.1, *WITHIN)], kind=kind))[1]
    assert plain(table.rows[0].cells[0].parts) == text


def test_a_number_is_named_with_its_column():
    levels = [("0", 1.0, 0.1, 8.0, 9.0, 11.0), ("1", 1.0, 0.1, *WITHIN)]
    assert "too low in district = 0:" in sentence(result(levels))


def test_one_segment_and_unknown_errors_are_not_compared():
    one = sentence(result([("A", 1.0, 0.1, *WITHIN)]))
    unknown = sentence(result([(name, 1.0, NAN, *WITHIN) for name in "AB"]))
    for text in (one, unknown):
        assert "in fewer than two segments of 30 rows or more." in text


def test_without_importances_the_table_says_why_it_names_no_feature():
    table = blocks(result([("A", 1.0, 0.1, *WITHIN)]))[1]
    assert "no ranking by RMSE shuffles single features at random." in plain(
        table.notes[0]
    )
    told = blocks(result([("A", 1.0, 0.1, *WITHIN)], importances=[("A", "floor", 2.0)]))
    assert "at random" not in plain(told[1].notes[0])
