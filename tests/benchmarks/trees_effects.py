"""Time curves and interactions of tree ensembles beside the predictions they replace.

Run from the project's root: ``python3 -m tests.benchmarks.trees_effects``. Prints one
table: processor time on one thread, medians of rounds in which ours, from reading the
ensemble to the end, and predict take turns. A partial dependence by predict takes one
call for each of 50 points and each feature: 1 000 calls, estimated from one.
"""

from itertools import combinations
from statistics import median

import numpy as np
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_limits

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.pairs import Pairs
from importance_audit.methods.trees.partial_dependence import curves_at_bins

from .trees import seconds

N_SAMPLES, N_FEATURES, N_POINTS, ROUNDS = 10_000, 20, 50, 7
MODELS = {
    "forest": RandomForestRegressor(100, min_samples_leaf=5, random_state=1),
    "boosting": GradientBoostingRegressor(random_state=1),
    "histogram boosting": HistGradientBoostingRegressor(max_iter=300),
}


def curves(model, rows):
    """Compute all curves at all values, reading and binning included."""
    packing = pack(model)
    curves_at_bins(packing, packing.bins(rows))


def all_pairs(model, rows):
    """Compute what every two features do together at every row."""
    packing = pack(model)
    pairs = Pairs(packing, packing.bins(rows))
    for j, k in combinations(range(rows.shape[1]), 2):
        pairs.together(j, k)


def lines():
    """Yield task, our seconds, those of one predict, the ratio and its limit."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(N_SAMPLES, N_FEATURES))
    noise = rng.normal(size=N_SAMPLES)
    target = rows[:, 0] * rows[:, 1] + rows[:, 2:8].sum(axis=1) + noise
    for name, model in MODELS.items():
        model.fit(rows, target)
        calls = (model.predict, lambda X, m=model: curves(m, X))
        calls += (lambda X, m=model: all_pairs(m, X),)
        for call in calls:
            call(rows[:200])  # compiles
        times = [[seconds(call, rows) for call in calls] for _ in range(ROUNDS)]
        predict, means, pairs = map(median, zip(*times, strict=True))
        brute = N_POINTS * N_FEATURES * predict
        yield f"{name}: PD, times faster", means, predict, brute / means, 300
        yield f"{name}: H, in predicts", pairs, predict, pairs / predict, 10


if __name__ == "__main__":
    print(f"{'task':50}{'ours':>10}{'predict':>10}{'ratio':>9}{'limit':>7}")
    with threadpool_limits(1):
        for task, ours, predict, ratio, limit in lines():
            text = f"{task:50}{ours:9.4f}s{predict:9.4f}s{ratio:9.1f}{limit:7}"
            print(text, flush=True)
