"""ReliefF: ties by hand, invariances, no answers; the rest is R's, in its reference."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import numbers, refused, rows_of

from importance_audit.methods.importance.relief import relieff
from importance_audit.methods.known_answers import binary_data, normal_data

NUMBERS = normal_data(3, 0, n_samples=60)
CLASSES = binary_data(n_samples=60)
each_target = pytest.mark.parametrize(
    "data", [NUMBERS, CLASSES], ids=["number", "class"]
)


def rows(y, classes=(), **columns):
    """Return rows of these columns, each asked alone."""
    return rows_of(pd.DataFrame(columns), y, classes=classes)


def measured(data, **options):
    return numbers(relieff, None, data, **options)


def test_where_no_column_varies_there_is_no_answer():
    assert np.isnan(measured(rows([0.0, 1.0, 2.0], k=1.0, l=["a"] * 3))).all()


# --- closed forms ---------------------------------------------------------------------

SQUARE = {"a": [0.0, 0.1, 0.9, 1.0], "b": [0.0, 1.0, 0.0, 1.0]}


def test_rows_tied_for_the_last_place_share_it():
    data = rows([0.0, 1.0, 0.0], a=[0.5, 0.0, 1.0])
    # row 1 has both others at .5: its one place is shared; d_y is 1/2, d_a .5, both .25
    apart, differ, both = 0.5 + 1 + 0, 0.5 + 0.5 + 0.5, 0.25 + 0.5 + 0
    truth = both / apart - (differ - both) / (3 - apart)
    assert measured(data, n_neighbours=1) == pytest.approx([truth], rel=1e-12)


# --- what must not matter -------------------------------------------------------------


@each_target
def test_a_column_turned_round_measures_the_same(data):
    coarse = replace(data, X=data.X.round(1))
    turned = replace(coarse, X=-coarse.X)
    assert measured(turned) == pytest.approx(measured(coarse), abs=1e-12)


@pytest.mark.parametrize("data", [normal_data(3, 0), binary_data()])
def test_a_derived_column_is_measured_and_moves_no_other(data):
    X = data.X.assign(double=2 * data.X.iloc[:, 0])
    groups = {name: (name,) for name in X}
    with_it = replace(data, X=X, groups=groups, unread={"double": (X.columns[0],)})
    alone, beside = (relieff(None, d, seed=1)[0] for d in (data, with_it))
    assert (beside[:-1] == alone).all()
    assert beside[-1] == pytest.approx(alone[0], rel=1e-12)


def test_more_neighbours_than_rows_are_all_rows():
    assert measured(NUMBERS, n_neighbours=500) == pytest.approx(
        measured(NUMBERS, n_neighbours=59), rel=1e-12
    )


# --- weights by distance, merits, and ties --------------------------------------------


def test_rows_at_distance_zero_take_all_the_weight():
    data = rows([0, 0, 0, 1, 1], "nm", a=[0.5, 0.5, 0.0, 1.0, 1.0])
    # Hits of the first two differ by 0, of the third by 1/2; misses by 1/2 or 1, and
    # of the last two by 1/2, 1/2 and 1, whose weights are 2, 2 and 1.
    truth = (0.5 + 0.5 + 1 + 2 * 0.6) / 5 - 0.5 / 5
    assert measured(data, weighting="distance") == pytest.approx([truth], rel=1e-12)


def test_merits_share_each_pair_of_rows_among_the_columns():
    merits = measured(CLASSES, merits=True, n_neighbours=3)
    assert merits.sum() == pytest.approx(0, abs=1e-12)
    data = rows([0, 0, 1, 1], "nm", **SQUARE)
    # Nearest misses differ in a alone; hits by 0.1 and 1.
    truth = [1 - 0.1 / 1.1, 0 - 1 / 1.1]
    scores = measured(data, n_neighbours=1, merits=True)
    assert scores == pytest.approx(truth, rel=1e-12)


def test_merits_of_a_number_are_refused():
    assert refused(relieff, None, NUMBERS, merits=True) == (
        "Target 'y' must be a class for merits in method 'relieff'; it is a number. "
        "Leave merits out."
    )


def test_a_copy_of_a_row_counts_as_a_neighbour_at_distance_0():
    """Of two tied at 0 each has half the place, whichever of them stands first."""
    data = rows([0, 0, 0, 1, 1, 1], "nm", a=[0.0, 0.0, 0.0, 1.0, 1.0, 0.6])
    scores = measured(data, n_neighbours=1)
    # Nearest hits: copies, and of the last row one of two at 0.4; misses: 0.6 thrice,
    # 1 twice, 0.6.
    assert scores == pytest.approx([(3 * 0.6 + 2 * 1 + 0.6 - 0.4) / 6], rel=1e-12)
    backwards = replace(data, X=data.X[::-1].reset_index(drop=True), y=data.y[::-1])
    assert measured(backwards, n_neighbours=1) == pytest.approx(scores, rel=1e-12)


def test_a_level_differs_wholly_or_not_at_all():
    data = rows([0, 0, 1, 1], "nm", k=pd.Categorical(list("aabb")), b=SQUARE["b"])
    assert measured(data, n_neighbours=1).tolist() == [1.0, -1.0]
