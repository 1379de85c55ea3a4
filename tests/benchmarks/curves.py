"""Time partial dependence beside the predictions it asks for.

Run from the project's root: ``python3 -m tests.benchmarks.curves``. The peer asks the
model for the very tables that ours asked it for, as they were; ours and peer alternate
in one run, and the medians are compared.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from importance_audit.methods.importance import METHODS
from importance_audit.methods.known_answers import normal_data

from .permutation import fitted, print_lines, side_by_side

N_SAMPLES, N_FEATURES, N_GRID = 1_000, 20, 21


def lines():
    """Yield the line of a forest."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=1)
    model = fitted(forest, data, ("rmse",))
    tables = []

    def keeping(X):
        tables.append(X.copy())
        return model.predict(X)

    curves = partial(METHODS["partial_dependence"].function, n_grid=N_GRID, seed=1)
    curves(replace(model, predict=keeping), data)
    ours = partial(curves, model, data)
    times = side_by_side(ours, lambda: [model.predict(X) for X in tables])
    yield "partial_dependence, forest", f"{N_SAMPLES} x {N_FEATURES}", *times, 1.1


if __name__ == "__main__":
    print_lines(lines())
