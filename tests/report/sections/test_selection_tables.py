"""The table of the test error of selected sets, by the numbers it prints."""

import numpy as np
from tests.report.made_records import made_frame
from tests.report.made_results import apartments_result
from tests.report.reading import column, table, words

from importance_audit.report.pages.view import build_view
from importance_audit.report.text.blocks import plain

SETS = {"all features": (5, 5, 5), "random_subspace": (2, 4, 0)}
LOSSES = {"all features": (10.0, 14.0, 99.0), "random_subspace": (8.0, 9.0, np.nan)}


def made(judges=("svm",)):
    """Return the table of the first model that judges."""
    who = {"model": "", "ranked_by": "", "positive_class": "", "loss": "mae"}
    rows = [
        {**who, "entry": n, "method": method, "judge": judge, "split": split + 1}
        | {"k": SETS[method][split], "value": LOSSES[method][split]}
        for judge in judges
        for n, method in enumerate(SETS)
        for split in range(3)
    ]
    view = build_view(apartments_result(selection=made_frame("selection", rows)))
    return table(view, f"tab-selection-{judges[0]}")


def test_means_are_over_the_splits_in_which_anything_is_kept():
    found = made()
    assert column(found, "Chosen by") == ["all features", "random subspace"]
    assert column(found, "Kept, mean") == ["5.0", "2.0"]
    means = [float(row.cells[2].parts[0].raw) for row in found.rows]
    assert means == [41.0, 8.5]


def test_the_standard_error_is_over_the_splits():
    error = float(made().rows[1].cells[3].parts[0].raw)
    assert error == 0.5  # of 8 and 9: their standard deviation over the root of 2


def test_splits_are_told_and_those_that_keep_nothing():
    found = made()
    assert "over 3 random splits of the training rows" in plain(found.caption)
    assert "In 1 random split no PERF is above 0" in words(found.notes)
    assert "Splits share rows" in words(found.notes)


def test_what_was_not_asked_has_no_table():
    ids = {item.id for item in build_view(apartments_result()).tables}
    assert not {name for name in ids if name.startswith("tab-selection")}
