"""Time permutation importance beside the calls of predict that it cannot do without.

Run from the project's root: ``python3 -m tests.benchmarks.permutation``. Prints one
table; ours and peer alternate in one run, and the medians are compared.
"""

from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import linear_model, normal_data

N_SAMPLES, N_FEATURES, N_REPEATS, ROUNDS = 10_000, 20, 1, 7


def seconds(function):
    """Return how long one call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def side_by_side(ours, peer, rounds=ROUNDS):
    """Return the medians of ours and of the peer, in turns after one call of each."""
    ours(), peer()
    times = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    return [median(column) for column in zip(*times, strict=True)]


def fitted(estimator, data, losses):
    """Return a toy model that answers with a fitted estimator."""
    estimator.fit(data.X, data.y)
    answer = replace(linear_model(*[0] * N_FEATURES), predict=estimator.predict)
    return answer.with_losses(losses)


def print_lines(lines):
    """Print task, size, ours, peer, their ratio and its limit, a line each."""
    print(f"{'task':42}{'size':32}{'ours':>9}{'peer':>9}{'ratio':>8}{'limit':>7}")
    for task, size, ours, peer, limit in lines:
        times = f"{ours:8.4f}s{peer:8.4f}s{ours / peer:8.2f}"
        print(f"{task:42}{size:32}{times}{limit:7.1f}", flush=True)


def lines():
    """Yield the line of a forest that is asked through predict."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=1)
    model = fitted(forest, data, ("rmse",))
    ask = partial(permutation, model, data, seed=1, n_repeats=N_REPEATS)
    n_calls = 1 + N_REPEATS * N_FEATURES
    times = side_by_side(ask, lambda: [model.predict(data.X) for _ in range(n_calls)])
    yield "forest / predict", f"{N_SAMPLES} x {N_FEATURES}, 1 repeat", *times, 1.1


if __name__ == "__main__":
    print_lines(lines())
