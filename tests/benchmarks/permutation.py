"""Time permutation importance beside the calls it cannot do without.

Run from the project's root: ``python3 -m tests.benchmarks.permutation``. Prints one
table; ours and peer alternate in one run, and the medians are compared.
"""

import shutil
import subprocess
from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from importance_audit.methods.importance.permutation import DRAWS, permutation
from importance_audit.methods.known_answers import linear_model, normal_data
from importance_audit.records.losses import evaluate
from importance_audit.records.r_rng import RStream

N_SAMPLES, N_FEATURES, ROUNDS = 10_000, 20, 7


def seconds(function):
    """Return how long one call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def side_by_side(ours, peers):
    """Return the medians of ours, and of the peers' sum, each timed alone."""
    ours(), [peer() for peer in peers]
    times = [
        (seconds(ours), sum(seconds(peer) for peer in peers)) for _ in range(ROUNDS)
    ]
    return [median(column) for column in zip(*times, strict=True)]


def repeated(function, n_calls):
    """Return a function that makes the same call so many times."""
    return lambda: [function() for _ in range(n_calls)]


def fitted(estimator, data, losses):
    """Return a toy model that answers with a fitted estimator."""
    estimator.fit(data.X, data.y)
    answer = replace(linear_model(*[0] * N_FEATURES), predict=estimator.predict)
    return answer.with_losses(losses)


def draw_all(stream, data, n_repeats):
    """Draw all that a run draws, and use none of it."""
    for _ in DRAWS[stream](1, tuple(data.groups), data.n_samples, n_repeats, None):
        pass


def beside_predict(model, data, n_repeats):
    """Return medians of a run and of the predictions it needs."""
    n_calls = 1 + n_repeats * N_FEATURES
    ask = partial(permutation, model, data, seed=1, n_repeats=n_repeats)
    return side_by_side(ask, [repeated(partial(model.predict, data.X), n_calls)])


def beside_parts(model, data, stream, n_repeats):
    """Return medians of a run and of its predictions, draws and losses."""
    n_calls = 1 + n_repeats * N_FEATURES
    prediction = model.predict(data.X)
    score = partial(evaluate, model.losses, data.y, prediction, data.weights)
    ask = partial(permutation, model, data, seed=1, stream=stream, n_repeats=n_repeats)
    parts = [
        repeated(partial(model.predict, data.X), n_calls),
        partial(draw_all, stream, data, n_repeats),
        repeated(score, n_calls),
    ]
    return side_by_side(ask, parts)


def mixed(data):
    """Return the same rows with five columns of whole numbers and five of levels."""
    X = data.X.copy()
    for name in X.columns[:5]:
        X[name] = (10 * X[name]).round().astype(int)
    for name in X.columns[5:10]:
        X[name] = pd.cut(X[name], 4, labels=list("abcd"))
    return replace(data, X=X)


def codes(X):
    """Return the columns as numbers, levels by their codes."""
    levels = X.select_dtypes("category").columns
    return X.assign(**{name: X[name].cat.codes for name in levels})


def seconds_in_r(n):
    """Return the median time of R's own sample(n), or None without R."""
    if not shutil.which("Rscript"):
        return None
    code = f"t <- replicate(9, system.time(for (i in 1:20) sample({n}))[[3]]);"
    command = ["Rscript", "--vanilla", "-e", code + "cat(median(t) / 20)"]
    return float(subprocess.run(command, capture_output=True, check=True).stdout)


def rows():
    """Yield task, size, ours, peer and limit of each line."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    size = f"{N_SAMPLES} x {N_FEATURES}"
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=1)
    times = beside_predict(fitted(forest, data, ("rmse",)), data, 1)
    yield "forest / predict", f"{size}, 1 repeat", *times, 1.1

    size = f"{size}, 10 repeats"
    ols = fitted(LinearRegression(), data, ("rmse",))
    for stream in ("numpy", "DALEX"):
        times = beside_parts(ols, data, stream, 10)
        yield f"OLS, {stream} / its parts", size, *times, 1.1

    table = mixed(data)
    coded = fitted(LinearRegression(), replace(table, X=codes(table.X)), ("rmse",))
    coded = replace(coded, predict=lambda X, ask=coded.predict: ask(codes(X)))
    times = beside_parts(coded, table, "numpy", 10)
    yield "OLS, mixed columns / its parts", size, *times, 1.1

    n = 100_000
    if in_r := seconds_in_r(n):
        ours = median(seconds(partial(RStream(1).sample, n)) for _ in range(9))
        yield "R's sample / R", f"{n}", ours, in_r, 3.0


if __name__ == "__main__":
    print(f"{'task':34}{'size':28}{'ours':>9}{'peer':>9}{'ratio':>8}{'limit':>7}")
    for task, size, ours, peer, limit in rows():
        ratio = ours / peer
        print(f"{task:34}{size:28}{ours:8.4f}s{peer:8.4f}s{ratio:8.2f}{limit:7.1f}")
