"""Time curves and interactions beside the predictions they ask for.

Run from the project's root: ``python3 -m tests.benchmarks.curves``. The peer asks the
model for the very tables that ours asked it for, as they were; ours and peer alternate
in one run, and the medians are compared. There is a limit where a prediction takes
longer than the tables it is asked of: not for least squares, nor for few rows.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from tests.benchmarks.permutation import fitted, side_by_side

from importance_audit.methods.importance import METHODS
from importance_audit.methods.known_answers import normal_data

N_SAMPLES, N_FEATURES = 1_000, 20
ASKED = {
    "partial_dependence": {"n_grid": 21},
    "vint": {"n_grid": 4, "n_rows": 200},
    "h_statistic": {"n_rows": 30},
}


def recorded(model, ask):
    """Return every table that a call asks a model for."""
    tables = []

    def keeping(X):
        tables.append(X.copy())
        return model.predict(X)

    ask(replace(model, predict=keeping))
    return tables


def beside_predict(model, data, method):
    """Return medians of a run, and of its predictions of the same tables."""
    function, options = METHODS[method].function, ASKED[method]
    names = data.features if method == "partial_dependence" else data.features[:5]
    pairs = {f"{a}:{b}": (a, b) for k, a in enumerate(names) for b in names[k + 1 :]}
    groups = {name: (name,) for name in names}
    rows = data.with_groups(groups if method == "partial_dependence" else pairs)
    ask = partial(function, data=rows, seed=1, **options)
    tables = recorded(model, ask)
    return side_by_side(
        partial(ask, model), [lambda: [model.predict(X) for X in tables]]
    )


def rows():
    """Yield task, size, ours, peer and limit of each line."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=N_SAMPLES)
    forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=1)
    for estimator in (forest, LinearRegression()):
        model = fitted(estimator, data, ("rmse",))
        name = type(estimator).__name__[:12]
        for method in ASKED:
            size = f"{N_SAMPLES} x {N_FEATURES}"
            is_dear = estimator is forest and method == "partial_dependence"
            limit = 1.1 if is_dear else np.inf
            yield f"{method}, {name}", size, *beside_predict(model, data, method), limit


if __name__ == "__main__":
    print(f"{'task':34}{'size':14}{'ours':>9}{'peer':>9}{'ratio':>8}{'limit':>7}")
    for task, size, ours, peer, limit in rows():
        limit_text = f"{limit:7.1f}" if np.isfinite(limit) else "      -"
        print(
            f"{task:34}{size:14}{ours:8.3f}s{peer:8.3f}s{ours / peer:8.2f}{limit_text}"
        )
