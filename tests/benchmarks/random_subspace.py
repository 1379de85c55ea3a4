"""Time the random subspace methods beside the fits and predictions they need.

Run from the project's root: ``python3 -m tests.benchmarks.random_subspace``. Prints one
table; ours and peer alternate in one run, and the medians are compared. The peer draws
nothing: it is handed the rows, columns and orders, and calls scikit-learn alone.
"""

from functools import partial

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from importance_audit.methods.importance.random_subspace import (
    random_subspace,
    random_subspace_permutation,
)
from importance_audit.methods.known_answers import normal_data
from importance_audit.models.fit import fit
from importance_audit.models.section import ModelSection

from .permutation import print_lines, side_by_side

N_FEATURES, N_DRAWN, ROUNDS = 17, 6, 5


def draws(data, n_members):
    """Return columns, rows in and rows out of the sample of each member."""
    generator, n = np.random.default_rng(1), data.n_samples
    for _ in range(n_members):
        columns = data.X.columns[generator.permutation(N_FEATURES)[:N_DRAWN]]
        bag = generator.integers(n, size=n)
        yield columns, bag, np.setdiff1d(np.arange(n), bag)


def bare(estimator, data, members, n_predicts):
    """Fit and predict as scikit-learn alone does it."""
    for columns, bag, out in members:
        X = data.X[columns]
        estimator.fit(X.iloc[bag], data.y[bag])
        rows = X.iloc[out]
        for _ in range(n_predicts):
            estimator.predict(rows)


def rows():
    """Yield task, size, ours, peer and limit of each line."""
    for kind, n_samples, n_members in (
        (DecisionTreeRegressor, 10_000, 30),
        (LinearRegression, 10_000, 200),
        (DecisionTreeRegressor, 200, 300),
        (LinearRegression, 200, 300),
    ):
        data = normal_data(*np.linspace(0, 2, N_FEATURES), n_samples=n_samples)
        section = ModelSection(name="m", estimator=f"{kind.__module__}.{kind.__name__}")
        model = fit(section, data).with_losses(("mse",))
        members = list(draws(data, n_members))
        size = f"{n_samples} x {N_FEATURES}, {n_members} members"
        for method, n_predicts in (
            (random_subspace, 1),
            (random_subspace_permutation, 1 + N_DRAWN),
        ):
            ours = partial(method, model, data, seed=1, n_repeats=n_members)
            peer = partial(bare, kind(), data, members, n_predicts)
            name = f"{method.__name__}, {kind.__name__[:12]}"
            yield name, size, *side_by_side(ours, peer, ROUNDS), 1.1


if __name__ == "__main__":
    print_lines(rows())
