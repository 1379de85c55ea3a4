"""Rows and small ensembles of every kind, as arrays and as what an audit asks."""

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection
from importance_audit.records.losses import evaluate

MODELS = {
    "tree": DecisionTreeRegressor(random_state=1),
    "forest": RandomForestRegressor(7, random_state=1),
    "extra trees": ExtraTreesRegressor(4, min_samples_leaf=3, random_state=1),
    "classes": RandomForestClassifier(5, random_state=1),
    "boosting": GradientBoostingRegressor(n_estimators=12, max_depth=4),
    "histograms": HistGradientBoostingRegressor(
        max_iter=8, min_samples_leaf=3, categorical_features=[2]
    ),
    "extra classes": ExtraTreesClassifier(5, random_state=1),
    "boosted classes": GradientBoostingClassifier(n_estimators=3, random_state=1),
    "histogram classes": HistGradientBoostingClassifier(
        max_iter=3, min_samples_leaf=3, categorical_features=[2]
    ),
}
TAKES_MISSING = ("histograms", "histogram classes")
NO_SUMS = {"boosted classes", "histogram classes"}
"""What these predict are functions of sums over leaves."""
UNUSED = 4
"""A constant column, which no tree can split."""
N_ROWS = 90
KINDS = {
    "RandomForest": {"n_estimators": 5, "random_state": 1},
    "GradientBoosting": {"n_estimators": 8, "random_state": 1},
    "HistGradientBoosting": {"max_iter": 8},
}
LABELS = {"regression": (), "binary": ("no", "yes"), "multiclass": ("a", "b", "c")}

seeds = st.integers(0, 10**6)
kinds = st.sampled_from(sorted(MODELS))
sums = st.sampled_from(sorted(MODELS.keys() - NO_SUMS))


def drawn(seed, n_missing=0, n_rows=120, scaled=True):
    """Return rows with ties, codes, a constant column and gaps, and a score above 0."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 5)) * 10.0 ** (rng.integers(-3, 4) * scaled)
    rows[:, 1] = rows[:, 1].round(1)
    rows[:, 2] = rng.integers(0, 70, n_rows)
    rows[:, 3] = 3 * rng.integers(0, 4, n_rows)
    rows[:, UNUSED] = 1 / 3
    score = np.sign(rows[:, 0]) * rows[:, 3] / 3 + np.sin(rows[:, 2])
    rows[rng.random(rows.shape) < n_missing / 10] = np.nan
    return rows, np.exp((score + rng.normal(size=n_rows)) / 4)


def fitted(kind, seed):
    """Return a model and rows it was not fitted on, with missing values if it can."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(60, 120), 5))
    rows[:, 1] = rows[:, 1].round(1)
    rows[:, 2] = rng.integers(0, 6, len(rows))
    rows[:, UNUSED] = 1 / 3
    score = rows[:, 0] * rows[:, 1] + (rows[:, 2] % 3) * rows[:, 3]
    target = np.digitize(score, [-1, 1]) if "classes" in kind else score
    if kind in TAKES_MISSING:
        holes = rng.random(rows.shape) < 0.1
        holes[:, UNUSED] = False
        rows[holes] = np.nan
    model = MODELS[kind].fit(rows, target)
    return model, rows[rng.permutation(len(rows))[: rng.integers(2, 60)]]


def answer(model, rows):
    """Return what the library predicts, one column for each class or one number."""
    if hasattr(model, "classes_"):
        return model.predict_proba(rows)
    return model.predict(rows)[:, np.newaxis]


def brute_force(model, rows, settings):
    """Return the mean prediction with columns set as in each of `settings`."""
    means = []
    for values in settings:
        changed = rows.copy()
        for j, value in values.items():
            changed[:, j] = value
        means.append(answer(model, changed).mean(axis=0))
    return np.array(means)


SUMMED = ("sum_of_squares", "negative_log_likelihood")
"""Losses that grow with the number of rows."""


def over_all_pairs(ask, rows, y, weights, losses):
    """Return the loss of each feature when every row is given every row's value."""
    n_rows, n_features = rows.shape
    raw = []
    for j in range(n_features):
        pairs = np.repeat(rows, n_rows, axis=0)
        pairs[:, j] = np.tile(rows[:, j], n_rows)
        each = np.repeat(y, n_rows), ask(pairs), np.repeat(weights, n_rows)
        raw.append(evaluate(losses, *each))
    raw = np.array(raw)
    raw[:, [name in SUMMED for name in losses]] /= n_rows
    return raw, evaluate(losses, y, ask(rows), weights)


def classes_of(score, n_classes):
    """Return classes of about equally many rows, by their score."""
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return np.searchsorted(edges, score)


def around_thresholds(packing, dtype=np.float64):
    """Return rows of thresholds, and of the numbers below and above them."""
    on = np.zeros((40, packing.n_features), dtype=dtype)
    for j, own in enumerate(packing.thresholds):
        own = own[np.isfinite(own)][:40]
        on[: len(own), j] = own
    ends = [dtype(-np.inf), dtype(np.inf)]
    return np.vstack([on, *(np.nextafter(on, end) for end in ends)])


def same_bits(ours, theirs):
    """Return whether two arrays, or lists of arrays, are equal to the last bit."""
    return [(one.shape, one.tobytes()) for one in map(np.asarray, ours)] == [
        (one.shape, one.tobytes()) for one in map(np.asarray, theirs)
    ]


def rows_of(task="regression", missing=False):
    """Return a frame of numbers, whole numbers and one category."""
    data = normal_data(2, 1, 0, n_samples=N_ROWS)
    level = pd.Categorical(np.array(list("uvw"))[np.arange(N_ROWS) % 3])
    X = data.X.assign(level=level, whole=np.arange(N_ROWS) % 7)
    y = data.y + (level == "v") * X["x1"].to_numpy()
    if missing:
        X.loc[::5, "x1"] = np.nan
    if classes := LABELS[task]:
        y = classes_of(y, len(classes))
    groups = {name: (name,) for name in X}
    return replace(data, X=X, y=y, task=task, classes=classes, groups=groups)


def model_of(kind, data, **options):
    """Return an ensemble of `KINDS` that an audit fitted on these rows."""
    suffix = "Regressor" if data.task == "regression" else "Classifier"
    estimator = f"sklearn.ensemble.{kind}{suffix}"
    section = {"name": "m", "estimator": estimator, "parameters": KINDS[kind]}
    return fit(ModelSection(**section, **options), data)


def by_predict(model):
    """Return the same model behind a function, so that predict answers."""
    return replace(model, predict=lambda X: model.predict(X))


def fit_again(model, data):
    """Fit the estimator of a model to the targets of other rows."""
    rows = data.X.assign(level=data.X["level"].cat.codes)
    model.estimator.fit(rows.to_numpy(dtype=float), data.y[::-1])
