"""Interactions as importances: what both measures share, and Greenwell's."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import (
    curved,
    friedman_1,
    numbers,
    refused,
    rows_of,
    score_of,
    uniform,
)

from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.vint import vint
from importance_audit.methods.known_answers import normal_data

DATA = normal_data(1, 1, 1, n_samples=40).with_groups({"pair": ("x1", "x2")})
BOTH = pytest.mark.parametrize("method", [h_statistic, vint])


def strengths(method, function, X, **options):
    """Return the interaction of every pair of columns."""
    data = rows_of(X).with_groups({"".join(p): p for p in combinations(X, 2)})
    found = numbers(method, score_of(function, X.columns), data, **options)
    return dict(zip(data.groups, found, strict=True))


@BOTH
def test_the_only_interaction_of_friedman_1_is_the_only_one_found(method):
    options = {"n_grid": 7} if method is vint else {}
    found = strengths(method, friedman_1, uniform(60, 6), **options)
    assert found.pop("ab") > 1
    assert set(found.values()) == {0}


@BOTH
def test_rows_are_drawn_afresh_for_each_repeat_unless_all_are_taken(method):
    scores, _ = method(score_of(curved), DATA, seed=1, n_rows=10, n_repeats=3)
    assert len(set(scores.ravel())) == 3
    every, _ = method(score_of(curved), DATA, seed=1, n_rows=40, n_repeats=3)
    assert len(set(every.ravel())) == 1


@BOTH
def test_without_a_joint_curve_there_is_no_ratio(method):
    raw, _ = method(
        score_of(lambda X: X["x3"] * 0 + 1), DATA, seed=1, standardised=True
    )
    assert np.isnan(raw).all()


def test_groups_that_are_no_pair_are_refused():
    X = DATA.X.assign(x4=0.0)
    four = replace(DATA, X=X).with_groups({"all": ("x1", "x2", "x3", "x4")})
    assert refused(h_statistic, score_of(curved), four) == (
        "Group 'all' must have one to three columns for method 'h_statistic'; it "
        "has 4: 'x1', 'x2', 'x3', 'x4'. Ask of = \"pairs\"."
    )
    one = DATA.with_groups({"x1": ("x1",)})
    words = "must have two columns for method 'vint'"
    assert words in refused(vint, score_of(curved), one)


@BOTH
def test_hstats_has_one_repeat(method):
    options = {"n_repeats": 2, "stream": "hstats"}
    assert refused(method, score_of(curved), DATA, **options) == (
        "Stream 'hstats' must have one repeat; n_repeats is 2. Use the numpy stream."
    )


# --- vint: the spread of one curve over the other feature ---------------------------

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
