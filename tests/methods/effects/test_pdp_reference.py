"""R's pdp: surfaces, single curves, odd grids and subsets; every case of its file."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from tests.methods.recorded import Cases, evaluated, recorded

from importance_audit.methods.effects.partial_dependence import (
    partial_dependence,
    single_curves,
)
from importance_audit.methods.effects.surface import joint_dependence
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.r_rng import RStream

PDP, CURVES = recorded("pdp_surfaces"), recorded("pdp")
LEFT_OUT = {"trim-quantiles|glm-which-name": "R's own refusal"}
CASES = Cases(PDP["cases"], LEFT_OUT)
FRAMES = {name: case["result"].get("frame", ()) for name, case in CASES.items()}
SINGLE = [name for name, frame in FRAMES.items() if "yhat.id" in frame]
MEAN = [name for name, frame in FRAMES.items() if frame and name not in SINGLE]
CLASSIFIERS = ("glm", "rpart")


def rows(case):
    """Return the rows that pdp averages over."""
    block = PDP["data"][case["data"]["see"]]
    X = pd.DataFrame(block["columns"]).drop(columns=["y", "cls"], errors="ignore")
    X["g"] = X["g"].astype(pd.CategoricalDtype(block["levels"]["g"]))
    X["ch"] = X["ch"].astype("category")
    if "train = Xo" in case["call"]:
        X.loc[[0, 1], "x3"] = [9.0, -8.0]
    if "train = na" in case["call"]:  # pdp leaves out what has no prediction
        X = X.drop(index=[1, 4])
    if "approx = TRUE" in case["call"]:  # one row: medians, most frequent levels
        X = typical(X)
    if "train = X[1:10" in case["call"]:
        X = X[:10]
    if share := re.search(r"frac = ([\d.]+)", case["call"]):
        n_rows = int(float(share[1]) * len(X))
        X = X.iloc[RStream(case["seed"]).sample(len(X), n_rows)]
    return replace(normal_data(), X=X, y=np.zeros(len(X)), weights=np.ones(len(X)))


def typical(X):
    """Return one row of medians and most frequent levels, the first of equals."""
    columns = {
        name: [X[name].median() if X[name].dtype.kind in "if" else X[name].mode()[0]]
        for name in X
    }
    typical = pd.DataFrame(columns)
    return typical.astype({name: X[name].dtype for name in ("g", "ch")})


def model_of(case):
    """Return the formula of a case as a model, of the class that pdp shows."""
    is_event = case["id"].startswith(CLASSIFIERS)

    def predict(X):
        prediction = evaluated(case["model"], X)
        prediction = expit(prediction) if "plogis" in case["call"] else prediction
        return 1 - prediction if "which.class = 2" in case["call"] else prediction

    facts = {"task": "binary", "classes": ("no", "yes")} if is_event else {}
    return replace(linear_model(1), predict=predict, **facts)


def scale_of(case):
    """Return the scale that pdp takes for a classifier unless told otherwise."""
    is_logit = case["id"].startswith(CLASSIFIERS) and "prob = TRUE" not in case["call"]
    return "centred_logit" if is_logit else "native"


@CASES.of(*MEAN)
def test_the_curve_or_surface_is_that_of_pdp(name):
    case, frame = CASES[name], pd.DataFrame(CASES[name]["result"]["frame"])
    model, data, scale = model_of(case), rows(case), scale_of(case)
    features = tuple(frame.columns.drop("yhat"))
    points = tuple(np.array(pd.unique(frame[feature])) for feature in features)
    if len(features) == 1:
        grid_option = {"grid": tuple(points[0])} if points[0].dtype != object else {}
        grid, ours = partial_dependence(
            model, data, features[0], seed=1, scale=scale, **grid_option
        )
        points = (grid,)
    else:
        ours = joint_dependence(model, data.X, data, features, points, scale)
    at = [
        [list(grid_points).index(value) for value in frame[feature]]
        for feature, grid_points in zip(features, points, strict=True)
    ]
    assert ours[tuple(at)][:, 0] == pytest.approx(frame["yhat"].to_numpy(), rel=1e-12)


@CASES.of(*SINGLE)
def test_single_curves_are_those_of_pdp(name):
    case, frame = CASES[name], pd.DataFrame(CASES[name]["result"]["frame"])
    feature, *_ = frame.columns
    n_grid = re.search(r"grid.resolution = (\d)", case["call"])
    grid_option = {"n_grid": int(n_grid[1])} if n_grid else {}
    ((grid, values),) = single_curves(
        model_of(case), rows(case), feature, scale=scale_of(case), **grid_option
    )
    values = values - values[:1] if "center = TRUE" in case["call"] else values
    reference = frame.pivot(index=feature, columns="yhat.id", values="yhat")
    assert list(grid) == pytest.approx(list(reference.index))
    assert values[:, :, 0] == pytest.approx(reference.to_numpy(), rel=1e-12, abs=1e-12)


def test_every_case_is_compared_or_left_out_for_a_reason():
    curves = {case["id"] for case in CURVES["cases"]}
    assert len(CASES) + len(curves) == 64
    assert curves & set(CASES) == set()
    CASES.assert_accounted_for()
