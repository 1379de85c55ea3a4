"""Time exact losses beside ten repeats of scikit-learn's permutation importance.

Run from the project's root: ``python3 -m tests.benchmarks.trees_exact``. Prints one
table; ours and peer alternate in one run on one thread, and the medians are compared.
Here the ratio is of peer to ours and the bar the least it should be.
"""

from functools import partial
from statistics import median

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

from .permutation import seconds

N_SAMPLES, N_FEATURES, ROUNDS = 10_000, 20, 3
MODELS = {
    "gradient boosting 100 x depth 3": (GradientBoostingRegressor(random_state=1), 35),
    "histogram boosting 300": (
        HistGradientBoostingRegressor(max_iter=300, early_stopping=False),
        30,
    ),
    "forest 100, leaf 5": (
        RandomForestRegressor(100, min_samples_leaf=5, random_state=1),
        15,
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
    return exact_losses(pack(model), rows, y, ones, ["mse"], n_threads=n_threads)


def lines():
    """Yield task, our times on one and two threads, the peer's, and the bar."""
    rows, y = drawn()
    peer = partial(
        permutation_importance,
        n_repeats=10,
        scoring="neg_mean_squared_error",
        random_state=1,
    )
    for name, (model, bar) in MODELS.items():
        model.fit(rows, y)
        calls = [
            partial(ours, model, rows, y, 1),
            partial(ours, model, rows, y, 2),
            partial(peer, model, rows, y),
        ]
        calls[0]()
        times = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
        yield name, *(median(column) for column in zip(*times, strict=True)), bar


if __name__ == "__main__":
    print(f"{'task':34}{'ours':>9}{'2 threads':>11}{'peer':>9}{'ratio':>8}{'bar':>6}")
    with threadpool_limits(1):
        for task, one, two, peer, bar in lines():
            ratio = peer / one
            print(f"{task:34}{one:8.3f}s{two:10.3f}s{peer:8.2f}s{ratio:8.1f}{bar:6}")
