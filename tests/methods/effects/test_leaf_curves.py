"""Curves from given leaves: the authors' numbers, closed forms, hand-worked merges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.recorded import recorded

from importance_audit.methods.effects.leaf_curves import (
    categorical_curve,
    numeric_curve,
)

STRATX = recorded("stratimpact")
FEATURES = [
    pytest.param(case, name, id=f"{case['name']}-{name}")
    for case in STRATX["cases"]
    for name in case["features"]
]
MERGES = ["published", "least_squares"]


def reference_curve(case, name):
    """Return our curve on the leaves of a reference case, and what it answers."""
    answer = case["features"][name]
    x, y = np.array(case["X"][name]), np.array(case["y"])
    leaf = np.array(answer["leaf"])
    if answer["kind"] == "categorical":
        return categorical_curve(x, y, leaf), answer
    least = STRATX["parameters"]["min_slopes_per_x"]
    return numeric_curve(x, y, leaf, min_slopes_per_x=least), answer


@pytest.mark.parametrize(("case", "name"), FEATURES)
def test_the_curve_is_that_of_the_authors_package(case, name):
    curve, answer = reference_curve(case, name)
    assert curve.grid.tolist() == answer.get("x", answer.get("category"))
    truth = np.array(answer["partial_dependence"])
    assert curve.values == pytest.approx(truth, rel=1e-9, abs=1e-9)
    assert curve.n_ignored == answer.get("ignored", 0)


def numbers(x, y, leaf, least=1):
    """Return grid and values of a number as lists, and its ignored and all leaves."""
    columns = (np.array(x, float), np.array(y, float), np.array(leaf))
    curve = numeric_curve(*columns, min_slopes_per_x=least)
    return curve.grid.tolist(), curve.values.tolist(), (curve.n_ignored, curve.n_leaves)


def test_points_with_too_few_slopes_on_both_sides_are_dropped():
    # Two leaves reach from 1 to 2 and from 5 to 6, one from 0 to 1 and to 8.
    x = [0, 1, 2, 1, 2, 5, 6, 5, 6, 8]
    y = [0, 3, 4, 0, 3, 0, 4, 1, 2, 9]
    leaf = [0, 0, 0, 1, 1, 2, 2, 3, 3, 3]
    grid, values, _ = numbers(x, y, leaf, least=2)
    assert (grid, values) == ([1, 2, 5, 6], pytest.approx([0, 2, 2, 4.5]))


def test_no_evidence_gives_no_point():
    assert numbers([0, 1, 2], [1, 2, 3], [0, 0, 0], least=2) == ([], [], (0, 1))


def test_leaves_with_one_value_are_counted_as_ignored():
    assert numbers([1, 1, 2, 3, 3], [0, 9, 4, 0, 1], [0, 0, 1, 2, 2])[2] == (3, 3)
    code, y = np.array([0, 0, 1, 0, 1]), np.array([1.0, 2, 3, 0, 1])
    curve = categorical_curve(code, y, np.array([0, 0, 1, 2, 2]))
    assert (curve.n_ignored, curve.n_leaves) == (2, 3)


PARTED = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=60
)


@given(PARTED, st.floats(-5, 5))
def test_a_slope_that_all_leaves_share_is_met_whatever_the_leaves(rows, slope):
    x, leaf = np.array(rows).T
    curve = numeric_curve(x * 1.0, slope * x + 100 * leaf, leaf, min_slopes_per_x=1)
    is_covered = np.array(
        [any(covered(x, leaf, z)) for z in curve.grid[:-1]], dtype=bool
    )
    steps = np.where(is_covered, slope * np.diff(curve.grid), 0)
    assert np.diff(curve.values) == pytest.approx(steps, abs=1e-9)


def covered(x, leaf, z):
    """Yield whether each leaf has a value up to z and one beyond."""
    for k in np.unique(leaf):
        yield x[leaf == k].min() <= z < x[leaf == k].max()


def test_a_steep_slope_between_nearly_equal_values_harms_no_other_slope():
    y = [0, 1, 0, 1e-4, 2e-4]
    _, values, _ = numbers([0, 1e-9, 2, 3, 4], y, [0, 0, 1, 1, 1])
    assert np.diff(values)[2:] == pytest.approx([1e-4, 1e-4], rel=1e-9)


def test_values_are_told_apart_to_ten_decimals():
    grid, values, _ = numbers([0, 1, 1 + 1e-11], [0, 2, 4], [0, 0, 0])
    assert (grid, values) == ([0, 1], [0, 3])


def levels(code, y, leaf, merge):
    """Return the curve of a category, from its first level."""
    columns = (np.array(code), np.array(y, float), np.array(leaf))
    curve = categorical_curve(*columns, merge=merge)
    return curve.values - curve.values[0]


@pytest.mark.parametrize("merge", MERGES)
@settings(deadline=None)  # the first call imports scipy.sparse
@given(PARTED)
def test_effects_of_levels_that_leaves_connect_are_met_exactly(merge, rows):
    code, leaf = np.array([*rows, *((k, 5) for k in range(10))]).T
    effect = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3.5])
    effects = levels(code, effect[code] + 100 * leaf, leaf, merge)
    assert effects == pytest.approx(effect - 3, abs=1e-9)


@pytest.mark.parametrize("merge", MERGES)
def test_levels_that_no_leaf_compares_are_placed_by_their_means(merge):
    code, leaf = [0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]
    y = [1, 3, 4, 10, 20, 24]  # means 2, 4 and 10, 22: 13 between the pairs
    effects = levels(code, y, leaf, merge)
    assert effects == pytest.approx([0, 2, 8, 20])


def test_the_published_merge_shifts_by_plain_and_averages_by_weighted_means():
    # Leaf 1 is shifted by the mean of 0 - 5 and 4 - 7, so by -4, to 1, 3 and 6; level 1
    # has three rows in leaf 0 and one in leaf 1: (3 * 4 + 3) / 4.
    code, leaf = [0, 1, 1, 1, 0, 1, 2], [0, 0, 0, 0, 1, 1, 1]
    y = [0, 4, 4, 4, 15, 17, 20]
    curve = categorical_curve(np.array(code), np.array(y) + 0.0, np.array(leaf))
    above_smallest = np.array([0.0, 2, 5]) - 1 + 2
    assert above_smallest.tolist() == [1, 3, 6]
    assert curve.values == pytest.approx([0.5, 3.75, 6])


def chain(n_links):
    """Return levels and leaves 0-1, then the links n-(n+1), ..., 1-2 in falling order.

    Each pass joins one more link; the last to be joined is leaf 1, whose y is 6.
    """
    pairs = [(0, 1), *((k, k + 1) for k in range(n_links, 0, -1))]
    code, leaf = np.ravel(pairs), np.repeat(np.arange(len(pairs)), 2)
    return code, np.where(leaf == 1, 6.0, 0.0), leaf


def test_what_three_passes_do_not_reach_is_a_group_of_its_own():
    # Levels 0 to 4 have means 0, 0, 0, 0 and 3, so .6 on average; 4 and 5, the last
    # link, have 3 and 6, so it is placed 3.9 above; level 4 is in both groups.
    values = categorical_curve(*chain(4)).values
    assert values == pytest.approx([0, 0, 0, 0, 1.95, 3.9])


def test_least_squares_is_the_regression_on_indicators_of_leaves_and_levels():
    generator = np.random.default_rng(2)
    code, leaf = generator.integers(0, 8, 90), generator.integers(0, 12, 90)
    y = generator.normal(size=90)
    design = np.hstack([np.eye(8)[code], np.eye(12)[leaf]])
    solution = np.linalg.lstsq(design, y, rcond=None)[0][:8]
    effects = levels(code, y, leaf, "least_squares")
    assert effects == pytest.approx(solution - solution[0], abs=1e-9)
