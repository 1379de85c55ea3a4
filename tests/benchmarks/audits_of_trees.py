"""Time whole audits of tree ensembles beside scikit-learn's permutations alone.

Run from the project's root: ``python3 -m tests.benchmarks.audits_of_trees``. Prints one
table: processor time on one thread, medians of rounds in which both take turns. Ours is
`importance_audit.audit` at its defaults, checks and intervals included, without a
report; the peer is `sklearn.inspection.permutation_importance` with as many repeats.
Loops are compiled, and read from their folder, before.
"""

from functools import partial
from statistics import median

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import permutation_importance
from threadpoolctl import threadpool_limits

import importance_audit as ia
from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.trees.compilation import compile_loops

from .trees import seconds

N_FEATURES, N_REPEATS, ROUNDS = 20, 10, 3
MODELS = {
    "forest of 100": RandomForestRegressor(100, random_state=1),
    "boosting of 100": GradientBoostingRegressor(random_state=1),
}
BARS = {1000: (4, 2), 3000: (8, 4), 10_000: (12, 6)}
"""By the number of rows, the least ratio there should be for each model."""


def rows():
    """Yield model, number of rows, the seconds of ours and of the peer, and the bar."""
    for n_samples, bars in BARS.items():
        data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=n_samples)
        X, y = data.X, data.y + data.X["x4"] * data.X["x5"]
        for (name, model), bar in zip(MODELS.items(), bars, strict=True):
            model.fit(X, y)
            options = {"n_repeats": N_REPEATS, "random_state": 1}
            calls = (
                partial(ia.audit, model, X, y),
                partial(permutation_importance, model, X, y, **options),
            )
            calls[0]()
            times = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
            yield name, n_samples, *map(median, zip(*times, strict=True)), bar


if __name__ == "__main__":
    compile_loops()
    print(f"{'':20}{'rows':>8}{'ours':>9}{'peer':>9}{'ratio':>8}{'bar':>5}")
    with threadpool_limits(1):
        for name, n_samples, ours, peer, bar in rows():
            ratio = peer / ours
            text = f"{name:20}{n_samples:8}{ours:8.3f}s{peer:8.3f}s{ratio:8.1f}{bar:5}"
            print(text, flush=True)
