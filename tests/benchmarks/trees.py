"""Time the replayed draws of tree ensembles beside scikit-learn's own permutations.

Run from the project's root: ``python3 -m tests.benchmarks.trees``. Prints one table.
Ours and peer alternate, and the medians are compared: on one thread of processor time,
so that other programs on the machine do not prolong it; on two of the time that passes,
for which nothing else may run. The peer has one thread: it is
`sklearn.inspection.permutation_importance`, and the raw predictions that any other way
must make, from one call of predict. What is compiled is compiled before.
"""

from functools import partial
from statistics import median
from time import perf_counter, process_time

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

N_SAMPLES, N_FEATURES, N_REPEATS, ROUNDS = 10_000, 20, 10, 3
MODELS = (
    (RandomForestRegressor(100, min_samples_leaf=5, random_state=1), (12, 20)),
    (GradientBoostingRegressor(random_state=1), (12, 0)),
    (HistGradientBoostingRegressor(max_iter=300, random_state=1), (20, 0)),
)
"""Each with the least ratio there should be, on one thread and on two; 0 is none."""


def seconds(function, *arguments):
    """Return the processor's time of one call."""
    start = process_time()
    function(*arguments)
    return process_time() - start


def medians(calls):
    """Return the time of each call, that of the processor and that which passes."""
    times = []
    for _ in range(ROUNDS):
        for call in calls:
            start = process_time(), perf_counter()
            call()
            times.append((process_time() - start[0], perf_counter() - start[1]))
    of_call = [zip(*times[k :: len(calls)], strict=True) for k in range(len(calls))]
    return [tuple(map(median, each)) for each in of_call]


def line(task, one, two, peer, bars):
    """Return a line of the table: ours, peer, ratio and bar, on one thread and two."""
    text = f"{task:46}"
    for ours, theirs, bar in zip((one[0], two[1]), peer, bars, strict=True):
        text += f"{ours:8.3f}s{theirs:8.3f}s{theirs / ours:8.1f}{bar or '':>5}"
    return text


def replayed(model, X, orders, n_threads):
    """Return the mean squared change of the prediction, from packing to the end."""
    packing = pack(model)
    bins = packing.bins(X)
    draws = [(j, order) for own in orders for j, order in enumerate(own)]
    alone = [[j] for j in range(N_FEATURES)]
    answers = replay(packing, bins, alone, draws, n_threads=n_threads)
    return [np.square(each).mean() for each in answers]


def rows():
    """Yield the lines of the table."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    X, rng = data.X.to_numpy(), np.random.default_rng(1)
    y = data.y + X[:, 3] * X[:, 4]
    orders = [
        [rng.permutation(N_SAMPLES) for _ in range(N_FEATURES)]
        for _ in range(N_REPEATS)
    ]
    n_calls = 1 + N_REPEATS * N_FEATURES
    options = {"n_repeats": N_REPEATS, "random_state": 1}
    for model, bars in MODELS:
        name = type(model).__name__
        model.fit(X, y)
        replayed(model, X[:64], [[np.arange(64)] * N_FEATURES], 1)
        calls = [
            partial(replayed, model, X, orders, 1),
            partial(replayed, model, X, orders, 2),
            partial(permutation_importance, model, X, y, **options),
            partial(model.predict, X),
        ]
        one, two, peer, raw = medians(calls)
        raw = tuple(n_calls * each for each in raw)
        yield line(f"{name} / {n_calls} predicts", one, two, raw, bars)
        yield line(f"{name} / scikit-learn", one, two, peer, bars)


HEAD = f"{'':46}{'ours':>9}{'peer':>9}{'ratio':>8}{'bar':>5}{'2 threads':>9}"

if __name__ == "__main__":
    print(f"{N_SAMPLES} x {N_FEATURES}, {N_REPEATS} repeats")
    print(HEAD)
    with threadpool_limits(1):
        for row in rows():
            print(row, flush=True)
