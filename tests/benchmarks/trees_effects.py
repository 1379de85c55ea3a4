"""Time curves and interactions of tree ensembles beside the predictions they replace.

Run from the project's root: ``python3 -m tests.benchmarks.trees_effects``. Prints one
table: processor time on one thread, medians of rounds in which ours, from reading the
ensemble to the end, and predict take turns. A partial dependence by predict takes one
call for each of 50 points and each feature: 1 000 calls, estimated from one. The curves
of all rows are those of which an audit takes bands, at the same points. Accumulated
local effects are as an audit asks for them, checks included; by predict they take two
calls for each feature. H of one feature against all others takes as many calls as there
are rows. The last line is R's hstats on a randomForest of R with as many trees, fitted
to the same rows: its own sample of 500 rows and the first five features, once, in
seconds.
"""

from itertools import combinations
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_limits

import importance_audit as ia
from importance_audit.methods.effects.ale import ale
from importance_audit.methods.trees import pack
from importance_audit.methods.trees.dependences import dependences
from importance_audit.methods.trees.pairs import Pairs
from importance_audit.methods.trees.partial_dependence import curves_at_bins
from importance_audit.methods.trees.replay import replay

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


def curves_of_rows(model, rows):
    """Compute the curve of every row in every feature."""
    packing = pack(model)
    bins = packing.bins(rows)
    shares = np.linspace(0, 1, N_POINTS)
    points = packing.bins(np.quantile(rows, shares, axis=0))
    draws = [(0, np.full(len(rows), at)) for at in range(N_POINTS)]
    for j in range(rows.shape[1]):
        list(replay(packing, bins, [[j]], draws, lenders=points))


def local_effects(model, rows, target):
    """Ask for the accumulated local effects of every feature."""
    X = pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])])
    data = ia.dataset(X, target, task="regression", name="rows")
    asked = ia.wrap(model, name="model", features=list(X))
    for name in X:
        ale(asked, data, name, seed=1)


def against_others(model, rows):
    """Compute what one feature and all others do, each alone."""
    packing = pack(model)
    dependences(packing, packing.bins(rows), [0])


def lines():
    """Yield task, our seconds, those of one predict, the ratio and its limit."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(N_SAMPLES, N_FEATURES))
    noise = rng.normal(size=N_SAMPLES)
    target = rows[:, 0] * rows[:, 1] + rows[:, 2:8].sum(axis=1) + noise
    for name, model in MODELS.items():
        model.fit(rows, target)
        for task in (curves, all_pairs, curves_of_rows, against_others):
            task(model, rows[:200])  # compiles
        local_effects(model, rows, target)
        times = [
            (
                seconds(model.predict, rows),
                seconds(curves, model, rows),
                seconds(curves_of_rows, model, rows),
                seconds(local_effects, model, rows, target),
                seconds(all_pairs, model, rows),
                seconds(against_others, model, rows),
            )
            for _ in range(ROUNDS)
        ]
        predict, means, ice, moved, pairs, others = map(
            median, zip(*times, strict=True)
        )
        brute = N_POINTS * N_FEATURES * predict
        yield f"{name}: PD, times faster", means, predict, brute / means, 300
        yield f"{name}: curves of rows, times faster", ice, predict, brute / ice, 10
        by_predict = 2 * N_FEATURES * predict
        yield f"{name}: ALE, times faster", moved, predict, by_predict / moved, 1.5
        yield f"{name}: H, in predicts", pairs, predict, pairs / predict, 10
        h_brute = N_SAMPLES * predict
        yield f"{name}: H of one, times faster", others, predict, h_brute / others, 300


def seconds_of_hstats():
    """Return the time of R's hstats on five features, None without R."""
    try:
        from rpy2.robjects import r
        from rpy2.robjects.packages import importr

        r('.libPaths(c(".r-library", .libPaths()))')
        importr("hstats"), importr("randomForest")
    except Exception as error:
        print(f"hstats was not timed: {error}")
        return None
    r(
        f"""set.seed(1); X <- as.data.frame(matrix(rnorm({N_SAMPLES * N_FEATURES}),
        {N_SAMPLES})); y <- X$V1 * X$V2 + rowSums(X[3:8]) + rnorm({N_SAMPLES})
        forest <- randomForest(X, y, ntree = 100, nodesize = 5)"""
    )
    start = perf_counter()
    r("hstats(forest, v = names(X)[1:5], X = X, n_max = 500, verbose = FALSE)")
    return perf_counter() - start


if __name__ == "__main__":
    print(f"{'task':50}{'ours':>10}{'predict':>10}{'ratio':>9}{'limit':>7}")
    with threadpool_limits(1):
        for task, ours, predict, ratio, limit in lines():
            text = f"{task:50}{ours:9.4f}s{predict:9.4f}s{ratio:9.1f}{limit:7}"
            print(text, flush=True)
    if of_r := seconds_of_hstats():
        print(f"{'hstats in R, 10 pairs of 500 rows':50}{'':10}{of_r:9.4f}s")
