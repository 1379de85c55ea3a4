"""Spread of the partial dependence: closed forms, invariances, and vip's numbers."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from tests.cases import for_each
from tests.known_answers import level_data, level_model
from tests.methods.importance.toys import numbers, rows_of, score_of
from tests.methods.recorded import evaluated, frame_of, recorded

from importance_audit.methods.importance.partial_dependence import (
    Spread,
    partial_dependence,
)
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.errors import DataError

VIP = recorded("vip_firm")


def of_rows(X, features):
    """Return rows without a target, of which some columns are asked."""
    return rows_of(X).with_groups({name: (name,) for name in features})


def case_model(case):
    """Return the model and the rows of a case."""
    X = frame_of(VIP["data"][case["data"]]).head(case.get("n_rows"))
    X = X.assign(**case.get("set", {}))
    is_event = "exp(" in case["model"]
    model = score_of(lambda X: evaluated(case["model"], X), X)
    facts = {"task": "binary", "classes": ("no", "yes")} if is_event else {}
    return replace(model, **facts), of_rows(X, case["importance"])


@for_each(VIP["cases"], lambda case: case["id"])
def test_the_importance_is_that_of_vip(case):
    model, data = case_model(case)
    raw, baseline = partial_dependence(model, data, seed=1, **case["options"])
    scores = (raw - baseline)[:, 0, 0]
    truth = np.array(list(case["importance"].values()), dtype=float)
    if case.get("shown") == "ranks":
        scores = rankdata(-scores)
    assert scores == pytest.approx(truth, rel=1e-12, abs=1e-12, nan_ok=True)


SPREADS_OF_GRID = {
    "standard_deviation": lambda grid: grid.std(ddof=1),
    "mean_absolute_deviation": lambda grid: abs(grid - grid.mean()).mean(),
}


@pytest.mark.parametrize("spread", SPREADS_OF_GRID)
def test_a_linear_model_measures_its_slope_times_the_spread_of_the_grid(spread):
    data, model = normal_data(3, -1, 0.5), linear_model(3, -1, 0.5)
    scores = numbers(partial_dependence, model, data, spread=spread)
    for value, slope, name in zip(scores, [3, 1, 0.5], data.X, strict=True):
        grid = np.linspace(data.X[name].min(), data.X[name].max(), 51)
        assert value == pytest.approx(slope * SPREADS_OF_GRID[spread](grid), rel=1e-9)


@pytest.mark.parametrize(
    ("spread", "divisor"), [("data_weighted", 200), ("standard_deviation", 199)]
)
def test_on_all_values_a_line_measures_its_slope_times_their_deviation(spread, divisor):
    data, options = normal_data(3, -1), {"grid": "unique", "spread": spread}
    scores = numbers(partial_dependence, linear_model(3, -1), data, **options)
    sd = np.sqrt(200 / divisor)  # the columns have variance 1 with divisor n
    assert scores == pytest.approx([3 * sd, sd], rel=1e-9)


@pytest.mark.parametrize("grid", [(0.0, 1.0, 4.0), (4.0, 0.0, 1.0)])
def test_a_row_counts_at_the_nearest_point_and_in_the_middle_at_the_lower(grid):
    X = pd.DataFrame({"x1": [0.0, 0.5, 0.7, 5.0, np.nan]})
    data = replace(of_rows(X, ("x1",)), weights=np.array([1.0, 1, 1, 5, 100]))
    options = {"grid": grid, "spread": "data_weighted"}
    values_of_rows = np.repeat([0.0, 4.0, 16.0], [2, 1, 5])
    scores = numbers(partial_dependence, linear_model(4), data, **options)
    assert scores == pytest.approx(values_of_rows.std(), rel=1e-12)


def test_every_curve_of_an_additive_model_is_as_far_from_flat_as_their_mean():
    data, model = normal_data(3, -1), linear_model(3, -1)
    mean, single = (
        partial_dependence(model, data, seed=1, of_curves=of)[0]
        for of in ("mean", "individual")
    )
    assert single == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("grid", ["even", "unique"])
def test_effects_that_cancel_in_the_mean_do_not_in_the_curves_of_the_rows(grid):
    # f = x1 x2: the curve of a row has slope x2, whose mean is 0.
    data = replace(normal_data(), weights=np.arange(200) % 3 + 1.0)
    model = replace(
        linear_model(1, 1), predict=lambda X: (X["x1"] * X["x2"]).to_numpy()
    )
    raw, _ = partial_dependence(model, data, seed=1, grid=grid, of_curves="individual")
    x1, x2 = data.X["x1"], data.X["x2"].abs()
    points = np.linspace(x1.min(), x1.max(), 51) if grid == "even" else x1
    slope = np.average(x2, weights=data.weights)
    assert raw[0, 0, 0] == pytest.approx(slope * np.std(points, ddof=1), rel=1e-9)


@pytest.mark.parametrize("of_curves", ["mean", "individual"])
@pytest.mark.parametrize("spread", get_args(Spread))
def test_an_ignored_feature_measures_exactly_zero_by_every_spread(spread, of_curves):
    data = replace(normal_data(), weights=np.arange(200) / 7 + 0.1)
    model, options = linear_model(0.3, 0), {"spread": spread, "of_curves": of_curves}
    raw, _ = partial_dependence(model, data, seed=1, **options)
    assert raw[1, 0, 0] == 0 < raw[0, 0, 0]


def test_a_level_the_model_cannot_predict_takes_the_answer_from_its_feature_alone():
    data = level_data()
    kind = data.X["kind"].cat.add_categories(["never"])
    data = replace(data, X=data.X.assign(kind=kind))
    table = np.vstack([np.eye(3), [[np.nan] * 3]])

    def predict(X):
        if (X["kind"] == "never").any():
            raise DataError("Column 'kind' must hold levels of the training rows.")
        return table[X["kind"].cat.codes]

    model = replace(level_model(), predict=predict)
    raw, _ = partial_dependence(model, data, seed=1)
    assert np.isnan(raw[:, 0, 0]).tolist() == [n == "kind" for n in data.groups]


def test_mean_curves_at_hand_are_used_as_they_are_and_those_of_rows_are_asked():
    curves = {"x1": (np.array([0.0, 1.0]), np.array([[0.0], [2.0]]))}
    question = partial_dependence, linear_model(2, 0), normal_data()
    scores = numbers(*question, curves=curves)
    assert scores.tolist() == [pytest.approx(np.sqrt(2), rel=1e-12), 0.0]
    of_rows = numbers(*question, of_curves="individual")
    at_hand = numbers(*question, curves=curves, of_curves="individual")
    assert at_hand.tolist() == of_rows.tolist()


def test_the_example_of_the_paper_has_the_ratio_of_its_slopes():
    """Y = 1 + 3 X1 - 5 X2 on the unit square (Greenwell et al. 2018, section 3)."""
    even = np.linspace(0, 1, 51)
    X = pd.DataFrame({"x1": np.tile(even, 51), "x2": np.repeat(even, 51)})
    raw, _ = partial_dependence(linear_model(3, -5), of_rows(X, ("x1", "x2")), seed=1)
    assert raw[1, 0, 0] / raw[0, 0, 0] == pytest.approx(5 / 3, rel=1e-12)
    # The paper prints .896; from 0 to 1 by h it is 3 h sqrt(n (n + 1) / 12).
    assert raw[0, 0, 0] == pytest.approx(3 * np.sqrt(51 * 52 / 12) / 50, rel=1e-12)


@pytest.mark.parametrize(("spread", "share"), [("quarter_range", 0.25), ("range", 1.0)])
def test_a_category_measures_its_share_of_the_range(spread, share):
    raw, _ = partial_dependence(
        level_model(0.8), level_data(), seed=1, categorical_spread=spread
    )
    kind = list(level_data().groups).index("kind")
    assert raw[kind, 0] == pytest.approx([0.7 * share] * 3, rel=1e-12)
