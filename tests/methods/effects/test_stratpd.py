"""StratPD through its trees: closed forms, invariances, whole messages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data
from tests.methods.importance.toys import refused

from importance_audit.data.datasets import dataset
from importance_audit.methods.effects.stratpd import Strata, curve_of, stratpd, table_of
from importance_audit.methods.known_answers import normal_data
from importance_audit.records.errors import NotApplicable


def crossed(effect, *, n_blocks=8, n_copies=4, x=None):
    """Return rows where every block of `other` has every value of x `n_copies` times.

    y is 1000 per block plus the effect of x, so a tree that may end in leaves of one
    block does, and its leaves hold every value equally often.
    """
    n_values = len(effect)
    x = np.arange(n_values) * 1.0 if x is None else x
    block, code = np.divmod(np.arange(n_blocks * n_values), n_values)
    block, code = np.repeat(block, n_copies), np.repeat(code, n_copies)
    X = pd.DataFrame({"x": x[code], "other": block * 1.0})
    y = 1000.0 * block + np.array(effect, float)[code]
    return dataset(X, y, name="crossed", task="regression", split="train")


def as_levels(data, levels):
    """Return the same rows with x as a category of these levels."""
    kind = pd.Categorical.from_codes(data.X["x"].astype(int), categories=levels)
    return replace(data, X=data.X.assign(x=kind))


SQUARE = np.arange(6.0) ** 2
ONE_BLOCK = {"seed": 1, "min_samples_leaf": 24}


def test_where_the_others_are_held_equal_the_curve_is_the_effect():
    grid, values = stratpd(None, crossed(SQUARE), "x", **ONE_BLOCK)
    assert grid.tolist() == [0, 1, 2, 3, 4, 5]
    assert values == pytest.approx(SQUARE[:, np.newaxis], abs=1e-9)


@pytest.mark.parametrize("merge", ["published", "least_squares"])
def test_a_category_is_told_by_its_levels_around_their_mean(merge):
    data = as_levels(crossed([3, 1, 8]), ["low", "mid", "top"])
    grid, values = stratpd(None, data, "x", seed=1, min_samples_leaf=12, merge=merge)
    assert grid.tolist() == ["low", "mid", "top"]
    assert values[:, 0] == pytest.approx([-1, -3, 4], abs=1e-9)


def test_levels_without_a_row_are_not_on_the_curve():
    data = as_levels(crossed([3, 1, 8]), ["low", "mid", "top", "unseen"])
    grid, _ = stratpd(None, data, "x", seed=1)
    assert grid.tolist() == ["low", "mid", "top"]


def test_several_trees_pool_their_leaves():
    # A tree has 8 leaves at most, 15 nodes with them: more slopes need more trees.
    options = {**ONE_BLOCK, "min_slopes_per_x": 16}
    with pytest.raises(NotApplicable):
        stratpd(None, crossed(SQUARE), "x", **options)
    grid, _ = stratpd(None, crossed(SQUARE), "x", n_trees=20, **options)
    assert grid.tolist() == [0, 1, 2, 3, 4, 5]


def test_two_classes_are_the_indicator_of_the_second():
    data = crossed([0, 0, 1, 1])
    classes = replace(
        data,
        y=np.where(data.X["x"] > 1, 1, 0),
        task="binary",
        classes=("no", "yes"),
    )
    _, values = stratpd(None, classes, "x", seed=1, min_slopes_per_x=1)
    assert values[:, 0] == pytest.approx([0, 0, 1, 1], abs=1e-9)


def test_with_nothing_to_hold_all_rows_are_one_leaf():
    data = crossed([0, 2, 5], n_blocks=1, n_copies=10)
    alone = replace(data, X=data.X[["x"]])
    _, values = stratpd(None, alone, "x", seed=1, min_slopes_per_x=1)
    assert values[:, 0] == pytest.approx([0, 2, 5], abs=1e-9)


def test_the_leaves_of_a_number_are_larger_than_those_of_a_category():
    numbers = crossed([0, 1], n_blocks=4, n_copies=5)  # blocks of 10 rows
    levels = as_levels(numbers, ["a", "b"])
    for data, n_ignored in ((numbers, 0), (levels, 4)):
        # x is the block, told apart by its leaf if the leaf may be a block
        block = numbers.X["other"].astype(int)
        kind = pd.Categorical.from_codes(block, categories=list("abcd"))
        x = kind if data is levels else block * 1.0
        strata = Strata()
        leaf_table = table_of(replace(data, X=data.X.assign(x=x)), strata)
        assert curve_of(leaf_table, "x", strata, seed=1).n_ignored == n_ignored


DATA = normal_data(2, 0)
MISSING = DATA.X.assign(x2=DATA.X["x2"].where(DATA.X["x2"] > 0))
REFUSED = [
    (
        level_data(),
        {},
        "Data 'levels' must have a number or two classes as target for StratPD; 3 "
        "were found. Audit one class against the others.",
    ),
    (replace(DATA, weights=np.arange(200.0)), {}, "must have equal row weights"),
    (replace(DATA, X=MISSING), {}, "no missing value for StratPD"),
    (normal_data(2, 0, n_samples=29), {}, "at least 30 rows into two leaves; 29"),
    (
        replace(DATA, X=DATA.X.assign(x1=1.0)),
        {},
        "must have two values for StratPD; it has 1.",
    ),
    (DATA, {"min_slopes_per_x": 99}, "'x1' must vary in 99 leaves around some value"),
]


@pytest.mark.parametrize(("data", "options", "message"), REFUSED)
def test_what_cannot_be_parted_is_refused_in_a_sentence(data, options, message):
    assert message in refused(stratpd, None, data, data.features[0], **options)
