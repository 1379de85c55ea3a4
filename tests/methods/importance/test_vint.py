"""Greenwell's interaction measure: closed forms, categories, and what it refuses."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import numbers, rows_of, score_of, uniform

from importance_audit.methods.importance.vint import vint

CUBE = pd.DataFrame(list(product((0.0, 1.0, 2.0), repeat=3)), columns=list("abc"))
PAIR = ("a", "b")


def vint_values(function, features, data=None, **options):
    """Return the measure, and its share of the spread of the joint curve."""
    data = rows_of(CUBE) if data is None else data
    model, pair = score_of(function, data.features), data.with_groups({"p": features})
    return [
        numbers(vint, model, pair, standardised=is_share, **options).item()
        for is_share in (False, True)
    ]


def test_a_sum_measures_0():
    assert vint_values(lambda X: 2 * X["a"] - X["b"] + X["c"], PAIR) == [0, 0]


def test_a_product_varies_by_the_spread_of_one_grid_times_that_of_the_other():
    strength, share = vint_values(lambda X: 5 * X["a"] * X["b"], PAIR)
    assert strength == pytest.approx(5, rel=1e-12)  # the grid 0, 1, 2 has SD 1
    parts = [5 * a * b for a, b in product(range(3), repeat=2)]
    assert strength / share == pytest.approx(np.std(parts, ddof=1), rel=1e-12)


def test_the_two_directions_are_averaged():
    # The spread over a is 1 at every sign of b, that over b is sqrt(2) |a|.
    X = pd.DataFrame(list(product((0.0, 1.0, 2.0), (-1.0, 1.0))), columns=list("ab"))
    strength, _ = vint_values(lambda X: X["a"] * X["b"], PAIR, rows_of(X))
    assert strength == pytest.approx(np.sqrt(2) / 2, rel=1e-12)


def test_categories_spread_by_a_quarter_of_their_range_or_all_of_it():
    X = CUBE.assign(b=pd.Categorical(np.array(["u", "v", "w"])[CUBE["b"].astype(int)]))
    by_spread = {
        spread: vint_values(
            lambda X: X["a"] * X["b"].cat.codes,
            PAIR,
            rows_of(X),
            categorical_spread=spread,
        )[0]
        for spread in ("quarter_range", "range")
    }
    # over a: SDs 0, 1, 2 with SD 1; over b: ranges 0, 2, 4 with SD 2
    assert by_spread == pytest.approx({"quarter_range": 0.75, "range": 1.5}, rel=1e-12)


def test_the_drawn_rows_do_not_move_the_grid():
    X = uniform(50, 3)
    every = vint_values(lambda X: X["a"] * X["b"], PAIR, rows_of(X))
    few = vint_values(lambda X: X["a"] * X["b"], PAIR, rows_of(X), n_rows=5)
    assert few == pytest.approx(every, rel=1e-12)  # no third column is averaged over


def test_a_level_the_model_cannot_predict_leaves_no_answer():
    kind = pd.Categorical(["u", "v", "u"] * 9, categories=["u", "v", "w"])
    X = CUBE.assign(b=kind)

    def f(X):
        if (X["b"] == "w").any():
            raise ValueError("level w is new")
        return X["a"] * X["b"].cat.codes

    assert np.isnan(vint_values(f, PAIR, rows_of(X))).all()


def test_one_value_only_leaves_no_answer():
    assert np.isnan(
        vint_values(lambda X: X["a"] * X["b"], PAIR, rows_of(CUBE.assign(b=1.0)))[0]
    )
