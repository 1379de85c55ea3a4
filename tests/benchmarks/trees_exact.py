"""Time exact losses beside ten repeats of scikit-learn's permutation importance.

Run from the project's root: ``python3 -m tests.benchmarks.trees_exact``. Prints one
table, of the same times as `tests.benchmarks.trees`; a ratio is of peer to ours and the
bar the least it should be.
"""

from functools import partial

import numpy as np
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection import permutation_importance
from threadpoolctl import threadpool_limits

from importance_audit.methods.trees import pack
from importance_audit.methods.trees.exact import exact_losses

from .trees import HEAD, line, medians

N_SAMPLES, N_FEATURES = 10_000, 20
MODELS = {
    "gradient boosting 100 x depth 3": (
        GradientBoostingRegressor(random_state=1),
        (35, 60),
    ),
    "histogram boosting 300": (
        HistGradientBoostingRegressor(max_iter=300, early_stopping=False),
        (30, 50),
    ),
    "forest 100, leaf 5": (
        RandomForestRegressor(100, min_samples_leaf=5, random_state=1),
        (15, 25),
    ),
}


def drawn():
    """Return rows of which five columns matter, and Friedman's target."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(size=(N_SAMPLES, N_FEATURES))
    score = 10 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20 * (rows[:, 2] - 0.5) ** 2
    score += 10 * rows[:, 3] + 5 * rows[:, 4]
    return rows, score + rng.normal(size=N_SAMPLES)


def ours(model, rows, y, n_threads):
    """Pack the model and answer for all features."""
    ones = np.ones(len(y))
    packing = pack(model)
    bins = packing.bins(rows)
    return exact_losses(packing, bins, y, ones, ["mse"], n_threads=n_threads)


def lines():
    """Yield the lines of the table."""
    rows, y = drawn()
    peer = partial(
        permutation_importance,
        n_repeats=10,
        scoring="neg_mean_squared_error",
        random_state=1,
    )
    for name, (model, bars) in MODELS.items():
        model.fit(rows, y)
        calls = [
            partial(ours, model, rows, y, 1),
            partial(ours, model, rows, y, 2),
            partial(peer, model, rows, y),
        ]
        calls[0]()
        yield line(name, *medians(calls), bars)


if __name__ == "__main__":
    print(f"{N_SAMPLES} x {N_FEATURES}, all permutations / ten repeats of scikit-learn")
    print(HEAD)
    with threadpool_limits(1):
        for row in lines():
            print(row, flush=True)
