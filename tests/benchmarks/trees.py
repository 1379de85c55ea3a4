"""Time the replayed draws of tree ensembles beside scikit-learn's own permutations.

Run from the project's root: ``python3 -m tests.benchmarks.trees``. Prints one table;
processor time on one thread, so that other programs on the machine do not prolong it.
The peer is `sklearn.inspection.permutation_importance`, once, and the raw predictions
that any other way must make, from medians of rounds in which ours and one call of
predict alternate. What is compiled is compiled before.
"""

from statistics import median
from time import process_time

import numpy as np
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection import permutation_importance
from threadpoolctl import threadpool_limits

from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.trees import pack
from importance_audit.methods.trees.replay import replay

N_SAMPLES, N_FEATURES, N_REPEATS, ROUNDS = 10_000, 20, 10, 5
MODELS = (
    (RandomForestRegressor(100, min_samples_leaf=5, random_state=1), 12),
    (GradientBoostingRegressor(n_estimators=100, max_depth=3, random_state=1), 12),
    (HistGradientBoostingRegressor(max_iter=300, random_state=1), 20),
)


def seconds(function, *arguments, **options):
    """Return the processor time of one call."""
    start = process_time()
    function(*arguments, **options)
    return process_time() - start


def replayed(model, X, orders):
    """Return the mean squared change of the prediction, from packing to the end."""
    packing = pack(model)
    bins = packing.bins(X)
    draws = [(j, order) for own in orders for j, order in enumerate(own)]
    alone = [[j] for j in range(N_FEATURES)]
    return [np.square(each).mean() for each in replay(packing, bins, alone, draws)]


def rows():
    """Yield task, ours, peer, and the bar of each line."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    X, rng = data.X.to_numpy(), np.random.default_rng(1)
    y = data.y + X[:, 3] * X[:, 4]
    orders = [
        [rng.permutation(N_SAMPLES) for _ in range(N_FEATURES)]
        for _ in range(N_REPEATS)
    ]
    n_calls = 1 + N_REPEATS * N_FEATURES
    for model, bar in MODELS:
        name = type(model).__name__
        model.fit(X, y)
        replayed(model, X[:64], [[np.arange(64)] * N_FEATURES])
        times = [
            (seconds(replayed, model, X, orders), seconds(model.predict, X))
            for _ in range(ROUNDS)
        ]
        ours, raw = (median(column) for column in zip(*times, strict=True))
        yield f"{name} / {n_calls} predicts", ours, n_calls * raw, bar
        options = {"n_repeats": N_REPEATS, "random_state": 1}
        peer = seconds(permutation_importance, model, X, y, **options)
        yield f"{name} / scikit-learn", ours, peer, bar


if __name__ == "__main__":
    print(f"{N_SAMPLES} x {N_FEATURES}, {N_REPEATS} repeats")
    print(f"{'task':46}{'ours':>9}{'peer':>9}{'times':>8}{'bar':>6}")
    with threadpool_limits(1):
        for task, ours, peer, bar in rows():
            times = peer / ours
            print(f"{task:46}{ours:8.3f}s{peer:8.3f}s{times:8.1f}{bar:6}", flush=True)
