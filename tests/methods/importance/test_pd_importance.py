"""PD importance in closed forms, of groups and as shares; hstats is in test_hstats."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.pd_importance import pd_importance
from importance_audit.methods.known_answers import linear_model, normal_data

DATA = normal_data(3, -1, 0.5)  # uncorrelated columns of mean 0 and variance 1


def product_of_signs():
    """Return f = x1 x2 on the four corners of a square."""
    X = pd.DataFrame({"x1": [-1.0, -1, 1, 1], "x2": [-1.0, 1, -1, 1]})
    data = replace(normal_data(), X=X, y=np.zeros(4), weights=np.ones(4))
    model = linear_model(1, 1)
    return replace(model, predict=lambda X: (X["x1"] * X["x2"]).to_numpy()), data


def test_a_linear_model_measures_its_slope_times_the_deviation_of_the_column():
    raw, baseline = pd_importance(linear_model(3, -1, 0.5), DATA, seed=1)
    assert raw[:, 0, 0] == pytest.approx([3, 1, 0.5], rel=1e-9)
    assert baseline.tolist() == [[0.0]]


def test_standardised_squares_are_shares_of_the_variance_where_columns_add_up():
    raw, _ = pd_importance(linear_model(3, -1, 0.5), DATA, seed=1, standardised=True)
    assert raw[:, 0, 0] ** 2 == pytest.approx(np.array([9, 1, 0.25]) / 10.25, rel=1e-9)


def test_what_two_columns_do_together_counts_for_both_and_their_group():
    model, data = product_of_signs()
    groups = {"x1": ("x1",), "x2": ("x2",), "both": ("x1", "x2")}
    raw, _ = pd_importance(model, data.with_groups(groups), seed=1)
    assert raw[:, 0, 0] == pytest.approx([1, 1, 1], rel=1e-12)


def test_without_an_effect_of_its_own_a_column_measures_its_interaction():
    model, data = product_of_signs()
    data = data.with_groups({"x1": ("x1",), "x2": ("x2",)})
    raw, _ = pd_importance(model, data, seed=1)
    assert raw == pytest.approx(h_statistic(model, data, seed=1)[0], rel=1e-12)


def test_a_model_that_says_nothing_has_no_share():
    raw, _ = pd_importance(linear_model(0, 0), normal_data(), seed=1, standardised=True)
    assert np.isnan(raw).all()
