"""Time the replayed draws of XGBoost's trees, and of trees at the end of a pipeline.

Run from the project's root: ``python3 -m tests.benchmarks.trees_of_libraries``. Prints
one table; processor time on one thread, so that other programs on the machine do not
prolong it. The peer is the raw predictions that any other way must make, from medians
of rounds in which ours and one call of predict alternate. What is compiled is compiled
before.
"""

from statistics import median

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.trees.fitted import trees_of
from importance_audit.models.fit import wrap

from .trees import N_FEATURES, N_REPEATS, N_SAMPLES, ROUNDS, seconds

BARS = {"forest in a pipeline": 10}
BAR_OF_XGBOOST = 4
ONE = {"n_jobs": 1, "tree_method": "hist", "random_state": 1}
LEVELS = ["x2", "x5"]


def pipeline():
    """Return a forest behind scaled numbers and one-hot levels."""
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), LEVELS),
        remainder=StandardScaler(),
    )
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=1)
    return make_pipeline(steps, forest)


MODELS = {
    "XGBoost, 100 of depth 6": XGBRegressor(n_estimators=100, max_depth=6, **ONE),
    "XGBoost, 300 of depth 3": XGBRegressor(n_estimators=300, max_depth=3, **ONE),
    "XGBoost, two classes": XGBClassifier(n_estimators=100, max_depth=6, **ONE),
    "forest in a pipeline": pipeline(),
}


def replayed(model, X, draws):
    """Return the mean squared change of the prediction, from reading to the end."""
    trees = trees_of(model, X)
    groups = [(name,) for name in X]
    answers = trees.replay(trees.bins(X), groups, draws)
    return [np.square(each).mean() for each in answers]


def rows():
    """Yield task, ours, peer and the bar of each line."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    rng = np.random.default_rng(1)
    y = data.y + (data.X.iloc[:, 3] * data.X.iloc[:, 4]).to_numpy()
    draws = [
        (j, rng.permutation(N_SAMPLES))
        for _ in range(N_REPEATS)
        for j in range(N_FEATURES)
    ]
    n_calls = 1 + N_REPEATS * N_FEATURES
    for name, estimator in MODELS.items():
        X = data.X
        if name.endswith("pipeline"):
            X = X.assign(**{n: pd.cut(X[n], 8).astype(str) for n in LEVELS})
        is_of_classes = hasattr(estimator, "predict_proba")
        model = wrap(estimator.fit(X, y > 0 if is_of_classes else y), name="m")
        replayed(model, X, draws[:1])
        times = [
            (seconds(replayed, model, X, draws), seconds(model.predict, X))
            for _ in range(ROUNDS)
        ]
        ours, raw = (median(column) for column in zip(*times, strict=True))
        bar = BARS.get(name, BAR_OF_XGBOOST)
        yield f"{name} / {n_calls} predicts", ours, n_calls * raw, bar


if __name__ == "__main__":
    print(f"{N_SAMPLES} x {N_FEATURES}, {N_REPEATS} repeats")
    print(f"{'task':46}{'ours':>9}{'peer':>9}{'times':>8}{'bar':>6}")
    with threadpool_limits(1):
        for task, ours, peer, bar in rows():
            line = f"{task:46}{ours:8.3f}s{peer:8.3f}s{peer / ours:8.1f}{bar:6}"
            print(line, flush=True)
