"""The toys are what their docstrings say, exactly."""

import numpy as np
import pytest

from importance_audit.methods.known_answers import (
    binary_data,
    level_data,
    level_model,
    linear_model,
    logistic_model,
    normal_data,
)


def test_columns_and_noise_are_white_to_rounding():
    data = normal_data(1, 2, 3, noise=0.5)
    noise = (data.y - linear_model(1, 2, 3).predict(data.X)) / 0.5
    table = np.column_stack([data.X, noise])
    assert table.mean(axis=0) == pytest.approx(0, abs=1e-14)
    assert np.cov(table.T, bias=True) == pytest.approx(np.eye(4), abs=1e-13)


def test_other_seeds_give_other_rows_and_the_same_seed_the_same():
    first, again, other = (normal_data(seed=seed).y for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()


def test_half_of_the_rows_are_yes_and_ranked_right_by_the_logistic_model():
    data, model = binary_data(), logistic_model(1, 0)
    probability = model.predict(data.X)
    assert data.y.mean() == 0.5
    assert probability[data.y == 1].min() > probability[data.y == 0].max()


def test_each_level_is_a_third_and_the_model_gives_its_share_to_the_right_class():
    data = level_data()
    assert np.bincount(data.y).tolist() == [50, 50, 50]
    prediction = level_model(0.6).predict(data.X)
    assert prediction[np.arange(150), data.y] == pytest.approx(0.6)
    assert prediction.sum(axis=1) == pytest.approx(1)
