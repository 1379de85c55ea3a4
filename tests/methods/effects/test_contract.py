"""What every curve that asks a model keeps to: the table `EFFECTS`, row by row."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.known_answers import level_data, level_model, logistic_model
from tests.methods.importance.toys import refused

from importance_audit.methods.effects import EFFECTS
from importance_audit.methods.known_answers import linear_model, normal_data

from .toys import model_of, rows_of

CURVES = {n: row.function for n, row in EFFECTS.items() if row.asks == "predict"}
EACH = pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)


@EACH
def test_a_linear_model_rises_by_its_slope(curve):
    data = normal_data(3, 0)
    before = data.X.copy()
    grid, values = curve(linear_model(3, 0), data, "x1", seed=1, n_grid=9)
    assert len(grid) == 9
    assert np.diff(values[:, 0]) == pytest.approx(3 * np.diff(grid), abs=1e-9)
    pd.testing.assert_frame_equal(data.X, before)


@EACH
def test_a_column_the_model_does_not_read_has_an_exactly_flat_curve(curve):
    data = rows_of(normal_data().X.assign(unread=np.arange(200.0)))
    _, values = curve(linear_model(3, 0), data, "unread", seed=1)
    # The mean of rows near a value is one of others than that of the next.
    is_local = curve is CURVES["conditional_profile"]
    assert is_local or np.ptp(values) == pytest.approx(0, abs=1e-15)


@EACH
def test_on_the_link_scale_a_logistic_model_is_linear(curve):
    grid, values = curve(
        logistic_model(2, 0), normal_data(), "x1", seed=1, scale="link"
    )
    assert np.diff(values[:, 0]) == pytest.approx(2 * np.diff(grid), abs=1e-9)


@EACH
def test_the_centred_logit_of_two_classes_is_half_the_logit(curve):
    model, data = logistic_model(1, 2), normal_data(1, 2)
    link, half = (
        curve(model, data, "x2", seed=1, scale=scale)[1]
        for scale in ("link", "centred_logit")
    )
    assert half == pytest.approx(link / 2, rel=1e-9, abs=1e-12)


@EACH
def test_every_class_has_its_column_and_every_level_of_a_row_its_point(curve):
    grid, values = curve(level_model(0.8), level_data(), "kind", seed=1)
    assert grid.tolist() == ["a", "b", "c"]
    centred = values - values.mean(axis=0)
    assert centred == pytest.approx(0.7 * np.eye(3) - 0.7 / 3, abs=1e-12)


@EACH
def test_a_weight_of_two_counts_as_two_rows_and_none_as_no_row(curve):
    X = pd.DataFrame({"x": [0.0, 1, 1, 2], "z": [5.0, 2, 4, 1]})
    model = model_of(lambda X: (X["x"] * X["z"] ** 2).to_numpy(), ("x", "z"))
    twice = rows_of(X.iloc[[1, 1, 2, 3]].reset_index(drop=True))
    options = {} if curve is CURVES["shapley"] else {"grid": (1.0, 2.0)}
    _, one = curve(model, rows_of(X, [0, 2, 1, 1]), "x", seed=1, **options)
    _, two = curve(model, twice, "x", seed=1, **options)
    assert one == pytest.approx(two, rel=1e-12)


@EACH
def test_whole_numbers_stay_whole(curve):
    def predict(X):
        assert X["count"].dtype == np.int64
        return level_model().predict(X)

    curve(replace(level_model(), predict=predict), level_data(), "count", seed=1)


@EACH
def test_a_regression_has_no_link(curve):
    assert refused(curve, linear_model(2, 0), normal_data(), "x1", scale="link") == (
        "Model 'linear' must predict probabilities for scale 'link'; its task is "
        "'regression'. Use scale 'native'."
    )


def test_a_grid_without_a_point_is_refused():
    ask = CURVES["partial_dependence"]
    question = linear_model(2, 0), normal_data(), "x1"
    assert refused(ask, *question, grid=(), error=ValueError) == (
        "grid must hold at least one number; it is empty."
    )
