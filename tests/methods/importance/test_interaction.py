"""Interactions as importances: units, repeats, ratios, and what is refused."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from importance_audit.methods.importance.h_statistic import h_statistic
from importance_audit.methods.importance.vint import vint
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import wrap
from importance_audit.records.errors import NotApplicable

DATA = normal_data(1, 1, 1, n_samples=40).with_groups({"pair": ("x1", "x2")})
BOTH = pytest.mark.parametrize("method", [h_statistic, vint])


def score(function=lambda X: X["x1"] * X["x2"] + X["x3"]):
    names = ["x1", "x2", "x3"]
    return wrap(function, name="score", task="regression", features=names)


def curved(X):
    return X["x1"] * np.exp(X["x2"] * X["x3"])


@BOTH
def test_what_is_given_is_not_changed(method):
    kind = pd.Categorical(["u", "v"] * 20)
    data = replace(DATA, X=DATA.X.assign(kind=kind))
    method(score(curved), data.with_groups({"pair": ("x1", "kind")}), seed=1)
    pd.testing.assert_frame_equal(data.X, DATA.X.assign(kind=kind))


@BOTH
def test_a_multiple_of_the_prediction_is_a_multiple_of_the_interaction(method):
    raw, _ = method(score(curved), DATA, seed=1)
    triple, _ = method(score(lambda X: 3 * curved(X)), DATA, seed=1)
    assert triple == pytest.approx(3 * raw, rel=1e-12)


@BOTH
def test_rows_are_drawn_afresh_for_each_repeat_unless_all_are_taken(method):
    scores, _ = method(score(curved), DATA, seed=1, n_rows=10, n_repeats=3)
    assert len(set(scores.ravel())) == 3
    every, _ = method(score(curved), DATA, seed=1, n_rows=40, n_repeats=3)
    assert len(set(every.ravel())) == 1


@BOTH
def test_more_repeats_change_no_number(method):
    few, _ = method(score(curved), DATA, seed=1, n_rows=10, n_repeats=1)
    many, _ = method(score(curved), DATA, seed=1, n_rows=10, n_repeats=2)
    assert many[:, :1].tobytes() == few.tobytes()


@BOTH
def test_without_a_joint_curve_there_is_no_ratio(method):
    raw, _ = method(score(lambda X: X["x3"] * 0 + 1), DATA, seed=1, standardised=True)
    assert np.isnan(raw).all()


def test_one_column_and_pairs_are_asked_in_one_call():
    data = DATA.with_groups({"x3": ("x3",), "pair": ("x1", "x2"), "x1": ("x1",)})
    raw, _ = h_statistic(score(), data, seed=1)
    assert raw[0].item() == 0
    assert raw[1].item() == pytest.approx(raw[2].item(), rel=1e-12)


def test_three_columns_measure_what_no_two_of_them_do():
    data = DATA.with_groups({"all": ("x1", "x2", "x3")})
    assert h_statistic(score(), data, seed=1)[0].item() == 0
    signs = list(product((-1.0, 1.0), repeat=3))
    X = pd.DataFrame(signs, columns=["x1", "x2", "x3"])
    cube = replace(data, X=X, weights=np.ones(8))
    all_three = score(lambda X: X["x1"] * X["x2"] * (1 - 3 * X["x3"]))
    assert h_statistic(all_three, cube, seed=1)[0].item() == pytest.approx(3)


def test_a_category_takes_part_like_any_column():
    X = DATA.X.assign(x2=pd.Categorical(np.where(DATA.X["x2"] > 0, "up", "down")))
    model = score(lambda X: X["x1"] * (X["x2"] == "up"))
    raw, _ = h_statistic(model, replace(DATA, X=X), seed=1)
    share, x1 = (X["x2"] == "up") - (X["x2"] == "up").mean(), DATA.X["x1"]
    product = (x1 - x1.mean()) * share
    assert raw.item() == pytest.approx(product.std(ddof=0), rel=1e-12)


def test_groups_that_are_no_pair_are_refused():
    X = DATA.X.assign(x4=0.0)
    four = replace(DATA, X=X).with_groups({"all": ("x1", "x2", "x3", "x4")})
    message = (
        "Group 'all' must have one to three columns for method 'h_statistic'; it "
        "has 4: 'x1', 'x2', 'x3', 'x4'. Ask of = \"pairs\"."
    )
    with pytest.raises(NotApplicable, match=f"^{re.escape(message)}$"):
        h_statistic(score(), four, seed=1)
    with pytest.raises(NotApplicable, match="must have two columns for method 'vint'"):
        vint(score(), DATA.with_groups({"x1": ("x1",)}), seed=1)


@BOTH
def test_options_that_name_no_measurement_are_refused(method):
    with pytest.raises(ValueError, match=r"^n_repeats must be at least 1; 0 was"):
        method(score(), DATA, seed=1, n_repeats=0)
    with pytest.raises(NotApplicable, match="Stream 'hstats' must have one repeat"):
        method(score(), DATA, seed=1, n_repeats=2, stream="hstats")
