"""The numbers of R's hstats: H of single columns and of pairs, partial dependences."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.effects.partial_dependence import partial_dependence
from pipeline.interactions.h_statistic import h_statistic
from pipeline.interactions.vint import joint_dependence
from pipeline.records import Dataset, FittedModel

REFERENCE = Path(__file__).parents[1] / "reference" / "hstats.json"
HSTATS = json.loads(REFERENCE.read_text(encoding="utf8"))
CASES = {case["id"]: case for case in HSTATS["cases"]}
NAMES = ["x1", "x2", "x3", "x4", "k", "g"]
H = [
    (name, features)
    for name, case in CASES.items()
    if name.startswith("h-")
    for features in (
        *((feature,) for feature in case["result"]["v"]),
        *(
            (a, b)
            for a in case["result"]["v_pairwise"]
            for b in case["result"]["v_pairwise"]
            if a < b and f"{a}:{b}" in str(case["result"]["h2_pairwise"])
        ),
    )
]
EPS = 1e-10  # what hstats writes as 0
CURVES = [name for name in CASES if name.startswith("pd-")]


def rows(case):
    """Return the rows of a case, binned where hstats approximates by bins."""
    block = HSTATS["data"][case["data"]["see"]]
    X = pd.DataFrame(block["columns"])[NAMES].astype({"k": np.int64})
    X["g"] = X["g"].astype(pd.CategoricalDtype(block["levels"]["g"]))
    if "approx = TRUE" in case["call"]:
        n_bins = int(case["call"].split("grid_size = ")[1].split(",")[0])
        for name in set(case["result"]["v"]) - {"g"}:
            X[name] = binned(X[name].to_numpy(), n_bins)
    weights = block["columns"]["w"] if "d$w" in case["call"] else np.ones(len(X))
    return Dataset(
        name="rows",
        X=X,
        y=np.zeros(len(X)),
        task="regression",
        weights=np.array(weights, dtype=float),
        groups={name: (name,) for name in X},
        split="test",
        target="y",
        sha256="",
    )


def binned(values, n_bins):
    """Return the middles of the bins between quantiles (type 7) that values fall in."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)))
    bins = np.searchsorted(edges, values, side="right") - 1
    return ((edges[1:] + edges[:-1]) / 2)[np.minimum(bins, len(edges) - 2)]


def model_of(case):
    """Return the formulas of a case as a model."""
    formulas = case["model"]
    is_many = isinstance(formulas, dict)
    each = list(formulas.values()) if is_many else [formulas]

    def predict(X):
        columns = {"g": X["g"].astype(object).to_numpy()}
        columns |= {name: X[name].to_numpy(float) for name in NAMES if name != "g"}
        found = [np.ones(len(X)) * eval(f, {"exp": np.exp}, columns) for f in each]
        return np.stack(found, axis=1) if is_many else found[0]

    return FittedModel(
        name="formula",
        task="multiclass" if is_many else "regression",
        scale="response",
        predict=predict,
        features=tuple(NAMES),
        losses=(),
        classes=tuple(formulas) if is_many else (),
    )


def told(result, kind, features):
    """Return what hstats says of some features, (n_outputs,)."""
    numbers = result[kind]
    if not isinstance(numbers, dict):
        return np.atleast_1d(numbers)
    name = ":".join(features)
    if "values" in numbers:
        return np.array(numbers["values"][numbers["rows"].index(name)])
    return np.atleast_1d(numbers[name])


@pytest.mark.parametrize(("name", "features"), H)
def test_h_is_that_of_hstats(name, features):
    case = CASES[name]
    n_max = 30 if "n_max = 30" in case["call"] else 500
    found = h_statistic(
        model_of(case),
        rows(case),
        features,
        seed=case["seed"] or 0,
        n_rows=n_max,
        stream="hstats",
    )
    result = case["result"]["h2_overall" if len(features) == 1 else "h2_pairwise"]
    for kind, ours in zip(("num", "denom"), found, strict=True):
        assert ours == pytest.approx(told(result, kind, features), rel=1e-9, abs=EPS)


@pytest.mark.parametrize("name", CURVES)
def test_partial_dependence_is_that_of_hstats(name):
    case = CASES[name]
    frame = pd.DataFrame(case["result"]["frame"])
    model, data = model_of(case), rows(case)
    features = [column for column in frame if column in NAMES]
    theirs = frame.drop(columns=features).to_numpy()
    if len(features) == 1:
        grid = tuple(frame[features[0]])
        _, ours = partial_dependence(model, data, features[0], seed=0, grid=grid)
    else:
        points = tuple(frame[feature].unique() for feature in features)
        ours = joint_dependence(model, data.X, data, features, points, "native")
        ours = ours.swapaxes(0, 1).reshape(len(frame), -1)  # the first is fastest in R
    assert ours == pytest.approx(theirs, rel=1e-9)
