"""Simulate permutation importance of rows that lie in parts on several workers.

This is the plan of docs/scaling.md, which is not built. Run from the project's root:
``python3 -m tests.benchmarks.parts``. Prints the bytes that a small simulation moves
beside the plan's formula, and the formula for 10^9 rows.
"""

import pickle
from collections import Counter
from typing import NamedTuple

import numpy as np

BYTES = 8  # of a number


class Plan(NamedTuple):
    """How much there is, and how it is spread."""

    n_rows: int
    n_columns: int
    n_workers: int
    n_repeats: int
    rows_of_part: int

    @property
    def n_parts(self):
        """The number of parts, the last of which may be short."""
        return -(-self.n_rows // self.rows_of_part)

    def bytes_moved(self, model_bytes=0):
        """Return the bytes that go over the network in all, by what they are.

        A permutation takes a row from another worker with the chance 1 - 1/n_workers.
        """
        away = self.n_rows * (1 - 1 / self.n_workers)
        return {
            "donors": self.n_repeats * away * self.n_columns * BYTES,
            "sums": self.n_parts * (1 + self.n_columns * self.n_repeats) * 2 * BYTES,
            "model": self.n_workers * model_bytes,
        }


def donors_of(plan, seed, repeat):
    """Return for each row the row that lends it values; every worker draws the same."""
    return np.random.default_rng((seed, repeat)).permutation(plan.n_rows)


def by_parts(plan, X, y, predict, *, seed=1):
    """Return the mean squared errors, part by part, and what the network carried.

    Returns
    -------
    baseline : float
    permuted : ndarray of shape (n_columns, n_repeats)
    moved : Counter
        Bytes by what they are, as in `Plan.bytes_moved`.
    """
    owner = np.arange(plan.n_rows) // plan.rows_of_part % plan.n_workers
    model = pickle.dumps(predict)
    moved = Counter(model=plan.n_workers * len(model))
    sums = np.zeros((1 + plan.n_columns * plan.n_repeats, 2))
    for start in range(0, plan.n_rows, plan.rows_of_part):
        here = slice(start, start + plan.rows_of_part)
        rows, targets = X[here].copy(), y[here]
        of_part = [squares(targets, predict(rows))]
        for repeat in range(plan.n_repeats):
            lenders = donors_of(plan, seed, repeat)[here]
            donors = X[lenders]  # whole rows, for all columns at once
            moved["donors"] += donors[owner[lenders] != owner[start]].nbytes
            for j in range(plan.n_columns):
                own = rows[:, j].copy()
                rows[:, j] = donors[:, j]
                of_part.append(squares(targets, predict(rows)))
                rows[:, j] = own
        moved["sums"] += np.array(of_part).nbytes
        sums += of_part
    means = sums[:, 0] / sums[:, 1]
    return means[0], means[1:].reshape(plan.n_repeats, plan.n_columns).T, moved


def squares(y, prediction):
    """Return the sum of the squared errors and the number of rows."""
    return ((y - prediction) ** 2).sum(), len(y)


def linear(X):
    """Predict by weights for which every number here is exact in binary."""
    return X @ (np.arange(X.shape[1]) / 4)


def drawn(plan):
    """Return rows of whole numbers and a target, so that sums are exact."""
    rng = np.random.default_rng(1)
    X = rng.integers(-8, 9, size=(plan.n_rows, plan.n_columns)).astype(float)
    return X, linear(X) + rng.integers(-2, 3, size=plan.n_rows)


def main():
    """Print one line per kind of bytes."""
    small = Plan(40_000, 4, 8, 3, 1_000)
    moved = by_parts(small, *drawn(small), linear)[2]
    expected = small.bytes_moved(len(pickle.dumps(linear)))
    print(f"{'40 000 x 4, 8 workers, 3 repeats':36}{'moved':>14}{'formula':>14}")
    for name, count in expected.items():
        print(f"{name:36}{moved[name]:14}{count:14.0f}")
    large = Plan(10**9, 100, 100, 10, 10**6)
    print(f"{'10^9 x 100, 100 workers, 10 repeats':36}{'':14}{'formula':>14}")
    for name, count in large.bytes_moved().items():
        print(f"{name:36}{'':14}{count:14.4g}")


if __name__ == "__main__":
    main()
