"""Impact and importance of a model's own curve: closed forms and identities."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from tests.methods.importance.toys import (
    EFFECT,
    additive,
    numbers,
    rows_of,
    score_of,
)

from importance_audit.methods.effects import EFFECTS
from importance_audit.methods.importance.curve_magnitude import (
    curve_impact,
    curve_importance,
)
from importance_audit.methods.importance.shapley import shapley
from importance_audit.methods.known_answers import linear_model, normal_data

BOTH = pytest.mark.parametrize("method", [curve_impact, curve_importance])
OF_ROWS = ["partial_dependence", "ale", "accumulated_profile"]
CURVES = pytest.mark.parametrize("curve", OF_ROWS)
ALL_CURVES = pytest.mark.parametrize("curve", [*OF_ROWS, "shapley"])


def of_rows(X):
    """Return rows without a target, asked about x and the level."""
    return rows_of(X).with_groups({"x": ("x",), "level": ("level",)})


def squares():
    """Return the model x**2 + the effect of the level (0, 6, 3) + the rest."""
    return score_of(
        lambda X: X["x"] ** 2 + EFFECT[X["level"].cat.codes] + X["other"],
        ("x", "level", "other"),
    )


@ALL_CURVES
@pytest.mark.parametrize("grid", ["unique", "quantile"])
def test_the_impact_counts_every_value_once(curve, grid):
    # x**2 over 0, ..., 6 is 91/7 on average; the levels are 3 off their mean 3, or not.
    raw, baseline = curve_impact(squares(), additive(), seed=1, curve=curve, grid=grid)
    assert raw[:, 0, 0] == pytest.approx([13, 2], rel=1e-12)
    assert baseline.tolist() == [[0.0]]


@ALL_CURVES
def test_the_importance_counts_every_row_once(curve):
    scores = numbers(curve_importance, squares(), additive(), curve=curve)
    assert scores == pytest.approx([91 / 10, 2], rel=1e-12)


@ALL_CURVES
def test_centred_it_is_the_mean_shapley_value_of_an_additive_model(curve):
    data = additive()
    some = np.random.default_rng(1).permutation(30)[:20]  # levels of unequal size
    data = of_rows(data.X.iloc[some].reset_index(drop=True))
    options = {"seed": 1, "curve": curve, "grid": "unique", "centred": True}
    raw, _ = curve_importance(squares(), data, **options)
    truth, _ = shapley(squares(), data, seed=1, algorithm="exact", n_repeats=1)
    assert raw == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("order", list(permutations("bac")))
def test_levels_keep_their_rows_in_whatever_order_they_come(order):
    counts = {"a": 1, "b": 9, "c": 2}
    rows = [level for level in order for _ in range(counts[level])]
    level = pd.Series(pd.Categorical(rows, categories=["a", "b", "c"]))
    data = rows_of(pd.DataFrame({"level": level})).with_groups({"level": ("level",)})
    # The effects 0, 6 and 3 of 1, 9 and 2 rows are 3, 3 and 0 off the mean of levels.
    model = score_of(lambda X: EFFECT[X["level"].cat.codes], ("level",))
    (score,) = numbers(curve_importance, model, data)
    assert score == pytest.approx((1 * 3 + 9 * 3) / 12, rel=1e-12)


@CURVES
def test_a_number_is_as_far_from_its_left_most_row_as_its_shapley_values_are(curve):
    data = normal_data(3, -2)
    raw, _ = curve_importance(linear_model(3, -2), data, seed=1, curve=curve)
    for k, slope in enumerate([3, 2]):
        values = slope * (data.X.iloc[:, k] - data.X.iloc[:, k].mean())  # Shapley's
        truth = (values - values.min()).mean()
        assert raw[k, 0, 0] == pytest.approx(truth, rel=1e-9)


@BOTH
@ALL_CURVES
def test_a_curve_that_is_handed_over_is_not_asked_for_again(method, curve):
    def never(_):
        raise AssertionError

    silent = replace(squares(), predict=never)
    curves = {
        feature: EFFECTS[curve].function(squares(), additive(), feature, seed=1)
        for feature in ("x", "level")
    }
    options = {"seed": 1, "curve": curve, "n_grid": 51}
    raw, _ = method(silent, additive(), curves=curves, **options)
    assert (raw == method(squares(), additive(), **options)[0]).all()


def test_the_centred_impact_is_the_mean_deviation_over_the_values():
    options = {"grid": "unique", "centred": True}
    scores = numbers(curve_impact, squares(), additive(), **options)
    squared = np.arange(7) ** 2
    truth = abs(squared - squared.mean()).mean()
    assert scores == pytest.approx([truth, 2], rel=1e-12)


@BOTH
@CURVES
def test_an_ignored_feature_measures_exactly_zero_and_a_constant_one_nothing(
    method, curve
):
    data = additive()
    groups = {**data.groups, "noise": ("noise",), "other": ("other",)}
    X = data.X.assign(noise=np.sin(np.arange(30)))
    model = replace(squares(), predict=lambda X: X["x"].to_numpy() / 3)
    raw, _ = method(model, replace(data, X=X, groups=groups), seed=1, curve=curve)
    assert raw[1:3, 0, 0].tolist() == [0.0, 0.0]
    assert np.isnan(raw[:, 0, 0]).tolist() == [False] * 3 + [True]


@BOTH
def test_a_declared_level_that_no_row_has_does_not_count(method):
    data = additive()
    more = data.X["level"].cat.add_categories(["never"])
    wider = replace(data, X=data.X.assign(level=more))
    effect = np.append(EFFECT, 1e9)
    model = replace(squares(), predict=lambda X: effect[X["level"].cat.codes])
    raw, _ = method(model, wider, seed=1)
    assert raw[1, 0, 0] == pytest.approx(2, rel=1e-12)


@ALL_CURVES
def test_a_weight_counts_like_rows_and_a_row_without_one_is_not_there(curve):
    data = additive()
    codes = data.X["level"].cat.codes.to_numpy()  # none for level a
    weights = codes * (1 + data.X["x"].to_numpy() % 2)
    weighted = replace(data, weights=weights)
    often = np.repeat(np.arange(30), weights.astype(int))
    repeated = of_rows(data.X.iloc[often].reset_index(drop=True))
    one, two = (
        curve_importance(squares(), rows, seed=1, curve=curve, grid="unique")[0]
        for rows in (weighted, repeated)
    )
    assert one == pytest.approx(two, rel=1e-12)
    assert two[1, 0, 0] == pytest.approx(1.5, rel=1e-12)  # b and c are 3 apart
