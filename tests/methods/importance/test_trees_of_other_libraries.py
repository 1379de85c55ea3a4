"""Trees of XGBoost and LightGBM in a run: no number changes."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.recorded import recorded
from tests.methods.trees.small_ensembles import (
    classes_of,
    over_all_pairs,
)

import importance_audit as ia
from importance_audit.methods.trees.exact import exact_losses
from importance_audit.methods.trees.fitted import trees_of
from importance_audit.models.lightgbm_text import LightGBMModel

pytestmark = pytest.mark.needs_numba

CASES = recorded("lightgbm/models")["cases"]
TEXTS = {case["id"]: case["model"] for case in CASES}
NAMES = ["size", "age", "town", "kind", "same"]
SMALL = {"n_estimators": 6, "max_depth": 4, "n_jobs": 1, "tree_method": "hist"}
LABELS = {"regression": [], "binary": ["0", "1"], "multiclass": list("012345678")}


def table(seed=1, n_rows=120):
    """Return rows with ties, zeros, codes and missing values, and a score."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(2),
            "age": rng.exponential(size=n_rows).round(1) * rng.integers(0, 2, n_rows),
            "town": rng.integers(0, 70, n_rows) * 1.0,
            "kind": rng.integers(0, 3, n_rows) * 1.0,
            "same": 1.0,
        }
    )
    score = X["size"] * X["kind"] - X["age"] + (X["town"] % 3 == 0)
    X = X.mask(rng.random(X.shape) < 0.1).assign(same=1.0)
    return X, score.to_numpy() + rng.normal(size=n_rows) / 5


def of_xgboost(kind, task, X, y):
    """Return a fitted estimator, its Booster, or one that did not meet every code."""
    xgboost = pytest.importorskip("xgboost")
    made = xgboost.XGBRegressor if task == "regression" else xgboost.XGBClassifier
    if kind == "by category":
        types = {"enable_categorical": True, "feature_types": list("qqccq")}
        met = (X["town"].fillna(0) < 40).to_numpy()
        return made(**SMALL, **types).fit(X[met].to_numpy(), y[met])
    model = made(**SMALL).fit(X, y)
    return model.get_booster() if kind == "Booster" else model


class Booster:
    """What LightGBM's Booster offers, of a recorded text, with C's own functions."""

    def __init__(self, text):
        self._text, self._model = text, LightGBMModel("m", text.encode())

    def model_to_string(self):
        return self._text

    def feature_name(self):
        return NAMES

    def predict(self, X):
        model = self._model
        link, model.objective = model.objective, ""
        scores = model.predict(X)
        model.objective = link
        slope = float(model.options.get("sigmoid", 1))
        return np.vectorize(partial(LINKS[link], slope))(scores)


LINKS = {
    "regression": lambda _, score: score,
    "poisson": lambda _, score: math.exp(score),
    "binary": lambda slope, score: 1 / (1 + math.exp(-slope * score)),
    "multiclassova": lambda slope, score: 1 / (1 + math.exp(-slope * score)),
}
Booster.__module__ = "lightgbm.basic"


def text_file(folder, case):
    path = folder / "model.txt"
    path.write_text(TEXTS[case], encoding="utf8")
    return path


MADE = {
    **{
        f"xgboost {kind} {task}": (task, partial(of_xgboost, kind, task))
        for kind in ("estimator", "Booster", "by category")
        for task in LABELS
        if (kind, task) != ("by category", "multiclass")
    },
    **{
        f"{kind} {case}": (task, case)
        for kind in ("text", "library")
        for case, task in (
            ("regression", "regression"),
            ("zero_as_missing", "regression"),
            ("no_missing", "regression"),
            ("forest", "regression"),
            ("poisson", "regression"),
            ("sigmoid", "binary"),
            ("one_against_all", "multiclass"),
        )
    },
}


def audited(kind, folder, seed=1, **options):
    """Return a model as an audit asks it, and rows."""
    task, make = MADE[kind]
    X, score = table(seed)
    labels = LABELS[task]
    y = classes_of(score, len(labels)) if labels else score
    if callable(make):
        thing = make(X, y)
    elif kind.startswith("text"):
        thing = text_file(folder, make)
    else:
        thing = Booster(TEXTS[make])
    rows = ia.dataset(
        X,
        y.astype(str) if labels else y,
        name="r",
        task=task,
        **({"classes": options.get("classes", labels)} if labels else {}),
    )
    if "by category" in kind:
        options["features"] = NAMES
    model = ia.wrap(thing, name="m", **options)
    rows = rows.with_groups({n: (n,) for n in X} | {"two": ("size", "town")})
    return model.for_rows(rows), rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_trees_answer_for_predict(assert_as_by_predict, tmp_path, kind):
    assert_as_by_predict(*audited(kind, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["xgboost estimator binary", "xgboost Booster binary", "text sigmoid"]
)
def test_a_positive_class_that_the_model_names_first(
    assert_as_by_predict, tmp_path, kind
):
    assert_as_by_predict(*audited(kind, tmp_path, classes=["1", "0"]))


OF_TASK = {
    "regression": ["mse", "mae"],
    "binary": ["log_loss", "brier"],
    "multiclass": ["log_loss"],
}


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(MADE)))
def test_exact_losses_are_those_over_all_pairs_of_rows(tmp_path_factory, seed, kind):
    task = MADE[kind][0]
    model, rows = audited(kind, tmp_path_factory.mktemp("exact"), seed)
    trees, rng = trees_of(model, rows.X), np.random.default_rng(seed)
    X, y = rows.X.iloc[:30], rows.y[:30]
    weights = rng.exponential(size=30) * (rng.random(30) > 0.2)
    losses = OF_TASK[task]
    of_rows = trees.packing, trees.bins(X), y, weights, losses
    raw = exact_losses(*of_rows, columns=trees.columns).raw
    near = 1e-5 if kind.startswith("xgboost") else 1e-11  # single precision
    ask = lambda cells: model.predict(pd.DataFrame(cells, columns=X.columns))  # noqa: E731
    theirs, _ = over_all_pairs(ask, X.to_numpy(), y, weights, losses)
    assert raw == pytest.approx(theirs, rel=near)
