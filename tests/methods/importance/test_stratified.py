"""Impact and importance of StratPD curves: the authors' numbers and closed forms."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.methods.effects.test_leaf_curves import FEATURES
from tests.methods.importance.toys import additive, numbers, refused

from importance_audit.data.datasets import dataset
from importance_audit.methods.effects.stratpd import stratpd
from importance_audit.methods.importance.stratified import (
    rows_at,
    stratified_impact,
    stratified_importance,
)
from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.spreads import mean_magnitude

BOTH = pytest.mark.parametrize("method", [stratified_impact, stratified_importance])
WHOLE = {"seed": 1, "n_repeats": 1, "resample": "none"}


@pytest.mark.parametrize(("case", "name"), FEATURES)
def test_a_curve_measures_what_the_authors_package_says(case, name):
    answer = case["features"][name]
    is_category = answer["kind"] == "categorical"
    curve = np.array(answer["partial_dependence"])
    grid = np.array(answer["category" if is_category else "x"])
    rows = rows_at(np.array(case["X"][name]), grid)
    impact = mean_magnitude(curve, is_category=is_category)
    importance = mean_magnitude(curve, is_category=is_category, weights=rows)
    assert impact == pytest.approx(answer["impact"], rel=1e-11)
    assert importance == pytest.approx(answer["importance"], rel=1e-11)


ROWS = additive(n_others=10)


def test_the_impact_counts_every_value_once():
    # x**2 over 0, ..., 6 is 91/7 on average; the levels are 3 off their mean 3, or not.
    raw, baseline = stratified_impact(None, ROWS, min_samples_leaf=10, **WHOLE)
    assert raw[:, 0, 0] == pytest.approx([13, 2], abs=1e-9)
    assert baseline.tolist() == [[0.0]]


def test_the_importance_counts_every_row_once():
    scores = numbers(stratified_importance, None, ROWS, min_samples_leaf=10, **WHOLE)
    assert scores == pytest.approx([91 / 10, 2], abs=1e-9)


@BOTH
@pytest.mark.parametrize("merge", ["published", "least_squares"])
@pytest.mark.parametrize("first", ["b", "c"])
def test_the_order_of_the_levels_does_not_matter(method, merge, first):
    options = WHOLE | {"min_samples_leaf": 10, "merge": merge}
    raw, _ = method(None, ROWS, **options)
    order = [first, *sorted({"a", "b", "c"} - {first})]
    other = ROWS.X["level"].cat.reorder_categories(order)
    turned, _ = method(None, replace(ROWS, X=ROWS.X.assign(level=other)), **options)
    assert turned == pytest.approx(raw, rel=1e-9)


def test_without_resampling_the_impact_is_that_of_the_curve_on_all_rows():
    data = normal_data(2, -1, n_samples=300)
    raw, _ = stratified_impact(None, data, **WHOLE)
    _, values = stratpd(None, data, "x1", seed=1)
    assert raw[0, 0, 0] == pytest.approx(np.abs(values).mean(), rel=1e-12)


@BOTH
def test_every_curve_is_told_of_in_each_trial(method):
    curves = []
    _ = method(
        None,
        normal_data(2, 0),
        seed=1,
        n_repeats=2,
        on_curve=lambda repeat, name, curve: curves.append((repeat, name, len(curve))),
    )
    assert curves == [(r, name, 4) for r in range(2) for name in ("x1", "x2")]


def test_a_subsample_has_three_quarters_of_the_rows():
    # 40 rows make 30, enough for two leaves of 15; 38 make 28.
    assert stratified_impact(None, normal_data(n_samples=40), seed=1)
    assert refused(stratified_impact, None, normal_data(n_samples=38)) == (
        "StratPD must part at least 30 rows into two leaves; 28 were given. Set "
        "min_samples_leaf lower."
    )


@BOTH
def test_a_column_without_a_difference_has_no_answer(method):
    data = normal_data(2, 0)
    level = pd.Categorical(["only"] * 200)
    X = data.X.assign(constant=1.0, level=level)
    groups = {name: (name,) for name in X}
    raw, _ = method(None, replace(data, X=X, groups=groups), seed=1, n_repeats=2)
    assert np.isnan(raw[:, :, 0]).tolist() == [[False] * 2] * 2 + [[True] * 2] * 2


UNITS = {"1e-9": (1e-9, 0), "1e9": (1e9, 0), "from 1e6": (1, 1e6), "to -1e5": (3, -1e5)}


@pytest.mark.parametrize("method", [stratified_impact, stratified_importance])
@pytest.mark.parametrize("name", UNITS)
def test_units_and_origins_of_columns_and_of_the_target_do_not_matter(method, name):
    factor, origin = UNITS[name]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = 2 * X.a + X.b**2 + 0.2 * rng.normal(size=400)

    def means(X, y):
        data = dataset(X, y, name="d", task="regression", split="train")
        return method(None, data, seed=1, n_repeats=2)[0].mean(axis=(1, 2))

    expected = means(X, y)
    moved = means(X.assign(a=factor * X.a + origin), y)
    assert moved == pytest.approx(expected, rel=1e-6)
    in_other_units = means(X, factor * y + origin)
    assert in_other_units == pytest.approx(factor * expected, rel=1e-6)
