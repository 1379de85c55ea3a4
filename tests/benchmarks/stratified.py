"""Time StratImpact beside the tree fits it cannot do without.

Run from the project's root: ``python3 -m tests.benchmarks.stratified``. Prints one
table; ours and peer alternate in one run, and the medians are compared.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from importance_audit.methods.importance.stratified import stratified_impact
from importance_audit.methods.known_answers import normal_data

from .permutation import print_lines, side_by_side

N_FEATURES, CATEGORICAL, ROUNDS = 17, (2, 4, 12, 24, 50, 300), 5


def mixed(n_samples):
    """Return rows of which six columns are categories of so many levels each."""
    data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=n_samples)
    X = data.X.copy()
    for name, n_levels in zip(X.columns[::3], CATEGORICAL, strict=True):
        X[name] = pd.qcut(X[name], n_levels, labels=[str(k) for k in range(n_levels)])
    return replace(data, X=X)


def tree_fits(columns, kinds, y):
    """Fit the tree that each feature needs, and use none."""
    for j, is_category in enumerate(kinds):
        others = np.delete(columns, j, axis=1)
        least = 5 if is_category else 15
        DecisionTreeRegressor(min_samples_leaf=least, random_state=1).fit(others, y)


def rows():
    """Yield task, size, ours, peer and limit of each line."""
    for n_samples in (2_000, 20_000):
        data = mixed(n_samples)
        levels = data.X.select_dtypes("category").columns
        codes = data.X.assign(**{name: data.X[name].cat.codes for name in levels})
        kinds = [name in levels for name in data.X]
        peer = partial(tree_fits, codes.to_numpy(np.float32), kinds, data.y)
        options = {"seed": 1, "n_repeats": 1, "resample": "none"}
        for merge in ("published", "least_squares"):
            ours = partial(stratified_impact, None, data, merge=merge, **options)
            size = f"{n_samples} x {N_FEATURES}, {len(levels)} categorical"
            yield f"{merge} / tree fits", size, *side_by_side(ours, peer, ROUNDS), 1.2


if __name__ == "__main__":
    print_lines(rows())
