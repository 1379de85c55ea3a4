"""The numbers of R's iml: importance, H, partial dependence, ALE, ICE; every case."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from importance_audit.methods.effects.ale import ale
from importance_audit.methods.effects.partial_dependence import (
    partial_dependence,
    single_curves,
)
from importance_audit.methods.importance.interaction import h_statistic
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.interactions.vint import joint_dependence
from importance_audit.methods.known_answers import linear_model, normal_data

REFERENCE = Path(__file__).parents[1] / "reference" / "iml.json"
IML = json.loads(REFERENCE.read_text(encoding="utf8"))
CASES = {case["id"]: case for case in IML["cases"]}
COLUMNS = IML["data"]["d"]["columns"]
NAMES = ["x1", "x2", "x3", "k", "g"]
LEFT_OUT = {
    "imp-ce": "iml compares probabilities with classes, so every row counts as wrong",
    "interaction-(all|pair)-grid": "12 rows drawn by a stream of R we do not replay",
}
BY_LAW = "imp-(?!ce).*"
"""The cases that are compared with a law, not number by number."""
LOSSES = {"rmse": "rmse", "mse": "mse", "mae": "mae", "logLoss": "log_loss"}


def of(pattern):
    """Return the ids that are as the pattern says, as a parametrisation."""
    names = [c for c in CASES if re.match(pattern, c) and c not in left_out()]
    return pytest.mark.parametrize("name", names)


def left_out():
    """Return the ids that are not compared."""
    return {c for c in CASES if any(re.fullmatch(p, c) for p in LEFT_OUT)}


def model_of(formula, losses=()):
    """Return a formula of the columns as a model."""

    def predict(X):
        columns = {name: X[name].to_numpy() for name in X if name != "g"}
        if "g" in X:
            columns["g"] = X["g"].astype(object).to_numpy()
        return np.ones(len(X)) * eval(formula, {"exp": np.exp}, columns)

    is_event = formula.startswith("1/(1 + exp")
    facts = {"task": "binary", "classes": ("no", "yes")} if is_event else {}
    model = replace(linear_model(1), predict=predict, features=tuple(NAMES), **facts)
    return replace(model, losses=losses)


def rows(n_rows=50, target="y"):
    """Return the first rows of the data of all cases."""
    X = pd.DataFrame(COLUMNS)[NAMES]
    X["g"] = X["g"].astype(pd.CategoricalDtype(IML["data"]["d"]["levels"]["g"]))
    y = np.array(COLUMNS[target], dtype=float)[:n_rows]
    data = replace(normal_data(), X=X[:n_rows], y=y, weights=np.ones(n_rows))
    return data.with_groups({name: (name,) for name in X})


def case_parts(case):
    """Return the model, the rows and the options of a case, and what iml says."""
    options = case["options"]
    question = model_of(case["model"]), rows(options.get("rows", 50)), options
    return *question, case["result"]["results"]


@of(r"effect-pdp-(?!two|ice)")
def test_partial_dependence_is_that_of_iml(name):
    model, data, options, truth = case_parts(CASES[name])
    feature = options["feature"]
    is_even = feature in ("x1", "x3") and not {"center.at", "grid.points"} & {*options}
    points = {"n_grid": options.get("grid.size", 20)}
    points = points if is_even else {"grid": tuple(truth[feature])}
    grid, values = partial_dependence(model, data, feature, seed=1, **points)
    if "center.at" in options:
        values = values - values[list(grid).index(options["center.at"])]
    reference = dict(zip(truth[feature], truth[".value"], strict=True))
    if feature != "g":
        reference = dict(zip(grid, reference.values(), strict=True))
    ours = dict(zip(grid, values[:, 0], strict=True))
    assert ours == pytest.approx(reference, rel=1e-9, abs=1e-12)
    assert feature == "g" or grid == pytest.approx(np.array(truth[feature]), rel=1e-12)


@of("effect-pdp-two")
def test_partial_dependence_on_two_is_that_of_iml(name):
    model, data, options, truth = case_parts(CASES[name])
    features = tuple(options["feature"])
    points = tuple(pd.unique(pd.Series(truth[feature])) for feature in features)
    surface = joint_dependence(model, data.X, data, features, points, "native")
    ours = surface[:, :, 0].T.ravel()  # the first is fastest in R
    assert ours == pytest.approx(np.array(truth[".value"]), rel=1e-9)


@of("effect-ice|effect-pdp-ice")
def test_single_curves_and_their_mean_are_those_of_iml(name):
    model, data, options, truth = case_parts(CASES[name])
    feature, frame = options["feature"], pd.DataFrame(truth)
    points = {} if feature == "g" else {"n_grid": options["grid.size"]}
    ((grid, values),) = single_curves(model, data, feature, **points)
    by_row = frame[frame[".type"] == "ice"].pivot(
        index=feature, columns=".id", values=".value"
    )
    assert values[:, :, 0] == pytest.approx(by_row.loc[grid].to_numpy(), rel=1e-9)
    if "pdp" in name:
        mean = frame[frame[".type"] == "pdp"].set_index(feature)[".value"]
        assert values[:, :, 0].mean(axis=1) == pytest.approx(mean[grid].to_numpy())


@of("effect-ale")
def test_accumulated_local_effects_are_those_of_iml(name):
    model, data, options, truth = case_parts(CASES[name])
    feature = options["feature"]
    grid_option = {} if feature == "g" else {"grid": tuple(truth[feature])}
    grid, values = ale(model, data, feature, seed=1, **grid_option)
    expected = dict(zip(truth[feature], truth[".value"], strict=True))
    expected = np.array([expected[point] for point in grid])
    # Where iml is told the zero, or rows lie outside the grid, its zero is another.
    if {"center.at", "grid.points"} & set(options):
        values, expected = values - values[0], expected - expected[0]
    assert values[:, 0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@of("interaction")
def test_h_is_that_of_iml(name):
    model, data, _, truth = case_parts(CASES[name])
    names = [tuple(pair.split(":")) for pair in truth[".feature"]]
    data = data.with_groups({":".join(columns): columns for columns in names})
    raw, _ = h_statistic(model, data, seed=1, standardised=True)
    reference = np.array(truth[".interaction"], dtype=float)
    assert raw[:, 0, 0] == pytest.approx(reference, rel=1e-9, abs=1e-12, nan_ok=True)


N_DRAWS = 400
SURE = 1e-6  # of one comparison; there are some hundred


@cache
def permuted(formula, target, groups):
    """Return our losses by name: per group sorted draws, and with nothing permuted."""
    names = ("log_loss",) if target == "b" else ("rmse", "mse", "mae")
    data = rows(target=target if target in COLUMNS else "y").with_groups(dict(groups))
    if target == "prediction":
        data = replace(data, y=model_of(formula).predict(data.X))
    raw, baseline = permutation(
        model_of(formula, names), data, seed=1, n_repeats=N_DRAWS
    )
    return {
        name: (dict(zip(data.groups, np.sort(raw[:, :, n]), strict=True)), unmoved)
        for n, (name, unmoved) in enumerate(zip(names, baseline[0], strict=True))
    }


def share_below(n_draws, q):
    """Return between which shares of a law a sample quantile (type 7) surely lies.

    The share below the k-th of n draws has the law Beta(k, n - k + 1); the share that
    we have in `N_DRAWS` misses the law's by less than a bound of Massart's.
    """
    at = (n_draws - 1) * q + 1
    low, high = np.floor(at), np.ceil(at)
    missed = np.sqrt(np.log(2 / SURE) / (2 * N_DRAWS))
    return (
        beta.ppf(SURE, low, n_draws - low + 1) - missed,
        beta.isf(SURE, high, n_draws - high + 1) + missed,
    )


@of("imp-")
def test_importances_of_iml_are_quantiles_of_the_law_of_ours(name):
    case, result = CASES[name], CASES[name]["result"]
    options, table = case["options"], pd.DataFrame(result["results"])
    target = {"imp-name-logLoss": "b", "imp-zero-error": "prediction"}.get(name, "y")
    groups = options.get("features") or {name: [name] for name in NAMES}
    groups = tuple((group, tuple(columns)) for group, columns in groups.items())
    loss = LOSSES[options["loss"].removeprefix("loss_")]
    ours, unmoved = permuted(case["model"], target, groups)[loss]
    assert unmoved == pytest.approx(result["original_error"], rel=1e-9, abs=1e-15)
    for q, column in ((0.05, ".05"), (0.5, ""), (0.95, ".95")):
        low, high = share_below(options["n.repetitions"], q)
        for group, value in zip(
            table["feature"], table[f"importance{column}"], strict=True
        ):
            is_ratio = result["compare"] == "ratio"
            quantile = value * unmoved if is_ratio else value + unmoved
            slack = 1e-12 * max(quantile, 1)
            assert np.mean(ours[group] < quantile - slack) <= high, (group, q)
            assert np.mean(ours[group] <= quantile + slack) >= low, (group, q)


def test_every_case_is_compared_or_left_out_for_a_reason():
    compared = [
        case
        for name, test in globals().items()
        if name.startswith("test_")
        for mark in getattr(test, "pytestmark", [])
        for case in mark.args[1]
    ]
    assert len(CASES) == 38
    assert sorted([*compared, *left_out()]) == sorted(CASES)
    assert all(any(re.fullmatch(p, c) for c in CASES) for p in LEFT_OUT)
