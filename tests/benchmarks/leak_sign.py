"""How often the sign of leakage rises: python3 -m tests.benchmarks.leak_sign.

Honest tables have one to five true features of sizes up to 10 : 1 among eight, and an
R² of 0.3 to 0.9; 250 are fitted by a linear model, 250 by a forest. Then a copy of the
target with noise, in standard deviations of the target, is added to such tables.
"""

import argparse

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from importance_audit.assess import checks
from importance_audit.data.datasets import dataset
from importance_audit.methods.importance.permutation import permutation
from importance_audit.models.fit import wrap
from importance_audit.records.importance_record import Importance

MODELS = {
    "linear": LinearRegression,
    "forest": lambda: RandomForestRegressor(50, min_samples_leaf=3, random_state=0),
}
NOISE = (0.01, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def table(seed, *, noise=None, n_rows=800, n_features=8):
    """Return columns and a target of variance 1; with `noise`, a copy among them."""
    draw = np.random.default_rng(seed)
    coefficients = np.zeros(n_features)
    n_true = draw.integers(1, 6)
    coefficients[:n_true] = np.exp(draw.uniform(0, np.log(10), n_true))
    X = draw.normal(size=(n_rows, n_features))
    signal = X @ (coefficients / np.linalg.norm(coefficients))
    r2 = draw.uniform(0.3, 0.9)
    y = np.sqrt(r2) * signal + np.sqrt(1 - r2) * draw.normal(size=n_rows)
    columns = pd.DataFrame(X, columns=[f"x{k + 1}" for k in range(n_features)])
    if noise is not None:
        columns["copy"] = y + noise * draw.normal(size=n_rows)
    return columns, y


def sign_of(kind, seed, **options):
    """Return whether the check rises for a model fitted to one half of a table."""
    X, y = table(seed, **options)
    half = len(X) // 2
    estimator = MODELS[kind]().fit(X[:half], y[:half])
    rows = dataset(
        *(X[half:].reset_index(drop=True), y[half:]),
        name="rows",
        task="regression",
        split="test",
    )
    model = wrap(estimator, name=kind, task="regression").with_losses(("mse",))
    raw, baseline = permutation(model, rows, seed=seed, n_repeats=2)
    importance = Importance(
        **{"model": kind, "method": "permutation", "engine": "python"},
        **{"engine_version": "1", "of": "features", "form": "difference"},
        **{"loss": "mse", "split": "test", "unit": "y^2", "options": {}},
        n_samples=rows.n_samples,
        stream="numpy",
        seed=seed,
        features=tuple(rows.groups),
        columns=tuple(rows.groups.values()),
        raw=raw[:, :, 0],
        baseline=baseline[:, 0],
    )
    constant = float(((rows.y - y[:half].mean()) ** 2).mean())
    answers = checks.run("leak", "m", importance=importance, constant=constant)
    return any(finding is not None for _, finding in answers)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--copies", type=int, default=20)
    asked = parser.parse_args()
    total = 0
    for kind in MODELS:
        n = asked.tables // len(MODELS)
        n_signs = sum(sign_of(kind, seed) for seed in range(n))
        total += n_signs
        print(f"honest, {kind}: {n_signs} of {n}", flush=True)
    print(
        f"honest: {total} of {asked.tables}; limit {checks.DEFAULTS['leak_sign'].value}"
    )
    for kind in MODELS:
        for noise in NOISE:
            seeds = range(10_000, 10_000 + asked.copies)
            n_signs = sum(sign_of(kind, seed, noise=noise) for seed in seeds)
            print(f"copy, noise {noise:g}, {kind}: {n_signs} of {asked.copies}")


if __name__ == "__main__":
    main()
