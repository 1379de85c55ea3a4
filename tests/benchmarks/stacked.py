"""Time permutation importance of small tables, with permutations stacked and not.

Run from the project's root: ``python3 -m tests.benchmarks.stacked``. Prints one table;
both alternate in one run, and the medians are compared. Trees are left to predict.
"""

from functools import partial

import numpy as np
from tests.benchmarks.permutation import side_by_side
from threadpoolctl import threadpool_limits

from importance_audit.methods.importance import permuted_predictions
from importance_audit.methods.importance.permutation import permutation
from importance_audit.methods.known_answers import normal_data
from importance_audit.methods.trees import routes
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection

KINDS = {
    "ensemble.RandomForestRegressor": {"min_samples_leaf": 5, "random_state": 1},
    "ensemble.GradientBoostingRegressor": {"random_state": 1},
    "ensemble.HistGradientBoostingRegressor": {"random_state": 1},
    "tree.DecisionTreeRegressor": {"random_state": 1},
    "linear_model.LinearRegression": {},
}
STACKED_BYTES = permuted_predictions.STACKED_BYTES


def ask(model, data, n_bytes):
    """Measure with stacks of so many bytes."""
    permuted_predictions.STACKED_BYTES = n_bytes
    permutation(model, data, seed=1, n_repeats=5)


def rows():
    """Yield task, size, ours, peer and limit of each line."""
    for n_samples in (200, 1000):
        data = normal_data(*np.linspace(0, 2, 10), n_samples=n_samples)
        for kind, parameters in KINDS.items():
            estimator = f"sklearn.{kind}"
            section = ModelSection(name="m", estimator=estimator, parameters=parameters)
            model = fit(section, data)
            stacked = partial(ask, model, data, STACKED_BYTES)
            alone = partial(ask, model, data, 0)
            times = side_by_side(stacked, [alone])
            yield kind.partition(".")[2], f"{n_samples} x 10, 5 repeats", *times, 1.05


if __name__ == "__main__":
    routes.WORTH = 10**12
    print(f"{'task':34}{'size':28}{'ours':>9}{'peer':>9}{'ratio':>8}{'limit':>7}")
    with threadpool_limits(1):
        for task, size, ours, peer, limit in rows():
            ratio = ours / peer
            print(f"{task:34}{size:28}{ours:8.4f}s{peer:8.4f}s{ratio:8.2f}{limit:7.2f}")
