"""Rows and small ensembles of every kind that exact counts are held against."""

import numpy as np
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

MODELS = {
    "tree": DecisionTreeRegressor(random_state=1),
    "forest": RandomForestRegressor(7, random_state=1),
    "extra trees": ExtraTreesRegressor(4, min_samples_leaf=3, random_state=1),
    "classes": RandomForestClassifier(5, random_state=1),
    "boosting": GradientBoostingRegressor(n_estimators=12, max_depth=4),
    "histograms": HistGradientBoostingRegressor(
        max_iter=8, min_samples_leaf=3, categorical_features=[2]
    ),
}
TAKES_MISSING = ("histograms",)
UNUSED = 4
"""A constant column, which no tree can split."""

seeds = st.integers(0, 10**6)
kinds = st.sampled_from(sorted(MODELS))


def fitted(kind, seed):
    """Return a model and rows it was not fitted on, with missing values if it can."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(60, 120), 5))
    rows[:, 1] = rows[:, 1].round(1)
    rows[:, 2] = rng.integers(0, 6, len(rows))
    rows[:, UNUSED] = 1 / 3
    score = rows[:, 0] * rows[:, 1] + (rows[:, 2] % 3) * rows[:, 3]
    target = np.digitize(score, [-1, 1]) if kind == "classes" else score
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
