"""What is kept of a column: exact counts at values that rows have."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importance_audit.data.datasets import dataset
from importance_audit.data.quantiles import MOST_VALUES, quantiles_frame, sketches

RNG = np.random.default_rng(7)
COLUMNS = {
    "smooth": RNG.normal(size=900),
    "half zero": np.where(RNG.random(900) < 0.5, 0.0, RNG.normal(size=900)),
    "whole": RNG.integers(0, 300, 900).astype(float),
    "few": RNG.integers(0, 9, 900).astype(float),
    "infinite": RNG.choice([-np.inf, np.inf, *range(200)], 900),
}


def rows_of(**columns):
    n = len(next(iter(columns.values())))
    return dataset(pd.DataFrame(columns), np.arange(n), task="regression", name="made")


def sketch(values):
    data = rows_of(x=np.zeros(len(values)))
    data.X.isetitem(0, np.asarray(values, dtype=float))
    return sketches(quantiles_frame([data]))["test", "feature", "x"]


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_rows_are_counted_exactly_at_values_less_than_a_hundredth_apart(values):
    quantiles = sketch(values)
    assert (np.diff(quantiles.values) > 0).all()
    assert quantiles.below.tolist() == [(values < v).sum() for v in quantiles.values]
    assert quantiles.upto.tolist() == [(values <= v).sum() for v in quantiles.values]
    between = quantiles.below[1:] - quantiles.upto[:-1]
    assert all(Fraction(int(n), len(values)) < Fraction(1, 100) for n in between)
    assert (quantiles.below[0], quantiles.upto[-1]) == (0, len(values))


@pytest.mark.parametrize("n", [1, MOST_VALUES, 101])
def test_so_few_values_or_rows_are_kept_whole(n):
    quantiles = sketch(np.repeat(np.arange(float(n)), 1 if n > MOST_VALUES else 40))
    assert quantiles.values.tolist() == list(range(n))


def test_the_quantiles_are_values_that_rows_have_also_beside_infinity():
    values = COLUMNS["infinite"]
    quantiles = sketch(values).values
    assert set(quantiles) <= set(values)
    assert quantiles[[0, -1]].tolist() == [-np.inf, np.inf]


@settings(max_examples=20)
@given(st.permutations(range(150)))
def test_the_order_of_the_rows_changes_nothing(order):
    values = np.arange(150.0) ** 2
    one, other = sketch(values), sketch(values[list(order)])
    assert all(np.array_equal(a, b) for a, b in zip(one[1:4], other[1:4], strict=True))


def test_missing_cells_are_counted_apart():
    numbers = sketch([1.0, np.nan, 1.0, 2.0])
    assert (numbers.kind, numbers.known, numbers.missing) == ("number", 3, 1)
    nothing = sketch([np.nan, np.nan])
    assert (nothing.kind, nothing.known, nothing.missing) == ("missing", 0, 2)


def test_levels_keep_their_order_and_those_of_no_row_count_nothing():
    cells = pd.Categorical(["b", None, "b", "a"], categories=["b", "c", "a"])
    frame = quantiles_frame([rows_of(x=cells)])
    own = frame[frame["column"] == "x"]
    assert own["level"].tolist() == ["b", "c", "a", ""]
    assert own["rows"].tolist() == [2, 0, 1, 1]
    assert own["kind"].tolist() == ["category"] * 3 + ["missing"]


def test_a_class_of_the_target_is_a_level_and_reference_rows_have_no_target():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    facts = {"task": "binary", "name": "made", "classes": ["no", "yes"]}
    data = dataset(X, ["no", "yes", "no"], **facts)
    by_column = sketches(quantiles_frame([None, data]))
    assert by_column["test", "target", "y"].levels == {"no": 2, "yes": 1}
    reference = type(data)(**{**vars(data), "split": "reference"})
    assert set(sketches(quantiles_frame([reference]))) == {
        ("reference", "feature", "x")
    }


def test_rows_count_alike_whatever_they_weigh():
    X, y = pd.DataFrame({"x": [1.0, 1.0, 2.0]}), [1.0, 2.0, 3.0]
    facts = {"task": "regression", "name": "made"}
    one = dataset(X, y, **facts)
    other = dataset(X, y, weights=[9.0, 1.0, 0.5], **facts)
    pd.testing.assert_frame_equal(quantiles_frame([one]), quantiles_frame([other]))


def test_no_rows_have_no_sketch():
    assert sketches(quantiles_frame([None, None])) == {}
